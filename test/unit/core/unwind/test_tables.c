// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The data put into the tables, and the results of the programs' searches: maps are arrays of this
 * program (see "--wrap" in ld(1)), and the searches are those of the programs.
 */
#include "bpf/unwind_tables.h"
#include "core/unwind/tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/unwind_search.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

/* ---- maps ---- */

/* Each is a file, as some are mapped. */
static struct fake {
	size_t size, nr;
	int fd;
	void *values;
} fakes[] = {
	{.size = sizeof(struct unwind_process), .nr = 32}, /* by pid */
	{.size = sizeof(struct unwind_mapping), .nr = UNWIND_MAPPINGS},
	{.size = sizeof(struct unwind_module), .nr = UNWIND_MODULES},
	{.size = sizeof(struct unwind_page), .nr = UNWIND_PAGES},
	{.size = sizeof(struct unwind_rule), .nr = UNWIND_RULES},
	{.size = sizeof(int), .nr = UNWIND_SHARD_MAPS},
};

static const struct unwind_maps maps = {
	.processes = (struct bpf_map *)&fakes[0],
	.mappings = (struct bpf_map *)&fakes[1],
	.modules = (struct bpf_map *)&fakes[2],
	.pages = (struct bpf_map *)&fakes[3],
	.rules = (struct bpf_map *)&fakes[4],
	.shards = (struct bpf_map *)&fakes[5],
};

/* The contents of the maps. */
static struct unwind_process *processes;
static struct unwind_mapping *mappings;
static struct unwind_module *modules;
static struct unwind_page *pages;
static struct unwind_rule *rules;
static int *shard_fds; /* of files, in the place of maps; 0: none */

static unsigned int nr_waits; /* for programs */
static int update_error;

int __wrap_bpf_map__fd(const struct bpf_map *map);
__u32 __wrap_bpf_map__max_entries(const struct bpf_map *map);
__u32 __wrap_bpf_map__value_size(const struct bpf_map *map);
int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags);
int __wrap_bpf_map_delete_elem(int fd, const void *key);
int __wrap_bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size,
			  __u32 value_size, __u32 nr, const struct bpf_map_create_opts *options);
int __wrap_grace__open(struct grace *grace);
void __wrap_grace__close(struct grace *grace);
int __wrap_grace__wait(const struct grace *grace);

static void *open_fake(struct fake *fake)
{
	fake->fd = memfd_create("fake", MFD_CLOEXEC);
	CHECK_INT(ftruncate(fake->fd, (off_t)(fake->size * fake->nr)), 0);
	fake->values =
		mmap(NULL, fake->size * fake->nr, PROT_READ | PROT_WRITE, MAP_SHARED, fake->fd, 0);
	if (fake->values == MAP_FAILED)
		abort();
	return fake->values;
}

static void open_fakes(void)
{
	processes = open_fake(&fakes[0]);
	mappings = open_fake(&fakes[1]);
	modules = open_fake(&fakes[2]);
	pages = open_fake(&fakes[3]);
	rules = open_fake(&fakes[4]);
	shard_fds = open_fake(&fakes[5]);
}

static const struct fake *fake_of(int fd)
{
	const struct fake *fake = fakes;

	while (fake->fd != fd)
		fake++;
	return fake;
}

int __wrap_bpf_map__fd(const struct bpf_map *map)
{
	return ((const struct fake *)map)->fd;
}

__u32 __wrap_bpf_map__max_entries(const struct bpf_map *map)
{
	return (__u32)((const struct fake *)map)->nr;
}

__u32 __wrap_bpf_map__value_size(const struct bpf_map *map)
{
	return (__u32)((const struct fake *)map)->size;
}

int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	const struct fake *fake = fake_of(fd);
	uint32_t number = *(const uint32_t *)key;

	CHECK_INT(flags, BPF_ANY);
	if (update_error || !CHECK(number < fake->nr))
		return update_error ? update_error : -E2BIG;
	memcpy((char *)fake->values + number * fake->size, value, fake->size);
	if (fake->values == shard_fds)
		shard_fds[number] = dup(shard_fds[number]);
	return 0;
}

int __wrap_bpf_map_delete_elem(int fd, const void *key)
{
	const struct fake *fake = fake_of(fd);

	memset((char *)fake->values + *(const uint32_t *)key * fake->size, 0, fake->size);
	return 0;
}

int __wrap_bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size,
			  __u32 value_size, __u32 nr, const struct bpf_map_create_opts *options)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	CHECK(type == BPF_MAP_TYPE_ARRAY && key_size == sizeof(uint32_t) && options);
	return ftruncate(fd, (off_t)value_size * nr) ? -1 : fd;
}

