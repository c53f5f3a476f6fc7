// SPDX-License-Identifier: GPL-2.0-or-later
/* When debug data is asked for, and for how long: the tests put the clock forward. */
#include "sym/address/file_places.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sym/address/file_names.h"
#include "sym/child/supervisor.h"
#include "sym/elf/work.h"
#include "sym/process/rooted.h"
#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

/* How far the clock has been put forward: see "--wrap" in ld(1). */
static time_t seconds_ahead;

int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	int err = __real_clock_gettime(clock, time);

	if (clock == CLOCK_MONOTONIC)
		time->tv_sec += seconds_ahead;
	return err;
}

/* All tests share this, as a program has one; its readers end with this program. */
static struct avoid_list avoided;
static struct progress progress;
static const struct supervisor supervisor = {.avoided = &avoided, .progress = &progress};
static const struct sym_settings settings = {.lines = true};
static struct arena arena;
static struct file_names names = {.settings = &settings,
				  .supervisor = &supervisor,
				  .names = &arena,
				  .debug_files = {.symfs = -1}};
static struct file_places *places;

static void close_file(struct sym_file *file)
{
	sym_file__close(file);
}

/* The program, as another file each time. */
static struct sym_file open_program_on(dev_t device)
{
	static ino_t inode;
	struct sym_file file = {.fd = open(FIXTURES "/gcc_5", O_RDONLY | O_CLOEXEC),
				.identity = {.device = device, .inode = ++inode},
				.device = 1,
				.pid = getpid(),
				.path = FIXTURES "/gcc_5",
				.root = ROOTED_OURS};

	CHECK_INT(sym_file__open(&file), 0);
	return file;
}

static struct sym_file open_program(void)
{
	return open_program_on(1);
}

struct search {
	const struct elf_file *elf;
	struct elf_lookup *lookup;
};

static int match_symbol(void *context, const struct elf_symbol *symbol)
{
	static const char wanted[] = "plain_function";
	const struct search *search = context;
	char name[sizeof(wanted) + 1]; /* a longer one is another */

	elf_file__string(search->elf, elf_symbols__names(search->elf, symbol), symbol->name, name,
			 sizeof(name));
	search->lookup->address = symbol->start;
	return !strcmp(name, wanted);
}

/* True if the line of a function of the program is found now. */
static bool is_found(const struct sym_file *file)
{
	struct elf_lookup lookup = {0};
	struct search search = {.elf = &file->elf, .lookup = &lookup};
	uint64_t left = ELF_SYMBOLS_WORK;
	const struct work work = work__share(&left, left);
	struct file_place place;

	progress.left_out = false;
	elf_symbols__each_function(&file->elf, &work, match_symbol, &search);
	CHECK_INT(file_places__find(places, file, &lookup, &place, 1), 0);
	return place.is_found && place.source.line;
}

/* The time before debug data costs it nothing of its five seconds. */
static void time_of_a_question(void)
{
	CLEANUP(close_file) struct sym_file file = open_program();

	file_places__begin(places);
	seconds_ahead += 9;
	CHECK(is_found(&file) && !progress.left_out);
	seconds_ahead += 4;
	CHECK(is_found(&file) && !progress.left_out);
	seconds_ahead += 2;
	CHECK(!is_found(&file) && progress.left_out);
	file_places__begin(places);
	CHECK(is_found(&file) && !progress.left_out);
}

/* The reader that was started last; or -1. */
static pid_t last_child(void)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64];
	int pid = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &pid) == 1)
		;
	return pid;
}

static bool signal_last_child(int number)
{
	pid_t child = last_child();

	return child > 0 && kill(child, number) == 0;
}

/* In a new question. */
static bool is_found_anew(const struct sym_file *file)
{
	file_places__begin(places);
	return is_found(file);
}

/* A reader's failure is old news, but still true; a minute later all is well. */
static void reader_that_failed(void)
{
	CLEANUP(close_file) struct sym_file file = open_program();

	CHECK(is_found_anew(&file));
	if (!signal_last_child(SIGSTOP)) {
		tap_skip("the kernel does not list children");
		return;
	}
	CHECK(!is_found_anew(&file) && progress.left_out);
	CHECK(!is_found_anew(&file) && progress.left_out);
	seconds_ahead += 59;
	CHECK(!is_found_anew(&file) && progress.left_out);
	seconds_ahead += 2;
	CHECK(is_found_anew(&file) && !progress.left_out);
	/* A reader killed while idle has not failed. */
	CHECK(signal_last_child(SIGKILL));
	CHECK(is_found_anew(&file) && !progress.left_out);
}

