// SPDX-License-Identifier: GPL-2.0-or-later
/* Naming without waiting, by the symbolizer's own functions, and the fate of its child. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sym/child/supervisor.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/copies.h"
#include "test/unit/tap.h"

#define CLEANUP_SYMBOLIZER CLEANUP(symbolizer__freep)

/* The child has a second without progress; whoever waits for it takes as long. */
#define AT_ONCE_MS 300

static struct symbolizer *make_symbolizer(void)
{
	struct symbolizer *symbolizer = NULL;

	CHECK_INT(symbolizer__new(&symbolizer, &(struct sym_settings){0}, NULL, NULL), 0);
	return symbolizer;
}

/* The function that is asked for, in this process and in its copies. */
static __attribute__((noinline)) int plain_function(int argument)
{
	__asm__ volatile("" : "+r"(argument));
	return argument * 3;
}

static struct sym_query query_of(pid_t pid)
{
	return (struct sym_query){.pid = pid, .address = (uint64_t)(uintptr_t)plain_function};
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- event loops ---- */

static void wait_for(const struct symbolizer *symbolizer)
{
	struct pollfd pollfd;
	int timeout = symbolizer__poll(symbolizer, &pollfd);

	CHECK(timeout > 0 && pollfd.fd >= 0);
	poll(&pollfd, 1, timeout);
}

/* symbolizer__attend(), which never takes long. */
static int attend(struct symbolizer *symbolizer)
{
	uint64_t begin = now_ms();
	int open = symbolizer__attend(symbolizer);

	CHECK(now_ms() - begin < AT_ONCE_MS);
	return open;
}

/* Until the question has been answered; what attend() said last. */
static int attend_to_question(struct symbolizer *symbolizer)
{
	int open;

	for (open = attend(symbolizer); open > 0; open = attend(symbolizer))
		wait_for(symbolizer);
	return open;
}

/* Until nothing is open. */
static void attend_to_all(struct symbolizer *symbolizer)
{
	struct pollfd pollfd;

	CHECK_INT(attend_to_question(symbolizer), 0);
	while (symbolizer__poll(symbolizer, &pollfd) >= 0) {
		wait_for(symbolizer);
		CHECK_INT(attend(symbolizer), 0);
	}
	CHECK_INT(pollfd.fd, -1);
}

static const char *ask_name(struct symbolizer *symbolizer, pid_t pid)
{
	struct sym_query query = query_of(pid);

	CHECK_INT(symbolizer__ask_user(symbolizer, &query, 1), 0);
	CHECK_INT(attend_to_question(symbolizer), 0);
	return query.name;
}

/* ---- processes ---- */

/* The only child that this process has: call it before others are started. */
static pid_t find_worker(struct symbolizer *symbolizer)
{
	CLEANUP_CLOSEDIR DIR *processes = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;

	attend_to_all(symbolizer);
	while (processes && (entry = readdir(processes))) {
		CLEANUP_FCLOSE FILE *file = NULL;
		char path[300];
		pid_t parent;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		file = fopen(path, "re");
		/* Neither this program nor its children have a name with spaces. */
		if (file && fscanf(file, "%*d %*s %*c %d", &parent) == 1 && parent == getpid())
			found = atoi(entry->d_name);
	}
	CHECK(found > 0);
	return found;
}

/* ---- questions ---- */

static void question_without_waiting(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query queries[] = {query_of(getpid()), query_of(getpid())}, other = queries[0];
	struct pollfd pollfd;

	queries[1].address = (uint64_t)(uintptr_t)getppid;
	CHECK_INT(plain_function(2), 6);
	CHECK_INT(symbolizer__attend(symbolizer), 0);
	CHECK_INT(symbolizer__poll(symbolizer, &pollfd), -1);
	CHECK_INT(pollfd.fd, -1);
	for (int again = 0; again < 3; again++) {
		CHECK_INT(symbolizer__ask_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
		CHECK(symbolizer__poll(symbolizer, &pollfd) > 0);
		CHECK(pollfd.events & POLLIN);
		CHECK_INT(symbolizer__ask_user(symbolizer, &other, 1), -EBUSY);
		CHECK_INT(symbolizer__name_user(symbolizer, &other, 1), -EBUSY);
		CHECK_INT(attend_to_question(symbolizer), 0);
		CHECK_STR(queries[0].name, "plain_function");
		CHECK_INT(queries[0].offset, 0);
		CHECK_STR(queries[0].module, "test_sym_worker_worker");
		CHECK_STR(queries[1].name, "getppid");
		CHECK_STR(other.name, NULL);
		attend_to_all(symbolizer);
		queries[0].name = queries[1].name = NULL;
		symbolizer__forget_names(symbolizer);
	}
	CHECK_INT(symbolizer__ask_user(symbolizer, &other, 0), 0);
	CHECK_INT(symbolizer__attend(symbolizer), 0);
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
}

#define MANY_QUERIES 50000

/* More than the socket takes at once: for each of two processes half, page by page. */
static struct sym_query *make_large_question(pid_t pid)
{
	struct sym_query *queries = calloc(MANY_QUERIES, sizeof(*queries));

	for (size_t i = 0; queries && i < MANY_QUERIES; i++) {
		queries[i] = query_of(i % 2 ? pid : getpid());
		queries[i].address += i / 2 * 16 % 4096;
	}
	CHECK(queries);
	return queries;
}

static void check_large_question(const struct sym_query *queries)
{
	size_t named = 0;

	for (size_t i = 0; i < MANY_QUERIES; i++)
		named += queries[i].module && !strcmp(queries[i].module, "test_sym_worker_worker");
	CHECK_INT(named, MANY_QUERIES);
	CHECK_STR(queries[0].name, "plain_function");
	CHECK_STR(queries[1].name, "plain_function");
}

static void large_question(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	pid_t pid = start_copy();
	CLEANUP_FREE struct sym_query *queries = make_large_question(pid);
	struct pollfd pollfd;

	CHECK_INT(symbolizer__ask_user(symbolizer, queries, MANY_QUERIES), 0);
	symbolizer__poll(symbolizer, &pollfd);
	CHECK_INT(pollfd.events, POLLIN | POLLOUT);
	CHECK_INT(attend_to_question(symbolizer), 0);
	check_large_question(queries);
	end_copy(pid);
}

/* Then the symbolizer tells that names are missing; that state does not last. */
static void no_descriptors_left(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	struct rlimit kept, none;
	pid_t worker;

	CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
	worker = find_worker(symbolizer);
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &kept), 0);
	none = (struct rlimit){.rlim_cur = 1, .rlim_max = kept.rlim_max};
	CHECK_INT(prlimit(worker, RLIMIT_NOFILE, &none, NULL), 0);
	CHECK_STR(ask_name(symbolizer, getpid()), NULL);
	CHECK_INT(symbolizer__unanswered(symbolizer), 1);
	CHECK_INT(prlimit(worker, RLIMIT_NOFILE, &kept, NULL), 0);
	CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
	CHECK_INT(symbolizer__unanswered(symbolizer), 1);
}

