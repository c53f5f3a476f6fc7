// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/room.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/cgroups.h"
#include "core/options/trace_options.h"
#include "sym/util/cleanup.h"
#include "sym/util/memory.h"
#include "sym/util/message.h"

#define USUAL_STACKS 16384
#define USUAL_KEYS   40960

/* 2,000 stacks, while the loader finds files: of a compiler with 1 MB up to 12 % have no room. */
#define USUAL_RAW_RING (4 * 1024 * 1024)

/* Of stacksnoop's events, as many as it prints in some seconds. */
#define USUAL_EVENTS (4 * 1024 * 1024)

/* A stack that is copied whole has 56 KB. */
#define RING_MIN (128 * 1024)

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Our cgroup below the mount of version 2, "/" at the beginning; false if nobody says. */
static bool read_own_cgroup(char *line, size_t size)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/cgroup", "re");

	while (file && fgets(line, (int)size, file))
		if (!strncmp(line, "0::/", 4)) {
			line[strcspn(line, "\n")] = '\0';
			memmove(line, line + 3, strlen(line + 3) + 1);
			return true;
		}
	return false;
}

uint64_t room__available(void)
{
	CLEANUP_FREE char *mount = cgroups__find_mount(), *folder = NULL;
	uint64_t available = memory__available();
	char own[4096];
	size_t root;

	if (!mount || !read_own_cgroup(own, sizeof(own)) ||
	    asprintf(&folder, "%s%s", mount, own) < 0)
		return available;
	root = strlen(mount);
	/* From our cgroup up to the mount: each has a limit of its own. */
	for (char *end = folder + strlen(folder); end; end = strrchr(folder + root, '/')) {
		*end = '\0';
		available = least(available, memory__left_in_cgroup(folder));
	}
	return available;
}

static uint64_t share(uint64_t usual, uint64_t available)
{
	return available < ROOM_FOR_ALL ? usual * available / ROOM_FOR_ALL : usual;
}

static uint32_t entries(uint64_t wanted, uint64_t usual, uint64_t available)
{
	uint64_t part = share(usual, available);

	if (wanted)
		return (uint32_t)wanted;
	return part ? (uint32_t)part : 1;
}

/* A quarter of what can be had: a table that is missing costs callers, not whole stacks. */
static uint64_t tables(uint64_t wanted, uint64_t available)
{
	if (wanted)
		return wanted;
	if (available >= ROOM_FOR_ALL)
		return UNWIND_MEMORY_DEFAULT;
	return available / 4 > UNWIND_MEMORY_MIN ? available / 4 : UNWIND_MEMORY_MIN;
}

static uint32_t power_of_two_below(uint64_t size)
{
	uint32_t power = RING_MIN;

	while ((uint64_t)power * 2 <= size)
		power *= 2;
	return power;
}

struct room room__find(const struct trace_options *options, uint64_t available)
{
	return (struct room){
		.available = available,
		.stacks = entries(options->stack_storage_size, USUAL_STACKS, available),
		.keys = entries(options->hash_storage_size, USUAL_KEYS, available),
		.unwind = {.tables = tables(options->unwind_memory, available),
			   .raw_ring = power_of_two_below(share(USUAL_RAW_RING, available))},
		.events = power_of_two_below(share(USUAL_EVENTS, available)),
	};
}

void room__say(const struct room *room, const struct trace_options *options, bool keys)
{
	char text[128] = "";

	if (room->available >= ROOM_FOR_ALL || (options->quiet && !options->stats))
		return;
	if (keys && !options->hash_storage_size)
		snprintf(text, sizeof(text), ", %" PRIu32 " keys (--hash-storage-size)",
			 room->keys);
	message("%.1f MB of memory can be had: there is room for %" PRIu32
		" stacks (--stack-storage-size)%s and %.1f MB of tables (--unwind-memory); what "
		"has no room is counted as lost",
		(double)room->available / 1e6, room->stacks, text,
		(double)room->unwind.tables / 1e6);
}
