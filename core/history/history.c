// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A long build runs 100,000 programs, each with some ten mappings, nearly all of the same
 * few files. So a mapping is one word: the page where it starts, and the number of a part of
 * a file, which all who have mapped that share. A child shares the list of its parent. The
 * parts of a file share its path.
 *
 * Programs lie in a ring, by their numbers. Each knows the one that its process was before,
 * and one still earlier, by their numbers as well: a number below those in the ring says that it
 * has been forgotten. When there is no more room the oldest goes, but what is still running is
 * put in again. If all that runs is too much, what has the most mapped is left with nothing that
 * is known of it.
 */
#include "core/history/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/parts.h"
#include "core/history/records.h"
#include "sym/util/array.h"

/* PID_MAX_LIMIT of the kernel. Of the table only the pages of PIDs that are used take memory. */
#define PIDS ((uint32_t)1 << 22)

/* Of one program, as in sym/process/image.h: a real one has a hundred. */
#define MAPPINGS_MAX 1000

/* A program that maps so often in the place of something is not looked after any more. */
#define CHANGES_MAX 500

/* Times in which records were lost, apart; the last one is extended when there are so many. */
#define GAPS_MAX 256

#define PAGE_BITS 12 /* of all addresses of mappings, at least, these are 0 */
#define PART_BITS 19

/* Of all bytes one program has so many at most. */
#define PROGRAM_SHARE 16

/* 32-bit programs reach no further. */
#define ADDRESS_32_MAX ((uint64_t)1 << 32)

_Static_assert(PROCESS_PARTS_MAX == (uint32_t)1 << PART_BITS, "what a mapping has room for");

/* What a program has mapped, by when: a later one hides those before. */
struct mappings {
	uint32_t users, nr;
	uint64_t items[]; /* page << PART_BITS | part */
};

struct program {
	uint64_t since;
	struct mappings *mappings; /* NULL: none */
	pid_t pid;
	uint32_t before;   /* the number of what the process was before this; 0: nothing */
	uint32_t skip;	   /* the number of one that it was still earlier */
	uint32_t depth;	   /* how many it was before */
	uint32_t snapshot; /* what is not in mappings is in that; 0: in nothing */
	bool ended;
	bool unknown;
	uint16_t changes; /* it was the program before so many times, with something else mapped */
};

struct gap {
	uint64_t from, to;
};

/* In the place of a number: the program was running when it was forgotten, and still is. */
#define STILL_RUNNING UINT32_MAX
#define FORGOTTEN     1 /* and ended: the first one that there was went first */

struct process_history {
	struct program *programs; /* a ring: numbers [first, next) */
	uint32_t capacity, first, next;
	uint32_t *newest;  /* of each PID, the number; 0: none */
	uint64_t left_out; /* each that is STILL_RUNNING was what it is by this time */
	struct process_parts parts;
	size_t bytes; /* of all mappings */
	size_t bytes_max;
	struct gap gaps[GAPS_MAX];
	size_t nr_gaps;
};

int process_history__new(struct process_history **out, uint32_t programs, size_t bytes)
{
	struct process_history *history = calloc(1, sizeof(*history));
	int err;

	if (!history)
		return -ENOMEM;
	/* Neither is touched before it is used. */
	history->programs = calloc(programs, sizeof(*history->programs));
	history->newest = calloc(PIDS, sizeof(*history->newest));
	history->capacity = programs;
	history->first = history->next = 1;
	history->bytes_max = bytes;
	err = process_parts__init(&history->parts);
	if (!history->programs || !history->newest)
		err = -ENOMEM;
	if (err) {
		process_history__free(history);
		return err;
	}
	*out = history;
	return 0;
}

static size_t used_bytes(const struct process_history *history)
{
	return history->bytes + history->parts.bytes;
}

/* ---- mappings ---- */

static uint32_t part_of(uint64_t item)
{
	return (uint32_t)(item & (PROCESS_PARTS_MAX - 1));
}

