// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sym/util/cleanup.h"
#include "sym/util/page.h"

/* Map all elements of a map; NULL on failure. */
static void *map_all(const struct bpf_map *map)
{
	size_t size = bpf_map__max_entries(map) * (size_t)bpf_map__value_size(map);
	size_t page = page_size();
	void *mapped = page_map(bpf_map__fd(map), (size + page - 1) / page * page,
				PROT_READ | PROT_WRITE, 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

static int map_maps(struct unwind_tables *tables)
{
	tables->modules = map_all(tables->maps->modules);
	tables->pages = map_all(tables->maps->pages);
	tables->written_rules = map_all(tables->maps->rules);
	return tables->modules && tables->pages && tables->written_rules ? 0 : -errno;
}

static void unmap(void *mapped, const struct bpf_map *map)
{
	if (mapped)
		munmap(mapped, bpf_map__max_entries(map) * (size_t)bpf_map__value_size(map));
}

int unwind_tables__open(struct unwind_tables *tables, const struct unwind_maps *maps,
			uint64_t memory)
{
	struct unwind_tables opened = {.maps = maps, .memory_max = memory};
	int err = unwind_rules__init(&opened.rules);

	if (!err) {
		opened.rule_numbers = calloc(UNWIND_RULES, sizeof(*opened.rule_numbers));
		err = opened.rule_numbers ? 0 : -ENOMEM;
	}
	if (!err)
		err = map_maps(&opened);
	if (err)
		unwind_tables__close(&opened);
	else
		*tables = opened;
	return err;
}

/* Unmap the shards of the maps before this one: no page comes there any more. */
static void leave_shards(struct unwind_tables *tables, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++) {
		struct unwind_shard_map *map = &tables->shard_maps[i];

		if (map->shards)
			munmap(map->shards, map->nr * sizeof(*map->shards));
		map->shards = NULL;
	}
}

void unwind_tables__close(struct unwind_tables *tables)
{
	leave_shards(tables, tables->nr_shard_maps);
	unmap(tables->modules, tables->maps->modules);
	unmap(tables->pages, tables->maps->pages);
	unmap(tables->written_rules, tables->maps->rules);
	free(tables->rule_numbers);
	unwind_rules__release(&tables->rules);
	*tables = (struct unwind_tables){0};
}

static int update(const struct bpf_map *map, uint32_t key, const void *value)
{
	return bpf_map_update_elem(bpf_map__fd(map), &key, value, BPF_ANY);
}

/* ---- shards ---- */

/* Twice as many after every two maps: a small process costs little, a large one few maps. */
static uint32_t wanted_shards(const struct unwind_tables *tables)
{
	uint64_t left = (tables->memory_max - tables->memory) / sizeof(struct unwind_shard);
	uint32_t wanted = 4U << (tables->nr_shard_maps / 2 < 6 ? tables->nr_shard_maps / 2 : 6);

	return wanted < left ? wanted : (uint32_t)left;
}

static int add_shards(struct unwind_tables *tables)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	uint32_t nr = wanted_shards(tables);
	CLEANUP_CLOSE int fd = -1;
	void *mapped;
	int err;

	if (!nr)
		return -E2BIG;
	if (tables->nr_shard_maps == UNWIND_SHARD_MAPS)
		return -ENOSPC;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_shard", sizeof(uint32_t),
			    sizeof(struct unwind_shard), nr, &options);
	if (fd < 0)
		return -errno;
	mapped = page_map(fd, nr * sizeof(struct unwind_shard), PROT_READ | PROT_WRITE, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	err = update(tables->maps->shards, tables->nr_shard_maps, &fd);
	if (err) {
		munmap(mapped, nr * sizeof(struct unwind_shard));
		return err;
	}
	tables->shard_maps[tables->nr_shard_maps++] =
		(struct unwind_shard_map){.shards = mapped, .nr = nr};
	tables->memory += nr * sizeof(struct unwind_shard);
	return 0;
}

/* The words from the next page on, in maps that exist and in maps that may be added. */
static uint64_t words_left(const struct unwind_tables *tables)
{
	uint64_t shards = tables->memory_max / sizeof(struct unwind_shard) - tables->next.shard;

	for (uint32_t i = 0; i < tables->next.map; i++)
		shards -= tables->shard_maps[i].nr;
	return shards * UNWIND_SHARD_WORDS - tables->next.word;
}

/*
 * Make room for so many words of the next page, at most those of a shard. After a table was begun
 * again, maps behind that place can exist already.
 */
static int reserve(struct unwind_tables *tables, uint32_t words)
{
	struct unwind_place next = tables->next;
	int err = 0;

	if (next.word + words > UNWIND_SHARD_WORDS)
		next = (struct unwind_place){.map = next.map, .shard = next.shard + 1};
	if (next.map < tables->nr_shard_maps && next.shard == tables->shard_maps[next.map].nr)
		next = (struct unwind_place){.map = next.map + 1};
	if (next.map == tables->nr_shard_maps)
		err = add_shards(tables);
	if (!err)
		tables->next = next;
	return err;
}

