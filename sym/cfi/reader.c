// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/reader.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "sym/child/reader_child.h"
#include "sym/elf/needed.h"
#include "sym/find/library.h"
#include "sym/process/mounts.h"
#include "sym/process/passed_file.h"
#include "sym/process/process.h"
#include "sym/process/rooted.h"
#include "sym/process/vdso.h"
#include "sym/util/child.h"
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

static const struct child_role mapping_reader = {"mapping reader", DEBUG_LOG_FILES};

/* ---- files ---- */

/* The kernel's own form has 20 bits for the minor number. */
static uint64_t device_of(const struct mapped_file *file)
{
	return makedev(file->device >> 20, file->device & 0xfffff);
}

/* Of file systems with huge pages one would be taken, and they have no programs. */
static int identify(int fd, const struct unwind_identifier *identifier, struct mapped_file *file)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return -errno;
	return fs.f_type == HUGETLBFS_MAGIC ? -ENOTSUP : identifier->identify(fd, file);
}

static int look_at_file(int fd, const struct unwind_identifier *identifier,
			struct unwind_mapped *mapped)
{
	char magic[SELFMAG];
	int err = identify(fd, identifier, &mapped->file);

	if (!err)
		err = file_identity__read(&mapped->identity, fd);
	if (err)
		return err;
	mapped->source = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
					 !memcmp(magic, ELFMAG, sizeof(magic)) ?
				 UNWIND_SOURCE_FILE :
				 UNWIND_SOURCE_OTHER;
	return 0;
}

/* What a child has besides its pipe, as its descriptors from 1 on. */
struct child_fds {
	int fds[READER_CHILD_KEPT_MAX];
	size_t nr;
};
#define KEEPER_FD 3

static struct child_fds child_fds(const struct unwind_identifier *identifier,
				  const struct unwind_keeper *keeper)
{
	struct child_fds fds = {.fds = {identifier->fds[0], identifier->fds[1], keeper->socket},
				.nr = KEEPER_FD};

	if (!keeper->socket)
		fds.nr--;
	return fds;
}

/*
 * Whoever keeps a file will close it, which waits for the server of a file system in user space: of
 * those none is passed. Without room for it, it is opened again when it is needed.
 */
static void pass(int fd, const struct unwind_mapped *mapped, pid_t pid,
		 const struct unwind_keeper *keeper)
{
	const struct passed_file passed = {
		.device = mapped->device, .inode = mapped->inode, .pid = pid};
	struct statfs fs;

	if (!keeper->socket || mapped->source != UNWIND_SOURCE_FILE ||
	    keeper->has(keeper->context, &mapped->file) || fstatfs(fd, &fs) ||
	    fs.f_type == FUSE_SUPER_MAGIC)
		return;
	if (!passed_file__send(KEEPER_FD, &passed, fd))
		debug_log__say(DEBUG_LOG_FILES, "passes %s on", mapped->path);
}

/* ---- mappings ---- */

