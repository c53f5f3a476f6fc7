// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/reader.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "sym/child/reader_child.h"
#include "sym/process/file_identity.h"
#include "sym/process/process.h"
#include "sym/process/vdso.h"
#include "sym/util/cleanup.h"
#include "sym/util/text.h"

void unwind_path__set(char path[UNWIND_PATH_MAX], const char *whole)
{
	size_t length = strlen(whole);

	memset(path, 0, UNWIND_PATH_MAX);
	if (length < UNWIND_PATH_MAX)
		memcpy(path, whole, length);
	else
		snprintf(path, UNWIND_PATH_MAX, "#%016llx", (unsigned long long)text__hash(whole));
}

int unwind_identity__read(struct unwind_identity *identity, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*identity = (struct unwind_identity){
		.device = st.st_dev,
		.inode = st.st_ino,
		.size = (uint64_t)st.st_size,
		.modified = file_time(&st.st_mtim),
	};
	return 0;
}

/* ---- watches ---- */

/* Written to, also through memory that is mapped; truncated, or linked to; deleted for good. */
#define MAY_BE_ANOTHER (IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF)

int unwind_watches__open(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* A file that was told of is not told of again: it is to be looked at anew. */
bool unwind_watches__next(int watches, int *watch)
{
	struct inotify_event event; /* of files, not of what is in a folder: it has no name */

	if (read(watches, &event, sizeof(event)) != sizeof(event))
		return false;
	*watch = event.mask & IN_Q_OVERFLOW ? 0 : event.wd;
	if (!(event.mask & (IN_IGNORED | IN_Q_OVERFLOW)))
		(void)inotify_rm_watch(watches, event.wd);
	return true;
}

/* In a child, whose watches are descriptor 1. Returns 0 if nobody will tell. */
static int32_t watch(int fd)
{
	char path[32];
	int added;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	added = inotify_add_watch(1, path, MAY_BE_ANOTHER);
	return added < 0 ? 0 : added;
}

/* ---- files ---- */

/* Watch the file before looking at it. */
static int look_at_file(int fd, struct unwind_mapped *mapped)
{
	char magic[SELFMAG];
	int err;

	mapped->watch = watch(fd);
	err = unwind_identity__read(&mapped->identity, fd);
	if (err)
		return err;
	mapped->source = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
					 !memcmp(magic, ELFMAG, sizeof(magic)) ?
				 UNWIND_SOURCE_FILE :
				 UNWIND_SOURCE_OTHER;
	return 0;
}

/* ---- mappings ---- */

struct mappings_job {
	pid_t pid;
	const struct avoided_devices *avoided;
};

static struct unwind_mapped without_file(const struct mapping *mapping)
{
	struct unwind_mapped mapped = {
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.device = mapping->device,
		.inode = mapping->inode,
		.source = vdso__is_ours(mapping) ? UNWIND_SOURCE_VDSO : UNWIND_SOURCE_NONE,
	};

	unwind_path__set(mapped.path, mapping->path);
	return mapped;
}

static void look_at_mapping(struct unwind_mapped *mapped, const struct process *process,
			    const struct mapping *mapping)
{
	CLEANUP_CLOSE int fd = process__open_file(process, mapping);

	if (fd >= 0)
		(void)look_at_file(fd, mapped);
}

/*
 * Send a result first: the number of mappings, or a negative errno; then for each its device, which
 * may not answer, and all that is known of it.
 */
static void send_mappings(const void *context)
{
	const struct mappings_job *job = context;
	CLEANUP(process__release) struct process process = {0};
	int32_t result = process__read(&process, job->pid);

	if (result == 0)
		result = process.mappings.nr < UNWIND_MAPPINGS_MAX ? (int32_t)process.mappings.nr :
								     UNWIND_MAPPINGS_MAX;
	reader_child__write(&result, sizeof(result));
	for (int32_t i = 0; i < result; i++) {
		const struct mapping *mapping = &process.mappings.mappings[i];
		struct unwind_mapped mapped = without_file(mapping);

		reader_child__write(&mapped.device, sizeof(mapped.device));
		if (mapped.inode && !avoided_devices__has(job->avoided, mapped.device))
			look_at_mapping(&mapped, &process, mapping);
		reader_child__write(&mapped, sizeof(mapped));
	}
}

/* *device: the one that the child came to last. */
static int receive_mappings(struct reader_child *child, struct unwind_mapped **out,
			    uint64_t *device)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int32_t result;
	int err = reader_child__read(child, &result, sizeof(result));

	if (err || result < 0)
		return err ? err : result;
	mapped = calloc((size_t)result + 1, sizeof(*mapped));
	if (!mapped)
		return -ENOMEM;
	for (int32_t i = 0; i < result && !err; i++) {
		err = reader_child__read(child, device, sizeof(*device));
		if (!err)
			err = reader_child__read(child, &mapped[i], sizeof(mapped[i]));
	}
	if (err)
		return err;
	*out = TAKE_POINTER(mapped);
	return result;
}

int unwind_reader__mappings(pid_t pid, struct avoided_devices *avoided, int watches,
			    struct unwind_mapped **mapped)
{
	const struct mappings_job job = {.pid = pid, .avoided = avoided};

	for (;;) {
		uint64_t device = makedev(1, 0); /* none is touched before the first */
		struct reader_child child;
		int result = reader_child__start(&child, send_mappings, &job, watches);

		if (result)
			return result;
		result = receive_mappings(&child, mapped, &device);
		reader_child__stop(&child);
		if (result != -ETIMEDOUT || !avoided_devices__add(avoided, device))
			return result;
	}
}

/* ---- names of the kernel ---- */

struct identity_answer {
	int32_t result;
	uint32_t reserved;
	struct unwind_mapped mapped;
};

static int identify(struct unwind_mapped *mapped)
{
	const struct process nobody = {0};
	const struct mapping mapping = {
		.device = mapped->device, .inode = mapped->inode, .path = mapped->path};
	CLEANUP_CLOSE int fd = process__open_file(&nobody, &mapping);

	return fd < 0 ? fd : look_at_file(fd, mapped);
}

static void send_identity(const void *context)
{
	const struct unwind_mapped *mapped = context;
	struct identity_answer answer = {.mapped = *mapped};

	answer.result = identify(&answer.mapped);
	reader_child__write(&answer, sizeof(answer));
}

int unwind_reader__identify(struct unwind_mapped *mapped, struct avoided_devices *avoided,
			    int watches)
{
	struct identity_answer answer;
	struct reader_child child;
	int err = avoided_devices__has(avoided, mapped->device) ?
			  -ETIMEDOUT :
			  reader_child__start(&child, send_identity, mapped, watches);

	if (err)
		return err;
	err = reader_child__read(&child, &answer, sizeof(answer));
	reader_child__stop(&child);
	if (err == -ETIMEDOUT)
		(void)avoided_devices__add(avoided, mapped->device);
	if (err || answer.result)
		return err ? err : answer.result < 0 ? answer.result : -EPROTO;
	*mapped = answer.mapped;
	return 0;
}