int __wrap_grace__open(struct grace *grace)
{
	*grace = (struct grace){0};
	return 0;
}

void __wrap_grace__close(struct grace *grace)
{
	(void)grace;
}

int __wrap_grace__wait(const struct grace *grace)
{
	(void)grace;
	nr_waits++;
	return 0;
}

static void close_all(struct unwind_tables *tables)
{
	unwind_tables__close(tables);
	for (size_t i = 0; i < UNWIND_SHARD_MAPS; i++)
		if (shard_fds[i])
			close(shard_fds[i]);
	for (size_t i = 0; i < ARRAY_SIZE(fakes); i++)
		memset(fakes[i].values, 0, fakes[i].size * fakes[i].nr);
	nr_waits = 0;
	update_error = 0;
}

#define CLEANUP_TABLES CLEANUP(close_all)

#define SHARD ((uint64_t)sizeof(struct unwind_shard))

static void open_tables(struct unwind_tables *tables, uint64_t memory)
{
	*tables = (struct unwind_tables){0};
	CHECK_INT(unwind_tables__open(tables, &maps, memory), 0);
}

/* ---- as the programs find it ---- */

static const struct unwind_mapping *mapping_at(__u32 number)
{
	return number < UNWIND_MAPPINGS ? &mappings[number] : NULL;
}

static uint32_t rule_in_module(uint32_t number, uint64_t address)
{
	const struct unwind_module *module = &modules[number];
	uint64_t page_number = (address - module->start) >> UNWIND_PAGE_BITS;
	static struct unwind_shard shard;
	const struct unwind_page *page;
	off_t at;

	if (module->state != UNWIND_MODULE_LOADED || page_number >= module->nr_pages)
		return UNWIND_NONE;
	page = &pages[module->first_page + page_number];
	if (page->shard == UNWIND_NO_SHARD)
		return UNWIND_NONE;
	at = (off_t)(unwind_shard_index(page->shard) * SHARD);
	CHECK_INT(pread(shard_fds[unwind_shard_map(page->shard)], &shard, SHARD, at),
		  (long long)SHARD);
	return page_rule(&shard, page, unwind_low(address));
}

/* ---- numbers without a pattern, the same in each run ---- */

static uint64_t state;

static uint32_t below(uint32_t bound)
{
	state = state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(state >> 33) % bound;
}

/* ---- rows ---- */

#define PAGE (1U << UNWIND_PAGE_BITS)

/* In about one address of so many a row begins; returns how many there are. */
static uint32_t fill_rows(uint32_t *rows, uint32_t sparseness, uint32_t nr_rules)
{
	uint32_t nr = 0;

	for (uint32_t low = 0; low < PAGE; low++)
		if (low == 0 || below(sparseness) == 0)
			rows[nr++] = unwind_row(below(nr_rules), low);
	return nr;
}

/* Each address of the page has the rule of the last row that does not begin behind it. */
static void check_page(const uint32_t *rows, uint32_t nr)
{
	static struct unwind_shard shard;
	const struct unwind_page page = {.first = below(UNWIND_SHARD_WORDS - 70)};
	uint32_t wrong = 0, at = page.first, row = 0;

	if (nr + UNWIND_INDEX_WORDS + at > UNWIND_SHARD_WORDS)
		at = 0;
	unwind_page__index(shard.words + at, rows, nr);
	memcpy(shard.words + at + UNWIND_INDEX_WORDS, rows, nr * sizeof(*rows));
	for (uint32_t low = 0; low < PAGE; low++) {
		while (row + 1 < nr && unwind_row_low(rows[row + 1]) <= low)
			row++;
		wrong += page_rule(&shard, &(struct unwind_page){.first = at}, low) !=
			 unwind_row_rule(rows[row]);
	}
	tap_check(wrong == 0, __FILE__, __LINE__, "%u addresses of a page of %u rows differ", wrong,
		  nr);
}

static void rows_are_found_test(void)
{
	static uint32_t rows[PAGE];

	for (uint32_t sparseness = 2; sparseness < PAGE; sparseness += sparseness / 4 + 1)
		check_page(rows, fill_rows(rows, sparseness, 1000));
	check_page(rows, 1);
}

/* A row at each byte, as far as they fit; in one KB only; at the edges of each. */
static void crowded_pages_test(void)
{
	static uint32_t rows[PAGE];
	uint32_t nr = 1;

	for (uint32_t low = 0; low < PAGE; low++)
		rows[low] = unwind_row(low % 16384, low);
	check_page(rows, UNWIND_SHARD_WORDS - UNWIND_INDEX_WORDS);
	for (uint32_t low = 5 * 1024; low < 6 * 1024; low++, nr++)
		rows[nr] = unwind_row(nr, low);
	check_page(rows, nr);
	check_page(rows, nr - 1);
	nr = 0;
	for (uint32_t kb = 0; kb < UNWIND_PAGE_KBS; kb++, nr += 2) {
		rows[nr] = unwind_row(nr, kb * 1024);
		rows[nr + 1] = unwind_row(nr + 1, kb * 1024 + 1023);
	}
	check_page(rows, nr);
}