/* ---- modules ---- */

int unwind_tables__add_module(struct unwind_tables *tables)
{
	return tables->nr_modules < UNWIND_MODULES ? (int)tables->nr_modules++ : -ENOSPC;
}

static int number_rules(struct unwind_tables *tables, const struct unwind_rule *rules, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		int number = unwind_rules__number(&tables->rules, &rules[i]);

		if (number < 0)
			return number;
		tables->rule_numbers[i] = (uint16_t)number;
	}
	tables->nr_rule_numbers = nr;
	for (size_t i = tables->nr_written_rules; i < tables->rules.nr; i++)
		tables->written_rules[i] = tables->rules.items[i];
	tables->nr_written_rules = tables->rules.nr;
	return 0;
}

/* A table that is larger than any program's must leave three quarters of the room to others. */
#define ORDINARY_PAGES 1024 /* 64 MB of code */
#define ORDINARY_RULES 1024

static bool is_greedy(uint64_t wanted, uint64_t ordinary, uint64_t left)
{
	return wanted > ordinary && wanted > left / 4;
}

int unwind_tables__begin(struct unwind_tables *tables, const struct unwind_table_head *head)
{
	uint32_t left = UNWIND_PAGES - tables->nr_pages;

	/* No program can find the pages of a table that was not finished: use their room again. */
	tables->next = tables->loaded;
	if (head->nr_pages > left || head->nr_rules > UNWIND_RULES ||
	    is_greedy(head->nr_pages, ORDINARY_PAGES, left) ||
	    is_greedy(head->nr_rules, ORDINARY_RULES, UNWIND_RULES - tables->rules.nr))
		return -ENOSPC;
	if (head->nr_rows > words_left(tables))
		return -E2BIG;
	tables->module = (struct unwind_module){
		.start = head->start, .first_page = tables->nr_pages, .nr_pages = head->nr_pages};
	tables->nr_coming_rows = head->nr_rows;
	for (uint32_t i = 0; i < head->nr_pages; i++)
		tables->pages[tables->nr_pages + i] =
			(struct unwind_page){.shard = UNWIND_NO_SHARD};
	return number_rules(tables, head->rules, head->nr_rules);
}

void unwind_page__index(uint32_t index[UNWIND_INDEX_WORDS], const uint32_t *rows, uint32_t nr)
{
	uint32_t row = 0;

	memset(index, 0, UNWIND_INDEX_WORDS * sizeof(*index));
	for (uint32_t kb = 0; kb <= UNWIND_PAGE_KBS; kb++) {
		while (row + 1 < nr && unwind_row_low(rows[row + 1]) <= kb << UNWIND_KB_BITS)
			row++;
		index[kb / 2] |= row << (kb % 2 * 16);
	}
}

int unwind_tables__add_page(struct unwind_tables *tables, uint32_t page, const uint32_t *rows,
			    uint32_t nr)
{
	uint32_t words = UNWIND_INDEX_WORDS + nr, *place;
	struct unwind_place *next = &tables->next;
	int err;

	if (nr > tables->nr_coming_rows)
		return -EPROTO;
	tables->nr_coming_rows -= nr;
	/* A row at nearly every byte is no compiler's work: the page gets no rows. */
	if (words > UNWIND_SHARD_WORDS || page >= tables->module.nr_pages)
		return 0;
	err = reserve(tables, words);
	if (err)
		return err;
	place = tables->shard_maps[next->map].shards[next->shard].words + next->word;
	unwind_page__index(place, rows, nr);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t rule = unwind_row_rule(rows[i]);

		place[UNWIND_INDEX_WORDS + i] = unwind_row(
			rule < tables->nr_rule_numbers ? tables->rule_numbers[rule] : UNWIND_NONE,
			unwind_row_low(rows[i]));
	}
	tables->pages[tables->module.first_page + page] = (struct unwind_page){
		.shard = unwind_shard(next->map, next->shard),
		.first = next->word,
	};
	next->word += words;
	return 0;
}

void unwind_tables__set_module(struct unwind_tables *tables, uint32_t module,
			       enum unwind_module_state state)
{
	struct unwind_module *entry = &tables->modules[module];

	if (state == UNWIND_MODULE_LOADED) {
		*entry = tables->module;
		tables->nr_pages += entry->nr_pages;
		tables->loaded = tables->next;
		leave_shards(tables, tables->loaded.map);
	}
	/* A program that finds it loaded finds all of it. */
	__atomic_store_n(&entry->state, state, __ATOMIC_RELEASE);
}

/* ---- files ---- */

int unwind_tables__put_file(struct unwind_tables *tables, const struct mapped_file *file,
			    uint32_t module)
{
	return bpf_map_update_elem(bpf_map__fd(tables->maps->files), file, &module, BPF_ANY);
}
