/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single events in the order of their times. */
#ifndef TRACEKIT_CORE_STREAM_EVENT_QUEUE_H
#define TRACEKIT_CORE_STREAM_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct sent_stack;

struct stream_event {
	uint64_t time;	  /* of the kernel's CLOCK_MONOTONIC, nanoseconds */
	uint64_t arrived; /* when it was read, by our clock: a time namespace can shift it */
	uint64_t lost;	  /* not 0: this is no event, but so many are missing here */
	uint32_t cpu, tgid, tid;
	uint32_t epoch;
	uint64_t program;		  /* as in struct stack_key */
	uint64_t cgroup;		  /* 0: it is not told */
	struct sent_stack *kernel, *user; /* NULL in a gap; without frames: nr is 0 */
	struct stack_id raw;		  /* of the user stack, if it is walked later */
	bool awaits_stack;		  /* ... and has not come */
	char comm[COMM_LEN];
};

/* Far more than a million events a second fill in the time that events are held. */
#define EVENT_QUEUE_SIZE 32768

struct event_queue {
	struct stream_event *events; /* a ring of EVENT_QUEUE_SIZE */
	size_t first, nr;
};

/* Returns 0 or -ENOMEM. */
int event_queue__init(struct event_queue *queue);
void event_queue__release(struct event_queue *queue);

/*
 * Put an event behind those that are not later, most often behind all. An event that arrives late
 * gets the arrival time of the next, and so does not hold it up longer. There is room for
 * EVENT_QUEUE_SIZE.
 */
void event_queue__put(struct event_queue *queue, const struct stream_event *event);

/* The first, or NULL; valid until event_queue__drop() takes it away, or another is put. */
struct stream_event *event_queue__first(const struct event_queue *queue);
void event_queue__drop(struct event_queue *queue);

#endif
