// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/kernel/kernel_time.h"
#include "sym/util/clock.h"
#include "sym/util/page.h"

/* A table that no walk has used for so long is given back for others, by unwind_age(). */
#define IDLE_MIN unwind_age(NANOSECONDS)

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
	tables->numbers = map_all(tables->maps->numbers);
	tables->modules = map_all(tables->maps->modules);
	tables->pages = map_all(tables->maps->pages);
	tables->written_rules = map_all(tables->maps->rules);
	tables->recent = map_all(tables->maps->recent);
	return tables->numbers && tables->modules && tables->pages && tables->written_rules &&
			       tables->recent ?
		       0 :
		       -errno;
}

static void unmap(void *mapped, const struct bpf_map *map)
{
	if (mapped)
		munmap(mapped, bpf_map__max_entries(map) * (size_t)bpf_map__value_size(map));
}

static int open_rules(struct unwind_tables *tables)
{
	int err = unwind_rules__init(&tables->rules);

	if (err)
		return err;
	tables->rule_users = calloc(UNWIND_RULES, sizeof(*tables->rule_users));
	tables->rule_numbers = calloc(UNWIND_RULES, sizeof(*tables->rule_numbers));
	return tables->rule_users && tables->rule_numbers ? 0 : -ENOMEM;
}

int unwind_tables__open(struct unwind_tables *tables, const struct unwind_maps *maps,
			uint64_t memory)
{
	struct unwind_tables opened = {.maps = maps};
	int err = grace__open(&opened.grace);

	unwind_shards__init(&opened.shards, maps->shards, memory);
	if (!err)
		err = open_rules(&opened);
	if (!err)
		err = map_maps(&opened);
	if (!err)
		err = spans__give(&opened.free_pages, 0, UNWIND_PAGES);
	if (err) {
		unwind_tables__close(&opened);
		return err;
	}
	for (size_t i = 0; i < opened.rules.nr; i++)
		opened.written_rules[i] = opened.rules.items[i];
	opened.numbers->since = unwind_age(kernel_time__now());
	*tables = opened;
	return 0;
}

void unwind_tables__close(struct unwind_tables *tables)
{
	unwind_shards__release(&tables->shards);
	unmap(tables->numbers, tables->maps->numbers);
	unmap(tables->modules, tables->maps->modules);
	unmap(tables->pages, tables->maps->pages);
	unmap(tables->written_rules, tables->maps->rules);
	unmap(tables->recent, tables->maps->recent);
	spans__release(&tables->free_pages);
	free(tables->rule_users);
	free(tables->rule_numbers);
	unwind_rules__release(&tables->rules);
	grace__close(&tables->grace);
	*tables = (struct unwind_tables){0};
}

/* ---- what is given back ---- */

static uint32_t nr_words(const struct unwind_page *page)
{
	return page->shard == UNWIND_NO_SHARD ? 0 : page->last - page->first + 1U;
}

/* No program can find the page any more. */
static void free_page(struct unwind_tables *tables, const struct unwind_page *page)
{
	uint32_t first = unwind_shards__first_word(&tables->shards, page), nr = nr_words(page);
	const uint32_t *words = unwind_shards__words(&tables->shards, first);

	/* Rules keep users that nobody counts any more if the words cannot be read. */
	for (uint32_t i = UNWIND_INDEX_WORDS; words && i < nr; i++)
		tables->rule_users[unwind_row_rule(words[i])]--;
	unwind_shards__give(&tables->shards, first, nr);
}

static void free_pages(struct unwind_tables *tables, const struct unwind_module *module)
{
	for (uint32_t i = 0; i < module->nr_pages; i++)
		if (nr_words(&tables->pages[module->first_page + i]))
			free_page(tables, &tables->pages[module->first_page + i]);
	if (module->nr_pages)
		(void)spans__give(&tables->free_pages, module->first_page, module->nr_pages);
}

/* Rules get other numbers, and modules other tables: what was found in them holds no longer. */
static void forget_recent(struct unwind_tables *tables)
{
	for (uint32_t i = 0; i < UNWIND_RECENT; i++)
		__atomic_store_n(&tables->recent[i], 0, __ATOMIC_RELAXED);
}

static bool can_be_given_back(const struct unwind_module *module, uint32_t now)
{
	return module->state == UNWIND_MODULE_LOADED &&
	       unwind_age__since(module->used, now) >= IDLE_MIN;
}

static struct unwind_module *oldest_module(const struct unwind_tables *tables)
{
	uint32_t now = unwind_age(kernel_time__now());
	struct unwind_module *oldest = NULL;

	for (uint32_t i = 0; i < tables->nr_modules; i++) {
		struct unwind_module *module = &tables->modules[i];

		if (can_be_given_back(module, now) &&
		    (!oldest || unwind_age__since(module->used, oldest->used)))
			oldest = module;
	}
	return oldest;
}

