// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that compilers made of debug_program.cc, in all the forms that they have for it. */
#include "sym/dwarf/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/elf/file.h"
#include "sym/elf/symbols.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define BYTES_MAX 512

/* A function of a program, and the frames of its instructions. */
struct function {
	const char *name;
	uint64_t start, size;
	struct debug_chain chains[BYTES_MAX];
	size_t nr;
};

struct program {
	struct elf_file elf, alternate, package;
	bool has_alternate, has_package;
	struct debug_reader *reader;
	struct arena arena;
	int files; /* that were asked for */
	bool refuses_files;
	unsigned int cpu_seconds;
};

static void close_program(struct program *program)
{
	debug_reader__stop(program->reader);
	if (program->elf.fd >= 0)
		close(program->elf.fd);
	elf_file__close(&program->elf);
	if (program->has_alternate)
		close(program->alternate.fd);
	elf_file__close(&program->alternate);
	if (program->has_package)
		close(program->package.fd);
	elf_file__close(&program->package);
	arena__release(&program->arena);
}

static int open_fixture(struct elf_file *elf, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", FIXTURES, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : elf_file__open(elf, fd);
}

static int open_file(void *context, const char *path)
{
	struct program *program = context;
	int fd = program->refuses_files ? -1 : open(path, O_RDONLY | O_CLOEXEC);

	program->files++;
	return fd < 0 ? -ENOENT : fd;
}

/* What it has beside itself is open already. */
static bool start_reader(struct program *program)
{
	const struct debug_reader_caller caller = {
		.context = program, .open_file = open_file, .cpu_seconds = program->cpu_seconds};

	return CHECK_INT(debug_reader__start(&program->reader, &program->elf,
					     program->has_alternate ? &program->alternate : NULL,
					     program->has_package ? &program->package : NULL,
					     &caller),
			 0);
}

static bool open_program(struct program *program, const char *name, const char *alternate)
{
	if (!CHECK_INT(open_fixture(&program->elf, name), 0))
		return false;
	if (alternate)
		program->has_alternate = open_fixture(&program->alternate, alternate) == 0;
	return start_reader(program);
}

/* From the table of symbols. */
struct search {
	const struct program *program;
	struct function *function;
};

static int match_symbol(void *context, const struct elf_symbol *symbol)
{
	struct search *search = context;
	const struct elf_file *elf = &search->program->elf;
	char name[64];

	elf_file__string(elf, elf_symbols__names(elf, symbol), symbol->name, name, sizeof(name));
	if (strcmp(name, search->function->name))
		return 0;
	search->function->start = symbol->start;
	search->function->size = symbol->size < BYTES_MAX ? symbol->size : BYTES_MAX;
	return 1;
}

/* Ask for each byte of a function. */
static int look_up(struct program *program, struct function *function)
{
	struct search search = {.program = program, .function = function};
	uint64_t left = ELF_SYMBOLS_WORK;
	const struct work work = work__share(&left, left);

	elf_symbols__each_function(&program->elf, &work, match_symbol, &search);
	if (!tap_check(function->size, __FILE__, __LINE__, "there is no symbol %s", function->name))
		return -ENOENT;
	function->nr = function->size;
	for (size_t i = 0; i < function->nr; i++)
		function->chains[i] = (struct debug_chain){.address = function->start + i};
	return debug_reader__find(program->reader, function->chains, function->nr, &program->arena);
}

struct expected_frame {
	const char *name; /* a part of it */
	uint32_t line;
};

static bool is_frame(const struct debug_frame *frame, const struct expected_frame *expected,
		     const char *file)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;

	return frame->name && strstr(frame->name, expected->name) &&
	       frame->line == expected->line && slash && !strcmp(slash + 1, file);
}

/* True if an instruction of the function has just these frames, ended by a name of NULL. */
static bool has_chain(const struct function *function, const struct expected_frame *expected,
		      const char *file)
{
	size_t nr = 0;

	while (expected[nr].name)
		nr++;
	for (size_t i = 0; i < function->nr; i++) {
		const struct debug_chain *chain = &function->chains[i];
		size_t same = 0;

		while (chain->nr == nr && same < nr &&
		       is_frame(&chain->frames[same], &expected[same], file))
			same++;
		if (same == nr)
			return true;
	}
	return false;
}

static void check_chain(struct program *program, const char *what, const char *name,
			const struct expected_frame *expected, const char *file)
{
	struct function function = {.name = name};
	int err = look_up(program, &function);

	tap_check(err == 0, __FILE__, __LINE__, "%s: %s: error %d", what, name, err);
	tap_check(has_chain(&function, expected, file), __FILE__, __LINE__,
		  "%s: no instruction of %s has the frames", what, name);
}