static uint64_t start_of(uint64_t item)
{
	return item >> PART_BITS << PAGE_BITS;
}

static uint64_t end_of(const struct process_history *history, uint64_t item)
{
	return start_of(item) + history->parts.items[part_of(item)].length;
}

static uint32_t room_for(uint32_t nr)
{
	return (nr + 3) & ~(uint32_t)3;
}

static size_t mappings_bytes(uint32_t nr)
{
	return sizeof(struct mappings) + room_for(nr) * sizeof(uint64_t);
}

static void put_mappings(struct process_history *history, struct mappings *mappings)
{
	if (!mappings || --mappings->users)
		return;
	for (uint32_t i = 0; i < mappings->nr; i++)
		process_parts__put(&history->parts, part_of(mappings->items[i]));
	history->bytes -= mappings_bytes(mappings->nr);
	free(mappings);
}

/* The bytes of a list, with its shares of what others have, too. */
static size_t share_of(const struct process_history *history, const struct mappings *mappings)
{
	size_t bytes = mappings ? mappings_bytes(mappings->nr) : 0;

	for (uint32_t i = 0; mappings && i < mappings->nr; i++) {
		const struct process_part *part =
			&history->parts.items[part_of(mappings->items[i])];

		bytes += (sizeof(*part) + part->file->bytes / part->file->users) / part->users;
	}
	return bytes;
}

static struct mappings *get_mappings(struct mappings *mappings)
{
	if (mappings)
		mappings->users++;
	return mappings;
}

/* Those of from that end before start, or begin at end or behind it, and room for one more. */
static struct mappings *copy_beside(struct process_history *history, const struct mappings *from,
				    uint64_t start, uint64_t end)
{
	uint32_t nr = from ? from->nr : 0;
	struct mappings *copy = malloc(mappings_bytes(nr + 1));

	if (!copy)
		return NULL;
	*copy = (struct mappings){.users = 1};
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t item = from->items[i];

		if (start_of(item) >= start && end_of(history, item) <= end)
			continue;
		history->parts.items[part_of(item)].users++;
		copy->items[copy->nr++] = item;
	}
	return copy;
}

/* The last one that has something between start and end; 0: none. */
static uint64_t last_between(const struct process_history *history, const struct mappings *mappings,
			     uint64_t start, uint64_t end)
{
	for (uint32_t i = mappings ? mappings->nr : 0; i-- > 0;) {
		uint64_t item = mappings->items[i];

		if (start_of(item) < end && end_of(history, item) > start)
			return item;
	}
	return 0;
}

static uint64_t find_item(const struct process_history *history, const struct mappings *mappings,
			  uint64_t address)
{
	return last_between(history, mappings, address, address + 1);
}

static bool is_of(const struct process_part *part, const struct sym_file_id *file)
{
	if (!file->inode)
		return !part->file->inode && !strcmp(part->file->path, "[vdso]");
	return part->file->inode == file->inode && part->file->device == file->device;
}

/* That of an offset in a file, if nothing hides it; *address: where that is, if there is one. */
static uint64_t find_in_file(const struct process_history *history, const struct mappings *mappings,
			     const struct sym_file_id *file, uint64_t offset, uint64_t *address)
{
	for (uint32_t i = mappings ? mappings->nr : 0; i-- > 0;) {
		uint64_t item = mappings->items[i];
		const struct process_part *part = &history->parts.items[part_of(item)];
		uint64_t found = start_of(item) + (offset - part->offset);

		if (offset - part->offset < part->length && is_of(part, file) &&
		    find_item(history, mappings, found) == item) {
			*address = found;
			return item;
		}
	}
	return 0;
}

