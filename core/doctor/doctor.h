/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What works here, what does not, why, and what would help. */
#ifndef TRACEKIT_CORE_DOCTOR_DOCTOR_H
#define TRACEKIT_CORE_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The applets that it knows; ends with NULL. */
extern const char *const doctor_applets[];

enum doctor_verdict {
	DOCTOR_ALL, /* all works that was asked for */
	DOCTOR_PART,
	DOCTOR_NONE, /* nothing does */
};

/*
 * Try everything that an applet needs, an index into doctor_applets, or with DOCTOR_EVERY all of
 * them, and write it to out: text for people or, with json, an object per line. Takes a second or
 * more, runs this program again, and leaves nothing behind. Returns 0 or -ENOMEM.
 */
#define DOCTOR_EVERY ((size_t)-1)
int doctor__examine(size_t applet, bool json, FILE *out, enum doctor_verdict *verdict);

#endif
