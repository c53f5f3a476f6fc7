// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/history/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/parts.h"
#include "core/history/records.h"
#include "test/unit/tap.h"

#define BYTES ((size_t)1024 * 1024)

static struct process_history *history;
static uint64_t generation; /* of what is mapped */

static void fork_at(uint64_t time, pid_t pid, pid_t parent)
{
	const struct process_record record = {
		.deed = PROCESS_FORKED, .time = time, .pid = pid, .parent = parent};

	process_history__take(history, &record);
}

static void exec_at(uint64_t time, pid_t pid)
{
	const struct process_record record = {.deed = PROCESS_EXECUTED, .time = time, .pid = pid};

	process_history__take(history, &record);
}

static void end_at(uint64_t time, pid_t pid)
{
	const struct process_record record = {.deed = PROCESS_ENDED, .time = time, .pid = pid};

	process_history__take(history, &record);
}

static void lose(uint64_t since, uint64_t time)
{
	const struct process_record record = {
		.deed = PROCESS_UNKNOWN, .since = since, .time = time};

	process_history__take(history, &record);
}

static ino_t inode_of(const char *path)
{
	ino_t sum = 7;

	for (; *path; path++)
		sum = sum * 31 + (unsigned char)*path;
	return sum;
}

/* Two pages of the file path, or without one if that begins with '/' twice or with '['. */
static uint32_t map_from(uint64_t time, pid_t pid, uint64_t start, uint64_t offset,
			 const char *path)
{
	bool is_file = path[0] == '/' && path[1] != '/';
	const struct process_record record = {.deed = PROCESS_MAPPED,
					      .time = time,
					      .pid = pid,
					      .generation = generation,
					      .mapping = {.start = start,
							  .end = start + 0x2000,
							  .offset = is_file ? offset : 0,
							  .device = is_file ? 8 : 0,
							  .inode = is_file ? inode_of(path) : 0,
							  .path = path}};

	return process_history__take(history, &record);
}

static uint32_t map_at(uint64_t time, pid_t pid, uint64_t start, const char *path)
{
	return map_from(time, pid, start, 0x3000, path);
}

/*
 * Where address was of pid at a time: "PATH+OFFSET", "snapshot N" or "nothing", "*" if it is now.
 */
static const char *show(pid_t pid, uint64_t time, uint64_t address)
{
	static char text[128];
	uint64_t since = process_history__since(history, pid, time);
	struct process_place place = process_history__find(history, pid, since, NULL, address);
	const char *now = place.current ? "*" : "";
	struct sym_mapping part;

	if (since == PROGRAM_UNKNOWN)
		return "unknown";
	if (since == PROGRAM_GONE)
		return "gone";
	if (since == PROGRAM_FORGOTTEN)
		return "forgotten";
	if (place.part) {
		process_history__image(history, place.part, &part);
		snprintf(text, sizeof(text), "%s+%llx%s", part.path,
			 (unsigned long long)(place.address - part.start), now);
	} else if (place.snapshot) {
		CHECK_INT(place.address, address);
		snprintf(text, sizeof(text), "snapshot %u%s", place.snapshot, now);
	} else {
		snprintf(text, sizeof(text), "nothing%s", now);
	}
	return text;
}

/* The same of an offset in a file, with the address where the program had it. */
static const char *show_in(const char *path, pid_t pid, uint64_t time, uint64_t in_file)
{
	static char text[128];
	const struct sym_file_id file = {.device = path[0] == '/' ? 8 : 0,
					 .inode = path[0] == '/' ? inode_of(path) : 0};
	uint64_t since = process_history__since(history, pid, time);
	struct process_place place = process_history__find(history, pid, since, &file, in_file);

	CHECK_INT(place.address, in_file);
	if (place.part)
		snprintf(text, sizeof(text), "%llx%s", (unsigned long long)place.mapped_at,
			 place.current ? "*" : "");
	else
		snprintf(text, sizeof(text), "snapshot %u%s", place.snapshot,
			 place.current ? "*" : "");
	CHECK(place.part || !place.mapped_at);
	return text;
}

static void with_history(uint32_t programs, size_t bytes, void (*test)(void))
{
	if (!CHECK_INT(process_history__new(&history, programs, bytes), 0))
		return;
	test();
	process_history__free(history);
}

