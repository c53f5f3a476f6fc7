// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that have ended before they could be read, named by what was known of them. */
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sym/process/file_identity.h"
#include "sym/process/process.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define CLEANUP_SYMBOLIZER CLEANUP(symbolizer__freep)

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

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static const char *name_of(struct symbolizer *symbolizer, pid_t pid, uint64_t address)
{
	struct sym_query query = {.pid = pid, .address = address};

	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	return query.name;
}

static const char *ask_name(struct symbolizer *symbolizer, pid_t pid)
{
	return name_of(symbolizer, pid, (uint64_t)(uintptr_t)plain_function);
}

static void remember_soon(struct symbolizer *symbolizer, pid_t pid, const struct sym_image *image)
{
	uint64_t begin = now_ms();

	CHECK_INT(symbolizer__remember_soon(symbolizer, pid, image), 0);
	CHECK(now_ms() - begin < AT_ONCE_MS);
}

static void attend_to_all(struct symbolizer *symbolizer)
{
	struct pollfd pollfd;
	int timeout;

	while ((timeout = symbolizer__poll(symbolizer, &pollfd)) >= 0) {
		poll(&pollfd, 1, timeout);
		CHECK_INT(symbolizer__attend(symbolizer), 0);
	}
}

/* ---- processes ---- */

static pid_t start_process(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	CHECK(pid > 0);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static pid_t start_and_end(void)
{
	pid_t pid = start_process();

	end_process(pid);
	return pid;
}

/* A copy of this process under a PID that is free; or -1. */
static pid_t start_process_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&pid, .set_tid_size = 1};
	pid_t started = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (started == 0) {
		for (;;)
			pause();
	}
	return started;
}

/* The child of the symbolizer, which must be the only one of this process. */
static void kill_worker(struct symbolizer *symbolizer)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64];
	int worker;

	attend_to_all(symbolizer);
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "re");
	if (CHECK(file) && CHECK_INT(fscanf(file, "%d", &worker), 1))
		kill(worker, SIGKILL);
}

/* ---- images ---- */

#define ROOM 64

/* What a process has mapped; strings are those of list. */
struct known {
	struct process process;
	struct sym_mapping mappings[ROOM];
	struct sym_image image;
};

static void known__add(struct known *known, const struct sym_mapping *mapping)
{
	if (CHECK(known->image.nr < ROOM))
		known->mappings[known->image.nr++] = *mapping;
}

/* As the kernel would have said it. */
static void known__read(struct known *known, pid_t pid)
{
	*known = (struct known){0};
	known->image.mappings = known->mappings;
	CHECK_INT(process__read(&known->process, pid), 0);
	for (size_t i = 0; i < known->process.mappings.nr; i++) {
		const struct mapping *mapping = &known->process.mappings.mappings[i];

		known__add(known, &(struct sym_mapping){.start = mapping->start,
							.end = mapping->end,
							.offset = mapping->offset,
							.device = mapping->device,
							.inode = mapping->inode,
							.path = mapping->path[0] ? mapping->path :
										   "//anon"});
	}
}

static void known__release(struct known *known)
{
	process__release(&known->process);
}

#define CLEANUP_KNOWN CLEANUP(known__release)

/* The mapping that holds the function. */
static struct sym_mapping *own_code(struct known *known)
{
	const uint64_t address = (uint64_t)(uintptr_t)plain_function;

	for (size_t i = 0; i < known->image.nr; i++)
		if (address >= known->mappings[i].start && address < known->mappings[i].end)
			return &known->mappings[i];
	CHECK(!"this program's code is mapped");
	return known->mappings;
}

/* An image in which nothing has a name. */
static const struct sym_mapping nameless_mapping = {.start = 4096, .end = 8192, .path = "//anon"};
static const struct sym_image nameless = {.mappings = &nameless_mapping, .nr = 1};

/* ---- what an image is good for ---- */

static void process_that_has_ended(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	pid_t pid = start_process();
	struct sym_query queries[] = {
		{.pid = pid, .address = (uint64_t)(uintptr_t)plain_function + 1},
		{.pid = pid, .address = (uint64_t)(uintptr_t)getppid},
		{.pid = pid, .address = getauxval(AT_SYSINFO_EHDR) + 64},
		{.pid = pid, .address = 4096},
	};

	CHECK_INT(plain_function(2), 6);
	known__read(&known, pid);
	end_process(pid);
	remember_soon(symbolizer, pid, &known.image);
	/* It is copied. */
	memset(known.mappings, 0, sizeof(known.mappings));
	CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_STR(queries[0].name, "plain_function");
	CHECK_INT(queries[0].offset, 1);
	CHECK_STR(queries[0].module, "test_sym_process_image");
	CHECK_STR(queries[1].name, "getppid");
	CHECK_STR(queries[2].module, "[vdso]");
	CHECK_STR(queries[3].name, NULL);
	CHECK_STR(queries[3].module, NULL);
	/* Without an image nothing newer is known of it. */
	remember_soon(symbolizer, pid, NULL);
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	CHECK_INT(symbolizer__remember(symbolizer, pid), 0);
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
}

