// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/room.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/options/trace_options.h"
#include "sym/util/array.h"
#include "sym/util/memory.h"
#include "test/unit/tap.h"

#define MB ((uint64_t)1024 * 1024)

static const struct trace_options usual = TRACE_OPTIONS_DEFAULTS;

static void with_enough_memory_the_usual_sizes(void)
{
	struct room room = room__find(&usual, 64 * MB);

	CHECK_INT(room.stacks, 16384);
	CHECK_INT(room.keys, 40960);
	CHECK_INT(room.unwind.tables, 64 * MB);
	CHECK_INT(room.unwind.raw_ring, 4 * MB);
	CHECK_INT(room.events, 4 * MB);
}

static void with_less_their_share(void)
{
	struct room room = room__find(&usual, 16 * MB);

	CHECK_INT(room.stacks, 4096);
	CHECK_INT(room.keys, 10240);
	CHECK_INT(room.unwind.tables, 4 * MB);
	CHECK_INT(room.unwind.raw_ring, MB);
	CHECK_INT(room.events, MB);
	/* A ring's size is a power of two. */
	CHECK_INT(room__find(&usual, 31 * MB).events, MB);
}

static void with_none_the_least(void)
{
	struct room room = room__find(&usual, 0);

	CHECK_INT(room.stacks, 1);
	CHECK_INT(room.keys, 1);
	CHECK_INT(room.unwind.tables, MB);
	CHECK_INT(room.events, 128 * 1024);
}

static void options_are_obeyed(void)
{
	struct trace_options options = usual;
	struct room room;

	options.stack_storage_size = 100000;
	options.hash_storage_size = 7;
	options.unwind_memory = 9 * MB;
	room = room__find(&options, 12 * MB);
	CHECK_INT(room.stacks, 100000);
	CHECK_INT(room.keys, 7);
	CHECK_INT(room.unwind.tables, 9 * MB);
}

static char folder[] = "/tmp/test_room.XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

static void remove_folder(void)
{
	static const char *const names[] = {"memory.max", "memory.current", "memory.stat", ""};
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		remove(path);
	}
}

static void what_is_left_of_a_cgroup(void)
{
	if (!mkdtemp(folder))
		abort();
	CHECK(memory__left_in_cgroup(folder) == UINT64_MAX);
	write_file("memory.max", "max\n");
	write_file("memory.current", "5000000\n");
	CHECK(memory__left_in_cgroup(folder) == UINT64_MAX);
	write_file("memory.max", "12000000\n");
	CHECK_INT(memory__left_in_cgroup(folder), 7000000);
	/* Pages of files can be had, too. */
	write_file("memory.stat", "anon 1000\nactive_file 2000000\ninactive_file 3000000\n");
	CHECK_INT(memory__left_in_cgroup(folder), 10000000);
	write_file("memory.max", "1000000\n");
	CHECK_INT(memory__left_in_cgroup(folder), 0);
	remove_folder();
}

static void what_this_machine_has(void)
{
	CHECK(memory__available() > 0);
	/* Both are asked at different moments. */
	CHECK(room__available() <= memory__available() + 64 * MB);
}

static const struct tap_test tests[] = {
	{"with 64 MB of memory tables have their usual sizes", with_enough_memory_the_usual_sizes},
	{"with less they have their share", with_less_their_share},
	{"with none the least", with_none_the_least},
	{"options are obeyed whatever memory there is", options_are_obeyed},
	{"what is left of the limit of a cgroup", what_is_left_of_a_cgroup},
	{"memory of this machine", what_this_machine_has},
};

int main(void)
{
	return TAP_RUN(tests);
}