static void exec_chain(void)
{
	fork_at(10, 5, 4);
	exec_at(20, 5);
	map_at(21, 5, 0x10000, "/bin/a");
	exec_at(30, 5);
	map_at(31, 5, 0x10000, "/bin/b");
	CHECK_STR(show(5, 20, 0x10004), "/bin/a+4");
	CHECK_STR(show(5, 29, 0x11fff), "/bin/a+1fff");
	CHECK_STR(show(5, 29, 0x12000), "nothing");
	CHECK_STR(show(5, 30, 0x10004), "/bin/b+4*");
	CHECK_STR(show(5, 99, 0x10004), "/bin/b+4*");
	end_at(100, 5);
	CHECK_STR(show(5, 99, 0x10004), "/bin/b+4");
	/* Its parent was not known, and it was that no more. */
	CHECK_STR(show(5, 15, 0x10004), "gone");
	CHECK_STR(show(5, 9, 0x10004), "gone");
	CHECK_STR(show(6, 9, 0x10004), "unknown");
}

static void exec_chain_test(void)
{
	with_history(64, BYTES, exec_chain);
}

static void forks(void)
{
	process_history__begin(history, 4, 77);
	CHECK_STR(show(4, 5, 0x10000), "snapshot 77*");
	fork_at(10, 5, 4);
	CHECK_STR(show(5, 11, 0x10000), "snapshot 77*");
	exec_at(20, 5);
	map_at(21, 5, 0x10000, "/bin/a");
	fork_at(30, 6, 5);
	CHECK_STR(show(6, 31, 0x10001), "/bin/a+1*");
	/* What the one maps from then on the other has not. */
	map_at(40, 5, 0x20000, "/lib/five");
	map_at(41, 6, 0x30000, "/lib/six");
	CHECK_STR(show(5, 50, 0x20000), "/lib/five+0*");
	CHECK_STR(show(6, 50, 0x20000), "nothing*");
	CHECK_STR(show(6, 50, 0x30000), "/lib/six+0*");
	CHECK_STR(show(5, 50, 0x30000), "nothing*");
	end_at(60, 5);
	end_at(61, 6);
	CHECK_STR(show(6, 50, 0x10000), "/bin/a+0");
	/* The shell that was there before calls exec(). */
	exec_at(70, 4);
	CHECK_STR(show(4, 69, 0x10000), "snapshot 77");
	CHECK_STR(show(4, 70, 0x10000), "nothing*");
	CHECK_STR(show(5, 11, 0x10000), "snapshot 77");
}

static void forks_test(void)
{
	with_history(64, BYTES, forks);
}

static void reused_pids(void)
{
	for (pid_t pid = 0; pid < 3; pid++) {
		fork_at(10 + (uint64_t)pid * 10, 5, 4);
		exec_at(12 + (uint64_t)pid * 10, 5);
		map_at(13 + (uint64_t)pid * 10, 5, 0x10000, pid == 1 ? "/bin/b" : "/bin/a");
		end_at(19 + (uint64_t)pid * 10, 5);
	}
	CHECK_STR(show(5, 14, 0x10000), "/bin/a+0");
	CHECK_STR(show(5, 24, 0x10000), "/bin/b+0");
	CHECK_STR(show(5, 34, 0x10000), "/bin/a+0");
	CHECK_STR(show(5, 21, 0x10000), "gone");
	/* One that was there before, and ended: nobody else has its PID yet. */
	process_history__begin(history, 8, 3);
	end_at(50, 8);
	CHECK_STR(show(8, 40, 0x10000), "snapshot 3*");
	fork_at(60, 8, 5);
	CHECK_STR(show(8, 40, 0x10000), "snapshot 3");
}

static void reused_pids_test(void)
{
	with_history(64, BYTES, reused_pids);
}

static void libraries(void)
{
	exec_at(10, 5);
	map_at(11, 5, 0x10000, "/bin/a");
	map_at(20, 5, 0x20000, "/lib/first");
	/* The same again, with other permissions. */
	CHECK_INT(map_at(21, 5, 0x20000, "/lib/first"), 0);
	/* In its place: both have their time. */
	map_at(30, 5, 0x20000, "/lib/second");
	CHECK_STR(show(5, 25, 0x20010), "/lib/first+10");
	CHECK_STR(show(5, 35, 0x20010), "/lib/second+10*");
	CHECK_STR(show(5, 25, 0x10010), "/bin/a+10*");
	CHECK_STR(show(5, 35, 0x10010), "/bin/a+10*");
	/* In a part of it only. */
	map_at(40, 5, 0x21000, "/lib/third");
	CHECK_STR(show(5, 45, 0x20010), "/lib/second+10*");
	CHECK_STR(show(5, 45, 0x21010), "/lib/third+10*");
	CHECK_STR(show(5, 45, 0x22010), "/lib/third+1010*");
	/* Generated code, beside and in the place of a library. */
	map_at(50, 5, 0x50000, "//anon");
	CHECK_STR(show(5, 55, 0x50000), "nothing*");
	map_at(51, 5, 0x21000, "//anon");
	CHECK_STR(show(5, 55, 0x21010), "//anon+10*");
	CHECK_STR(show(5, 45, 0x21010), "/lib/third+10");
}

