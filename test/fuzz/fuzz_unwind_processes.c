// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input: records and reads of processes, five bytes each: the kind, the process, the start, the
 * end, the file.
 */
#include <errno.h>
#include <string.h>

#include "core/history/records.h"
#include "core/unwind/files.h"
#include "core/unwind/modules.h"
#include "core/unwind/processes.h"
#include "sym/child/reader_child.h"
#include "test/fuzz/fuzz.h"
#include "test/unit/kept_tables.h"

/* Addresses are multiples of it. */
#define UNIT   ((uint64_t)1 << 12)
#define PLACES 256
#define PIDS   4

/* The mapping that was made last at each place. */
struct place {
	bool mapped;
	uint64_t offset, inode, generation;
};

/* The expected knowledge of each process. */
static struct {
	bool known;
	struct place places[PLACES];
} expected[PIDS];

/* In the place of sym/cfi/reader.h: see "--wrap" in ld(1). */
int __wrap_unwind_reader__identify(struct unwind_mapped *mapped, struct avoided_devices *avoided,
				   int watches);

#define INODES	    5
#define GENERATIONS 3

/* The file that each inode is now: the one that was mapped last. */
static uint64_t current[INODES];

/* Each generation of an inode is another file, by its size. */
static struct unwind_identity identity_of(uint64_t inode, uint64_t generation)
{
	return (struct unwind_identity){.inode = inode, .size = generation};
}

/* Each file has a watch of its own; the file of one inode has none. */
static int32_t watch_of(uint64_t inode)
{
	return inode == 4 ? 0 : (int32_t)(inode * GENERATIONS + current[inode]);
}

int __wrap_unwind_reader__identify(struct unwind_mapped *mapped, struct avoided_devices *avoided,
				   int watches)
{
	(void)avoided;
	(void)watches;
	if (mapped->inode == 2)
		return -ESTALE;
	mapped->identity = identity_of(mapped->inode, current[mapped->inode]);
	mapped->watch = watch_of(mapped->inode);
	mapped->source = UNWIND_SOURCE_FILE;
	return 0;
}

/* An inode becomes another file when the old one is gone, which has been told by then. */
static void note_file(struct unwind_files *files, uint64_t inode, uint64_t generation)
{
	if (current[inode] == generation)
		return;
	if (watch_of(inode))
		unwind_files__changed(files, watch_of(inode));
	current[inode] = generation;
}

/* A known file is the one that was named; a process that has another one is to be looked at. */
static void check_file(const struct known_processes *processes, const struct known_process *process,
		       const struct known_mapping *mapping, const struct place *place)
{
	const struct unwind_files *files = processes->files;
	struct unwind_identity identity = identity_of(place->inode, place->generation);

	REQUIRE((mapping->file == UNWIND_FILE_NONE) == !place->inode);
	REQUIRE(mapping->file != UNWIND_FILE_UNKNOWN || process->unknown);
	if (mapping->file < files->nr)
		REQUIRE(!memcmp(&files->items[mapping->file].mapped.identity, &identity,
				sizeof(identity)));
}

/* Returns how many places it has. */
static size_t check_mapping(const struct known_processes *processes,
			    const struct known_process *process, size_t number)
{
	const struct known_mapping *mapping = &process->mappings[number];

	REQUIRE(mapping->start < mapping->end && mapping->end <= PLACES * UNIT);
	REQUIRE(number == 0 || mapping[-1].end <= mapping->start);
	for (uint64_t at = mapping->start; at < mapping->end; at += UNIT) {
		const struct place *place = &expected[process->pid].places[at / UNIT];

		REQUIRE(place->mapped);
		REQUIRE(place->offset == mapping->offset + at - mapping->start);
		check_file(processes, process, mapping, place);
	}
	return (mapping->end - mapping->start) / UNIT;
}

/* Unchanged processes are in the tables as they are; unknown ones are not there. */
static void check_tables(const struct known_process *process, pid_t pid)
{
	REQUIRE(process || !kept[pid].nr);
	REQUIRE(!kept[pid].nr || kept[pid].since);
	if (!process || process->changed)
		return;
	REQUIRE(kept[pid].nr == process->nr);
	for (size_t i = 0; i < process->nr; i++)
		REQUIRE(kept[pid].mappings[i].start == process->mappings[i].start &&
			kept[pid].mappings[i].end == process->mappings[i].end);
}

static void check_process(const struct known_processes *processes, pid_t pid)
{
	const struct known_process *process = known_processes__find(processes, pid);
	size_t nr = 0, nr_expected = 0;

	REQUIRE(!process == !expected[pid].known);
	for (size_t i = 0; i < PLACES; i++)
		nr_expected += expected[pid].places[i].mapped;
	for (size_t i = 0; process && i < process->nr; i++)
		nr += check_mapping(processes, process, i);
	REQUIRE(nr == nr_expected);
	check_tables(process, pid);
}

