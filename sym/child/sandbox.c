// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/child/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/debug_log.h"
#include "sym/util/descriptors.h"
#include "sym/util/page.h"

/*
 * Users and groups that no distribution, container or user namespace has (systemd's UIDS-GIDS):
 * 2^31 to 2^32 - 2. Each child is another one: who has a user in common with it could send it
 * signals.
 */
#define UNUSED_FIRST ((uint32_t)1 << 31)
#define UNUSED_NR    (UINT32_MAX - UNUSED_FIRST)

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
/* Calls of the x32 ABI have this bit, on the same architecture. */
#define FOREIGN_CALLS 0x40000000
#elif defined(__aarch64__)
#define OWN_ARCH      AUDIT_ARCH_AARCH64
#define FOREIGN_CALLS 0x40000000
#endif

/* The descriptors that stay become 0, 1, ...; all others are closed. */
static int keep_descriptors(struct sandbox *sandbox)
{
	int err = descriptors__keep(sandbox->fds, sandbox->nr_fds);

	for (size_t i = 0; i < sandbox->nr_fds && !err; i++)
		sandbox->fds[i] = (int)i;
	return err;
}

/* Bytes that are mapped now, which a limit counts as well; 0: not known. */
static uint64_t mapped_bytes(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	return file && fscanf(file, "%llu", &pages) == 1 ? pages * page_size() : 0;
}

/* Be the first to end when memory runs out; without /proc this cannot be asked for. */
static void volunteer_to_end(void)
{
	CLEANUP_CLOSE int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, "1000", 4);
}

/* As much as value, or as we have ourselves: nobody may raise that. */
static int limit(int resource, uint64_t value)
{
	struct rlimit both;

	if (getrlimit((__rlimit_resource_t)resource, &both))
		return -errno;
	if (value < both.rlim_max)
		both.rlim_max = value;
	both.rlim_cur = both.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &both) ? -errno : 0;
}

static int set_limits(const struct sandbox *sandbox, uint64_t mapped)
{
	int err = mapped ? limit(RLIMIT_CORE, 0) : -EPERM;

	if (!err)
		err = limit(RLIMIT_FSIZE, sandbox->file_bytes);
	if (!err)
		err = limit(RLIMIT_CPU, sandbox->cpu_seconds);
	if (!err)
		err = limit(RLIMIT_NOFILE, sandbox->nr_fds + sandbox->received_fds);
	if (!err)
		err = limit(RLIMIT_AS, mapped + sandbox->memory);
	return err;
}

/*
 * What others write to or read from, as maps of BPF programs, is not for this process; what it may
 * only read stays. Returns 0 or a negative errno, -EPERM without /proc.
 */
static int unmap_shared(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512], permissions[5];

	if (!file)
		return -EPERM;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx %4s", &start, &end, permissions) == 3 &&
		    permissions[1] == 'w' && permissions[3] == 's' &&
		    munmap((void *)start, end - start)) // NOLINT(performance-no-int-to-ptr)
			return -errno;
	return 0;
}

/*
 * Become somebody else. Only root can: the others, and root in a user namespace, which has no such
 * users, stay who they are.
 */
static void change_user(void)
{
	uint32_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number) || setgroups(0, NULL))
		return;
	number = UNUSED_FIRST + number % UNUSED_NR;
	if (!setresgid(number, number, number))
		(void)!setresuid(number, number, number);
}

static bool drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capset, &header, none) == 0;
}

#ifdef OWN_ARCH
/* Allow a call, whatever its arguments. */
#define ALLOW(number)                                                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),                                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

/*
 * Read and write what is open, receive descriptors, have memory, look at the clock, end.
 * Memory is without a file behind it, and never becomes code.
 */
static struct sock_filter filter[] = {
	LOAD(arch),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_CALLS, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	ALLOW(SYS_read),
	ALLOW(SYS_pread64),
	ALLOW(SYS_write),
	ALLOW(SYS_sendto),
	ALLOW(SYS_recvfrom),
	ALLOW(SYS_recvmsg),
	ALLOW(SYS_close),
	ALLOW(SYS_fstat),
	ALLOW(SYS_brk),
	ALLOW(SYS_munmap),
	ALLOW(SYS_mremap),
	ALLOW(SYS_madvise),
	ALLOW(SYS_futex),
	ALLOW(SYS_clock_gettime),
	ALLOW(SYS_rt_sigreturn),
	ALLOW(SYS_exit),
	ALLOW(SYS_exit_group),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 5),
	LOAD(args[2]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 3, 0),
	LOAD(args[3]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
};

static bool refuse_calls(void)
{
	const struct sock_fprog program = {.len = ARRAY_SIZE(filter), .filter = filter};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#else
static bool refuse_calls(void)
{
	return false;
}
#endif

/*
 * The order matters: /proc needs a descriptor, which is free when those of the parent are closed; a
 * change of user makes the kernel forget the signal of the parent's end, and after the filter
 * nothing of this can be asked for any more.
 */
int sandbox__enter(struct sandbox *sandbox)
{
	uint64_t mapped;
	int err;

	debug_log__end();
	err = keep_descriptors(sandbox);
	if (!err)
		err = unmap_shared();
	if (err)
		return err;
	volunteer_to_end();
	mapped = mapped_bytes();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	change_user();
	if (!drop_capabilities())
		return -EPERM;
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != sandbox->parent)
		return -ESRCH;
	err = set_limits(sandbox, mapped);
	if (err)
		return err;
	return refuse_calls() ? 0 : -EPERM;
}
