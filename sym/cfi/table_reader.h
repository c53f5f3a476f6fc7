/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call-frame information of a file that a process has mapped, made into a table by a child:
 * what a file holds is anyone's. Who opens it can be given up (sym/child/reader_child.h), and has
 * no privileges any more when it reads it (sym/child/sandbox.h); what it sends is checked.
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

/* A part of the file that is executable. */
struct unwind_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* of its start */
};

#define UNWIND_SEGMENTS_MAX 8

/* What the caller does with a table, in this order; each returns 0 or a negative errno. */
struct unwind_sink {
	void *context;
	/* There may be more rows than it says, and fewer. */
	int (*begin)(void *context, const struct unwind_table_head *head);
	/* The rows of a page, sorted, whose rules there are; called for those that have any. */
	int (*page)(void *context, uint32_t page, const uint32_t *rows, uint32_t nr);
};

struct unwind_file {
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	size_t nr_segments;
};

/*
 * The table of what a process has mapped there: it is begun to be read by the first, and given to
 * the sink by the second, which ends it in any case. More than one can be read at a time.
 * Returns 0, -ENOENT if the file has none, -ESTALE if it is another file by now or gone, -ETIMEDOUT
 * if it is avoided, also from now on, -ETIME if that took too long, -EPIPE if the child died,
 * -EPROTO if it sent nonsense, what the sink returned, or another negative errno.
 */
struct unwind_table_reader;
int unwind_table_reader__start(struct unwind_table_reader **reader, pid_t pid,
			       const struct unwind_mapped *mapped, struct avoided_devices *avoided);
/*
 * Whether it can be finished without being waited for: how long it takes to read a file is decided
 * by who has written it. poll: ready then, or to be asked again after some tens of milliseconds.
 */
bool unwind_table_reader__is_ready(struct unwind_table_reader *reader);
struct pollfd unwind_table_reader__poll(const struct unwind_table_reader *reader);
int unwind_table_reader__finish(struct unwind_table_reader *reader, struct unwind_file *file,
				const struct unwind_sink *sink);

#endif
