/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trial has found. */
#ifndef TRACEKIT_CORE_DOCTOR_FINDING_H
#define TRACEKIT_CORE_DOCTOR_FINDING_H

#include <stdint.h>

#include "core/doctor/privileges.h"

enum answer {
	ANSWER_UNTRIED, /* there is nothing here to try it with */
	ANSWER_YES,
	ANSWER_NO,
};

struct finding {
	enum answer answer;
	char why[256];	    /* not for a "yes"; can be empty */
	const char *help;   /* what would make it a "yes", if that is not what its row says */
	char composed[512]; /* where help can stand */
};

void finding__yes(struct finding *finding);
void finding__no(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* help, put together. */
void finding__help(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding__untried(struct finding *finding, const char *why);

/*
 * No: the kernel refused a call with code, a negative errno. If privileges are missing, those of
 * needs, a set of capabilities, the text says which.
 */
void finding__refused(struct finding *finding, int code, const struct privileges *privileges,
		      enum system_call call, uint64_t needs);

#endif
