// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/mounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"

void mounts__release(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->nr; i++) {
		free(mounts->items[i].root);
		free(mounts->items[i].point);
	}
	free(mounts->items);
	*mounts = (struct mounts){0};
}

/* Spaces and the like are three octal digits behind a backslash. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; to++) {
		unsigned int byte;
		int length = 0;

		if (sscanf(at, "\\%3o%n", &byte, &length) == 1 && length == 4 && byte) {
			*to = (char)byte;
			at += length;
		} else {
			*to = *at++;
		}
	}
	*to = '\0';
}

/* Takes root and point over, also if it fails. */
static int add_mount(struct mounts *mounts, char *root, char *point, bool is_deeper)
{
	CLEANUP_FREE char *own_root = root;
	CLEANUP_FREE char *own_point = point;

	if (!root || !point || ARRAY_GROW(mounts->items, mounts->nr, mounts->capacity))
		return -ENOMEM;
	mounts->items[mounts->nr++] = (struct mount){.root = TAKE_POINTER(own_root),
						     .point = TAKE_POINTER(own_point),
						     .is_deeper = is_deeper};
	return 0;
}

int mounts__add_line(struct mounts *mounts, dev_t device, const char *line)
{
	CLEANUP_FREE char *root = NULL;
	CLEANUP_FREE char *point = NULL;
	unsigned int major, minor;
	bool is_overlay = strstr(line, " - overlay "); /* spaces in paths are escaped */

	if (sscanf(line, "%*u %*u %u:%u %ms %ms", &major, &minor, &root, &point) != 4 ||
	    root[0] != '/' || point[0] != '/')
		return 0;
	mounts->has_root |= !point[1];
	if (makedev(major, minor) != device && !is_overlay)
		return 0;
	unescape(root);
	unescape(point);
	return add_mount(mounts, TAKE_POINTER(root), TAKE_POINTER(point), is_overlay);
}

int mounts__end(struct mounts *mounts)
{
	return mounts->has_root ? 0 : add_mount(mounts, strdup("/"), strdup("/"), true);
}

int mounts__read(struct mounts *mounts, dev_t device)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/mountinfo", "re");
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;
	int err = 0;

	if (!file)
		return -errno;
	while (!err && getline(&line, &size, file) > 0)
		err = mounts__add_line(mounts, device, line);
	return err ? err : mounts__end(mounts);
}

/* What is left of place below that directory, from its slash on; NULL if it is not there. */
static const char *below(const char *place, const char *directory)
{
	size_t length = strlen(directory);

	if (!strcmp(directory, "/"))
		return place;
	return !strncmp(place, directory, length) && place[length] == '/' ? place + length : NULL;
}

bool mount__path(const struct mount *mount, const char *place, char path[PATH_MAX])
{
	const char *rest = below(place, mount->root);
	const char *point = strcmp(mount->point, "/") ? mount->point : "";

	return rest && snprintf(path, PATH_MAX, "%s%s", point, rest) < PATH_MAX;
}