static void note_mapping(const struct process_record *record)
{
	const struct sym_mapping *mapping = &record->mapping;

	for (uint64_t at = mapping->start; at < mapping->end; at += UNIT)
		expected[record->pid].places[at / UNIT] =
			(struct place){.mapped = true,
				       .offset = mapping->offset + at - mapping->start,
				       .inode = mapping->inode,
				       .generation = record->generation};
}

static void forget(pid_t pid)
{
	memset(&expected[pid], 0, sizeof(expected[pid]));
}

static bool has_any(pid_t pid)
{
	bool any = false;

	for (size_t i = 0; i < PLACES; i++)
		any |= expected[pid].places[i].mapped;
	return any;
}

static void note_record(const struct process_record *record)
{
	switch (record->deed) {
	case PROCESS_FORKED:
		if (expected[record->parent].known && has_any(record->parent))
			expected[record->pid] = expected[record->parent];
		else
			forget(record->pid);
		return;
	case PROCESS_EXECUTED:
		forget(record->pid);
		expected[record->pid].known = true;
		return;
	case PROCESS_MAPPED:
		if (expected[record->pid].known)
			note_mapping(record);
		return;
	case PROCESS_ENDED:
		forget(record->pid);
		return;
	case PROCESS_UNKNOWN:
		memset(expected, 0, sizeof(expected));
		return;
	}
}

static const char *path_of(uint64_t inode)
{
	static const char *const paths[] = {"", "/a", "/b", "[vdso]", "/c"};

	return paths[inode];
}

/* Memory without a file, and the record's file, found as it is. */
static void read_process(struct known_processes *processes, const struct process_record *record)
{
	struct known_process *process = known_processes__add(processes, record->pid);
	struct unwind_mapped mapped[2] = {
		{.start = 2 * UNIT, .end = 4 * UNIT, .source = UNWIND_SOURCE_NONE},
		{.start = 4 * UNIT, .end = 9 * UNIT, .offset = UNIT, .device = 8}};
	uint64_t inode = record->mapping.inode;

	mapped[1].inode = inode;
	mapped[1].identity = identity_of(inode, record->generation);
	mapped[1].watch = watch_of(inode);
	mapped[1].source = inode ? UNWIND_SOURCE_FILE : UNWIND_SOURCE_NONE;
	unwind_path__set(mapped[1].path, path_of(inode));
	REQUIRE(known_process__read(process, processes->files, mapped, 2, record->time) >= 0);
	forget(record->pid);
	expected[record->pid].known = true;
	for (uint64_t i = 2; i < 4; i++)
		expected[record->pid].places[i] =
			(struct place){.mapped = true, .offset = (i - 2) * UNIT};
	for (uint64_t i = 4; i < 9; i++)
		expected[record->pid].places[i] = (struct place){.mapped = true,
								 .offset = (i - 3) * UNIT,
								 .inode = inode,
								 .generation = record->generation};
}

static struct process_record make_record(const uint8_t *data, uint64_t time)
{
	uint64_t inode = data[4] % INODES;

	return (struct process_record){
		.deed = data[0] / 8 % 5,
		.time = time,
		.pid = data[1] % PIDS,
		.parent = (data[1] + 1 + data[2] % (PIDS - 1)) % PIDS,
		.generation = data[4] % GENERATIONS,
		.mapping = {.start = data[2] * UNIT,
			    .end = data[3] * UNIT,
			    .offset = (uint64_t)data[4] << 32,
			    .device = 8,
			    .inode = inode,
			    .path = path_of(inode)},
	};
}

static void act(struct known_processes *processes, uint8_t what,
		const struct process_record *record, struct unwind_tables *tables)
{
	struct known_process *process = known_processes__find(processes, record->pid);
	struct avoided_devices avoided = {.nr = 0};

	if (what == 0 || record->deed == PROCESS_MAPPED)
		note_file(processes->files, record->mapping.inode, record->generation);
	switch (what) {
	case 0:
		read_process(processes, record);
		return;
	case 1:
		unwind_files__seek(processes->files, &avoided, -1);
		return;
	case 2:
	case 3:
		if (process)
			known_processes__write(processes, process, tables);
		return;
	default:
		known_processes__take(processes, record, tables);
		known_processes__remove_ended(processes, tables);
		note_record(record);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct unwind_module_list modules;
	struct unwind_files files = {0};
	struct known_processes processes = {.files = &files, .modules = &modules};
	struct unwind_tables tables = {0};
	uint64_t time = 1;

	memset(expected, 0, sizeof(expected));
	memset(current, 0, sizeof(current));
	kept_tables__reset();
	for (; size >= 5 && time < 200; data += 5, size -= 5, time++) {
		const struct process_record record = make_record(data, time);

		processes.since = time;
		act(&processes, data[0] % 8, &record, &tables);
		for (pid_t pid = 0; pid < PIDS; pid++)
			check_process(&processes, pid);
	}
	known_processes__release(&processes);
	unwind_files__release(&files);
	return 0;
}