struct mappings_job {
	pid_t pid;
	/* In the place of a process: */
	const char *program; /* a path */
	const struct unwind_needs *needs;
	const struct unwind_look *looks;
	size_t nr_looks;
	const struct avoided_devices *avoided;
	const struct unwind_identifier *identifier;
	const struct unwind_keeper *keeper;
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
			    const struct mapping *mapping, const struct mappings_job *job)
{
	CLEANUP_CLOSE int fd = process__open_file(process, mapping);

	if (fd >= 0 && !look_at_file(fd, job->identifier, mapped))
		pass(fd, mapped, process->pid, job->keeper);
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
		/* The first shared memory of a system (SysV) has the inode 0. */
		if (mapped.device && !avoided_devices__has(job->avoided, mapped.device))
			look_at_mapping(&mapped, &process, mapping, job);
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

static void say_mapped(const struct mappings_job *job, const struct unwind_mapped *mapped,
		       int result)
{
	char whose[PATH_MAX];
	int nr_programs = 0;

	if (!debug_log__has(DEBUG_LOG_FILES))
		return;
	if (job->program || job->needs)
		snprintf(whose, sizeof(whose), "what %s needs",
			 job->program ? job->program : job->needs->path);
	else
		snprintf(whose, sizeof(whose), "executable mappings of %d", job->pid);
	for (int i = 0; i < result; i++)
		nr_programs += mapped[i].source == UNWIND_SOURCE_FILE;
	if (result < 0)
		debug_log__print(DEBUG_LOG_FILES, "%s: %s", whose, strerror(-result));
	else
		debug_log__print(DEBUG_LOG_FILES, "%s: %d, of which %d are programs", whose, result,
				 nr_programs);
}

/* Have children send mappings, until one does not come to a file system that does not answer. */
static int read_mapped(void (*send)(const void *job), const struct mappings_job *job,
		       struct avoided_devices *avoided, struct unwind_mapped **mapped)
{
	const struct child_fds fds = child_fds(job->identifier, job->keeper);

	for (;;) {
		uint64_t device = makedev(1, 0); /* none is touched before the first */
		struct reader_child child;
		int result =
			reader_child__start(&child, &mapping_reader, send, job, fds.fds, fds.nr);

		if (result)
			return result;
		result = receive_mappings(&child, mapped, &device);
		reader_child__stop(&child);
		say_mapped(job, *mapped, result);
		if (result != -ETIMEDOUT || !avoided_devices__add(avoided, device))
			return result;
	}
}

int unwind_reader__mappings(pid_t pid, struct avoided_devices *avoided,
			    const struct unwind_identifier *identifier,
			    const struct unwind_keeper *keeper, struct unwind_mapped **mapped)
{
	const struct mappings_job job = {
		.pid = pid, .avoided = avoided, .identifier = identifier, .keeper = keeper};

	return read_mapped(send_mappings, &job, avoided, mapped);
}

/* ---- files that nobody has mapped yet ---- */

/* As the kernel follows them: a script can have a script for its interpreter. */
#define SCRIPTS_MAX 4
#define SCRIPT_LINE 256 /* bytes of its first line that the kernel reads */

/* True if the file is a script; interpreter: the path in its first line. */
static bool is_script(int fd, char interpreter[SCRIPT_LINE])
{
	char line[SCRIPT_LINE + 1];
	ssize_t got = pread(fd, line, SCRIPT_LINE, 0);
	const char *path = line + 2;

	if (got < 2 || memcmp(line, "#!", 2))
		return false;
	line[got] = '\0';
	path += strspn(path, " \t");
	snprintf(interpreter, SCRIPT_LINE, "%.*s", (int)strcspn(path, " \t\r\n"), path);
	return interpreter[0];
}

static int open_program(const char *path)
{
	int fd = process__open_own_path(path);
	char interpreter[SCRIPT_LINE];

	for (int i = 0; i < SCRIPTS_MAX && fd >= 0 && is_script(fd, interpreter); i++) {
		close(fd);
		fd = process__open_own_path(interpreter);
	}
	return fd;
}

/* user: as far as the texts before have told. */
static int open_needed(char what, const char *text, struct library_user *user)
{
	switch (what) {
	case ELF_NEED_LOADER:
		return process__open_own_path(text);
	case ELF_NEED_RUN_PATH:
		user->run_path = text;
		return -ENOENT;
	case ELF_NEED_LIBRARY:
		return library__open(user, text);
	default:
		return -EPROTO;
	}
}

static struct unwind_mapped our_vdso(void)
{
	CLEANUP(process__release) struct process process = {0};

	if (!process__read(&process, getpid()))
		for (size_t i = 0; i < process.mappings.nr; i++)
			if (vdso__is_ours(&process.mappings.mappings[i]))
				return without_file(&process.mappings.mappings[i]);
	return (struct unwind_mapped){0};
}

static struct unwind_mapped look_at_needed(int fd, const struct mappings_job *job)
{
	struct unwind_mapped mapped = {0};
	char path[PATH_MAX];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || rooted__path(ROOTED_OURS, fd, path) ||
	    avoided_devices__has(job->avoided, st.st_dev) ||
	    look_at_file(fd, job->identifier, &mapped))
		return (struct unwind_mapped){0};
	mapped.device = st.st_dev;
	mapped.inode = st.st_ino;
	unwind_path__set(mapped.path, path);
	pass(fd, &mapped, 0, job->keeper);
	return mapped;
}

/* The device is known when the file is open: if that hangs, none is avoided from then on. */
static void send_one(const struct unwind_mapped *mapped)
{
	const uint64_t device = 0;

	reader_child__write(&device, sizeof(device));
	reader_child__write(mapped, sizeof(*mapped));
}

static void send_opened(int opened, const struct mappings_job *job)
{
	CLEANUP_CLOSE int fd = opened;
	const struct unwind_mapped mapped = look_at_needed(fd, job);

	send_one(&mapped);
}

