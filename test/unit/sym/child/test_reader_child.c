// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/child/reader_child.h"

#include <unistd.h>

#include "sym/util/child.h"
#include "test/unit/tap.h"

static const struct child_role role = {"reader", DEBUG_LOG_FILES};

/* The child's first kept descriptor. */
#define KEPT 1

static struct {
	int events[2]; /* a byte for each event, for the parent */
	int answer;    /* to the child */
	int nr_taken;
} attended;

/* Let the child go on; there is no room for another event. */
static bool take(void *context)
{
	char byte;

	(void)context;
	CHECK_INT(read(attended.events[0], &byte, 1), 1);
	CHECK_INT(write(attended.answer, &byte, 1), 1);
	attended.nr_taken++;
	return false;
}

/* Answers when it has been let go. */
static void run_child(const void *job)
{
	char byte;

	(void)job;
	while (read(KEPT, &byte, 1) == 1)
		reader_child__write(&byte, 1);
}

static void test_events_while_it_waits(void)
{
	struct reader_child child;
	int go[2];
	char byte = 0;

	CHECK_INT(pipe(attended.events), 0);
	CHECK_INT(pipe(go), 0);
	attended.answer = go[1];
	reader_child__attend(attended.events[0], take, NULL);
	CHECK_INT(reader_child__start(&child, &role, run_child, NULL, &go[0], 1), 0);
	CHECK_INT(write(attended.events[1], "ab", 2), 2);

	CHECK_INT(reader_child__read(&child, &byte, 1), 0);
	CHECK_INT(byte, 'a');
	CHECK_INT(attended.nr_taken, 1);
	/* The next event is taken in the next wait. */
	CHECK_INT(reader_child__read(&child, &byte, 1), 0);
	CHECK_INT(byte, 'b');
	CHECK_INT(attended.nr_taken, 2);
	reader_child__stop(&child);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"what comes while a child is waited for is taken", test_events_while_it_waits},
	};

	return TAP_RUN(tests);
}