/* ---- mappings ---- */

static void check_mappings(uint32_t nr)
{
	const struct unwind_process process = {.first = below(100), .nr = nr};
	uint64_t end = 0x1000;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t start = end + below(3) * 0x1000;

		end = start + (1 + below(3)) * 0x1000;
		mappings[process.first + i] = (struct unwind_mapping){.start = start, .end = end};
	}
	for (uint64_t address = 0, i = 0; address < end + 0x2000; address += 0x800) {
		const struct unwind_mapping *found = search_mapping(&process, address, mapping_at);

		while (i + 1 < nr && mappings[process.first + i + 1].start <= address)
			i++;
		wrong += found != &mappings[process.first + i];
	}
	tap_check(wrong == 0, __FILE__, __LINE__, "%u addresses differ with %u mappings", wrong,
		  nr);
}

static void mappings_are_found_test(void)
{
	for (uint32_t nr = 1; nr <= UNWIND_MAPPINGS_MAX; nr += 1 + nr / 8)
		check_mappings(nr);
	check_mappings(UNWIND_MAPPINGS_MAX);
}

/* A process can put any number on its stack. */
static void odd_addresses_test(void)
{
	static const uint64_t odd[] = {1ULL << 63, UINT64_MAX, (1ULL << 63) + 0x2000, INT64_MAX};
	const struct unwind_process process = {.first = UNWIND_MAPPINGS, .nr = 1};

	check_mappings(100);
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		const struct unwind_mapping *found = search_mapping(
			&(struct unwind_process){.first = 0, .nr = 100}, odd[i], mapping_at);

		CHECK(found && (odd[i] < found->start || odd[i] >= found->end));
	}
	CHECK(!search_mapping(&process, 0x1000, mapping_at));
}

/* ---- modules ---- */

#define RULES 300

/* As that of unwind_table__find(): the table that it is made of. */
struct source {
	struct unwind_table table;
	struct unwind_rule rules[RULES];
};

static void free_source(struct source *source)
{
	unwind_table__release(&source->table);
}

static void make_source(struct source *source, uint64_t start, uint32_t nr_pages, int salt)
{
	struct unwind_table *table = &source->table;

	*source = (struct source){.table = {.start = start, .nr_pages = nr_pages}};
	table->pages = calloc(nr_pages, sizeof(*table->pages));
	table->rows = calloc(nr_pages, PAGE * sizeof(*table->rows));
	for (uint32_t i = 0; i < nr_pages; i++) {
		table->pages[i].first = (uint32_t)table->nr_rows;
		if (i % 7 != 3)
			table->pages[i].nr =
				fill_rows(table->rows + table->nr_rows, 20 + below(2000), RULES);
		table->nr_rows += table->pages[i].nr;
	}
	for (int i = 3; i < RULES; i++)
		source->rules[i] =
			(struct unwind_rule){.cfa = UNWIND_REGISTER, .cfa_offset = i * salt};
	source->rules[1].cfa = UNWIND_UNSUPPORTED;
	source->rules[2].cfa = UNWIND_END;
}

static int add_pages(struct unwind_tables *tables, const struct source *source)
{
	const struct unwind_table *table = &source->table;
	const struct unwind_table_head head = {.start = table->start,
					       .nr_rows = table->nr_rows,
					       .nr_pages = (uint32_t)table->nr_pages,
					       .nr_rules = RULES,
					       .rules = source->rules};
	int err = unwind_tables__begin(tables, &head);

	for (uint32_t i = 0; i < table->nr_pages && !err; i++)
		if (table->pages[i].nr)
			err = unwind_tables__add_page(
				tables, i, table->rows + table->pages[i].first, table->pages[i].nr);
	return err;
}

static int load(struct unwind_tables *tables, uint32_t module, const struct source *source)
{
	int err = add_pages(tables, source);

	unwind_tables__set_module(tables, module,
				  err ? UNWIND_MODULE_REFUSED : UNWIND_MODULE_LOADED);
	return err;
}

