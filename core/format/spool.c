// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/format/report_name.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

struct spooled {
	char *name;
	uint64_t size;
	struct timespec modified;
};

struct spool {
	DIR *folder;
	struct spooled *files;
	size_t nr, capacity;
	uint64_t size; /* of all */
};

static void spool__release(struct spool *spool)
{
	for (size_t i = 0; i < spool->nr; i++)
		free(spool->files[i].name);
	free(spool->files);
	if (spool->folder)
		closedir(spool->folder);
}

/* The folder that the pattern names, which has no pattern itself. */
static DIR *open_folder(const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	CLEANUP_FREE char *path =
		slash ? strndup(pattern, (size_t)(slash - pattern) + 1) : strdup(".");

	return path ? opendir(path) : NULL;
}

static int add(struct spool *spool, const char *name, const struct stat *st)
{
	char *copy = strdup(name);

	if (!copy || ARRAY_GROW(spool->files, spool->nr, spool->capacity)) {
		free(copy);
		return -ENOMEM;
	}
	spool->files[spool->nr++] = (struct spooled){
		.name = copy, .size = (uint64_t)st->st_size, .modified = st->st_mtim};
	spool->size += (uint64_t)st->st_size;
	return 0;
}

static int read_folder(struct spool *spool, const char *pattern)
{
	const char *slash = strrchr(pattern, '/');
	const struct dirent *entry;

	while ((errno = 0, entry = readdir(spool->folder))) {
		struct stat st;

		if (!report_name__matches(slash ? slash + 1 : pattern, entry->d_name) ||
		    fstatat(dirfd(spool->folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || st.st_uid != geteuid())
			continue;
		if (add(spool, entry->d_name, &st))
			return -ENOMEM;
	}
	return -errno;
}

static int compare_ages(const void *left, const void *right)
{
	const struct spooled *a = left, *b = right;
	int order = COMPARE(a->modified.tv_sec, b->modified.tv_sec);

	if (!order)
		order = COMPARE(a->modified.tv_nsec, b->modified.tv_nsec);
	return order ? order : strcmp(a->name, b->name);
}

/* Somebody else, as who collects them, may remove files at the same time. */
static int remove_oldest(struct spool *spool, uint64_t max)
{
	int nr = 0;

	array__sort(spool->files, spool->nr, sizeof(*spool->files), compare_ages);
	for (size_t i = 0; i + 1 < spool->nr && spool->size > max; i++) {
		if (!unlinkat(dirfd(spool->folder), spool->files[i].name, 0))
			nr++;
		else if (errno != ENOENT)
			return -errno;
		spool->size -= spool->files[i].size;
	}
	return nr;
}

int spool__limit(const char *pattern, uint64_t max, struct error *error)
{
	CLEANUP(spool__release) struct spool spool = {.folder = open_folder(pattern)};
	int err = spool.folder ? read_folder(&spool, pattern) : -errno;

	if (!err)
		err = remove_oldest(&spool, max);
	return err < 0 ? error__set(error, err,
				    "--spool-max: cannot remove the oldest of '%.200s': %s",
				    pattern, strerror(-err)) :
			 err;
}