/* Whether it is a piece of what is there: the kernel tells of changed permissions, too. */
static bool is_piece(const struct process_history *history, uint64_t item,
		     const struct process_record *mapped)
{
	const struct sym_mapping *mapping = &mapped->mapping;
	const struct process_part *part = &history->parts.items[part_of(item)];

	if (mapping->start < start_of(item) || mapping->end > end_of(history, item) ||
	    part->file->inode != mapping->inode || part->file->device != mapping->device ||
	    part->file->generation != mapped->generation)
		return false;
	return mapping->inode ? mapping->offset - part->offset == mapping->start - start_of(item) :
				!strcmp(part->file->path, mapping->path);
}

/* ---- programs ---- */

static struct program *program_at(const struct process_history *history, uint32_t number)
{
	return &history->programs[number & (history->capacity - 1)];
}

static bool is_kept(const struct process_history *history, uint32_t number)
{
	return number && number - history->first < history->next - history->first;
}

static uint32_t *newest_of(const struct process_history *history, pid_t pid)
{
	return pid > 0 && (uint32_t)pid < PIDS ? &history->newest[pid] : NULL;
}

/* What pid is now, or the last that it was; or NULL. */
static struct program *newest(const struct process_history *history, pid_t pid)
{
	const uint32_t *number = newest_of(history, pid);

	return number && is_kept(history, *number) ? program_at(history, *number) : NULL;
}

static bool is_running(const struct process_history *history, uint32_t number)
{
	const struct program *program = program_at(history, number);

	return !program->ended && history->newest[program->pid] == number;
}

/* What it has mapped is not known any more. */
static void make_unknown(struct process_history *history, struct program *program)
{
	put_mappings(history, program->mappings);
	program->mappings = NULL;
	program->snapshot = 0;
	program->unknown = true;
}

static void put_first(struct process_history *history)
{
	const struct program *program = program_at(history, history->first++);

	put_mappings(history, program->mappings);
}

/* The oldest one becomes the newest if it still runs, or else goes. */
static void turn(struct process_history *history)
{
	uint32_t number = history->first;
	struct program program = *program_at(history, number);

	if (!is_running(history, number)) {
		put_first(history);
		return;
	}
	history->first++;
	history->newest[program.pid] = history->next;
	*program_at(history, history->next++) = program;
}

/* The oldest one goes, though it may run. */
static void leave_out(struct process_history *history)
{
	const struct program *program = program_at(history, history->first);

	if (is_running(history, history->first)) {
		history->newest[program->pid] = STILL_RUNNING;
		if (program->since > history->left_out)
			history->left_out = program->since;
	}
	put_first(history);
}

/* Each of them runs: what has the most mapped is asked for that itself while it does. */
static void drop_largest(struct process_history *history)
{
	size_t enough = history->bytes_max / 4 * 3;

	for (size_t most = history->bytes_max / PROGRAM_SHARE; most && used_bytes(history) > enough;
	     most /= 2)
		for (uint32_t number = history->first; number != history->next; number++) {
			struct program *program = program_at(history, number);

			if (share_of(history, program->mappings) >= most)
				make_unknown(history, program);
		}
}

static bool has_all_programs(const struct process_history *history)
{
	return history->next - history->first == history->capacity;
}

static bool has_all_bytes(const struct process_history *history)
{
	return used_bytes(history) > history->bytes_max;
}

/* By a part of the whole at least where all of them run: it is not to be searched each time. */
static void make_room(struct process_history *history)
{
	uint32_t nr = history->next - history->first;

	while (nr-- && (has_all_programs(history) || has_all_bytes(history)))
		turn(history);
	if (has_all_bytes(history))
		drop_largest(history);
	if (has_all_programs(history))
		for (uint32_t i = 0; i <= history->capacity / 16; i++)
			leave_out(history);
}

/*
 * A process can have been 100,000 programs. Of n, any is found in about 2 log2(n) steps by a
 * second link, which is as long as two of the one before are if these are of the same length.
 * Myers, "An applicative random-access stack" (1983).
 */
