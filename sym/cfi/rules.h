/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of files, each once: equal ones are one. UNWIND_RULES at most. */
#ifndef TRACEKIT_SYM_CFI_RULES_H
#define TRACEKIT_SYM_CFI_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind_rule.h"

struct unwind_rules {
	struct unwind_rule
		*items; /* by number; the first three are those that are their kind alone */
	size_t nr, capacity;
	uint32_t *buckets; /* the first rule with that hash; 0: none */
	uint32_t *next;	   /* by number */
	size_t next_capacity;
	uint32_t first_free; /* of the numbers that can be given again, as next has them; or 0 */
	size_t nr_free;
};

/* Returns 0 or -ENOMEM. */
int unwind_rules__init(struct unwind_rules *rules);
void unwind_rules__release(struct unwind_rules *rules);

/*
 * The number of a rule, which is added if it is new; UNWIND_UNSUPPORTED if there is no room for
 * more. Or -ENOMEM.
 */
int unwind_rules__number(struct unwind_rules *rules, const struct unwind_rule *rule);

/* How many more rules there is room for. */
size_t unwind_rules__room(const struct unwind_rules *rules);

/*
 * Forget the rules that have no users, by number: others can get their numbers. The first three
 * stay.
 */
void unwind_rules__forget_unused(struct unwind_rules *rules, const uint32_t *users);

#endif
