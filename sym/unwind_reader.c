// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/unwind_reader.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/util/array.h"
#include "core/util/child.h"
#include "core/util/cleanup.h"
#include "core/util/clock.h"
#include "core/util/descriptors.h"
#include "core/util/hash.h"
#include "sym/elf_symbols.h"
#include "sym/file_identity.h"
#include "sym/patience.h"
#include "sym/process.h"
#include "sym/sandbox.h"
#include "sym/unwind_table.h"
#include "sym/vdso.h"

/* For what a child does without privileges. The largest files that there are need a tenth. */
#define CPU_SECONDS  4
#define MEMORY	     ((uint64_t)1024 * 1024 * 1024)
#define TABLE_WORK   ((uint64_t)64 * 1024 * 1024)
#define PIPE_SIZE    (1024 * 1024)
#define ALL_MS	     8000
#define KILL_WAIT_MS 100

void unwind_path__set(char path[UNWIND_PATH_MAX], const char *whole)
{
	size_t length = strlen(whole);

	memset(path, 0, UNWIND_PATH_MAX);
	if (length < UNWIND_PATH_MAX)
		memcpy(path, whole, length);
	else
		snprintf(path, UNWIND_PATH_MAX, "#%016llx", (unsigned long long)hash__text(whole));
}

/* ---- children ---- */

struct child {
	pid_t pid;
	int fd; /* what it writes */
	uint64_t deadline;
	unsigned char bytes[16 * 1024]; /* read, and not taken yet */
	size_t nr, next;
};

#define OWN_MAX 256

static pid_t own[OWN_MAX];
static size_t nr_own;

bool unwind_reader__is_own(pid_t pid)
{
	for (size_t i = 0; i < OWN_MAX; i++)
		if (own[i] == pid)
			return true;
	return false;
}

/* In the child: it writes to descriptor 0, and has no other one. */
static void become_child(int out)
{
	child__begin();
	signal(SIGPIPE, SIG_DFL); /* nobody reads any more: it ends */
	if (descriptors__keep_one(out))
		_exit(1);
}

static void write_all(const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t written = write(0, (const char *)bytes + done, size - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			_exit(1);
		done += (size_t)written;
	}
}

struct job {
	pid_t pid, parent;
	const struct unwind_mapped *mapped;
	const struct unwind_avoided *avoided;
};

static bool is_avoided(const struct unwind_avoided *avoided, uint64_t device)
{
	for (size_t i = 0; i < avoided->nr; i++)
		if (avoided->devices[i] == device)
			return true;
	return avoided->nr == UNWIND_AVOIDED_MAX;
}

/*
 * A disk may be slow: no user can make one hang; and what has no device is no file's. Returns
 * whether it is new.
 */
static bool avoid(struct unwind_avoided *avoided, uint64_t device)
{
	if (major(device) || !device || is_avoided(avoided, device))
		return false;
	avoided->devices[avoided->nr++] = device;
	return true;
}

static int start(struct child *child, void (*run)(const struct job *job), const struct job *job)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	(void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE); /* else it is a little slower */
	child->pid = fork();
	if (child->pid == 0) {
		become_child(fds[1]);
		run(job);
		_exit(0);
	}
	own[nr_own++ % OWN_MAX] = child->pid;
	child->fd = fds[0];
	child->nr = child->next = 0;
	child->deadline = monotonic_now() + ALL_MS * 1000000ULL;
	close(fds[1]);
	if (child->pid < 0) {
		int err = -errno;

		close(fds[0]);
		return err;
	}
	return 0;
}

/* One that does not end is left alone: it waits for a file, and has nothing else open. */
static void stop(struct child *child)
{
	close(child->fd);
	(void)patience__kill(child->pid, KILL_WAIT_MS);
}

/*
 * Returns 0 when there is something to read, or the end; -ETIMEDOUT if the child waits for what
 * does not answer; -ETIME if it computes for too long.
 */
static int await(const struct child *child)
{
	struct pollfd readable = {.fd = child->fd, .events = POLLIN};

	while (monotonic_now() < child->deadline) {
		int ready = poll(&readable, 1, PATIENCE_MS);

		if (ready > 0)
			return 0;
		if (ready == 0 && !patience__is_runnable(child->pid))
			return -ETIMEDOUT;
	}
	return -ETIME;
}

