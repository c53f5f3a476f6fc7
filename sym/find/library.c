// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/find/library.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/elf/machine.h"
#include "sym/find/ld_cache.h"
#include "sym/process/process.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* Systems with thousands of libraries have caches of some 100 KB. */
#define LD_CACHE_MAX (4 * 1024 * 1024)

const char *const library_folders[LIBRARY_FOLDERS] = {
	"/lib64", "/usr/lib64", "/lib/" MACHINE_TRIPLET, "/usr/lib/" MACHINE_TRIPLET,
	"/lib",	  "/usr/lib",	"/usr/local/lib",
};

bool library__is_for_this_machine(int fd)
{
	const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	Elf32_Ehdr header; /* as far as e_machine both classes are the same */

	return pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	       !memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == class &&
	       header.e_machine == MACHINE_ELF;
}

char *library__read_cache(int fd, size_t *size)
{
	CLEANUP_FREE char *bytes = NULL;
	struct stat st;
	ssize_t got;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || st.st_size > LD_CACHE_MAX)
		return NULL;
	bytes = malloc((size_t)st.st_size);
	got = bytes ? pread(fd, bytes, (size_t)st.st_size, 0) : -1;
	if (got <= 0)
		return NULL;
	*size = (size_t)got;
	return TAKE_POINTER(bytes);
}

static int open_library(const char *path)
{
	CLEANUP_CLOSE int fd = process__open_own_path(path);

	return fd >= 0 && library__is_for_this_machine(fd) ? TAKE_FD(fd) : -ENOENT;
}

static int open_in_folder(const char *folder, const char *soname)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", folder, soname) < (int)sizeof(path) ?
		       open_library(path) :
		       -ENOENT;
}

/* Write the folder at the start of a list, as long as that, with $ORIGIN replaced; false: none. */
static bool read_folder(const char *list, size_t length, const char *user, char folder[PATH_MAX])
{
	static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
	const char *slash = strrchr(user, '/');
	size_t skipped = 0;

	for (size_t i = 0; i < ARRAY_SIZE(origins); i++)
		if (!strncmp(list, origins[i], strlen(origins[i])))
			skipped = strlen(origins[i]);
	if (!length || skipped > length || (skipped && !slash))
		return false;
	return snprintf(folder, PATH_MAX, "%.*s%.*s", skipped ? (int)(slash - user) : 0, user,
			(int)(length - skipped), list + skipped) < PATH_MAX;
}

/* list: folders, separated by ':' or, as ld.so(8) allows, by ';'. */
static int open_in_list(const char *list, const struct library_user *user, const char *soname)
{
	int fd = -ENOENT;

	while (fd < 0 && *list) {
		size_t length = strcspn(list, ":;");
		char folder[PATH_MAX];

		if (read_folder(list, length, user->path, folder))
			fd = open_in_folder(folder, soname);
		list += length;
		list += *list != '\0';
	}
	return fd;
}

static int open_in_cache(const char *soname)
{
	CLEANUP_CLOSE int cache_fd = process__open_own_path(LD_CACHE);
	size_t size = 0;
	CLEANUP_FREE char *bytes = library__read_cache(cache_fd, &size);
	struct ld_cache cache;
	int fd = -ENOENT;

	if (!bytes || ld_cache__open(&cache, bytes, size))
		return -ENOENT;
	for (uint32_t i = 0; i < cache.nr && fd < 0; i++) {
		const char *found, *path;

		if (ld_cache__entry(&cache, i, &found, &path) && !strcmp(found, soname))
			fd = open_library(path);
	}
	return fd;
}

int library__open(const struct library_user *user, const char *soname)
{
	const char *environment = getenv("LD_LIBRARY_PATH");
	int fd = -ENOENT;

	if (strchr(soname, '/'))
		return open_library(soname);
	if (environment)
		fd = open_in_list(environment, user, soname);
	if (fd < 0)
		fd = open_in_list(user->run_path, user, soname);
	if (fd < 0)
		fd = open_in_cache(soname);
	for (size_t i = 0; i < ARRAY_SIZE(library_folders) && fd < 0; i++)
		fd = open_in_folder(library_folders[i], soname);
	return fd;
}
