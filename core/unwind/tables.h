/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that programs walk user stacks by (bpf/tables.bpf.h), from the side that fills them.
 *
 * Programs read them all the time: data is there before programs can find it, and is not
 * overwritten until programs that may have found it have ended. Memory is limited: tables that
 * walks have not used for long are given back for others.
 */
#ifndef TRACEKIT_CORE_UNWIND_TABLES_H
#define TRACEKIT_CORE_UNWIND_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind_rule.h"
#include "bpf/unwind_tables.h"
#include "core/kernel/grace.h"
#include "core/unwind/shards.h"
#include "sym/cfi/rules.h"
#include "sym/cfi/table.h"

struct bpf_map;

/* The maps of a loaded object. */
struct unwind_maps {
	struct bpf_map *files, *numbers, *modules, *pages, *rules, *recent, *shards, *requests,
		*asked, *identified, *bases;
};

struct unwind_tables {
	const struct unwind_maps *maps; /* borrowed */
	struct grace grace;
	uint32_t nr_modules; /* the highest number that is known, plus 1 */

	/* The contents of the maps, mapped. */
	struct unwind_numbers *numbers;
	struct unwind_module *modules;
	struct unwind_page *pages;
	struct unwind_rule *written_rules;
	uint64_t *recent;

	/* Rules have as many users as rows. */
	struct unwind_rules rules;
	uint32_t *rule_users;

	struct unwind_shards shards;
	struct spans free_pages;

	/* The table that is being added. */
	struct unwind_module module; /* its nr_pages are 0 when there is none */
	uint64_t nr_coming_rows;     /* at most */
	uint16_t *rule_numbers;	     /* by the numbers of the table */
	uint32_t nr_rule_numbers;
};

/* memory: for rows, in bytes. Returns 0 or a negative errno. */
int unwind_tables__open(struct unwind_tables *tables, const struct unwind_maps *maps,
			uint64_t memory);
void unwind_tables__close(struct unwind_tables *tables);

/*
 * The number of a file's module: the one that walks have given it, or a new one, which walks find
 * from now on. Returns it, -ENOSPC if there is none, or another negative errno.
 */
int unwind_tables__number_file(struct unwind_tables *tables, const struct mapped_file *file);

/*
 * The table of a module: begin it, add its pages, then set the module's state. If that is
 * UNWIND_MODULE_LOADED, the module gets the table that was begun last. -ENOSPC or -E2BIG: there is
 * no room before others are given back; -EFBIG: nor would there be then; -EPROTO: there are more
 * rows than the head says, or a page comes again.
 */
int unwind_tables__begin(struct unwind_tables *tables, const struct unwind_table_head *head);
int unwind_tables__add_page(struct unwind_tables *tables, uint32_t page, const uint32_t *rows,
			    uint32_t nr);
void unwind_tables__set_module(struct unwind_tables *tables, uint32_t module,
			       enum unwind_module_state state);

/* UNWIND_MODULE_WANTED of one whose table has been given back. */
enum unwind_module_state unwind_tables__state(const struct unwind_tables *tables, uint32_t module);

/* When a walk was in it last, by unwind_age(). */
uint32_t unwind_tables__used(const struct unwind_tables *tables, uint32_t module);

/*
 * Give back the table that no walk has used for the longest time, if that is so long that it can be
 * done without. Returns its module, which is wanted from now on, -ENOENT if there is none, or
 * another negative errno.
 */
int unwind_tables__give_back_oldest(struct unwind_tables *tables);

/*
 * From now on walks find the module of a file, or UNWIND_NO_MODULE, until it is removed. Returns 0
 * or a negative errno.
 */
int unwind_tables__put_file(struct unwind_tables *tables, const struct mapped_file *file,
			    uint32_t module);
void unwind_tables__remove_file(struct unwind_tables *tables, const struct mapped_file *file);

/*
 * Fill the index of a page in front of its rows, as struct unwind_page has it: for each KB, which
 * of the nr rows holds where it begins. rows: sorted; the first begins with the page.
 */
void unwind_page__index(uint32_t index[UNWIND_INDEX_WORDS], const uint32_t *rows, uint32_t nr);

#endif
