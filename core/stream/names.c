// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bpf/abi.h"
#include "core/names/frame_names.h"
#include "core/names/lost_files.h"
#include "core/report/tracing_frames.h"
#include "core/stream/event_queue.h"
#include "core/stream/sent_stacks.h"
#include "core/stream/writer.h"
#include "core/trace/stacks.h"
#include "core/unwind/modules.h"
#include "core/unwind/unwinding.h"
#include "sym/sym.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"

#define FRAME_BUCKETS 16384

/* Above this no frame is added or named, until all are forgotten. */
#define FRAME_BYTES_MAX ((size_t)4 * 1024 * 1024)

/*
 * So many frames are asked for together. When there is no room any more, only the first answers are
 * taken, as many as a stack can have frames, so that the next event gets its names, however long
 * they are; the others are asked for again later.
 */
#define QUESTION_FRAMES 1024
#define ANSWERS_TAKEN	STACK_SLOTS

/*
 * Generated code is asked for again: without a name soon, and then ever less often (most programs
 * that generate code never name it); with a name, when the code may have been replaced.
 */
#define RENEW_SOON  (NANOSECONDS / 10)
#define RENEW_TIMES 6 /* doublings of that */
#define RENEW_NAMED NANOSECONDS

/*
 * A frame waits so long for its file to be found, when it is met for the first time: another file,
 * which does not answer, is given up after a second. Whether it has come is looked at every so
 * often.
 */
#define FILE_WAIT    (2 * NANOSECONDS)
#define FILE_LOOK_MS 2

/* Kernel frames that are named at once. */
#define KERNEL_FRAMES 512

struct stream_names {
	struct frame_sources sources;
	const struct stream_writer *writer;
	uint64_t keys[3]; /* of the hash, odd: processes choose their addresses */
	struct arena arena;
	struct shown_frame **buckets; /* FRAME_BUCKETS */
	size_t bytes;
	uint32_t version; /* from 1 on; changes whenever all is forgotten */

	struct shown_frame **of_kernel; /* kernel frames to name, all at once */
	size_t nr_of_kernel, capacity_of_kernel;
	struct shown_frame **wanted; /* user frames to ask for, the oldest first */
	size_t nr_wanted, capacity;
	bool waits_for_files; /* some of these do */
	struct shown_frame *asked[QUESTION_FRAMES];
	struct sym_query queries[QUESTION_FRAMES]; /* the open question, in the same order */
	size_t nr_asked;			   /* 0: none is open */
	struct asked_files asked_files;		   /* of that question */

	int kernel_error, user_error;
	struct lost_files lost;
	char *text; /* all levels of the frame that is being written */
	size_t length, text_capacity;
};

int stream_names__new(struct stream_names **out, const struct frame_sources *sources,
		      const struct stream_writer *writer)
{
	struct stream_names *names = calloc(1, sizeof(*names));

	if (names)
		names->buckets = calloc(FRAME_BUCKETS, sizeof(struct shown_frame *));
	if (!names || !names->buckets) {
		stream_names__free(names);
		return -ENOMEM;
	}
	/* Without the kernel's random numbers the hash is one that can be guessed. */
	(void)!getrandom(names->keys, sizeof(names->keys), GRND_NONBLOCK);
	for (size_t i = 0; i < ARRAY_SIZE(names->keys); i++)
		names->keys[i] |= 1;
	names->sources = *sources;
	names->writer = writer;
	names->version = 1;
	*out = names;
	return 0;
}

void stream_names__free(struct stream_names *names)
{
	if (!names)
		return;
	arena__release(&names->arena);
	asked_files__release(&names->asked_files);
	free(names->buckets);
	free(names->of_kernel);
	free(names->wanted);
	free(names->text);
	free(names);
}

/* Not while a question is open: its answers have their places here. */
static void forget_all(struct stream_names *names)
{
	arena__release(&names->arena);
	memset(names->buckets, 0, FRAME_BUCKETS * sizeof(struct shown_frame *));
	names->bytes = 0;
	names->nr_wanted = 0;
	names->nr_of_kernel = 0;
	names->version++;
}

static bool is_full(const struct stream_names *names)
{
	return names->bytes >= FRAME_BYTES_MAX;
}

/* ---- frames ---- */

static struct shown_frame **bucket_of(const struct stream_names *names,
				      const struct frame_place *place)
{
	uint64_t hash = place->frame * names->keys[0] + place->program * names->keys[1] +
			(place->tgid * 2ULL + place->return_address) * names->keys[2];

	return &names->buckets[hash >> 32 & (FRAME_BUCKETS - 1)];
}

static bool is_same(const struct frame_place *a, const struct frame_place *b)
{
	return a->frame == b->frame && a->program == b->program && a->tgid == b->tgid &&
	       a->return_address == b->return_address;
}

