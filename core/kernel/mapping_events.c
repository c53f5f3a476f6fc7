// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/mapping_events.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/kernel/cpus.h"
#include "sym/util/cleanup.h"
#include "sym/util/page.h"

/* Of each CPU; a program that starts makes some thirty records of about 100 bytes. */
#define DATA_SIZE ((size_t)64 * 1024)

struct mapping_ring {
	int fd;
	struct perf_event_mmap_page *page; /* the data is behind this page */
	bool ended;			   /* the CPU has gone offline: it says no more */
};

/* PERF_RECORD_MMAP2, up to the name of the file. */
struct mapping_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, size, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
};

/* PERF_RECORD_LOST */
struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static int open_ring(struct mapping_ring *ring, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.mmap_data = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	void *mapped;

	ring->fd = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return -errno;
	mapped = page_map(ring->fd, page_size() + DATA_SIZE, PROT_READ | PROT_WRITE, 0);
	if (mapped == MAP_FAILED) {
		int err = -errno;

		close(ring->fd);
		return err;
	}
	ring->page = mapped;
	return 0;
}

int mapping_events__open(struct mapping_events *events)
{
	CLEANUP(cpu_list__release) struct cpu_list cpus = {0};
	CLEANUP(mapping_events__close) struct mapping_events opened = {0};
	int err = cpu_list__read_online(&cpus);

	if (err)
		return err;
	opened.rings = calloc(cpus.nr, sizeof(*opened.rings));
	if (!opened.rings)
		return -ENOMEM;
	for (size_t i = 0; i < cpus.nr; i++) {
		err = open_ring(&opened.rings[opened.nr], cpus.cpus[i]);
		if (err && err != -ENODEV) /* it has gone offline */
			return err;
		opened.nr += !err;
	}
	*events = opened;
	opened = (struct mapping_events){0};
	return 0;
}

void mapping_events__close(struct mapping_events *events)
{
	for (size_t i = 0; i < events->nr; i++) {
		munmap(events->rings[i].page, page_size() + DATA_SIZE);
		close(events->rings[i].fd);
	}
	free(events->rings);
	*events = (struct mapping_events){0};
}

bool mapping_events__wait(struct mapping_events *events, int stop_fd)
{
	CLEANUP_FREE struct pollfd *polled = calloc(events->nr + 1, sizeof(*polled));

	if (!polled)
		return false;
	for (size_t i = 0; i < events->nr; i++)
		polled[i + 1] = (struct pollfd){
			.fd = events->rings[i].ended ? -1 : events->rings[i].fd, .events = POLLIN};
	polled[0] = (struct pollfd){.fd = stop_fd, .events = POLLIN};
	while (poll(polled, events->nr + 1, -1) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < events->nr; i++)
		events->rings[i].ended |= (polled[i + 1].revents & (POLLHUP | POLLERR)) != 0;
	return !polled[0].revents;
}

/* A part of the data, which begins again at its end. */
static void copy(const struct mapping_ring *ring, uint64_t position, void *to, size_t size)
{
	const unsigned char *data = (const unsigned char *)ring->page + page_size();
	size_t at = position % DATA_SIZE, first = DATA_SIZE - at;

	if (first > size)
		first = size;
	memcpy(to, data + at, first);
	memcpy((unsigned char *)to + first, data, size - first);
}

/* Take a record, or its first size bytes; false if there is none. */
static bool take_record(const struct mapping_ring *ring, void *record, size_t size)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	struct perf_event_header header;

	if (tail == head)
		return false;
	copy(ring, tail, &header, sizeof(header));
	if (header.size < size)
		size = header.size;
	copy(ring, tail, record, size);
	__atomic_store_n(&ring->page->data_tail, tail + header.size, __ATOMIC_RELEASE);
	return true;
}

static bool take_of_ring(struct mapping_events *events, const struct mapping_ring *ring,
			 struct mapping_event *event)
{
	union {
		struct perf_event_header header;
		struct mapping_record mapping;
		struct lost_record lost;
	} record = {0};

	while (take_record(ring, &record, sizeof(record))) {
		const struct mapping_record *mapping = &record.mapping;

		if (record.header.type == PERF_RECORD_LOST)
			events->lost += record.lost.lost;
		if (record.header.type != PERF_RECORD_MMAP2)
			continue;
		*event = (struct mapping_event){
			.pid = (pid_t)mapping->pid,
			.device = makedev(mapping->major, mapping->minor),
			.inode = mapping->inode,
			.offset = mapping->offset,
			.size = mapping->size,
		};
		return true;
	}
	return false;
}

bool mapping_events__take(struct mapping_events *events, struct mapping_event *event)
{
	for (size_t i = 0; i < events->nr; i++)
		if (take_of_ring(events, &events->rings[i], event))
			return true;
	return false;
}