/* Returns 0, -EPIPE if the child ended before, or as await(). */
static int read_some(struct child *child)
{
	ssize_t got;
	int err = await(child);

	if (err)
		return err;
	got = read(child->fd, child->bytes, sizeof(child->bytes));
	if (got < 0 && errno == EINTR)
		return 0;
	if (got <= 0)
		return -EPIPE;
	child->nr = (size_t)got;
	child->next = 0;
	return 0;
}

/* The same. */
static int read_all(struct child *child, void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		size_t there = child->nr - child->next;
		size_t taken = there < size - done ? there : size - done;
		int err = there ? 0 : read_some(child);

		if (err)
			return err;
		memcpy((char *)bytes + done, child->bytes + child->next, taken);
		child->next += taken;
		done += taken;
	}
	return 0;
}

/* ---- mappings ---- */

/* Of the file at fd; returns 0 or a negative errno. */
static int read_identity(int fd, struct unwind_identity *identity)
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

/* The same. */
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

	if (fd < 0 || read_identity(fd, &mapped->identity))
		return;
	mapped->source = UNWIND_SOURCE_FILE;
	mapped->has_generation = read_generation(fd, &mapped->generation) == 0;
}

/*
 * First a result, how many there are or a negative errno; then of each the device, which may not
 * answer, and what is known of it.
 */
static void send_mappings(const struct job *job)
{
	CLEANUP(process__release) struct process process = {0};
	int32_t result = process__read(&process, job->pid);

	if (result == 0)
		result = process.mappings.nr < UNWIND_MAPPINGS_MAX ? (int32_t)process.mappings.nr :
								     UNWIND_MAPPINGS_MAX;
	write_all(&result, sizeof(result));
	for (int32_t i = 0; i < result; i++) {
		const struct mapping *mapping = &process.mappings.mappings[i];
		struct unwind_mapped mapped = without_file(mapping);

		write_all(&mapped.device, sizeof(mapped.device));
		if (mapped.inode && !is_avoided(job->avoided, mapped.device))
			look_at_file(&mapped, &process, mapping);
		write_all(&mapped, sizeof(mapped));
	}
}

/* *device: the one that the child came to last. */
static int receive_mappings(struct child *child, struct unwind_mapped **out, uint64_t *device)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int32_t result;
	int err = read_all(child, &result, sizeof(result));

	if (err || result < 0)
		return err ? err : result;
	mapped = calloc((size_t)result + 1, sizeof(*mapped));
	if (!mapped)
		return -ENOMEM;
	for (int32_t i = 0; i < result && !err; i++) {
		err = read_all(child, device, sizeof(*device));
		if (!err)
			err = read_all(child, &mapped[i], sizeof(mapped[i]));
	}
	if (err)
		return err;
	*out = TAKE_POINTER(mapped);
	return result;
}

int unwind_reader__mappings(pid_t pid, struct unwind_avoided *avoided,
			    struct unwind_mapped **mapped)
{
	const struct job job = {.pid = pid, .parent = getpid(), .avoided = avoided};

	for (;;) {
		uint64_t device = makedev(1, 0); /* none is touched before the first */
		struct child child;
		int result = start(&child, send_mappings, &job);

		if (result)
			return result;
		result = receive_mappings(&child, mapped, &device);
		stop(&child);
		if (result != -ETIMEDOUT || !avoid(avoided, device))
			return result;
	}
}

/* ---- names of the kernel ---- */

struct identity_answer {
	int32_t result;
	uint32_t reserved;
	struct unwind_identity identity;
};

static int identify(const struct job *job, struct unwind_identity *identity)
{
	const struct unwind_mapped *mapped = job->mapped;
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
	return generation == mapped->generation ? read_identity(fd, identity) : -ESTALE;
}

static void send_identity(const struct job *job)
{
	struct identity_answer answer = {0};

	answer.result = identify(job, &answer.identity);
	write_all(&answer, sizeof(answer));
}

int unwind_reader__identify(struct unwind_mapped *mapped, struct unwind_avoided *avoided)
{
	const struct job job = {.parent = getpid(), .mapped = mapped};
	struct identity_answer answer;
	struct child child;
	int err = is_avoided(avoided, mapped->device) ? -ETIMEDOUT :
							start(&child, send_identity, &job);

	if (err)
		return err;
	err = read_all(&child, &answer, sizeof(answer));
	stop(&child);
	if (err == -ETIMEDOUT)
		(void)avoid(avoided, mapped->device);
	if (err || answer.result)
		return err ? err : answer.result < 0 ? answer.result : -EPROTO;
	mapped->identity = answer.identity;
	mapped->source = UNWIND_SOURCE_FILE;
	return 0;
}

