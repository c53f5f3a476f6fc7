// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a uprobe.multi link for each process costs: "process_links NUMBER [together]" starts so many
 * processes, links the function of this program that is called probed() to a BPF program that does
 * nothing, in each of them by a link of its own, has one call it, and closes the links: one after
 * the other, or together, as core/kernel/links.c does. "all" in the place of NUMBER: one link for
 * all processes.
 *
 * Prints a row of a table: how long it took to attach, a call, and to close.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/links.h"
#include "sym/util/array.h"
#include "sym/util/clock.h"

#define PROCESSES_MAX 5000
#define CALLS	      100000

__attribute__((noinline)) static void probed(void)
{
	__asm__ volatile("nop");
}

static int load_nothing(void)
{
	static const struct bpf_insn instructions[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = (enum bpf_attach_type)ATTACH_TYPE_UPROBE_MULTI);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", instructions,
			     ARRAY_SIZE(instructions), &options);
}

/* The offset of probed() in this program's file. */
static uint64_t place_of_probed(void)
{
	uint64_t address = (uint64_t)(uintptr_t)probed, start, end, offset;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    address >= start && address < end)
			return address - start + offset;
	return 0;
}

/* A process that waits for a byte, calls, and answers how long a call took, in nanoseconds. */
static pid_t start_process(const int go[2], int answer)
{
	pid_t pid = fork();
	uint64_t start;
	char byte;

	if (pid)
		return pid;
	close(go[1]); /* the others read to its end */
	if (read(go[0], &byte, 1) != 1)
		_exit(0);
	start = monotonic_now();
	for (int i = 0; i < CALLS; i++)
		probed();
	start = (monotonic_now() - start) / CALLS;
	_exit(write(answer, &start, sizeof(start)) != sizeof(start));
}

int main(int argc, char **argv)
{
	static int links[PROCESSES_MAX];
	static pid_t pids[PROCESSES_MAX];
	const struct rlimit limit = {PROCESSES_MAX + 100, PROCESSES_MAX + 100};
	bool all = argc > 1 && !strcmp(argv[1], "all");
	size_t nr = all ? 1 : argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	uint64_t place = place_of_probed(), start, attached, call = 0;
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), program, go[2], answer[2];

	setrlimit(RLIMIT_NOFILE, &limit);
	program = load_nothing();
	if (!nr || nr > PROCESSES_MAX || program < 0 || pipe(go) || pipe(answer)) {
		fprintf(stderr, "usage: process_links NUMBER|all [together], as root\n");
		return 2;
	}
	for (size_t i = 0; i < nr; i++)
		pids[i] = start_process(go, answer[1]);
	start = monotonic_now();
	for (size_t i = 0; i < nr; i++) {
		links[i] = link__user_code(program, file, &place, NULL, 1, all ? 0 : pids[i]);
		if (links[i] < 0) {
			fprintf(stderr, "process_links: %s\n", strerror(-links[i]));
			return 1;
		}
	}
	attached = monotonic_now() - start;
	if (write(go[1], "", 1) != 1 || read(answer[0], &call, sizeof(call)) != sizeof(call))
		return 1;
	start = monotonic_now();
	if (argc > 2)
		links__close(links, nr);
	for (size_t i = 0; i < nr && argc < 3; i++)
		close(links[i]);
	printf("| %s%s | %.3f s | %.2f µs | %.3f s |\n", argv[1], argc > 2 ? " together" : "",
	       (double)attached / NANOSECONDS, (double)call / 1000,
	       (double)(monotonic_now() - start) / NANOSECONDS);
	close(go[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
