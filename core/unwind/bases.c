// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/bases.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

#include "bpf/unwind_tables.h"
#include "sym/util/page.h"

/* So many can come before there is a look again. */
#define ROOM_MIN (UNWIND_BASES / 4)

int unwind_bases__open(struct unwind_bases *bases, const struct bpf_map *map,
		       const struct bpf_map *numbers)
{
	void *mapped = page_map(bpf_map__fd(numbers), page_size(), PROT_READ | PROT_WRITE, 0);

	if (mapped == MAP_FAILED)
		return -errno;
	*bases = (struct unwind_bases){.map = map, .numbers = mapped};
	return 0;
}

void unwind_bases__close(struct unwind_bases *bases)
{
	if (bases->numbers)
		munmap(bases->numbers, page_size());
	*bases = (struct unwind_bases){0};
}

bool unwind_bases__find(const struct unwind_bases *bases, const struct base_key *key,
			uint64_t *base)
{
	return bases->map && key->program &&
	       !bpf_map_lookup_elem(bpf_map__fd(bases->map), key, base);
}

void unwind_bases__make_room(const struct unwind_bases *bases)
{
	struct base_key key;
	int fd;

	if (!bases->numbers ||
	    __atomic_load_n(&bases->numbers->nr_bases, __ATOMIC_RELAXED) < UNWIND_BASES - ROOM_MIN)
		return;
	fd = bpf_map__fd(bases->map);
	__atomic_store_n(&bases->numbers->nr_bases, 0, __ATOMIC_RELAXED);
	while (!bpf_map_get_next_key(fd, NULL, &key))
		if (bpf_map_delete_elem(fd, &key) && errno != ENOENT)
			break;
	__atomic_add_fetch(&bases->numbers->bases_version, 1, __ATOMIC_RELEASE);
}