static void check_module(uint32_t module, const struct source *source)
{
	uint64_t start = source->table.start - 2 * PAGE;
	uint64_t end = source->table.start + (source->table.nr_pages + 2) * PAGE;

	for (uint64_t address = start; address < end; address += 1 + below(2000)) {
		const struct unwind_rule *expected =
			&source->rules[unwind_table__find(&source->table, address)];

		if (memcmp(&rules[rule_in_module(module, address)], expected, sizeof(*expected))) {
			tap_check(false, __FILE__, __LINE__, "another rule at %#llx",
				  (unsigned long long)address);
			return;
		}
	}
}

static void modules_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct source sources[3];

	open_tables(&tables, 64 * SHARD);
	for (uint32_t i = 0; i < 3; i++) {
		make_source(&sources[i], (i + 2) * 0x400000, 20 + 10 * i, (int)i / 2 + 1);
		CHECK_INT(unwind_tables__add_module(&tables), i);
		CHECK_INT(load(&tables, i, &sources[i]), 0);
	}
	/* The same rules are there once. */
	CHECK_INT(tables.rules.nr, tables.nr_written_rules);
	CHECK(tables.rules.nr < 3 + 2 * RULES);
	for (uint32_t i = 0; i < 3; i++) {
		check_module(i, &sources[i]);
		free_source(&sources[i]);
	}
}

/* The place in the file comes with the table; nothing has one without a table. */
static void places_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct source source;

	open_tables(&tables, 64 * SHARD);
	make_source(&source, 0x400000, 3, 1);
	CHECK_INT(add_pages(&tables, &source), 0);
	unwind_tables__set_module(&tables, 1, UNWIND_MODULE_EMPTY);
	CHECK_INT(modules[1].state, UNWIND_MODULE_EMPTY);
	CHECK_INT(modules[1].start + modules[1].nr_pages, 0);
	unwind_tables__set_module(&tables, 0, UNWIND_MODULE_LOADED);
	CHECK_INT(modules[0].state, UNWIND_MODULE_LOADED);
	CHECK_INT(modules[0].start, 0x400000);
	CHECK_INT(load(&tables, 2, &source), 0);
	CHECK_INT(add_pages(&tables, &source), 0);
	unwind_tables__set_module(&tables, 3, UNWIND_MODULE_LOADED);
	CHECK_INT(modules[3].start, 0x400000);
	check_module(0, &source);
	check_module(3, &source);
	free_source(&source);
}

/* A module that does not fit takes no room from those that do, nor any memory. */
static void too_large_module_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct source small, large, last;

	open_tables(&tables, 5 * SHARD);
	make_source(&small, 0x400000, 5, 1);
	make_source(&large, 0x400000, 4000, 2);
	make_source(&last, 0x800000, 200, 3);
	CHECK_INT(load(&tables, 0, &small), 0);
	CHECK_INT(tables.memory, 4 * SHARD);
	CHECK_INT(load(&tables, 1, &large), -E2BIG);
	CHECK_INT(load(&tables, 2, &large), -E2BIG);
	CHECK_INT(tables.memory, 4 * SHARD);
	CHECK_INT(load(&tables, 3, &last), 0);
	CHECK_INT(load(&tables, 4, &small), 0);
	CHECK(tables.memory <= 5 * SHARD);
	check_module(0, &small);
	check_module(3, &last);
	check_module(4, &small);
	CHECK_INT(rule_in_module(1, 0x400000), UNWIND_NONE);
	free_source(&small);
	free_source(&large);
	free_source(&last);
}

/* In the place of its rows: so many in each page. */
static void fill_densely(struct source *source, uint32_t nr)
{
	struct unwind_table *table = &source->table;

	table->nr_rows = 0;
	for (uint32_t i = 0; i < table->nr_pages; i++) {
		table->pages[i] = (struct unwind_table_page){.first = i * nr, .nr = nr};
		for (uint32_t low = 0; low < nr; low++)
			table->rows[table->nr_rows++] = unwind_row(below(RULES), low);
	}
}

/* All memory of a module that failed half way is used by those after it. */
static void unfinished_module_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct source small, large, last;

	open_tables(&tables, 12 * SHARD);
	make_source(&small, 0x400000, 5, 1);
	make_source(&large, 0x400000, 13, 2);
	make_source(&last, 0x800000, 11, 3);
	/* Each in a shard of its own. */
	fill_densely(&large, UNWIND_SHARD_WORDS / 2);
	fill_densely(&last, UNWIND_SHARD_WORDS / 2);
	CHECK_INT(load(&tables, 0, &small), 0);
	CHECK_INT(load(&tables, 1, &large), -E2BIG);
	CHECK_INT(tables.memory, 12 * SHARD);
	CHECK_INT(load(&tables, 2, &last), 0);
	check_module(0, &small);
	check_module(2, &last);
	free_source(&small);
	free_source(&large);
	free_source(&last);
}

