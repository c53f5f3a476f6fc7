/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that is looked at, as a table. */
#ifndef TRACEKIT_CORE_DOCTOR_ROWS_H
#define TRACEKIT_CORE_DOCTOR_ROWS_H

#include <stddef.h>

#include "core/doctor/trials.h"

enum { PROFILE, STACKCOUNT, STACKSNOOP, OFFCPUTIME, NR_APPLETS };

enum part {
	USES, /* what users want: an applet that lacks one works in part */
	WAYS, /* how it is done: another way may do as well */
	PRIVILEGES,
	SURROUNDINGS,
	NR_PARTS,
};

#define DOCTOR_WAYS_MAX 3

struct row {
	enum part part;
	const char *key, *text;
	unsigned int applets;	 /* whom it concerns, as a set */
	unsigned int suffices;	 /* those that work, if only in part, with this alone */
	trial *try;		 /* NULL: the row is about a capability, which is not tried */
	unsigned int capability; /* CAP_... */
	const char *lost;	 /* what does not work without it */
	const char *help;	 /* what would help, unless the trial knows better */
	/* Instead of help, of a use: the keys of the ways by which it is done, one of which will
	 * do. */
	const char *ways[DOCTOR_WAYS_MAX];
};

extern const struct row doctor_rows[]; /* by part */
extern const size_t doctor_nr_rows;

#endif
