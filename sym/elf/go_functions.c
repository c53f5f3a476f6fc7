// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/go_functions.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "sym/elf/go_table.h"
#include "sym/elf/symbols.h"
#include "sym/elf/work.h"
#include "sym/util/arena.h"

/* A file may have the work of eight million symbols. */
#define WORK_MAX (8 * 1024 * 1024)

static bool is_in_block(const struct go_table *table, const struct go_block *block,
			uint64_t address)
{
	return block->nr && address >= go_table__start(table, block, 0) &&
	       address < go_table__start(table, block, block->nr);
}

/* Make block the one that address lies in; false if no function does. */
static bool find_block(struct go_table *table, struct go_block *block, uint64_t address)
{
	uint64_t first = 0, end = (table->nr + GO_BLOCK_FUNCTIONS - 1) / GO_BLOCK_FUNCTIONS;

	if (is_in_block(table, block, address))
		return true;
	while (end - first > 1) {
		uint64_t middle = first + (end - first) / 2;

		if (!go_table__read_block(table, block, middle * GO_BLOCK_FUNCTIONS, 1))
			return false;
		if (go_table__start(table, block, 0) <= address)
			first = middle;
		else
			end = middle;
	}
	return end &&
	       go_table__read_block(table, block, first * GO_BLOCK_FUNCTIONS, GO_BLOCK_FUNCTIONS) &&
	       is_in_block(table, block, address);
}

/* The last function of the block that begins at or before address, which lies in it. */
static uint64_t find_in_block(const struct go_table *table, const struct go_block *block,
			      uint64_t address)
{
	uint64_t first = 0, end = block->nr;

	while (end - first > 1) {
		uint64_t middle = first + (end - first) / 2;

		if (go_table__start(table, block, middle) <= address)
			first = middle;
		else
			end = middle;
	}
	return first;
}

/* The name of number i of the block; NULL if it has none, or without memory. */
static const char *read_name(struct go_table *table, const struct go_block *block, uint64_t i,
			     struct arena *names, int *err)
{
	struct go_description description;
	char name[ELF_SYMBOLS_NAME_MAX];
	const char *kept;
	size_t length;

	if (!go_table__describe(table, block, i, &description))
		return NULL;
	length = go_table__read_name(table, description.name, name, sizeof(name));
	if (length == 0)
		return NULL;
	kept = arena__copy_string(names, name, length);
	*err = kept ? 0 : -ENOMEM;
	return kept;
}

static int find_all(struct go_table *table, struct elf_lookup *lookups, size_t nr,
		    struct arena *names)
{
	const struct elf_lookup *previous = NULL;
	struct go_block block = {0};
	int err = 0;

	for (size_t i = 0; i < nr && work__is_left(&table->work) && !err; i++) {
		struct elf_lookup *lookup = &lookups[i];
		uint64_t number;

		if (lookup->name || !find_block(table, &block, lookup->address))
			continue;
		number = find_in_block(table, &block, lookup->address);
		lookup->start = go_table__start(table, &block, number);
		/* An unsorted table can lead to a function behind. */
		if (lookup->start > lookup->address)
			continue;
		if (previous && previous->start == lookup->start)
			lookup->name = previous->name;
		else
			lookup->name = read_name(table, &block, number, names, &err);
		if (lookup->name)
			previous = lookup;
	}
	return err;
}

static bool all_named(const struct elf_lookup *lookups, size_t nr)
{
	size_t named = 0;

	while (named < nr && lookups[named].name)
		named++;
	return named == nr;
}

int go_functions__find(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
		       struct arena *names, uint64_t *work)
{
	const struct work share = work__share(work, WORK_MAX);
	struct go_table table;
	int err;

	if (all_named(lookups, nr) || !go_table__open(&table, elf, share))
		return work__is_left(&share) ? 0 : -EFBIG;
	err = find_all(&table, lookups, nr, names);
	return err || work__is_left(&share) ? err : -EFBIG;
}