static void check_calls(struct program *program, const char *what)
{
	static const struct expected_frame outer[] = {
		{"innermost", 20}, {"middle", 27}, {"outer_function", 34}, {0}};
	static const struct expected_frame lambda[] = {
		{"innermost", 20}, {"", 42}, {"lambda_function", 45}, {0}};
	static const struct expected_frame plain[] = {{"plain_function", 50}, {0}};
	static const struct expected_frame last[] = {{"last_call", 61}, {0}};
	static const struct expected_frame second[] = {{"second_unit", 7}, {0}};

	check_chain(program, what, "outer_function", outer, "debug_program.cc");
	check_chain(program, what, "lambda_function", lambda, "debug_program.cc");
	check_chain(program, what, "plain_function", plain, "debug_program.cc");
	check_chain(program, what, "last_call", last, "debug_program.cc");
	check_chain(program, what, "second_unit", second, "debug_second.c");
}

static void check_program(const char *name, const char *alternate)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1};

	if (!open_program(&program, name, alternate))
		return;
	check_calls(&program, name);
	CHECK_INT(debug_reader__nr_missing(program.reader), 0);
}

static void all_forms(void)
{
	/* Separated by blanks, as CMake has made them. */
	CLEANUP_FREE char *names = strdup(PROGRAMS);
	char *state = NULL;

	for (char *name = strtok_r(names, " ", &state); name; name = strtok_r(NULL, " ", &state))
		check_program(name, NULL);
}

static void split_units(void)
{
	CLEANUP_FREE char *names = strdup(SPLIT_PROGRAMS);
	char *state = NULL;

	for (char *name = strtok_r(names, " ", &state); name; name = strtok_r(NULL, " ", &state))
		check_program(name, NULL);
}

/* A name is that of its program, and that of who made the package. */
static void check_package(const char *name)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1, .refuses_files = true};
	char base[64];

	snprintf(base, sizeof(base), "%.*s", (int)strcspn(name, "."), name);
	if (!CHECK_INT(open_fixture(&program.elf, base), 0))
		return;
	program.has_package = CHECK_INT(open_fixture(&program.package, name), 0);
	if (!program.has_package || !start_reader(&program))
		return;
	check_calls(&program, name);
	CHECK_INT(program.files, 0);
	CHECK_INT(debug_reader__nr_missing(program.reader), 0);
}

static void packages(void)
{
	CLEANUP_FREE char *names = strdup(PACKAGES);
	char *state = NULL;

	if (!*names)
		tap_skip("neither dwp nor llvm-dwp is installed");
	for (char *name = strtok_r(names, " ", &state); name; name = strtok_r(NULL, " ", &state))
		check_package(name);
}

/* A package of another program has none of its units: their own files have. */
static void package_of_another(void)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1};

	if (!strstr(PACKAGES, "clang_split_4.gnu.dwp")) {
		tap_skip("dwp is not installed");
		return;
	}
	if (!CHECK_INT(open_fixture(&program.elf, "gcc_split_5"), 0))
		return;
	program.has_package = CHECK_INT(open_fixture(&program.package, "clang_split_4.gnu.dwp"), 0);
	if (!program.has_package || !start_reader(&program))
		return;
	check_calls(&program, "gcc_split_5");
	CHECK_INT(program.files, 2);
	CHECK_INT(debug_reader__nr_missing(program.reader), 0);
}

/*
 * Units without their files have no calls: a line could be of an inlined call. Each file is asked
 * for once.
 */
static void missing_split_units(void)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1, .refuses_files = true};
	struct function plain = {.name = "plain_function"}, outer = {.name = "outer_function"};

	if (!open_program(&program, "gcc_split_5", NULL))
		return;
	CHECK_INT(look_up(&program, &plain), 0);
	CHECK_INT(look_up(&program, &outer), 0);
	CHECK_INT(program.files, 1);
	CHECK_INT(debug_reader__nr_missing(program.reader), 1);
	CHECK_INT(plain.chains[0].nr, 0);
}

static void common_part(void)
{
	if (access(FIXTURES "/dwz_common", R_OK)) {
		tap_skip("dwz is not installed");
		return;
	}
	check_program("dwz_first", "dwz_common");
}

static void common_part_missing(void)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1};
	struct function outer = {.name = "outer_function"};
	size_t found = 0;

	if (access(FIXTURES "/dwz_common", R_OK)) {
		tap_skip("dwz is not installed");
		return;
	}
	if (!open_program(&program, "dwz_first", NULL))
		return;
	CHECK_INT(look_up(&program, &outer), 0);
	for (size_t i = 0; i < outer.nr; i++)
		found += outer.chains[i].nr == 3;
	CHECK(found > 0);
}

static void no_such_data(void)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	const struct debug_reader_caller caller = {0};
	struct debug_reader *reader = NULL;

	if (!CHECK_INT(open_fixture(&elf, "gcc_stripped"), 0))
		return;
	CHECK_INT(debug_reader__start(&reader, &elf, NULL, NULL, &caller), -ENOENT);
	CHECK(reader == NULL);
	close(elf.fd);
}