static void libraries_test(void)
{
	with_history(64, BYTES, libraries);
}

/* Pages at offset 0x3000. */
static void places_in_files(void)
{
	fork_at(10, 5, 4);
	exec_at(20, 5);
	map_at(21, 5, 0x10000, "/bin/a");
	map_at(22, 5, 0x20000, "//anon");
	map_at(23, 5, 0x7fff00000000, "[vdso]");
	CHECK_STR(show_in("/bin/a", 5, 30, 0x3000), "10000*");
	CHECK_STR(show_in("/bin/a", 5, 30, 0x4fff), "11fff*");
	CHECK_STR(show_in("/bin/a", 5, 30, 0x5000), "snapshot 0*");
	CHECK_STR(show_in("/bin/a", 5, 30, 0x2fff), "snapshot 0*");
	CHECK_STR(show_in("/bin/b", 5, 30, 0x3000), "snapshot 0*");
	CHECK_STR(show_in("[vdso]", 5, 30, 8), "7fff00000008*");
	/* The newest of two places; one where something else is by now is none. */
	map_at(40, 5, 0x30000, "/bin/a");
	CHECK_STR(show_in("/bin/a", 5, 50, 0x3010), "30010*");
	map_at(60, 5, 0x30000, "/bin/b");
	CHECK_STR(show_in("/bin/a", 5, 70, 0x3010), "10010*");
	CHECK_STR(show_in("/bin/a", 5, 50, 0x3010), "30010");
	end_at(80, 5);
	CHECK_STR(show_in("/bin/a", 5, 70, 0x3010), "10010");
}

static void places_in_files_test(void)
{
	with_history(64, 1 << 20, places_in_files);
}

/* Changed permissions of what took the place of a library, and of pieces of it. */
static void permissions(void)
{
	exec_at(5, 6);
	map_at(6, 6, 0x10000, "/bin/job");
	end_at(7, 6);
	exec_at(10, 5);
	map_at(11, 5, 0x20000, "/lib/first");
	for (uint64_t i = 0; i < 1000; i++)
		map_at(20 + i, 5, 0x20000, "//anon");
	CHECK_STR(show(5, 15, 0x20000), "/lib/first+0");
	CHECK_STR(show(5, 20, 0x20000), "//anon+0*");
	CHECK_INT(process_history__since(history, 5, 2000), 20);
	CHECK_STR(show(6, 6, 0x10000), "/bin/job+0");
	/* What hides a part of that is another thing, and so is that once more. */
	map_from(2001, 5, 0x21000, 0x4000, "/lib/second");
	map_at(2002, 5, 0x20000, "//anon");
	CHECK_STR(show(5, 2001, 0x21000), "/lib/second+0");
	CHECK_STR(show(5, 2002, 0x21000), "//anon+1000*");
	map_at(2003, 5, 0x7fff00000000, "//anon");
	map_at(2004, 5, 0x7fff00000000, "[vdso]");
	map_at(2005, 5, 0x7fff00000000, "//anon");
	CHECK_STR(show(5, 2004, 0x7fff00000000), "[vdso]+0");
	CHECK_STR(show(5, 2005, 0x7fff00000000), "//anon+0*");
}

static void permissions_test(void)
{
	with_history(64, BYTES, permissions);
}

/* One that is another at each call of mmap() costs the others nothing. */
static void many_changes(void)
{
	exec_at(5, 6);
	map_at(6, 6, 0x10000, "/bin/job");
	end_at(7, 6);
	exec_at(10, 5);
	map_at(10, 5, 0x10000, "/bin/a");
	for (uint64_t i = 0; i < 100000; i++)
		map_at(11 + i, 5, 0x20000, i % 2 ? "/lib/odd" : "/lib/even");
	CHECK_STR(show(5, 99, 0x20000), "/lib/even+0");
	CHECK_STR(show(5, 98, 0x20000), "/lib/odd+0");
	CHECK_STR(show(5, 200000, 0x20000), "unknown");
	CHECK_STR(show(6, 6, 0x10000), "/bin/job+0");
	exec_at(200001, 5);
	map_at(200002, 5, 0x20000, "/lib/a");
	CHECK_STR(show(5, 200002, 0x20000), "/lib/a+0*");
	CHECK_STR(show(5, 99, 0x20000), "/lib/even+0");
	CHECK_STR(show(5, 200000, 0x20000), "gone");
}