/* Pages that no program can search are left out: more rows than a shard has words, other rules. */
static void odd_pages_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	const struct unwind_rule none[2] = {{.cfa = UNWIND_NONE}, {.cfa = UNWIND_UNSUPPORTED}};
	const struct unwind_table_head head = {
		.nr_rows = PAGE + 3, .nr_pages = 2, .nr_rules = 2, .rules = none};
	static uint32_t rows[PAGE];

	open_tables(&tables, 4 * SHARD);
	for (uint32_t low = 0; low < PAGE; low++)
		rows[low] = unwind_row(1, low);
	CHECK_INT(unwind_tables__begin(&tables, &head), 0);
	CHECK_INT(unwind_tables__add_page(&tables, 0, rows, PAGE), 0);
	CHECK_INT(unwind_tables__add_page(&tables, 2, rows, 1), 0);
	rows[0] = unwind_row(2, 0);
	CHECK_INT(unwind_tables__add_page(&tables, 1, rows, 2), 0);
	unwind_tables__set_module(&tables, 0, UNWIND_MODULE_LOADED);
	CHECK_INT(rule_in_module(0, 5), UNWIND_NONE);
	CHECK_INT(rule_in_module(0, PAGE), UNWIND_NONE);
	CHECK_INT(rule_in_module(0, PAGE + 1), UNWIND_UNSUPPORTED);
}

/* The head of a table, before its pages come, can be enough to refuse it. */
static void heads_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	const struct unwind_rule none[2] = {{.cfa = UNWIND_NONE}, {.cfa = UNWIND_UNSUPPORTED}};
	const uint32_t words = 4 * UNWIND_SHARD_WORDS, rows[2] = {unwind_row(1, 0)};
	const struct {
		uint64_t nr_rows;
		uint32_t nr_pages, nr_rules;
		int result;
	} heads[] = {{1, UNWIND_PAGES - 1, 2, -ENOSPC},
		     {1, 1, UNWIND_RULES + 1, -ENOSPC},
		     {words + 1, 1, 2, -E2BIG},
		     {words, 1, 2, 0},
		     {words - UNWIND_INDEX_WORDS, 1, 2, -E2BIG},
		     {words - UNWIND_INDEX_WORDS - 1, 1, 2, 0}};

	open_tables(&tables, 4 * SHARD);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		const struct unwind_table_head head = {.nr_rows = heads[i].nr_rows,
						       .nr_pages = heads[i].nr_pages,
						       .nr_rules = heads[i].nr_rules,
						       .rules = none};

		CHECK_INT(unwind_tables__begin(&tables, &head), heads[i].result);
		if (heads[i].result)
			continue;
		/* A row, in front of what comes after it. */
		CHECK_INT(unwind_tables__add_page(&tables, 0, rows, 1), 0);
		unwind_tables__set_module(&tables, 0, UNWIND_MODULE_LOADED);
	}
	CHECK_INT(tables.memory, 4 * SHARD);
}

/* A table that announces fewer rows than it has gets no more room for them. */
static void more_rows_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	const struct unwind_rule none[2] = {{.cfa = UNWIND_NONE}, {.cfa = UNWIND_UNSUPPORTED}};
	const struct unwind_table_head head = {
		.nr_rows = 5, .nr_pages = 3, .nr_rules = 2, .rules = none};
	const uint32_t rows[3] = {unwind_row(1, 0), unwind_row(0, 1), unwind_row(1, 2)};

	open_tables(&tables, 4 * SHARD);
	CHECK_INT(unwind_tables__begin(&tables, &head), 0);
	CHECK_INT(unwind_tables__add_page(&tables, 0, rows, 3), 0);
	CHECK_INT(unwind_tables__add_page(&tables, 1, rows, 3), -EPROTO);
	CHECK_INT(unwind_tables__begin(&tables, &head), 0);
	CHECK_INT(unwind_tables__add_page(&tables, 0, rows, 3), 0);
	CHECK_INT(unwind_tables__add_page(&tables, 1, rows, 2), 0);
	CHECK_INT(unwind_tables__add_page(&tables, 2, rows, 1), -EPROTO);
}

/* ---- slices ---- */

#define SINCE 1000

static int put_since(struct unwind_tables *tables, uint32_t pid, uint32_t nr, uint64_t since,
		     uint64_t base, struct unwind_slice *slice)
{
	static struct unwind_mapping all[UNWIND_MAPPINGS_MAX];

	for (uint32_t i = 0; i < nr && i < UNWIND_MAPPINGS_MAX; i++)
		all[i] = (struct unwind_mapping){.start = 0x1000 * i, .base = base, .module = pid};
	return unwind_tables__put_process(tables, pid, all, nr, since, slice);
}