/* ---- tables ---- */

/* What comes first; then the segments, the rules, and of each page a number and its rows. */
struct table_header {
	int32_t result;
	uint32_t nr_segments, nr_rules, nr_pages;
	uint64_t start;
};

static bool is_there(const struct process *process, const struct unwind_mapped *mapped,
		     struct mapping *mapping)
{
	const struct mapping *found = mapping_list__find(&process->mappings, mapped->start);

	if (!found || found->device != mapped->device || found->inode != mapped->inode)
		return false;
	*mapping = *found;
	return true;
}

/* As the process has it, or, when it has gone, by its path. */
static int open_mapped(const struct job *job)
{
	CLEANUP(process__release) struct process process = {0};
	const struct unwind_mapped *mapped = job->mapped;
	const struct process nobody = {0};
	struct mapping mapping = {.start = mapped->start,
				  .end = mapped->end,
				  .offset = mapped->offset,
				  .device = mapped->device,
				  .inode = mapped->inode,
				  .path = mapped->path};
	int fd = -ESRCH;

	if (mapped->source == UNWIND_SOURCE_VDSO)
		return vdso__open();
	if (process__read(&process, job->pid) == 0 && is_there(&process, mapped, &mapping))
		fd = process__open_file(&process, &mapping);
	return fd >= 0 ? fd : process__open_file(&nobody, &mapping);
}

static int open_same(const struct job *job)
{
	CLEANUP_CLOSE int fd = open_mapped(job);
	struct unwind_identity identity;
	int err;

	if (fd < 0 || job->mapped->source == UNWIND_SOURCE_VDSO)
		return TAKE_FD(fd);
	err = read_identity(fd, &identity);
	if (err)
		return err;
	return memcmp(&identity, &job->mapped->identity, sizeof(identity)) ? -ESTALE : TAKE_FD(fd);
}

static void send_failure(int err)
{
	const struct table_header header = {.result = err};

	write_all(&header, sizeof(header));
	_exit(0);
}

static void send_segments(const struct elf_symbols *elf, uint32_t nr)
{
	for (size_t i = 0; i < elf->nr_segments && nr; i++) {
		const struct elf_segment *segment = &elf->segments[i];
		const struct unwind_segment sent = {.offset = segment->offset,
						    .size = segment->size,
						    .address = segment->address};

		if (!(segment->flags & PF_X))
			continue;
		write_all(&sent, sizeof(sent));
		nr--;
	}
}

static uint32_t count_segments(const struct elf_symbols *elf)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < elf->nr_segments; i++)
		nr += (elf->segments[i].flags & PF_X) != 0;
	return nr < UNWIND_SEGMENTS_MAX ? nr : UNWIND_SEGMENTS_MAX;
}

static void send_pages(const struct unwind_table *table)
{
	for (size_t i = 0; i < table->nr_pages; i++) {
		const struct unwind_table_page *page = &table->pages[i];

		write_all(&page->nr, sizeof(page->nr));
		write_all(table->rows + page->first, page->nr * sizeof(*table->rows));
	}
}

/* The file is descriptor 1 now, and all that there is beside the pipe. */
static void send_read_table(int fd)
{
	CLEANUP(unwind_table__release) struct unwind_table table = {0};
	CLEANUP(unwind_rules__release) struct unwind_rules rules = {0};
	CLEANUP(elf_symbols__close) struct elf_symbols elf = {.fd = -1};
	struct table_header header = {0};
	uint64_t work = TABLE_WORK;
	int err = elf_symbols__open(&elf, fd);

	if (!err)
		err = unwind_rules__init(&rules);
	if (!err)
		err = unwind_table__read(&table, &rules, &elf, &work);
	if (err)
		send_failure(err);
	header.start = table.start;
	header.nr_segments = count_segments(&elf);
	header.nr_rules = (uint32_t)rules.nr;
	header.nr_pages = (uint32_t)table.nr_pages;
	write_all(&header, sizeof(header));
	send_segments(&elf, header.nr_segments);
	write_all(rules.items, rules.nr * sizeof(*rules.items));
	send_pages(&table);
}

