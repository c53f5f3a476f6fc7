/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call-frame information of one file in the form that a BPF program searches: for each
 * 64 KB of its addresses, a page, the rows that begin there, sorted, of four bytes each.
 */
#ifndef TRACEKIT_SYM_CFI_TABLE_H
#define TRACEKIT_SYM_CFI_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind_rule.h"

struct elf_symbols;

/* The rules of files, each once; those of the same shape are one. UNWIND_RULES at most. */

struct unwind_rules {
	struct unwind_rule
		*items; /* by number; the first three are those that are their kind alone */
	size_t nr, capacity;
	uint32_t *buckets; /* the first one with that hash; 0: none */
	uint32_t *next;	   /* by number */
	size_t next_capacity;
};

/* Returns 0 or -ENOMEM. */
int unwind_rules__init(struct unwind_rules *rules);
void unwind_rules__release(struct unwind_rules *rules);

/*
 * The number of a rule, which is added if it is new; UNWIND_UNSUPPORTED when there are as many as
 * there may be. Or -ENOMEM.
 */
int unwind_rules__number(struct unwind_rules *rules, const struct unwind_rule *rule);

/* Its rows; the first begins with the page. Without any nothing is known of all of it. */
struct unwind_table_page {
	uint32_t first, nr;
};

struct unwind_table {
	uint64_t start; /* the address of the first page */
	struct unwind_table_page *pages;
	size_t nr_pages;
	uint32_t *rows;
	size_t nr_rows, rows_capacity;
};

/*
 * What one file can have: 1 GB of addresses from its first code to its last, and rows beyond
 * those of any real program (Debian's libLLVM has 0.9 million).
 */
#define UNWIND_TABLE_PAGES_MAX 16384
#define UNWIND_TABLE_ROWS_MAX  ((size_t)16 * 1024 * 1024)

/* What is known of a table before its pages come: how large it is; the rules by their numbers. */
struct unwind_table_head {
	uint64_t start, nr_rows;
	uint32_t nr_pages, nr_rules;
	const struct unwind_rule *rules;
};

/*
 * Where a program begins nothing has called it, and some of those that do so by hand, as the
 * dynamic linker of glibc 2.36, have no information about it, which they need for 80 bytes: there
 * the rule is UNWIND_END.
 */
#define UNWIND_ENTRY_SIZE 128

/*
 * Read it from what a Go program carries for its tracebacks and .eh_frame, or else from that, or
 * else from .debug_frame, which can be compressed; rules are added to. Of a file without section
 * headers .eh_frame is found all the same.
 * work: as of sym/elf/work.h. Returns 0, -ENOENT if the file has none, -EFBIG if it has too much,
 * or asks for too much work, -EBADMSG if that is not sound as a whole, -ENOTSUP if it is of another
 * processor, or 32-bit, or another negative errno.
 */
int unwind_table__read(struct unwind_table *table, struct unwind_rules *rules,
		       const struct elf_symbols *elf, uint64_t *work);
void unwind_table__release(struct unwind_table *table);

/* As the BPF program does: the number of the rule at an address of the file. */
uint32_t unwind_table__find(const struct unwind_table *table, uint64_t address);

#endif
