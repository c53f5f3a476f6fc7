// SPDX-License-Identifier: GPL-2.0-or-later
/* Places in files, whatever has become of the processes that had them. */
#include "sym/address/user_namer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/process/file_identity.h"
#include "sym/process/held_files.h"
#include "sym/process/passed_file.h"
#include "sym/process/process.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/copies.h"
#include "test/unit/tap.h"

#define CLEANUP_SYMBOLIZER CLEANUP(symbolizer__freep)

/* The function that is asked for, in this program's file and in copies of it. */
static __attribute__((noinline)) int plain_function(int argument)
{
	__asm__ volatile("" : "+r"(argument));
	return argument * 3;
}

/* ---- processes and files ---- */

static pid_t start_and_end(void)
{
	pid_t pid = start_copy();

	end_copy(pid);
	return pid;
}

static int open_program(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* This program's file once more, where no path leads to it. */
static int copy_program(void)
{
	CLEANUP_CLOSE int from = open_program();
	CLEANUP_CLOSE int copy = memfd_create("copy", MFD_CLOEXEC);
	struct stat st;

	CHECK_INT(fstat(from, &st), 0);
	CHECK_INT(sendfile(copy, from, NULL, (size_t)st.st_size), st.st_size);
	return TAKE_FD(copy);
}

/* As it is, and as it is shown where it is mapped, but for btrfs and the like. */
static struct sym_file_id id_of(int fd)
{
	struct stat st;

	CHECK_INT(fstat(fd, &st), 0);
	return (struct sym_file_id){.device = st.st_dev,
				    .inode = st.st_ino,
				    .size = (uint64_t)st.st_size,
				    .modified = file_time(&st.st_mtim)};
}

/* ---- questions ---- */

static char own_path[4096];
static uint64_t own_offset; /* of the function in its file */

static void find_own_place(void)
{
	CLEANUP(process__release) struct process self = {0};
	const uint64_t address = (uint64_t)(uintptr_t)plain_function;
	const struct mapping *mapping;

	CHECK_INT(plain_function(2), 6);
	CHECK_INT(process__read(&self, getpid()), 0);
	mapping = mapping_list__find(&self.mappings, address);
	if (!CHECK(mapping))
		return;
	own_offset = address - mapping->start + mapping->offset;
	snprintf(own_path, sizeof(own_path), "%s", mapping->path);
}

static struct symbolizer *make_symbolizer(const int *passed)
{
	const struct sym_settings settings = {.passed_files = passed ? passed[1] : 0,
					      .files = true};
	struct symbolizer *symbolizer = NULL;

	CHECK_INT(symbolizer__new(&symbolizer, &settings, NULL, NULL), 0);
	if (passed)
		CHECK_INT(symbolizer__start(symbolizer), 0);
	return symbolizer;
}

static struct sym_query query_in(const struct sym_mapped_file *file)
{
	return (struct sym_query){.in_file = true, .file = file, .address = own_offset + 1};
}

/* The answer, valid until the next one of the symbolizer. */
static struct sym_query ask(struct symbolizer *symbolizer, const struct sym_mapped_file *file)
{
	struct sym_query query = query_in(file);

	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK(query.in_file && !query.generated);
	CHECK_INT(query.address, own_offset + 1);
	return query;
}

static const char *name_in(struct symbolizer *symbolizer, const struct sym_mapped_file *file)
{
	return ask(symbolizer, file).name;
}

static struct sym_mapped_file own_file(pid_t pid)
{
	CLEANUP_CLOSE int fd = open_program();

	return (struct sym_mapped_file){.id = id_of(fd), .pid = pid, .path = own_path};
}

/* ---- where a file is found ---- */

static void file_by_its_path(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer(NULL);
	const struct sym_mapped_file file = own_file(start_and_end());
	const struct sym_query query = ask(symbolizer, &file);

	CHECK_STR(query.name, "plain_function");
	CHECK_INT(query.offset, 1);
	CHECK_STR(query.module, "test_sym_address_user_namer");
	CHECK_STR(query.path, own_path);
	CHECK_INT(query.file_offset, own_offset + 1);
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
}

/* " (deleted)" leads nowhere. */
static void file_of_a_process(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer(NULL);
	CLEANUP_CLOSE int fd = copy_program();
	struct sym_mapped_file file = {.id = id_of(fd), .path = "/memfd:copy (deleted)"};
	void *mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if (!CHECK(mapped != MAP_FAILED))
		return;
	file.pid = start_copy();
	munmap(mapped, 4096);
	if (name_in(symbolizer, &file)) {
		CHECK_STR(name_in(symbolizer, &file), "plain_function");
		CHECK_STR(ask(symbolizer, &file).module, "memfd:copy");
	} else {
		tap_skip("only root can open what has no path");
	}
	end_copy(file.pid);
	CHECK_STR(name_in(symbolizer, &file), NULL);
}

static void wrong_files(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer(NULL);
	const pid_t pids[] = {getpid(), start_and_end(), 0};
	const struct sym_mapped_file right = own_file(0);
	struct stat st;

	CHECK_INT(stat("/dev/null", &st), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		struct sym_mapped_file wrong[7];

		for (size_t j = 0; j < ARRAY_SIZE(wrong); j++) {
			wrong[j] = right;
			wrong[j].pid = pids[i];
		}
		CHECK_STR(name_in(symbolizer, &wrong[0]), "plain_function");
		wrong[0].id.inode++;
		wrong[1].id.device++;
		wrong[2].id.size++;
		wrong[3].id.modified++;
		wrong[4].path = "/etc/passwd";
		wrong[4].pid = 0;
		wrong[5].path = strrchr(right.path, '/') + 1;
		wrong[5].pid = 0;
		wrong[6] = (struct sym_mapped_file){.id = {.device = st.st_dev, .inode = st.st_ino},
						    .path = "/dev/null"};
		for (size_t j = 0; j < ARRAY_SIZE(wrong); j++)
			CHECK_STR(name_in(symbolizer, &wrong[j]), NULL);
	}
	CHECK_STR(name_in(symbolizer, NULL), NULL);
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
}

static void vdso(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer(NULL);
	const struct sym_mapped_file file = {.pid = start_and_end(), .path = "[vdso]"};
	struct sym_query query = {.in_file = true, .file = &file, .address = 16};

	if (!getauxval(AT_SYSINFO_EHDR)) {
		tap_skip("the kernel maps no vDSO");
		return;
	}
	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK_STR(query.module, "[vdso]");
	CHECK_STR(query.path, "[vdso]");
	CHECK(query.build_id != NULL);
}

/* ---- files that were passed ---- */

/* shown: by which device and inode the file is shown where it is mapped. */
static void pass(const int *sockets, int fd, const struct sym_file_id *shown)
{
	const struct passed_file passed = {
		.device = shown->device, .inode = shown->inode, .pid = 1};

	CHECK_INT(passed_file__send(sockets[0], &passed, fd), 0);
}

/* Nobody has it mapped, and no path leads to it. */
static void file_that_was_passed(void)
{
	int sockets[2];
	CLEANUP_CLOSE int fd = copy_program();

	CHECK_INT(passed_files__open(sockets), 0);
	for (int i = 0; i < 4; i++) {
		CLEANUP_SYMBOLIZER
		struct symbolizer *symbolizer = make_symbolizer(sockets);
		struct sym_mapped_file file = {
			.id = id_of(fd), .pid = start_and_end(), .path = "/gone"};

		/* Some file systems show mapped files otherwise; two of them even alike. */
		if (i >= 2) {
			file.id.device = 77;
			file.id.inode = 78;
		}
		if (i > 0)
			pass(sockets, fd, &file.id);
		file.id.modified += i == 3;
		CHECK_STR(name_in(symbolizer, &file), i == 1 || i == 2 ? "plain_function" : NULL);
		CHECK_INT(symbolizer__unanswered(symbolizer), 0);
	}
	close(sockets[0]);
	close(sockets[1]);
}

/* It may be deleted, but not be written to. */
static void file_that_is_overwritten(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer;
	int sockets[2];
	CLEANUP_CLOSE int fd = copy_program();
	const struct sym_mapped_file file = {.id = id_of(fd), .pid = 1, .path = "/gone"};
	struct sym_mapped_file now = file;

	CHECK_INT(passed_files__open(sockets), 0);
	symbolizer = make_symbolizer(sockets);
	pass(sockets, fd, &file.id);
	CHECK_STR(name_in(symbolizer, &file), "plain_function");
	while (now.id.modified == file.id.modified) { /* times are those of clock ticks */
		CHECK_INT(pwrite(fd, "\x7f", 1, 0), 1);
		now.id = id_of(fd);
	}
	CHECK_STR(name_in(symbolizer, &file), NULL);
	CHECK_STR(name_in(symbolizer, &now), NULL);
	/* That one is another file. */
	pass(sockets, fd, &now.id);
	CHECK_STR(name_in(symbolizer, &now), "plain_function");
	CHECK_STR(name_in(symbolizer, &file), NULL);
	close(sockets[0]);
	close(sockets[1]);
}

#define FEW_DESCRIPTORS 64
#define MANY_FILES	100

/* Those that came first go; a question opens no more at once than there are descriptors. */
static void more_files_than_descriptors(void)
{
	static struct sym_mapped_file files[MANY_FILES];
	static struct sym_query queries[MANY_FILES];
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer;
	struct rlimit kept, few;
	int fds[MANY_FILES], sockets[2];
	void *mapped[MANY_FILES];
	size_t named = 0;

	CHECK_INT(passed_files__open(sockets), 0);
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &kept), 0);
	few = (struct rlimit){.rlim_cur = FEW_DESCRIPTORS, .rlim_max = kept.rlim_max};
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
	symbolizer = make_symbolizer(sockets);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &kept), 0);
	for (size_t i = 0; i < MANY_FILES; i++) {
		fds[i] = copy_program();
		files[i] = (struct sym_mapped_file){.id = id_of(fds[i]), .pid = 1, .path = "/gone"};
		/* What is held already takes no room. */
		for (int again = 0; again < 3; again++)
			pass(sockets, fds[i], &files[i].id);
		queries[i] = query_in(&files[i]);
	}
	for (int again = 0; again < 2; again++) {
		named = 0;
		CHECK_INT(symbolizer__name_user(symbolizer, queries, MANY_FILES), 0);
		while (named < MANY_FILES && queries[MANY_FILES - 1 - named].name)
			named++;
		CHECK_INT(named, FEW_DESCRIPTORS / 4 + 1);
		CHECK_STR(queries[MANY_FILES - 1].name, "plain_function");
		for (size_t i = 0; i < MANY_FILES - named; i++)
			CHECK_STR(queries[i].name, NULL);
	}
	/* All that a process has: only root can open what has no path. */
	for (size_t i = 0; i < MANY_FILES; i++) {
		mapped[i] = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fds[i], 0);
		CHECK(mapped[i] != MAP_FAILED);
		files[i].pid = getpid();
	}
	CHECK_INT(symbolizer__name_user(symbolizer, queries, MANY_FILES), 0);
	for (size_t i = 0; i < MANY_FILES && geteuid() == 0; i++)
		CHECK_STR(queries[i].name, "plain_function");
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
	for (size_t i = 0; i < MANY_FILES; i++) {
		munmap(mapped[i], 4096);
		close(fds[i]);
	}
	close(sockets[0]);
	close(sockets[1]);
}