static void send_table(const struct job *job)
{
	int fd = open_same(job), fds[] = {0, fd}, err;
	struct sandbox sandbox = {
		.parent = job->parent,
		.fds = fds,
		.nr_fds = ARRAY_SIZE(fds),
		.memory = MEMORY,
		.cpu_seconds = CPU_SECONDS,
	};

	/* That there is no file says nothing about what is in it. */
	if (fd < 0)
		send_failure(fd == -ENOENT ? -ESTALE : fd);
	err = sandbox__enter(&sandbox);
	if (err)
		send_failure(err);
	send_read_table(fds[1]);
}

/* Its lower bits grow; a rule is one of those that came before. */
static bool rows_are_sound(const uint32_t *rows, uint32_t nr, uint32_t nr_rules)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t low = unwind_row_low(rows[i]);
		uint32_t before = i ? unwind_row_low(rows[i - 1]) : 0;

		if (unwind_row_rule(rows[i]) >= nr_rules || (i ? low <= before : low))
			return false;
	}
	return true;
}

#define PAGE_ROWS_MAX (1U << UNWIND_PAGE_BITS)

static int receive_pages(struct child *child, const struct table_header *header,
			 const struct unwind_sink *sink)
{
	CLEANUP_FREE uint32_t *rows = malloc(PAGE_ROWS_MAX * sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t page = 0; page < header->nr_pages && !err; page++) {
		uint32_t nr;

		err = read_all(child, &nr, sizeof(nr));
		if (!err && nr > PAGE_ROWS_MAX)
			err = -EPROTO;
		if (!err)
			err = read_all(child, rows, nr * sizeof(*rows));
		if (!err && !rows_are_sound(rows, nr, header->nr_rules))
			err = -EPROTO;
		if (!err && nr)
			err = sink->page(sink->context, page, rows, nr);
	}
	return err;
}

static int receive_table(struct child *child, struct unwind_file *file,
			 const struct unwind_sink *sink)
{
	CLEANUP_FREE struct unwind_rule *rules = NULL;
	struct table_header header;
	int err = read_all(child, &header, sizeof(header));

	if (err || header.result)
		return err ? err : header.result < 0 ? header.result : -EPROTO;
	if (header.nr_segments > UNWIND_SEGMENTS_MAX || header.nr_rules > UNWIND_RULES ||
	    header.nr_pages > UNWIND_TABLE_PAGES_MAX || unwind_low(header.start))
		return -EPROTO;
	rules = calloc(header.nr_rules + 1, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	file->nr_segments = header.nr_segments;
	err = read_all(child, file->segments, header.nr_segments * sizeof(file->segments[0]));
	if (!err)
		err = read_all(child, rules, header.nr_rules * sizeof(*rules));
	if (!err)
		err = sink->begin(sink->context, header.start, header.nr_pages, rules,
				  header.nr_rules);
	return err ? err : receive_pages(child, &header, sink);
}

struct unwind_reading {
	struct child child;
	struct unwind_avoided *avoided;
	uint64_t device;
};

int unwind_reader__start(struct unwind_reading **out, pid_t pid, const struct unwind_mapped *mapped,
			 struct unwind_avoided *avoided)
{
	const struct job job = {.pid = pid, .parent = getpid(), .mapped = mapped};
	struct unwind_reading *reading;
	int err;

	if (is_avoided(avoided, mapped->device))
		return -ETIMEDOUT;
	reading = malloc(sizeof(*reading));
	if (!reading)
		return -ENOMEM;
	reading->avoided = avoided;
	reading->device = mapped->device;
	err = start(&reading->child, send_table, &job);
	if (err)
		free(reading);
	else
		*out = reading;
	return err;
}

int unwind_reader__finish(struct unwind_reading *reading, struct unwind_file *file,
			  const struct unwind_sink *sink)
{
	int err;

	/* Until now nobody waited for it. */
	reading->child.deadline = monotonic_now() + ALL_MS * 1000000ULL;
	err = receive_table(&reading->child, file, sink);
	stop(&reading->child);
	if (err == -ETIMEDOUT)
		(void)avoid(reading->avoided, reading->device);
	free(reading);
	return err;
}
