// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/history/records.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/page.h"
#include "test/unit/tap.h"

/* Far more than find room in the buffer of one CPU; and some that do. */
#define TOO_MANY 3000
#define SOME	 100

#define QUIET_MICROSECONDS 20000

static struct process_records *records;
static bool no_memory;
static uint64_t mapped_at[TOO_MANY + 1]; /* before each mapping, and behind the last */

/* As the linker has what is tested call it. */
char *__real_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size);

char *__wrap_strndup(const char *text, size_t size)
{
	return no_memory ? NULL : __real_strndup(text, size);
}

/* With all that happens on one CPU: the order of one buffer. */
static void with_records(void (*test)(void))
{
	struct error error = {0};
	cpu_set_t before, one;

	if (process_records__open(&records, PROCESS_RECORDS_MUCH, &error)) {
		tap_skip("perf events are refused");
		return;
	}
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CHECK_INT(sched_getaffinity(0, sizeof(before), &before), 0);
	CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0);
	test();
	CHECK_INT(sched_setaffinity(0, sizeof(before), &before), 0);
	process_records__close(records);
}

static void map_memory(size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		void *mapped;

		mapped_at[i] = monotonic_now();
		mapped = mmap(NULL, page_size(), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0);
		if (CHECK(mapped != MAP_FAILED))
			munmap(mapped, page_size());
	}
	mapped_at[nr] = monotonic_now();
}

/* The next of what this program has mapped; or NULL. */
static const struct process_record *next_mapping(void)
{
	const struct process_record *record;

	while ((record = process_records__next(records, UINT64_MAX)))
		if (record->deed == PROCESS_MAPPED && record->pid == getpid())
			break;
	return record;
}

/* How many of those that map_memory() has made are told, from the first on. */
static size_t count_mappings(void)
{
	const struct process_record *record;
	size_t nr = 0;

	for (; (record = next_mapping()); nr++) {
		CHECK(record->time >= mapped_at[nr] && record->time <= mapped_at[nr + 1]);
		CHECK_STR(record->mapping.path, "//anon");
		CHECK_INT(record->mapping.end - record->mapping.start, page_size());
	}
	return nr;
}

/* Whether something is missing at a time. */
static bool is_missing(uint64_t time)
{
	const struct process_record *record;
	bool is = false;

	while ((record = process_records__next(records, UINT64_MAX)))
		is |= record->deed == PROCESS_UNKNOWN && record->since <= time &&
		      record->time >= time;
	return is;
}

static void burst(void)
{
	const struct process_record *record;
	uint64_t last = 0, since = 0, until = 0, quiet;
	size_t nr = 0;

	map_memory(TOO_MANY);
	CHECK_INT(process_records__read(records), 0);
	while ((record = process_records__next(records, UINT64_MAX)))
		if (record->deed == PROCESS_MAPPED && record->pid == getpid()) {
			last = record->time;
			nr++;
		} else if (record->deed == PROCESS_UNKNOWN && record->since >= last) {
			since = record->since;
			until = record->time;
		}
	CHECK(nr > SOME && nr < TOO_MANY);
	/* From the last one that is there until there was room again, and no longer. */
	CHECK(since >= last && since < mapped_at[nr + 1]);
	CHECK(until > mapped_at[TOO_MANY] && until <= monotonic_now());
	/* What the kernel says of it later says nothing new. */
	CHECK_INT(process_records__read(records), 0);
	quiet = monotonic_now();
	usleep(QUIET_MICROSECONDS);
	map_memory(1);
	CHECK_INT(process_records__read(records), 0);
	CHECK(!is_missing(quiet));
}

static void all_taken(void)
{
	map_memory(SOME);
	CHECK_INT(process_records__read(records), 0);
	CHECK_INT(count_mappings(), SOME);
}

static void memory_short(void)
{
	map_memory(SOME);
	no_memory = true;
	CHECK_INT(process_records__read(records), -ENOMEM);
	no_memory = false;
	CHECK(!next_mapping());
	CHECK_INT(process_records__read(records), 0);
	CHECK_INT(count_mappings(), SOME);
}

static const struct tap_test tests[] = {
	{"what is mapped is taken, in order", all_taken},
	{"what finds no room is missing at once, and at its time", burst},
	{"what finds no memory is taken later", memory_short},
};

int main(void)
{
	return TAP_RUN_IN(with_records, tests);
}