static void addresses_without_code(void)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1};
	struct debug_chain chains[] = {{.address = 0}, {.address = 1}, {.address = UINT64_MAX}};

	if (!open_program(&program, "gcc_5", NULL))
		return;
	CHECK_INT(debug_reader__find(program.reader, chains, ARRAY_SIZE(chains), &program.arena),
		  0);
	for (size_t i = 0; i < ARRAY_SIZE(chains); i++)
		CHECK(chains[i].frames == NULL && chains[i].nr == 0);
	CHECK_INT(debug_reader__find(program.reader, chains, 0, &program.arena), 0);
	check_calls(&program, "gcc_5");
}

/* The only child of this process that there is at a time. */
static pid_t child_of_ours(void)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64];
	int pid = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	return file && fscanf(file, "%d", &pid) == 1 ? pid : -1;
}

static void reader_that_dies(void)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1};
	struct function plain = {.name = "plain_function"};
	pid_t child;

	if (!open_program(&program, "gcc_5", NULL))
		return;
	CHECK_INT(look_up(&program, &plain), 0);
	child = child_of_ours();
	if (child < 0) {
		tap_skip("the kernel does not list children");
		return;
	}
	kill(child, SIGKILL);
	CHECK(debug_reader__size(program.reader) > 0);
	CHECK_INT(look_up(&program, &plain), -EPIPE);
	CHECK_INT(debug_reader__size(program.reader), 0);
	CHECK(child_of_ours() < 0);
	CHECK_INT(look_up(&program, &plain), 0);
	CHECK(plain.chains[0].frames == NULL && plain.chains[0].nr == 0);
	CHECK(!debug_reader__is_near_cpu_limit(program.reader));
}

/* How many mappings this process shares with others. */
static int count_shared(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/maps", "re");
	char line[512];
	int nr = 0;

	while (file && fgets(line, sizeof(line), file))
		nr += strstr(line, " rw-s ") != NULL;
	return nr;
}

/* The reader's output reaches us through its socket only. */
static void shares_nothing(void)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1};
	int before = count_shared();

	if (!open_program(&program, "gcc_5", NULL))
		return;
	CHECK_INT(count_shared(), before);
	check_calls(&program, "gcc_5");
}

/* Many small questions use up the CPU time of a reader. */
static void reader_that_is_used(void)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1, .cpu_seconds = 1};
	struct debug_chain chains[BYTES_MAX];
	struct function plain = {.name = "plain_function"};
	int err = 0, asked = 0, worn = 0;

	if (!open_program(&program, "gcc_5", NULL))
		return;
	CHECK_INT(look_up(&program, &plain), 0);
	CHECK(!debug_reader__is_near_cpu_limit(program.reader));
	for (size_t i = 0; i < ARRAY_SIZE(chains); i++)
		chains[i].address = plain.start + i * plain.size / ARRAY_SIZE(chains);
	for (; asked < 1000000 && !err; asked++) {
		CLEANUP(arena__release) struct arena arena = {0};

		err = debug_reader__find(program.reader, chains, ARRAY_SIZE(chains), &arena);
		if (!worn && debug_reader__is_near_cpu_limit(program.reader))
			worn = asked;
	}
	CHECK_INT(err, -EPIPE);
	tap_check(worn > asked / 4 && worn < asked * 9 / 10, __FILE__, __LINE__,
		  "worn after %d questions of %d", worn, asked);
}

/* A reader without progress, as one that waits for a file, is given up in time. */
static void reader_that_stops(void)
{
	CLEANUP(close_program) struct program program = {.elf.fd = -1};
	struct function plain = {.name = "plain_function"};
	pid_t child;

	if (!open_program(&program, "gcc_5", NULL))
		return;
	child = child_of_ours();
	if (child < 0) {
		tap_skip("the kernel does not list children");
		return;
	}
	kill(child, SIGSTOP);
	CHECK_INT(look_up(&program, &plain), -ETIMEDOUT);
	CHECK(child_of_ours() < 0);
}

static void nothing_stays_behind(void)
{
	CHECK(child_of_ours() < 0);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"each form that compilers have is read", all_forms},
		{"the files of split units are asked for", split_units},
		{"without these nothing is known", missing_split_units},
		{"packages of binutils and LLVM have all of them", packages},
		{"the package of another program has nothing", package_of_another},
		{"what dwz moved is found in the other file", common_part},
		{"without that file, calls are known", common_part_missing},
		{"a file without such data is none", no_such_data},
		{"addresses without code have no frames", addresses_without_code},
		{"a reader that dies is an error, once", reader_that_dies},
		{"a reader says in time that it has used much", reader_that_is_used},
		{"a reader that does not get on is given up", reader_that_stops},
		{"it shares no memory with us", shares_nothing},
		{"no reader stays behind", nothing_stays_behind},
	};

	return TAP_RUN(tests);
}
