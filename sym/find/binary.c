// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/find/binary.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/child/proc_stat.h"
#include "sym/elf/file.h"
#include "sym/elf/machine.h"
#include "sym/elf/needed.h"
#include "sym/elf/symbols.h"
#include "sym/find/ld_cache.h"
#include "sym/find/library.h"
#include "sym/process/process.h"
#include "sym/process/rooted.h"
#include "sym/symfile/debug_file.h"
#include "sym/symfile/mini_symbols.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

/* Systems with thousands of libraries have folders of some thousand. */
#define FOLDER_ENTRIES_MAX 65536

#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct search {
	const char *name;
	const struct process *process; /* NULL: the host */
	struct binary found;
};

/* ---- files ---- */

static int open_path(const struct process *process, const char *path)
{
	return process ? process__open_path(process, path) : process__open_own_path(path);
}

static int open_folder(const struct process *process, const char *path)
{
	int fd;

	if (process)
		return process__open_directory(process, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

static bool is_executable(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH);
}

static int take_file(struct search *search, int fd, const char *path)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	binary__close(&search->found);
	search->found = (struct binary){.fd = fd, .path = copy};
	return 0;
}

/* Take the file at path if it is a library for this machine; -ENOENT if not. */
static int take_library(struct search *search, const char *path)
{
	CLEANUP_CLOSE int fd = open_path(search->process, path);
	int err;

	if (fd < 0 || !library__is_for_this_machine(fd))
		return -ENOENT;
	err = take_file(search, fd, path);
	if (!err)
		TAKE_FD(fd);
	return err;
}

/* ---- names ---- */

/* musl is its own loader; distributions give it a second name. */
static bool is_musl(const char *file)
{
	return !strcmp(file, "ld-musl-" MACHINE_MUSL ".so.1") ||
	       !strcmp(file, "libc.musl-" MACHINE_MUSL ".so.1");
}

/* libNAME.so, libNAME.so.6, libNAME-2.31.so */
static bool is_library(const char *file, const char *name)
{
	size_t length = strlen(name);

	if (!strcmp(name, "c") && is_musl(file))
		return true;
	if (strncmp(file, "lib", 3) || strncmp(file + 3, name, length))
		return false;
	file += 3 + length;
	if (file[0] == '-' && file[1] >= '0' && file[1] <= '9')
		file += strlen(file) > 3 ? strlen(file) - 3 : 0;
	return !strncmp(file, ".so", 3) && (file[3] == '\0' || file[3] == '.');
}

static bool is_exactly(const char *file, const char *name)
{
	return !strcmp(file, name);
}

/* ---- where to look: 0, -ENOENT: look elsewhere, or another negative errno ---- */

/*
 * The path of a mapping if whole, else the last part of it, without what the kernel says behind it.
 */
static void mapped_file(const char *path, bool whole, char file[PATH_MAX])
{
	const char *slash = whole ? NULL : strrchr(path, '/');

	snprintf(file, PATH_MAX, "%s", slash ? slash + 1 : path);
	file[mapping_path__length(file)] = '\0';
}

static int search_mappings(struct search *search,
			   bool (*is_meant)(const char *file, const char *name))
{
	const struct mapping_list *list = &search->process->mappings;

	for (size_t i = 0; i < list->nr; i++) {
		CLEANUP_CLOSE int fd = -1;
		char file[PATH_MAX];
		int err;

		mapped_file(list->mappings[i].path, strchr(search->name, '/'), file);
		if (!is_meant(file, search->name))
			continue;
		fd = process__open_file(search->process, &list->mappings[i]);
		if (fd < 0 || !is_elf(fd))
			continue;
		err = take_file(search, fd, list->mappings[i].path);
		if (!err)
			TAKE_FD(fd);
		return err;
	}
	return -ENOENT;
}

static int search_process(struct search *search)
{
	int err = search_mappings(search, is_library);

	return err == -ENOENT ? search_mappings(search, is_exactly) : err;
}