int unwind_tables__give_back_oldest(struct unwind_tables *tables)
{
	struct unwind_module *oldest = oldest_module(tables);
	int err;

	if (!oldest)
		return -ENOENT;
	__atomic_store_n(&oldest->state, UNWIND_MODULE_WANTED, __ATOMIC_RELEASE);
	/* Programs that have found it may be searching. */
	err = grace__wait(&tables->grace);
	if (err) {
		__atomic_store_n(&oldest->state, UNWIND_MODULE_LOADED, __ATOMIC_RELEASE);
		return err;
	}
	forget_recent(tables);
	free_pages(tables, oldest);
	oldest->nr_pages = 0;
	return (int)(oldest - tables->modules);
}

/* ---- modules ---- */

static int number_rules(struct unwind_tables *tables, const struct unwind_rule *rules, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		int number = unwind_rules__number(&tables->rules, &rules[i]);

		if (number < 0)
			return number;
		if (number == UNWIND_UNSUPPORTED && rules[i].cfa != UNWIND_UNSUPPORTED)
			return -ENOSPC;
		tables->rule_numbers[i] = (uint16_t)number;
		tables->written_rules[number] = rules[i];
	}
	tables->nr_rule_numbers = nr;
	return 0;
}

/* A table that is larger than any program's must leave three quarters of the room to others. */
#define ORDINARY_PAGES 1024 /* 64 MB of code */
#define ORDINARY_ROWS  (2 * 1024 * 1024)
#define ORDINARY_RULES 1024

static bool is_greedy(uint64_t wanted, uint64_t ordinary, uint64_t room)
{
	return wanted > ordinary && wanted > room / 4;
}

static uint64_t words_of(const struct unwind_tables *tables, const struct unwind_module *module)
{
	uint64_t words = 0;

	for (uint32_t i = 0; i < module->nr_pages; i++)
		words += nr_words(&tables->pages[module->first_page + i]);
	return words;
}

static bool takes_too_much(const struct unwind_tables *tables, const struct unwind_table_head *head)
{
	uint64_t pages = tables->free_pages.nr_units, words = unwind_shards__room(&tables->shards);
	uint32_t now = unwind_age(kernel_time__now());

	/* There is also the room of all that can be given back. */
	for (uint32_t i = 0; i < tables->nr_modules; i++) {
		if (!can_be_given_back(&tables->modules[i], now))
			continue;
		pages += tables->modules[i].nr_pages;
		words += words_of(tables, &tables->modules[i]);
	}
	return head->nr_rows > words || head->nr_rules > UNWIND_RULES ||
	       is_greedy(head->nr_pages, ORDINARY_PAGES, pages) ||
	       is_greedy(head->nr_rows, ORDINARY_ROWS, words) ||
	       is_greedy(head->nr_rules, ORDINARY_RULES, unwind_rules__room(&tables->rules));
}

/* Programs cannot find the pages of a table that was not finished. */
static void forget_unfinished(struct unwind_tables *tables)
{
	free_pages(tables, &tables->module);
	tables->module = (struct unwind_module){0};
}

static int begin_pages(struct unwind_tables *tables, const struct unwind_table_head *head)
{
	struct unwind_module module = {.start = (uint32_t)(head->start >> UNWIND_PAGE_BITS),
				       .nr_pages = head->nr_pages};

	if (head->nr_pages &&
	    !spans__take(&tables->free_pages, head->nr_pages, UNWIND_PAGES, &module.first_page))
		return -ENOSPC;
	for (uint32_t i = 0; i < head->nr_pages; i++)
		tables->pages[module.first_page + i] =
			(struct unwind_page){.shard = UNWIND_NO_SHARD};
	tables->module = module;
	tables->nr_coming_rows = head->nr_rows;
	return 0;
}

int unwind_tables__begin(struct unwind_tables *tables, const struct unwind_table_head *head)
{
	int err;

	forget_unfinished(tables);
	if (unwind_rules__room(&tables->rules) / 4 < head->nr_rules)
		unwind_rules__forget_unused(&tables->rules, tables->rule_users);
	if (takes_too_much(tables, head))
		return -EFBIG;
	if (head->nr_rows > unwind_shards__room(&tables->shards))
		return -E2BIG;
	err = number_rules(tables, head->rules, head->nr_rules);
	return err ? err : begin_pages(tables, head);
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

/* The rows of a page behind its index, with the numbers that their rules have here. */
static void write_rows(struct unwind_tables *tables, uint32_t *place, const uint32_t *rows,
		       uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t rule = unwind_row_rule(rows[i]);
		uint32_t number =
			rule < tables->nr_rule_numbers ? tables->rule_numbers[rule] : UNWIND_NONE;

		place[i] = unwind_row(number, unwind_row_low(rows[i]));
		tables->rule_users[number]++;
	}
}

