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
#include "sym/util/clock.h"
#include "test/unit/tap.h"

/* ---- maps ---- */

/* unwind_files, as far as it is filled. */
#define FILES 4

struct module_of_file {
	struct mapped_file file;
	uint32_t module;
	uint32_t used;
};

/* Each is a file, as some are mapped. */
static struct fake {
	size_t size, nr;
	int fd;
	void *values;
} fakes[] = {
	{.size = sizeof(struct unwind_module), .nr = UNWIND_MODULES},
	{.size = sizeof(struct unwind_page), .nr = UNWIND_PAGES},
	{.size = sizeof(struct unwind_rule), .nr = UNWIND_RULES},
	{.size = sizeof(int), .nr = UNWIND_SHARD_MAPS},
	{.size = sizeof(struct module_of_file), .nr = FILES},
	{.size = sizeof(struct unwind_numbers), .nr = 1},
	{.size = sizeof(uint64_t), .nr = UNWIND_RECENT},
};

static const struct unwind_maps maps = {
	.modules = (struct bpf_map *)&fakes[0],
	.pages = (struct bpf_map *)&fakes[1],
	.rules = (struct bpf_map *)&fakes[2],
	.shards = (struct bpf_map *)&fakes[3],
	.files = (struct bpf_map *)&fakes[4],
	.numbers = (struct bpf_map *)&fakes[5],
	.recent = (struct bpf_map *)&fakes[6],
};

/* Called when programs are waited for; or NULL. */
static void (*at_grace)(void);
static int grace_error;

/* The contents of the maps. */
static struct unwind_module *modules;
static struct unwind_page *pages;
static struct unwind_rule *rules;
static int *shard_fds; /* of files, in the place of maps; 0: none */
static struct module_of_file *files;
static struct unwind_numbers *numbers;
static uint64_t *recent;

static int update_error;

int __wrap_grace__open(struct grace *grace);
void __wrap_grace__close(struct grace *grace);
int __wrap_grace__wait(const struct grace *grace);
int __wrap_bpf_map__fd(const struct bpf_map *map);
__u32 __wrap_bpf_map__max_entries(const struct bpf_map *map);
__u32 __wrap_bpf_map__value_size(const struct bpf_map *map);
int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags);
int __wrap_bpf_map_lookup_elem(int fd, const void *key, void *value);
int __wrap_bpf_map_delete_elem(int fd, const void *key);
int __wrap_bpf_map_get_next_key(int fd, const void *key, void *next_key);
int __wrap_bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size,
			  __u32 value_size, __u32 nr, const struct bpf_map_create_opts *options);

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
	if (at_grace)
		at_grace();
	return grace_error;
}

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
	modules = open_fake(&fakes[0]);
	pages = open_fake(&fakes[1]);
	rules = open_fake(&fakes[2]);
	shard_fds = open_fake(&fakes[3]);
	files = open_fake(&fakes[4]);
	numbers = open_fake(&fakes[5]);
	recent = open_fake(&fakes[6]);
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

static int fail(int error)
{
	errno = error;
	return -error;
}

/* NULL: it is not there. */
static struct module_of_file *entry_of(const struct mapped_file *file)
{
	for (size_t i = 0; i < FILES; i++)
		if (files[i].used && !memcmp(&files[i].file, file, sizeof(*file)))
			return &files[i];
	return NULL;
}

static int put_entry(const struct mapped_file *file, uint32_t module, __u64 flags)
{
	struct module_of_file *entry = entry_of(file);

	if (entry && flags == BPF_NOEXIST)
		return fail(EEXIST);
	for (size_t i = 0; i < FILES && !entry; i++)
		if (!files[i].used)
			entry = &files[i];
	if (!entry)
		return fail(E2BIG);
	*entry = (struct module_of_file){.file = *file, .module = module, .used = true};
	return 0;
}

/* Called when a file is not found: what walks do at that time; or NULL. */
static void (*at_miss)(void);

int __wrap_bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	const struct module_of_file *entry;

	if (fake_of(fd)->values == shard_fds)
		return shard_fds[*(const uint32_t *)key] ? 0 : fail(ENOENT);
	CHECK(fake_of(fd)->values == files);
	entry = entry_of(key);
	if (entry)
		memcpy(value, &entry->module, sizeof(entry->module));
	else if (at_miss)
		at_miss();
	return entry ? 0 : fail(ENOENT);
}

