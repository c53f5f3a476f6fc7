// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/generators.h"

#include <errno.h>

#include "sym/util/clock.h"

/*
 * From look to look for a map: twice as long after each failure, up to the second. Walks ask once a
 * second (ASK_FOR_MAP_AGAIN): a little less, or the next time they would ask too early.
 */
#define LOOK_FIRST (NANOSECONDS / 10 * 9)
#define LOOKS_GROW 3 /* 7.2 seconds */
#define LOOK_AGAIN (LOOK_FIRST << LOOKS_GROW)

static bool is_of(const struct known_generator *known, const struct jit_map_owner *generator)
{
	return known->generator.pid == generator->pid &&
	       known->generator.program == generator->program;
}

/* Where it is, or where it is to be: in the place of the one that was heard of first. */
static struct known_generator *find(struct generators *generators,
				    const struct jit_map_owner *generator)
{
	struct known_generator *oldest = &generators->items[0];

	for (size_t i = 0; i < GENERATORS_MAX; i++) {
		struct known_generator *known = &generators->items[i];

		if (is_of(known, generator))
			return known;
		if (known->heard < oldest->heard)
			oldest = known;
	}
	return oldest;
}

void generators__want(struct generators *generators, pid_t pid, uint64_t program)
{
	const struct jit_map_owner wanted = {.pid = pid, .program = program};
	struct known_generator *known = find(generators, &wanted);

	if (!is_of(known, &wanted))
		*known = (struct known_generator){.generator = wanted};
	known->heard = monotonic_now();
	known->wanted = known->heard >= known->next;
}

static void note_result(struct generators *generators, int err)
{
	struct known_generator *known = find(generators, &generators->looking);

	if (!is_of(known, &generators->looking))
		return;
	known->wanted = false;
	known->generator.inode = generators->looking.inode;
	if (!err) {
		known->failures = 0;
		known->next = generators->since + LOOK_AGAIN;
		return;
	}
	known->next = generators->since + (LOOK_FIRST << known->failures);
	if (known->failures < LOOKS_GROW)
		known->failures++;
}

static void look_for_next(struct generators *generators, int socket)
{
	for (size_t i = 0; i < GENERATORS_MAX && !generators->is_looking; i++) {
		int err;

		if (!generators->items[i].wanted)
			continue;
		generators->looking = generators->items[i].generator;
		generators->since = monotonic_now();
		err = jit_map_reader__start(&generators->child, &generators->looking, socket);
		generators->is_looking = !err;
		if (err)
			note_result(generators, err);
	}
}

bool generators__go(struct generators *generators, int socket)
{
	if (generators->is_looking) {
		int err = reader_child__look(&generators->child);

		if (!err)
			return true;
		/* Of one that does not answer nothing is read. */
		if (err > 0)
			err = jit_map_reader__finish(&generators->child, &generators->looking);
		else
			reader_child__stop(&generators->child);
		generators->is_looking = false;
		note_result(generators, err);
	}
	look_for_next(generators, socket);
	return generators->is_looking;
}

struct pollfd generators__poll(const struct generators *generators)
{
	return generators->is_looking ?
		       (struct pollfd){.fd = generators->child.fd, .events = POLLIN} :
		       (struct pollfd){.fd = -1};
}