static void set_skip(const struct process_history *history, struct program *program)
{
	const struct program *before, *skipped;

	if (!is_kept(history, program->before))
		return;
	before = program_at(history, program->before);
	program->depth = before->depth + 1;
	program->skip = program->before;
	if (!is_kept(history, before->skip))
		return;
	skipped = program_at(history, before->skip);
	if (is_kept(history, skipped->skip) &&
	    before->depth - skipped->depth ==
		    skipped->depth - program_at(history, skipped->skip)->depth)
		program->skip = skipped->skip;
}

/* Another program of a process, as of since; mappings are handed over. */
static struct program *add(struct process_history *history, pid_t pid, uint64_t since,
			   uint32_t snapshot, struct mappings *mappings)
{
	uint32_t *number = newest_of(history, pid);
	struct program *program;

	if (!number) {
		put_mappings(history, mappings);
		return NULL;
	}
	make_room(history);
	program = program_at(history, history->next);
	*program = (struct program){.since = since,
				    .mappings = mappings,
				    .pid = pid,
				    .before = *number,
				    .snapshot = snapshot};
	set_skip(history, program);
	*number = history->next++;
	return program;
}

void process_history__begin(struct process_history *history, pid_t pid, uint32_t snapshot)
{
	if (!newest(history, pid))
		add(history, pid, PROGRAM_BEFORE, snapshot, NULL);
}

/* What is known of pid as it is now; or NULL, also if records of it may have been lost. */
static struct program *known(const struct process_history *history, pid_t pid)
{
	struct program *program = newest(history, pid);

	if (!program || program->unknown ||
	    (history->nr_gaps && program->since <= history->gaps[history->nr_gaps - 1].to))
		return NULL;
	return program;
}

static void take_fork(struct process_history *history, const struct process_record *record)
{
	const struct program *parent = known(history, record->parent);
	struct program *child;
	struct mappings *mappings = NULL;
	uint32_t snapshot = 0;
	bool unknown = !parent;

	if (parent) {
		mappings = get_mappings(parent->mappings);
		snapshot = parent->snapshot;
	}
	child = add(history, record->pid, record->time, snapshot, mappings);
	if (child)
		child->unknown = unknown;
}

static void take_end(struct process_history *history, pid_t pid)
{
	struct program *program = newest(history, pid);
	uint32_t *number = newest_of(history, pid);

	if (program)
		program->ended = true;
	else if (number && *number == STILL_RUNNING)
		*number = FORGOTTEN;
}

/* Append to a list that is the program's own. */
static bool append(struct process_history *history, struct program *program, uint64_t item)
{
	struct mappings *mappings = program->mappings;
	uint32_t nr = mappings ? mappings->nr : 0;
	size_t before = mappings ? mappings_bytes(nr) : 0;

	if (nr >= MAPPINGS_MAX || share_of(history, mappings) > history->bytes_max / PROGRAM_SHARE)
		return false;
	if (!mappings || room_for(nr + 1) != room_for(nr)) {
		mappings = realloc(mappings, mappings_bytes(nr + 1));
		if (!mappings)
			return false;
	}
	if (!nr)
		*mappings = (struct mappings){.users = 1};
	mappings->items[mappings->nr++] = item;
	program->mappings = mappings;
	history->bytes += mappings_bytes(nr + 1) - before;
	return true;
}

/* Have a list that nobody shares, without what lies between start and end as a whole. */
static bool own_mappings(struct process_history *history, struct program *program, uint64_t start,
			 uint64_t end)
{
	struct mappings *copy = copy_beside(history, program->mappings, start, end);

	if (!copy)
		return false;
	history->bytes += mappings_bytes(copy->nr);
	put_mappings(history, program->mappings);
	program->mappings = copy;
	return true;
}

static bool has_bytes(const struct sym_mapping *mapping)
{
	return mapping->start < mapping->end && mapping->path &&
	       mapping->start >> PAGE_BITS < (uint64_t)1 << (64 - PART_BITS);
}