/* The frame of that place, found or new; NULL without memory. */
static struct shown_frame *find_or_add(struct stream_names *names, const struct frame_place *place)
{
	struct shown_frame **bucket = bucket_of(names, place), *frame = *bucket;

	while (frame && !is_same(&frame->place, place))
		frame = frame->next;
	if (frame)
		return frame;
	frame = arena__alloc(&names->arena, sizeof(*frame));
	if (!frame)
		return NULL;
	*frame = (struct shown_frame){.place = *place, .next = *bucket};
	*bucket = frame;
	names->bytes += sizeof(*frame);
	return frame;
}

/* Room for one more level. */
static int grow_text(struct stream_names *names)
{
	size_t wanted = names->length + STREAM_LEVEL_MAX + 1;
	char *text;

	if (wanted <= names->text_capacity)
		return 0;
	text = realloc(names->text, wanted * 2);
	if (!text)
		return -ENOMEM;
	names->text = text;
	names->text_capacity = wanted * 2;
	return 0;
}

/* The text of all levels of a frame, in names->text. */
static int write_levels(struct stream_names *names, uint64_t frame, const struct sym_query *query)
{
	names->length = 0;
	for (uint32_t i = 0; i < frame_text__levels(frame, query); i++) {
		if (grow_text(names))
			return -ENOMEM;
		if (i)
			names->text[names->length++] = stream_writer__separator(names->writer);
		names->length += stream_writer__level(names->writer, frame, query, i,
						      names->text + names->length);
	}
	return 0;
}

/* The time when a frame with an answer is asked for again. */
static uint64_t next_due(const struct shown_frame *frame)
{
	unsigned int doublings = frame->missed < RENEW_TIMES ? frame->missed : RENEW_TIMES;

	return monotonic_now() + (frame->named ? RENEW_NAMED : RENEW_SOON << doublings);
}

/* Note that the answer has come. Returns true if it is to be shown. */
static bool note_answer(struct shown_frame *frame, const struct sym_query *query)
{
	bool is_better = !frame->text || query->name;

	frame->asked = false;
	if (!query)
		return true;
	frame->named |= query->name != NULL;
	frame->generated = query->generated;
	if (frame->generated)
		frame->due = next_due(frame);
	frame->missed += !frame->named;
	return is_better;
}

static bool has_text(const struct shown_frame *frame, const char *text, size_t length)
{
	return frame->text && frame->length == length && !memcmp(frame->text, text, length);
}

/* query: the answer, or NULL for a mark. */
static int set_text(struct stream_names *names, struct shown_frame *frame,
		    const struct sym_query *query)
{
	bool in_kernel = frame_tag(frame->place.frame) == FRAME_KERNEL;

	if (!note_answer(frame, query))
		return 0;
	if (write_levels(names, frame->place.frame, query))
		return -ENOMEM;
	if (has_text(frame, names->text, names->length))
		return 0;
	frame->length = (uint32_t)names->length;
	frame->tracing = in_kernel && query->name && tracing_frame__is(query->name);
	frame->text = arena__copy_string(&names->arena, names->text, names->length);
	names->bytes += names->length;
	return frame->text ? 0 : -ENOMEM;
}

/* ---- kernel frames ---- */

/* Name the last nr of the kernel frames to name. */
static int name_some_kernel_frames(struct stream_names *names, size_t nr)
{
	struct shown_frame **frames = names->of_kernel + names->nr_of_kernel - nr;
	struct sym_query queries[KERNEL_FRAMES] = {0};
	int err;

	for (size_t i = 0; i < nr; i++)
		queries[i] = frame_place__query(&frames[i]->place);
	err = symbolizer__name_kernel(names->sources.symbolizer, queries, nr);
	if (err)
		names->kernel_error = err;
	err = 0;
	for (size_t i = 0; i < nr && !err; i++)
		err = set_text(names, frames[i], &queries[i]);
	names->nr_of_kernel -= nr;
	if (!names->nr_asked)
		symbolizer__forget_names(names->sources.symbolizer);
	return err;
}

/*
 * Name the kernel frames of all stacks that were read together. Before Linux 5.14 this reads
 * /proc/kallsyms; if it did so for each stack, stacks would come faster than it names them.
 */
static int name_kernel_frames(struct stream_names *names)
{
	int err = 0;

	while (names->nr_of_kernel && !err)
		err = name_some_kernel_frames(names, names->nr_of_kernel < KERNEL_FRAMES ?
							     names->nr_of_kernel :
							     KERNEL_FRAMES);
	return err;
}

/* ---- stacks ---- */

