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

static char asked[1024], told[1024];
static char told_path[UNWIND_PATH_MAX + 1];
static size_t nr_told, most_told;
static int result;

int symbolizer__name_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	(void)symbolizer;
	for (size_t i = 0; i < nr; i++) {
		if (strlen(asked) < sizeof(asked) - 64)
			sprintf(asked + strlen(asked), " %d:%llx:%llx%s%s", queries[i].pid,
				(unsigned long long)queries[i].program,
				(unsigned long long)queries[i].address,
				queries[i].in_file ? "f" : "",
				queries[i].return_address ? "r" : "");
		queries[i].name = queries[i].in_file ? "in_file" : "generated";
		queries[i].offset = 5;
		/* Where the one has it that was asked. */
		queries[i].address += 0x10000;
		queries[i].in_file = false;
	}
	most_told = nr_told > most_told ? nr_told : most_told;
	nr_told = 0;
	return result;
}

int symbolizer__remember_soon(struct symbolizer *symbolizer, pid_t pid,
			      const struct sym_image *image)
{
	(void)symbolizer;
	nr_told++;
	if (strlen(told) < sizeof(told) - 64)
		sprintf(told + strlen(told), " %d", pid);
	snprintf(told_path, sizeof(told_path), "%s", image->mappings[0].path);
	CHECK(image->whole && image->nr == 1);
	return 0;
}

/* ---- questions ---- */

static struct unwind_module_list modules;

static void find(const struct frame_place *places, struct sym_query *queries, size_t nr)
{
	const struct frame_sources sources = {.modules = &modules};

	asked[0] = told[0] = '\0';
	for (size_t i = 0; i < nr; i++)
		queries[i] = frame__query(places[i].frame, (pid_t)places[i].tgid,
					  places[i].return_address, &modules);
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
	find(places, queries, ARRAY_SIZE(places));
	/* Each once, whoever has it. */
	CHECK_STR(asked, " -5:0:12f -4:0:12f -4:0:12fr");
	CHECK_STR(told, " -5 -4");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		CHECK_STR(queries[i].name, "in_file");
		CHECK_INT(queries[i].offset, 5);
		CHECK_INT(queries[i].pid, places[i].tgid);
		CHECK_INT(queries[i].address, 0x12);
		CHECK(queries[i].in_file);
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
	CHECK_STR(told, "");
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
}

/* The symbolizer remembers only so many at a time: those of a question are told of before it. */
static void many_files(void)
{
	enum { NR = 2000 };
	static struct frame_place places[NR];
	static struct sym_query queries[NR];

	for (uint32_t i = 0; i < NR; i++) {
		modules.items[i].found = true;
		places[i] = (struct frame_place){.frame = frame_in_module(i, 0x12), .tgid = PID};
	}
	most_told = nr_told = 0;
	find(places, queries, NR);
	CHECK_INT(most_told, 512);
	for (uint32_t i = 0; i < NR; i++)
		if (!queries[i].name || strcmp(queries[i].name, "in_file") != 0)
			tap_check(false, __FILE__, __LINE__, "file %u has no name", i);
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
	{"many files are asked for in turn", many_files},
	{"a failure is told", failure},
};

int main(void)
{
	return TAP_RUN(tests);
}
