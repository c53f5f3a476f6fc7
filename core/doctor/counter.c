// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/doctor/counter.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/page.h"

void counter__open(struct counter *counter)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	void *value;
	int err;

	counter->map = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, sizeof(uint32_t), sizeof(uint64_t),
				      1, &options);
	if (counter->map < 0)
		return;
	value = page_map(counter->map, page_size(), PROT_READ | PROT_WRITE, 0);
	if (value != MAP_FAILED) {
		counter->hits = value;
		return;
	}
	err = -errno;
	close(counter->map);
	counter->map = err;
}

void counter__close(struct counter *counter)
{
	if (counter->hits)
		munmap(counter->hits, page_size());
	if (counter->map >= 0)
		close(counter->map);
	*counter = (struct counter){.map = -1};
}

int counter__load(const struct counter *counter, enum bpf_prog_type type,
		  enum bpf_attach_type expected)
{
	const struct bpf_insn instructions[] = {
		/* r1 = &value[0]; r2 = 1; add r2 to it; return 0 */
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_VALUE,
		 .imm = counter->map},
		{0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1},
		{.code = BPF_STX | BPF_DW | BPF_ATOMIC,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_REG_2,
		 .imm = BPF_ADD},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = expected);

	if (counter->map < 0)
		return counter->map;
	return bpf_prog_load(type, NULL, "GPL", instructions, ARRAY_SIZE(instructions), &options);
}

uint64_t counter__take(struct counter *counter)
{
	return __atomic_exchange_n(counter->hits, 0, __ATOMIC_RELAXED);
}