/* Put mappings of a process, never the same twice; returns the error. */
static int put(struct unwind_tables *tables, uint32_t pid, uint32_t nr, struct unwind_slice *slice)
{
	static uint64_t base;

	return put_since(tables, pid, nr, SINCE, ++base, slice);
}

/* Check that the process has the mappings that were put for owner. */
static void check_shared(uint32_t pid, uint32_t owner, uint32_t nr)
{
	CHECK_INT(processes[pid].tgid, pid);
	CHECK_INT(processes[pid].nr, nr);
	for (uint32_t i = 0; i < nr; i++)
		CHECK(mappings[processes[pid].first + i].module == owner &&
		      mappings[processes[pid].first + i].start == 0x1000ULL * i);
}

static void check_process(uint32_t pid, uint32_t nr)
{
	check_shared(pid, pid, nr);
	CHECK_INT(processes[pid].since, SINCE);
}

static void sizes_test(void)
{
	static const struct {
		uint32_t nr, nr_units;
	} sizes[] = {{1, 1}, {8, 1}, {9, 2}, {16, 2}, {1000, 125}, {UNWIND_MAPPINGS_MAX, 512}};
	CLEANUP_TABLES struct unwind_tables tables;
	struct unwind_slice slice = {0};

	open_tables(&tables, SHARD);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK_INT(put(&tables, 1, sizes[i].nr, &slice), 0);
		CHECK_INT(slice.nr, sizes[i].nr);
		CHECK_INT(slice.first, processes[1].first);
		CHECK_INT(tables.nr_units[UNIT_USED], sizes[i].nr_units);
		check_process(1, sizes[i].nr);
	}
	CHECK_INT(put(&tables, 1, UNWIND_MAPPINGS_MAX + 1, &slice), -ENOSPC);
	CHECK_INT(slice.nr, 0);
	CHECK_INT(processes[1].nr, 0);
	CHECK_INT(put(&tables, 1, 0, &slice), -ENOSPC);
}

/* Put so many times, without waiting for programs, behind all that was put before. */
static void put_without_waiting(struct unwind_tables *tables, struct unwind_slice *slice, int times)
{
	unsigned int nr = nr_waits;

	for (int i = 0; i < times; i++) {
		uint32_t behind = processes[1].first + processes[1].nr;

		CHECK_INT(put(tables, 1, 3000, slice), 0);
		CHECK(!processes[1].nr || processes[1].first >= behind);
		CHECK_INT(nr_waits, nr);
	}
}

/*
 * Mappings that a program may be reading are not overwritten before all programs have ended; that
 * is waited for when more of them rest than are free.
 */
static void rest_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct unwind_slice slices[3] = {0};

	open_tables(&tables, SHARD);
	CHECK_INT(put(&tables, 2, 3, &slices[2]), 0);
	put_without_waiting(&tables, &slices[1], 6);
	CHECK_INT(put(&tables, 1, 3000, &slices[1]), 0);
	CHECK_INT(nr_waits, 1);
	CHECK_INT(processes[1].first, SLICE_UNIT);
	check_process(1, 3000);
	check_process(2, 3);
	/* All mappings that rested are free now. */
	put_without_waiting(&tables, &slices[1], 4);
	CHECK_INT(put(&tables, 1, 3000, &slices[1]), 0);
	CHECK_INT(nr_waits, 2);
	unwind_tables__remove_process(&tables, 1, &slices[1]);
	CHECK(!slices[1].users);
	CHECK_INT(processes[1].nr, 0);
	check_process(2, 3);
	unwind_tables__remove_process(&tables, 2, &slices[2]);
}

/* Programs that start and end, each with few mappings, then more, leave room for large ones. */
static void many_starts_test(void)
{
	static const uint32_t sizes[] = {8, 16, 128, 1000, UNWIND_MAPPINGS_MAX};
	CLEANUP_TABLES struct unwind_tables tables;
	struct unwind_slice slices[20] = {0}, other = {0};

	open_tables(&tables, SHARD);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t pid = i % ARRAY_SIZE(slices);

		unwind_tables__remove_process(&tables, pid, &slices[pid]);
		CHECK_INT(put(&tables, pid, 4, &slices[pid]), 0);
		CHECK_INT(put(&tables, pid, 7, &slices[pid]), 0);
	}
	CHECK(nr_waits > 0 && nr_waits < 40);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		CHECK_INT(put(&tables, 31, sizes[i], &other), 0);
		check_process(31, sizes[i]);
	}
	for (uint32_t pid = 0; pid < ARRAY_SIZE(slices); pid++) {
		check_process(pid, 7);
		unwind_tables__remove_process(&tables, pid, &slices[pid]);
	}
	unwind_tables__remove_process(&tables, 31, &other);
}