static void fork_without_exec(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	const pid_t pids[] = {start_and_end(), start_and_end(), start_and_end(), start_and_end()};
	pid_t parent = start_process();

	/* Of a process that is there, of one that was, of one that was never read, of its child. */
	remember_soon(symbolizer, pids[0], &(struct sym_image){.parent = parent});
	attend_to_all(symbolizer);
	known__read(&known, parent);
	end_process(parent);
	remember_soon(symbolizer, pids[1], &(struct sym_image){.parent = parent});
	remember_soon(symbolizer, pids[2], &known.image);
	remember_soon(symbolizer, pids[3], &(struct sym_image){.parent = pids[2]});
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		CHECK_STR(ask_name(symbolizer, pids[i]), "plain_function");
	/* It has mapped something else over what it had. */
	known.mappings[0] = *own_code(&known);
	known.mappings[0].path = "/nowhere";
	known.mappings[0].inode++;
	known.image.nr = 1;
	known.image.parent = parent;
	remember_soon(symbolizer, pids[1], &known.image);
	CHECK_STR(ask_name(symbolizer, pids[1]), NULL);
	CHECK_STR(name_of(symbolizer, pids[1], (uint64_t)(uintptr_t)getppid), "getppid");
}

/* Its files are those of its parent, wherever they lie; but it has not mapped what that has. */
static void fork_that_is_known(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	const pid_t pids[] = {start_and_end(), start_and_end()};
	pid_t parent = start_process();

	known__read(&known, parent);
	known.mappings[0] = *own_code(&known);
	known.mappings[0].path = "/nowhere";
	known.image.nr = 1;
	known.image.whole = true;
	remember_soon(symbolizer, pids[0], &known.image);
	CHECK_STR(ask_name(symbolizer, pids[0]), NULL);
	known.image.parent = parent;
	remember_soon(symbolizer, pids[1], &known.image);
	CHECK_STR(ask_name(symbolizer, pids[1]), "plain_function");
	CHECK_STR(name_of(symbolizer, pids[1], (uint64_t)(uintptr_t)getppid), NULL);
	end_process(parent);
}

/* What its parent becomes later is not what it was. */
static void zombie_that_is_remembered_again(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	pid_t parent = start_and_end(), pid = start_process();
	siginfo_t ended;

	kill(pid, SIGKILL);
	CHECK_INT(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	known__read(&known, getpid());
	remember_soon(symbolizer, parent, &known.image);
	remember_soon(symbolizer, pid, &(struct sym_image){.parent = parent});
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	remember_soon(symbolizer, parent, &nameless);
	CHECK_STR(ask_name(symbolizer, parent), NULL);
	for (int again = 0; again < 2; again++) {
		remember_soon(symbolizer, pid,
			      again ? NULL : &(struct sym_image){.parent = parent});
		CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	}
	end_process(pid);
}

static void parent_that_is_not_known(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	const pid_t pids[] = {start_and_end(), start_and_end()};

	remember_soon(symbolizer, pids[0], &(struct sym_image){.parent = pids[1]});
	remember_soon(symbolizer, pids[1], &(struct sym_image){.parent = pids[0]});
	attend_to_all(symbolizer);
	remember_soon(symbolizer, pids[1], &(struct sym_image){.parent = pids[1]});
	remember_soon(symbolizer, pids[0], &(struct sym_image){.parent = -1});
	CHECK_STR(ask_name(symbolizer, pids[0]), NULL);
	CHECK_STR(ask_name(symbolizer, pids[1]), NULL);
	CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
}

static void wrong_files(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	struct sym_mapping *code, right;
	pid_t pid = start_and_end();
	struct stat st;
	struct {
		dev_t device;
		ino_t inode;
		const char *path;
	} wrong[5];

	known__read(&known, getpid());
	code = own_code(&known);
	right = *code;
	wrong[0] = (typeof(wrong[0])){right.device, right.inode + 1, right.path};
	wrong[1] = (typeof(wrong[0])){right.device + 1, right.inode, right.path};
	wrong[2] = (typeof(wrong[0])){right.device, right.inode, "/etc/passwd"};
	wrong[3] = (typeof(wrong[0])){right.device, right.inode, strrchr(right.path, '/') + 1};
	CHECK_INT(stat("/dev/null", &st), 0);
	wrong[4] = (typeof(wrong[0])){st.st_dev, st.st_ino, "/dev/null"};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		code->device = wrong[i].device;
		code->inode = wrong[i].inode;
		code->path = wrong[i].path;
		remember_soon(symbolizer, pid, &known.image);
		CHECK_STR(ask_name(symbolizer, pid), NULL);
		CHECK_STR(name_of(symbolizer, pid, (uint64_t)(uintptr_t)getppid), "getppid");
	}
	*code = right;
	remember_soon(symbolizer, pid, &known.image);
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
}

