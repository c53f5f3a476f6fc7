// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/program_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/history/history.h"
#include "core/names/frame_names.h"
#include "core/names/trace_processes.h"
#include "core/unwind/modules.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* Parts and processes that are remembered for one question: far less than stay so. */
#define REMEMBERED_AT_ONCE 512

/* How the symbolizer is asked for a place. */
struct wish {
	pid_t pid; /* of the process, or of none; 0: there is nothing to ask */
	uint64_t address;
	bool return_address;
	const struct unwind_module_file *file; /* that the address is an offset in; or NULL */
	bool renewed;	    /* pid may be another process than the symbolizer remembers */
	uint32_t part;	    /* that it is in; or 0 */
	bool anywhere;	    /* the file, by whoever had it first */
	uint64_t mapped_at; /* where it was; 0: that is not known */
	size_t place;	    /* its index */
};

static int compare_questions(const struct wish *a, const struct wish *b)
{
	int order = COMPARE(a->pid, b->pid);

	if (!order)
		order = COMPARE((uintptr_t)a->file, (uintptr_t)b->file);
	if (!order)
		order = COMPARE(a->address, b->address);
	return order ? order : COMPARE(a->return_address, b->return_address);
}

static int compare_wishes(const void *a, const void *b)
{
	const struct wish *left = a, *right = b;
	int order = compare_questions(left, right);

	return order ? order : COMPARE(left->place, right->place);
}

struct naming_job {
	const struct frame_sources *sources;
	const struct frame_place *places;
	struct sym_query *queries;
	struct wish *wishes;
	size_t nr;
};

/* ---- what to ask ---- */

/* NULL: it is an address of the process. */
static const struct unwind_module_file *file_of(const struct naming_job *job,
						const struct frame_place *place)
{
	return frame_tag(place->frame) == FRAME_MODULE ?
		       &job->sources->modules->items[frame_module(place->frame)] :
		       NULL;
}

/* Of a process that is still there. */
static struct wish wish_for_process(const struct frame_place *place, uint64_t address)
{
	return (struct wish){
		.pid = (pid_t)place->tgid,
		.address = address,
		.renewed = place->since != PROGRAM_BEFORE,
	};
}

/* From what is known of a program. */
static struct wish wish_for_program(const struct naming_job *job, const struct process_place *found)
{
	struct wish wish = {
		.address = found->address, .part = found->part, .mapped_at = found->mapped_at};

	if (found->part)
		wish.pid = trace_processes__part_pid(found->part);
	else if (found->snapshot)
		wish.pid = trace_processes__snapshot_pid(job->sources->processes, found->snapshot);
	return wish;
}

static struct process_place find(const struct naming_job *job, const struct frame_place *place,
				 uint64_t address)
{
	const struct unwind_module_file *file = file_of(job, place);

	return process_history__find(trace_processes__history(job->sources->processes),
				     (pid_t)place->tgid, place->since, file ? &file->id : NULL,
				     address);
}

static void add(struct naming_job *job, size_t place, struct wish wish)
{
	wish.place = place;
	wish.return_address = job->places[place].return_address;
	wish.file = file_of(job, &job->places[place]);
	if (wish.pid)
		job->wishes[job->nr++] = wish;
}

/* False if nobody could find the file that it is in. */
static bool can_be_asked(const struct naming_job *job, const struct frame_place *place)
{
	const struct unwind_module_file *file = file_of(job, place);

	return !file || unwind_module_file__is_found(file);
}

/* The file of a module, by whoever had it first: it is the same for all programs. */
static void wish_for_files(struct naming_job *job, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct frame_place *place = &job->places[i];

		if (file_of(job, place) && can_be_asked(job, place))
			add(job, i,
			    (struct wish){
				    .pid = trace_processes__module_pid(frame_module(place->frame)),
				    .address = frame_offset(place->frame),
				    .anywhere = true,
			    });
	}
}

/* It is in no file, or the file has no name for it, or could not be had. */
static bool needs_program(const struct naming_job *job, size_t index)
{
	return !file_of(job, &job->places[index]) || !job->queries[index].name;
}

static void wish_for_programs(struct naming_job *job, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct frame_place *place = &job->places[i];
		uint64_t address = job->queries[i].address;
		struct process_place found;

		if (!needs_program(job, i) || !can_be_asked(job, place))
			continue;
		found = find(job, place, address);
		if (found.current || place->since == PROGRAM_UNKNOWN)
			add(job, i, wish_for_process(place, address));
		else
			add(job, i, wish_for_program(job, &found));
	}
}

/* What the file has told stays. */
static void forget_answer(const struct naming_job *job, size_t index)
{
	struct sym_query *query = &job->queries[index];
	const struct sym_query asked = frame__query(job->places[index].frame, query->pid,
						    query->return_address, job->sources->modules);

	if (!asked.in_file)
		*query = asked;
	query->address = asked.address;
	query->in_file = asked.in_file;
}

/*
 * What a process could not tell, since it has just ended or unloaded the library, and what it
 * has told when it may have been another program already.
 */
