// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/history/records.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/circular.h"
#include "core/kernel/cpus.h"
#include "core/options/pid_list.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/page.h"

/* Of each CPU, a power of two: some hundred program starts. */
#define BUFFER_SIZE ((size_t)4 * PROCESS_RECORDS_MUCH)

/* Taken at most, while nobody uses them: then they are left to be lost in the buffers. */
#define RECORDS_MAX 16384

/* Far above the path of any file. */
#define RECORD_SIZE_MAX 8192

/*
 * When the kernel finds no room it says so in front of the next record that fits, which may never
 * come. But it can only have been so where less than the largest record is free when the buffer is
 * read. All that is missing is later than the last record, and earlier than there is room again.
 */
struct buffer {
	int fd;
	struct perf_event_mmap_page *control; /* mapped: a page, then the data */
	const unsigned char *data;
	uint64_t last;	     /* time of the last record */
	uint64_t lost_until; /* to be told: records since the last one may be missing; 0: none */
	bool told;	     /* that they may, and there has been no record since */
};

struct process_records {
	struct buffer *buffers; /* one for each CPU */
	size_t nr_buffers;
	int epoll_fd;
	/* Taken and not used yet, by time: items[next..nr); paths are allocated. */
	struct process_record *items;
	size_t next, nr, capacity;
	uint64_t last_number;
};

static int open_event(unsigned int cpu, uint32_t wakeup)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = wakeup,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_buffer(struct buffer *buffer, unsigned int cpu, uint32_t wakeup, int epoll_fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	uint64_t opened = monotonic_now();
	CLEANUP_CLOSE int fd = open_event(cpu, wakeup);
	void *mapped;

	if (fd < 0)
		return fd;
	mapped = page_map(fd, page_size() + BUFFER_SIZE, PROT_READ | PROT_WRITE, 0);
	if (mapped == MAP_FAILED)
		return -errno;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
		int err = -errno;

		munmap(mapped, page_size() + BUFFER_SIZE);
		return err;
	}
	*buffer = (struct buffer){
		.fd = TAKE_FD(fd),
		.control = mapped,
		.data = (const unsigned char *)mapped + page_size(),
		.last = opened,
	};
	return 0;
}

static int open_buffers(struct process_records *records, uint32_t wakeup)
{
	CLEANUP(cpu_list__release) struct cpu_list cpus = {0};
	int err = cpu_list__read_online(&cpus);

	if (err)
		return err;
	records->buffers = calloc(cpus.nr, sizeof(*records->buffers));
	records->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!records->buffers)
		return -ENOMEM;
	if (records->epoll_fd < 0)
		return -errno;
	for (size_t i = 0; i < cpus.nr && !err; i++) {
		err = open_buffer(&records->buffers[records->nr_buffers], cpus.cpus[i], wakeup,
				  records->epoll_fd);
		records->nr_buffers += !err;
		/* Gone offline since it was listed. */
		err = err == -ENODEV ? 0 : err;
	}
	return err;
}

int process_records__open(struct process_records **out, uint32_t wakeup, struct error *error)
{
	struct process_records *records = calloc(1, sizeof(*records));
	int err = -ENOMEM;

	if (records) {
		records->epoll_fd = -1;
		err = open_buffers(records, wakeup);
	}
	if (err) {
		process_records__close(records);
		return error__set(error, err,
				  "cannot watch what processes map: %s; see 'tracekit doctor'",
				  strerror(-err));
	}
	*out = records;
	return 0;
}

static void forget_used(struct process_records *records)
{
	if (!records->next)
		return;
	for (size_t i = 0; i < records->next; i++)
		free((char *)records->items[i].mapping.path);
	records->nr -= records->next;
	memmove(records->items, records->items + records->next,
		records->nr * sizeof(*records->items));
	records->next = 0;
}

void process_records__close(struct process_records *records)
{
	if (!records)
		return;
	records->next = records->nr;
	forget_used(records);
	for (size_t i = 0; i < records->nr_buffers; i++) {
		munmap(records->buffers[i].control, page_size() + BUFFER_SIZE);
		close(records->buffers[i].fd);
	}
	if (records->epoll_fd >= 0)
		close(records->epoll_fd);
	free(records->buffers);
	free(records->items);
	free(records);
}

/* ---- records ---- */

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t protection, flags;
	char path[];
};

union record {
	struct perf_event_header header;
	struct fork_record fork;
	struct comm_record comm;
	struct mmap2_record mmap2;
	unsigned char bytes[RECORD_SIZE_MAX];
};

/* What sample_id_all puts behind every record. */
static uint64_t record_time(const union record *record)
{
	uint64_t time;

	memcpy(&time, record->bytes + record->header.size - sizeof(time), sizeof(time));
	return time;
}

/* A process of another PID namespace has none that we could use. */
static bool is_seen(uint32_t pid)
{
	return (int32_t)pid > 0;
}

static int append(struct process_records *records, const struct process_record *record)
{
	if (ARRAY_GROW(records->items, records->nr, records->capacity))
		return -ENOMEM;
	records->items[records->nr] = *record;
	records->items[records->nr++].number = ++records->last_number;
	return 0;
}