/* This program's file once more, where no path leads to it; or MAP_FAILED. */
static void *map_copy_of_program(size_t *size)
{
	CLEANUP_CLOSE int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CLEANUP_CLOSE int copy = memfd_create("copy", MFD_CLOEXEC);
	struct stat st;

	CHECK_INT(fstat(from, &st), 0);
	CHECK_INT(sendfile(copy, from, NULL, (size_t)st.st_size), st.st_size);
	*size = (size_t)st.st_size;
	return mmap(NULL, *size, PROT_READ | PROT_EXEC, MAP_PRIVATE, copy, 0);
}

/* " (deleted)" leads nowhere, but another process that is remembered can have it mapped. */
static void file_that_is_held(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	const pid_t ended = start_and_end(), later = start_and_end();
	const struct sym_mapping *code;
	uint64_t address;
	size_t size;
	void *copy = map_copy_of_program(&size);
	pid_t holder;

	if (!CHECK(copy != MAP_FAILED))
		return;
	known__read(&known, getpid());
	code = own_code(&known);
	address = (uint64_t)(uintptr_t)plain_function - code->start + code->offset +
		  (uint64_t)(uintptr_t)copy;
	holder = start_process();
	munmap(copy, size);
	remember_soon(symbolizer, ended, &known.image);
	CHECK_STR(name_of(symbolizer, ended, address), NULL);
	remember_soon(symbolizer, holder, NULL);
	if (!name_of(symbolizer, holder, address)) {
		end_process(holder);
		tap_skip("only root can open what has no path");
		return;
	}
	remember_soon(symbolizer, later, &known.image);
	CHECK_STR(name_of(symbolizer, later, address), "plain_function");
	end_process(holder);
	CHECK_STR(name_of(symbolizer, later, address), "plain_function");
}

static void mappings_over_mappings(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	struct sym_mapping code;
	pid_t pid = start_and_end();

	known__read(&known, getpid());
	code = *own_code(&known);
	known__add(&known, &(struct sym_mapping){.start = 4096, .end = code.end, .path = NULL});
	remember_soon(symbolizer, pid, &known.image);
	CHECK_STR(ask_name(symbolizer, pid), NULL);
	known__add(&known, &code);
	remember_soon(symbolizer, pid, &known.image);
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
}

/* ---- which one it is ---- */

/* Where this program has the function, as a place in its file. */
static struct sym_query in_own_file(pid_t pid, const struct sym_mapping *code)
{
	struct stat st;

	CHECK_INT(stat("/proc/self/exe", &st), 0);
	return (struct sym_query){
		.pid = pid,
		.address = (uint64_t)(uintptr_t)plain_function - code->start + code->offset,
		.in_file = true,
		.file = {.device = code->device,
			 .inode = code->inode,
			 .size = (uint64_t)st.st_size,
			 .modified = file_time(&st.st_mtim)},
	};
}

/* What has the inode of the file need not be it. */
static void places_in_files(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	pid_t pid = start_and_end();
	struct sym_query query, elsewhere;
	struct sym_mapping other;

	known__read(&known, getpid());
	other = *own_code(&known);
	other.end = other.end - other.start + 8192;
	other.start = 8192;
	other.path = "/!/not there";
	known__add(&known, &other);
	remember_soon(symbolizer, pid, &known.image);
	query = in_own_file(pid, own_code(&known));
	elsewhere = query;
	elsewhere.file.inode = 1;
	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK_STR(query.name, "plain_function");
	CHECK(!query.in_file);
	CHECK_INT(query.address, (uint64_t)(uintptr_t)plain_function);
	CHECK_INT(symbolizer__name_user(symbolizer, &elsewhere, 1), 0);
	CHECK(elsewhere.in_file && !elsewhere.module);
	CHECK_INT(elsewhere.address, in_own_file(pid, own_code(&known)).address);
}

/* Where it is in the process is not said then: whoever else has the file may name it. */
static void place_in_a_file_that_is_gone(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	pid_t pid = start_and_end();
	struct sym_mapping code;
	struct sym_query query;

	known__read(&known, getpid());
	code = *own_code(&known);
	query = in_own_file(pid, &code);
	code.path = "/!/not there";
	remember_soon(symbolizer, pid,
		      &(struct sym_image){.whole = true, .mappings = &code, .nr = 1});
	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK(!query.name && !query.generated && query.in_file);
	CHECK_STR(query.module, "not there");
	CHECK_INT(query.address, in_own_file(pid, &code).address);
	CHECK_INT(query.module_offset, query.address);
}

