// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/containers.h"

#include <errno.h>
#include <fts.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "core/kernel/cgroups.h"
#include "core/trace/container.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/number.h"

/* The list is not read more often, in nanoseconds: a cgroup that has gone is in none. */
#define INTERVAL (NANOSECONDS / 10)

static const char no_container[] = "";

static uintptr_t *slot_of(struct containers *containers, uint64_t cgroup)
{
	return pointer_map__at(&containers->ids, (const void *)(uintptr_t)cgroup);
}

/* A cgroup belongs to the container that it is of, or else to that of the cgroup that it is in. */
static int add(void *context, FTSENT *entry)
{
	struct containers *containers = context;
	uintptr_t *slot = slot_of(containers, entry->fts_statp->st_ino);
	const char *id;
	size_t length = container__find_id(entry->fts_name, &id);

	if (!slot)
		return -ENOMEM;
	if (!*slot && entry->fts_level > FTS_ROOTLEVEL && length)
		*slot = (uintptr_t)arena__copy_string(&containers->names, id, length);
	else if (!*slot)
		*slot = (uintptr_t)(entry->fts_parent->fts_pointer ?
					    entry->fts_parent->fts_pointer :
					    no_container);
	entry->fts_pointer = (void *)*slot;
	return *slot ? 0 : -ENOMEM;
}

int containers__read(struct containers *containers)
{
	CLEANUP_FREE char *place = cgroups__find_mount();

	containers->read = monotonic_now();
	return place ? cgroups__walk(place, add, containers) : -ENOENT;
}

const char *containers__find(struct containers *containers, uint64_t cgroup)
{
	uintptr_t *slot = cgroup ? slot_of(containers, cgroup) : NULL;

	if (slot && !*slot && monotonic_now() - containers->read > INTERVAL) {
		/* What cannot be listed is in no container, for all that is known. */
		(void)containers__read(containers);
		slot = slot_of(containers, cgroup);
	}
	return slot && *slot && *(const char *)*slot ? (const char *)*slot : NULL;
}

void containers__release(struct containers *containers)
{
	pointer_map__release(&containers->ids);
	arena__release(&containers->names);
	*containers = (struct containers){0};
}
