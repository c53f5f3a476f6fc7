/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of JIT maps (sym/address/jit_map.h) that are asked again and again: maps grow, and only
 * their new lines are read then.
 *
 * A file is asked once without an index, since most are. Memory is bounded: a file with too many
 * entries has no index, and is read as a whole at each question.
 */
#ifndef TRACEKIT_SYM_ADDRESS_JIT_INDEX_H
#define TRACEKIT_SYM_ADDRESS_JIT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Entries of all files together: 32 MB. */
#define JIT_INDEX_ENTRIES_MAX ((size_t)1024 * 1024)
#define JIT_INDEX_FILES	      32

struct jit_entry {
	uint64_t start; /* first: the key */
	uint64_t last;	/* address */
	uint64_t name;	/* its offset in the file: the larger, the newer; 0: no entry */
	uint64_t reach; /* the largest last of the sorted ones up to here */
};

/* The last bytes that were read: if they have changed, the file was written anew. */
#define JIT_INDEX_MARK 64

struct jit_index {
	dev_t device;
	ino_t inode;
	uint64_t used;	/* the larger, the more recently */
	bool too_large; /* to be kept */
	bool in_long_line;
	uint64_t read; /* as far as this offset */
	unsigned char mark[JIT_INDEX_MARK];
	/* The first ones are sorted; newer ones stand behind them. */
	struct jit_entry *entries;
	size_t nr, nr_sorted, capacity;
};

/* All zero is an empty one. */
struct jit_index_list {
	struct jit_index items[JIT_INDEX_FILES];
	uint64_t uses;
	size_t entries; /* of all */
};

/*
 * The index of the file at fd, ready to be looked into; empty if the file was written anew since.
 * NULL if it has none (yet), or without memory.
 */
struct jit_index *jit_index_list__get(struct jit_index_list *list, int fd);
void jit_index_list__release(struct jit_index_list *list);

/* Add an entry that was read. If there is no room, index becomes too_large, and empty. */
void jit_index__add(struct jit_index_list *list, struct jit_index *index,
		    const struct jit_entry *entry);

/* The file has been read up to offset. */
void jit_index__note_read(struct jit_index *index, int fd, uint64_t offset, bool in_long_line);

/*
 * The newest of the sorted entries that address lies in: name is 0 if there is none. *steps grows
 * by the entries that were looked at, up to most.
 */
struct jit_entry jit_index__find(const struct jit_index *index, uint64_t address, uint64_t *steps,
				 uint64_t most);

#endif
