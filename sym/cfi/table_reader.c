// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/table_reader.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "sym/cfi/reader.h"
#include "sym/cfi/rules.h"
#include "sym/cfi/table.h"
#include "sym/child/reader_child.h"
#include "sym/child/sandbox.h"
#include "sym/elf/file.h"
#include "sym/elf/needed.h"
#include "sym/process/process.h"
#include "sym/process/vdso.h"
#include "sym/util/array.h"
#include "sym/util/child.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"

/* Limits of a child without privileges. The largest files need a tenth. */
#define CPU_SECONDS 4
#define MEMORY	    ((uint64_t)1024 * 1024 * 1024)
#define TABLE_WORK  ((uint64_t)64 * 1024 * 1024)

static const struct child_role role = {"table reader", DEBUG_LOG_TABLES};

struct job {
	pid_t pid, parent;
	const struct unwind_mapped *mapped;
};

/*
 * Sent first; then what the file needs, the rules, and for each page the number of rows and the
 * rows; but only what it needs if there is no table.
 */
struct header {
	int32_t result;
	uint32_t needs_size;
	uint32_t nr_rules, nr_pages;
	uint64_t start, nr_rows;
};

/* ---- in the child ---- */

static bool is_there(const struct process *process, const struct unwind_mapped *mapped,
		     struct mapping *mapping)
{
	const struct mapping *found = mapping_list__find(&process->mappings, mapped->start);

	if (!found || found->device != mapped->device || found->inode != mapped->inode)
		return false;
	*mapping = *found;
	return true;
}

/* Open the file as the process has it, or by its path when the process has gone. */
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
	struct file_identity identity = {0};
	int err;

	if (fd < 0 || job->mapped->source == UNWIND_SOURCE_VDSO)
		return TAKE_FD(fd);
	err = file_identity__read(&identity, fd);
	if (err)
		return err;
	return file_identity__has_content_of(&identity, &job->mapped->identity) ? TAKE_FD(fd) :
										  -ESTALE;
}

/* The texts of struct unwind_sink. */
struct needs {
	char texts[UNWIND_NEEDS_MAX];
	size_t size;
};

/* What has no room is left out: its table is loaded when a walk comes to it. */
static bool add_need(void *context, enum elf_need what, const char *text)
{
	struct needs *needs = context;
	size_t size = strlen(text) + 1, room = sizeof(needs->texts) - needs->size;

	if (size >= room)
		return true;
	needs->texts[needs->size++] = (char)what;
	memcpy(needs->texts + needs->size, text, size);
	needs->size += size;
	return false;
}

static void send_failure(int err)
{
	const struct header header = {.result = err};

	reader_child__write(&header, sizeof(header));
	_exit(0);
}

static void send_pages(const struct unwind_table *table)
{
	for (size_t i = 0; i < table->nr_pages; i++) {
		const struct unwind_table_page *page = &table->pages[i];

		reader_child__write(&page->nr, sizeof(page->nr));
		reader_child__write(table->rows + page->first, page->nr * sizeof(*table->rows));
	}
}

/* The file is descriptor 1 now; only the pipe is open beside it. */
static void send_read_table(int fd)
{
	CLEANUP(unwind_table__release) struct unwind_table table = {0};
	CLEANUP(unwind_rules__release) struct unwind_rules rules = {0};
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	static struct needs needs;
	struct header header = {0};
	uint64_t work = TABLE_WORK;
	int err = elf_file__open(&elf, fd);

	if (err)
		send_failure(err);
	(void)elf_needed__each(&elf, add_need, &needs);
	err = unwind_rules__init(&rules);
	if (!err)
		err = unwind_table__read(&table, &rules, &elf, &work);
	header.result = err;
	header.needs_size = (uint32_t)needs.size;
	header.start = table.start;
	header.nr_rows = table.nr_rows;
	header.nr_rules = (uint32_t)rules.nr;
	header.nr_pages = (uint32_t)table.nr_pages;
	reader_child__write(&header, sizeof(header));
	reader_child__write(needs.texts, needs.size);
	if (err)
		return;
	reader_child__write(rules.items, rules.nr * sizeof(*rules.items));
	send_pages(&table);
}

static void send_table(const void *context)
{
	const struct job *job = context;
	int fd = open_same(job), fds[] = {0, fd}, err;
	struct sandbox sandbox = {
		.parent = job->parent,
		.fds = fds,
		.nr_fds = ARRAY_SIZE(fds),
		.memory = MEMORY,
		.cpu_seconds = CPU_SECONDS,
	};

	/* -ENOENT would be about a file's content: a missing file is -ESTALE. */
	if (fd < 0)
		send_failure(fd == -ENOENT ? -ESTALE : fd);
	err = sandbox__enter(&sandbox);
	if (err)
		send_failure(err);
	send_read_table(fds[1]);
}

/* ---- in the parent ---- */

/* True if the lower bits of rows ascend from 0, and each rule is one that came before. */
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