/* ---- children that are given up ---- */

/* Have the child stopped, when it has named this process and *pid, a new one. */
static pid_t stop_worker(struct symbolizer *symbolizer, pid_t *pid)
{
	pid_t worker;

	CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
	worker = find_worker(symbolizer);
	*pid = start_copy();
	CHECK_STR(ask_name(symbolizer, *pid), "plain_function");
	kill(worker, SIGSTOP);
	CHECK_INT(waitpid(worker, NULL, WUNTRACED), worker);
	return worker;
}

/* No child of this process lives on; one that was killed a moment ago may still be ending. */
static void check_no_children(void)
{
	uint64_t begin = now_ms();

	while (waitpid(-1, NULL, WNOHANG) >= 0 && now_ms() - begin < 2000)
		poll(NULL, 0, 1);
	CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_INT(errno, ECHILD);
}

static void silent_child(void)
{
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query query = query_of(getpid());
	uint64_t begin, took;
	pid_t pid;

	stop_worker(symbolizer, &pid);
	begin = now_ms();
	CHECK_INT(symbolizer__ask_user(symbolizer, &query, 1), 0);
	CHECK_INT(attend_to_question(symbolizer), 0);
	took = now_ms() - begin;
	CHECK(took >= 900 && took < 5000);
	CHECK_STR(query.name, "plain_function");
	CHECK_INT(symbolizer__unanswered(symbolizer), 1);
	/* It was touching nothing: all is asked for again. */
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
	CHECK_INT(symbolizer__unanswered(symbolizer), 1);
	end_copy(pid);
	symbolizer__free(symbolizer);
	check_no_children();
}

static void child_that_is_killed(void)
{
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query *queries;
	pid_t worker, pid;

	worker = stop_worker(symbolizer, &pid);
	queries = make_large_question(pid);
	CHECK_INT(symbolizer__ask_user(symbolizer, queries, MANY_QUERIES), 0);
	kill(worker, SIGKILL);
	CHECK_INT(attend_to_question(symbolizer), 0);
	check_large_question(queries);
	attend_to_all(symbolizer);
	CHECK_INT(symbolizer__unanswered(symbolizer), 1);
	end_copy(pid);
	free(queries);
	symbolizer__free(symbolizer);
	check_no_children();
}

/* True if the kernel says that the process ignores the signal. */
static bool ignores(pid_t pid, int number)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	unsigned long long ignored = 0;
	char line[256];

	snprintf(line, sizeof(line), "/proc/%d/status", pid);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "SigIgn: %llx", &ignored) == 1)
			return ignored >> (number - 1) & 1;
	return CHECK(false);
}

