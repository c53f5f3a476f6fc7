// SPDX-License-Identifier: GPL-2.0-or-later
/* When debug data is asked for, and for how long: by a clock that the tests put forward. */
#include "sym/file_places.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "core/util/arena.h"
#include "core/util/cleanup.h"
#include "sym/file_names.h"
#include "sym/rooted.h"
#include "sym/sym.h"
#include "sym/watched.h"
#include "sym/work.h"
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

/* One for all tests, as a program has one; its readers end with this program. */
static struct avoid_list avoided;
static struct progress progress;
static const struct watched watched = {.avoided = &avoided, .progress = &progress};
static const struct sym_settings settings = {.lines = true};
static struct arena arena;
static struct file_names names = {
	.settings = &settings, .watched = &watched, .names = &arena, .debug_files = {.symfs = -1}};
static struct file_places *places;

static void close_file(struct sym_file *file)
{
	sym_file__close(file);
}

/* The program, as another file each time. */
static struct sym_file open_program(void)
{
	static ino_t inode;
	struct sym_file file = {.fd = open(FIXTURES "/gcc_5", O_RDONLY | O_CLOEXEC),
				.identity = {.inode = ++inode},
				.device = 1,
				.pid = getpid(),
				.path = FIXTURES "/gcc_5",
				.root = ROOTED_OURS};

	CHECK_INT(sym_file__open(&file), 0);
	return file;
}

struct search {
	const struct elf_symbols *elf;
	struct elf_lookup *lookup;
};

static int match_symbol(void *context, const struct elf_symbol *symbol)
{
	static const char wanted[] = "plain_function";
	const struct search *search = context;
	const struct elf_symbols_table *table = &search->elf->tables[symbol->table];
	char name[sizeof(wanted)] = "";

	elf_symbols__read(search->elf, name, sizeof(name), table->names_offset + symbol->name);
	search->lookup->address = symbol->start;
	return !memcmp(name, wanted, sizeof(wanted));
}

/* Whether the line of a function of the program is found now. */
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

/* What comes before debug data costs these nothing of their five seconds. */
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

/* In a new question. */
static bool is_found_anew(const struct sym_file *file)
{
	file_places__begin(places);
	return is_found(file);
}

/* It is old news that it has failed, but still true; a minute later all is well. */
static void reader_that_failed(void)
{
	CLEANUP(close_file) struct sym_file file = open_program();
	pid_t child;

	CHECK(is_found_anew(&file));
	child = last_child();
	if (child < 0) {
		tap_skip("the kernel does not list children");
		return;
	}
	kill(child, SIGSTOP);
	CHECK(!is_found_anew(&file) && progress.left_out);
	CHECK(!is_found_anew(&file) && progress.left_out);
	seconds_ahead += 59;
	CHECK(!is_found_anew(&file) && progress.left_out);
	seconds_ahead += 2;
	CHECK(is_found_anew(&file) && !progress.left_out);
	/* That it was idle is no failure. */
	kill(last_child(), SIGKILL);
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

int main(void)
{
	static const struct tap_test tests[] = {
		{"the time of a question begins with its debug data", time_of_a_question},
		{"a reader that failed is replaced a minute later", reader_that_failed},
		{"what fails again and again is given up", what_fails_again_and_again},
	};

	return file_places__new(&places, &names) ? 1 : TAP_RUN(tests);
}