static void many_changes_test(void)
{
	with_history(1024, BYTES, many_changes);
}

#define CHAIN 300000

/* Each call of exec() is found without passing all that came behind it. */
static void long_chain(void)
{
	double start;

	for (uint64_t i = 1; i <= CHAIN; i++) {
		exec_at(i * 10, 5);
		map_at(i * 10 + 1, 5, 0x10000, i % 2 ? "/bin/odd" : "/bin/even");
	}
	start = tap_cpu_seconds();
	for (uint64_t i = 50000; i <= CHAIN; i += 49) {
		CHECK_INT(process_history__since(history, 5, i * 10 + 5), i * 10);
		CHECK_STR(show(5, i * 10 + 9, 0x10000), i == CHAIN ? "/bin/even+0*" :
							i % 2	   ? "/bin/odd+0" :
								     "/bin/even+0");
	}
	CHECK(tap_cpu_seconds() - start < 0.5);
	CHECK_STR(show(5, 25, 0x10000), "forgotten");
}

static void long_chain_test(void)
{
	with_history(PROCESS_HISTORY_PROGRAMS, PROCESS_HISTORY_BYTES, long_chain);
}

static void libraries_of_old_processes(void)
{
	process_history__begin(history, 5, 9);
	map_at(20, 5, 0x20000, "/lib/late");
	CHECK_STR(show(5, 10, 0x20000), "snapshot 9");
	CHECK_STR(show(5, 30, 0x20000), "/lib/late+0*");
	CHECK_STR(show(5, 10, 0x10000), "snapshot 9*");
	CHECK_STR(show(5, 30, 0x10000), "snapshot 9*");
	/* Of a process that nobody knows. */
	CHECK_INT(map_at(20, 6, 0x20000, "/lib/late"), 0);
	CHECK_STR(show(6, 30, 0x20000), "unknown");
}

static void libraries_of_old_processes_test(void)
{
	with_history(64, BYTES, libraries_of_old_processes);
}

static void new_parts(void)
{
	struct sym_mapping part;
	struct sym_image image;
	uint32_t first, second;

	exec_at(10, 5);
	exec_at(10, 6);
	first = map_at(11, 5, 0x10000, "/bin/a");
	CHECK(first > 0);
	CHECK_INT(map_at(12, 6, 0x770000, "/bin/a"), 0);
	second = map_at(13, 5, 0x30000, "/bin/b");
	CHECK(second > 0 && second != first);
	/* There is nothing to open. */
	CHECK_INT(map_at(14, 5, 0x7fff00000000, "[vdso]"), 0);
	CHECK_STR(show(5, 20, 0x7fff00000001), "[vdso]+1*");
	CHECK_INT(map_at(14, 5, 0x80000000, "[vdso]"), 0);
	CHECK_STR(show(5, 20, 0x80000000), "nothing*");
	/* All that is said of a file. */
	image = process_history__image(history, first, &part);
	CHECK_INT(image.parent, 5);
	CHECK_INT(image.nr, 1);
	CHECK(image.mappings == &part);
	CHECK_INT(part.offset, 0x3000);
	CHECK_INT(part.device, 8);
	CHECK(part.inode == inode_of("/bin/a"));
	CHECK_INT(part.end - part.start, 0x2000);
}

static void new_parts_test(void)
{
	with_history(64, BYTES, new_parts);
}

/* The inode of a file that has been deleted is that of a new one, by the same path. */
static void reused_inodes(void)
{
	uint32_t first, second;

	exec_at(10, 5);
	exec_at(10, 6);
	first = map_at(11, 5, 0x10000, "/tmp/test");
	generation = 1;
	second = map_at(12, 6, 0x10000, "/tmp/test");
	CHECK(second > 0 && second != first);
	CHECK_INT(map_at(13, 6, 0x10000, "/tmp/test"), 0);
	/* In the place of the old one, too. */
	CHECK_INT(map_at(14, 5, 0x10000, "/tmp/test"), 0);
	CHECK_INT(process_history__since(history, 5, 13), 10);
	CHECK_INT(process_history__since(history, 5, 14), 14);
	CHECK_INT(process_history__find(history, 5, 10, NULL, 0x10000).part, first);
	CHECK_INT(process_history__find(history, 5, 14, NULL, 0x10000).part, second);
	CHECK_INT(process_history__find(history, 6, 10, NULL, 0x10000).part, second);
	generation = 0;
}

