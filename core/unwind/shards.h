/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory in which rows lie (struct unwind_shard), with what is free of it. Words are numbered
 * through all shards.
 */
#ifndef TRACEKIT_CORE_UNWIND_SHARDS_H
#define TRACEKIT_CORE_UNWIND_SHARDS_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind_tables.h"
#include "core/unwind/spans.h"

struct bpf_map;

/* A map with shards, by their numbers from first on. */
struct unwind_shard_map {
	int fd;
	uint32_t first, nr;
};

struct unwind_shards {
	const struct bpf_map *map; /* of the maps; borrowed */
	uint32_t nr, nr_max;
	struct unwind_shard_map maps[UNWIND_SHARD_MAPS];
	uint32_t nr_maps;
	pid_t putter; /* the child that puts the last one into map; or 0 */
	struct spans free;
	/* One is mapped at a time. */
	struct unwind_shard *mapped; /* or NULL */
	uint32_t mapped_number;
};

/* memory: of all shards at most, in bytes. */
void unwind_shards__init(struct unwind_shards *shards, const struct bpf_map *map, uint64_t memory);
void unwind_shards__release(struct unwind_shards *shards);

/* Bytes of the shards that there are. */
uint64_t unwind_shards__memory(const struct unwind_shards *shards);

/* The words that are free, in shards that there are and in those that may be added. */
uint64_t unwind_shards__room(const struct unwind_shards *shards);

/*
 * Take so many words of one shard; *first becomes the number of the first. Returns 0, -E2BIG if
 * there is no room in the memory, -ENOSPC if there is none for maps, or another negative errno.
 */
int unwind_shards__take(struct unwind_shards *shards, uint32_t nr, uint32_t *first);
void unwind_shards__give(struct unwind_shards *shards, uint32_t first, uint32_t nr);

/* Where a word and those behind it are, until the next call. NULL, with errno set, on failure. */
uint32_t *unwind_shards__words(struct unwind_shards *shards, uint32_t word);
/* Nothing is mapped any more. */
void unwind_shards__unmap(struct unwind_shards *shards);

/* Words of one shard as a page has them, and the number of its first. */
struct unwind_page unwind_shards__page(const struct unwind_shards *shards, uint32_t first,
				       uint32_t nr);
uint32_t unwind_shards__first_word(const struct unwind_shards *shards,
				   const struct unwind_page *page);

#endif
