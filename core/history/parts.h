/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of files that processes have mapped, each once for all of them, and by a number: a
 * long build runs 100,000 programs, each with some ten mappings, nearly all of the same files.
 */
#ifndef TRACEKIT_CORE_HISTORY_PARTS_H
#define TRACEKIT_CORE_HISTORY_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/types.h"

struct process_record;

struct process_file {
	struct process_file *next; /* in its bucket */
	dev_t device;
	ino_t inode;
	uint64_t generation;
	size_t bytes;	/* of this, with its path */
	uint32_t users; /* parts */
	char path[];
};

struct process_part {
	uint64_t offset, length;
	struct process_file *file; /* NULL: the slot is free */
	uint64_t start;		   /* where that process had it */
	pid_t pid;		   /* that had it first */
	uint32_t users;		   /* lists that have it; each of them once for each mapping */
	uint32_t next;		   /* in its bucket, or of those that are free; 0: none */
};

/* Of parts, and of files: some for each bucket when memory is full. */
#define PROCESS_BUCKETS ((uint32_t)1 << 16)

struct process_parts {
	uint64_t seed[2]; /* of hashes: processes choose their paths and offsets */
	struct process_file *files[PROCESS_BUCKETS];
	struct process_part *items; /* by number, from 1 on */
	uint32_t nr, free;
	size_t capacity;
	uint32_t buckets[PROCESS_BUCKETS];
	size_t bytes; /* of all files and parts */
};

/* parts: all zero. Returns 0 or a negative errno. */
int process_parts__init(struct process_parts *parts);

/* When all parts have been put. */
void process_parts__release(struct process_parts *parts);

/*
 * The number of the part that a process has mapped, whose users are for the caller to count;
 * *added: it has none so far, for nobody had it. 0 without memory, or if there are
 * PROCESS_PARTS_MAX.
 */
uint32_t process_parts__find_or_add(struct process_parts *parts,
				    const struct process_record *mapped, bool *added);

/* One user less; without one it goes. */
void process_parts__put(struct process_parts *parts, uint32_t number);

#endif
