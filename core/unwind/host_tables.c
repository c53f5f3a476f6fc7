// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/host_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/host/walker.h"
#include "core/unwind/tables.h"
#include "sym/cfi/reader.h"
#include "sym/cfi/table_reader.h"
#include "sym/util/array.h"

static int identify(int fd, struct mapped_file *file)
{
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	*file = (struct mapped_file){.inode = status.st_ino, .device = (uint32_t)status.st_dev};
	return 0;
}

/* The descriptors are for a child, which has no use for them. */
const struct unwind_identifier host_identifier = {.identify = identify, .fds = {2, 2}};

void host_tables__release(struct host_tables *tables)
{
	unwind_rules__release(&tables->rules);
	for (size_t i = 0; i < tables->nr_shards; i++)
		free(tables->shards[i]);
	free(tables->shards);
	free(tables->pages);
	free(tables->modules);
	free(tables->rule_numbers);
	*tables = (struct host_tables){0};
}

static int number_rules(struct host_tables *tables, const struct unwind_table_head *head)
{
	free(tables->rule_numbers);
	tables->rule_numbers = calloc(head->nr_rules + 1, sizeof(*tables->rule_numbers));
	tables->nr_rule_numbers = head->nr_rules;
	if (!tables->rule_numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < head->nr_rules; i++) {
		int number = unwind_rules__number(&tables->rules, &head->rules[i]);

		if (number < 0)
			return number;
		tables->rule_numbers[i] = (uint16_t)number;
	}
	return 0;
}

static int begin(void *context, const struct unwind_table_head *head)
{
	struct host_tables *tables = context;
	struct unwind_module *module = &tables->modules[tables->nr_modules - 1];
	int err = number_rules(tables, head);

	module->start = (uint32_t)(head->start >> UNWIND_PAGE_BITS);
	module->first_page = (uint32_t)tables->nr_pages;
	for (uint32_t i = 0; i < head->nr_pages && !err; i++) {
		err = ARRAY_GROW(tables->pages, tables->nr_pages, tables->pages_capacity);
		if (!err)
			tables->pages[tables->nr_pages++] =
				(struct unwind_page){.shard = UNWIND_NO_SHARD};
	}
	module->nr_pages = err ? 0 : head->nr_pages;
	return err;
}

/* Room for so many words of one shard; NULL: there is no memory. */
static uint32_t *take_words(struct host_tables *tables, uint32_t nr)
{
	struct unwind_shard *shard;

	if (!tables->nr_shards || tables->used + nr > UNWIND_SHARD_WORDS) {
		shard = calloc(1, sizeof(*shard));
		if (!shard ||
		    ARRAY_GROW(tables->shards, tables->nr_shards, tables->shards_capacity)) {
			free(shard);
			return NULL;
		}
		tables->shards[tables->nr_shards++] = shard;
		tables->used = 0;
	}
	tables->used += nr;
	return tables->shards[tables->nr_shards - 1]->words + tables->used - nr;
}

static int add_page(void *context, uint32_t number, const uint32_t *rows, uint32_t nr)
{
	struct host_tables *tables = context;
	const struct unwind_module *module = &tables->modules[tables->nr_modules - 1];
	uint32_t all = UNWIND_INDEX_WORDS + nr, *words;

	/* A row at nearly every byte is no compiler's work: the page gets no rows. */
	if (all > UNWIND_SHARD_WORDS || number >= module->nr_pages)
		return 0;
	words = take_words(tables, all);
	if (!words)
		return -ENOMEM;
	unwind_page__index(words, rows, nr);
	for (uint32_t i = 0; i < nr; i++)
		words[UNWIND_INDEX_WORDS + i] = unwind_row(
			tables->rule_numbers[unwind_row_rule(rows[i])], unwind_row_low(rows[i]));
	tables->pages[module->first_page + number] = (struct unwind_page){
		.shard = (uint32_t)tables->nr_shards - 1,
		.first = (uint16_t)(tables->used - all),
		.last = (uint16_t)(tables->used - 1),
	};
	return 0;
}

int host_tables__load(struct host_tables *tables, pid_t pid, const struct unwind_mapped *mapped,
		      struct avoided_devices *avoided)
{
	const struct unwind_sink sink = {.context = tables, .begin = begin, .page = add_page};
	struct unwind_table_reader *reader;
	struct unwind_module *module;
	int err = tables->rules.items ? 0 : unwind_rules__init(&tables->rules);

	if (err || ARRAY_GROW(tables->modules, tables->nr_modules, tables->modules_capacity))
		return -ENOMEM;
	module = &tables->modules[tables->nr_modules++];
	*module = (struct unwind_module){.state = UNWIND_MODULE_EMPTY};
	err = unwind_table_reader__start(&reader, pid, mapped, avoided);
	if (!err)
		err = unwind_table_reader__finish(reader, &sink);
	if (err == -ENOMEM)
		return err;
	if (!err)
		module->state = UNWIND_MODULE_LOADED;
	return (int)tables->nr_modules - 1;
}

static const struct unwind_shard *find_shard(const void *context, uint32_t number)
{
	const struct host_tables *tables = context;

	return number < tables->nr_shards ? tables->shards[number] : NULL;
}

void host_tables__use(const struct host_tables *tables, struct walker *walker)
{
	walker->modules = tables->modules;
	walker->nr_modules = (uint32_t)tables->nr_modules;
	walker->pages = tables->pages;
	walker->nr_pages = (uint32_t)tables->nr_pages;
	walker->rules = tables->rules.items;
	walker->nr_rules = (uint32_t)tables->rules.nr;
	walker->shard = find_shard;
	walker->shards = tables;
}
