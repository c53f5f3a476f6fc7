// SPDX-License-Identifier: GPL-2.0-or-later
/* Which program an event is of, with records and a symbolizer that are played here. */
#include "core/stream/processes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/history/records.h"
#include "sym/sym.h"
#include "test/unit/tap.h"

/* ---- records that happen when the test says so ---- */

static struct process_record coming[16];
static size_t nr_coming, nr_read, next_record;

int process_records__open(struct process_records **records, uint32_t wakeup, struct error *error)
{
	static char opened;

	(void)wakeup;
	(void)error;
	*records = (struct process_records *)&opened;
	nr_coming = nr_read = next_record = 0;
	return 0;
}

void process_records__close(struct process_records *records)
{
	(void)records;
}

int process_records__read(struct process_records *records)
{
	(void)records;
	nr_read = nr_coming;
	return 0;
}

const struct process_record *process_records__next(struct process_records *records, uint64_t until)
{
	(void)records;
	if (next_record == nr_read || coming[next_record].time > until)
		return NULL;
	return &coming[next_record++];
}

bool process_records__replace(const struct process_records *records, pid_t pid)
{
	(void)records;
	for (size_t i = next_record; i < nr_read; i++)
		if (coming[i].pid == pid && coming[i].deed != PROCESS_MAPPED)
			return true;
	return false;
}

struct pollfd process_records__poll(const struct process_records *records)
{
	(void)records;
	return (struct pollfd){.fd = -1};
}

static void happens(enum process_deed deed, pid_t pid, uint64_t time)
{
	coming[nr_coming++] = (struct process_record){
		.deed = deed,
		.time = time,
		.pid = pid,
		.parent = 1,
		.mapping = {.start = time * 4096,
			    .end = (time + 1) * 4096,
			    .inode = 7,
			    .path = deed == PROCESS_MAPPED ? "/some/file" : NULL},
	};
}

/* ---- a symbolizer that notes what it is told of ---- */

static char told[256];

int symbolizer__remember_soon(struct symbolizer *symbolizer, pid_t pid,
			      const struct sym_image *image)
{
	size_t used = strlen(told);

	(void)symbolizer;
	snprintf(told + used, sizeof(told) - used, " %d/%zu", (int)pid, image ? image->nr : 0);
	return 0;
}

/* "PID/MAPPINGS ...", of all that it has been told of since the last call. */
static const char *take_told(void)
{
	static char taken[sizeof(told)];

	strcpy(taken, told);
	told[0] = '\0';
	return taken;
}

/* ---- tests ---- */

#define PID 10

static struct stream_processes *processes;

static void with_processes(void (*test)(void))
{
	if (!CHECK_INT(stream_processes__new(&processes, NULL), 0))
		return;
	CHECK_INT(stream_processes__watch(processes, NULL), 0);
	take_told();
	test();
	stream_processes__free(processes);
}

static void read_records(void)
{
	CHECK_INT(stream_processes__read(processes, false), 0);
}

static void same_program_test(void)
{
	CHECK_INT(stream_processes__meet(processes, PID, 1), 1);
	CHECK_STR(take_told(), " 10/0");
	CHECK_INT(stream_processes__meet(processes, PID, 2), 1);
	CHECK_INT(stream_processes__meet(processes, PID + 1, 3), 2);
	CHECK_INT(stream_processes__known_as(processes, PID, 1), PID);
	CHECK_STR(take_told(), " 11/0");
}

static void exec_test(void)
{
	CHECK_INT(stream_processes__meet(processes, PID, 1), 1);
	happens(PROCESS_EXECUTED, PID, 10);
	happens(PROCESS_MAPPED, PID, 11);
	read_records();
	take_told();
	/* What is still to come says that it is another program by now. */
	CHECK_INT(stream_processes__known_as(processes, PID, 1), -1);
	CHECK_STR(take_told(), " -1/0");
	/* Told of when it is asked for: a question about the other one may be open. */
	CHECK_INT(stream_processes__meet(processes, PID, 20), 2);
	CHECK_STR(take_told(), "");
	CHECK_INT(stream_processes__known_as(processes, PID, 2), PID);
	CHECK_STR(take_told(), " 10/1");
	CHECK_INT(stream_processes__known_as(processes, PID, 1), -1);
	CHECK_STR(take_told(), "");
}

/* Whatever was mapped between an event and exec(). */
static void exec_after_mapping_test(void)
{
	CHECK_INT(stream_processes__meet(processes, PID, 1), 1);
	happens(PROCESS_MAPPED, PID, 5);
	read_records();
	CHECK_INT(stream_processes__meet(processes, PID, 6), 2);
	CHECK_INT(stream_processes__known_as(processes, PID, 1), PID);
	CHECK_INT(stream_processes__known_as(processes, PID, 2), PID);
	happens(PROCESS_MAPPED, PID, 7);
	happens(PROCESS_EXECUTED, PID, 10);
	read_records();
	CHECK_INT(stream_processes__meet(processes, PID + 1, 20), 3);
	CHECK_INT(stream_processes__known_as(processes, PID, 1), -1);
	CHECK_INT(stream_processes__known_as(processes, PID, 2), -1);
	CHECK_INT(stream_processes__meet(processes, PID, 21), 4);
	CHECK_INT(stream_processes__known_as(processes, PID, 2), -1);
	CHECK_INT(stream_processes__known_as(processes, PID, 4), PID);
}

static void mapped_test(void)
{
	CHECK_INT(stream_processes__meet(processes, PID, 1), 1);
	take_told();
	happens(PROCESS_MAPPED, PID, 2);
	read_records();
	CHECK_INT(stream_processes__meet(processes, PID, 3), 2);
	CHECK_STR(take_told(), " 10/0");
}

static void many_test(void)
{
	CHECK_INT(stream_processes__meet(processes, PID, 1), 1);
	for (int i = 0; i < 5000; i++)
		stream_processes__meet(processes, PID + 1 + i % 1000, 2);
	CHECK_INT(stream_processes__known_as(processes, PID, 1), PID);
	/* So many with the same place that it falls out: it can be anything by then. */
	for (int i = 1; i <= 4; i++)
		stream_processes__meet(processes, PID + i * 1024, 3);
	CHECK(stream_processes__known_as(processes, PID, 1) < 0);
	CHECK(stream_processes__meet(processes, PID, 4) > 1);
}

static void lost_test(void)
{
	CHECK_INT(stream_processes__meet(processes, PID, 1), 1);
	happens(PROCESS_UNKNOWN, 0, 2);
	read_records();
	CHECK_INT(stream_processes__meet(processes, PID, 3), 2);
	CHECK(stream_processes__known_as(processes, PID, 1) < 0);
	CHECK_INT(stream_processes__known_as(processes, PID, 2), PID);
}

static const struct tap_test tests[] = {
	{"a process has one number while it is the same program", same_program_test},
	{"after exec() the program before is known by its number", exec_test},
	{"so is each number that it had while it mapped files", exec_after_mapping_test},
	{"what has mapped a file is told of again", mapped_test},
	{"what fell out is not taken for what has its PID now", many_test},
	{"nor is anything when records were lost", lost_test},
};

int main(void)
{
	return TAP_RUN_IN(with_processes, tests);
}
