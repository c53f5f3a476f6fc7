/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stream of single events: from the ring buffer of bpf/stream.bpf.h to events in the
 * order of their times, with their stacks, and with each gap where it is.
 *
 * Programs on other CPUs, or preempted ones, put their records behind records of later events: so
 * each event is held back for STREAM_HOLD nanoseconds. An event that the kernel held up longer,
 * between its time and its record, comes late.
 *
 * Memory is bounded by three numbers: the events that are held, the size of the ring buffer, and
 * the stacks of an epoch. When there are too many stacks, a new epoch begins, in which every stack
 * is sent again, and the old stacks go with their last event.
 */
#ifndef TRACEKIT_CORE_STREAM_STREAM_H
#define TRACEKIT_CORE_STREAM_STREAM_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct error;
struct stream;
struct stream_event;
struct trace_maps;
struct unwinding;

#define STREAM_HOLD 10000000

/* Called for each event that is no gap as soon as it is read; fills in event->process. */
typedef int (*stream_visit)(void *context, struct stream_event *event, struct error *error);

/*
 * maps and unwinding are borrowed. stacks: how many an epoch may have. Returns 0 or a negative
 * errno with error filled.
 */
int stream__open(struct stream **stream, const struct trace_maps *maps,
		 const struct unwinding *unwinding, size_t stacks, struct error *error);
void stream__free(struct stream *stream);

/* See how far the ring buffer is filled; all events up to there have happened by now. */
void stream__look(struct stream *stream);

/*
 * Read the records that were there at the last look. If no more events can be held, *emptied is
 * false, and some must be dropped first. Waits for nothing but the grace period of a new epoch.
 * Returns 0 or a negative errno with error filled.
 */
int stream__read(struct stream *stream, stream_visit visit, void *context, bool *emptied,
		 struct error *error);

/* Polls as ready when there is something to read. */
struct pollfd stream__poll(const struct stream *stream);

/*
 * *due becomes the next event, if it is due by now, and has its stack if that is walked later; else
 * NULL. Returns 0 or -ENOMEM.
 */
int stream__due(struct stream *stream, uint64_t now, const struct stream_event **due);

/* How many nanoseconds the next event can still be held; UINT64_MAX if there is none. */
uint64_t stream__wait(const struct stream *stream, uint64_t now);

/* Done with the event that was due. */
void stream__drop(struct stream *stream);

/* Later events are not wanted. Events until now are still read, and become due. */
void stream__end(struct stream *stream);

/* True if all events until stream__end() have been read. */
bool stream__ended(const struct stream *stream);

/* The counters of all epochs that have ended. */
const struct event_counters *stream__counters(const struct stream *stream);

#endif