/* Mappings that a process has already are not written again; the time of that knowledge is. */
static void equal_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct unwind_slice slice = {0}, child = {0};
	uint32_t first;

	open_tables(&tables, SHARD);
	CHECK_INT(put_since(&tables, 1, 20, SINCE - 1, 0, &slice), 0);
	first = slice.first;
	CHECK_INT(put_since(&tables, 1, 20, SINCE, 0, &slice), 0);
	CHECK_INT(slice.first, first);
	CHECK_INT(tables.nr_units[UNIT_RESTING], 0);
	check_process(1, 20);
	/* A program can have removed it at exec(). */
	processes[1] = (struct unwind_process){0};
	CHECK_INT(put_since(&tables, 1, 20, SINCE, 0, &slice), 0);
	check_process(1, 20);
	/* Fewer of them are other mappings, and so are mappings that differ. */
	CHECK_INT(put_since(&tables, 1, 19, SINCE, 0, &slice), 0);
	CHECK(slice.first != first);
	first = slice.first;
	CHECK_INT(put_since(&tables, 1, 19, SINCE, 1, &slice), 0);
	CHECK(slice.first != first);
	check_process(1, 19);
	/*
	 * If the kernel refuses an update the process has no mappings; a child with the same keeps
	 * them.
	 */
	CHECK_INT(unwind_tables__share_process(&tables, 2, &slice, SINCE, &child), 0);
	update_error = -ENOMEM;
	CHECK_INT(put_since(&tables, 1, 19, SINCE, 1, &slice), -ENOMEM);
	update_error = 0;
	CHECK(!slice.users && !processes[1].nr);
	CHECK_INT(*child.users, 1);
	check_shared(2, 1, 19);
	unwind_tables__remove_process(&tables, 2, &child);
}

/* When each mapping was left by a process, as nr_waits was then, + 1; 0: never. */
static unsigned int left[UNWIND_MAPPINGS];

static void leave(struct unwind_tables *tables, uint32_t pid, struct unwind_slice *slice)
{
	for (uint32_t i = 0; i < processes[pid].nr; i++)
		left[processes[pid].first + i] = nr_waits + 1;
	unwind_tables__remove_process(tables, pid, slice);
}

static bool has_rested(uint32_t pid)
{
	for (uint32_t i = 0; i < processes[pid].nr; i++)
		if (left[processes[pid].first + i] > nr_waits)
			return false;
	return true;
}

/* Processes of all sizes, in no order, more than there is room for: each keeps what it has. */
static void random_processes_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct unwind_slice slices[32] = {0};
	uint32_t nr_refused = 0, nr_early = 0;

	memset(left, 0, sizeof(left));
	open_tables(&tables, SHARD);
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t pid = below(ARRAY_SIZE(slices)), nr = 1 + below(below(3000) + 1);

		if (processes[pid].nr)
			check_process(pid, processes[pid].nr);
		leave(&tables, pid, &slices[pid]);
		nr_refused += put(&tables, pid, nr, &slices[pid]) != 0;
		nr_early += !has_rested(pid);
	}
	CHECK_INT(nr_early, 0);
	CHECK(nr_refused > 0 && nr_refused < 250);
	for (uint32_t pid = 0; pid < ARRAY_SIZE(slices); pid++)
		leave(&tables, pid, &slices[pid]);
	CHECK_INT(tables.nr_units[UNIT_USED], 0);
}

/* So often that what rests comes again. */
static void put_often(struct unwind_tables *tables, uint32_t pid)
{
	struct unwind_slice slice = {0};

	for (uint32_t i = 0; i < 2 * UNWIND_MAPPINGS / 3000; i++) {
		CHECK_INT(put(tables, pid, 3000, &slice), 0);
		check_process(pid, 3000);
	}
	unwind_tables__remove_process(tables, pid, &slice);
}

/* Shared mappings rest when the last of their processes has left them. */
static void shared_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct unwind_slice first = {0}, second = {0}, third = {0};
	uint32_t shared;

	open_tables(&tables, SHARD);
	CHECK_INT(put(&tables, 1, 3000, &first), 0);
	shared = first.first;
	CHECK_INT(unwind_tables__share_process(&tables, 2, &first, SINCE + 1, &second), 0);
	CHECK_INT(second.first, shared);
	CHECK_INT(*second.users, 2);
	CHECK_INT(processes[2].since, SINCE + 1);
	CHECK_INT(processes[1].since, SINCE);
	check_shared(2, 1, 3000);
	/* The first gets other mappings, then a third shares those of the second, which ends. */
	CHECK_INT(put(&tables, 1, 5, &first), 0);
	CHECK(first.first != shared);
	CHECK_INT(unwind_tables__share_process(&tables, 0, &second, SINCE + 2, &third), 0);
	unwind_tables__remove_process(&tables, 2, &second);
	CHECK(!second.users && !processes[2].nr);
	put_often(&tables, 3);
	check_process(1, 5);
	check_shared(0, 1, 3000);
	unwind_tables__remove_process(&tables, 0, &third);
	CHECK_INT(tables.nr_units[UNIT_USED], 1);
	unwind_tables__remove_process(&tables, 1, &first);
}