static int search_entries(struct search *search, const struct ld_cache *cache,
			  bool (*is_meant)(const char *file, const char *name))
{
	int err = -ENOENT;

	for (uint32_t i = 0; i < cache->nr && err == -ENOENT; i++) {
		const char *soname, *path;

		if (ld_cache__entry(cache, i, &soname, &path) && is_meant(soname, search->name))
			err = take_library(search, path);
	}
	return err;
}

static int search_cache(struct search *search)
{
	CLEANUP_CLOSE int fd = open_path(search->process, LD_CACHE);
	size_t size = 0;
	CLEANUP_FREE char *bytes = library__read_cache(fd, &size);
	struct ld_cache cache;
	int err;

	if (!bytes || ld_cache__open(&cache, bytes, size))
		return -ENOENT;
	err = search_entries(search, &cache, is_exactly);
	return err == -ENOENT ? search_entries(search, &cache, is_library) : err;
}

/* True if file is better than best ("": nothing yet): the exact name, or the newest version. */
static bool is_better(const struct search *search, const char *file, const char *best)
{
	if (is_exactly(best, search->name))
		return false;
	if (is_exactly(file, search->name))
		return true;
	return is_library(file, search->name) && strverscmp(file, best) > 0;
}

static int search_folder(struct search *search, const char *folder)
{
	CLEANUP_CLOSE int fd = open_folder(search->process, folder);
	CLEANUP_CLOSEDIR DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	char best[NAME_MAX + 1] = "", path[PATH_MAX];
	const struct dirent *entry;
	int err = -ENOENT;

	if (!directory)
		return -ENOENT;
	TAKE_FD(fd);
	for (int i = 0; i < FOLDER_ENTRIES_MAX && (entry = readdir(directory)); i++) {
		if (!is_better(search, entry->d_name, best))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		err = take_library(search, path);
		if (!err)
			snprintf(best, sizeof(best), "%s", entry->d_name);
		else if (err != -ENOENT)
			return err;
	}
	return best[0] ? 0 : -ENOENT;
}

static int search_folders(struct search *search)
{
	int err = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(library_folders) && err == -ENOENT; i++)
		err = search_folder(search, library_folders[i]);
	return err;
}

static int take_program(struct search *search, const char *path)
{
	CLEANUP_CLOSE int fd = open_path(search->process, path);
	int err;

	if (fd < 0 || !is_elf(fd) || !is_executable(fd))
		return -ENOENT;
	err = take_file(search, fd, path);
	if (!err)
		TAKE_FD(fd);
	return err;
}

static int search_programs(struct search *search)
{
	const char *folders = getenv("PATH");
	int err = -ENOENT;

	for (folders = folders ? folders : PATH_DEFAULT; *folders && err == -ENOENT;) {
		int length = (int)strcspn(folders, ":");
		char path[PATH_MAX];

		/* An empty one is the current folder to a shell; nobody means that. */
		if (length && snprintf(path, sizeof(path), "%.*s/%s", length, folders,
				       search->name) < (int)sizeof(path))
			err = take_program(search, path);
		folders += length;
		folders += *folders == ':';
	}
	return err;
}

/* True if the ELF file at fd is linked with a library of that name. */
static bool needs_library(int fd, const char *name)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};

	return elf_file__open(&elf, fd) == 0 && elf_needed__any(&elf, is_library, name);
}

/*
 * A library comes before a program: "curl" means libcurl, which curl itself is linked
 * with. But Debian's python3.11 has all that libpython3.11 has in itself: probes in the
 * library would never be hit by it, and nobody would know why.
 */
static int search_root(struct search *search)
{
	struct search program = {
		.name = search->name, .process = search->process, .found = {.fd = -1}};
	int err = search_cache(search);

	if (err == -ENOENT)
		err = search_folders(search);
	if (err && err != -ENOENT)
		return err;
	if (search_programs(&program) || (!err && needs_library(program.found.fd, search->name))) {
		binary__close(&program.found);
		return err;
	}
	binary__close(&search->found);
	search->found = program.found;
	return 0;
}

static int search_everywhere(struct search *search)
{
	int err = search->process ? search_process(search) : -ENOENT;

	return err == -ENOENT ? search_root(search) : err;
}