static void reused_inodes_test(void)
{
	with_history(64, BYTES, reused_inodes);
}

static void odd_mappings(void)
{
	exec_at(10, 5);
	CHECK_INT(map_at(11, 5, UINT64_MAX - 0xfff, "/bin/end"), 0);
	CHECK_INT(map_at(11, 5, (uint64_t)1 << 63, "/bin/high"), 0);
	CHECK_STR(show(5, 20, (uint64_t)1 << 63), "nothing*");
	CHECK(map_at(12, 5, ((uint64_t)1 << 57) - 0x2000, "/bin/top") > 0);
	CHECK_STR(show(5, 20, ((uint64_t)1 << 57) - 1), "/bin/top+1fff*");
	CHECK_STR(show(5, 20, ((uint64_t)1 << 57)), "nothing*");
	/* PIDs that no kernel gives. */
	exec_at(20, 1 << 30);
	fork_at(20, -5, 5);
	map_at(21, 1 << 30, 0x10000, "/bin/a");
	CHECK_STR(show(1 << 30, 30, 0x10000), "unknown");
	CHECK_STR(show(-5, 30, 0x10000), "unknown");
	/* More mappings than any program has. */
	for (uint64_t i = 0; i < 5000; i++)
		map_at(30, 5, 0x100000 + i * 0x10000, "/lib/many");
	CHECK_STR(show(5, 40, 0x100000), "/lib/many+0*");
	CHECK_STR(show(5, 40, 0x100000 + 4999 * 0x10000), "nothing*");
}

static void odd_mappings_test(void)
{
	with_history(64, BYTES, odd_mappings);
}

static void no_room_for_mappings(void)
{
	exec_at(10, 5);
	map_at(11, 5, 0x10000, "/bin/a");
	map_at(11, 5, 0x20000, "/lib/old");
	for (uint64_t i = 0; i < 2000; i++)
		map_at(20, 5, 0x100000 + i * 0x10000, "/lib/many");
	/* In the place of a whole one, whose room it takes. */
	map_at(30, 5, 0x20000, "/lib/new");
	CHECK_STR(show(5, 35, 0x20000), "/lib/new+0*");
	/* Beside the others it is missing only. */
	map_at(31, 5, 0x80000000, "/lib/more");
	CHECK_STR(show(5, 35, 0x80000000), "nothing*");
	CHECK_STR(show(5, 35, 0x10000), "/bin/a+0*");
	/* In a piece of one there is no room: nothing is said of it, or of what is left. */
	map_at(40, 5, 0x21000, "//anon");
	CHECK_STR(show(5, 45, 0x21000), "unknown");
	CHECK_STR(show(5, 45, 0x10000), "unknown");
	CHECK_STR(show(5, 35, 0x21000), "/lib/new+1000");
	exec_at(50, 5);
	CHECK_STR(show(5, 45, 0x10000), "gone");
	CHECK_STR(show(5, 35, 0x10000), "/bin/a+0");
	map_at(51, 5, 0x10000, "/bin/b");
	CHECK_STR(show(5, 55, 0x10000), "/bin/b+0*");
}

static void no_room_for_mappings_test(void)
{
	with_history(64, BYTES, no_room_for_mappings);
}

static void lost_records(void)
{
	process_history__begin(history, 4, 1);
	exec_at(10, 5);
	map_at(11, 5, 0x10000, "/bin/a");
	lose(20, 30);
	/* It can be another program by now; generated code is known to the process alone. */
	CHECK_STR(show(5, 19, 0x10000), "/bin/a+0");
	CHECK_STR(show(5, 19, 0x80000), "nothing*");
	CHECK_STR(show(4, 19, 0x80000), "snapshot 1");
	CHECK_STR(show(5, 20, 0x10000), "unknown");
	CHECK_STR(show(5, 31, 0x10000), "unknown");
	CHECK_STR(show(4, 31, 0x10000), "unknown");
	/* Neither children nor libraries stand on what is not known. */
	map_at(32, 5, 0x20000, "/lib/late");
	fork_at(33, 6, 5);
	CHECK_STR(show(5, 40, 0x20000), "unknown");
	CHECK_STR(show(6, 40, 0x10000), "unknown");
	/* One that was started while records were lost could have mapped more. */
	exec_at(25, 7);
	map_at(26, 7, 0x10000, "/bin/c");
	CHECK_STR(show(7, 40, 0x10000), "unknown");
	exec_at(50, 6);
	map_at(51, 6, 0x10000, "/bin/b");
	CHECK_STR(show(6, 60, 0x10000), "/bin/b+0*");
	CHECK_STR(show(6, 40, 0x10000), "gone");
	exec_at(52, 5);
	CHECK_STR(show(5, 19, 0x10000), "/bin/a+0");
	CHECK_STR(show(5, 20, 0x10000), "gone");
	/* However often that happens. */
	for (uint64_t i = 0; i < 1000; i++)
		lose(100 + i * 10, 105 + i * 10);
	CHECK_STR(show(6, 99, 0x10000), "/bin/b+0");
	CHECK_STR(show(6, 10104, 0x10000), "unknown");
	exec_at(10106, 6);
	map_at(10107, 6, 0x10000, "/bin/d");
	CHECK_STR(show(6, 10108, 0x10000), "/bin/d+0*");
}

