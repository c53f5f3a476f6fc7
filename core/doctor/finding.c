// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/doctor/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void finding__yes(struct finding *finding)
{
	*finding = (struct finding){.answer = ANSWER_YES};
}

void finding__no(struct finding *finding, const char *format, ...)
{
	va_list args;

	*finding = (struct finding){.answer = ANSWER_NO};
	va_start(args, format);
	vsnprintf(finding->why, sizeof(finding->why), format, args);
	va_end(args);
}

void finding__help(struct finding *finding, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(finding->composed, sizeof(finding->composed), format, args);
	va_end(args);
	finding->help = finding->composed;
}

void finding__untried(struct finding *finding, const char *why)
{
	*finding = (struct finding){.answer = ANSWER_UNTRIED};
	snprintf(finding->why, sizeof(finding->why), "%s", why);
}

static bool is_filtered(const struct privileges *privileges, enum system_call call,
			uint64_t missing)
{
	if (call == CALL_OTHER || privileges->filters[call] == FILTER_NOTHING)
		return false;
	/* Without CAP_BPF the kernel itself may have refused. */
	return call != CALL_BPF || (!missing && !privileges->in_user_namespace);
}

void finding__refused(struct finding *finding, int code, const struct privileges *privileges,
		      enum system_call call, uint64_t needs)
{
	uint64_t missing = privileges__missing(privileges, needs);
	char names[128];

	if (code != -EPERM && code != -EACCES && code != -ENOSYS) {
		finding__no(finding, "%s", strerror(-code));
	} else if (is_filtered(privileges, call, missing)) {
		finding__no(finding, "%s: a filter of system calls refuses %s()", strerror(-code),
			    call == CALL_BPF ? "bpf" : "perf_event_open");
		finding->help = "a seccomp profile that allows bpf and perf_event_open";
	} else if (privileges->in_user_namespace) {
		finding__no(finding, "%s: the privileges of a user namespace do not count",
			    strerror(-code));
		finding->help = "run it outside of the user namespace";
	} else if (missing) {
		capabilities__names(missing, names, sizeof(names));
		finding__no(finding, "%s: without %s", strerror(-code), names);
		finding->help = "run it as root, or with setcap as under Privileges";
	} else {
		finding__no(finding, "%s", strerror(-code));
	}
}
