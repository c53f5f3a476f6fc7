// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/report/tracing_frames.h"
#include "core/stream/event_queue.h"
#include "core/stream/processes.h"
#include "core/stream/sent_stacks.h"
#include "core/stream/writer.h"
#include "core/trace/stacks.h"
#include "core/unwind/modules.h"
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

/* Kernel frames that are named at once. */
#define KERNEL_FRAMES 512

struct stream_names {
	struct symbolizer *symbolizer;
	const struct unwind_module_list *modules;
	const struct stream_writer *writer;
	struct arena arena;
	struct shown_frame **buckets; /* FRAME_BUCKETS */
	size_t bytes;
	uint32_t version; /* from 1 on; changes whenever all is forgotten */

	struct shown_frame **of_kernel; /* kernel frames to name, all at once */
	size_t nr_of_kernel, capacity_of_kernel;
	struct shown_frame **wanted; /* frames of processes to ask for, the oldest first */
	size_t nr_wanted, capacity;
	struct shown_frame *asked[QUESTION_FRAMES];
	struct sym_query queries[QUESTION_FRAMES]; /* the open question, in the same order */
	size_t nr_asked;			   /* 0: none is open */

	int kernel_error, user_error;
	char *text; /* all levels of the frame that is being written */
	size_t length, text_capacity;
};

int stream_names__new(struct stream_names **out, struct symbolizer *symbolizer,
		      const struct unwind_module_list *modules, const struct stream_writer *writer)
{
	struct stream_names *names = calloc(1, sizeof(*names));

	if (names)
		names->buckets = calloc(FRAME_BUCKETS, sizeof(struct shown_frame *));
	if (!names || !names->buckets) {
		stream_names__free(names);
		return -ENOMEM;
	}
	names->symbolizer = symbolizer;
	names->modules = modules;
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
				      const struct shown_frame *frame)
{
	uint64_t hash = (frame->frame ^ ((uint64_t)frame->process << 32) ^ frame->return_address) *
			0x9e3779b97f4a7c15;

	return &names->buckets[hash >> 32 & (FRAME_BUCKETS - 1)];
}

static bool is_same(const struct shown_frame *a, const struct shown_frame *b)
{
	return a->frame == b->frame && a->process == b->process &&
	       a->return_address == b->return_address;
}

/* The frame that equals wanted, found or new; NULL without memory. */
static struct shown_frame *find_or_add(struct stream_names *names, const struct shown_frame *wanted)
{
	struct shown_frame **bucket = bucket_of(names, wanted), *frame = *bucket;

	while (frame && !is_same(frame, wanted))
		frame = frame->next;
	if (frame)
		return frame;
	frame = arena__alloc(&names->arena, sizeof(*frame));
	if (!frame)
		return NULL;
	*frame = *wanted;
	frame->next = *bucket;
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
	bool in_kernel = frame_tag(frame->frame) == FRAME_KERNEL;

