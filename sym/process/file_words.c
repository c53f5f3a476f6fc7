// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process may be anyone's, and does meanwhile what it likes. Its memory is written to through
 * /proc/PID/mem, which stays that of one program when it is open. The mappings are read before and
 * behind that: a program that had the file mapped before has memory of its own, or has become
 * another one by exec(), which then has memory that nobody else had. So there is no way into memory
 * of another process. In its own a process could do all that by itself: of shared files, too, it
 * can only lose what it could have written.
 */
#include "sym/process/file_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/child/proc_stat.h"
#include "sym/process/maps.h"
#include "sym/util/cleanup.h"
#include "sym/util/page.h"

/* As many mappings as are looked at, of all files; and those of one file that are kept. */
#define LINES_MAX    65536
#define MAPPINGS_MAX 64

struct file_mapping {
	uint64_t start, end, offset;
	bool writable;
};

struct file_mappings {
	struct file_mapping items[MAPPINGS_MAX];
	size_t nr;
};

/* directory: of the process, in /proc. The private mappings of the file. */
static int read_mappings(int directory, const struct mapped_as *as, struct file_mappings *mappings)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	int err = proc_file__open(directory, "maps", &file);

	mappings->nr = 0;
	for (size_t i = 0; !err && i < LINES_MAX && getline(&text, &size, file) > 0; i++) {
		char permissions[MAPPING_PERMISSIONS];
		struct mapping mapping;

		if (mapping__parse(text, &mapping, permissions) && permissions[3] == 'p' &&
		    mapping.inode == as->inode && mapping.device == as->device &&
		    mappings->nr < MAPPINGS_MAX)
			mappings->items[mappings->nr++] =
				(struct file_mapping){.start = mapping.start,
						      .end = mapping.end,
						      .offset = mapping.offset,
						      .writable = permissions[1] == 'w'};
	}
	return err;
}

/* The address of the word there, or 0. */
static uint64_t address_in(const struct file_mapping *mapping, const struct file_word *word)
{
	uint64_t address = mapping->start + word->offset - mapping->offset;

	return word->offset >= mapping->offset && address >= mapping->start &&
			       mapping->end - mapping->start >= sizeof(uint16_t) &&
			       address <= mapping->end - sizeof(uint16_t) ?
		       address :
		       0;
}

/* Whether the word lies at address, and can be written there; and, before, where it cannot. */
static bool is_right(const struct file_mappings *mappings, const struct file_word *word,
		     uint64_t address)
{
	bool right = false, wrong = false;

	for (size_t i = 0; i < mappings->nr; i++) {
		const struct file_mapping *mapping = &mappings->items[i];
		uint64_t at = address_in(mapping, word);

		right |= mapping->writable && at == address;
		wrong |= !mapping->writable && at && at == address - word->distance;
	}
	return right && wrong;
}

struct raising {
	int directory, memory;
	const struct mapped_as *as;
	struct file_mappings before, after;
	bool checked; /* after has been read */
};

static int raise_word(struct raising *raising, const struct file_word *word, uint64_t address)
{
	uint16_t value;
	ssize_t bytes;
	int err = 0;

	if (!address || !is_right(&raising->before, word, address))
		return 0;
	bytes = pread(raising->memory, &value, sizeof(value), (off_t)address);
	if (bytes != sizeof(value) || value >= word->value)
		return 0;
	if (!raising->checked)
		err = read_mappings(raising->directory, raising->as, &raising->after);
	raising->checked = true;
	if (err || !is_right(&raising->after, word, address))
		return err;
	bytes = pwrite(raising->memory, &word->value, sizeof(word->value), (off_t)address);
	if (bytes < 0)
		return -errno;
	return bytes == sizeof(word->value) ? 0 : -ESRCH;
}

/* A library can be loaded more than once. */
static int raise_words(struct raising *raising, const struct file_word *words, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		for (size_t j = 0; j < raising->before.nr && !err; j++)
			err = raise_word(raising, &words[i],
					 address_in(&raising->before.items[j], &words[i]));
	return err;
}

static int open_at(int directory, const char *path, int flags)
{
	int fd = openat(directory, path, flags | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == ENOENT ? -ESRCH : -errno;
}

int file_words__raise(pid_t pid, const struct mapped_as *as, const struct file_word *words,
		      size_t nr)
{
	CLEANUP_CLOSE int directory = -1, memory = -1;
	struct raising raising = {.as = as};
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	directory = open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	if (directory < 0)
		return directory;
	raising.directory = directory;
	err = read_mappings(directory, as, &raising.before);
	if (err || raising.before.nr < 2)
		return err;
	memory = open_at(directory, "mem", O_RDWR);
	if (memory < 0)
		return memory;
	raising.memory = memory;
	return raise_words(&raising, words, nr);
}

int mapped_as__find(struct mapped_as *as, int fd)
{
	void *page = mmap(NULL, page_size(), PROT_READ, MAP_PRIVATE, fd, 0);
	CLEANUP_FCLOSE FILE *file = NULL;
	CLEANUP_FREE char *text = NULL;
	char permissions[MAPPING_PERMISSIONS];
	struct mapping mapping;
	bool found = false;
	size_t size = 0;
	int err;

	if (page == MAP_FAILED)
		return -errno;
	err = proc_file__open(AT_FDCWD, "/proc/self/maps", &file);
	while (!err && !found && getline(&text, &size, file) > 0)
		found = mapping__parse(text, &mapping, permissions) &&
			mapping.start <= (uintptr_t)page && mapping.end > (uintptr_t)page;
	munmap(page, page_size());
	if (found)
		*as = (struct mapped_as){mapping.device, mapping.inode};
	return err ? err : found ? 0 : -ESRCH;
}
