// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf/unwind_tables.h"
#include "core/unwind/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/records.h"
#include "core/unwind/files.h"
#include "core/unwind/modules.h"
#include "sym/util/array.h"
#include "test/unit/kept_tables.h"
#include "test/unit/tap.h"

static struct unwind_tables tables;
static struct unwind_files files;
static struct unwind_module_list modules;
static struct known_processes processes;

static void with_processes(void (*test)(void))
{
	kept_tables__reset();
	tables = (struct unwind_tables){.nr_modules = 0};
	files = (struct unwind_files){0};
	processes = (struct known_processes){.files = &files, .modules = &modules};
	test();
	known_processes__release(&processes);
	unwind_files__release(&files);
	CHECK_INT(processes.nr, 0);
}

static struct known_process *find(pid_t pid)
{
	return known_processes__find(&processes, pid);
}

/* The known mappings are in the tables from then on. */
static void write_process(pid_t pid)
{
	struct known_process *process = find(pid);

	known_processes__write(&processes, process, &tables);
	CHECK(!process->changed);
	CHECK_INT(process->slice.nr, process->nr);
}

static void take(const struct process_record *record)
{
	known_processes__take(&processes, record, &tables);
}

static void fork_at(uint64_t time, pid_t pid, pid_t parent)
{
	take(&(struct process_record){
		.deed = PROCESS_FORKED, .time = time, .pid = pid, .parent = parent});
}

static void exec_at(uint64_t time, pid_t pid)
{
	take(&(struct process_record){.deed = PROCESS_EXECUTED, .time = time, .pid = pid});
}

static void end_at(uint64_t time, pid_t pid)
{
	take(&(struct process_record){.deed = PROCESS_ENDED, .time = time, .pid = pid});
}

static void remove_ended(void)
{
	known_processes__remove_ended(&processes, &tables);
}

static void lose(uint64_t time)
{
	take(&(struct process_record){.deed = PROCESS_UNKNOWN, .time = time});
}

/* Pages of the file "/x", whose inode is x and whose generation 1; of none if that is '-'. */
static void map_at(uint64_t time, pid_t pid, uint64_t start, uint64_t end, char file)
{
	const char path[] = {'/', file, '\0'};

	take(&(struct process_record){
		.deed = PROCESS_MAPPED,
		.time = time,
		.pid = pid,
		.generation = file == '-' ? 0 : 1,
		.mapping = {.start = start << 12,
			    .end = end << 12,
			    .offset = file == '-' ? 0 : start << 12,
			    .device = 8,
			    .inode = file == '-' ? 0 : (ino_t)file,
			    .path = file == '-' ? NULL : path},
	});
}

static struct unwind_mapped mapped_pages(uint64_t start, uint64_t end, char file)
{
	const char path[] = {'/', file, '\0'};
	struct unwind_mapped mapped = {.start = start << 12, .end = end << 12};

	if (file == '-')
		return mapped;
	mapped.offset = start << 12;
	mapped.device = 8;
	mapped.inode = (uint64_t)file;
	mapped.identity.inode = (uint64_t)file;
	mapped.source = UNWIND_SOURCE_FILE;
	mapped.watch = file;
	unwind_path__set(mapped.path, path);
	return mapped;
}

/* As map_at(), but found in the process: layout is "START-END/FILE" in turn. */
static int read_at(uint64_t time, pid_t pid, const char *layout)
{
	struct known_process *process = known_processes__add(&processes, pid);
	struct unwind_mapped mapped[16];
	size_t nr = 0;

	for (; *layout && nr < ARRAY_SIZE(mapped); layout += strcspn(layout, " ")) {
		unsigned int start, end;
		char file;

		layout += *layout == ' ';
		if (!CHECK_INT(sscanf(layout, "%u-%u/%c", &start, &end, &file), 3))
			break;
		mapped[nr++] = mapped_pages(start, end, file);
	}
	if (!process)
		return -ENOMEM;
	process->walked = true;
	return known_process__read(process, &files, mapped, nr, time);
}

/* As read_at() has it; '?' is a file that nobody has looked at, '!' one at another offset. */
static const char *show(pid_t pid)
{
	const struct known_process *process = find(pid);
	static char text[512];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; process && i < process->nr; i++) {
		const struct known_mapping *mapping = &process->mappings[i];
		char file = mapping->file == UNWIND_FILE_NONE ?
				    '-' :
			    mapping->file == UNWIND_FILE_UNKNOWN ?
				    '?' :
				    files.items[mapping->file].mapped.path[1];

		if (file != '-' && mapping->offset != mapping->start)
			file = '!';
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u-%u/%c",
					 i ? " " : "", (unsigned int)(mapping->start >> 12),
					 (unsigned int)(mapping->end >> 12), file);
	}
	return process ? text : "unknown";
}

