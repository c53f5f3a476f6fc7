// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/ring.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>

#include "sym/util/error.h"
#include "sym/util/page.h"

/* Each record has a header of this form, and begins at a multiple of its size. */
struct ring_header {
	uint32_t length; /* with BPF_RINGBUF_BUSY_BIT and BPF_RINGBUF_DISCARD_BIT */
	uint32_t page;	 /* the kernel's */
};

_Static_assert(sizeof(struct ring_header) == BPF_RINGBUF_HDR_SZ, "as the kernel has it");

int ring__open(struct ring *ring, const struct bpf_map *map, struct error *error)
{
	int fd = bpf_map__fd(map);
	uint64_t size = bpf_map__max_entries(map);
	void *consumed = page_map(fd, page_size(), PROT_READ | PROT_WRITE, 0);
	void *produced = MAP_FAILED;

	if (consumed != MAP_FAILED)
		produced = page_map(fd, page_size() + size, PROT_READ, page_size());
	if (produced == MAP_FAILED) {
		int err = -errno;

		if (consumed != MAP_FAILED)
			munmap(consumed, page_size());
		return error__set(error, err, "cannot map the ring buffer: %s", strerror(-err));
	}
	*ring = (struct ring){
		.fd = fd,
		.size = size,
		.consumed = consumed,
		.produced = produced,
		.data = (const unsigned char *)produced + page_size(),
	};
	return 0;
}

void ring__close(struct ring *ring)
{
	if (ring->consumed) {
		munmap(ring->consumed, page_size());
		munmap((void *)ring->produced, page_size() + ring->size);
	}
	*ring = (struct ring){0};
}

uint64_t ring__end(const struct ring *ring)
{
	return __atomic_load_n(ring->produced, __ATOMIC_ACQUIRE);
}

/* No header crosses the end: headers and the end are aligned to the size of a header. */
static uint32_t load_length(const struct ring *ring)
{
	const struct ring_header *header =
		(const void *)(ring->data + (ring->position & (ring->size - 1)));

	return __atomic_load_n(&header->length, __ATOMIC_ACQUIRE);
}

void ring__look(struct ring *ring)
{
	ring->end = ring__end(ring);
}

/*
 * Copy length bytes from a position of a stream. Its last size bytes, a power of two, are at data:
 * behind their end the stream goes on at their start.
 */
static void copy_circular(const unsigned char *data, size_t size, uint64_t position, void *to,
			  size_t length)
{
	size_t start = position & (size - 1);
	size_t first = length < size - start ? length : size - start;

	memcpy(to, data + start, first);
	memcpy((char *)to + first, data, length - first);
}

size_t ring__read(struct ring *ring, void *record, size_t size)
{
	while (ring->position < ring->end) {
		uint64_t start = ring->position + sizeof(struct ring_header);
		uint32_t header = load_length(ring);
		uint32_t length = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (header & BPF_RINGBUF_BUSY_BIT)
			return 0;
		if (!(header & BPF_RINGBUF_DISCARD_BIT))
			copy_circular(ring->data, ring->size, start, record,
				      length < size ? length : size);
		ring->position = (start + length + sizeof(struct ring_header) - 1) &
				 ~(uint64_t)(sizeof(struct ring_header) - 1);
		if (!(header & BPF_RINGBUF_DISCARD_BIT))
			return length;
	}
	return 0;
}

void ring__free_read(struct ring *ring)
{
	__atomic_store_n(ring->consumed, ring->position, __ATOMIC_RELEASE);
}
