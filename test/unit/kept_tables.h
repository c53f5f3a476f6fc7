/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In the place of the tables of core/unwind/tables.h, for whoever links this: the entries of
 * processes are kept here, and must be as the programs need them. See "--wrap" in ld(1).
 */
#ifndef TRACEKIT_TEST_KEPT_TABLES_H
#define TRACEKIT_TEST_KEPT_TABLES_H

#include <stdint.h>

#include "bpf/unwind_tables.h"
#include "core/unwind/tables.h"

/* No other processes may be put there. */
#define KEPT_PROCESSES 16

/*
 * A process as the programs find it: one without mappings is not there. Slices are numbered by
 * their processes; processes that share a slice have its users.
 */
struct kept_process {
	struct unwind_mapping mappings[UNWIND_MAPPINGS_MAX];
	uint32_t nr;
	uint64_t since;
	uint32_t users; /* nobody counts them */
};

extern struct kept_process kept[KEPT_PROCESSES];
extern uint32_t kept_modules_max;
extern int kept_share_error; /* what sharing a slice returns */

/* Empty the tables; then there is room for all, and nothing fails. */
void kept_tables__reset(void);

#endif