static void read_maps(void)
{
	CHECK_STR(show(5), "unknown");
	CHECK_INT(read_at(10, 5, "1-3/a 4-5/- 6-7/b"), 1);
	CHECK_STR(show(5), "1-3/a 4-5/- 6-7/b");
	CHECK_INT(read_at(20, 5, "1-3/a 4-5/- 6-7/b"), 0);
	/* The tables may have lost it all the same. */
	CHECK(find(5)->changed);
	CHECK_INT(read_at(30, 5, "1-3/a 4-5/b 6-7/b"), 1);
	CHECK_INT(read_at(40, 5, "1-3/a 4-5/b"), 1);
	CHECK_STR(show(5), "1-3/a 4-5/b");
	CHECK_INT(read_at(50, 5, ""), 1);
	CHECK_STR(show(5), "");
}

/* If several processes have a file, in one place or another, the first is told of, once. */
static void modules_are_told(void)
{
	read_at(10, 5, "1-3/a 6-7/b");
	read_at(10, 6, "2-3/a 8-9/-");
	known_processes__write(&processes, find(6), &tables);
	known_processes__write(&processes, find(5), &tables);
	CHECK_INT(tables.nr_modules, 2);
	CHECK_INT(modules.items[0].id.inode, 'a');
	CHECK_INT(modules.items[0].id.device, 8);
	CHECK_INT(modules.items[0].pid, 6);
	CHECK_INT(modules.items[0].start, 0x2000);
	CHECK_INT(modules.items[0].offset, 0x2000);
	CHECK_STR(modules.items[0].path, "/a");
	CHECK_INT(modules.items[1].id.inode, 'b');
	CHECK_INT(modules.items[1].pid, 5);
}

static void vsyscall(void)
{
	const struct unwind_mapped mapped[] = {
		mapped_pages(1, 2, 'a'), {.start = 0xffffffffff600000, .end = 0xffffffffff601000}};
	struct known_process *process = known_processes__add(&processes, 5);

	CHECK_INT(known_process__read(process, &files, mapped, 2, 10), 1);
	CHECK_STR(show(5), "1-2/a");
	CHECK_INT(known_process__read(process, &files, mapped + 1, 1, 10), 1);
	CHECK_STR(show(5), "");
}

static void mapping_over_mapping(void)
{
	read_at(10, 5, "10-20/a 30-40/a");
	map_at(11, 5, 20, 22, '-');
	CHECK_STR(show(5), "10-20/a 20-22/- 30-40/a");
	map_at(12, 5, 12, 15, '-');
	CHECK_STR(show(5), "10-12/a 12-15/- 15-20/a 20-22/- 30-40/a");
	map_at(13, 5, 11, 13, 'c');
	CHECK_STR(show(5), "10-11/a 11-13/? 13-15/- 15-20/a 20-22/- 30-40/a");
	map_at(14, 5, 14, 31, '-');
	CHECK_STR(show(5), "10-11/a 11-13/? 13-14/- 14-31/- 31-40/a");
	map_at(15, 5, 14, 31, 'c');
	CHECK_STR(show(5), "10-11/a 11-13/? 13-14/- 14-31/? 31-40/a");
	map_at(16, 5, 1, 50, '-');
	CHECK_STR(show(5), "1-50/-");
	map_at(17, 5, 49, 49, 'c');
	map_at(17, 5, 49, 48, 'c');
	map_at(17, 5, 60, 1ULL << 51, 'c');
	CHECK_STR(show(5), "1-50/-");
}

/*
 * A name is known when the kernel's file of that name has been found; until then somebody is to
 * look.
 */
static void learning(void)
{
	read_at(10, 4, "1-3/a");
	exec_at(20, 5);
	map_at(21, 5, 1, 3, 'a');
	map_at(22, 5, 4, 5, '-');
	CHECK_STR(show(5), "1-3/a 4-5/-");
	CHECK(!find(5)->unknown);
	map_at(23, 5, 6, 7, 'b');
	CHECK_STR(show(5), "1-3/a 4-5/- 6-7/?");
	CHECK(find(5)->unknown);
	map_at(24, 5, 8, 9, 'a');
	CHECK(find(5)->unknown);
	read_at(30, 5, "1-3/a 4-5/- 6-7/b 8-9/a");
	CHECK(!find(5)->unknown);
	map_at(31, 5, 10, 18, 'b');
	CHECK_STR(show(5), "1-3/a 4-5/- 6-7/b 8-9/a 10-18/b");
	CHECK(!find(5)->unknown);
}

