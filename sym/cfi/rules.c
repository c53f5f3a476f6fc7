// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/unwind_tables.h"
#include "sym/util/array.h"

#define RULE_BUCKETS 4096

int unwind_rules__init(struct unwind_rules *rules)
{
	static const uint8_t alone[] = {UNWIND_NONE, UNWIND_UNSUPPORTED, UNWIND_END};

	*rules = (struct unwind_rules){.buckets = calloc(RULE_BUCKETS, sizeof(*rules->buckets))};
	for (size_t i = 0; rules->buckets && i < ARRAY_SIZE(alone); i++) {
		const struct unwind_rule rule = {.cfa = alone[i]};

		if (unwind_rules__number(rules, &rule) < 0)
			break;
	}
	if (rules->nr == ARRAY_SIZE(alone))
		return 0;
	unwind_rules__release(rules);
	return -ENOMEM;
}

void unwind_rules__release(struct unwind_rules *rules)
{
	free(rules->items);
	free(rules->buckets);
	free(rules->next);
	*rules = (struct unwind_rules){0};
}

static uint32_t *rule_bucket(const struct unwind_rules *rules, const struct unwind_rule *rule)
{
	uint64_t words[sizeof(*rule) / sizeof(uint64_t)], hash = 0;

	memcpy(words, rule, sizeof(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15;
	return &rules->buckets[hash >> 32 & (RULE_BUCKETS - 1)];
}

static void put_in_bucket(struct unwind_rules *rules, uint32_t number)
{
	uint32_t *bucket = rule_bucket(rules, &rules->items[number]);

	rules->next[number] = *bucket;
	*bucket = number;
}

static int add_rule(struct unwind_rules *rules, const struct unwind_rule *rule)
{
	uint32_t number = rules->first_free;

	if (number) {
		rules->first_free = rules->next[number];
		rules->nr_free--;
	} else {
		if (ARRAY_GROW(rules->items, rules->nr, rules->capacity) ||
		    ARRAY_GROW(rules->next, rules->nr, rules->next_capacity))
			return -ENOMEM;
		number = (uint32_t)rules->nr++;
	}
	rules->items[number] = *rule;
	put_in_bucket(rules, number);
	return (int)number;
}

/* Number 0 reads as none in a bucket: its rule, UNWIND_NONE, is not looked for there. */
int unwind_rules__number(struct unwind_rules *rules, const struct unwind_rule *rule)
{
	if (rules->nr && rule->cfa == UNWIND_NONE)
		return UNWIND_NONE;
	for (uint32_t number = *rule_bucket(rules, rule); number; number = rules->next[number])
		if (!memcmp(&rules->items[number], rule, sizeof(*rule)))
			return (int)number;
	return unwind_rules__room(rules) ? add_rule(rules, rule) : UNWIND_UNSUPPORTED;
}

size_t unwind_rules__room(const struct unwind_rules *rules)
{
	return UNWIND_RULES - rules->nr + rules->nr_free;
}

void unwind_rules__forget_unused(struct unwind_rules *rules, const uint32_t *users)
{
	memset(rules->buckets, 0, RULE_BUCKETS * sizeof(*rules->buckets));
	rules->first_free = 0;
	rules->nr_free = 0;
	for (uint32_t number = 1; number < rules->nr; number++) {
		if (number <= UNWIND_END || users[number]) {
			put_in_bucket(rules, number);
			continue;
		}
		rules->next[number] = rules->first_free;
		rules->first_free = number;
		rules->nr_free++;
	}
}
