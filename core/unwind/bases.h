/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where programs have their modules, as walks have noted it (bpf/modules.bpf.h): then a frame in a
 * file has an address, whatever has become of its program.
 */
#ifndef TRACEKIT_CORE_UNWIND_BASES_H
#define TRACEKIT_CORE_UNWIND_BASES_H

#include <stdbool.h>
#include <stdint.h>

struct base_key;
struct bpf_map;
struct unwind_numbers;

/* All zero: none are noted. */
struct unwind_bases {
	const struct bpf_map *map; /* borrowed */
	struct unwind_numbers *numbers;
};

/* The maps unwind_bases and unwind_numbers of a loaded object. Returns 0 or a negative errno. */
int unwind_bases__open(struct unwind_bases *bases, const struct bpf_map *map,
		       const struct bpf_map *numbers);
void unwind_bases__close(struct unwind_bases *bases);

/* False if it is not known. */
bool unwind_bases__find(const struct unwind_bases *bases, const struct base_key *key,
			uint64_t *base);

/*
 * Forget all if there is not much room left. Walks note them again; until then a frame has its
 * offset only.
 */
void unwind_bases__make_room(const struct unwind_bases *bases);

#endif
