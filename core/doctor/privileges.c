// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/doctor/privileges.h"

#include <ctype.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/namespaces.h"
#include "sym/util/array.h"

static uint64_t read_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data))
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

static bool is_in_user_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) == 0 && st.st_ino != FIRST_USER_NAMESPACE;
}

/*
 * The kernel looks at arguments that cannot be right before it looks at privileges; a filter of
 * system calls does not. Linux 5.10 always refuses bpf() without CAP_BPF.
 */
static bool is_refused(int error)
{
	return error == EPERM || error == EACCES || error == ENOSYS;
}

/* A size above that of any structure. */
static bool bpf_is_refused(void)
{
	return syscall(SYS_bpf, 9999, NULL, 1 << 20) < 0 && is_refused(errno);
}

/* All flags, also those that there are not. */
static bool perf_event_open_is_refused(void)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, ~0UL) < 0 && is_refused(errno);
}

/* In a child, since a filter can kill. */
static enum filtering try_call(bool (*call_is_refused)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(call_is_refused());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return FILTER_NOTHING;
	if (WIFSIGNALED(status))
		return FILTER_KILLS;
	return WEXITSTATUS(status) ? FILTER_REFUSES : FILTER_NOTHING;
}

void privileges__read(struct privileges *privileges)
{
	privileges->capabilities = read_capabilities();
	privileges->in_user_namespace = is_in_user_namespace();
	privileges->filters[CALL_BPF] = try_call(bpf_is_refused);
	privileges->filters[CALL_PERF_EVENT_OPEN] = try_call(perf_event_open_is_refused);
}

bool privileges__have(const struct privileges *privileges, unsigned int capability)
{
	return !privileges->in_user_namespace && privileges->capabilities & CAPABILITY(capability);
}

/* CAP_SYS_ADMIN is some of the others, too. */
uint64_t privileges__missing(const struct privileges *privileges, uint64_t needs)
{
	uint64_t had = privileges->capabilities;

	if (had & CAPABILITY(CAP_SYS_ADMIN))
		had |= CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON) |
		       CAPABILITY(CAP_CHECKPOINT_RESTORE);
	return needs & ~had;
}

static const struct {
	unsigned int number;
	const char *name;
} names[] = {
	{CAP_BPF, "CAP_BPF"},
	{CAP_PERFMON, "CAP_PERFMON"},
	{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
	{CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
	{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
	{CAP_SYSLOG, "CAP_SYSLOG"},
	{CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE"},
	{CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE"},
};

void capabilities__names(uint64_t set, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names) && length < size; i++) {
		if (!(set & CAPABILITY(names[i].number)))
			continue;
		set &= ~CAPABILITY(names[i].number);
		length += (size_t)snprintf(text + length, size - length, "%s%s",
					   !length ? "" :
					   set	   ? ", " :
						     " and ",
					   names[i].name);
	}
}

void capabilities__write_setcap(uint64_t set, char *text, size_t size)
{
	size_t length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && length < size; i++)
		if (set & CAPABILITY(names[i].number))
			length += (size_t)snprintf(text + length, size - length, "%s%s",
						   length ? "," : "", names[i].name);
	for (size_t i = 0; text[i]; i++)
		text[i] = (char)tolower(text[i]);
	if (length < size)
		snprintf(text + length, size - length, "=ep");
}