static void process_that_can_be_read(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	pid_t pid = start_process();

	remember_soon(symbolizer, pid, &nameless);
	attend_to_all(symbolizer);
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	end_process(pid);
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	/* The same image says nothing new, another one does. */
	remember_soon(symbolizer, pid, &nameless);
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	remember_soon(
		symbolizer, pid,
		&(struct sym_image){.mappings = &nameless_mapping, .nr = 1, .parent = INT_MAX});
	CHECK_STR(ask_name(symbolizer, pid), NULL);
}

static void pid_of_another_process(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	pid_t pid = start_and_end();

	remember_soon(symbolizer, pid, &nameless);
	attend_to_all(symbolizer);
	if (start_process_as(pid) != pid) {
		tap_skip("PIDs cannot be chosen");
		return;
	}
	CHECK_STR(ask_name(symbolizer, pid), NULL);
	/* Nor does another child take it for the one that is meant. */
	kill_worker(symbolizer);
	CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
	attend_to_all(symbolizer);
	CHECK_STR(ask_name(symbolizer, pid), NULL);
	remember_soon(symbolizer, pid, NULL);
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
	end_process(pid);
	CHECK_STR(ask_name(symbolizer, pid), "plain_function");
}

/* The question comes behind the images, and a process behind its parent. */
static void child_that_is_killed(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	const pid_t pids[] = {start_and_end(), start_and_end(), start_and_end()};

	known__read(&known, getpid());
	remember_soon(symbolizer, pids[0], &known.image);
	for (size_t i = 1; i < ARRAY_SIZE(pids); i++)
		remember_soon(symbolizer, pids[i], &(struct sym_image){.parent = pids[i - 1]});
	kill_worker(symbolizer);
	for (size_t i = ARRAY_SIZE(pids); i-- > 0;)
		CHECK_STR(ask_name(symbolizer, pids[i]), "plain_function");
	CHECK_INT(symbolizer__unanswered(symbolizer), 1);
}

/* ---- large ones ---- */

/* Mappings with long paths, and of known those at the end. */
static struct sym_mapping *make_many(size_t nr, const char *path, const struct known *known)
{
	struct sym_mapping *mappings = calloc(nr, sizeof(*mappings));

	for (size_t i = 0; mappings && i < nr; i++)
		mappings[i] = (struct sym_mapping){
			.start = (i + 1) << 12, .end = (i + 2) << 12, .inode = 1, .path = path};
	if (CHECK(mappings) && known)
		memcpy(mappings + nr - known->image.nr, known->mappings,
		       known->image.nr * sizeof(*mappings));
	return mappings;
}

#define MANY 5000

/* What does not go through the socket at once comes before the question all the same. */
static void large_images(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_KNOWN
	struct known known = {0};
	char path[PATH_MAX + 1];
	CLEANUP_FREE struct sym_mapping *mappings = NULL;
	struct sym_image image = {.nr = MANY};
	pid_t pids[20];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[1000] = '\0';
	known__read(&known, getpid());
	mappings = make_many(MANY, path, &known);
	if (!mappings)
		return;
	image.mappings = mappings;
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = start_and_end();
		remember_soon(symbolizer, pids[i], &image);
	}
	CHECK_STR(ask_name(symbolizer, pids[ARRAY_SIZE(pids) - 1]), "plain_function");
	attend_to_all(symbolizer);
	CHECK_STR(ask_name(symbolizer, pids[ARRAY_SIZE(pids) - 1]), "plain_function");
	CHECK_STR(ask_name(symbolizer, getpid()), "plain_function");
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
}

static const struct tap_test tests[] = {
	{"a process that had ended has the names of its image", process_that_has_ended},
	{"one that was forked has those of its parent", fork_without_exec},
	{"a fork that is known as a whole has the files of its parent", fork_that_is_known},
	{"it keeps them when it is remembered again", zombie_that_is_remembered_again},
	{"parents that are not known, or form a circle, do no harm", parent_that_is_not_known},
	{"another file than the one that was mapped gives no names", wrong_files},
	{"a file that has no path is found where another process has it", file_that_is_held},
	{"a later mapping hides what was there before", mappings_over_mappings},
	{"a place in a file is found in a file of that inode that is it", places_in_files},
	{"a place in a file that is there no more is left as it is", place_in_a_file_that_is_gone},
	{"a process that can be read is read", process_that_can_be_read},
	{"an image is not taken for another process of its PID", pid_of_another_process},
	{"a new child is sent all images before it is asked", child_that_is_killed},
	{"images that the socket does not take at once", large_images},
};

int main(void)
{
	return TAP_RUN(tests);
}