/* Have a frame named later. */
static int ask_for(struct stream_names *names, struct shown_frame *frame)
{
	if (frame_tag(frame->place.frame) == FRAME_MARK)
		return set_text(names, frame, NULL);
	frame->asked = true;
	frame->wanted = monotonic_now();
	if (frame_tag(frame->place.frame) == FRAME_KERNEL) {
		if (ARRAY_GROW(names->of_kernel, names->nr_of_kernel, names->capacity_of_kernel))
			return -ENOMEM;
		names->of_kernel[names->nr_of_kernel++] = frame;
		return 0;
	}
	if (ARRAY_GROW(names->wanted, names->nr_wanted, names->capacity))
		return -ENOMEM;
	names->wanted[names->nr_wanted++] = frame;
	return 0;
}

/* The arrays of all stacks of this version are forgotten with it. */
static int make_shown(struct stream_names *names, struct sent_stack *stack)
{
	size_t bytes = stack->nr * sizeof(*stack->shown);

	if (stack->shown_version == names->version)
		return 0;
	stack->shown = arena__alloc(&names->arena, bytes);
	names->bytes += bytes;
	stack->shown_version = stack->shown ? names->version : 0;
	return stack->shown ? 0 : -ENOMEM;
}

/* Frames in files are shown alike for all programs, unless their addresses are shown. */
static bool is_of_program(const struct stream_names *names, uint64_t frame)
{
	return frame_tag(frame) == FRAME_USER ||
	       (frame_tag(frame) == FRAME_MODULE && names->sources.unwinding);
}

/* tgid and program: of user frames. */
static int place_stack(struct stream_names *names, struct sent_stack *stack, uint32_t tgid,
		       uint64_t program)
{
	int err = make_shown(names, stack);

	for (uint32_t i = 0; i < stack->nr && !err; i++) {
		uint64_t frame = frame_plain(stack->frames[i]);
		bool is_own = is_of_program(names, frame);
		const struct frame_place place = {
			.frame = frame,
			.tgid = is_own ? tgid : 0,
			.program = is_own ? program : 0,
			.return_address = frame__is_return_address(stack->frames[i], i),
		};

		stack->shown[i] = find_or_add(names, &place);
		if (!stack->shown[i])
			return -ENOMEM;
	}
	if (err)
		return err;
	stack->shown_tgid = tgid;
	stack->shown_program = program;
	stack->shown_whole = stack->shown_generated = false;
	return 0;
}

static bool is_due(const struct shown_frame *frame, uint64_t now)
{
	return !frame->asked && (!frame->text || (frame->generated && now >= frame->due));
}

/* Ask for the frames of a placed stack that have no name, or whose name may have changed. */
static int ask_for_due(struct stream_names *names, struct sent_stack *stack, uint64_t now)
{
	int err = 0;

	for (uint32_t i = 0; i < stack->nr && !err; i++) {
		if (!is_due(stack->shown[i], now))
			continue;
		stack->shown_whole = false;
		err = ask_for(names, stack->shown[i]);
	}
	return err;
}

static bool is_placed(const struct stream_names *names, const struct sent_stack *stack,
		      uint32_t tgid, uint64_t program)
{
	return stack->nr == 0 || (stack->shown_version == names->version &&
				  stack->shown_tgid == tgid && stack->shown_program == program);
}

/*
 * Find the frames of a stack, and ask for names, unless that is done or there is no room. now: when
 * the event arrived.
 */
static int place(struct stream_names *names, struct sent_stack *stack, uint32_t tgid,
		 uint64_t program, uint64_t now)
{
	bool placed = is_placed(names, stack, tgid, program);
	int err = 0;

	if (is_full(names) || (placed && !stack->shown_generated))
		return 0;
	if (!placed)
		err = place_stack(names, stack, tgid, program);
	return err || stack->nr == 0 ? err : ask_for_due(names, stack, now);
}

static bool is_whole(const struct stream_names *names, struct sent_stack *stack, uint32_t tgid,
		     uint64_t program)
{
	if (!is_placed(names, stack, tgid, program))
		return false;
	for (uint32_t i = 0; i < stack->nr && !stack->shown_whole; i++) {
		if (!stack->shown[i]->text || stack->shown[i]->asked)
			return false;
		stack->shown_generated |= stack->shown[i]->generated;
	}
	stack->shown_whole = true;
	return true;
}

/* ---- events ---- */

int stream_names__prepare(struct stream_names *names, const struct stream_event *event)
{
	int err = place(names, event->kernel, 0, 0, event->arrived);

	return err ? err : place(names, event->user, event->tgid, event->program, event->arrived);
}

static bool is_event_whole(const struct stream_names *names, const struct stream_event *event)
{
	return is_whole(names, event->kernel, 0, 0) &&
	       is_whole(names, event->user, event->tgid, event->program);
}

