// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/multi_link.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/util/array.h"
#include "core/util/cleanup.h"

/* BPF_LINK_CREATE as of 6.6 (89ae89f53d20); Debian 12 has the headers of 6.1. */
struct uprobe_multi_attr {
	uint32_t program_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t semaphores;
	uint64_t cookies;
	uint32_t nr;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t reserved;
};

/* Of struct bpf_link_info as of 6.7 (7ac8d0d26192). */
struct kprobe_multi_info {
	uint32_t type;
	uint32_t id;
	uint32_t program_id;
	uint32_t reserved;
	uint64_t addresses;
	uint32_t nr;
	uint32_t flags;
	uint64_t missed;
	uint64_t room[16];
};

/* The size of the kernel's struct bpf_link_info that first had the field. */
#define LINK_INFO_SIZE_MISSED 56

int multi_link__kernel(int program_fd, const uint64_t *addresses, size_t nr)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .kprobe_multi.addrs = addresses,
		    .kprobe_multi.cnt = (uint32_t)nr);

	return bpf_link_create(program_fd, 0, BPF_TRACE_KPROBE_MULTI, &options);
}

static int link_user(int program_fd, const char *path, const uint64_t *offsets,
		     const uint64_t *semaphores, size_t nr, pid_t pid)
{
	struct uprobe_multi_attr attr = {
		.program_fd = (uint32_t)program_fd,
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.semaphores = (uintptr_t)semaphores,
		.nr = (uint32_t)nr,
		.pid = (uint32_t)pid,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

int multi_link__user(int program_fd, int file_fd, const uint64_t *offsets,
		     const uint64_t *semaphores, size_t nr, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	return link_user(program_fd, path, offsets, semaphores, nr, pid);
}

bool multi_link__missed(int link_fd, uint64_t *missed)
{
	struct kprobe_multi_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(link_fd, &info, &size) || size < LINK_INFO_SIZE_MISSED)
		return false;
	*missed = info.missed;
	return true;
}

/* A program that does nothing, to ask the kernel with. */
static int load_nothing(enum bpf_attach_type expected)
{
	static const struct bpf_insn instructions[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = expected);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", instructions,
			     ARRAY_SIZE(instructions), &options);
}

/* Nothing is mapped there. A kernel that comes so far as to read from it knows the rest. */
static const uint64_t *nowhere(void)
{
	return (const uint64_t *)1;
}

bool multi_link__has_kernel(void)
{
	CLEANUP_CLOSE int program = load_nothing(BPF_TRACE_KPROBE_MULTI);

	return program >= 0 && multi_link__kernel(program, nowhere(), 1) == -EFAULT;
}

static int ask_for_user_link(pid_t pid)
{
	CLEANUP_CLOSE int program = load_nothing((enum bpf_attach_type)ATTACH_TYPE_UPROBE_MULTI);

	return program < 0 ? program :
			     link_user(program, "/proc/self/exe", nowhere(), NULL, 1, pid);
}

bool multi_link__has_user(void)
{
	return ask_for_user_link(0) == -EFAULT;
}

/* Kernels that take processes do not find one with the ID of a thread. */
static void *ask_with_thread(void *answer)
{
	*(int *)answer = ask_for_user_link(gettid());
	return NULL;
}

bool multi_link__has_user_pid(void)
{
	pthread_t thread;
	int answer = 0;

	if (pthread_create(&thread, NULL, ask_with_thread, &answer))
		return false;
	pthread_join(thread, NULL);
	return answer == -ESRCH;
}