/* With nothing free for a reader. */
static bool is_found_without_descriptors(const struct sym_file *file)
{
	struct rlimit before, none;
	bool found;

	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	found = is_found_anew(file);
	setrlimit(RLIMIT_NOFILE, &before);
	return found;
}

static void what_fails_again_and_again(void)
{
	CLEANUP(close_file) struct sym_file file = open_program();
	CLEANUP(close_file) struct sym_file better = open_program();

	CHECK(!is_found_without_descriptors(&file) && progress.left_out);
	CHECK(!is_found_without_descriptors(&better) && progress.left_out);
	CHECK(!is_found_anew(&file) && progress.left_out);
	for (int i = 0; i < 3; i++) {
		seconds_ahead += 61;
		CHECK(!is_found_without_descriptors(&file) && progress.left_out);
	}
	CHECK(is_found_anew(&better) && !progress.left_out);
	seconds_ahead += 1000;
	CHECK(!is_found_anew(&file) && progress.left_out);
}

/*
 * A process that dies remains as long as another one traces it and does not look. That other
 * process is killed then; -1 if it may not trace.
 */
static pid_t trace(pid_t child)
{
	int pipes[2];
	char byte;
	pid_t tracer;

	if (!CHECK_INT(pipe2(pipes, O_CLOEXEC), 0))
		return -1;
	tracer = fork();
	if (tracer == 0) {
		if (ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0)
			(void)!write(pipes[1], "", 1);
		close(pipes[1]);
		for (;;)
			pause();
	}
	close(pipes[1]);
	if (tracer > 0 && read(pipes[0], &byte, 1) != 1) {
		kill(tracer, SIGKILL);
		waitpid(tracer, NULL, 0);
		tracer = -1;
	}
	close(pipes[0]);
	return tracer;
}

/* Have the reader of the file, which was started last, not end. Returns what traces it, or -1. */
static pid_t hold_reader(const struct sym_file *file)
{
	pid_t tracer, child;

	CHECK(is_found_anew(file));
	child = last_child();
	tracer = child > 0 ? trace(child) : -1;
	if (tracer < 0)
		return -1;
	kill(child, SIGKILL);
	CHECK(!is_found_anew(file) && progress.left_out);
	return tracer;
}

static void let_go(pid_t tracer)
{
	if (!CHECK(tracer > 0))
		return;
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
}

static void readers_that_do_not_end(void)
{
	CLEANUP(close_file) struct sym_file first = open_program_on(11);
	CLEANUP(close_file) struct sym_file same = open_program_on(11);
	CLEANUP(close_file) struct sym_file second = open_program_on(12);
	CLEANUP(close_file) struct sym_file third = open_program_on(13);
	pid_t tracers[2];

	tracers[0] = hold_reader(&first);
	if (tracers[0] < 0) {
		tap_skip("readers cannot be traced");
		return;
	}
	CHECK(!is_found_anew(&same) && progress.left_out);
	tracers[1] = hold_reader(&second);
	CHECK(!is_found_anew(&third) && progress.left_out);
	/* However long those files are not tried: that was not their fault. */
	for (int i = 0; i < 5; i++) {
		seconds_ahead += 61;
		CHECK(!is_found_anew(&same) && !is_found_anew(&third));
	}
	let_go(tracers[0]);
	seconds_ahead += 61;
	CHECK(!is_found_anew(&second) && progress.left_out);
	CHECK(is_found_anew(&third) && is_found_anew(&same) && !progress.left_out);
	let_go(tracers[1]);
	seconds_ahead += 61;
	CHECK(is_found_anew(&second) && is_found_anew(&first) && !progress.left_out);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"the time of a question begins with its debug data", time_of_a_question},
		{"a reader that failed is replaced a minute later", reader_that_failed},
		{"what fails again and again is given up", what_fails_again_and_again},
		{"where readers do not end no more are started", readers_that_do_not_end},
	};

	return file_places__new(&places, &names) ? 1 : TAP_RUN(tests);
}
