// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/bpf_error.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/kernel_fs.h"
#include "sym/util/text.h"

/* libbpf's print function has no context argument: one text for the process. */
static char first_warning[256];

static int remember(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level == LIBBPF_WARN && !first_warning[0])
		vsnprintf(first_warning, sizeof(first_warning), format, args);
	return 0;
}

void bpf_error__capture(void)
{
	first_warning[0] = '\0';
	libbpf_set_print(remember);
}

/* The first line of the warning, without libbpf's prefix. */
static const char *warning_line(void)
{
	const char *prefix = "libbpf: ";
	char *line = first_warning;

	line[strcspn(line, "\n")] = '\0';
	if (text__begins(line, prefix))
		line += strlen(prefix);
	return line;
}

static bool first_line_has(FILE *file, const char *text)
{
	char line[4096] = "";

	return file && fgets(line, sizeof(line), file) && strstr(line, text);
}

/* The second file is for who may not mount securityfs, where it is not. */
bool bpf_error__is_locked_down(void)
{
	CLEANUP_FCLOSE FILE *lockdown = kernel_fs__open_file(KERNEL_FS_SECURITY, "lockdown");
	CLEANUP_FCLOSE FILE *cmdline = fopen("/proc/cmdline", "re");

	return first_line_has(lockdown, "[confidentiality]") ||
	       first_line_has(cmdline, "lockdown=confidentiality");
}

/* Before 5.11 (d5299b67dd59) maps count as locked memory, of which the user may have so much. */
static bool is_memory_locked(void)
{
	unsigned int major, minor;
	struct utsname name;
	struct rlimit limit;

	return uname(&name) == 0 && sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major < 5 || (major == 5 && minor < 11)) && !getrlimit(RLIMIT_MEMLOCK, &limit) &&
	       limit.rlim_cur != RLIM_INFINITY;
}

int bpf_error__load(struct error *error, int code)
{
	if (bpf_error__is_locked_down())
		return error__set(
			error, code,
			"cannot load BPF programs: %s; the kernel is in "
			"lockdown=confidentiality, which forbids programs to read memory: "
			"user code and system calls cannot be traced then",
			strerror(-code));
	/* libbpf can take it for something that the kernel lacks. */
	if (strstr(first_warning, strerror(EMFILE)))
		code = -EMFILE;
	switch (code) {
	case -EMFILE:
		return error__set(error, code, "cannot load BPF programs: %s", strerror(-code));
	case -EPERM:
	case -EACCES:
		return error__set(error, code,
				  "cannot load BPF programs: %s; run as root, or with CAP_BPF and "
				  "CAP_PERFMON%s; see 'tracekit doctor'",
				  strerror(-code),
				  is_memory_locked() ?
					  " and, before Linux 5.11, 'ulimit -l unlimited' "
					  "(RLIMIT_MEMLOCK)" :
					  "");
	case -ENOSYS:
		return error__set(error, code,
				  "cannot load BPF programs: this kernel has no bpf(); it needs "
				  "CONFIG_BPF_SYSCALL");
	case -ENOSPC:
		return error__set(
			error, code,
			"cannot load BPF programs: the verifier's log is longer than this "
			"kernel can hand out (before 6.4); leave out --debug");
	case -ENOMEM:
	case -E2BIG:
		return error__set(error, code,
				  "cannot load BPF programs: %s; try a smaller "
				  "--stack-storage-size or --hash-storage-size",
				  strerror(-code));
	default:
		return error__set(error, code, "cannot load BPF programs: %s%s%s", strerror(-code),
				  first_warning[0] ? ": " : "", warning_line());
	}
}
