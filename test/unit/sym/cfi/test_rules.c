// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf/unwind_tables.h"
#include "sym/cfi/rules.h"

#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define CLEANUP_RULES CLEANUP(unwind_rules__release)

static void many_rules(void)
{
	CLEANUP_RULES struct unwind_rules rules = {0};
	struct unwind_rule rule = {.cfa = UNWIND_REGISTER};

	CHECK_INT(unwind_rules__init(&rules), 0);
	for (int i = 3; i < UNWIND_RULES; i++) {
		rule.cfa_offset = i * 8;
		if (!CHECK_INT(unwind_rules__number(&rules, &rule), i))
			return;
	}
	CHECK_INT(unwind_rules__number(&rules, &rule), UNWIND_RULES - 1);
	rule.cfa_offset = 8;
	CHECK_INT(unwind_rules__number(&rules, &rule), UNWIND_UNSUPPORTED);
	CHECK_INT(unwind_rules__number(&rules, &(struct unwind_rule){.cfa = UNWIND_NONE}), 0);
	CHECK_INT(unwind_rules__number(&rules, &(struct unwind_rule){.cfa = UNWIND_END}),
		  UNWIND_END);
}

/* Those with users keep their numbers; the others' are given again, each once. */
static void forgotten_rules(void)
{
	static uint32_t users[UNWIND_RULES];
	CLEANUP_RULES struct unwind_rules rules = {0};
	struct unwind_rule rule = {.cfa = UNWIND_REGISTER};
	uint32_t wrong = 0;

	CHECK_INT(unwind_rules__init(&rules), 0);
	for (int i = 3; i < UNWIND_RULES; i++) {
		rule.cfa_offset = i;
		wrong += unwind_rules__number(&rules, &rule) != i;
		users[i] = i % 2;
	}
	CHECK_INT(unwind_rules__room(&rules), 0);
	unwind_rules__forget_unused(&rules, users);
	CHECK_INT(unwind_rules__room(&rules), (UNWIND_RULES - 3) / 2);
	for (int i = 5; i < UNWIND_RULES; i += 2) {
		rule.cfa_offset = i;
		wrong += unwind_rules__number(&rules, &rule) != i;
	}
	for (int i = 4; i < UNWIND_RULES; i += 2) {
		int number;

		rule.cfa_offset = -i;
		number = unwind_rules__number(&rules, &rule);
		wrong += number < 3 || number % 2 || users[number]++;
	}
	CHECK_INT(wrong, 0);
	CHECK_INT(unwind_rules__room(&rules), 0);
	CHECK_INT(unwind_rules__number(&rules, &(struct unwind_rule){.cfa = UNWIND_END}),
		  UNWIND_END);
	rule.cfa_offset = 4;
	CHECK_INT(unwind_rules__number(&rules, &rule), UNWIND_UNSUPPORTED);
}

static const struct tap_test tests[] = {
	{"rules beyond the bound are not supported", many_rules},
	{"rules without users make room for others", forgotten_rules},
};

int main(void)
{
	return TAP_RUN(tests);
}
