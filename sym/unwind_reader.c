// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/unwind_reader.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "bpf/abi.h"
#include "core/util/cleanup.h"
#include "core/util/hash.h"
#include "sym/file_identity.h"
#include "sym/process.h"
#include "sym/reader_child.h"
#include "sym/vdso.h"

void unwind_path__set(char path[UNWIND_PATH_MAX], const char *whole)
{
	size_t length = strlen(whole);

	memset(path, 0, UNWIND_PATH_MAX);
	if (length < UNWIND_PATH_MAX)
		memcpy(path, whole, length);
	else
		snprintf(path, UNWIND_PATH_MAX, "#%016llx", (unsigned long long)hash__text(whole));
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

/* ---- mappings ---- */

struct mappings_job {
	pid_t pid;
	const struct avoided_devices *avoided;
};

/* Of the file at fd; returns 0 or a negative errno. */
static int read_generation(int fd, uint32_t *generation)
{
	int version;

	if (ioctl(fd, FS_IOC_GETVERSION, &version))
		return -errno;
	*generation = (uint32_t)version;
	return 0;
}

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

static void look_at_file(struct unwind_mapped *mapped, const struct process *process,
			 const struct mapping *mapping)
{
	CLEANUP_CLOSE int fd = process__open_file(process, mapping);

	if (fd < 0 || unwind_identity__read(&mapped->identity, fd))
		return;
	mapped->source = UNWIND_SOURCE_FILE;
	mapped->has_generation = read_generation(fd, &mapped->generation) == 0;
}

/*
 * First a result, how many there are or a negative errno; then of each the device, which may not
 * answer, and what is known of it.
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
			look_at_file(&mapped, &process, mapping);
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

int unwind_reader__mappings(pid_t pid, struct avoided_devices *avoided,
			    struct unwind_mapped **mapped)
{
	const struct mappings_job job = {.pid = pid, .avoided = avoided};

	for (;;) {
		uint64_t device = makedev(1, 0); /* none is touched before the first */
		struct reader_child child;
		int result = reader_child__start(&child, send_mappings, &job);

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
	struct unwind_identity identity;
};

static int identify(const struct unwind_mapped *mapped, struct unwind_identity *identity)
{
	const struct process nobody = {0};
	const struct mapping mapping = {
		.device = mapped->device, .inode = mapped->inode, .path = mapped->path};
	CLEANUP_CLOSE int fd = process__open_file(&nobody, &mapping);
	uint32_t generation = 0;
	int err;

	if (fd < 0)
		return fd;
	err = read_generation(fd, &generation);
	if (err)
		return err;
	return generation == mapped->generation ? unwind_identity__read(identity, fd) : -ESTALE;
}

static void send_identity(const void *mapped)
{
	struct identity_answer answer = {0};

	answer.result = identify(mapped, &answer.identity);
	reader_child__write(&answer, sizeof(answer));
}

int unwind_reader__identify(struct unwind_mapped *mapped, struct avoided_devices *avoided)
{
	struct identity_answer answer;
	struct reader_child child;
	int err = avoided_devices__has(avoided, mapped->device) ?
			  -ETIMEDOUT :
			  reader_child__start(&child, send_identity, mapped);

	if (err)
		return err;
	err = reader_child__read(&child, &answer, sizeof(answer));
	reader_child__stop(&child);
	if (err == -ETIMEDOUT)
		(void)avoided_devices__add(avoided, mapped->device);
	if (err || answer.result)
		return err ? err : answer.result < 0 ? answer.result : -EPROTO;
	mapped->identity = answer.identity;
	mapped->source = UNWIND_SOURCE_FILE;
	return 0;
}
