// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/container.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/cgroups.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/text.h"

/* Containers that are named if several have an ID that begins as asked for. */
#define NAMED_MAX 5

/* ---- IDs in names of cgroups ---- */

static bool are_hex_digits(const char *text, size_t length)
{
	return strspn(text, "0123456789abcdef") >= length;
}

/* An ID of a container as most runtimes make them, of 64 digits; those of ECS: 32, and a number. */
static bool is_id(const char *text, size_t length)
{
	if (length == 64)
		return are_hex_digits(text, length);
	return length > 33 && are_hex_digits(text, 32) && text[32] == '-' &&
	       strspn(text + 33, "0123456789") >= length - 33;
}

/*
 * These are the names that Docker, Podman, containerd, CRI-O, runc, LXC and systemd-nspawn give; a
 * process that watches a container has a cgroup beside it.
 */
size_t container__find_id(const char *name, const char **id)
{
	static const char *const watchers[] = {"libpod-conmon-", "crio-conmon-"};
	static const char *const prefixes[] = {"docker-",	  "libpod-payload-", "libpod-",
					       "cri-containerd-", "crio-",	     "runc-",
					       "machine-",	  "lxc.payload."};
	static const char scope[] = ".scope";
	size_t length = strlen(name);
	const char *dash;

	*id = name;
	if (length > strlen(scope) && !strcmp(name + length - strlen(scope), scope))
		length -= strlen(scope);
	for (size_t i = 0; i < ARRAY_SIZE(watchers); i++)
		if (text__begins(name, watchers[i]))
			return 0;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t prefix = strlen(prefixes[i]);

		if (length > prefix && text__begins(name, prefixes[i])) {
			*id = name + prefix;
			return length - prefix;
		}
	}
	if (is_id(name, length))
		return length;
	/* containerd: any prefix */
	dash = memrchr(name, '-', length);
	if (!dash || !is_id(dash + 1, length - (size_t)(dash + 1 - name)))
		return 0;
	*id = dash + 1;
	return length - (size_t)(*id - name);
}

/* ---- all cgroups ---- */

struct search {
	const char *id; /* how it begins */
	char *path;	/* of the first that was found, or NULL */
	size_t nr;
	char names[NAMED_MAX * 66]; /* IDs of those found, for a message */
};

static void search__release(struct search *search)
{
	free(search->path);
}

static int look_at(void *context, FTSENT *entry)
{
	struct search *search = context;
	const char *name = entry->fts_name, *id;
	size_t length = container__find_id(name, &id), at = strlen(search->names);

	if (entry->fts_level == FTS_ROOTLEVEL || length < strlen(search->id) ||
	    !text__begins(id, search->id))
		return 0;
	if (search->nr++ == 0 && !(search->path = strdup(entry->fts_path)))
		return -ENOMEM;
	if (search->nr <= NAMED_MAX && at + 3 < sizeof(search->names)) {
		if (at)
			at += (size_t)sprintf(search->names + at, ", ");
		text__clean(id, length, false, search->names + at, sizeof(search->names) - at);
	}
	return 0;
}

int container__open_below(const char *folder, const char *id, struct error *error)
{
	CLEANUP(search__release) struct search search = {.id = id};
	int err = cgroups__walk(folder, look_at, &search), fd;

	if (err)
		return error__set(error, err, "--container %.100s: cannot search %.100s: %s", id,
				  folder, strerror(-err));
	if (search.nr == 0)
		return error__set(
			error, -ENOENT,
			"--container %.100s: no container's ID begins with that; 'ls' below "
			"%.100s shows cgroups, which --cgroup takes",
			id, folder);
	if (search.nr > 1)
		return error__set(error, -EINVAL, "--container %.100s: is how %zu IDs begin: %s%s",
				  id, search.nr, search.names,
				  search.nr > NAMED_MAX ? ", ..." : "");
	fd = open(search.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? error__set(error, -errno, "--container %.100s: %.200s: %s", id, search.path,
				   strerror(errno)) :
			fd;
}

int container__open(const char *id, struct error *error)
{
	CLEANUP_FREE char *place = cgroups__find_mount();

	if (!place)
		return error__set(error, -ENOENT,
				  "--container %.100s: no cgroups of version 2 are mounted here",
				  id);
	return container__open_below(place, id, error);
}
