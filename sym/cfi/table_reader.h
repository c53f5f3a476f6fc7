/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call-frame information of a file that a process has mapped, made into a table by a child:
 * anyone may have written the file. The child that opens it can be given up
 * (sym/child/reader_child.h), and has no privileges any more when it reads it
 * (sym/child/sandbox.h); the parent checks what it sends.
 */
#ifndef TRACEKIT_SYM_CFI_TABLE_READER_H
#define TRACEKIT_SYM_CFI_TABLE_READER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct avoided_devices;
struct unwind_mapped;
struct unwind_table_head;

/* More than the names of the libraries of any real program take. */
#define UNWIND_NEEDS_MAX 16384

/* The caller's functions for a table, called in this order; each returns 0 or a negative errno. */
struct unwind_sink {
	void *context;
	/*
	 * What the file needs before its code can run: size bytes of texts that end with a NUL
	 * each. A text is an enum elf_need (sym/elf/needed.h), and what that stands before. Called
	 * once for each file that has such texts, also if it has no table. NULL: nobody asks.
	 */
	int (*needs)(void *context, const char *texts, size_t size);
	/* There may be more rows than head says, and fewer. */
	int (*begin)(void *context, const struct unwind_table_head *head);
	/* The rows of a page, sorted, with known rules; called for pages that have rows. */
	int (*page)(void *context, uint32_t page, const uint32_t *rows, uint32_t nr);
};

/*
 * The table of what a process has mapped there: start() begins to read it, and finish() gives it to
 * the sink and ends the reader in any case. More than one can be read at a time. Returns 0, -ENOENT
 * if the file has none, -ESTALE if it is another file by now or gone, -ETIMEDOUT if it is avoided,
 * also from now on, -ETIME if that took too long, -EPIPE if the child died, -EPROTO if it sent
 * nonsense, what the sink returned, or another negative errno.
 */
struct unwind_table_reader;
int unwind_table_reader__start(struct unwind_table_reader **reader, pid_t pid,
			       const struct unwind_mapped *mapped, struct avoided_devices *avoided);
/*
 * True if finish() need not wait: who has written a file decides how long it takes to read. poll:
 * ask when it is ready, or again after some tens of milliseconds.
 */
bool unwind_table_reader__is_ready(struct unwind_table_reader *reader);
struct pollfd unwind_table_reader__poll(const struct unwind_table_reader *reader);
int unwind_table_reader__finish(struct unwind_table_reader *reader, const struct unwind_sink *sink);

/* Why there is no table, from a negative errno of these functions; behind the name of the file. */
const char *unwind_table_reader__text(int err);

#endif
