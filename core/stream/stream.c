// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/stream.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/raw_stack.h"
#include "core/kernel/kernel_time.h"
#include "core/kernel/ring.h"
#include "core/stream/event_queue.h"
#include "core/stream/sent_stacks.h"
#include "core/trace/accounting.h"
#include "core/trace/epochs.h"
#include "core/trace/maps.h"
#include "core/unwind/unwinding.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/page.h"

/*
 * An epoch ends when its stacks take up EPOCH_BYTES_MAX, however few they are. While the stacks of
 * both epochs take up STACK_BYTES_MAX, only the rest of an epoch that ends is read.
 */
#define EPOCH_BYTES_MAX ((size_t)2 * 1024 * 1024)
#define STACK_BYTES_MAX ((size_t)4 * 1024 * 1024)

/* The stacks of an epoch. */
struct epoch_stacks {
	struct sent_stacks stacks;
	size_t held;	   /* events in the queue, which point to stacks */
	size_t nr_awaited; /* of these events, those whose stacks are walked later */
	bool read;	   /* no event that is still to be read names any */
};

/* The stack of events without frames; nothing is written to it. */
static struct sent_stack no_frames;

struct stream {
	const struct trace_maps *maps;
	const struct unwinding *unwinding;
	const volatile __u64 *lost;    /* by epoch */
	uint64_t seen_lost[NR_EPOCHS]; /* as of the last look */
	uint64_t reported[NR_EPOCHS];  /* how many of them stand in gaps */
	struct ring ring;
	struct epochs epochs;
	struct epoch_stacks stacks[NR_EPOCHS]; /* by epoch */
	size_t stacks_max;

	/* While an epoch ends: its last record lies before turned_at. */
	bool turning;
	uint32_t turned;
	uint64_t turned_at;
	bool ending, last_turn, ended;
	struct event_counters counters;

	struct event_queue queue;
	uint64_t now;	 /* when the ring buffer was looked at last */
	uint64_t latest; /* time of an event that was read */
};

/* True if it can serve for another epoch. */
static bool epoch_stacks__is_free(const struct epoch_stacks *epoch)
{
	return !epoch->stacks.nr && !epoch->held;
}

static void epoch_stacks__release_if_done(struct epoch_stacks *epoch)
{
	if (epoch->read && !epoch->held) {
		sent_stacks__release(&epoch->stacks);
		epoch->read = false;
	}
}

static void enqueue(struct stream *stream, const struct stream_event *event)
{
	event_queue__put(&stream->queue, event);
	stream->stacks[event->epoch].held++;
	stream->stacks[event->epoch].nr_awaited += event->awaits_stack;
}

/*
 * True if there is room for an event, a gap before it, one behind for each epoch, and its stacks.
 */
static bool has_room(const struct stream *stream)
{
	size_t bytes = 0;

	for (size_t i = 0; i < NR_EPOCHS; i++)
		bytes += stream->stacks[i].stacks.bytes;
	return stream->queue.nr + 2 + NR_EPOCHS <= EVENT_QUEUE_SIZE &&
	       (stream->turning || bytes < STACK_BYTES_MAX);
}

/* Make a gap for events that an epoch had lost at that time, and that are in no gap yet. */
static void note_lost(struct stream *stream, uint32_t epoch, uint64_t lost, uint64_t time)
{
	struct stream_event gap = {.time = time, .arrived = stream->now, .epoch = epoch};

	if (lost <= stream->reported[epoch])
		return;
	gap.lost = lost - stream->reported[epoch];
	stream->reported[epoch] = lost;
	enqueue(stream, &gap);
}

/* ---- epochs ---- */

static bool is_crowded(const struct stream *stream)
{
	const struct sent_stacks *stacks = &stream->stacks[stream->epochs.current].stacks;

	return stacks->nr >= stream->stacks_max || stacks->bytes >= EPOCH_BYTES_MAX;
}

static int begin_turn(struct stream *stream, struct error *error)
{
	int err = epochs__turn(&stream->epochs, &stream->turned, error);

	stream->turning = !err;
	stream->last_turn = stream->ending;
	/* The last stacks come before the end of the ring. */
	if (stream->ending)
		unwinding__settle(stream->unwinding);
	stream->turned_at = ring__end(&stream->ring);
	return err;
}