int stream_names__ready(struct stream_names *names, const struct stream_event *event)
{
	int err = stream_names__prepare(names, event);

	if (!err && !is_event_whole(names, event) && is_full(names) && !names->nr_asked) {
		forget_all(names);
		err = stream_names__prepare(names, event);
	}
	if (!err)
		err = name_kernel_frames(names);
	return err ? err : is_event_whole(names, event);
}

/* ---- questions ---- */

/* answer: NULL if nobody could be asked. */
static int show(struct stream_names *names, struct shown_frame *frame,
		const struct sym_query *answer)
{
	CLEANUP(arena__release) struct arena modules = {0};
	struct sym_query query = frame_place__query(&frame->place);
	int err;

	if (answer) {
		frame_question__take(&query, answer);
	} else {
		lost_files__note(&names->lost, frame->place.frame, names->sources.modules);
		query.generated = true; /* it may be found later */
	}
	err = frame__add_module(frame->place.frame, names->sources.modules, &modules, &query);
	frame_place__find_address(&frame->place, names->sources.unwinding, &query);
	return err ? err : set_text(names, frame, &query);
}

/* True if the file of a frame that has just been met is being looked for. */
static bool may_be_found(const struct stream_names *names, const struct shown_frame *frame)
{
	uint32_t module = frame_module(frame->place.frame);

	return !frame->text &&
	       unwind_module_file__may_be_found(&names->sources.modules->items[module]);
}

/* Put a frame into the question, unless nobody can be asked: 1; or 0, or a negative errno. */
static int ask_frame(struct stream_names *names, struct shown_frame *frame, uint64_t now)
{
	int made = frame_question__make(&names->queries[names->nr_asked], &frame->place,
					names->sources.modules, &names->asked_files);

	if (made < 0)
		return made;
	if (!made) {
		bool waits = may_be_found(names, frame) && now - frame->wanted < FILE_WAIT;

		names->waits_for_files |= waits;
		return waits ? 0 : show(names, frame, NULL);
	}
	names->asked[names->nr_asked++] = frame;
	return 1;
}

/* Oldest requests first, as many as fit. Returns 0 or a negative errno. */
static int ask(struct stream_names *names)
{
	uint64_t now = monotonic_now();
	size_t nr = names->nr_wanted, kept = 0;
	int err = 0;

	names->waits_for_files = false;
	names->nr_wanted = 0;
	for (size_t i = 0; i < nr && !err; i++) {
		struct shown_frame *frame = names->wanted[i];

		if (names->nr_asked < QUESTION_FRAMES)
			err = ask_frame(names, frame, now);
		if (err < 0)
			return err;
		err = 0;
		if (frame->asked &&
		    (!names->nr_asked || names->asked[names->nr_asked - 1] != frame))
			names->wanted[kept++] = frame;
	}
	names->nr_wanted = kept;
	return names->nr_asked ? symbolizer__ask_user(names->sources.symbolizer, names->queries,
						      names->nr_asked) :
				 0;
}

/* Take the answers to the open question; a frame without an answer has no name. */
static int take_answers(struct stream_names *names)
{
	int err = 0;

	for (size_t i = 0; i < names->nr_asked && !err; i++) {
		if (i >= ANSWERS_TAKEN && is_full(names))
			names->asked[i]->asked = false;
		else
			err = show(names, names->asked[i], &names->queries[i]);
	}
	names->nr_asked = 0;
	asked_files__release(&names->asked_files);
	symbolizer__forget_names(names->sources.symbolizer);
	return err;
}

int stream_names__attend(struct stream_names *names)
{
	int open = symbolizer__attend(names->sources.symbolizer);
	int err = name_kernel_frames(names);
	bool asks = true;

	if (names->sources.unwinding)
		unwinding__make_room_for_bases(names->sources.unwinding);
	/* Frames wanted when it is full are wanted again when all has been forgotten. */
	while (open <= 0 && (names->nr_asked || (asks && names->nr_wanted && !is_full(names))) &&
	       !err) {
		if (open < 0)
			names->user_error = open;
		err = take_answers(names);
		open = err || is_full(names) ? 0 : ask(names);
		/* What is wanted then waits for files. */
		asks = names->nr_asked > 0;
		if (!open)
			open = symbolizer__attend(names->sources.symbolizer);
	}
	return err;
}

int stream_names__poll(const struct stream_names *names, struct pollfd *polled)
{
	int wait = symbolizer__poll(names->sources.symbolizer, polled);

	return names->waits_for_files && names->nr_wanted && (wait < 0 || wait > FILE_LOOK_MS) ?
		       FILE_LOOK_MS :
		       wait;
}

int stream_names__kernel_error(const struct stream_names *names)
{
	return names->kernel_error;
}

int stream_names__user_error(const struct stream_names *names)
{
	return names->user_error;
}

size_t stream_names__lost_files(const struct stream_names *names)
{
	return names->lost.nr;
}