static void wish_again(struct naming_job *job, const struct wish *asked, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t index = asked[i].place;
		const struct sym_query *query = &job->queries[index];
		const struct frame_place *place = &job->places[index];
		struct process_place found = find(job, place, asked[i].address);

		if (asked[i].pid < 0 || place->since == PROGRAM_UNKNOWN ||
		    (found.current && (query->name || query->module)))
			continue;
		forget_answer(job, index);
		add(job, index, wish_for_program(job, &found));
	}
}

/* ---- asking ---- */

static bool is_remembered(const struct wish *wish)
{
	return wish->part || wish->renewed || wish->anywhere;
}

static void remember(const struct naming_job *job, const struct wish *wish)
{
	const struct process_history *history = trace_processes__history(job->sources->processes);
	struct unwind_module_file file;
	struct sym_mapping mapping;
	struct sym_image image;

	/* The same as when it was mapped: a file that is held stays so. */
	if (wish->part) {
		image = process_history__image(history, wish->part, &mapping);
	} else if (wish->anywhere) {
		file = unwind_module_file__copy(wish->file);
		image = unwind_module_file__image(&file, &mapping);
	}
	if (is_remembered(wish))
		(void)symbolizer__remember_soon(job->sources->symbolizer, wish->pid,
						wish->part || wish->anywhere ? &image : NULL);
}

static struct sym_query question_of(const struct wish *wish)
{
	struct sym_query question = {
		.pid = wish->pid, .address = wish->address, .return_address = wish->return_address};

	if (wish->file) {
		question.in_file = true;
		question.file = wish->file->id;
	}
	return question;
}

/* Where a frame is in its process: of its own, not of another one that was asked in its place. */
static void take_place(struct sym_query *query, const struct wish *wish,
		       const struct sym_query *answer)
{
	if (wish->file && !wish->part && !wish->anywhere) {
		query->address = answer->address;
		query->in_file = answer->in_file;
	} else if (wish->mapped_at) {
		query->address = wish->mapped_at;
		query->in_file = false;
	}
}

static void take_answer(struct sym_query *query, const struct wish *wish,
			const struct sym_query *answer)
{
	const struct sym_query asked = *query;

	/* A file that has told the name has told all; without one it may know more than nobody. */
	if (!asked.name && (answer->name || !asked.module)) {
		*query = *answer;
		query->pid = asked.pid;
		query->address = asked.address;
		query->in_file = asked.in_file;
	}
	take_place(query, wish, answer);
}

/* All wishes from first to end, which are sorted. */
static int ask_some(const struct naming_job *job, size_t first, size_t end)
{
	CLEANUP_FREE struct sym_query *asked = calloc(end - first, sizeof(*asked));
	const struct wish *wishes = job->wishes;
	size_t nr = 0;
	int err;

	if (!asked)
		return -ENOMEM;
	for (size_t i = first; i < end; i++)
		if (i == first || compare_questions(&wishes[i], &wishes[i - 1]))
			asked[nr++] = question_of(&wishes[i]);
	err = symbolizer__name_user(job->sources->symbolizer, asked, nr);
	nr = 0;
	for (size_t i = first; i < end; i++) {
		nr += i != first && compare_questions(&wishes[i], &wishes[i - 1]);
		take_answer(&job->queries[wishes[i].place], &wishes[i], &asked[nr]);
	}
	return err;
}

/* As many at once as the symbolizer can remember. */
static int ask(const struct naming_job *job)
{
	int err = 0;

	array__sort(job->wishes, job->nr, sizeof(*job->wishes), compare_wishes);
	for (size_t first = 0, end; first < job->nr && !err; first = end) {
		size_t remembered = 0;

		for (end = first; end < job->nr; end++) {
			const struct wish *wish = &job->wishes[end];

			if (end > first && wish->pid == wish[-1].pid)
				continue;
			remembered += is_remembered(wish);
			if (remembered > REMEMBERED_AT_ONCE)
				break;
			remember(job, wish);
		}
		err = ask_some(job, first, end);
	}
	return err;
}

int program_names__find(const struct frame_sources *sources, const struct frame_place *places,
			struct sym_query *queries, size_t nr)
{
	CLEANUP_FREE struct wish *first = calloc(nr + 1, sizeof(*first));
	CLEANUP_FREE struct wish *second = calloc(nr + 1, sizeof(*second));
	struct naming_job job = {
		.sources = sources, .places = places, .queries = queries, .wishes = first};
	size_t nr_asked;
	int err;

	if (!first || !second)
		return -ENOMEM;
	wish_for_files(&job, nr);
	err = ask(&job);
	if (err)
		return err;
	job.nr = 0;
	wish_for_programs(&job, nr);
	err = ask(&job);
	if (!err)
		err = trace_processes__settle(sources->processes);
	if (err)
		return err;
	nr_asked = job.nr;
	job.wishes = second;
	job.nr = 0;
	wish_again(&job, first, nr_asked);
	return ask(&job);
}
