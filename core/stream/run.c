// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/report/output.h"
#include "core/stream/event_queue.h"
#include "core/stream/names.h"
#include "core/stream/sent_stacks.h"
#include "core/stream/stream.h"
#include "core/stream/writer.h"
#include "core/trace/schedule.h"
#include "core/trace/session.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"

/* The longest that lines wait to be flushed. */
#define FLUSH_INTERVAL (20 * MILLISECONDS)

/*
 * The kernel wakes us for the first event behind those that were read: at some thousand a second
 * that is nearly every event. So each round is followed by a nap, as long as the buffer can take:
 * a million events a second fill a third of it. Events are held for NAP anyway.
 */
#define NAP		STREAM_HOLD
#define NAP_BUFFER_SIZE (4 * 1024 * 1024)

bool stream_run__is_complete(const struct stream_run *run)
{
	return run->count && run->printed == run->count;
}

static int naming_failed(struct error *error, int code)
{
	return error__set(error, code, "cannot name the stacks: %s", strerror(-code));
}

static int meet(void *context, struct stream_event *event, struct error *error)
{
	struct stream_run *run = context;
	int err = stream_names__prepare(run->names, event);

	return err ? naming_failed(error, err) : 0;
}

/* Print the events that are due and have their names. *waiting: the next event lacks names. */
static int print_due(struct stream_run *run, bool *waiting, struct error *error)
{
	const struct stream_event *event;
	uint64_t now = monotonic_now();

	*waiting = false;
	while (!stream_run__is_complete(run)) {
		int ready = stream__due(run->stream, now, &event);

		if (!ready && !event)
			break;
		if (!ready)
			ready = event->lost ? 1 : stream_names__ready(run->names, event);
		if (ready < 0)
			return naming_failed(error, ready);
		*waiting = !ready;
		if (!ready)
			break;
		stream_writer__print(run->writer, event);
		/* Check this now, as long as errno says why. */
		if (ferror_unlocked(run->writer->out))
			return output__failed(errno ? -errno : -EIO, error);
		run->printed += !event->lost;
		run->lost += event->lost;
		stream__drop(run->stream);
	}
	return 0;
}

static int flush(struct stream_run *run, bool emptied, struct error *error)
{
	uint64_t now = monotonic_now();

	if (!emptied && now - run->flushed < FLUSH_INTERVAL)
		return 0;
	run->flushed = now;
	return output__finish(run->writer->out, error);
}

/* The result of a look at the ring buffer, the names and the events that are due. */
struct round {
	bool emptied;	     /* the ring buffer */
	bool waiting;	     /* the next event waits for its names */
	struct pollfd names; /* ready when there are some */
	uint64_t names_wait; /* until names need attention, in ns; or UINT64_MAX */
};

static int go_round(struct stream_run *run, struct round *round, struct error *error)
{
	int err, wait;

	stream__look(run->stream);
	err = stream__read(run->stream, meet, run, &round->emptied, error);
	if (err)
		return err;
	err = stream_names__attend(run->names);
	if (err)
		return naming_failed(error, err);
	err = print_due(run, &round->waiting, error);
	/* The names that it waits for may have been forgotten: ask for them again. */
	if (!err && round->waiting && stream_names__attend(run->names))
		err = naming_failed(error, -ENOMEM);
	wait = stream_names__poll(run->names, &round->names);
	round->names_wait = wait < 0 ? UINT64_MAX : (uint64_t)wait * (NANOSECONDS / 1000);
	return err ? err : flush(run, round->emptied, error);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * How long to wait for events, for names, or for left to pass, in nanoseconds. If names are waited
 * for but no question is open, they have come meanwhile.
 */
static uint64_t time_to_wait(const struct stream_run *run, const struct round *round, uint64_t left)
{
	uint64_t wait = round->names_wait, due = stream__wait(run->stream, monotonic_now());

	/* All has been printed: there is room now for what is left in the ring buffer. */
	if (!round->emptied && due == UINT64_MAX)
		return 1;
	if (!round->waiting)
		wait = earlier(wait, due);
	else if (wait == UINT64_MAX)
		wait = 1;
	if (left)
		wait = earlier(wait, left);
	return wait ? wait : 1;
}

/* events: poll this for events, or nothing. */
static enum session_end watch(const struct stream_run *run, const struct round *round,
			      struct pollfd events, uint64_t timeout)
{
	const struct pollfd watched[SESSION_WATCHED] = {events, round->names};

	session__watch(run->session, watched);
	return session__wait(run->session, timeout);
}

static uint64_t nap_of(const struct stream_run *run)
{
	return run->buffer_size < NAP_BUFFER_SIZE ? NAP * run->buffer_size / NAP_BUFFER_SIZE : NAP;
}

/* Sleep until the next round, or for left. Returns why the trace ends, or SESSION_TIMEOUT. */
static enum session_end wait_for_round(struct stream_run *run, const struct round *round,
				       uint64_t left)
{
	const struct pollfd nothing = {.fd = -1};
	uint64_t wait = time_to_wait(run, round, left);
	uint64_t nap = round->emptied ? earlier(wait, nap_of(run)) : wait;
	enum session_end end = watch(run, round, nothing, nap);

	if (end == SESSION_TIMEOUT && wait > nap)
		end = watch(run, round, stream__poll(run->stream), wait - nap);
	return end == SESSION_READY ? SESSION_TIMEOUT : end;
}

/* True if all that is to be printed has been printed. */
static bool is_done(const struct stream_run *run)
{
	return stream_run__is_complete(run) ||
	       (stream__ended(run->stream) &&
		stream__wait(run->stream, monotonic_now()) == UINT64_MAX);
}

/* Run round after round. When the trace ends, events that happened by then are still printed. */
int stream_run__go(struct stream_run *run, struct error *error)
{
	const struct schedule schedule = {
		.start = monotonic_now(),
		.duration = run->duration,
	};
	bool ending = false;

	for (;;) {
		enum session_end end = SESSION_TIMEOUT;
		struct round round;
		int err = go_round(run, &round, error);

		if (err)
			return err;
		if (is_done(run))
			return output__finish(run->writer->out, error);
		if (ending) {
			poll(&round.names, 1, 1);
			continue;
		}
		end = wait_for_round(run, &round, schedule__wait(&schedule, monotonic_now()));
		if (end == SESSION_OUTPUT_CLOSED)
			return output__failed(-EPIPE, error);
		ending = end != SESSION_TIMEOUT || schedule__is_over(&schedule, monotonic_now());
		if (ending)
			stream__end(run->stream);
	}
}