int __wrap_bpf_map_delete_elem(int fd, const void *key)
{
	struct module_of_file *entry = entry_of(key);

	CHECK(fake_of(fd)->values == files);
	if (!entry)
		return fail(ENOENT);
	entry->used = false;
	return 0;
}

int __wrap_bpf_map_get_next_key(int fd, const void *key, void *next_key)
{
	size_t i = key ? (size_t)(entry_of(key) - files) + 1 : 0;

	CHECK(fake_of(fd)->values == files);
	while (i < FILES && !files[i].used)
		i++;
	if (i == FILES)
		return fail(ENOENT);
	memcpy(next_key, &files[i].file, sizeof(files[i].file));
	return 0;
}

int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	const struct fake *fake = fake_of(fd);
	uint32_t number = *(const uint32_t *)key;

	if (update_error)
		return fail(update_error);
	if (fake->values == files)
		return put_entry(key, *(const uint32_t *)value, flags);
	CHECK_INT(flags, BPF_ANY);
	if (!CHECK(number < fake->nr))
		return -E2BIG;
	memcpy((char *)fake->values + number * fake->size, value, fake->size);
	return 0;
}

int __wrap_bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size,
			  __u32 value_size, __u32 nr, const struct bpf_map_create_opts *options)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	CHECK(type == BPF_MAP_TYPE_ARRAY && key_size == sizeof(uint32_t) && options);
	return ftruncate(fd, (off_t)value_size * nr) ? -1 : fd;
}

static void close_all(struct unwind_tables *tables)
{
	unwind_tables__close(tables);
	for (size_t i = 0; i < ARRAY_SIZE(fakes); i++)
		memset(fakes[i].values, 0, fakes[i].size * fakes[i].nr);
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

static uint32_t rule_in_module(uint32_t number, uint64_t address)
{
	const struct unwind_module *module = &modules[number];
	uint64_t page_number = (address >> UNWIND_PAGE_BITS) - module->start;
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
	const struct unwind_page page = {.first = (uint16_t)below(UNWIND_SHARD_WORDS - 70)};
	uint32_t wrong = 0, at = page.first, row = 0;

	if (nr + UNWIND_INDEX_WORDS + at > UNWIND_SHARD_WORDS)
		at = 0;
	unwind_page__index(shard.words + at, rows, nr);
	memcpy(shard.words + at + UNWIND_INDEX_WORDS, rows, nr * sizeof(*rows));
	for (uint32_t low = 0; low < PAGE; low++) {
		while (row + 1 < nr && unwind_row_low(rows[row + 1]) <= low)
			row++;
		wrong += page_rule(&shard, &(struct unwind_page){.first = (uint16_t)at}, low) !=
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
		CHECK_INT(load(&tables, i, &sources[i]), 0);
	}
	/* The same rules are there once. */
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
	CHECK_INT(modules[0].start, 0x400000 >> UNWIND_PAGE_BITS);
	CHECK_INT(load(&tables, 2, &source), 0);
	CHECK_INT(add_pages(&tables, &source), 0);
	unwind_tables__set_module(&tables, 3, UNWIND_MODULE_LOADED);
	CHECK_INT(modules[3].start, 0x400000 >> UNWIND_PAGE_BITS);
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
	CHECK_INT(unwind_shards__memory(&tables.shards), 4 * SHARD);
	CHECK_INT(load(&tables, 1, &large), -EFBIG);
	CHECK_INT(load(&tables, 2, &large), -EFBIG);
	CHECK_INT(unwind_shards__memory(&tables.shards), 4 * SHARD);
	CHECK_INT(load(&tables, 3, &last), 0);
	CHECK_INT(load(&tables, 4, &small), 0);
	CHECK(unwind_shards__memory(&tables.shards) <= 5 * SHARD);
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
	CHECK_INT(unwind_shards__memory(&tables.shards), 12 * SHARD);
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
	/* It comes once. */
	CHECK_INT(unwind_tables__add_page(&tables, 1, rows, 1), 0);
	CHECK_INT(unwind_tables__add_page(&tables, 1, rows, 1), -EPROTO);
	CHECK_INT(unwind_tables__begin(&tables, &head), 0);
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
	} heads[] = {{1, UNWIND_PAGES - 1, 2, -EFBIG},
		     {1, 1, UNWIND_RULES + 1, -EFBIG},
		     {words + 1, 1, 2, -EFBIG},
		     {words, 1, 2, 0},
		     {words - UNWIND_INDEX_WORDS, 1, 2, -EFBIG},
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
	CHECK_INT(unwind_shards__memory(&tables.shards), 4 * SHARD);
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

/* ---- what is remembered ---- */

static void recent_test(void)
{
	static const uint64_t offsets[] = {0, 1, 0x401000, UINT32_MAX};
	static const uint32_t of_modules[] = {0, 1, UNWIND_MODULES - 1};
	uint64_t seen[ARRAY_SIZE(offsets) * ARRAY_SIZE(of_modules)];
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(of_modules); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(offsets); j++) {
			uint64_t place = unwind_place(of_modules[i], offsets[j]);
			uint64_t word = unwind_recent(place, UNWIND_RULES - 1);

			CHECK(place != 0);
			CHECK(unwind_place__index(place) < UNWIND_RECENT);
			CHECK(unwind_recent__place(word) == place);
			CHECK_INT(unwind_recent__rule(word), UNWIND_RULES - 1);
			CHECK_INT(unwind_recent__rule(unwind_recent(place, 0)), 0);
			for (size_t k = 0; k < nr; k++)
				CHECK(seen[k] != place);
			seen[nr++] = place;
		}
	}
	CHECK(unwind_place(0, UINT32_MAX + 1ULL) == 0);
}

