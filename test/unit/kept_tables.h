/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In the place of the tables of core/unwind/tables.h, for whoever links this: what processes have
 * there is kept, and must be as the programs need it. See "--wrap" in ld(1).
 */
#ifndef TRACEKIT_TEST_KEPT_TABLES_H
#define TRACEKIT_TEST_KEPT_TABLES_H

#include <stdint.h>

#include "bpf/unwind_tables.h"
#include "core/unwind/tables.h"

/* Of others nothing may be put there. */
#define KEPT_PROCESSES 16

/*
 * As the programs find it: of those without mappings there is nothing. Slices are numbered by their
 * processes; those that share one have its users.
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

/* Nothing is there, there is room for all, and nothing fails. */
void kept_tables__reset(void);

#endif