/* ---- what is said ---- */

/*
 * The file of a path, whatever machine it is for. A process can have mapped another file than has
 * that path by now: then the mapped one is meant.
 */
static int take_path(struct search *search, struct error *error)
{
	CLEANUP_CLOSE int fd = -1;
	char where[64] = "";
	int err = search->process ? search_mappings(search, is_exactly) : -ENOENT;

	if (!err)
		return 0;
	fd = open_path(search->process, search->name);
	if (search->process)
		snprintf(where, sizeof(where), " in process %d", search->process->pid);
	if (fd == -EINVAL)
		return error__set(error, fd, "'%s'%s is no regular file", search->name, where);
	if (fd == -EXDEV || fd == -ELOOP)
		return error__set(error, fd,
				  "'%s'%s is a link of /proc, and those are not followed; give the "
				  "path of what it leads to, or leave out -p",
				  search->name, where);
	if (fd < 0)
		return error__set(error, fd, "'%s'%s: %s", search->name, where, strerror(-fd));
	if (!is_elf(fd))
		return error__set(error, -ENOEXEC, "'%s'%s is no ELF file", search->name, where);
	err = take_file(search, fd, search->name);
	if (!err)
		TAKE_FD(fd);
	return err ? error__set(error, err, "'%s'%s: %s", search->name, where, strerror(-err)) : 0;
}

static int take_name(struct search *search, struct error *error)
{
	int err = search_everywhere(search);

	if (err && err != -ENOENT)
		return error__set(error, err, "'%s': %s", search->name, strerror(-err));
	if (err && search->process)
		return error__set(error, err,
				  "'%s' is nothing that process %d has mapped, no library that its "
				  "loader finds, and no program in PATH; give a path",
				  search->name, search->process->pid);
	if (err)
		return error__set(error, err,
				  "'%s' is no library that the loader finds, and no program in "
				  "PATH; give a path",
				  search->name);
	return 0;
}

/* Why a process has nothing mapped. */
static const char *why_unread(pid_t pid, int err)
{
	struct proc_stat stat;

	if (err != -ESRCH)
		return strerror(-err);
	if (proc_stat__read(pid, &stat))
		return "has ended";
	return stat.state == 'Z' ? "has ended, and only waits for its parent to notice (a zombie)" :
				   "is a thread of the kernel, and has no code of programs";
}

int binary__open(struct binary *binary, const char *name, pid_t pid, struct error *error)
{
	CLEANUP(process__release) struct process process = {0};
	struct search search = {.name = name, .found = {.fd = -1}};
	int err;

	if (pid) {
		err = process__read(&process, pid);
		if (err)
			return error__set(error, err, "process %d %s", pid, why_unread(pid, err));
		search.process = &process;
	}
	err = strchr(name, '/') ? take_path(&search, error) : take_name(&search, error);
	if (err) {
		binary__close(&search.found);
		return err;
	}
	*binary = search.found;
	return 0;
}

void binary__close(struct binary *binary)
{
	cleanup__close(&binary->fd);
	free(binary->path);
	*binary = (struct binary){.fd = -1};
}

/* ---- debug files ---- */

int binary__open_debug(const struct binary *binary, pid_t pid)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	struct root_identity identity;
	CLEANUP_CLOSE int root = rooted__root_of(pid, &identity);
	CLEANUP(debug_files__close) struct debug_files files = {.symfs = -1};
	uint64_t work = ELF_SYMBOLS_WORK;
	const struct debug_search search = {
		.elf = &elf,
		.pid = pid,
		.root = root,
		.places = DEBUG_HOST | DEBUG_TARGET,
		.wanted = DEBUG_SYMBOLS,
		.work = &work,
	};
	struct debug_file found;
	int err = elf_file__open(&elf, binary->fd);

	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	if (rooted__is_error(root))
		return root;
	err = debug_files__open(&files, &(struct sym_settings){0}, NULL);
	if (!err)
		err = debug_files__find(&files, &search, &found);
	if (!err)
		return found.fd;
	return err == -ENOENT ? mini_symbols__open(&elf, &work) : err;
}
