// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/doctor/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/doctor/privileges.h"

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

void finding__untried(struct finding *finding, const char *why)
{
	*finding = (struct finding){.answer = ANSWER_UNTRIED};
	snprintf(finding->why, sizeof(finding->why), "%s", why);
}

void finding__refused(struct finding *finding, int code, const struct privileges *privileges,
		      uint64_t needs)
{
	uint64_t missing = needs & ~privileges->capabilities;
	char names[128];

	if (code != -EPERM && code != -EACCES && code != -ENOSYS) {
		finding__no(finding, "%s", strerror(-code));
	} else if (privileges->bpf_is_filtered || privileges->perf_is_filtered) {
		finding__no(finding, "%s: a filter refuses %s()", strerror(-code),
			    privileges->bpf_is_filtered ? "bpf" : "perf_event_open");
		finding->help = "a seccomp profile that allows bpf and perf_event_open";
	} else if (privileges->in_user_namespace) {
		finding__no(finding, "%s: the privileges of a user namespace do not count",
			    strerror(-code));
		finding->help = "run it outside of the user namespace";
	} else if (missing) {
		capabilities__names(missing, names, sizeof(names));
		finding__no(finding, "%s: without %s", strerror(-code), names);
		finding->help = "run it as root, or with these capabilities";
	} else {
		finding__no(finding, "%s", strerror(-code));
	}
}
