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
#include "sym/cfi/table.h"

struct bpf_map;

/* The maps of a loaded object. */
struct unwind_maps {
	struct bpf_map *files, *modules, *pages, *rules, *shards, *requests, *asked, *identified;
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
	uint64_t memory, memory_max;	/* bytes of shards */
	struct unwind_rules rules;
	size_t nr_written_rules;
	uint32_t nr_modules, nr_pages;

	/* The contents of the maps, mapped. */
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
 * From now on walks find the module of a file, or UNWIND_NO_MODULE. Returns 0 or a negative errno.
 */
int unwind_tables__put_file(struct unwind_tables *tables, const struct mapped_file *file,
			    uint32_t module);

/*
 * Fill the index of a page in front of its rows, as struct unwind_page has it: for each KB, which
 * of the nr rows holds where it begins. rows: sorted; the first begins with the page.
 */
void unwind_page__index(uint32_t index[UNWIND_INDEX_WORDS], const uint32_t *rows, uint32_t nr);

#endif