static void send_needed(const void *context)
{
	const struct mappings_job *job = context;
	const struct unwind_needs *needs = job->needs;
	const char *text = needs->texts, *end = needs->texts + needs->size;
	struct library_user user = {.path = needs->path, .run_path = ""};
	int32_t result = 0;

	for (; text < end; text += strlen(text) + 1)
		result++;
	reader_child__write(&result, sizeof(result));
	for (text = needs->texts; text < end; text += strlen(text) + 1)
		send_opened(open_needed(text[0], text + 1, &user), job);
}

/* LD_PRELOAD: sonames or paths, as ld.so(8) separates them. */
#define PRELOAD_SEPARATORS ": "

static int32_t count_preloaded(const char *list)
{
	int32_t nr = 0;

	for (; *list; list += strcspn(list, PRELOAD_SEPARATORS)) {
		list += strspn(list, PRELOAD_SEPARATORS);
		nr += *list != '\0';
	}
	return nr;
}

static void send_program(const void *context)
{
	const struct mappings_job *job = context;
	const struct library_user user = {.path = job->program, .run_path = ""};
	const struct unwind_mapped vdso = our_vdso();
	const char *list = getenv("LD_PRELOAD");
	int32_t result = 2;

	list = list ? list : "";
	result += count_preloaded(list);
	reader_child__write(&result, sizeof(result));
	send_opened(open_program(job->program), job);
	send_one(&vdso);
	for (result -= 2; result; result--) {
		char name[PATH_MAX];

		list += strspn(list, PRELOAD_SEPARATORS);
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(list, PRELOAD_SEPARATORS), list);
		list += strcspn(list, PRELOAD_SEPARATORS);
		send_opened(library__open(&user, name), job);
	}
}

int unwind_reader__program(const char *path, struct avoided_devices *avoided,
			   const struct unwind_identifier *identifier,
			   const struct unwind_keeper *keeper, struct unwind_mapped **mapped)
{
	const struct mappings_job job = {
		.program = path, .avoided = avoided, .identifier = identifier, .keeper = keeper};

	return read_mapped(send_program, &job, avoided, mapped);
}

int unwind_reader__needed(const struct unwind_needs *needs, struct avoided_devices *avoided,
			  const struct unwind_identifier *identifier,
			  const struct unwind_keeper *keeper, struct unwind_mapped **mapped)
{
	const struct mappings_job job = {
		.needs = needs, .avoided = avoided, .identifier = identifier, .keeper = keeper};

	return read_mapped(send_needed, &job, avoided, mapped);
}

/* ---- files that walks have come to ---- */

/* Before the child touches a file system the parent is told. False: it is avoided. */
static bool may_touch(uint64_t device, const struct mappings_job *job)
{
	reader_child__write(&device, sizeof(device));
	return !avoided_devices__has(job->avoided, device);
}

/* What the process of the look has there now; *process: that of the look before. */
static struct unwind_mapped look_in_process(struct process *process, const struct unwind_look *look,
					    const struct mappings_job *job)
{
	const struct mapping *mapping;
	struct unwind_mapped mapped = {0};

	if (process->pid != look->pid) {
		process__release(process);
		*process = (struct process){0};
		(void)process__read(process, look->pid); /* of one that has ended it has none */
		process->pid = look->pid;
	}
	mapping = mapping_list__find(&process->mappings, look->start);
	if (mapping)
		mapped = without_file(mapping);
	/* The first shared memory of a system (SysV) has the inode 0. */
	if (may_touch(mapped.device, job) && mapped.device)
		look_at_mapping(&mapped, process, mapping, job);
	return mapped;
}

/* Also a file that is no program, and has been written to since. */
static bool is_looked_for(const struct unwind_mapped *mapped, const struct unwind_look *look)
{
	struct mapped_file wanted, found;

	if (mapped->source != UNWIND_SOURCE_OTHER)
		return mapped->source != UNWIND_SOURCE_NONE &&
		       !memcmp(&mapped->file, &look->file, sizeof(look->file));
	mapped_file__set_at_any_time(&wanted, &look->file);
	mapped_file__set_at_any_time(&found, &mapped->file);
	return !memcmp(&wanted, &found, sizeof(wanted));
}

