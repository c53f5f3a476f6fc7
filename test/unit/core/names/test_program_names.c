// SPDX-License-Identifier: GPL-2.0-or-later
/* Whom frames of programs are asked of: a symbolizer and processes are played here. */
#include "core/names/program_names.h"

#include <stdbool.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/history/history.h"
#include "core/names/frame_names.h"
#include "core/names/trace_processes.h"
#include "core/unwind/modules.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "test/unit/tap.h"

/* By which the symbolizer knows them. */
#define PART	 (-1)
#define SNAPSHOT (-2)
#define MODULE	 (-1000) /* and below */

#define PID 42

/* ---- what is known ---- */

static struct process_place known; /* of each frame */

const struct process_history *trace_processes__history(const struct trace_processes *processes)
{
	(void)processes;
	return NULL;
}

int trace_processes__settle(struct trace_processes *processes)
{
	(void)processes;
	return 0;
}

pid_t trace_processes__part_pid(uint32_t part)
{
	CHECK_INT(part, 1);
	return PART;
}

pid_t trace_processes__snapshot_pid(const struct trace_processes *processes, uint32_t snapshot)
{
	(void)processes;
	CHECK_INT(snapshot, 1);
	return SNAPSHOT;
}

pid_t trace_processes__module_pid(uint32_t module)
{
	return MODULE - (pid_t)module;
}

struct process_place process_history__find(const struct process_history *history, pid_t pid,
					   uint64_t since, const struct sym_file_id *file,
					   uint64_t address)
{
	struct process_place place = known;

	(void)history;
	(void)pid;
	(void)since;
	(void)file;
	place.address = address;
	return place;
}

struct sym_image process_history__image(const struct process_history *history, uint32_t part,
					struct sym_mapping *mapping)
{
	(void)history;
	(void)part;
	*mapping = (struct sym_mapping){.path = "part"};
	return (struct sym_image){.mappings = mapping, .nr = 1};
}

/* ---- who answers ---- */

/* Of one PID; all zero: nobody does. */
struct answer {
	pid_t pid;
	bool placed;
	const char *name, *module;
};

static struct answer answers[3];
static char asked[256], remembered[UNWIND_PATH_MAX + 1];

int symbolizer__name_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	(void)symbolizer;
	for (size_t i = 0; i < nr; i++) {
		sprintf(asked + strlen(asked), " %d", queries[i].pid);
		for (size_t k = 0; k < ARRAY_SIZE(answers); k++) {
			if (answers[k].pid != queries[i].pid)
				continue;
			queries[i].name = answers[k].name;
			queries[i].module = answers[k].module;
			if (answers[k].placed) {
				queries[i].address += 0x10000;
				queries[i].in_file = false;
			}
		}
	}
	return 0;
}

int symbolizer__remember_soon(struct symbolizer *symbolizer, pid_t pid,
			      const struct sym_image *image)
{
	(void)symbolizer;
	(void)pid;
	if (image)
		snprintf(remembered, sizeof(remembered), "%s", image->mappings[0].path);
	return 0;
}

/* ---- questions ---- */

static struct unwind_module_list modules;
static bool is_lost; /* nobody has found the file */

/* Ask for offset 0x12 of module 3, and say whom that was asked of. */
static const char *ask(struct sym_query *query)
{
	const struct frame_sources sources = {.modules = &modules};
	const struct frame_place place = {.frame = frame_in_module(3, 0x12), .tgid = PID};

	asked[0] = remembered[0] = '\0';
	modules.items[3].found = !is_lost;
	*query = frame__query(place.frame, PID, false, &modules);
	CHECK_INT(program_names__find(&sources, &place, query, 1), 0);
	CHECK_INT(query->pid, PID);
	return asked;
}

static void check(const char *wanted, const char *name, uint64_t address, bool in_file)
{
	struct sym_query query;

	CHECK_STR(ask(&query), wanted);
	CHECK_STR(query.name, name);
	CHECK_INT(query.in_file, in_file);
	CHECK_INT(query.address, address);
}

static void play(struct process_place place, struct answer first, struct answer second)
{
	known = place;
	answers[0] = first;
	answers[1] = second;
}

static void file_with_names(void)
{
	const struct answer file = {MODULE - 3, true, "f", "a"}, process = {PID, true, "g", "a"};

	play((struct process_place){.current = true}, file, process);
	check(" -1003", "f", 0x12, true);
	play((struct process_place){.part = 1, .mapped_at = 0x7000}, file, (struct answer){0});
	check(" -1003", "f", 0x12, true);
	/* The address is that of another process. */
	play((struct process_place){0}, file, (struct answer){0});
	check(" -1003", "f", 0x12, true);
}

/* It cannot be opened any more by whoever had it first. */
static void file_that_is_gone(void)
{
	play((struct process_place){.current = true}, (struct answer){PID, true, "f", "a"},
	     (struct answer){0});
	check(" -1003 42", "f", 0x10012, false);
	play((struct process_place){.part = 1, .mapped_at = 0x7000},
	     (struct answer){PART, true, "f", "a"}, (struct answer){0});
	check(" -1003 -1", "f", 0x7000, false);
	CHECK_STR(remembered, "part");
	play((struct process_place){.snapshot = 1}, (struct answer){SNAPSHOT, true, "f", "a"},
	     (struct answer){0});
	check(" -1003 -2", "f", 0x10012, false);
	play((struct process_place){0}, (struct answer){0}, (struct answer){0});
	check(" -1003", NULL, 0x12, true);
}

/* A process that has just ended has told nothing. */
static void file_without_names(void)
{
	struct sym_query query;

	play((struct process_place){.snapshot = 1}, (struct answer){SNAPSHOT, true, NULL, "a"},
	     (struct answer){MODULE - 3, true, NULL, "b"});
	CHECK_STR(ask(&query), " -1003 -2");
	CHECK_STR(query.name, NULL);
	CHECK_STR(query.module, "b");
	CHECK(!query.in_file);
	CHECK_INT(query.address, 0x10012);
	answers[1].pid = 0;
	ask(&query);
	CHECK_STR(query.module, "a");
	answers[0].pid = 0;
	ask(&query);
	CHECK_STR(query.module, NULL);
	CHECK(query.in_file);
}

static void file_that_nobody_found(void)
{
	is_lost = true;
	play((struct process_place){.current = true}, (struct answer){MODULE - 3, true, "f", "a"},
	     (struct answer){PID, true, "f", "a"});
	check("", NULL, 0x12, true);
	is_lost = false;
}

/* Another process writes it: it is not believed to end. */
static void path_without_an_end(void)
{
	struct sym_query query;

	known = (struct process_place){0};
	memset(modules.items[3].path, 'x', sizeof(modules.items[3].path));
	CHECK_STR(ask(&query), " -1003");
	CHECK_INT(strlen(remembered), UNWIND_PATH_MAX - 1);
}

static const struct tap_test tests[] = {
	{"a file is asked for its frames", file_with_names},
	{"where the file is gone the program is asked", file_that_is_gone},
	{"a file without names is known nevertheless", file_without_names},
	{"nobody is asked for a file that was not found", file_that_nobody_found},
	{"the path of a module is copied with an end", path_without_an_end},
};

int main(void)
{
	return TAP_RUN(tests);
}