/* Functions that follow each other do not drive each other out. */
static void recent_places_test(void)
{
	static bool taken[UNWIND_RECENT];
	int nr = 0;

	for (uint64_t offset = 0x1000; offset < 0x1000 + 1024ULL * 48; offset += 48) {
		uint32_t index = unwind_place__index(unwind_place(7, offset));

		nr += !taken[index];
		taken[index] = true;
	}
	/* By chance 906 of 1024 would have a word of their own. */
	CHECK(nr >= 900);
}

/* ---- what is given back ---- */

#define OLD unwind_age(10 * NANOSECONDS)

/* As walks do it. */
static void use(uint32_t module, uint32_t ago)
{
	modules[module].used = unwind_age(monotonic_now()) - ago;
}

/* The table that is given back at the time, as programs found it when it was loaded. */
static struct source *given_back;
static uint32_t given_back_module;
static int nr_waits;

/* Programs that begin now do not find it, those that have found it do find all of it. */
static void check_given_back(void)
{
	CHECK_INT(modules[given_back_module].state, UNWIND_MODULE_WANTED);
	modules[given_back_module].state = UNWIND_MODULE_LOADED;
	check_module(given_back_module, given_back);
	modules[given_back_module].state = UNWIND_MODULE_WANTED;
	/* And they remember what they have found. */
	recent[0] = unwind_recent(unwind_place(given_back_module, 0x400000), 1);
	recent[UNWIND_RECENT - 1] = recent[0];
	nr_waits++;
}

static void give_back_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct source sources[3];

	open_tables(&tables, 4 * SHARD);
	CHECK_INT(unwind_tables__give_back_oldest(&tables), -ENOENT);
	for (uint32_t i = 0; i < 3; i++) {
		make_source(&sources[i], 0x400000, 3 + i, (int)i + 1);
		fill_densely(&sources[i], 25000);
	}
	CHECK_INT(load(&tables, 0, &sources[0]), 0);
	CHECK_INT(load(&tables, 1, &sources[1]), 0);
	/* All are in use. */
	CHECK_INT(load(&tables, 2, &sources[2]), -EFBIG);
	CHECK_INT(unwind_tables__give_back_oldest(&tables), -ENOENT);
	use(0, OLD);
	use(1, OLD + 1);
	CHECK_INT(load(&tables, 2, &sources[2]), -E2BIG);
	grace_error = -ENOMEM;
	CHECK_INT(unwind_tables__give_back_oldest(&tables), -ENOMEM);
	CHECK_INT(unwind_tables__state(&tables, 1), UNWIND_MODULE_LOADED);
	check_module(1, &sources[1]);
	grace_error = 0;
	given_back = &sources[1];
	given_back_module = 1;
	nr_waits = 0;
	at_grace = check_given_back;
	CHECK_INT(unwind_tables__give_back_oldest(&tables), 1);
	at_grace = NULL;
	CHECK_INT(nr_waits, 1);
	CHECK_INT(recent[0], 0);
	CHECK_INT(recent[UNWIND_RECENT - 1], 0);
	CHECK_INT(unwind_tables__state(&tables, 1), UNWIND_MODULE_WANTED);
	CHECK_INT(load(&tables, 2, &sources[2]), 0);
	check_module(0, &sources[0]);
	check_module(2, &sources[2]);
	CHECK_INT(unwind_shards__memory(&tables.shards), 4 * SHARD);
	for (uint32_t i = 0; i < 3; i++)
		free_source(&sources[i]);
}