/* A process that had some mappings of its own has those of its parent now. */
static void shared_instead_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct unwind_slice first = {0}, second = {0};

	open_tables(&tables, SHARD);
	CHECK_INT(put(&tables, 1, 10, &first), 0);
	CHECK_INT(put(&tables, 2, 10, &second), 0);
	CHECK_INT(unwind_tables__share_process(&tables, 2, &first, SINCE, &second), 0);
	CHECK_INT(tables.nr_units[UNIT_RESTING], 2);
	check_shared(2, 1, 10);
	/*
	 * If the kernel refuses the share nobody shares the slice, and the process can be put
	 * there.
	 */
	unwind_tables__remove_process(&tables, 2, &second);
	update_error = -ENOMEM;
	CHECK_INT(unwind_tables__share_process(&tables, 2, &first, SINCE, &second), -ENOMEM);
	update_error = 0;
	CHECK_INT(put(&tables, 2, 10, &second), 0);
	CHECK_INT(*first.users, 1);
	check_process(1, 10);
	check_process(2, 10);
	unwind_tables__remove_process(&tables, 1, &first);
	unwind_tables__remove_process(&tables, 2, &second);
}

static void no_room_for_mappings_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct unwind_slice slices[UNWIND_MAPPINGS / 4000 + 1] = {0};
	struct unwind_slice second = {0};
	uint32_t nr = 0;

	open_tables(&tables, SHARD);
	while (nr < ARRAY_SIZE(slices) && !put(&tables, 1, 4000, &slices[nr]))
		nr++;
	CHECK_INT(nr, UNWIND_MAPPINGS / 4000);
	CHECK_INT(nr_waits, 0);
	CHECK_INT(processes[1].nr, 0);
	unwind_tables__remove_process(&tables, 1, &slices[1]);
	CHECK_INT(put(&tables, 3, 4001, &second), -ENOSPC);
	CHECK_INT(nr_waits, 1);
	/* Less rests than is free, but is enough; between two neighbours there is no border. */
	unwind_tables__remove_process(&tables, 1, &slices[2]);
	CHECK_INT(put(&tables, 3, 4001, &second), 0);
	CHECK_INT(nr_waits, 2);
	check_process(3, 4001);
	unwind_tables__remove_process(&tables, 3, &second);
	/* An update that the kernel refuses leaves nothing behind. */
	unwind_tables__remove_process(&tables, 1, &slices[0]);
	update_error = -ENOMEM;
	CHECK_INT(put(&tables, 2, 4000, &second), -ENOMEM);
	CHECK_INT(second.nr, 0);
	update_error = 0;
	CHECK_INT(put(&tables, 2, 4000, &second), 0);
	check_process(2, 4000);
	unwind_tables__remove_process(&tables, 2, &second);
	for (uint32_t i = 0; i < nr; i++)
		unwind_tables__remove_process(&tables, 1, &slices[i]);
}

static const struct tap_test tests[] = {
	{"each address has the rule of its row", rows_are_found_test},
	{"so it has where rows are many", crowded_pages_test},
	{"each address is found in its mapping", mappings_are_found_test},
	{"addresses that nobody has are in none", odd_addresses_test},
	{"a module has the rules of its file", modules_test},
	{"a module says where its code is", places_test},
	{"a module that is too large takes no room", too_large_module_test},
	{"a module that fails half way takes none", unfinished_module_test},
	{"pages that cannot be searched are left out", odd_pages_test},
	{"a module is refused by its head", heads_test},
	{"or if more comes than that says", more_rows_test},
	{"a process has room for its mappings", sizes_test},
	{"mappings rest before others come there", rest_test},
	{"mappings that are the same stay where they are", equal_test},
	{"what many starts have left is used again", many_starts_test},
	{"mappings of all sizes come and go", random_processes_test},
	{"what several have rests after the last of them", shared_test},
	{"what a process had is left for what its parent has", shared_instead_test},
	{"without room a process has none", no_room_for_mappings_test},
};

int main(void)
{
	open_fakes();
	return TAP_RUN(tests);
}
