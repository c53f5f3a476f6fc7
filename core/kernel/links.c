// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/links.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/kernel/sysctl.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/kernel_fs.h"

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

/* struct bpf_link_info as of 6.7 (7ac8d0d26192), where it has the size of its first fields. */
struct link_info {
	uint32_t type;
	uint32_t id;
	uint32_t program_id;
	uint32_t reserved;
	union {
		struct {
			uint64_t addresses;
			uint32_t nr;
			uint32_t flags;
			uint64_t missed;
		} kprobe_multi;
		struct {
			uint32_t type;
			uint32_t reserved;
			uint64_t function;
			uint32_t function_length;
			uint32_t offset;
			uint64_t address;
			uint64_t missed;
		} perf_event;
	};
	uint64_t later[16];
};

#define LINK_TYPE_PERF_EVENT   7
#define LINK_TYPE_KPROBE_MULTI 8
#define PERF_EVENT_KPROBE      3

int link__kernel_functions(int program_fd, const uint64_t *addresses, size_t nr)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .kprobe_multi.addrs = addresses,
		    .kprobe_multi.cnt = (uint32_t)nr);

	return bpf_link_create(program_fd, 0, BPF_TRACE_KPROBE_MULTI, &options);
}

int link__kernel_names(int program_fd, const char *const *names, size_t nr)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .kprobe_multi.syms = (const char **)names,
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

int link__user_code(int program_fd, int file_fd, const uint64_t *offsets,
		    const uint64_t *semaphores, size_t nr, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	return link_user(program_fd, path, offsets, semaphores, nr, pid);
}

int link__perf_event(int program_fd, struct perf_event_attr *attr, pid_t pid)
{
	CLEANUP_CLOSE int event = -1;
	int link;

	attr->size = sizeof(*attr);
	/* With pid: this process, on any CPU. Else all processes, whichever CPU is named here. */
	event = (int)syscall(SYS_perf_event_open, attr, pid ? pid : -1, pid ? -1 : 0, -1,
			     PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	/* A link knows what it missed. It keeps the event. */
	link = bpf_link_create(program_fd, event, BPF_PERF_EVENT, NULL);
	if (link >= 0)
		return link;
	/* Before 5.15 (b89fbfbb854c) */
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, program_fd) ||
	    ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return TAKE_FD(event);
}

int link__perf_type(const char *kind)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64];
	int type;

	snprintf(path, sizeof(path), "bus/event_source/devices/%s/type", kind);
	file = kernel_fs__open_file(KERNEL_FS_SYS, path);
	if (!file)
		return -errno;
	return fscanf(file, "%d", &type) == 1 ? type : -EIO;
}

int link__tracepoint(int program_fd, const char *path)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	CLEANUP_FCLOSE FILE *file = NULL;
	char id_path[256];
	unsigned int id;

	snprintf(id_path, sizeof(id_path), "events/%s/id", path);
	file = kernel_fs__open_file(KERNEL_FS_TRACE, id_path);
	if (!file)
		return -errno;
	if (fscanf(file, "%u", &id) != 1)
		return -EIO;
	attr.config = id;
	return link__perf_event(program_fd, &attr, 0);
}

/* Each thread waits for one close() at a time; so many fit in any container's limit of tasks. */
#define CLOSING_THREADS 64

struct closing {
	const int *fds;
	size_t nr, next; /* next: of all threads */
};

static void *close_in_turn(void *argument)
{
	struct closing *closing = argument;
	size_t i;

	while ((i = __atomic_fetch_add(&closing->next, 1, __ATOMIC_RELAXED)) < closing->nr)
		close(closing->fds[i]);
	return NULL;
}

/* The caller is one of the threads, and the only one if no other can be had. */
void links__close(const int *fds, size_t nr)
{
	struct closing closing = {.fds = fds, .nr = nr};
	pthread_t threads[CLOSING_THREADS];
	size_t started = 0;
	sigset_t all, old;

	/* Handlers of signals run in the caller, as ever. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (started + 1 < nr && started < ARRAY_SIZE(threads) &&
	       !pthread_create(&threads[started], NULL, close_in_turn, &closing))
		started++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close_in_turn(&closing);
	while (started > 0)
		pthread_join(threads[--started], NULL);
}

bool link__missed(int fd, uint64_t *missed)
{
	struct link_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size) || size < offsetof(struct link_info, later))
		return false;
	*missed = 0;
	if (info.type == LINK_TYPE_KPROBE_MULTI)
		*missed = info.kprobe_multi.missed;
	else if (info.type == LINK_TYPE_PERF_EVENT && info.perf_event.type == PERF_EVENT_KPROBE)
		*missed = info.perf_event.missed;
	return true;
}

bool link__raw_tracepoints_miss(void)
{
	struct utsname name;

	return uname(&name) == 0 && strtol(name.release, NULL, 10) >= 7;
}

/* The kernel refuses to attach a program that reads arguments which are not there. */
bool link__raw_tracepoint_has(const char *name, unsigned int argument)
{
	const struct bpf_insn instructions[] = {
		{.code = BPF_LDX | BPF_MEM | BPF_DW,
		 .dst_reg = BPF_REG_0,
		 .src_reg = BPF_REG_1,
		 .off = (int16_t)(argument * sizeof(uint64_t))},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	CLEANUP_CLOSE int program = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL",
						  instructions, ARRAY_SIZE(instructions), NULL);
	CLEANUP_CLOSE int link = program < 0 ? program : bpf_raw_tracepoint_open(name, program);

	return link >= 0;
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

/* Nothing is mapped there. A kernel that comes so far as to read it supports all the rest. */
static const uint64_t *nowhere(void)
{
	return (const uint64_t *)1;
}

/* 1, 0 or a negative errno, from the kernel's answer to a link with nowhere(). */
static int can(int answer)
{
	return answer == -EPERM || answer == -EACCES ? answer : answer == -EFAULT;
}

bool link__kernel_functions_off(void)
{
	long enabled;

	return sysctl__read("kernel/ftrace_enabled", &enabled) && !enabled;
}

int link__has_kernel_functions(void)
{
	CLEANUP_CLOSE int program = load_nothing(BPF_TRACE_KPROBE_MULTI);

	return can(program < 0 ? program : link__kernel_functions(program, nowhere(), 1));
}

static int ask_for_user_link(pid_t pid)
{
	CLEANUP_CLOSE int program = load_nothing((enum bpf_attach_type)ATTACH_TYPE_UPROBE_MULTI);

	return program < 0 ? program :
			     link_user(program, "/proc/self/exe", nowhere(), NULL, 1, pid);
}

int link__has_user_code(void)
{
	return can(ask_for_user_link(0));
}

/* Kernels that take the ID of a process find none with the ID of a thread. */
static void *ask_with_thread(void *answer)
{
	*(int *)answer = ask_for_user_link(gettid());
	return NULL;
}

bool link__has_user_pid(void)
{
	pthread_t thread;
	int answer = 0;

	if (pthread_create(&thread, NULL, ask_with_thread, &answer))
		return false;
	pthread_join(thread, NULL);
	return answer == -ESRCH;
}