/* ---- many at once ---- */

/* Files and programs in any order; of each file once. */
static void files_beside_programs(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer(NULL);
	const struct sym_mapped_file file = own_file(start_and_end()), same = own_file(getpid()),
				     other = {.id = {.device = 1, .inode = 1}, .path = "/gone"};
	struct sym_query queries[] = {
		{.pid = getpid(), .address = (uint64_t)(uintptr_t)plain_function},
		query_in(&file),
		query_in(&other),
		{.pid = getpid(), .address = (uint64_t)(uintptr_t)getppid},
		query_in(&same),
		query_in(&file),
	};

	queries[5].address = own_offset;
	queries[5].return_address = true;
	CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_STR(queries[0].name, "plain_function");
	CHECK_INT(queries[0].offset, 0);
	CHECK_STR(queries[1].name, "plain_function");
	CHECK_INT(queries[1].module_offset, queries[0].module_offset + 1);
	CHECK_STR(queries[2].name, NULL);
	CHECK_STR(queries[3].name, "getppid");
	CHECK_STR(queries[4].name, "plain_function");
	/* A call returns there whose last byte is before the function. */
	CHECK(!queries[5].name || strcmp(queries[5].name, "plain_function") != 0);
	CHECK_INT(queries[5].module_offset, queries[0].module_offset);
}

