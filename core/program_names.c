// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/program_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/frame_names.h"
#include "core/process_history.h"
#include "core/trace_processes.h"
#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "sym/sym.h"

/* Parts and processes that are remembered for one question: far less than stay so. */
#define REMEMBERED_AT_ONCE 512

/* How the symbolizer is asked for a place. */
struct wish {
	pid_t pid; /* of the process, or of none; 0: there is nothing to ask */
	uint64_t address;
	bool return_address;
	bool renewed;  /* pid may be another process than the symbolizer remembers */
	uint32_t part; /* that it is in; or 0 */
	size_t place;  /* its index */
};

static int compare_wishes(const void *a, const void *b)
{
	const struct wish *left = a, *right = b;
	int order = COMPARE(left->pid, right->pid);

	if (!order)
		order = COMPARE(left->address, right->address);
	if (!order)
		order = COMPARE(left->return_address, right->return_address);
	return order ? order : COMPARE(left->place, right->place);
}

static bool is_same_question(const struct wish *a, const struct wish *b)
{
	return a->pid == b->pid && a->address == b->address &&
	       a->return_address == b->return_address;
}

struct naming_job {
	struct trace_processes *processes;
	struct symbolizer *symbolizer;
	const struct frame_place *places;
	struct sym_query *queries;
	struct wish *wishes;
	size_t nr;
};

/* ---- what to ask ---- */

/* Of a process that is still there. */
static struct wish wish_for_process(const struct frame_place *place)
{
	return (struct wish){
		.pid = (pid_t)place->tgid,
		.address = place->frame,
		.renewed = place->since != PROGRAM_BEFORE,
	};
}

/* From what is known of a program. */
static struct wish wish_for_program(const struct naming_job *job, const struct process_place *found)
{
	struct wish wish = {.address = found->address};

	wish.part = found->part;
	if (found->part)
		wish.pid = trace_processes__part_pid(found->part);
	else if (found->snapshot)
		wish.pid = trace_processes__snapshot_pid(job->processes, found->snapshot);
	return wish;
}

static struct process_place find(const struct naming_job *job, const struct frame_place *place)
{
	return process_history__find(trace_processes__history(job->processes), (pid_t)place->tgid,
				     place->since, place->frame);
}

static void add(struct naming_job *job, size_t place, struct wish wish)
{
	wish.place = place;
	wish.return_address = job->places[place].return_address;
	if (wish.pid)
		job->wishes[job->nr++] = wish;
}

static void wish_first(struct naming_job *job, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct frame_place *place = &job->places[i];
		struct process_place found = find(job, place);

		job->queries[i] = (struct sym_query){.pid = (pid_t)place->tgid,
						     .address = place->frame,
						     .return_address = place->return_address};
		if (found.current || place->since == PROGRAM_UNKNOWN)
			add(job, i, wish_for_process(place));
		else
			add(job, i, wish_for_program(job, &found));
	}
}

/*
 * What a process could not tell, since it has just ended or unloaded the library, and what it
 * has told when it may have been another program already.
 */
static void wish_again(struct naming_job *job, const struct wish *asked, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		size_t index = asked[i].place;
		struct sym_query *query = &job->queries[index];
		const struct frame_place *place = &job->places[index];
		struct process_place found = find(job, place);

		if (asked[i].pid < 0 || place->since == PROGRAM_UNKNOWN ||
		    (found.current && (query->name || query->module)))
			continue;
		*query = (struct sym_query){.pid = query->pid,
					    .address = query->address,
					    .return_address = query->return_address};
		add(job, index, wish_for_program(job, &found));
	}
}

/* ---- asking ---- */

static void remember(const struct naming_job *job, const struct wish *wish)
{
	const struct process_history *history = trace_processes__history(job->processes);
	struct sym_mapping mapping;
	struct sym_image image;

	/* The same as when it was mapped: a file that is held stays so. */
	if (wish->part)
		image = process_history__image(history, wish->part, &mapping);
	if (wish->part || wish->renewed)
		(void)symbolizer__remember_soon(job->symbolizer, wish->pid,
						wish->part ? &image : NULL);
}

static void take_answer(struct sym_query *query, const struct sym_query *answer)
{
	const struct sym_query asked = *query;

	*query = *answer;
	query->pid = asked.pid;
	query->address = asked.address;
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
		if (i == first || !is_same_question(&wishes[i], &wishes[i - 1]))
			asked[nr++] =
				(struct sym_query){.pid = wishes[i].pid,
						   .address = wishes[i].address,
						   .return_address = wishes[i].return_address};
	err = symbolizer__name_user(job->symbolizer, asked, nr);
	nr = 0;
	for (size_t i = first; i < end; i++) {
		nr += i != first && !is_same_question(&wishes[i], &wishes[i - 1]);
		take_answer(&job->queries[wishes[i].place], &asked[nr]);
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
			remembered += wish->part || wish->renewed;
			if (remembered > REMEMBERED_AT_ONCE)
				break;
			remember(job, wish);
		}
		err = ask_some(job, first, end);
	}
	return err;
}

int program_names__find(struct trace_processes *processes, struct symbolizer *symbolizer,
			const struct frame_place *places, struct sym_query *queries, size_t nr)
{
	CLEANUP_FREE struct wish *first = calloc(nr + 1, sizeof(*first));
	CLEANUP_FREE struct wish *second = calloc(nr + 1, sizeof(*second));
	struct naming_job job = {.processes = processes,
				 .symbolizer = symbolizer,
				 .places = places,
				 .queries = queries,
				 .wishes = first};
	size_t nr_asked;
	int err;

	if (!first || !second)
		return -ENOMEM;
	wish_first(&job, nr);
	err = ask(&job);
	if (!err)
		err = trace_processes__settle(processes);
	if (err)
		return err;
	nr_asked = job.nr;
	job.wishes = second;
	job.nr = 0;
	wish_again(&job, first, nr_asked);
	return ask(&job);
}
