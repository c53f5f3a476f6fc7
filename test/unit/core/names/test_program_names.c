// SPDX-License-Identifier: GPL-2.0-or-later
/* Which questions the symbolizer is asked, and what becomes of its answers; it is one of this file.
 */
#include "core/names/program_names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/names/frame_names.h"
#include "core/unwind/modules.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "test/unit/tap.h"

#define PID	42
#define PROGRAM 0x7ff0

/* ---- who answers ---- */

static char asked[1024];
static char told_path[UNWIND_PATH_MAX + 1];
static int result;

int symbolizer__name_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	(void)symbolizer;
	for (size_t i = 0; i < nr; i++) {
		if (strlen(asked) < sizeof(asked) - 64)
			sprintf(asked + strlen(asked), " %d:%llx:%llx%s%s",
				queries[i].file ? queries[i].file->pid : queries[i].pid,
				(unsigned long long)queries[i].program,
				(unsigned long long)queries[i].address,
				queries[i].in_file ? "f" : "",
				queries[i].return_address ? "r" : "");
		queries[i].name = queries[i].in_file ? "in_file" : "generated";
		queries[i].offset = 5;
		if (queries[i].file)
			snprintf(told_path, sizeof(told_path), "%s", queries[i].file->path);
	}
	return result;
}

/* ---- questions ---- */

static struct unwind_module_list modules;

static void find(const struct frame_place *places, struct sym_query *queries, size_t nr)
{
	const struct frame_sources sources = {.modules = &modules};

	asked[0] = '\0';
	for (size_t i = 0; i < nr; i++)
		queries[i] = frame__query(places[i].frame, (pid_t)places[i].tgid,
					  places[i].return_address);
	CHECK_INT(program_names__find(&sources, places, queries, nr), result);
}

static void frames_in_files(void)
{
	const struct frame_place places[] = {
		{.frame = frame_in_module(3, 0x12), .tgid = PID, .program = PROGRAM},
		{.frame = frame_in_module(3, 0x12), .tgid = PID + 1, .program = PROGRAM + 16},
		{.frame = frame_in_module(3, 0x12), .tgid = PID, .return_address = true},
		{.frame = frame_in_module(4, 0x12), .tgid = PID, .program = PROGRAM},
	};
	struct sym_query queries[ARRAY_SIZE(places)];

	modules.items[3].found = modules.items[4].found = true;
	modules.items[3].pid = 300;
	modules.items[4].pid = 400;
	find(places, queries, ARRAY_SIZE(places));
	/* Each once, whoever has it. */
	CHECK(!strcmp(asked, " 300:0:12f 300:0:12fr 400:0:12f") ||
	      !strcmp(asked, " 400:0:12f 300:0:12f 300:0:12fr"));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		CHECK_STR(queries[i].name, "in_file");
		CHECK_INT(queries[i].offset, 5);
		CHECK_INT(queries[i].pid, places[i].tgid);
		CHECK_INT(queries[i].address, 0x12);
		CHECK(queries[i].in_file && !queries[i].file);
	}
}

/* Of two programs that one process has been, each is asked for its own. */
static void addresses_of_programs(void)
{
	const struct frame_place places[] = {
		{.frame = 0x5000, .tgid = PID, .program = PROGRAM},
		{.frame = 0x5000, .tgid = PID, .program = PROGRAM + 16},
		{.frame = 0x6000, .tgid = PID, .program = PROGRAM, .return_address = true},
	};
	struct sym_query queries[ARRAY_SIZE(places)];

	find(places, queries, ARRAY_SIZE(places));
	CHECK_STR(asked, " 42:7ff0:5000 42:7ff0:6000r 42:8000:5000");
	CHECK_STR(queries[1].name, "generated");
	CHECK_INT(queries[1].address, 0x5000);
	CHECK_INT(queries[1].pid, PID);
}

static void file_that_nobody_found(void)
{
	const struct frame_place places[] = {
		{.frame = frame_in_module(6, 0x12), .tgid = PID, .program = PROGRAM},
		{.frame = 0x5000, .tgid = PID, .program = PROGRAM},
	};
	struct sym_query queries[ARRAY_SIZE(places)];

	find(places, queries, ARRAY_SIZE(places));
	CHECK_STR(asked, " 42:7ff0:5000");
	CHECK_STR(queries[0].name, NULL);
	CHECK_INT(queries[0].address, 0x12);
	CHECK(queries[0].in_file);
	CHECK_STR(queries[1].name, "generated");
}

/* Another process writes it: it is not believed to end. */
static void path_without_an_end(void)
{
	const struct frame_place place = {.frame = frame_in_module(3, 0x12), .tgid = PID};
	struct sym_query query;

	memset(modules.items[3].path, 'x', sizeof(modules.items[3].path));
	find(&place, &query, 1);
	CHECK_INT(strlen(told_path), UNWIND_PATH_MAX - 1);
	/* Nor is what stands for one that was too long a path. */
	strcpy(modules.items[3].path, "#0123456789abcdef");
	find(&place, &query, 1);
	CHECK_STR(told_path, "");
}

static void failure(void)
{
	const struct frame_place place = {.frame = 0x5000, .tgid = PID, .program = PROGRAM};
	struct sym_query query;

	result = -EAGAIN;
	find(&place, &query, 1);
	result = 0;
}

static const struct tap_test tests[] = {
	{"a file is asked once, whoever has it", frames_in_files},
	{"an address is asked of its program", addresses_of_programs},
	{"nobody is asked for a file that was not found", file_that_nobody_found},
	{"the path of a module is copied with an end", path_without_an_end},
	{"a failure is told", failure},
};

int main(void)
{
	return TAP_RUN(tests);
}
