// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/unit/kept_tables.h"
#include "bpf/unwind_tables.h"

#include <errno.h>
#include <string.h>

#include "test/fuzz/fuzz.h"

struct kept_process kept[KEPT_PROCESSES];
uint32_t kept_modules_max;
int kept_share_error;

int __wrap_unwind_tables__add_module(struct unwind_tables *tables);
int __wrap_unwind_tables__put_process(struct unwind_tables *tables, uint32_t tgid,
				      const struct unwind_mapping *mappings, uint32_t nr,
				      uint64_t since, struct unwind_slice *slice);
int __wrap_unwind_tables__share_process(struct unwind_tables *tables, uint32_t tgid,
					const struct unwind_slice *parent, uint64_t since,
					struct unwind_slice *slice);
void __wrap_unwind_tables__remove_process(struct unwind_tables *tables, uint32_t tgid,
					  struct unwind_slice *slice);

void kept_tables__reset(void)
{
	/* They are large, and fuzzers do this often. */
	for (size_t i = 0; i < KEPT_PROCESSES; i++)
		kept[i].nr = 0;
	kept_modules_max = UINT32_MAX;
	kept_share_error = 0;
}

int __wrap_unwind_tables__add_module(struct unwind_tables *tables)
{
	return tables->nr_modules < kept_modules_max ? (int)tables->nr_modules++ : -ENOSPC;
}

static void keep(uint32_t tgid, const struct unwind_mapping *mappings, uint32_t nr, uint64_t since)
{
	REQUIRE(tgid < KEPT_PROCESSES && nr > 0 && nr <= UNWIND_MAPPINGS_MAX);
	memcpy(kept[tgid].mappings, mappings, nr * sizeof(*mappings));
	kept[tgid].nr = nr;
	kept[tgid].since = since;
}

int __wrap_unwind_tables__put_process(struct unwind_tables *tables, uint32_t tgid,
				      const struct unwind_mapping *mappings, uint32_t nr,
				      uint64_t since, struct unwind_slice *slice)
{
	for (uint32_t i = 0; i < nr; i++) {
		REQUIRE(mappings[i].start < mappings[i].end);
		REQUIRE(i == 0 || mappings[i - 1].end <= mappings[i].start);
		REQUIRE(mappings[i].module < tables->nr_modules ||
			mappings[i].module >= UNWIND_UNKNOWN_MODULE);
	}
	keep(tgid, mappings, nr, since);
	*slice = (struct unwind_slice){.first = tgid, .nr = nr, .users = &kept[tgid].users};
	return 0;
}

/* Each has a copy here, and its own number. */
int __wrap_unwind_tables__share_process(struct unwind_tables *tables, uint32_t tgid,
					const struct unwind_slice *parent, uint64_t since,
					struct unwind_slice *slice)
{
	(void)tables;
	REQUIRE(parent->users && !slice->users);
	*slice = *parent;
	if (kept_share_error)
		return kept_share_error;
	REQUIRE(parent->first < KEPT_PROCESSES && kept[parent->first].nr == parent->nr);
	keep(tgid, kept[parent->first].mappings, parent->nr, since);
	slice->first = tgid;
	return 0;
}

void __wrap_unwind_tables__remove_process(struct unwind_tables *tables, uint32_t tgid,
					  struct unwind_slice *slice)
{
	(void)tables;
	if (tgid < KEPT_PROCESSES)
		kept[tgid].nr = 0;
	*slice = (struct unwind_slice){0};
}