static void forks(void)
{
	fork_at(10, 6, 5);
	CHECK_STR(show(6), "unknown");
	read_at(20, 5, "1-3/a 4-5/b");
	fork_at(30, 6, 5);
	CHECK_STR(show(6), "1-3/a 4-5/b");
	CHECK(find(6)->changed);
	CHECK(!find(6)->unknown);
	map_at(31, 6, 7, 8, '-');
	CHECK_STR(show(6), "1-3/a 4-5/b 7-8/-");
	CHECK_STR(show(5), "1-3/a 4-5/b");
	/* The PID is now another process's. */
	fork_at(40, 6, 5);
	CHECK_STR(show(6), "1-3/a 4-5/b");
	fork_at(50, 6, 99);
	CHECK_STR(show(6), "unknown");
	end_at(60, 5);
	remove_ended();
	CHECK_STR(show(5), "unknown");
	CHECK_INT(processes.nr, 0);
}

/* Requests of its walks are heard after its end: files get modules, but the process no tables. */
static void heard_after_its_end(void)
{
	read_at(10, 4, "9-10/a");
	exec_at(20, 5);
	map_at(21, 5, 1, 3, 'a');
	write_process(5);
	CHECK_INT(kept[5].nr, 1);
	CHECK_INT(files.items[0].module, UNWIND_UNKNOWN_MODULE);
	end_at(30, 5);
	CHECK_INT(kept[5].nr, 0);
	known_processes__want(&processes, 5, false);
	CHECK_STR(show(5), "1-3/a");
	CHECK_INT(find(5)->wanted, 1);
	known_processes__write(&processes, find(5), &tables);
	CHECK_INT(files.items[0].module, 0);
	CHECK_INT(kept[5].nr, 0);
	remove_ended();
	CHECK_STR(show(5), "unknown");
	CHECK_STR(show(4), "9-10/a");
}

/* Some of them in one bucket, at any place of it. */
static void ended_among_others(void)
{
	for (pid_t i = 0; i < 6; i++)
		exec_at(10, 7 + i * KNOWN_PROCESS_BUCKETS);
	for (pid_t i = 0; i < 6; i++)
		if (i != 1 && i != 4)
			end_at(20, 7 + i * KNOWN_PROCESS_BUCKETS);
	remove_ended();
	CHECK_INT(processes.nr, 2);
	CHECK(find(7 + KNOWN_PROCESS_BUCKETS) && find(7 + 4 * KNOWN_PROCESS_BUCKETS));
}

/* Its PID is another process's since; or its last thread has become another program. */
static void ended_and_begun(void)
{
	read_at(10, 4, "1-3/a");
	read_at(10, 5, "4-5/b");
	read_at(10, 6, "4-5/b");
	end_at(20, 5);
	end_at(20, 6);
	fork_at(30, 5, 4);
	exec_at(30, 6);
	remove_ended();
	CHECK_STR(show(5), "1-3/a");
	CHECK_STR(show(6), "");
	/* It was another one that has ended. */
	read_at(40, 7, "1-3/a");
	end_at(39, 7);
	remove_ended();
	CHECK_STR(show(7), "1-3/a");
}

/* Each is heard after its end, and would be known for ever. */
static void asked_for_too_late(void)
{
	for (pid_t pid = 1; pid <= 2 * UNWIND_PROCESSES; pid++)
		known_processes__want(&processes, pid, true);
	CHECK_INT(processes.nr, 0);
	known_processes__want(&processes, 5, false);
	CHECK(find(5)->doubted && find(5)->walked);
}

/* A process with nothing missing in what is known of it need not be looked at. */
static void wanted(void)
{
	read_at(10, 5, "1-3/a");
	find(5)->walked = find(5)->changed = false;
	known_processes__want(&processes, 5, false);
	CHECK(find(5)->walked && find(5)->changed && !find(5)->doubted);
	known_processes__want(&processes, 5, true);
	CHECK(!find(5)->doubted);
	known_processes__want(&processes, 5, false);
	CHECK(find(5)->doubted);
	CHECK_INT(find(5)->wanted, 3);
	exec_at(20, 6);
	map_at(21, 6, 1, 3, 'z');
	known_processes__want(&processes, 6, true);
	CHECK(!find(6)->doubted);
	known_processes__want(&processes, 6, false);
	CHECK(find(6)->doubted);
}

