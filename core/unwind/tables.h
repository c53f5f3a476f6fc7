/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that programs walk user stacks by (bpf/tables.bpf.h), from the side that fills them.
 *
 * Programs read them all the time: data is there before programs can find it, and is not
 * overwritten until programs that may have found it have ended. Memory is limited.
 */
#ifndef TRACEKIT_CORE_UNWIND_TABLES_H
#define TRACEKIT_CORE_UNWIND_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind_rule.h"
#include "bpf/unwind_tables.h"
#include "core/kernel/grace.h"
#include "sym/cfi/table.h"

struct bpf_map;

/* The maps of a loaded object. */
struct unwind_maps {
	struct bpf_map *processes, *mappings, *modules, *pages, *rules, *shards, *requests, *asked,
		*replaced;
};

/* Slices of unwind_mappings are whole units of so many. */
#define SLICE_UNIT  8
#define SLICE_UNITS (UNWIND_MAPPINGS / SLICE_UNIT)

enum unit_state {
	UNIT_FREE,
	UNIT_RESTING, /* no process has it any more, but programs may still be reading it */
	UNIT_USED,
	NR_UNIT_STATES,
};

/* The mappings of a process, and of those that it has forked; all zero is none. */
struct unwind_slice {
	uint32_t first, nr;
	uint32_t *users;
};

struct unwind_shard_map {
	struct unwind_shard *shards; /* mapped as long as pages can come there */
	uint32_t nr;
};

/* The place of a page: its map, the shard in it, and the first word. */
struct unwind_place {
	uint32_t map, shard, word;
};

struct unwind_tables {
	const struct unwind_maps *maps; /* borrowed */
	struct grace grace;
	uint64_t memory, memory_max; /* bytes of shards */
	struct unwind_rules rules;
	size_t nr_written_rules;
	uint32_t nr_modules, nr_pages;

	/* The contents of the maps, mapped. */
	struct unwind_mapping *mappings;
	struct unwind_module *modules;
	struct unwind_page *pages;
	struct unwind_rule *written_rules;

	struct unwind_shard_map shard_maps[UNWIND_SHARD_MAPS];
	uint32_t nr_shard_maps;
	struct unwind_place next;   /* behind the last page */
	struct unwind_place loaded; /* next when a table was finished last */

	/* The table that is being added. */
	struct unwind_module module;
	uint64_t nr_coming_rows; /* at most */
	uint16_t *rule_numbers;	 /* by the numbers of the table */
	uint32_t nr_rule_numbers;

	/* Mappings. */
	uint8_t units[SLICE_UNITS];	   /* enum unit_state */
	uint32_t nr_units[NR_UNIT_STATES]; /* how many are in each state */
};

/* memory: for rows, in bytes. Returns 0 or a negative errno. */
int unwind_tables__open(struct unwind_tables *tables, const struct unwind_maps *maps,
			uint64_t memory);
void unwind_tables__close(struct unwind_tables *tables);

/* Add a module. Returns its number, or -ENOSPC. */
int unwind_tables__add_module(struct unwind_tables *tables);

/*
 * The table of a module: begin it, add its pages, then set the module's state. If that is
 * UNWIND_MODULE_LOADED, the module gets the table that was begun last. -ENOSPC without
 * room, -E2BIG beyond the memory; -EPROTO if there are more rows than the head says.
 */
int unwind_tables__begin(struct unwind_tables *tables, const struct unwind_table_head *head);
int unwind_tables__add_page(struct unwind_tables *tables, uint32_t page, const uint32_t *rows,
			    uint32_t nr);
void unwind_tables__set_module(struct unwind_tables *tables, uint32_t module,
			       enum unwind_module_state state);

/*
 * Write the mappings that a process had at the time since, sorted and disjoint, in the place of
 * those of *slice, if that is not all zero. Returns 0, -ENOSPC, or another negative errno: then the
 * tables know nothing of it.
 */
int unwind_tables__put_process(struct unwind_tables *tables, uint32_t tgid,
			       const struct unwind_mapping *mappings, uint32_t nr, uint64_t since,
			       struct unwind_slice *slice);

/* The same for a forked process: it shares its parent's slice, which must not be all zero. */
int unwind_tables__share_process(struct unwind_tables *tables, uint32_t tgid,
				 const struct unwind_slice *parent, uint64_t since,
				 struct unwind_slice *slice);
void unwind_tables__remove_process(struct unwind_tables *tables, uint32_t tgid,
				   struct unwind_slice *slice);

/*
 * Fill the index of a page in front of its rows, as struct unwind_page has it: for each KB, which
 * of the nr rows holds where it begins. rows: sorted; the first begins with the page.
 */
void unwind_page__index(uint32_t index[UNWIND_INDEX_WORDS], const uint32_t *rows, uint32_t nr);

#endif
