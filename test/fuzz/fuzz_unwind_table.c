// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: an ELF file. Each row of its table is found again. */
#include <errno.h>

#include "bpf/unwind_tables.h"
#include "sym/cfi/rules.h"
#include "sym/cfi/table.h"
#include "sym/elf/file.h"
#include "test/fuzz/fuzz.h"

#define WORK ((uint64_t)64 * 1024)

static void check_page(const struct unwind_table *table, size_t number)
{
	const struct unwind_table_page *page = &table->pages[number];
	uint64_t start = table->start + ((uint64_t)number << UNWIND_PAGE_BITS);
	const uint32_t *rows;

	REQUIRE((uint64_t)page->first + page->nr <= table->nr_rows);
	if (!page->nr)
		return;
	rows = table->rows + page->first;
	REQUIRE(unwind_row_low(rows[0]) == 0);
	for (uint32_t i = 0; i < page->nr; i++) {
		uint32_t low = unwind_row_low(rows[i]);

		REQUIRE(!i || low > unwind_row_low(rows[i - 1]));
		REQUIRE(unwind_table__find(table, start + low) == unwind_row_rule(rows[i]));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct unwind_rules rules;
	struct unwind_table table;
	struct elf_file elf;
	uint64_t work = WORK;

	if (!rules.nr)
		REQUIRE(unwind_rules__init(&rules) == 0);
	if (elf_file__open(&elf, open_input(data, size)))
		return 0;
	if (unwind_table__read(&table, &rules, &elf, &work) == 0) {
		REQUIRE(table.nr_pages <= UNWIND_TABLE_PAGES_MAX && rules.nr <= UNWIND_RULES);
		for (size_t i = 0; i < table.nr_pages; i++)
			check_page(&table, i);
		unwind_table__release(&table);
	}
	elf_file__close(&elf);
	return 0;
}