/* Many come and go in little memory: each that is there has its rules, and nothing gets lost. */
static void come_and_go_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	enum { NR = 300 };
	static struct source sources[NR];
	/* Not anew for each, so that they go in the same order in each run. */
	const uint32_t old = unwind_age(monotonic_now()) - OLD;
	uint32_t nr_loaded = 0;

	open_tables(&tables, 4 * SHARD);
	for (uint32_t i = 0; i < NR; i++) {
		int err;

		make_source(&sources[i], below(100) * PAGE, 1 + below(20), (int)i + 1);
		fill_densely(&sources[i], 500 + below(2000));
		while ((err = load(&tables, i, &sources[i])) == -E2BIG || err == -ENOSPC) {
			int module = unwind_tables__give_back_oldest(&tables);

			if (!CHECK(module >= 0))
				break;
			free_source(&sources[module]);
			nr_loaded--;
		}
		CHECK_INT(err, 0);
		nr_loaded++;
		modules[i].used = old + below(100);
		for (uint32_t j = 0; j <= i; j++)
			if (modules[j].state == UNWIND_MODULE_LOADED && below(40) == 0)
				check_module(j, &sources[j]);
	}
	CHECK_INT(unwind_shards__memory(&tables.shards), 4 * SHARD);
	CHECK(nr_loaded > 8 && nr_loaded < 40);
	while (nr_loaded--)
		free_source(&sources[unwind_tables__give_back_oldest(&tables)]);
	CHECK_INT(unwind_tables__give_back_oldest(&tables), -ENOENT);
	CHECK_INT(tables.free_pages.nr_units, UNWIND_PAGES);
	CHECK_INT(tables.shards.free.nr_units, 4 * UNWIND_SHARD_WORDS);
	CHECK_INT(tables.shards.free.nr, 1);
	unwind_rules__forget_unused(&tables.rules, tables.rule_users);
	CHECK_INT(unwind_rules__room(&tables.rules), UNWIND_RULES - 3);
}

/* A file with so many rules of its own that all rules together are for a few such files. */
static void rules_come_and_go_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	enum { NR_RULES = 900, NR = 40 };
	static struct unwind_rule own[NR_RULES];
	static uint32_t rows[NR_RULES];
	const struct unwind_table_head head = {
		.nr_rows = NR_RULES, .nr_pages = 1, .nr_rules = NR_RULES, .rules = own};
	int err, nr_given_back = 0;

	open_tables(&tables, 4 * SHARD);
	for (uint32_t i = 0; i < NR_RULES; i++)
		rows[i] = unwind_row(i, i * 8);
	for (int module = 0; module < NR; module++) {
		for (int i = 0; i < NR_RULES; i++)
			own[i] = (struct unwind_rule){.cfa = UNWIND_REGISTER,
						      .cfa_offset = module * NR_RULES + i};
		while ((err = unwind_tables__begin(&tables, &head)) == -ENOSPC) {
			CHECK_INT(unwind_tables__give_back_oldest(&tables), nr_given_back);
			nr_given_back++;
		}
		CHECK_INT(err, 0);
		CHECK_INT(unwind_tables__add_page(&tables, 0, rows, NR_RULES), 0);
		unwind_tables__set_module(&tables, (uint32_t)module, UNWIND_MODULE_LOADED);
		use((uint32_t)module, OLD - (uint32_t)module);
		for (uint32_t i = 0; i < NR_RULES; i++) {
			const struct unwind_rule *rule =
				&rules[rule_in_module((uint32_t)module, i * 8)];

			if (memcmp(rule, &own[i], sizeof(*rule)) != 0) {
				CHECK_INT(rule->cfa_offset, own[i].cfa_offset);
				return;
			}
		}
	}
	CHECK(nr_given_back >= NR - UNWIND_RULES / NR_RULES);
}

/* ---- files ---- */