static bool is_vdso(const struct sym_mapping *mapping)
{
	/* That of 32-bit programs is another one. */
	return !mapping->inode && !strcmp(mapping->path, "[vdso]") &&
	       mapping->start >= ADDRESS_32_MAX;
}

/* Map it, in the place of whatever was there. *new_part: if it is new, or 0. */
static bool map(struct process_history *history, struct program *program,
		const struct process_record *mapped, uint32_t *new_part)
{
	const struct sym_mapping *mapping = &mapped->mapping;
	bool added;
	uint32_t part = process_parts__find_or_add(&history->parts, mapped, &added);

	if (!part)
		return false;
	history->parts.items[part].users++;
	if ((program->mappings && program->mappings->users > 1 &&
	     !own_mappings(history, program, mapping->start, mapping->end)) ||
	    !append(history, program, mapping->start >> PAGE_BITS << PART_BITS | part)) {
		process_parts__put(&history->parts, part);
		return false;
	}
	*new_part = added && mapping->inode ? part : 0;
	return true;
}

/* The same program from now on, to have something else mapped. */
static struct program *change(struct process_history *history, const struct program *program,
			      uint64_t time)
{
	const struct program before = *program;
	struct program *changed =
		add(history, before.pid, time, before.snapshot, get_mappings(before.mappings));

	changed->changes = before.changes + 1;
	return changed;
}

static uint32_t take_mapping(struct process_history *history, const struct process_record *record)
{
	const struct sym_mapping *mapping = &record->mapping;
	struct program *program;
	uint32_t new_part = 0;
	uint64_t hidden;
	bool replaces;

	make_room(history);
	program = known(history, record->pid);
	if (!program || !has_bytes(mapping))
		return 0;
	hidden = last_between(history, program->mappings, mapping->start, mapping->end);
	if (hidden && is_piece(history, hidden, record))
		return 0;
	/* Generated code has no names when its process has ended. */
	if (!hidden && !mapping->inode && !is_vdso(mapping))
		return 0;
	/* What a snapshot has there is not known here. */
	replaces = hidden || program->snapshot;
	if (replaces)
		program = change(history, program, record->time);
	/* One without room hides all the same what it was to take the place of. */
	if ((program->changes == CHANGES_MAX || !map(history, program, record, &new_part)) &&
	    replaces)
		make_unknown(history, program);
	return new_part;
}

/* Many CPUs lose records at the same time. */
static void take_gap(struct process_history *history, const struct process_record *record)
{
	const struct gap gap = {.from = record->since, .to = record->time};
	struct gap *last = history->nr_gaps ? &history->gaps[history->nr_gaps - 1] : NULL;

	if (!last || (gap.from > last->to && history->nr_gaps < GAPS_MAX)) {
		history->gaps[history->nr_gaps++] = gap;
		return;
	}
	if (last->from > gap.from)
		last->from = gap.from;
	if (last->to < gap.to)
		last->to = gap.to;
}

uint32_t process_history__take(struct process_history *history, const struct process_record *record)
{
	switch (record->deed) {
	case PROCESS_FORKED:
		take_fork(history, record);
		break;
	case PROCESS_EXECUTED:
		add(history, record->pid, record->time, 0, NULL);
		break;
	case PROCESS_MAPPED:
		return take_mapping(history, record);
	case PROCESS_ENDED:
		take_end(history, record->pid);
		break;
	case PROCESS_UNKNOWN:
		take_gap(history, record);
		break;
	}
	return 0;
}

void process_history__free(struct process_history *history)
{
	if (!history)
		return;
	while (history->first != history->next)
		put_first(history);
	free(history->programs);
	free(history->newest);
	process_parts__release(&history->parts);
	free(history);
}

/* ---- questions ---- */

