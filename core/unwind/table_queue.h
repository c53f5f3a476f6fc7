/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that are wanted, by walks or by a command that is to begin: whose turn it is, and
 * loading their tables. One file is read by a child while another one is written to the tables.
 */
#ifndef TRACEKIT_CORE_UNWIND_TABLE_QUEUE_H
#define TRACEKIT_CORE_UNWIND_TABLE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/unwind/files.h"
#include "core/unwind/modules.h"
#include "core/unwind/tables.h"
#include "sym/child/reader_child.h"

struct pollfd;
struct unwind_table_reader;

/* Processes take turns: those that were served longest ago come first. */
#define SERVED_MAX 16

struct table_queue {
	struct unwind_told *told; /* what others read */
	struct unwind_tables tables;
	struct unwind_files files;
	struct avoided_devices avoided;
	uint64_t wanted;	  /* how often files have been wanted */
	pid_t served[SERVED_MAX]; /* whose files were looked for or loaded last; a ring */
	unsigned int nr_served;
	/* A file that is read ahead, while another one is written to the tables. */
	struct unwind_table_reader *ahead; /* or NULL */
	uint32_t ahead_file;
	uint32_t loaded_file; /* the one that was written last */
	/* Hears what that needs, as needs of struct unwind_sink; NULL: nobody asks. */
	int (*need)(void *context, const char *texts, size_t size);
	void *need_context;
};

static inline volatile struct unwind_status *table_queue__status(const struct table_queue *queue)
{
	return &queue->told->status;
}

/* pid has the file at start, or has had it there: find it, or load its table, if that is missing.
 */
void table_queue__want(struct table_queue *queue, struct unwind_known_file *file, pid_t pid,
		       uint64_t start);

/* A walk has come to the file. */
void table_queue__note_walk(struct unwind_known_file *file);

/*
 * The wanted file whose process has its turn, and of these the one that most walks came to of late,
 * else the first, among files that have been found or not; UNWIND_FILE_NONE if there is none.
 */
uint32_t table_queue__most_wanted(const struct table_queue *queue, bool found);

/* Its process has had its turn, and somebody reads it. Returns that process. */
pid_t table_queue__take_turn(struct table_queue *queue, struct unwind_known_file *file);

/* The file could not be had: it is tried again later and later. */
void table_queue__note_failure(struct table_queue *queue, struct unwind_known_file *file);

/* It could. */
void table_queue__forgive(struct table_queue *queue, struct unwind_known_file *file);

/* err: a negative errno, which may be of a limit on processes or descriptors, or else. */
void table_queue__note_if_starved(struct table_queue *queue, int err);

/* Load a file that was read ahead, if one is ready. Returns true if there was one. */
bool table_queue__load(struct table_queue *queue);

/* Polls as readable when the child that reads ahead has something to say. */
struct pollfd table_queue__poll(const struct table_queue *queue);

/* How many files are wanted, or being read. */
uint32_t table_queue__count(const struct table_queue *queue);

#endif
