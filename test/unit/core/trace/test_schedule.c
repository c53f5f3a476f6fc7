// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/schedule.h"

#include "test/unit/tap.h"

/* All times are relative to a start that is not 0. */
#define START 1000000007ULL

static uint64_t wait_at(uint64_t interval, uint64_t duration, uint64_t passed)
{
	const struct schedule schedule = {
		.start = START, .interval = interval, .duration = duration};

	return schedule__wait(&schedule, START + passed);
}

static bool over_at(uint64_t duration, uint64_t passed)
{
	const struct schedule schedule = {.start = START, .interval = 7, .duration = duration};

	return schedule__is_over(&schedule, START + passed);
}

static void neither(void)
{
	CHECK_INT(wait_at(0, 0, 0), 0);
	CHECK_INT(wait_at(0, 0, 12345), 0);
	CHECK(!over_at(0, 0));
	CHECK(!over_at(0, UINT64_MAX - START));
}

static void intervals(void)
{
	CHECK_INT(wait_at(100, 0, 0), 100);
	CHECK_INT(wait_at(100, 0, 1), 99);
	CHECK_INT(wait_at(100, 0, 99), 1);
	CHECK_INT(wait_at(100, 0, 100), 100);
	CHECK_INT(wait_at(1, 0, 12345), 1);
}

/* A report that took 2.3 intervals: the next is at the end of the third. */
static void reports_that_take_long(void)
{
	CHECK_INT(wait_at(100, 0, 230), 70);
	CHECK_INT(wait_at(100, 0, 100000000001), 99);
}

static void durations(void)
{
	CHECK_INT(wait_at(0, 500, 0), 500);
	CHECK_INT(wait_at(0, 500, 499), 1);
	CHECK(!over_at(500, 0));
	CHECK(!over_at(500, 499));
	CHECK(over_at(500, 500));
	CHECK(over_at(500, 501));
}

/* Over, but not asked about it yet: no time must pass, and 0 would be for ever. */
static void behind_the_end(void)
{
	CHECK_INT(wait_at(0, 500, 500), 1);
	CHECK_INT(wait_at(0, 500, 100000), 1);
	CHECK_INT(wait_at(100, 500, 530), 1);
}

/* The last interval is cut short by the end. */
static void both(void)
{
	CHECK_INT(wait_at(300, 1000, 0), 300);
	CHECK_INT(wait_at(300, 1000, 300), 300);
	CHECK_INT(wait_at(300, 1000, 900), 100);
	CHECK_INT(wait_at(300, 100, 0), 100);
	CHECK_INT(wait_at(500, 1000, 600), 400);
}

/* To wait as long as it says, again and again, leads through all intervals to the end. */
static void from_report_to_report(void)
{
	const struct schedule schedule = {.start = START, .interval = 300, .duration = 1000};
	uint64_t now = START;
	int reports = 0;

	while (!schedule__is_over(&schedule, now) && reports < 10) {
		now += schedule__wait(&schedule, now);
		reports++;
	}
	CHECK_INT(reports, 4);
	CHECK_INT(now, START + 1000);
}

static void largest_numbers(void)
{
	CHECK_INT(wait_at(UINT64_MAX, 0, 1), UINT64_MAX - 1);
	CHECK_INT(wait_at(UINT64_MAX, UINT64_MAX, 1), UINT64_MAX - 1);
	CHECK(!over_at(UINT64_MAX, UINT64_MAX - START));
}

static const struct tap_test tests[] = {
	{"without -i and -D nothing is planned", neither},
	{"an interval ends where the next begins", intervals},
	{"what a long report has missed is left out", reports_that_take_long},
	{"a duration ends at its time", durations},
	{"behind the end the wait is short, never without limit", behind_the_end},
	{"with both, what comes first", both},
	{"three intervals and a rest are four reports", from_report_to_report},
	{"the largest numbers do not overflow", largest_numbers},
};

int main(void)
{
	return TAP_RUN(tests);
}