static void lost_records_test(void)
{
	with_history(64, BYTES, lost_records);
}

static void losses_at_once(void)
{
	exec_at(10, 5);
	map_at(11, 5, 0x10000, "/bin/a");
	for (uint64_t i = 0; i < 1000; i++)
		lose(30 - i % 10, 40 + i % 10);
	exec_at(60, 6);
	map_at(61, 6, 0x10000, "/bin/b");
	lose(80, 90);
	CHECK_STR(show(5, 20, 0x10000), "/bin/a+0");
	CHECK_STR(show(5, 21, 0x10000), "unknown");
	exec_at(49, 7);
	CHECK_STR(show(7, 70, 0x10000), "unknown");
	CHECK_STR(show(6, 79, 0x10000), "/bin/b+0");
	CHECK_STR(show(6, 85, 0x10000), "unknown");
}

static void losses_at_once_test(void)
{
	with_history(64, BYTES, losses_at_once);
}

/* What runs stays, and of what has ended the oldest goes. */
static void many_programs(void)
{
	process_history__begin(history, 1, 42);
	exec_at(5, 2);
	map_at(6, 2, 0x10000, "/bin/server");
	for (pid_t pid = 100; pid < 1000; pid++) {
		fork_at((uint64_t)pid * 10, pid, 2);
		exec_at((uint64_t)pid * 10 + 1, pid);
		map_at((uint64_t)pid * 10 + 2, pid, 0x20000, "/bin/job");
		end_at((uint64_t)pid * 10 + 3, pid);
	}
	CHECK_STR(show(1, 9999, 0x10000), "snapshot 42*");
	CHECK_STR(show(2, 9999, 0x10000), "/bin/server+0*");
	CHECK_STR(show(999, 9999, 0x20000), "/bin/job+0");
	CHECK_STR(show(990, 9905, 0x20000), "/bin/job+0");
	CHECK_STR(show(100, 1005, 0x20000), "forgotten");
	CHECK_STR(show(100, 1000, 0x20000), "forgotten");
	/* A PID that begins anew. */
	fork_at(20000, 100, 2);
	CHECK_STR(show(100, 1005, 0x20000), "forgotten");
	CHECK_STR(show(100, 20001, 0x10000), "/bin/server+0*");
}

static void many_programs_test(void)
{
	with_history(64, BYTES, many_programs);
}

#define JOBS 100000

/* All of it is there in the end. */
static void long_build(void)
{
	char path[64];

	exec_at(1, 1);
	for (pid_t pid = 2; pid < JOBS + 2; pid++) {
		fork_at((uint64_t)pid * 10, pid, 1);
		exec_at((uint64_t)pid * 10 + 1, pid);
		for (uint64_t i = 0; i < 15; i++) {
			snprintf(path, sizeof(path), "/lib/number%d", (int)i);
			map_at((uint64_t)pid * 10 + 2, pid, (uint64_t)pid << 24 | i << 16, path);
		}
		end_at((uint64_t)pid * 10 + 3, pid);
	}
	CHECK_STR(show(2, 25, (uint64_t)2 << 24), "/lib/number0+0");
	CHECK_STR(show(JOBS, UINT64_MAX / 2, (uint64_t)JOBS << 24 | 0xe1234), "/lib/number14+1234");
	CHECK_STR(show(1, UINT64_MAX / 2, 0), "nothing*");
}

static void long_build_test(void)
{
	with_history(PROCESS_HISTORY_PROGRAMS, PROCESS_HISTORY_BYTES, long_build);
}

