/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call-frame information of one file in the form that a BPF program searches: for each
 * 64 KB of the file, a page, the rows that begin there, sorted, of four bytes each. Rows are found
 * by the offset of the code in the file, which is the same wherever it is mapped.
 */
#ifndef TRACEKIT_SYM_CFI_TABLE_H
#define TRACEKIT_SYM_CFI_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct unwind_rule;
struct unwind_rules;

/* The rows of a page; the first begins with the page. Without rows nothing is known of it. */
struct unwind_table_page {
	uint32_t first, nr;
};

struct unwind_table {
	uint64_t start; /* the offset of the first page */
	struct unwind_table_page *pages;
	size_t nr_pages;
	uint32_t *rows;
	size_t nr_rows, rows_capacity;
};

/*
 * Bounds for one file: 1 GB from its first code to its last, more rows than any real program has
 * (Debian's libLLVM has 0.9 million), and more executable segments: all rows are looked at for
 * each.
 */
#define UNWIND_CODES_MAX       8
#define UNWIND_TABLE_PAGES_MAX 16384
#define UNWIND_TABLE_ROWS_MAX  ((size_t)16 * 1024 * 1024)

/* Known of a table before its pages come: its size, and the rules by their numbers. */
struct unwind_table_head {
	uint64_t start, nr_rows;
	uint32_t nr_pages, nr_rules;
	const struct unwind_rule *rules;
};

/*
 * Read it from the first two that the file has of: a Go program's table for tracebacks, .eh_frame,
 * and, unless it is a Go program, .debug_frame, which can be compressed. The second holds where the
 * first says nothing, and what is known of some code (sym/cfi/known_code.h) where both do not. Adds
 * to rules. .eh_frame is found without section headers, too.
 * work: as of sym/elf/work.h. Returns 0, -ENOENT if the file has none, -EFBIG if it has too much,
 * or asks for too much work, -EBADMSG if a section is not sound as a whole, -ENOTSUP if it is of
 * another processor, or 32-bit, or another negative errno.
 */
int unwind_table__read(struct unwind_table *table, struct unwind_rules *rules,
		       const struct elf_file *elf, uint64_t *work);
void unwind_table__release(struct unwind_table *table);

/* The number of the rule at an offset of the file, found as the BPF program finds it. */
uint32_t unwind_table__find(const struct unwind_table *table, uint64_t offset);

#endif
