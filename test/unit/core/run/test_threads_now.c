// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run/threads_now.h"

#include <limits.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/unit/tap.h"

static const struct doing_words words[NR_THREAD_DOINGS] = {
	[THREAD_WAITS] = {"waits", "wait"},
	[THREAD_RUNS] = {"runs", "run"},
	[THREAD_IS_STOPPED] = {"is stopped", "are stopped"},
	[THREAD_IS_TRACED] = {"is traced", "are traced"},
	[THREAD_HAS_ENDED] = {"has ended", "have ended"},
};

static void check_text(const struct threads_now *now, const char *expected)
{
	char text[256];

	threads_now__write(now, words, text, sizeof(text));
	CHECK_STR(text, expected);
}

static void sentences(void)
{
	struct threads_now now = {0};

	check_text(&now, "");
	now.nr[THREAD_WAITS] = 1;
	check_text(&now, "1 thread waits");
	now.places[0] = (struct waiting_place){"do_wait", 1};
	now.nr_places = 1;
	check_text(&now, "1 thread waits, in do_wait");
	now.nr[THREAD_WAITS] = 3;
	now.nr[THREAD_RUNS] = 2;
	now.nr[THREAD_IS_STOPPED] = 1;
	now.places[0] = (struct waiting_place){"do_wait", 2};
	now.places[1] = (struct waiting_place){"pipe_read", 1};
	now.nr_places = 2;
	check_text(&now, "3 threads wait, in do_wait (2), pipe_read (1); 2 threads run; "
			 "1 thread is stopped");
}

static void more_places_than_are_named(void)
{
	struct threads_now now = {.nr = {[THREAD_WAITS] = 5}, .nr_places = 5};

	for (size_t i = 0; i < 5; i++)
		now.places[i] = (struct waiting_place){{(char)('a' + i)}, 1};
	check_text(&now, "5 threads wait, in a (1), b (1), c (1), d (1) and elsewhere");
}

static void no_room(void)
{
	const struct threads_now now = {.nr = {[THREAD_RUNS] = 12}};
	char text[8];

	threads_now__write(&now, words, text, sizeof(text));
	CHECK_STR(text, "12 thre");
}

static void ourselves(void)
{
	pid_t pids[] = {getpid()};
	const struct pid_list list = {.pids = pids, .nr = 1};
	struct threads_now now;

	threads_now__look(&now, &list, false);
	check_text(&now, "1 thread runs");
	threads_now__look(&now, &list, true);
	check_text(&now, "1 thread runs");
}

static void a_zombie_and_what_is_gone(void)
{
	pid_t child = fork();
	pid_t pids[] = {child, INT_MAX};
	const struct pid_list list = {.pids = pids, .nr = 2};
	struct threads_now now;
	siginfo_t info;

	if (child == 0)
		_exit(0);
	CHECK_INT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	threads_now__look(&now, &list, false);
	check_text(&now, "1 thread has ended");
	CHECK_INT(waitpid(child, NULL, 0), child);
	threads_now__look(&now, &list, false);
	CHECK_INT(threads_now__count(&now), 0);
	threads_now__look(&now, &list, true);
	CHECK_INT(threads_now__count(&now), 0);
}

static const struct tap_test tests[] = {
	{"what threads do, and where they wait, is a sentence", sentences},
	{"of many places some are named", more_places_than_are_named},
	{"a sentence that is too long is cut", no_room},
	{"we run while we look", ourselves},
	{"a zombie has ended, and who is gone is nobody", a_zombie_and_what_is_gone},
};

int main(void)
{
	return TAP_RUN(tests);
}