struct sym_image process_history__image(const struct process_history *history, uint32_t number,
					struct sym_mapping *mapping)
{
	const struct process_part *part = &history->parts.items[number];

	*mapping = (struct sym_mapping){.start = part->start,
					.end = part->start + part->length,
					.offset = part->offset,
					.device = part->file->device,
					.inode = part->file->inode,
					.path = part->file->path};
	return (struct sym_image){.parent = part->pid, .mappings = mapping, .nr = 1};
}

/* Whether something may have happened to a program until time that nobody has told. */
static bool is_in_doubt(const struct process_history *history, const struct program *program,
			uint64_t time)
{
	for (size_t i = 0; i < history->nr_gaps; i++)
		if (program->since <= history->gaps[i].to && time >= history->gaps[i].from)
			return true;
	return false;
}

/* What the process is now, or else what nobody can ask for any more. */
static uint64_t unknown_since(bool is_newest)
{
	return is_newest ? PROGRAM_UNKNOWN : PROGRAM_GONE;
}

/* The number of what pid was at a time; one that is not kept says why there is none. */
static uint32_t number_at(const struct process_history *history, pid_t pid, uint64_t time)
{
	const uint32_t *newest = newest_of(history, pid);
	uint32_t number = newest ? *newest : 0;

	while (is_kept(history, number)) {
		const struct program *program = program_at(history, number);

		if (program->since <= time)
			break;
		number = is_kept(history, program->skip) &&
					 program_at(history, program->skip)->since > time ?
				 program->skip :
				 program->before;
	}
	return number;
}

uint64_t process_history__since(const struct process_history *history, pid_t pid, uint64_t time)
{
	uint32_t number = number_at(history, pid, time);
	const struct program *program;
	bool is_newest;

	if (!number)
		return newest(history, pid) ? PROGRAM_GONE : PROGRAM_UNKNOWN;
	is_newest = number == *newest_of(history, pid);
	if (!is_kept(history, number))
		return number == STILL_RUNNING && is_newest && time >= history->left_out ?
			       PROGRAM_UNKNOWN :
			       PROGRAM_FORGOTTEN;
	program = program_at(history, number);
	if (program->unknown || is_in_doubt(history, program, time))
		return unknown_since(is_newest);
	return program->since;
}

/*
 * Whether it is the same program now. One that was there before, and has no successor, is asked
 * for as if it were there: the symbolizer may have remembered it, with its generated code.
 */
static bool is_running_still(const struct program *program, const struct program *now)
{
	return now->depth - program->depth <= now->changes &&
	       (!now->ended || program->since == PROGRAM_BEFORE);
}

/* What a program has at an address, or of a file; *place says where. 0: nothing is known. */
static uint64_t find_wanted(const struct process_history *history, const struct mappings *mappings,
			    const struct sym_file_id *file, struct process_place *place)
{
	return file ? find_in_file(history, mappings, file, place->address, &place->mapped_at) :
		      find_item(history, mappings, place->address);
}

struct process_place process_history__find(const struct process_history *history, pid_t pid,
					   uint64_t since, const struct sym_file_id *file,
					   uint64_t address)
{
	struct process_place place = {0}, now_at = {.address = address};
	uint32_t number = number_at(history, pid, since);
	const struct program *program, *now = newest(history, pid);
	uint64_t item;

	if (!is_kept(history, number))
		return place;
	program = program_at(history, number);
	if (program->since != since)
		return place;
	place.address = address;
	item = find_wanted(history, program->mappings, file, &place);
	if (item)
		place.part = part_of(item);
	else
		place.snapshot = program->snapshot;
	if (item && !file)
		place.address = history->parts.items[place.part].start + (address - start_of(item));
	/* Where the process is in doubt what is known is better; if nothing is it is asked. */
	place.current = is_running_still(program, now) &&
			item == find_wanted(history, now->mappings, file, &now_at) &&
			(known(history, pid) || (!place.part && !place.snapshot));
	return place;
}
