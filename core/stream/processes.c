// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/processes.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/history/images.h"
#include "core/history/records.h"
#include "sym/sym.h"

/*
 * Processes that have been met, in sets by their PIDs. The one of its set that was met longest
 * ago falls out; when it is met again it is a new program, and named again.
 */
#define MET_SETS 1024
#define MET_WAYS 4

struct met_process {
	pid_t pid;	  /* 0: none */
	uint32_t program; /* the first number since it runs this; 0: it has not been met since */
	uint32_t number;  /* 0: what it had is to be left behind */
	bool told;	  /* the symbolizer has been told of it as it is */
	uint64_t met;	  /* the larger, the more recently */
};

/* The programs that have the last numbers. Names are asked for within milliseconds. */
#define NUMBERS_MAX 4096

struct given_number {
	uint32_t number; /* 0: none */
	uint32_t program;
};

struct stream_processes {
	struct symbolizer *symbolizer;
	struct process_records *records; /* NULL: the kernel is not asked */
	struct process_images *images;
	struct met_process met[MET_SETS][MET_WAYS];
	struct given_number given[NUMBERS_MAX]; /* by number */
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

/* Whether it is known to be the same program as when it was met last. */
static bool is_met(const struct met_process *met, pid_t pid)
{
	return met->pid == pid && met->program;
}

/* The symbolizer knows what was replaced as a process with the negative number for a PID. */
static pid_t replaced_pid(uint32_t program)
{
	return -(pid_t)program;
}

/* Behind all programs that there can be. */
pid_t stream_processes__module_pid(uint32_t module)
{
	return INT_MIN + (pid_t)module;
}

/* It is another program by now, or a little later: its frames are named from its image. */
static void replace(struct stream_processes *processes, struct met_process *met)
{
	(void)symbolizer__remember_soon(processes->symbolizer, replaced_pid(met->program),
					process_images__find(processes->images, met->pid));
	*met = (struct met_process){.pid = met->pid, .met = met->met};
}

static void replace_met(struct stream_processes *processes, pid_t pid)
{
	struct met_process *met = met_of(processes, pid);

	if (is_met(met, pid))
		replace(processes, met);
}

/* Places where nothing was may have names now: there is another number for them. */
static void renew(struct stream_processes *processes, pid_t pid)
{
	struct met_process *met = met_of(processes, pid);

	if (!is_met(met, pid))
		return;
	met->number = 0;
	met->told = false;
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
			renew(processes, record->pid);
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

static void tell(struct stream_processes *processes, struct met_process *met)
{
	/* One that has ended, and is not known to us, has no names: its frames show that. */
	(void)symbolizer__remember_soon(processes->symbolizer, met->pid,
					process_images__find(processes->images, met->pid));
	met->told = true;
}

/* Another number for a process, of the program that it has been, or of another one. */
static void give_number(struct stream_processes *processes, struct met_process *met)
{
	uint32_t number = ++processes->last_number;

	met->number = number;
	if (!met->program)
		met->program = number;
	processes->given[number % NUMBERS_MAX] =
		(struct given_number){.number = number, .program = met->program};
}

uint32_t stream_processes__meet(struct stream_processes *processes, pid_t pid, uint64_t time)
{
	struct met_process *met;
	bool was_other;

	take_records(processes, time);
	met = met_of(processes, pid);
	was_other = met->pid == pid && !met->program;
	if (met->pid != pid)
		*met = (struct met_process){.pid = pid};
	if (!met->number) {
		give_number(processes, met);
		/* It could take the place of what an open question asks for, which has ended. */
		if (!was_other)
			tell(processes, met);
	}
	met->met = ++processes->meetings;
	return met->number;
}

/* Of which program a number is; 0: that was too long ago. */
static uint32_t program_of(const struct stream_processes *processes, uint32_t number)
{
	const struct given_number *given = &processes->given[number % NUMBERS_MAX];

	return given->number == number ? given->program : 0;
}

static bool is_current(const struct met_process *met, pid_t pid, uint32_t number, uint32_t program)
{
	return is_met(met, pid) && (met->number == number || met->program == program);
}

pid_t stream_processes__known_as(struct stream_processes *processes, pid_t pid, uint32_t number)
{
	struct met_process *met = met_of(processes, pid);
	uint32_t program = program_of(processes, number);

	if (is_met(met, pid) && processes->records &&
	    process_records__replace(processes->records, pid))
		replace(processes, met);
	/* What has fallen out has no names: nobody says whether pid is still the same. */
	if (!is_current(met, pid, number, program))
		return replaced_pid(program);
	if (!met->told)
		tell(processes, met);
	return pid;
}

struct pollfd stream_processes__poll(const struct stream_processes *processes)
{
	return processes->records ? process_records__poll(processes->records) :
				    (struct pollfd){.fd = -1};
}