/* Mappings that both processes have are in the tables once, as long as both have them. */
static void shared(void)
{
	read_at(20, 5, "1-3/a 4-5/b");
	write_process(5);
	/* Later records have been read, too, and may say that the child is another program. */
	processes.since = 35;
	fork_at(30, 6, 5);
	CHECK(!find(6)->changed);
	CHECK(find(6)->slice.users == find(5)->slice.users);
	CHECK_INT(kept[6].nr, 2);
	CHECK_INT(kept[6].since, 30);
	CHECK_INT(kept[5].since, 20);
	/* A child of that child has the same. */
	fork_at(31, 7, 6);
	CHECK(find(7)->slice.users == find(5)->slice.users);
	/* It maps something of its own, and has tables of its own. */
	map_at(32, 6, 7, 8, '-');
	CHECK(find(6)->changed);
	CHECK(!find(5)->changed);
	write_process(6);
	CHECK(find(6)->slice.users != find(5)->slice.users);
	CHECK_INT(kept[6].nr, 3);
	CHECK_INT(kept[7].nr, 2);
	CHECK_INT(kept[5].nr, 2);
}

/* The tables have other mappings of a parent than it has; or they do not take the child. */
static void not_shared(void)
{
	read_at(20, 5, "1-3/a");
	write_process(5);
	map_at(30, 5, 7, 8, 'b');
	fork_at(40, 6, 5);
	CHECK_STR(show(6), "1-3/a 7-8/?");
	CHECK(find(6)->changed && !find(6)->slice.users);
	CHECK(find(6)->unknown);
	CHECK_INT(kept[6].nr, 0);
	write_process(5);
	kept_share_error = -ENOMEM;
	fork_at(50, 7, 5);
	CHECK(find(7)->changed);
	CHECK_INT(kept[7].nr, 0);
	write_process(7);
	CHECK_INT(kept[7].nr, 2);
}

/* A later read of a parent can show another program, or more than the child has. */
static void parent_read_later(void)
{
	read_at(20, 5, "1-3/a");
	fork_at(10, 6, 5);
	CHECK_STR(show(6), "unknown");
	fork_at(20, 6, 5);
	CHECK_STR(show(6), "1-3/a");
}

static void programs(void)
{
	exec_at(10, 5);
	CHECK_STR(show(5), "");
	map_at(11, 5, 1, 3, '-');
	CHECK_STR(show(5), "1-3/-");
	write_process(5);
	CHECK_INT(kept[5].nr, 1);
	/* Nothing of the old program is found from now on. */
	find(5)->retry = find(5)->pause = 1000;
	exec_at(20, 5);
	CHECK_STR(show(5), "");
	CHECK_INT(kept[5].nr, 0);
	CHECK(find(5)->changed);
	CHECK_INT(find(5)->retry + find(5)->pause, 0);
	/* Only the start of a program makes a process known that nobody has read. */
	map_at(30, 7, 1, 3, '-');
	CHECK_STR(show(7), "unknown");
	end_at(40, 7);
	CHECK_STR(show(7), "unknown");
}

static void records_before_the_read(void)
{
	read_at(100, 5, "1-3/a");
	exec_at(99, 5);
	map_at(99, 5, 7, 9, '-');
	end_at(99, 5);
	fork_at(99, 5, 4);
	CHECK_STR(show(5), "1-3/a");
	map_at(100, 5, 7, 9, '-');
	CHECK_STR(show(5), "1-3/a 7-9/-");
}

static void lost_records(void)
{
	for (pid_t pid = 1; pid < KEPT_PROCESSES; pid++) {
		read_at(100, pid, "1-3/a");
		write_process(pid);
		CHECK_INT(kept[pid].nr, 1);
	}
	lose(50);
	CHECK_INT(processes.nr, 0);
	for (pid_t pid = 1; pid < KEPT_PROCESSES; pid++)
		CHECK_INT(kept[pid].nr, 0);
}

static void too_many(void)
{
	exec_at(10, 5);
	for (uint64_t i = 0; i < UNWIND_MAPPINGS_MAX; i++)
		map_at(11, 5, 2 * i + 1, 2 * i + 2, '-');
	CHECK_INT(find(5)->nr, UNWIND_MAPPINGS_MAX);
	/* A process that cannot be known as it is will be read again when it is asked for. */
	map_at(12, 5, 100000, 100001, '-');
	CHECK_STR(show(5), "unknown");
	for (pid_t pid = 1; pid <= UNWIND_PROCESSES + 10; pid++)
		exec_at(20, pid);
	CHECK_INT(processes.nr, UNWIND_PROCESSES);
	CHECK_STR(show(UNWIND_PROCESSES), "");
	CHECK_STR(show(UNWIND_PROCESSES + 1), "unknown");
}