static void put_file_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	const struct mapped_file file = {.inode = 7, .device = 8, .generation = 9};

	open_tables(&tables, SHARD);
	CHECK_INT(unwind_tables__put_file(&tables, &file, 3), 0);
	CHECK_INT(entry_of(&file)->module, 3);
	update_error = E2BIG;
	CHECK_INT(unwind_tables__put_file(&tables, &file, 4), -E2BIG);
	CHECK_INT(entry_of(&file)->module, 3);
	update_error = 0;
	unwind_tables__remove_file(&tables, &file);
	CHECK(!entry_of(&file));
}

static struct mapped_file numbered(uint64_t inode)
{
	return (struct mapped_file){.inode = inode, .device = 8};
}

/* A walk comes to a file while user space numbers it. */
static void number_meanwhile(void)
{
	const struct mapped_file file = numbered(5);

	at_miss = NULL;
	modules[7].claims++;
	put_entry(&file, 7 + UNWIND_UNHEARD, BPF_NOEXIST);
}

/* A number is one file's: of walks and user space the first gives it. */
static void numbers_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct mapped_file file = numbered(1);

	open_tables(&tables, SHARD);
	CHECK(unwind_age__since(numbers->since, unwind_age(monotonic_now())) < 1000);
	CHECK_INT(unwind_tables__number_file(&tables, &file), 0);
	CHECK_INT(unwind_tables__number_file(&tables, &file), 0);
	/* Walks have claimed 1, and perhaps 2, and numbered a file. */
	modules[1].claims = 1;
	modules[2].claims = 2;
	file = numbered(2);
	put_entry(&file, 1 + UNWIND_UNHEARD, BPF_NOEXIST);
	CHECK_INT(unwind_tables__number_file(&tables, &file), 1);
	file = numbered(3);
	CHECK_INT(unwind_tables__number_file(&tables, &file), 3);
	file = numbered(5);
	at_miss = number_meanwhile;
	CHECK_INT(unwind_tables__number_file(&tables, &file), 7);
	CHECK_INT(modules[7].claims, 1);
}

static void no_numbers_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct mapped_file file = numbered(1);

	open_tables(&tables, SHARD);
	numbers->next = UNWIND_MODULES - 1;
	CHECK_INT(unwind_tables__number_file(&tables, &file), UNWIND_MODULES - 1);
	file = numbered(2);
	CHECK_INT(unwind_tables__number_file(&tables, &file), -ENOSPC);
}

/* Files that nobody has heard of make room; others stay. */
static void unheard_files_test(void)
{
	CLEANUP_TABLES struct unwind_tables tables;
	struct mapped_file file = numbered(1);

	open_tables(&tables, SHARD);
	CHECK_INT(unwind_tables__put_file(&tables, &file, 3), 0);
	for (uint32_t i = 2; i <= FILES; i++) {
		file = numbered(i);
		put_entry(&file, 10 + i + UNWIND_UNHEARD, BPF_NOEXIST);
	}
	file = numbered(FILES + 1);
	CHECK_INT(unwind_tables__number_file(&tables, &file), 0);
	CHECK_INT(entry_of(&file)->module, 0);
	for (uint32_t i = 1; i <= FILES; i++) {
		file = numbered(i);
		CHECK((entry_of(&file) != NULL) == (i == 1));
	}
	update_error = ENOMEM;
	file = numbered(FILES + 2);
	CHECK_INT(unwind_tables__number_file(&tables, &file), -ENOMEM);
}

static const struct tap_test tests[] = {
	{"each address has the rule of its row", rows_are_found_test},
	{"so it has where rows are many", crowded_pages_test},
	{"a module has the rules of its file", modules_test},
	{"a module says where its code is", places_test},
	{"a module that is too large takes no room", too_large_module_test},
	{"a module that fails half way takes none", unfinished_module_test},
	{"pages that cannot be searched are left out", odd_pages_test},
	{"a module is refused by its head", heads_test},
	{"or if more comes than that says", more_rows_test},
	{"a word has a place and the rule there", recent_test},
	{"places have different words", recent_places_test},
	{"the oldest table is given back, when no program uses it", give_back_test},
	{"tables come and go in little memory", come_and_go_test},
	{"so do their rules", rules_come_and_go_test},
	{"walks find the module of a file", put_file_test},
	{"walks and user space number files", numbers_test},
	{"until there are no numbers", no_numbers_test},
	{"files that nobody has heard of make room", unheard_files_test},
};

int main(void)
{
	open_fakes();
	return TAP_RUN(tests);
}
