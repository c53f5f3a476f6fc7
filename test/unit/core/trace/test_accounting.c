// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/accounting.h"

#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "test/unit/tap.h"

static const struct accounting example = {
	.events.n =
		{
			[EVENTS_SEEN] = 5120,
			[EVENTS_COUNTED] = 5100,
			[EVENTS_FILTERED] = 10,
			[EVENTS_FILTERED_PIDNS] = 2,
			[EVENTS_LOST_STACKS_FULL] = 5,
			[EVENTS_LOST_BUSY] = 3,
		},
	.missed_known = true,
	.missed = 3,
};

static const struct accounting all_lost = {
	.events.n =
		{
			[EVENTS_SEEN] = UINT64_MAX,
			[EVENTS_LOST_STACKS_FULL] = 1,
			[EVENTS_LOST_KEYS_FULL] = 20,
			[EVENTS_LOST_BUSY] = 300,
			[EVENTS_LOST_REFUSED] = 4000,
		},
};

static const char *format_loss(const struct accounting *accounting)
{
	static char line[512];

	accounting__format_loss(accounting, line, sizeof(line));
	return line;
}

static void sums(void)
{
	CHECK_INT(accounting__lost(&example), 8);
	CHECK_INT(accounting__filtered(&example), 12);
	CHECK_INT(accounting__lost(&all_lost), 4321);
	CHECK_INT(accounting__filtered(&all_lost), 0);
}

static void equation(void)
{
	CHECK_INT(example.events.n[EVENTS_SEEN], example.events.n[EVENTS_COUNTED] +
							 accounting__filtered(&example) +
							 accounting__lost(&example));
}

static void loss_by_reason(void)
{
	const struct accounting nothing = {.events.n = {[EVENTS_SEEN] = 7, [EVENTS_COUNTED] = 7}};

	CHECK_STR(format_loss(&example), "8 of 5120 events are not shown: 5 no room for their "
					 "stack (--stack-storage-size), 3 busy");
	CHECK_STR(format_loss(&all_lost),
		  "4321 of 18446744073709551615 events are not shown: 1 no room for their stack "
		  "(--stack-storage-size), 20 no room for their key (--hash-storage-size), "
		  "300 busy, 4000 table update refused");
	CHECK_STR(format_loss(&nothing), "0 of 7 events are not shown");
}

/* Those of a stream are counted at once. */
static void stacks_that_were_not_walked(void)
{
	const struct accounting some = {.events.n = {[EVENTS_SEEN] = 9,
						     [EVENTS_LATER] = 5,
						     [EVENTS_WALKED] = 3,
						     [EVENTS_COUNTED] = 7}};
	const struct accounting streamed = {
		.events.n = {[EVENTS_SEEN] = 9, [EVENTS_WALKED] = 3, [EVENTS_COUNTED] = 9}};

	CHECK_INT(accounting__not_walked(&some), 2);
	CHECK_INT(accounting__lost(&some), 2);
	CHECK_STR(format_loss(&some),
		  "2 of 9 events are not shown: 2 whose stacks were not walked in time");
	CHECK_INT(accounting__not_walked(&streamed), 0);
	CHECK_INT(accounting__lost(&streamed), 0);
}

static void loss_in_lines_of_any_size(void)
{
	char *whole = strdup(format_loss(&all_lost));

	for (size_t size = 1; size <= strlen(whole) + 1; size++) {
		char *line = malloc(size);

		accounting__format_loss(&all_lost, line, size);
		CHECK_INT(strlen(line), size - 1);
		CHECK(!strncmp(line, whole, size - 1));
		free(line);
	}
	free(whole);
}

static void stats(void)
{
	char line[512], small[10];

	accounting__format_stats(&example, line, sizeof(line));
	CHECK_STR(line, "5120 seen = 5100 counted + 12 filtered + 8 lost; 3 missed by the kernel");
	accounting__format_stats(&example, small, sizeof(small));
	CHECK_STR(small, "5120 seen");
}

static void stats_without_expectation(void)
{
	struct accounting accounting = example;
	struct past_samples past = {0};
	char line[512];

	accounting.missed_known = false;
	accounting__format_stats(&accounting, line, sizeof(line));
	CHECK_STR(line, "5120 seen = 5100 counted + 12 filtered + 8 lost; what the kernel missed "
			"is not known");
	accounting__set_expected(&accounting, 5121, &past);
	accounting__format_stats(&accounting, line, sizeof(line));
	CHECK_STR(line, "5120 seen = 5100 counted + 12 filtered + 8 lost; 1 missed by the kernel");
}

static void expected_samples(void)
{
	static const struct {
		uint64_t expected, missed;
	} cases[] = {{5125, 5}, {5120, 0}, {5119, 0}, {0, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct accounting accounting = example;
		struct past_samples past = {0};

		accounting__set_expected(&accounting, cases[i].expected, &past);
		CHECK_INT(accounting.missed, cases[i].missed);
	}
}

/* Each epoch has seen 5120; the clocks are read a little before or after it ends. */
static void expected_in_several_epochs(void)
{
	static const struct {
		uint64_t expected, missed;
	} epochs[] = {{5119, 0}, {10241, 1}, {15360, 0}, {20485, 4}};
	struct past_samples past = {0};

	for (size_t i = 0; i < ARRAY_SIZE(epochs); i++) {
		struct accounting accounting = example;

		accounting__set_expected(&accounting, epochs[i].expected, &past);
		CHECK_INT(accounting.missed, epochs[i].missed);
	}
}

static const struct tap_test tests[] = {
	{"what was lost and what was filtered add up", sums},
	{"seen = counted + filtered + lost", equation},
	{"losses are said by reason", loss_by_reason},
	{"stacks that were not walked are lost", stacks_that_were_not_walked},
	{"a line of any size is not overrun", loss_in_lines_of_any_size},
	{"what became of every event is said in one line", stats},
	{"what cannot be known of the kernel is not said", stats_without_expectation},
	{"fewer samples expected than seen are none missed", expected_samples},
	{"samples that were due are summed over epochs", expected_in_several_epochs},
};

int main(void)
{
	return TAP_RUN(tests);
}
