/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes were, and had mapped, at any time since the trace began: for those that
 * have ended by the time when their addresses are to be named, or have become something else.
 *
 * A process is one program after another: from a fork, a call of exec(), or a mapping that
 * took the place of another, to the next. What is known of one is in records alone, so nothing
 * here reads, opens or waits for anything. Memory is bounded.
 */
#ifndef TRACEKIT_CORE_HISTORY_HISTORY_H
#define TRACEKIT_CORE_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/types.h"

struct process_history;
struct process_record;

/*
 * programs: how many are kept, a power of two; bytes: of what they have mapped, of which one
 * program has a small part at most. What has ended goes first, then what has the most mapped:
 * that is PROGRAM_UNKNOWN while it runs. Returns 0 or a negative errno. These are for 100,000
 * processes, each two programs (it was forked from another one) with 15 mappings: 24 MB, of
 * which those are used that are needed.
 */
#define PROCESS_HISTORY_PROGRAMS ((uint32_t)1 << 18)
#define PROCESS_HISTORY_BYTES	 ((size_t)14 * 1024 * 1024)
int process_history__new(struct process_history **history, uint32_t programs, size_t bytes);
void process_history__free(struct process_history *history);

/*
 * A process that was there before the first record. snapshot: a number, not 0, by which the
 * caller knows what it had mapped then.
 */
void process_history__begin(struct process_history *history, pid_t pid, uint32_t snapshot);

/*
 * What has happened, in the order of time. Returns the number of a part of a file that no
 * program had mapped before, or 0. Without memory something is not known.
 */
uint32_t process_history__take(struct process_history *history,
			       const struct process_record *record);

/* When pid became the program that it was at a time; or one of these. */
#define PROGRAM_BEFORE	  0		   /* it was that when the trace began */
#define PROGRAM_UNKNOWN	  UINT64_MAX	   /* what it is now, as far as is known */
#define PROGRAM_GONE	  (UINT64_MAX - 1) /* nobody has seen what it was, and it is that no more */
#define PROGRAM_FORGOTTEN (UINT64_MAX - 2) /* likewise: there was no more room for it */
uint64_t process_history__since(const struct process_history *history, pid_t pid, uint64_t time);

/* Where an address of a program lay, or what it had of a file. */
struct process_place {
	/*
	 * The process is there, and has the same at that address now; or that is not known, and
	 * nothing else is.
	 */
	bool current;
	uint32_t part;	    /* of a file, or another mapping, by its number; or 0 */
	uint32_t snapshot;  /* if part is 0: in that, or 0 */
	uint64_t address;   /* there; of what is in a file it is the offset */
	uint64_t mapped_at; /* of a part of the file: the address in the program; else 0 */
};

/*
 * since: of the program. file: address is an offset in it; NULL: it is one of the program. The
 * place is all zero if nothing is known of that.
 */
struct process_place process_history__find(const struct process_history *history, pid_t pid,
					   uint64_t since, const struct sym_file_id *file,
					   uint64_t address);

/*
 * A part by its number: the one mapping of an image, where the process that had it first has
 * it, on top of what else that has mapped. Valid until the next record.
 */
struct sym_image process_history__image(const struct process_history *history, uint32_t part,
					struct sym_mapping *mapping);

/* The numbers of parts are below this. */
#define PROCESS_PARTS_MAX ((uint32_t)1 << 19)

#endif