static int receive_pages(struct reader_child *child, const struct header *header,
			 const struct unwind_sink *sink)
{
	CLEANUP_FREE uint32_t *rows = malloc(PAGE_ROWS_MAX * sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	for (uint32_t page = 0; page < header->nr_pages && !err; page++) {
		uint32_t nr;

		err = reader_child__read(child, &nr, sizeof(nr));
		if (!err && nr > PAGE_ROWS_MAX)
			err = -EPROTO;
		if (!err)
			err = reader_child__read(child, rows, nr * sizeof(*rows));
		if (!err && !rows_are_sound(rows, nr, header->nr_rules))
			err = -EPROTO;
		if (!err && nr)
			err = sink->page(sink->context, page, rows, nr);
	}
	return err;
}

static int receive_needs(struct reader_child *child, uint32_t size, const struct unwind_sink *sink)
{
	char texts[UNWIND_NEEDS_MAX];
	int err;

	if (!size)
		return 0;
	if (size > sizeof(texts))
		return -EPROTO;
	err = reader_child__read(child, texts, size);
	if (!err && texts[size - 1])
		err = -EPROTO;
	return !err && sink->needs ? sink->needs(sink->context, texts, size) : err;
}

/* *head: as it was sent, but its rules are the sink's alone. */
static int receive_table(struct reader_child *child, const struct unwind_sink *sink,
			 struct unwind_table_head *head)
{
	CLEANUP_FREE struct unwind_rule *rules = NULL;
	struct header header;
	int err = reader_child__read(child, &header, sizeof(header));

	if (!err)
		err = receive_needs(child, header.needs_size, sink);
	if (err || header.result)
		return err ? err : header.result < 0 ? header.result : -EPROTO;
	if (header.nr_rules > UNWIND_RULES || header.nr_pages > UNWIND_TABLE_PAGES_MAX ||
	    header.nr_rows > UNWIND_TABLE_ROWS_MAX || unwind_low(header.start))
		return -EPROTO;
	rules = calloc(header.nr_rules + 1, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	err = reader_child__read(child, rules, header.nr_rules * sizeof(*rules));
	*head = (struct unwind_table_head){
		.start = header.start,
		.nr_rows = header.nr_rows,
		.nr_pages = header.nr_pages,
		.nr_rules = header.nr_rules,
		.rules = rules,
	};
	if (!err)
		err = sink->begin(sink->context, head);
	head->rules = NULL;
	return err ? err : receive_pages(child, &header, sink);
}

struct unwind_table_reader {
	struct reader_child child;
	struct avoided_devices *avoided;
	uint64_t device, began;
	char path[UNWIND_PATH_MAX];
	int err; /* why it is given up, or 0 */
};

int unwind_table_reader__start(struct unwind_table_reader **out, pid_t pid,
			       const struct unwind_mapped *mapped, struct avoided_devices *avoided)
{
	const struct job job = {.pid = pid, .parent = getpid(), .mapped = mapped};
	struct unwind_table_reader *reader;
	int err;

	if (avoided_devices__has(avoided, mapped->device))
		return -ETIMEDOUT;
	reader = malloc(sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->avoided = avoided;
	reader->device = mapped->device;
	reader->err = 0;
	reader->began = monotonic_now();
	memcpy(reader->path, mapped->path, sizeof(reader->path));
	err = reader_child__start(&reader->child, &role, send_table, &job, NULL, 0);
	if (err)
		free(reader);
	else
		*out = reader;
	return err;
}

bool unwind_table_reader__is_ready(struct unwind_table_reader *reader)
{
	int ready = reader->err ? reader->err : reader_child__look(&reader->child);

	if (ready < 0)
		reader->err = ready;
	return ready != 0;
}

struct pollfd unwind_table_reader__poll(const struct unwind_table_reader *reader)
{
	return (struct pollfd){.fd = reader->child.fd, .events = POLLIN};
}

const char *unwind_table_reader__text(int err)
{
	switch (err) {
	case -ENOENT:
		return "it has no call-frame information";
	case -ENOEXEC:
		return "it is no program";
	case -ENOTSUP:
		return "it is of another processor, or 32-bit";
	case -ESTALE:
		return "it is gone, or another file by now";
	case -ETIMEDOUT:
		return "it does not answer";
	case -ETIME:
		return "it takes too long";
	case -EPIPE:
		return "its reader has ended before it was done";
	case -EPROTO:
		return "its reader has sent nonsense";
	default:
		return strerror(-err);
	}
}

static void say_table(const struct unwind_table_reader *reader,
		      const struct unwind_table_head *head, int err)
{
	double ms = (double)(monotonic_now() - reader->began) / (NANOSECONDS / 1000);

	if (err)
		debug_log__say(DEBUG_LOG_TABLES, "%s has no table after %.1f ms: %s", reader->path,
			       ms, unwind_table_reader__text(err));
	else
		debug_log__say(DEBUG_LOG_TABLES,
			       "%s has %" PRIu64 " rows and %" PRIu32 " rules, loaded in %.1f ms",
			       reader->path, head->nr_rows, head->nr_rules, ms);
}

int unwind_table_reader__finish(struct unwind_table_reader *reader, const struct unwind_sink *sink)
{
	struct unwind_table_head head;
	int err = reader->err;

	if (!err)
		err = receive_table(&reader->child, sink, &head);
	reader_child__stop(&reader->child);
	say_table(reader, &head, err);
	if (err == -ETIMEDOUT)
		(void)avoided_devices__add(reader->avoided, reader->device);
	free(reader);
	return err;
}