	if (!note_answer(frame, query))
		return 0;
	if (write_levels(names, frame->frame, query))
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

/* pid: the symbolizer knows the frame's process by it. */
static struct sym_query query_of(const struct stream_names *names, const struct shown_frame *frame,
				 pid_t pid)
{
	return frame__query(frame->frame, pid, frame->return_address, names->modules);
}

/* Name the last nr of the kernel frames to name. */
static int name_some_kernel_frames(struct stream_names *names, size_t nr)
{
	struct shown_frame **frames = names->of_kernel + names->nr_of_kernel - nr;
	struct sym_query queries[KERNEL_FRAMES] = {0};
	int err;

	for (size_t i = 0; i < nr; i++)
		queries[i] = query_of(names, frames[i], 0);
	err = symbolizer__name_kernel(names->symbolizer, queries, nr);
	if (err)
		names->kernel_error = err;
	err = 0;
	for (size_t i = 0; i < nr && !err; i++)
		err = set_text(names, frames[i], &queries[i]);
	names->nr_of_kernel -= nr;
	if (!names->nr_asked)
		symbolizer__forget_names(names->symbolizer);
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
	if (frame_tag(frame->frame) == FRAME_MARK)
		return set_text(names, frame, NULL);
	frame->asked = true;
	if (frame_tag(frame->frame) == FRAME_KERNEL) {
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

/* process and pid: of user frames. */
static int place_stack(struct stream_names *names, struct sent_stack *stack, uint32_t process,
		       pid_t pid)
{
	int err = make_shown(names, stack);

	for (uint32_t i = 0; i < stack->nr && !err; i++) {
		uint64_t frame = frame_plain(stack->frames[i]);
		bool is_user = frame_tag(frame) == FRAME_USER || frame_tag(frame) == FRAME_MODULE;
		const struct shown_frame wanted = {
			.frame = frame,
			.process = is_user ? process : 0,
			.pid = is_user ? pid : 0,
			.return_address = frame__is_return_address(stack->frames[i], i),
		};

		stack->shown[i] = find_or_add(names, &wanted);
		if (!stack->shown[i])
			return -ENOMEM;
	}
	if (err)
		return err;
	stack->shown_process = process;
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
		      uint32_t process)
{
	return stack->nr == 0 ||
	       (stack->shown_version == names->version && stack->shown_process == process);
}

/*
 * Find the frames of a stack, and ask for names, unless that is done or there is no room. now: when
 * the event arrived.
 */
static int place(struct stream_names *names, struct sent_stack *stack, uint32_t process, pid_t pid,
		 uint64_t now)
{
	bool placed = is_placed(names, stack, process);
	int err = 0;

	if (is_full(names) || (placed && !stack->shown_generated))
		return 0;
	if (!placed)
		err = place_stack(names, stack, process, pid);
	return err || stack->nr == 0 ? err : ask_for_due(names, stack, now);
}

static bool is_whole(const struct stream_names *names, struct sent_stack *stack, uint32_t process)
{
	if (!is_placed(names, stack, process))
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

	return err ? err :
		     place(names, event->user, event->process, (pid_t)event->tgid, event->arrived);
}

static bool is_event_whole(const struct stream_names *names, const struct stream_event *event)
{
	return is_whole(names, event->kernel, 0) && is_whole(names, event->user, event->process);
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

/* The PID by which the symbolizer knows a module's file, wherever that is mapped by now. */
static pid_t known_as_module(const struct stream_names *names, uint32_t module)
{
	const struct unwind_module_file file =
		unwind_module_file__copy(&names->modules->items[module]);
	struct sym_mapping mapping;
	const struct sym_image image = unwind_module_file__image(&file, &mapping);
	pid_t pid = stream_processes__module_pid(module);

	(void)symbolizer__remember_soon(names->symbolizer, pid, &image);
	return pid;
}

static bool have_one_owner(const struct shown_frame *a, const struct shown_frame *b)
{
	if (a->anywhere || b->anywhere)
		return a->anywhere == b->anywhere &&
		       frame_module(a->frame) == frame_module(b->frame);
	return a->process == b->process;
}

static pid_t known_as(const struct stream_names *names, struct stream_processes *processes,
		      const struct shown_frame *frame)
{
	return frame->anywhere ? known_as_module(names, frame_module(frame->frame)) :
				 stream_processes__known_as(processes, frame->pid, frame->process);
}

/* Oldest requests first, as many as fit. Returns 0 or a negative errno. */
static int ask(struct stream_names *names, struct stream_processes *processes)
{
	size_t nr = names->nr_wanted < QUESTION_FRAMES ? names->nr_wanted : QUESTION_FRAMES;
	pid_t pid = 0;

	for (size_t i = 0; i < nr; i++) {
		struct shown_frame *frame = names->wanted[i];

		/* The frames of a stack follow each other. */
		if (i == 0 || !have_one_owner(frame, names->asked[i - 1]))
			pid = known_as(names, processes, frame);
		names->asked[i] = frame;
		names->queries[i] = query_of(names, frame, pid);
	}
	names->nr_wanted -= nr;
	memmove(names->wanted, names->wanted + nr, names->nr_wanted * sizeof(*names->wanted));
	names->nr_asked = nr;
	return nr ? symbolizer__ask_user(names->symbolizer, names->queries, nr) : 0;
}

/*
 * Another process has the file at another address: show the offset. Code in a file is not
 * generated.
 */
static void leave_place(const struct shown_frame *frame, struct sym_query *query)
{
	query->address = frame_offset(frame->frame);
	query->in_file = true;
	query->generated = false;
}

static int take_answer(struct stream_names *names, struct shown_frame *frame,
		       struct sym_query *query)
{
	CLEANUP(arena__release) struct arena modules = {0};
	int err = frame__add_module(frame->frame, names->modules, &modules, query);

	if (frame->anywhere)
		leave_place(frame, query);
	if (!err)
		err = set_text(names, frame, query);
	if (err || frame->anywhere || !query->in_file)
		return err;
	frame->anywhere = true;
	return ask_for(names, frame);
}

/* Without room nothing more is asked: show what is known of the file. */
static void give_up_on_files(struct stream_names *names)
{
	for (size_t i = 0; i < names->nr_wanted; i++)
		if (names->wanted[i]->anywhere)
			names->wanted[i]->asked = false;
}

/* Take the answers to the open question; a frame without an answer has no name. */
static int take_answers(struct stream_names *names)
{
	int err = 0;

	for (size_t i = 0; i < names->nr_asked && !err; i++) {
		if (i >= ANSWERS_TAKEN && is_full(names))
			names->asked[i]->asked = false;
		else
			err = take_answer(names, names->asked[i], &names->queries[i]);
	}
	names->nr_asked = 0;
	symbolizer__forget_names(names->symbolizer);
	if (is_full(names))
		give_up_on_files(names);
	return err;
}

int stream_names__attend(struct stream_names *names, struct stream_processes *processes)
{
	int open = symbolizer__attend(names->symbolizer);
	int err = name_kernel_frames(names);

	/* Frames wanted when it is full are wanted again when all has been forgotten. */
	while (open <= 0 && (names->nr_asked || (names->nr_wanted && !is_full(names))) && !err) {
		if (open < 0)
			names->user_error = open;
		err = take_answers(names);
		open = is_full(names) ? 0 : ask(names, processes);
		if (!open)
			open = symbolizer__attend(names->symbolizer);
	}
	return err;
}

int stream_names__poll(const struct stream_names *names, struct pollfd *polled)
{
	return symbolizer__poll(names->symbolizer, polled);
}

int stream_names__kernel_error(const struct stream_names *names)
{
	return names->kernel_error;
}

int stream_names__user_error(const struct stream_names *names)
{
	return names->user_error;
}
