// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The least that attaching to functions of the kernel can cost: kernel_link reads their
 * addresses from stdin, one on a line, links all of them to a program that does nothing by one
 * kprobe.multi link, and detaches.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/links.h"
#include "sym/util/array.h"

#define ADDRESSES_MAX 100000

static int load_nothing(void)
{
	static const struct bpf_insn instructions[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = (enum bpf_attach_type)ATTACH_TYPE_KPROBE_MULTI);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", instructions,
			     ARRAY_SIZE(instructions), &options);
}

int main(void)
{
	static uint64_t addresses[ADDRESSES_MAX];
	int program = load_nothing(), link;
	size_t nr = 0;

	while (nr < ADDRESSES_MAX && scanf("%" SCNx64, &addresses[nr]) == 1)
		nr++;
	link = program < 0 ? program : link__kernel_functions(program, addresses, nr);
	if (link < 0) {
		fprintf(stderr, "kernel_link: %zu functions: %s\n", nr, strerror(-link));
		return 1;
	}
	close(link);
	return 0;
}
