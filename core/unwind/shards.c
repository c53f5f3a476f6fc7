// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/shards.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/util/child.h"
#include "sym/util/cleanup.h"
#include "sym/util/page.h"

static const struct child_role putter_role = {"map putter", DEBUG_LOG_TABLES};

void unwind_shards__init(struct unwind_shards *shards, const struct bpf_map *map, uint64_t memory)
{
	*shards = (struct unwind_shards){
		.map = map, .nr_max = (uint32_t)(memory / sizeof(struct unwind_shard))};
}

void unwind_shards__unmap(struct unwind_shards *shards)
{
	if (shards->mapped)
		munmap(shards->mapped, sizeof(*shards->mapped));
	shards->mapped = NULL;
}

static void end_putter(struct unwind_shards *shards)
{
	if (shards->putter > 0)
		while (waitpid(shards->putter, NULL, 0) < 0 && errno == EINTR)
			;
	child__note_end(&putter_role, shards->putter, 0);
	shards->putter = 0;
}

void unwind_shards__release(struct unwind_shards *shards)
{
	unwind_shards__unmap(shards);
	end_putter(shards);
	for (uint32_t i = 0; i < shards->nr_maps; i++)
		close(shards->maps[i].fd);
	spans__release(&shards->free);
	*shards = (struct unwind_shards){0};
}

uint64_t unwind_shards__memory(const struct unwind_shards *shards)
{
	return shards->nr * sizeof(struct unwind_shard);
}

uint64_t unwind_shards__room(const struct unwind_shards *shards)
{
	return shards->free.nr_units + (uint64_t)(shards->nr_max - shards->nr) * UNWIND_SHARD_WORDS;
}

/* Twice as many after every two maps: a small process costs little, a large one few maps. */
static uint32_t nr_wanted(const struct unwind_shards *shards)
{
	uint32_t left = shards->nr_max - shards->nr;
	uint32_t wanted = 4U << (shards->nr_maps / 2 < 6 ? shards->nr_maps / 2 : 6);

	return wanted < left ? wanted : left;
}

/* All words of the map are free. */
static int give_map(struct unwind_shards *shards, int fd, uint32_t nr)
{
	int err = spans__give(&shards->free, shards->nr * UNWIND_SHARD_WORDS,
			      nr * UNWIND_SHARD_WORDS);

	if (err)
		return err;
	shards->maps[shards->nr_maps++] =
		(struct unwind_shard_map){.fd = fd, .first = shards->nr, .nr = nr};
	shards->nr += nr;
	return 0;
}

/*
 * Put the map at fd where there was none. The kernel then waits some 10 ms for programs that might
 * still use an old map. There is none: a child does it, and we go on when programs can find the
 * map.
 */
static int put_map(struct unwind_shards *shards, uint32_t key, int fd)
{
	int maps = bpf_map__fd(shards->map), status = 0;
	bool ended = false;
	uint32_t id;

	end_putter(shards);
	shards->putter = fork();
	if (shards->putter < 0)
		return -errno;
	if (shards->putter == 0) {
		child__begin(&putter_role);
		_exit(bpf_map_update_elem(maps, &key, &fd, BPF_ANY) ? errno : 0);
	}
	child__note_start(&putter_role, shards->putter);
	while (bpf_map_lookup_elem(maps, &key, &id)) {
		if (ended)
			return WIFEXITED(status) && WEXITSTATUS(status) ? -WEXITSTATUS(status) :
									  -EIO;
		ended = waitpid(shards->putter, &status, WNOHANG) == shards->putter;
		if (ended)
			end_putter(shards);
		else
			sched_yield();
	}
	return 0;
}

static int add_map(struct unwind_shards *shards)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	uint32_t nr = nr_wanted(shards), key = shards->nr_maps;
	CLEANUP_CLOSE int fd = -1;
	int err;

	if (!nr)
		return -E2BIG;
	if (key == UNWIND_SHARD_MAPS)
		return -ENOSPC;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_shard", sizeof(uint32_t),
			    sizeof(struct unwind_shard), nr, &options);
	if (fd < 0)
		return -errno;
	err = put_map(shards, key, fd);
	if (!err)
		err = give_map(shards, fd, nr);
	if (!err)
		fd = -1;
	return err;
}

int unwind_shards__take(struct unwind_shards *shards, uint32_t nr, uint32_t *first)
{
	int err = 0;

	while (!err && !spans__take(&shards->free, nr, UNWIND_SHARD_WORDS, first))
		err = add_map(shards);
	return err;
}

void unwind_shards__give(struct unwind_shards *shards, uint32_t first, uint32_t nr)
{
	/* Without memory for it the room is lost. */
	(void)spans__give(&shards->free, first, nr);
}

/* The map with a shard. */
static uint32_t map_of(const struct unwind_shards *shards, uint32_t number)
{
	uint32_t map = 0;

	while (number >= shards->maps[map].first + shards->maps[map].nr)
		map++;
	return map;
}

uint32_t *unwind_shards__words(struct unwind_shards *shards, uint32_t word)
{
	uint32_t number = word / UNWIND_SHARD_WORDS;
	const struct unwind_shard_map *map = &shards->maps[map_of(shards, number)];
	void *mapped;

	if (!shards->mapped || shards->mapped_number != number) {
		unwind_shards__unmap(shards);
		mapped = page_map(map->fd, sizeof(struct unwind_shard), PROT_READ | PROT_WRITE,
				  (number - map->first) * sizeof(struct unwind_shard));
		if (mapped == MAP_FAILED)
			return NULL;
		shards->mapped = mapped;
		shards->mapped_number = number;
	}
	return shards->mapped->words + word % UNWIND_SHARD_WORDS;
}

struct unwind_page unwind_shards__page(const struct unwind_shards *shards, uint32_t first,
				       uint32_t nr)
{
	uint32_t number = first / UNWIND_SHARD_WORDS, map = map_of(shards, number);

	return (struct unwind_page){
		.shard = unwind_shard(map, number - shards->maps[map].first),
		.first = (uint16_t)(first % UNWIND_SHARD_WORDS),
		.last = (uint16_t)((first + nr - 1) % UNWIND_SHARD_WORDS),
	};
}

uint32_t unwind_shards__first_word(const struct unwind_shards *shards,
				   const struct unwind_page *page)
{
	const struct unwind_shard_map *map = &shards->maps[unwind_shard_map(page->shard)];

	return (map->first + unwind_shard_index(page->shard)) * UNWIND_SHARD_WORDS + page->first;
}