/* ---- what the tables have ---- */

static void check_entry(pid_t pid, uint32_t nr, uint32_t module, uint64_t base)
{
	const struct unwind_mapping *entry = &kept[pid].mappings[nr];

	CHECK_INT(entry->module, module);
	CHECK_INT(entry->base, base);
}

static void written(void)
{
	read_at(10, 5, "1-3/a 4-5/- 6-7/b");
	map_at(20, 5, 8, 9, 'c');
	write_process(5);
	CHECK_INT(kept[5].nr, 4);
	CHECK_INT(kept[5].mappings[2].start, 6 << 12);
	CHECK_INT(kept[5].mappings[2].end, 7 << 12);
	check_entry(5, 0, 0, 0);
	check_entry(5, 1, UNWIND_NO_MODULE, 4 << 12);
	check_entry(5, 2, 1, 0);
	check_entry(5, 3, UNWIND_UNKNOWN_MODULE, 0);
}

/* Programs that come and go take no module numbers, but have those that there are. */
static void not_walked(void)
{
	read_at(10, 5, "1-3/a 4-5/b");
	find(5)->walked = false;
	write_process(5);
	check_entry(5, 0, UNWIND_UNKNOWN_MODULE, 0);
	CHECK_INT(tables.nr_modules, 0);
	read_at(20, 6, "1-3/a");
	write_process(6);
	fork_at(30, 7, 5);
	write_process(7);
	check_entry(7, 0, 0, 0);
	check_entry(7, 1, UNWIND_UNKNOWN_MODULE, 0);
	/* Children of a walked process will be walked in its mappings, too. */
	fork_at(40, 8, 6);
	CHECK(find(8)->walked);
}

static void no_programs(void)
{
	read_at(10, 5, "1-3/a 4-5/b");
	files.items[1].mapped.source = UNWIND_SOURCE_OTHER;
	write_process(5);
	check_entry(5, 0, 0, 0);
	check_entry(5, 1, UNWIND_NO_MODULE, 0);
}

/* since is the time of the read, or of the last record that was taken. */
static void since(void)
{
	read_at(10, 5, "1-3/a");
	write_process(5);
	CHECK_INT(kept[5].since, 10);
	processes.since = 20;
	write_process(5);
	CHECK_INT(kept[5].since, 20);
	read_at(30, 5, "1-3/a");
	write_process(5);
	CHECK_INT(kept[5].since, 30);
}

static void written_without_room(void)
{
	kept_modules_max = 1;
	read_at(10, 5, "1-3/a 4-5/b");
	write_process(5);
	check_entry(5, 0, 0, 0);
	check_entry(5, 1, UNWIND_UNKNOWN_MODULE, 0);
	CHECK_INT(processes.nr_no_module, 1);
	read_at(20, 5, "");
	write_process(5);
	CHECK_INT(kept[5].nr, 0);
}

static const struct tap_test tests[] = {
	{"what is read takes the place of what was known", read_maps},
	{"who names frames is told of each file, once", modules_are_told},
	{"there is nothing above user space", vsyscall},
	{"a mapping cuts what is below", mapping_over_mapping},
	{"names are learned from what is read", learning},
	{"a child has what its parent has", forks},
	{"the tables have that once", shared},
	{"unless they do not have it so", not_shared},
	{"but not what its parent has had since", parent_read_later},
	{"a process that has ended is known until its walks have been heard", heard_after_its_end},
	{"those that have ended go, others stay", ended_among_others},
	{"unless it is another one by now", ended_and_begun},
	{"who has ended is not known again for a file that it had", asked_for_too_late},
	{"what a walk asks for", wanted},
	{"a program begins with nothing", programs},
	{"records of before the mappings were read are in there", records_before_the_read},
	{"where records were lost nothing is known", lost_records},
	{"there are so many mappings and processes at most", too_many},
	{"tables have what is mapped", written},
	{"files have modules when a walk has come to a process that has them", not_walked},
	{"unless they are no programs", no_programs},
	{"since when that is so", since},
	{"files beyond the tables are unknown there", written_without_room},
};

int main(void)
{
	return TAP_RUN_IN(with_processes, tests);
}