int unwind_tables__add_page(struct unwind_tables *tables, uint32_t page, const uint32_t *rows,
			    uint32_t nr)
{
	uint32_t all = UNWIND_INDEX_WORDS + nr, first, *words;
	struct unwind_page *place;
	int err;

	if (nr > tables->nr_coming_rows)
		return -EPROTO;
	/* A row at nearly every byte is no compiler's work: the page gets no rows. */
	if (all > UNWIND_SHARD_WORDS || page >= tables->module.nr_pages) {
		tables->nr_coming_rows -= nr;
		return 0;
	}
	place = &tables->pages[tables->module.first_page + page];
	if (nr_words(place))
		return -EPROTO;
	err = unwind_shards__take(&tables->shards, all, &first);
	if (err)
		return err;
	words = unwind_shards__words(&tables->shards, first);
	if (!words) {
		err = -errno;
		unwind_shards__give(&tables->shards, first, all);
		return err;
	}
	unwind_page__index(words, rows, nr);
	write_rows(tables, words + UNWIND_INDEX_WORDS, rows, nr);
	*place = unwind_shards__page(&tables->shards, first, all);
	tables->nr_coming_rows -= nr;
	return 0;
}

void unwind_tables__set_module(struct unwind_tables *tables, uint32_t module,
			       enum unwind_module_state state)
{
	struct unwind_module *entry = &tables->modules[module];

	if (module >= tables->nr_modules)
		tables->nr_modules = module + 1;
	if (state == UNWIND_MODULE_LOADED) {
		entry->start = tables->module.start;
		entry->first_page = tables->module.first_page;
		entry->nr_pages = tables->module.nr_pages;
		entry->used = unwind_age(kernel_time__now());
		tables->module = (struct unwind_module){0};
		unwind_shards__unmap(&tables->shards);
	}
	/* A program that finds it loaded finds all of it. */
	__atomic_store_n(&entry->state, state, __ATOMIC_RELEASE);
}

enum unwind_module_state unwind_tables__state(const struct unwind_tables *tables, uint32_t module)
{
	return tables->modules[module].state;
}

uint32_t unwind_tables__used(const struct unwind_tables *tables, uint32_t module)
{
	return tables->modules[module].used;
}

/* ---- files ---- */

/* A number that no walk has taken, as modules.bpf.h takes them; or -ENOSPC. */
static int new_number(struct unwind_tables *tables)
{
	for (;;) {
		uint32_t number = __atomic_load_n(&tables->numbers->next, __ATOMIC_RELAXED);

		if (number >= UNWIND_MODULES)
			return -ENOSPC;
		__atomic_store_n(&tables->numbers->next, number + 1, __ATOMIC_RELAXED);
		if (!__atomic_fetch_add(&tables->modules[number].claims, 1, __ATOMIC_SEQ_CST))
			return (int)number;
	}
}

/* Files that walks have numbered without being heard, as they were too many. */
static void remove_unheard(int files)
{
	struct mapped_file file, next;
	bool found = !bpf_map_get_next_key(files, NULL, &file);

	while (found) {
		uint32_t number;

		found = !bpf_map_get_next_key(files, &file, &next);
		if (!bpf_map_lookup_elem(files, &file, &number) &&
		    unwind_number__is_unheard(number))
			(void)bpf_map_delete_elem(files, &file);
		file = next;
	}
}

int unwind_tables__number_file(struct unwind_tables *tables, const struct mapped_file *file)
{
	int files = bpf_map__fd(tables->maps->files), number = -1;
	bool cleared = false;
	uint32_t known;

	while (bpf_map_lookup_elem(files, file, &known)) {
		if (number < 0)
			number = new_number(tables);
		if (number < 0)
			return number;
		known = (uint32_t)number;
		if (!bpf_map_update_elem(files, file, &known, BPF_NOEXIST))
			break;
		if (errno == EEXIST)
			continue;
		if (errno != E2BIG || cleared)
			return -errno;
		remove_unheard(files);
		cleared = true;
	}
	return (int)(unwind_number__is_unheard(known) ? known - UNWIND_UNHEARD : known);
}

int unwind_tables__put_file(struct unwind_tables *tables, const struct mapped_file *file,
			    uint32_t module)
{
	int err = bpf_map_update_elem(bpf_map__fd(tables->maps->files), file, &module, BPF_ANY);

	return err ? -errno : 0;
}

void unwind_tables__remove_file(struct unwind_tables *tables, const struct mapped_file *file)
{
	(void)bpf_map_delete_elem(bpf_map__fd(tables->maps->files), file);
}