/* Another child is told of the files again. */
static void child_that_is_killed(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer(NULL);
	const struct sym_mapped_file file = own_file(start_and_end());
	CLEANUP_FCLOSE FILE *children = NULL;
	struct sym_query query = query_in(&file);
	char path[64];
	int worker;

	CHECK_STR(name_in(symbolizer, &file), "plain_function");
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	children = fopen(path, "re");
	if (!CHECK(children) || !CHECK_INT(fscanf(children, "%d", &worker), 1))
		return;
	kill(worker, SIGSTOP);
	CHECK_INT(waitpid(worker, NULL, WUNTRACED), worker);
	CHECK_INT(symbolizer__ask_user(symbolizer, &query, 1), 0);
	kill(worker, SIGKILL);
	while (symbolizer__attend(symbolizer) > 0) {
		struct pollfd pollfd;
		int timeout = symbolizer__poll(symbolizer, &pollfd);

		poll(&pollfd, 1, timeout);
	}
	CHECK_STR(query.name, "plain_function");
	CHECK_INT(symbolizer__unanswered(symbolizer), 1);
}

static const struct tap_test tests[] = {
	{"a file is found by its path", file_by_its_path},
	{"a file without a path is found where a process has it", file_of_a_process},
	{"another file than the one that is meant gives no names", wrong_files},
	{"the vDSO is that of all processes", vdso},
	{"a file that was passed has names though nobody has it", file_that_was_passed},
	{"a file that was written to is another one", file_that_is_overwritten},
	{"more files than descriptors", more_files_than_descriptors},
	{"files and programs are asked for at once", files_beside_programs},
	{"a new child is told of the files again", child_that_is_killed},
};

int main(void)
{
	find_own_place();
	return TAP_RUN(tests);
}