/* False if the wanted file is not there; then *mapped is as before. */
static bool look_at_path(const char *path, const struct unwind_look *look,
			 const struct mappings_job *job, struct unwind_mapped *mapped)
{
	struct stat st;
	CLEANUP_CLOSE int fd = rooted__open(ROOTED_OURS, path, &st);
	struct unwind_mapped found = {0};

	if (fd < 0 || look_at_file(fd, job->identifier, &found) ||
	    memcmp(&found.file, &look->file, sizeof(found.file)))
		return false;
	found.device = st.st_dev;
	found.inode = st.st_ino;
	unwind_path__set(found.path, path);
	pass(fd, &found, 0, job->keeper);
	*mapped = found;
	return true;
}

/*
 * On a mount of overlayfs the place can be that on the file system below, behind the directory that
 * is a layer; before Linux 6.8 it is that in the overlay. After chroot() it is behind our root.
 */
static bool look_in_mount(const struct mount *mount, const struct unwind_look *look,
			  const struct mappings_job *job, struct unwind_mapped *mapped)
{
	const char *place = look->place;
	char path[PATH_MAX];
	bool found = false;

	for (; place && !found; place = mount->is_deeper ? strchr(place + 1, '/') : NULL)
		found = mount__path(mount, place, path) && look_at_path(path, look, job, mapped);
	return found;
}

/* The mounts of a device, as of sym/process/mounts.h. */
struct device_mounts {
	dev_t device; /* 0: none yet */
	struct mounts mounts;
};

/* *known: those of the look before, which is mostly of the same device. */
static const struct mounts *mounts_of(dev_t device, struct device_mounts *known)
{
	if (known->device != device) {
		mounts__release(&known->mounts);
		known->device = mounts__read(&known->mounts, device) ? 0 : device;
	}
	return known->device == device ? &known->mounts : NULL;
}

static void look_where_mounted(const struct unwind_look *look, const struct mappings_job *job,
			       struct device_mounts *known, struct unwind_mapped *mapped)
{
	const struct mounts *mounts =
		look->place[0] ? mounts_of(device_of(&look->file), known) : NULL;

	for (size_t i = 0; mounts && i < mounts->nr; i++)
		if (look_in_mount(&mounts->items[i], look, job, mapped))
			return;
}

/* For each two devices that may not answer, then what is there. */
static void send_looks(const void *context)
{
	const struct mappings_job *job = context;
	CLEANUP(process__release) struct process process = {0};
	struct device_mounts known = {0};

	for (size_t i = 0; i < job->nr_looks; i++) {
		const struct unwind_look *look = &job->looks[i];
		struct unwind_mapped mapped = look_in_process(&process, look, job);

		if (may_touch(device_of(&look->file), job) && !is_looked_for(&mapped, look))
			look_where_mounted(look, job, &known, &mapped);
		reader_child__write(&mapped, sizeof(mapped));
	}
	mounts__release(&known.mounts);
}

/* *nr: how many have come; *device: the one that the child came to last. */
static int receive_looks(struct reader_child *child, struct unwind_look *looks, size_t nr_looks,
			 size_t *nr, uint64_t *device)
{
	for (; *nr < nr_looks; ++*nr) {
		int err = reader_child__read(child, device, sizeof(*device));

		if (!err)
			err = reader_child__read(child, device, sizeof(*device));
		if (!err)
			err = reader_child__read(child, &looks[*nr].mapped,
						 sizeof(looks[*nr].mapped));
		if (err)
			return err;
	}
	return 0;
}

int unwind_reader__look(struct unwind_look *looks, size_t nr, struct avoided_devices *avoided,
			const struct unwind_identifier *identifier,
			const struct unwind_keeper *keeper)
{
	const struct child_fds fds = child_fds(identifier, keeper);
	size_t done = 0;
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		looks[i].mapped = (struct unwind_mapped){0};
	while (done < nr) {
		const struct mappings_job job = {.looks = looks + done,
						 .nr_looks = nr - done,
						 .avoided = avoided,
						 .identifier = identifier,
						 .keeper = keeper};
		uint64_t device = 0;
		struct reader_child child;

		err = reader_child__start(&child, &mapping_reader, send_looks, &job, fds.fds,
					  fds.nr);
		if (err)
			break;
		err = receive_looks(&child, looks, nr, &done, &device);
		reader_child__stop(&child);
		/* It has found nothing, whatever the reason. */
		if (err && (err != -ETIMEDOUT || !avoided_devices__add(avoided, device))) {
			done++;
			break;
		}
	}
	debug_log__say(DEBUG_LOG_FILES, "looked for %zu of %zu files%s%s", done, nr,
		       err ? ": " : "", err ? strerror(-err) : "");
	return done ? (int)done : err;
}