/* Bytes are limited, too: with a file for each. */
static void many_files(void)
{
	char path[64];

	exec_at(5, 2);
	map_at(6, 2, 0x10000, "/bin/server");
	for (pid_t pid = 100; pid < 5000; pid++) {
		exec_at((uint64_t)pid * 10 + 1, pid);
		snprintf(path, sizeof(path), "/tmp/conftest%d", pid);
		CHECK(map_at((uint64_t)pid * 10 + 2, pid, 0x20000, path) > 0);
		end_at((uint64_t)pid * 10 + 3, pid);
	}
	CHECK_STR(show(2, 60000, 0x10000), "/bin/server+0*");
	CHECK_STR(show(4999, 60000, 0x20000), "/tmp/conftest4999+0");
	CHECK_STR(show(4900, 49005, 0x20000), "/tmp/conftest4900+0");
	CHECK_STR(show(100, 1005, 0x20000), "forgotten");
}

static void many_files_test(void)
{
	with_history(65536, (size_t)64 * 1024, many_files);
}

/* When all of them run the oldest goes all the same, and its process can be asked. */
static void all_running(void)
{
	for (pid_t pid = 1; pid <= 100; pid++) {
		exec_at((uint64_t)pid, pid);
		map_at((uint64_t)pid, pid, 0x10000, "/bin/a");
	}
	CHECK_STR(show(100, 200, 0x10000), "/bin/a+0*");
	CHECK_STR(show(1, 200, 0x10000), "unknown");
	/* It could have been another program then. */
	CHECK_STR(show(1, 0, 0x10000), "forgotten");
	/* Mappings of what has been forgotten. */
	CHECK_INT(map_at(300, 1, 0x20000, "/lib/new"), 0);
	fork_at(302, 101, 1);
	CHECK_STR(show(101, 303, 0x10000), "unknown");
	end_at(304, 1);
	CHECK_STR(show(1, 200, 0x10000), "forgotten");
	exec_at(305, 2);
	CHECK_STR(show(2, 200, 0x10000), "forgotten");
	CHECK_STR(show(2, 306, 0x10000), "nothing*");
}

static void all_running_test(void)
{
	with_history(16, BYTES, all_running);
}

#define LONG_PATH 4000

/* A path of its own of that length for each number. */
static const char *long_path(unsigned int number)
{
	static char path[LONG_PATH + 16];

	snprintf(path, sizeof(path), "/%0*u", LONG_PATH, number);
	return path;
}

/* Processes from 1000 on, which run. */
static void start_servers(pid_t nr)
{
	for (pid_t pid = 1000; pid < 1000 + nr; pid++) {
		exec_at((uint64_t)pid, pid);
		map_at((uint64_t)pid, pid, 0x10000, "/bin/server");
	}
}

/* How many of them are known. */
static int known_servers(pid_t nr)
{
	int known = 0;

	for (pid_t pid = 1000; pid < 1000 + nr; pid++)
		known += !strcmp(show(pid, 9000, 0x10000), "/bin/server+0*");
	return known;
}

/* The path of a file is there once, however often that is mapped. */
static void many_parts_of_a_file(void)
{
	start_servers(200);
	for (pid_t pid = 1; pid <= 4; pid++) {
		exec_at(2000, pid);
		for (unsigned int i = 0; i < 999; i++)
			map_from(2001, pid, 0x100000 + i * 0x10000, (pid * 999 + i) * 0x1000,
				 long_path(0));
	}
	fork_at(3000, 5, 1000);
	CHECK_INT(known_servers(200), 200);
	CHECK(!strncmp(show(4, 9000, 0x100000 + 998 * 0x10000), "/000", 4));
}

static void many_parts_of_a_file_test(void)
{
	with_history(4096, BYTES, many_parts_of_a_file);
}

#define LENGTHS 50000

/* One file, at one offset, with that many lengths. */
static void parts_alike(void)
{
	struct process_record record = {
		.deed = PROCESS_MAPPED,
		.mapping = {.start = 0x10000, .device = 8, .inode = 1, .path = "/lib/alike"}};
	double start = tap_cpu_seconds();

	for (pid_t pid = 1; pid <= LENGTHS / 100; pid++) {
		exec_at(10, pid);
		record.pid = pid;
		for (uint64_t i = 1; i <= 100; i++) {
			uint64_t number = (uint64_t)pid * 100 + i;

			record.time = 11;
			record.mapping.start = i << 40;
			record.mapping.end = record.mapping.start + (number << 12);
			CHECK(process_history__take(history, &record) > 0);
		}
	}
	CHECK(tap_cpu_seconds() - start < 1);
}

