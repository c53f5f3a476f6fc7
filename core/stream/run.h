/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream from its first event to its last: events are read, named, printed and flushed as they
 * come.
 *
 * A single thread does all this, and waits for all of it at once: events from the kernel are read
 * while names are still being looked up. A reader of stdout that does not read holds everything up;
 * then the ring buffer fills, and events are lost and counted.
 */
#ifndef TRACEKIT_CORE_STREAM_RUN_H
#define TRACEKIT_CORE_STREAM_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct session;
struct stream;
struct stream_names;
struct stream_writer;

struct stream_run {
	/* Borrowed. */
	struct session *session;
	struct stream *stream;
	struct stream_names *names;
	const struct stream_writer *writer;

	uint64_t count;	      /* end after so many events; 0: no limit */
	uint64_t duration;    /* nanoseconds; 0: until the session ends */
	uint64_t buffer_size; /* of the stream, in bytes */

	uint64_t printed; /* events */
	uint64_t lost;	  /* events, in the gaps that were printed */

	/* For stream_run__go(). */
	uint64_t flushed; /* when */
};

/*
 * Run until the trace ends; then events that happened by then are still read and printed, unless
 * count events were. Returns 0, or a negative errno with error filled, or left empty as by
 * output__failed().
 */
int stream_run__go(struct stream_run *run, struct error *error);

/* True if it ended after count events: then nothing is known of later ones. */
bool stream_run__is_complete(const struct stream_run *run);

#endif
