// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream_processes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/process_images.h"
#include "core/process_records.h"
#include "sym/sym.h"

/*
 * Processes that are known by their numbers, in sets by their PIDs. The one of its set that
 * was met longest ago falls out; it gets another number later, which costs naming it again.
 */
#define MET_SETS 1024
#define MET_WAYS 4

/*
 * Programs that have been replaced by others, by their numbers: what they had mapped is known
 * to the symbolizer as that of a process with the negative number for a PID. They are asked
 * for within milliseconds.
 */
#define REPLACED_MAX 4096

struct met_process {
	pid_t pid; /* 0: none */
	uint32_t number;
	bool told;    /* the symbolizer has been told of it */
	bool other;   /* it was another program when it was met last; its number is not set */
	uint64_t met; /* the larger, the more recently */
};

struct stream_processes {
	struct symbolizer *symbolizer;
	struct process_records *records; /* NULL: the kernel is not asked */
	struct process_images *images;
	struct met_process met[MET_SETS][MET_WAYS];
	uint32_t replaced[REPLACED_MAX]; /* numbers, by themselves */
	uint32_t last_number;
	uint64_t meetings;
};

int stream_processes__new(struct stream_processes **out, struct symbolizer *symbolizer)
{
	struct stream_processes *processes = calloc(1, sizeof(*processes));

	if (!processes || process_images__new(&processes->images)) {
		free(processes);
		return -ENOMEM;
	}
	processes->symbolizer = symbolizer;
	*out = processes;
	return 0;
}

void stream_processes__free(struct stream_processes *processes)
{
	if (!processes)
		return;
	process_records__close(processes->records);
	process_images__free(processes->images);
	free(processes);
}

int stream_processes__watch(struct stream_processes *processes, struct error *error)
{
	/* Starts the child that reads what processes have mapped before one is in a hurry. */
	(void)symbolizer__remember_soon(processes->symbolizer, getpid(), NULL);
	return process_records__open(&processes->records, PROCESS_RECORDS_MUCH, error);
}

/* Where pid is; or else, with pid 0 or another, where it is to be. */
static struct met_process *met_of(struct stream_processes *processes, pid_t pid)
{
	struct met_process *set = processes->met[(uint32_t)pid % MET_SETS], *oldest = set;

	for (size_t i = 0; i < MET_WAYS; i++) {
		if (set[i].pid == pid)
			return &set[i];
		if (set[i].met < oldest->met)
			oldest = &set[i];
	}
	return oldest;
}

static bool is_met(const struct met_process *met, pid_t pid)
{
	return met->pid == pid && !met->other;
}

/* It has code in other places by now: nothing that was known of it holds. */
static void forget(struct stream_processes *processes, pid_t pid)
{
	struct met_process *met = met_of(processes, pid);

	if (is_met(met, pid))
		*met = (struct met_process){0};
}

static bool is_replaced(const struct stream_processes *processes, uint32_t number)
{
	return processes->replaced[number % REPLACED_MAX] == number;
}

/* It is another program by now, or a little later: its frames are named from its image. */
static void replace(struct stream_processes *processes, pid_t pid, uint32_t number)
{
	struct met_process *met = met_of(processes, pid);

	(void)symbolizer__remember_soon(processes->symbolizer, -(pid_t)number,
					process_images__find(processes->images, pid));
	processes->replaced[number % REPLACED_MAX] = number;
	if (met->pid == pid)
		*met = (struct met_process){.pid = pid, .other = true, .met = met->met};
}

static void replace_met(struct stream_processes *processes, pid_t pid)
{
	const struct met_process *met = met_of(processes, pid);

	if (is_met(met, pid))
		replace(processes, pid, met->number);
}

static void take_record(struct stream_processes *processes, const struct process_record *record)
{
	switch (record->deed) {
	case PROCESS_FORKED:
		replace_met(processes, record->pid);
		process_images__fork(processes->images, record->pid, record->parent);
		break;
	case PROCESS_EXECUTED:
		replace_met(processes, record->pid);
		process_images__exec(processes->images, record->pid);
		break;
	case PROCESS_MAPPED:
		process_images__map(processes->images, record->pid, &record->mapping);
		/* A file: generated code comes and goes all the time, beside what was there. */
		if (record->mapping.inode)
			forget(processes, record->pid);
		break;
	case PROCESS_ENDED:
		break;
	case PROCESS_UNKNOWN:
		/* Any of them can be another by now. */
		process_images__forget_all(processes->images);
		memset(processes->met, 0, sizeof(processes->met));
		break;
	}
}

static void take_records(struct stream_processes *processes, uint64_t until)
{
	const struct process_record *record;

	while (processes->records && (record = process_records__next(processes->records, until)))
		take_record(processes, record);
}

int stream_processes__read(struct stream_processes *processes, bool settled)
{
	if (settled)
		take_records(processes, UINT64_MAX);
	return processes->records ? process_records__read(processes->records) : 0;
}

static void tell(struct stream_processes *processes, pid_t pid)
{
	struct met_process *met = met_of(processes, pid);

	/* One that has ended, and is not known to us, has no names: its frames show that. */
	(void)symbolizer__remember_soon(processes->symbolizer, pid,
					process_images__find(processes->images, pid));
	if (is_met(met, pid))
		met->told = true;
}

uint32_t stream_processes__meet(struct stream_processes *processes, pid_t pid, uint64_t time)
{
	struct met_process *met;

	take_records(processes, time);
	met = met_of(processes, pid);
	if (!is_met(met, pid)) {
		bool was_other = met->pid == pid;

		*met = (struct met_process){.pid = pid, .number = ++processes->last_number};
		/* It could take the place of what an open question asks for, which has ended. */
		if (!was_other)
			tell(processes, pid);
	}
	met->met = ++processes->meetings;
	return met->number;
}

pid_t stream_processes__known_as(struct stream_processes *processes, pid_t pid, uint32_t number)
{
	const struct met_process *met = met_of(processes, pid);

	if (!is_replaced(processes, number) && processes->records &&
	    process_records__replace(processes->records, pid))
		replace(processes, pid, number);
	if (is_replaced(processes, number))
		return -(pid_t)number;
	if (!is_met(met, pid) || !met->told)
		tell(processes, pid);
	return pid;
}

struct pollfd stream_processes__poll(const struct stream_processes *processes)
{
	return processes->records ? process_records__poll(processes->records) :
				    (struct pollfd){.fd = -1};
}