static void parts_alike_test(void)
{
	with_history(4096, PROCESS_HISTORY_BYTES, parts_alike);
}

/* In which bucket a file is. */
static size_t bucket_of_file(void)
{
	struct process_parts *parts = calloc(1, sizeof(*parts));
	const struct process_record record = {
		.pid = 1, .mapping = {.end = 4096, .inode = 1, .path = "/lib/libc.so"}};
	size_t bucket = 0;
	uint32_t part;
	bool added;

	if (!CHECK(parts != NULL))
		return 0;
	CHECK_INT(process_parts__init(parts), 0);
	part = process_parts__find_or_add(parts, &record, &added);
	while (bucket < PROCESS_BUCKETS && !parts->files[bucket])
		bucket++;
	CHECK(part > 0 && added && bucket < PROCESS_BUCKETS);
	process_parts__put(parts, part);
	CHECK_INT(parts->bytes, 0);
	process_parts__release(parts);
	free(parts);
	return bucket;
}

/* Four times the same by chance once in 2^48 runs. */
static void buckets_test(void)
{
	size_t first = bucket_of_file();

	CHECK(bucket_of_file() != first || bucket_of_file() != first || bucket_of_file() != first);
}

/* What has the most is dropped, and its process can be asked; the others stay. */
static void large_programs(void)
{
	start_servers(200);
	map_at(2000, 1000, 0x20000, "/lib/server");
	for (pid_t pid = 1; pid <= 40; pid++) {
		exec_at(2000, pid);
		for (unsigned int i = 0; i < 999; i++)
			map_at(2001, pid, 0x100000 + i * 0x10000,
			       long_path((unsigned int)pid * 1000 + i));
	}
	fork_at(3000, 50, 1000);
	CHECK_INT(known_servers(200), 200);
	CHECK_STR(show(50, 9000, 0x20000), "/lib/server+0*");
	CHECK_STR(show(1, 9000, 0x100000), "unknown");
	/* It begins anew. */
	exec_at(4000, 1);
	map_at(4001, 1, 0x10000, "/bin/a");
	CHECK_STR(show(1, 9000, 0x10000), "/bin/a+0*");
	CHECK_STR(show(1, 3000, 0x100000), "gone");
}

static void large_programs_test(void)
{
	with_history(4096, BYTES, large_programs);
}

/* One alone does not fill it. */
static void largest_program(void)
{
	exec_at(1, 1);
	map_at(2, 1, 0x10000, "/bin/a");
	end_at(3, 1);
	exec_at(4, 2);
	for (unsigned int i = 0; i < 999; i++)
		map_at(5, 2, 0x100000 + i * 0x10000, long_path(i));
	exec_at(6, 3);
	CHECK_STR(show(1, 2, 0x10000), "/bin/a+0");
	CHECK(!strncmp(show(2, 7, 0x100000), "/000", 4));
	CHECK_STR(show(2, 7, 0x100000 + 998 * 0x10000), "nothing*");
}

static void largest_program_test(void)
{
	with_history(64, BYTES, largest_program);
}

static const struct tap_test tests[] = {
	{"a process is one program after another", exec_chain_test},
	{"a child has what its parent had", forks_test},
	{"a PID is one process after another", reused_pids_test},
	{"an address is in what was mapped there at the time", libraries_test},
	{"a place in a file is where that was mapped at the time", places_in_files_test},
	{"permissions that change are no change", permissions_test},
	{"what changes too often is not known any more", many_changes_test},
	{"a program of many is found at once", long_chain_test},
	{"libraries that a process loads which was there before", libraries_of_old_processes_test},
	{"parts of files are numbered once", new_parts_test},
	{"a file with an inode that was another's is another one", reused_inodes_test},
	{"odd mappings and PIDs", odd_mappings_test},
	{"a mapping without room hides what was there", no_room_for_mappings_test},
	{"where records are lost nothing is known", lost_records_test},
	{"losses of many CPUs are one", losses_at_once_test},
	{"what runs is kept, and what ended last", many_programs_test},
	{"a long build is kept", long_build_test},
	{"memory is bounded", many_files_test},
	{"so it is if all of them run", all_running_test},
	{"the parts of a file share its path", many_parts_of_a_file_test},
	{"parts that are alike are found at once", parts_alike_test},
	{"nobody knows which files share a bucket", buckets_test},
	{"what is too large is dropped, not what is there besides", large_programs_test},
	{"one program has its share at most", largest_program_test},
};

int main(void)
{
	return TAP_RUN(tests);
}