/* All records of the epoch have been read: take its counters, and clear its tables. */
static int finish_turn(struct stream *stream, struct error *error)
{
	uint32_t epoch = stream->turned;
	struct accounting accounting;
	int err = accounting__read(&accounting, stream->maps, epoch, error);

	if (!err)
		err = epochs__clear(&stream->epochs, epoch, error);
	if (err)
		return err;
	event_counters__add(&stream->counters, &accounting.events);
	note_lost(stream, epoch, stream->lost[epoch], stream->latest);
	stream->stacks[epoch].read = true;
	epoch_stacks__release_if_done(&stream->stacks[epoch]);
	stream->turning = false;
	stream->ended = stream->last_turn;
	return 0;
}

/*
 * The next epoch uses the place of the one before the last, whose stacks must be gone; but not at
 * the last turn, behind which nothing is read.
 */
static int turn(struct stream *stream, struct error *error)
{
	uint32_t next = (stream->epochs.current + 1) % NR_EPOCHS;
	int err = 0;

	if (stream->turning && stream->ring.position >= stream->turned_at && has_room(stream))
		err = finish_turn(stream, error);
	if (err || stream->turning || stream->ended)
		return err;
	if (stream->ending || (is_crowded(stream) && epoch_stacks__is_free(&stream->stacks[next])))
		err = begin_turn(stream, error);
	return err;
}

/* ---- records ---- */

union record {
	uint32_t kind;
	struct event_record event;
	struct part_record part;
};

static bool is_wanted(const struct stream *stream, uint32_t epoch)
{
	return !stream->last_turn || epoch == stream->turned;
}

static int take_part(struct stream *stream, const struct part_record *record, size_t length)
{
	size_t frames = offsetof(struct part_record, part.frames);
	uint32_t epoch = stack_id__epoch(record->id);

	if (length < frames || record->part.nr > PART_FRAMES ||
	    length < frames + record->part.nr * sizeof(uint64_t))
		return -EPROTO;
	if (!is_wanted(stream, epoch) ||
	    (stack_id__is_raw(record->id) && !stream->stacks[epoch].nr_awaited))
		return 0;
	return sent_stacks__add(&stream->stacks[epoch].stacks, record->id, &record->part);
}

static struct sent_stack *find_stack(const struct stream *stream, struct stack_id id)
{
	if (!id.lo && !id.hi)
		return &no_frames;
	return sent_stacks__find(&stream->stacks[stack_id__epoch(id)].stacks, id);
}

static int take_event(struct stream *stream, const struct event_record *record, size_t length,
		      stream_visit visit, void *context, struct error *error)
{
	struct stream_event event = {
		.time = record->time,
		.arrived = stream->now,
		.cpu = record->cpu,
		.tgid = record->tgid,
		.tid = record->tid,
		.epoch = record->epoch,
		.program = record->program,
		.cgroup = record->cgroup,
	};
	int err;

	if (length < sizeof(*record) || record->epoch >= NR_EPOCHS)
		return -EPROTO;
	if (!is_wanted(stream, record->epoch))
		return 0;
	event.kernel = find_stack(stream, record->kernel);
	event.user = find_stack(stream, record->user);
	if (!event.user && stack_id__is_raw(record->user)) {
		event.user = &no_frames;
		event.raw = record->user;
		event.awaits_stack = true;
	}
	if (!event.kernel || !event.user)
		return -EPROTO;
	memcpy(event.comm, record->comm, sizeof(event.comm));
	note_lost(stream, record->epoch, record->lost, record->time);
	err = visit(context, &event, error);
	if (err)
		return err;
	enqueue(stream, &event);
	if (record->time > stream->latest)
		stream->latest = record->time;
	return 0;
}

static int take_record(struct stream *stream, const union record *record, size_t length,
		       stream_visit visit, void *context, struct error *error)
{
	int err = record->kind == RECORD_PART ?
			  take_part(stream, &record->part, length) :
			  take_event(stream, &record->event, length, visit, context, error);

	if (err == -EPROTO)
		return error__set(error, err, "the BPF programs sent what they should not");
	if (err == -ENOMEM)
		return error__set(error, err, "cannot keep the stacks: out of memory");
	return err;
}

void stream__look(struct stream *stream)
{
	stream->now = monotonic_now();
	for (uint32_t epoch = 0; epoch < NR_EPOCHS; epoch++)
		stream->seen_lost[epoch] = stream->lost[epoch];
	ring__look(&stream->ring);
}

/* Events between two looks at the clock: a look takes longer than an event. */
#define EVENTS_AT_ONCE 256

int stream__read(struct stream *stream, stream_visit visit, void *context, bool *emptied,
		 struct error *error)
{
	int err = turn(stream, error);
	size_t nr = 0;

