/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the frames of a stream are shown: each distinct frame is named and written once, and then
 * copied.
 *
 * Kernel frames are named together, when all available events have been read. Frames of processes
 * are asked for together, and nobody waits for the answer: a process, or a file, can be slow.
 * Memory is bounded: when too much has come together, all is forgotten, and asked for again where
 * needed.
 */
#ifndef TRACEKIT_CORE_STREAM_NAMES_H
#define TRACEKIT_CORE_STREAM_NAMES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/names/frame_question.h"

struct frame_sources;
struct sent_stack;
struct stream_event;
struct stream_names;
struct stream_writer;

struct shown_frame {
	struct frame_place place; /* of no program if it is shown alike for all */
	struct shown_frame *next; /* in its bucket */
	const char *text; /* of all its levels, from stream_writer__level(); NULL: not known yet */
	uint32_t length;
	bool asked; /* its name has been, or will be, asked for, and there is no answer yet */
	bool named;
	uint64_t wanted;     /* since then, of monotonic_now() */
	bool generated;	     /* as in struct sym_query: asked for again from time to time */
	unsigned int missed; /* how often there was no name */
	uint64_t due;	     /* when to ask again, of monotonic_now() */
	bool tracing;	     /* the probe's own: see core/report/tracing_frames.h */
};

/* All is borrowed. Returns 0 or -ENOMEM. */
int stream_names__new(struct stream_names **names, const struct frame_sources *sources,
		      const struct stream_writer *writer);
void stream_names__free(struct stream_names *names);

/* An event has come: prepare the text of its frames. Returns 0 or a negative errno. */
int stream_names__prepare(struct stream_names *names, const struct stream_event *event);

/*
 * Returns 1 if the frames of the next event to show are ready, 0 if not, or a negative errno. If
 * ready, the array shown of its stacks is good until another function is called here; if not,
 * missing names are asked for.
 */
int stream_names__ready(struct stream_names *names, const struct stream_event *event);

/*
 * Ask for frames of processes, and take answers, without waiting. Call it when *polled, filled by
 * stream_names__poll(), is ready, and after the milliseconds that stream_names__poll() returns, -1
 * for none. Returns 0 or a negative errno.
 */
int stream_names__attend(struct stream_names *names);
int stream_names__poll(const struct stream_names *names, struct pollfd *polled);

/*
 * Why names are missing: the error of symbolizer__name_kernel() or symbolizer__name_user(), or 0.
 */
int stream_names__kernel_error(const struct stream_names *names);
int stream_names__user_error(const struct stream_names *names);

/* As in struct frame_names. */
size_t stream_names__lost_files(const struct stream_names *names);

#endif