/* The child waits for its own children, and may not kill others who have their PIDs by then. */
static void child_of_who_ignores_children(void)
{
	struct symbolizer *symbolizer;
	pid_t worker;

	signal(SIGCHLD, SIG_IGN);
	symbolizer = make_symbolizer();
	CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
	worker = find_worker(symbolizer);
	CHECK(ignores(getpid(), SIGCHLD));
	CHECK(!ignores(worker, SIGCHLD));
	/* We learn of its end all the same. */
	kill(worker, SIGKILL);
	CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
	symbolizer__free(symbolizer);
	check_no_children();
	signal(SIGCHLD, SIG_DFL);
}

/* Children that are given up are counted, and there is an end to them. */
static void children_that_die(void)
{
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query query;

	for (int i = 0; i < AVOIDED_MAX; i++) {
		CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
		CHECK_INT(symbolizer__unanswered(symbolizer), i);
		kill(find_worker(symbolizer), SIGKILL);
	}
	CHECK_STR(ask_name(symbolizer, getpid()), NULL);
	query = query_of(getpid());
	CHECK_INT(symbolizer__ask_user(symbolizer, &query, 1), 0);
	CHECK_INT(symbolizer__attend(symbolizer), 0);
	CHECK_STR(query.name, NULL);
	CHECK_INT(symbolizer__unanswered(symbolizer), AVOIDED_MAX);
	symbolizer__free(symbolizer);
	check_no_children();
}

static void child_that_is_stopped_at_the_end(void)
{
	for (int busy = 0; busy < 2; busy++) {
		struct symbolizer *symbolizer = make_symbolizer();
		struct sym_query query = query_of(getpid());
		uint64_t begin;
		pid_t pid;

		stop_worker(symbolizer, &pid);
		if (busy)
			CHECK_INT(symbolizer__ask_user(symbolizer, &query, 1), 0);
		begin = now_ms();
		symbolizer__free(symbolizer);
		CHECK(now_ms() - begin < (busy ? AT_ONCE_MS : 2000));
		end_copy(pid);
		check_no_children();
	}
}

#define LONG_NAMES	 34000
#define LONG_NAME_LENGTH 1023 /* longer ones of generated code are cut */

/* 1 to LONG_NAMES, each from one byte, behind the code of this process. */
static bool write_long_names(const char *path, const char *code)
{
	CLEANUP_FCLOSE FILE *file = fopen(path, "wx");

	for (int i = 0; file && i < LONG_NAMES; i++)
		fprintf(file, "%lx 1 %0*d\n", (unsigned long)(uintptr_t)code + (unsigned long)i,
			LONG_NAME_LENGTH, i + 1);
	return file && !ferror(file);
}

/* The symbolizer tells that names are missing. */
static void answers_without_end(void)
{
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query *queries = calloc(LONG_NAMES, sizeof(*queries));
	char *code =
		mmap(NULL, LONG_NAMES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];

	CHECK(code != MAP_FAILED);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path); /* of a process long ago */
	if (write_long_names(path, code)) {
		for (size_t i = 0; i < LONG_NAMES; i++)
			queries[i] = (struct sym_query){.pid = getpid(),
							.address = (uint64_t)(uintptr_t)code + i};
		CHECK_INT(symbolizer__name_user(symbolizer, queries, LONG_NAMES / 2), 0);
		CHECK_INT(symbolizer__unanswered(symbolizer), 0);
		CHECK(queries[LONG_NAMES / 2 - 1].name != NULL);
		CHECK_INT(symbolizer__name_user(symbolizer, queries, LONG_NAMES), 0);
		CHECK_INT(symbolizer__unanswered(symbolizer), 1);
		if (CHECK(queries[0].name))
			CHECK_INT(strlen(queries[0].name), LONG_NAME_LENGTH);
		CHECK_STR(queries[LONG_NAMES - 1].name, NULL);
	} else {
		tap_skip("files cannot be made in /tmp");
	}
	unlink(path);
	munmap(code, LONG_NAMES);
	free(queries);
	symbolizer__free(symbolizer);
	check_no_children();
}

static const struct tap_test tests[] = {
	{"a question is answered without waiting, and one at a time", question_without_waiting},
	{"a question that the socket does not take at once", large_question},
	{"where no descriptors are left names are missing, and that is told", no_descriptors_left},
	{"a silent child is given up without waiting, and the next one answers", silent_child},
	{"a child that is killed costs no names of who lives", child_that_is_killed},
	{"a child does not inherit that children are ignored", child_of_who_ignores_children},
	{"children that die are counted, and there is an end to them", children_that_die},
	{"a child that does not go on is not waited for at the end",
	 child_that_is_stopped_at_the_end},
	{"answers without end", answers_without_end},
};

int main(void)
{
	return TAP_RUN(tests);
}
