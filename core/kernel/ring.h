/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader's side of a BPF ring buffer (BPF_MAP_TYPE_RINGBUF, Linux 5.8). Format:
 * Documentation/bpf/ringbuf.rst and the BPF_RINGBUF_ constants of linux/bpf.h.
 *
 * libbpf's reader calls back for each record until none is left, which under a steady load is
 * never. This reader takes as many as its caller has room for, knows how far the kernel has
 * written, and maps the data once, not twice.
 */
#ifndef TRACEKIT_CORE_KERNEL_RING_H
#define TRACEKIT_CORE_KERNEL_RING_H

#include <stddef.h>
#include <stdint.h>

struct bpf_map;
struct error;

/* All zero is none. */
struct ring {
	int fd;		    /* not owned; polls as readable while there is something to read */
	uint64_t size;	    /* of the data, in bytes */
	uint64_t position;  /* where the next record is read, in bytes since the start */
	uint64_t end;	    /* the end of the records at the last ring__look() */
	uint64_t *consumed; /* mapped: the kernel may write up to size bytes from there on */
	const uint64_t *produced; /* mapped: a page, then the data */
	const unsigned char *data;
};

/* Map the ring buffer of a created map. Returns 0 or a negative errno with error filled. */
int ring__open(struct ring *ring, const struct bpf_map *map, struct error *error);
void ring__close(struct ring *ring);

/* See how far the kernel has written: ring__read() goes as far as that. */
void ring__look(struct ring *ring);

/*
 * Copy the next record, or its first size bytes, to record. Returns its length, or 0 if there is
 * none, or it is not complete yet.
 */
size_t ring__read(struct ring *ring, void *record, size_t size);

/* Let the kernel use the room of the records that were read. */
void ring__free_read(struct ring *ring);

/* The position behind the last record. */
uint64_t ring__end(const struct ring *ring);

#endif