	*emptied = false;
	while (!err && !*emptied && has_room(stream)) {
		union record record;
		size_t length = ring__read(&stream->ring, &record, sizeof(record));

		if (++nr % EVENTS_AT_ONCE == 0)
			stream->now = monotonic_now();
		if (length >= sizeof(record.kind))
			err = take_record(stream, &record, length, visit, context, error);
		*emptied = length == 0;
	}
	ring__free_read(&stream->ring);
	/* Note the events lost behind the last record. */
	for (uint32_t epoch = 0; epoch < NR_EPOCHS && !err && *emptied && has_room(stream); epoch++)
		if (is_wanted(stream, epoch))
			note_lost(stream, epoch, stream->seen_lost[epoch], stream->latest);
	return err ? err : turn(stream, error);
}

/* ---- from outside ---- */

static int map_lost(struct stream *stream, struct error *error)
{
	void *mapped = page_map(bpf_map__fd(stream->maps->lost_events), page_size(), PROT_READ, 0);

	if (mapped == MAP_FAILED)
		return error__set(error, -errno, "cannot map the count of lost events: %s",
				  strerror(errno));
	stream->lost = mapped;
	return 0;
}

int stream__open(struct stream **out, const struct trace_maps *maps,
		 const struct unwinding *unwinding, size_t stacks, struct error *error)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int err;

	if (!stream || event_queue__init(&stream->queue)) {
		stream__free(stream);
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	}
	stream->maps = maps;
	stream->unwinding = unwinding;
	stream->stacks_max = stacks;
	stream->now = monotonic_now();
	stream->latest = kernel_time__now();
	err = epochs__open(&stream->epochs, maps, error);
	if (!err)
		err = map_lost(stream, error);
	if (!err)
		err = ring__open(&stream->ring, maps->events, error);
	if (err) {
		stream__free(stream);
		return err;
	}
	*out = stream;
	return 0;
}

void stream__free(struct stream *stream)
{
	if (!stream)
		return;
	for (size_t i = 0; i < NR_EPOCHS; i++)
		sent_stacks__release(&stream->stacks[i].stacks);
	if (stream->lost)
		munmap((void *)stream->lost, page_size());
	ring__close(&stream->ring);
	epochs__close(&stream->epochs);
	event_queue__release(&stream->queue);
	free(stream);
}

struct pollfd stream__poll(const struct stream *stream)
{
	return (struct pollfd){.fd = stream->ring.fd, .events = POLLIN};
}

/* An event waits so long for a stack that is walked later; a look for it is due every so often. */
#define LATER_MAX  (3 * NANOSECONDS / 2)
#define LATER_LOOK (2 * MILLISECONDS)

uint64_t stream__wait(const struct stream *stream, uint64_t now)
{
	const struct stream_event *first = event_queue__first(&stream->queue);
	uint64_t due;

	if (!first)
		return UINT64_MAX;
	due = first->arrived + STREAM_HOLD;
	if (stream->ended)
		return 0;
	if (due <= now && first->awaits_stack && now - first->arrived < LATER_MAX &&
	    !find_stack(stream, first->raw))
		return LATER_LOOK;
	return due <= now ? 0 : due - now;
}

/* The stack of an event that is walked later, or what stands for it if it has not come. */
static int settle_stack(struct stream *stream, struct stream_event *event)
{
	const struct stack_part none = {
		.nr = 1, .frames = {frame_mark(MARK_STOPPED, UNWIND_TABLES_MISSING)}};
	struct sent_stacks *stacks = &stream->stacks[event->epoch].stacks;
	struct sent_stack *stack;

	if (!event->awaits_stack)
		return 0;
	stack = sent_stacks__find(stacks, event->raw);
	if (!stack) {
		int err = sent_stacks__add(stacks, event->raw, &none);

		if (err)
			return err;
		stack = sent_stacks__find(stacks, event->raw);
	}
	event->user = stack;
	event->awaits_stack = false;
	stream->stacks[event->epoch].nr_awaited--;
	return 0;
}

int stream__due(struct stream *stream, uint64_t now, const struct stream_event **due)
{
	struct stream_event *first = event_queue__first(&stream->queue);

	*due = stream__wait(stream, now) == 0 ? first : NULL;
	return *due ? settle_stack(stream, first) : 0;
}

void stream__drop(struct stream *stream)
{
	struct epoch_stacks *epoch = &stream->stacks[event_queue__first(&stream->queue)->epoch];

	event_queue__drop(&stream->queue);
	epoch->held--;
	epoch_stacks__release_if_done(epoch);
}

void stream__end(struct stream *stream)
{
	stream->ending = true;
}

bool stream__ended(const struct stream *stream)
{
	return stream->ended;
}

const struct event_counters *stream__counters(const struct stream *stream)
{
	return &stream->counters;
}
