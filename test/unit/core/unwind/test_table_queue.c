// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose turn it is, and when; the clock is that of the test. No file has been found. */
#include "core/unwind/table_queue.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sym/util/clock.h"
#include "test/unit/tap.h"

static uint64_t now;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	(void)clock;
	*time = (struct timespec){.tv_sec = (time_t)(now / NANOSECONDS),
				  .tv_nsec = (long)(now % NANOSECONDS)};
	return 0;
}

static struct unwind_told told;
static struct table_queue queue;

static void begin(void)
{
	unwind_files__release(&queue.files);
	queue = (struct table_queue){.told = &told};
	told.status = (struct unwind_status){0};
	now = 1000 * NANOSECONDS;
}

/* A file that so many walks of a process have come to, and where they want it. */
static uint32_t add_wanted(pid_t pid, int walks)
{
	const struct mapped_file file = {.inode = queue.files.nr + 1};
	uint32_t index = UNWIND_FILE_NONE;

	CHECK_INT(unwind_files__add(&queue.files, &file, &index), 0);
	while (walks--)
		table_queue__note_walk(&queue.files.items[index]);
	table_queue__want(&queue, &queue.files.items[index], pid, 0x1000);
	return index;
}

/* The next one has its turn. */
static uint32_t next(void)
{
	uint32_t index = table_queue__most_wanted(&queue, false);

	if (index != UNWIND_FILE_NONE)
		(void)table_queue__take_turn(&queue, &queue.files.items[index]);
	return index;
}

static void turns(void)
{
	uint32_t greedy[4], modest, last;

	begin();
	CHECK_INT(table_queue__most_wanted(&queue, false), UNWIND_FILE_NONE);
	for (int i = 0; i < 4; i++)
		greedy[i] = add_wanted(1, 10 + i);
	modest = add_wanted(2, 1);
	CHECK_INT(table_queue__count(&queue), 5);
	CHECK_INT(table_queue__most_wanted(&queue, true), UNWIND_FILE_NONE);
	CHECK_INT(next(), greedy[3]);
	CHECK_INT(next(), modest);
	CHECK_INT(next(), greedy[2]);
	/* One that has not been served comes before one that was. */
	last = add_wanted(3, 0);
	modest = add_wanted(2, 1);
	CHECK_INT(next(), last);
	CHECK_INT(next(), modest);
	CHECK_INT(next(), greedy[1]);
	CHECK_INT(next(), greedy[0]);
	CHECK_INT(next(), UNWIND_FILE_NONE);
}

static void walks_of_late(void)
{
	uint32_t before, late, other;

	begin();
	before = add_wanted(1, 8);
	now += 3 * NANOSECONDS;
	late = add_wanted(1, 2);
	other = add_wanted(1, 2);
	CHECK_INT(next(), late);
	CHECK_INT(next(), other);
	CHECK_INT(next(), before);
}

/* Milliseconds until a file that could not be had is wanted again. */
static int pause_of(struct unwind_known_file *file)
{
	for (int ms = 0; ms < 10000; ms++, now += MILLISECONDS) {
		table_queue__want(&queue, file, getpid(), 0x1000);
		if (file->wanted_by)
			return ms;
	}
	return -1;
}

static void failures(void)
{
	static const int pauses[] = {20, 40, 80, 160, 320, 640, 640};
	struct unwind_known_file *file;
	uint32_t index;

	begin();
	index = add_wanted(getpid(), 1); /* which can move the files */
	file = &queue.files.items[index];
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		(void)next();
		file->is_read = false;
		table_queue__note_failure(&queue, file);
		CHECK_INT(table_queue__status(&queue)->nr_refused, i >= 4);
		CHECK_INT(pause_of(file), pauses[i]);
	}
	file->wanted_by = 0;
	/* Its path was of no use, so who has gone is of none. */
	table_queue__want(&queue, file, (pid_t)1 << 30, 0x1000);
	CHECK_INT(file->wanted_by, 0);
	table_queue__forgive(&queue, file);
	CHECK_INT(table_queue__status(&queue)->nr_refused, 0);
	CHECK_INT(pause_of(file), 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"processes take turns, with the file that most walks want", turns},
		{"walks of long ago count less", walks_of_late},
		{"what cannot be had is tried again, later and later", failures},
	};
	int result = TAP_RUN(tests);

	unwind_files__release(&queue.files);
	return result;
}