static int append_mapping(struct process_records *records, const union record *record)
{
	const struct mmap2_record *mapped = &record->mmap2;
	size_t room = record->header.size - sizeof(*mapped) - sizeof(uint64_t);
	struct process_record item = {
		.deed = PROCESS_MAPPED,
		.time = record_time(record),
		.pid = (pid_t)mapped->pid,
		.generation = mapped->inode_generation,
		.mapping =
			{
				.start = mapped->start,
				.end = mapped->start + mapped->length,
				.offset = mapped->offset,
				.device = makedev(mapped->major, mapped->minor),
				.inode = mapped->inode,
				.path = strndup(mapped->path, room),
			},
	};

	if (!item.mapping.path || append(records, &item)) {
		free((char *)item.mapping.path);
		return -ENOMEM;
	}
	return 0;
}

static int append_loss(struct process_records *records, const struct buffer *buffer, uint64_t until)
{
	const struct process_record item = {
		.deed = PROCESS_UNKNOWN, .time = until, .since = buffer->last};

	return append(records, &item);
}

static int take_record(struct process_records *records, const struct buffer *buffer,
		       const union record *record)
{
	struct process_record item = {.time = record_time(record)};

	switch (record->header.type) {
	case PERF_RECORD_FORK:
		if (record->fork.pid == record->fork.parent || !is_seen(record->fork.pid))
			return 0; /* another thread */
		item.deed = PROCESS_FORKED;
		item.pid = (pid_t)record->fork.pid;
		item.parent = (pid_t)record->fork.parent;
		return append(records, &item);
	case PERF_RECORD_EXIT:
		if (record->fork.pid != record->fork.tid || !is_seen(record->fork.pid))
			return 0;
		item.deed = PROCESS_ENDED;
		item.pid = (pid_t)record->fork.pid;
		return append(records, &item);
	case PERF_RECORD_COMM:
		if (!(record->header.misc & PERF_RECORD_MISC_COMM_EXEC) ||
		    !is_seen(record->comm.pid))
			return 0;
		item.deed = PROCESS_EXECUTED;
		item.pid = (pid_t)record->comm.pid;
		return append(records, &item);
	case PERF_RECORD_MMAP2:
		return is_seen(record->mmap2.pid) ? append_mapping(records, record) : 0;
	case PERF_RECORD_LOST:
		return buffer->told ? 0 : append_loss(records, buffer, item.time);
	}
	return 0;
}

/* Up to head. A record for which there is no memory stays. */
static int take_all(struct process_records *records, struct buffer *buffer, uint64_t *tail,
		    uint64_t head)
{
	while (*tail < head) {
		union record record;

		circular__copy(buffer->data, BUFFER_SIZE, *tail, &record, sizeof(record.header));
		if (record.header.size < sizeof(record.header))
			break; /* never */
		if (record.header.size <= sizeof(record)) {
			circular__copy(buffer->data, BUFFER_SIZE, *tail, &record,
				       record.header.size);
			if (take_record(records, buffer, &record))
				return -ENOMEM;
			buffer->last = record_time(&record);
			buffer->told = false;
		}
		*tail += record.header.size;
	}
	return 0;
}

static int tell_loss(struct process_records *records, struct buffer *buffer)
{
	if (!buffer->lost_until)
		return 0;
	if (append_loss(records, buffer, buffer->lost_until))
		return -ENOMEM;
	buffer->lost_until = 0;
	buffer->told = true;
	return 0;
}

static int read_buffer(struct process_records *records, struct buffer *buffer)
{
	uint64_t head = __atomic_load_n(&buffer->control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = buffer->control->data_tail, had = tail;
	int err = tell_loss(records, buffer);

	if (err)
		return err;
	err = take_all(records, buffer, &tail, head);
	__atomic_store_n(&buffer->control->data_tail, tail, __ATOMIC_SEQ_CST);
	/* It may have been filled meanwhile. */
	head = __atomic_load_n(&buffer->control->data_head, __ATOMIC_SEQ_CST);
	if (head - had > BUFFER_SIZE - RECORD_SIZE_MAX)
		buffer->lost_until = monotonic_now();
	return err ? err : tell_loss(records, buffer);
}

static int compare_times(const void *a, const void *b)
{
	const struct process_record *left = a, *right = b;

	int order = COMPARE(left->time, right->time);

	/* Those of one CPU are in order. */
	return order ? order : COMPARE(left->number, right->number);
}

int process_records__read(struct process_records *records)
{
	size_t had;
	int err = 0;

	forget_used(records);
	had = records->nr;
	if (had >= RECORDS_MAX)
		return 0;
	for (size_t i = 0; i < records->nr_buffers && !err; i++)
		err = read_buffer(records, &records->buffers[i]);
	if (records->nr > had)
		array__sort(records->items, records->nr, sizeof(*records->items), compare_times);
	return err;
}

const struct process_record *process_records__next(struct process_records *records, uint64_t until)
{
	if (records->next == records->nr || records->items[records->next].time > until)
		return NULL;
	return &records->items[records->next++];
}

bool process_records__has_later(const struct process_records *records)
{
	return records->next < records->nr;
}

bool process_records__replace(const struct process_records *records, pid_t pid)
{
	for (size_t i = records->next; i < records->nr; i++) {
		const struct process_record *record = &records->items[i];

		if (record->pid == pid &&
		    (record->deed == PROCESS_EXECUTED || record->deed == PROCESS_FORKED))
			return true;
	}
	return false;
}

struct pollfd process_records__poll(const struct process_records *records)
{
	return (struct pollfd){.fd = records->epoll_fd, .events = POLLIN};
}

bool process_record__is_of(const struct process_record *record, const struct pid_list *pids)
{
	size_t i = 0;

	while (i < pids->nr && pids->pids[i] != record->pid)
		i++;
	return i < pids->nr || !pids->nr || pids->children || record->deed == PROCESS_UNKNOWN;
}
