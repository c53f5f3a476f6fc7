// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/sym.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/child/proc_stat.h"
#include "sym/process/passed_file.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/copies.h"
#include "test/unit/tap.h"

/* Where the files are that CMakeLists.txt has linked; only on x86-64. */
#ifndef FIXTURES
#define FIXTURES "."
#endif

#define CLEANUP_SYMBOLIZER CLEANUP(symbolizer__freep)

static struct symbolizer *make_symbolizer(void)
{
	struct symbolizer *symbolizer = NULL;

	CHECK_INT(symbolizer__new(&symbolizer, &(struct sym_settings){0}, NULL, NULL), 0);
	return symbolizer;
}

static uint64_t address_of(const void *function)
{
	return (uint64_t)(uintptr_t)function;
}

/* ---- functions to be named, as they stand in the symbol table of this program ---- */

static __attribute__((noinline)) int plain_function(int argument)
{
	__asm__ volatile("" : "+r"(argument));
	return argument * 3;
}

static jmp_buf way_out;
static uint64_t returned_to; /* where leave() would return, if it did */

static __attribute__((noinline, noreturn)) void leave(void)
{
	returned_to = address_of(__builtin_return_address(0));
	longjmp(way_out, 1);
}

/* Its last instruction is a call: the address behind that belongs to another function. */
static __attribute__((noinline, noreturn)) void ends_in_a_call(void)
{
	leave();
}

static struct sym_query query_self(uint64_t address)
{
	return (struct sym_query){.pid = getpid(), .address = address};
}

static void own_function(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	uint64_t start = address_of(plain_function);
	struct sym_query queries[] = {query_self(start + 2), query_self(start)};

	CHECK_INT(plain_function(2), 6);
	CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_STR(queries[0].name, "plain_function");
	CHECK_INT(queries[0].offset, 2);
	CHECK_STR(queries[1].name, "plain_function");
	CHECK_INT(queries[1].offset, 0);
	CHECK_STR(queries[1].module, "test_sym_symbolizer");
	CHECK_INT(queries[0].module_offset - queries[1].module_offset, 2);
	CHECK(queries[1].module_offset > 0 && queries[1].module_offset < 1 << 24);
}

static void return_address_behind_the_last_call(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query queries[2];

	if (!setjmp(way_out))
		ends_in_a_call();
	queries[0] = query_self(returned_to);
	queries[0].return_address = true;
	queries[1] = query_self(address_of(ends_in_a_call));
	CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_STR(queries[0].name, "ends_in_a_call");
	CHECK_INT(queries[0].offset, returned_to - address_of(ends_in_a_call));
	CHECK_INT(queries[0].module_offset - queries[1].module_offset, queries[0].offset);
}

static void return_address_at_the_start(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query query = query_self(address_of(plain_function));

	query.return_address = true;
	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK(!query.name || strcmp(query.name, "plain_function"));
}

static void function_of_libc(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query query = query_self(address_of(getppid));

	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK_STR(query.name, "getppid");
	CHECK_INT(query.offset, 0);
	CHECK(query.module && !strncmp(query.module, "libc", 4));
}

static void addresses_outside_of_all(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query queries[] = {query_self(0), query_self(1), query_self(UINT64_MAX),
				      query_self(address_of(plain_function)), query_self(4096)};

	queries[0].return_address = true;
	CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_STR(queries[0].name, NULL);
	CHECK_STR(queries[0].module, NULL);
	CHECK_STR(queries[1].name, NULL);
	CHECK_STR(queries[2].name, NULL);
	CHECK_STR(queries[3].name, "plain_function");
	CHECK_STR(queries[4].name, NULL);
}

#define CODE_SIZE 65536

/* Code that lies in no file, as a JIT compiler writes it; or 0. */
static uint64_t map_code(void)
{
	void *code =
		mmap(NULL, CODE_SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED) {
		tap_skip("executable memory is not allowed");
		return 0;
	}
	return address_of(code);
}

static void unmap_code(uint64_t code)
{
	munmap((void *)(uintptr_t)code, CODE_SIZE);
}

static void memory_without_a_file(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	uint64_t code = map_code();
	struct sym_query query = query_self(code);

	if (!code)
		return;
	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK_STR(query.name, NULL);
	CHECK_STR(query.module, NULL);
	unmap_code(code);
}

/* All entries of a library lie in the first page of its file. */
static void entries_of_a_linkage_table(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_CLOSE int fd = open(FIXTURES "/plt_lazy", O_RDONLY | O_CLOEXEC);
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *library =
		fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	struct sym_query queries[4096 / 8];
	int alphas = 0, takens = 0;

	if (library == MAP_FAILED) {
		tap_skip("there is no library to be mapped: it is made on x86-64 only");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
		queries[i] = query_self(address_of(library) + 8 * i);
	CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
		const char *name = queries[i].name;

		if (name && !strcmp(name, "alpha@plt"))
			CHECK_INT(queries[i].offset, 8 * alphas++);
		if (name && !strcmp(name, "taken@plt"))
			CHECK_INT(queries[i].offset, 8 * takens++);
		if (name)
			CHECK_STR(queries[i].module, "plt_lazy");
	}
	CHECK_INT(alphas, 2);
	CHECK_INT(takens, 1);
	munmap(library, size);
}

static void nothing_asked(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query none;

	CHECK_INT(symbolizer__name_user(symbolizer, &none, 0), 0);
}

/* ---- processes ---- */

static struct sym_query query_child(pid_t pid)
{
	return (struct sym_query){.pid = pid, .address = address_of(plain_function)};
}

static void processes_side_by_side(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	pid_t children[] = {start_copy(), start_copy()};
	struct sym_query queries[] = {
		query_child(children[1]),
		query_self(address_of(ends_in_a_call)),
		query_child(children[0]),
		query_child(getpid()),
		{.pid = children[0], .address = address_of(getppid)},
	};

	CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_STR(queries[0].name, "plain_function");
	CHECK_STR(queries[1].name, "ends_in_a_call");
	CHECK_STR(queries[2].name, "plain_function");
	CHECK_STR(queries[3].name, "plain_function");
	CHECK_STR(queries[4].name, "getppid");
	end_copy(children[0]);
	end_copy(children[1]);
}

static void process_that_has_ended(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	pid_t pid = start_copy();
	struct sym_query query = query_child(pid);

	end_copy(pid);
	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK_STR(query.name, NULL);
	CHECK_STR(query.module, NULL);
}

/* How many descriptors this process has open. */
static int count_descriptors(void)
{
	int nr = 0;

	for (int fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void descriptors_are_closed(void)
{
	struct symbolizer *symbolizer = make_symbolizer();
	int before = count_descriptors();
	pid_t pid = start_copy();
	struct sym_query queries[] = {query_child(pid), query_self(address_of(getppid))};

	CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	/* The socket to the child that reads files. */
	CHECK_INT(count_descriptors(), before + 1);
	end_copy(pid);
	queries[0] = query_child(pid);
	CHECK_INT(symbolizer__name_user(symbolizer, queries, 1), 0);
	symbolizer__free(symbolizer);
	CHECK_INT(count_descriptors(), before);
	symbolizer__free(NULL);
}

#define FEW_DESCRIPTORS 64

#define MANY_ROOTS 80

/* A copy of this process in a mount namespace of its own, and so with another root; or -1. */
static pid_t start_child_with_root(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		for (;;)
			pause();
	}
	return pid;
}

/* A question about many roots holds no more of them open than there are descriptors. */
static void more_roots_than_descriptors(void)
{
	pid_t pids[MANY_ROOTS] = {start_child_with_root()};
	struct sym_query queries[MANY_ROOTS] = {query_child(pids[0])};
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = NULL;
	struct rlimit kept, few;

	if (pids[0] < 0) {
		tap_skip("only root can have namespaces of its own");
		return;
	}
	for (size_t i = 1; i < MANY_ROOTS; i++) {
		pids[i] = start_child_with_root();
		CHECK(pids[i] > 0);
		queries[i] = query_child(pids[i]);
	}
	CHECK_INT(getrlimit(RLIMIT_NOFILE, &kept), 0);
	few = (struct rlimit){.rlim_cur = FEW_DESCRIPTORS, .rlim_max = kept.rlim_max};
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
	symbolizer = make_symbolizer();
	CHECK_INT(symbolizer__name_user(symbolizer, queries, MANY_ROOTS), 0);
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &kept), 0);
	for (size_t i = 0; i < MANY_ROOTS; i++) {
		CHECK_STR(queries[i].name, "plain_function");
		end_copy(pids[i]);
	}
}

/* ---- the vDSO ---- */

/*
 * The address of its function for clock_gettime(), and its name into name[]; 0 if
 * there is none. All is read as the kernel has mapped it.
 */
static uint64_t find_in_vdso(char name[64])
{
	const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *ehdr = (const void *)image;
	const ElfW(Shdr) *sections = (const void *)(image + (ehdr ? ehdr->e_shoff : 0));

	for (int i = 0; ehdr && i < ehdr->e_shnum; i++) {
		const ElfW(Sym) *symbols = (const void *)(image + sections[i].sh_offset);
		const char *names = image + sections[sections[i].sh_link].sh_offset;

		for (size_t s = 0; sections[i].sh_type == SHT_DYNSYM &&
				   s < sections[i].sh_size / sizeof(*symbols);
		     s++) {
			const char *found = names + symbols[s].st_name;

			/* __vdso_clock_gettime or __kernel_clock_gettime; not its weak alias. */
			if (found[0] != '_' || !strstr(found, "_clock_gettime") ||
			    strlen(found) > strlen("__kernel_clock_gettime"))
				continue;
			snprintf(name, 64, "%s", found);
			return address_of(image) + symbols[s].st_value;
		}
	}
	tap_skip("the kernel maps no vDSO");
	return 0;
}

static void function_of_the_vdso(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	char name[64];
	uint64_t address = find_in_vdso(name);
	pid_t pid = start_copy();
	struct sym_query queries[] = {
		query_self(address + 3),
		{.pid = pid, .address = address},
		query_self(address_of(plain_function)),
	};

	if (address) {
		CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
		CHECK_STR(queries[0].name, name);
		CHECK_INT(queries[0].offset, 3);
		CHECK_STR(queries[0].module, "[vdso]");
		CHECK_STR(queries[1].name, name);
		CHECK_INT(queries[1].offset, 0);
		CHECK_STR(queries[1].module, "[vdso]");
		CHECK_INT(queries[0].module_offset - queries[1].module_offset, 3);
		CHECK_STR(queries[2].name, "plain_function");
	}
	end_copy(pid);
}

/* ---- maps of generated code ---- */

static char jit_path[64]; /* of the map of the process at hand */

/* Begin a map for a process, as a JIT compiler in it would; or -1. */
static int create_jit_map(pid_t pid)
{
	int fd;

	snprintf(jit_path, sizeof(jit_path), "/tmp/perf-%d.map", pid);
	unlink(jit_path); /* of a process long ago */
	fd = open(jit_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		tap_skip("files cannot be made in /tmp");
	return fd;
}

/* Ask for an address in a process; its answer is valid as long as the symbolizer. */
static struct sym_query ask(struct symbolizer *symbolizer, pid_t pid, uint64_t address)
{
	struct sym_query query = {.pid = pid, .address = address};

	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
	return query;
}

static const char *ask_name(struct symbolizer *symbolizer, pid_t pid, uint64_t address)
{
	return ask(symbolizer, pid, address).name;
}

static void generated_code(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_CLOSE int fd = create_jit_map(getpid());
	uint64_t code = map_code();
	struct sym_query query;

	if (fd >= 0 && code) {
		dprintf(fd, "%" PRIx64 " 40 LazyCompile:~f a b.js:1\n", code + 0x100);
		dprintf(fd, "%#" PRIx64 " 0x10 py::g\n", code + 0x200);
		query = ask(symbolizer, getpid(), code + 0x10c);
		CHECK_STR(query.name, "LazyCompile:~f a b.js:1");
		CHECK_INT(query.offset, 0xc);
		CHECK_STR(query.module, NULL);
		CHECK(query.generated);
		CHECK_STR(ask_name(symbolizer, getpid(), code + 0x200), "py::g");
		CHECK_STR(ask_name(symbolizer, getpid(), code + 0x140), NULL);
		/* A call can be the last instruction of generated code, too. */
		query = query_self(code + 0x140);
		query.return_address = true;
		CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
		CHECK_STR(query.name, "LazyCompile:~f a b.js:1");
		CHECK_INT(query.offset, 0x40);
	}
	unlink(jit_path);
	unmap_code(code);
}

static void map_that_grows(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_CLOSE int fd = create_jit_map(getpid());
	uint64_t code = map_code();

	if (fd >= 0 && code) {
		CHECK_STR(ask_name(symbolizer, getpid(), code), NULL);
		CHECK(ask(symbolizer, getpid(), code).generated);
		dprintf(fd, "%" PRIx64 " 40 first\n", code);
		CHECK_STR(ask_name(symbolizer, getpid(), code), "first");
		CHECK_STR(ask_name(symbolizer, getpid(), code + 0x40), NULL);
		dprintf(fd, "%" PRIx64 " 20 replaced\n%" PRIx64 " 40 second\n", code, code + 0x40);
		CHECK_STR(ask_name(symbolizer, getpid(), code), "replaced");
		CHECK_STR(ask_name(symbolizer, getpid(), code + 0x20), "first");
		CHECK_STR(ask_name(symbolizer, getpid(), code + 0x40), "second");
		unlink(jit_path);
		CHECK_STR(ask_name(symbolizer, getpid(), code), NULL);
	}
	unlink(jit_path);
	unmap_code(code);
}

/* Functions in files have the names that their files say, whatever a map says. */
static void map_that_claims_all(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_CLOSE int fd = create_jit_map(getpid());
	uint64_t code = map_code();
	struct sym_query queries[] = {query_self(address_of(plain_function)), query_self(code + 1),
				      query_self(code + 2), query_self(4096),
				      query_self(address_of(getppid))};

	if (fd >= 0 && code) {
		dprintf(fd, "0 ffffffffffffffff all\n");
		CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
		CHECK_STR(queries[0].name, "plain_function");
		CHECK_STR(queries[1].name, "all");
		CHECK_INT(queries[1].offset, code + 1);
		CHECK_STR(queries[2].name, "all");
		CHECK_STR(queries[3].name, NULL); /* nothing is mapped there */
		CHECK_STR(queries[4].name, "getppid");
		CHECK(!queries[0].generated && !queries[3].generated && !queries[4].generated);
		CHECK(queries[1].generated && queries[2].generated);
	}
	unlink(jit_path);
	unmap_code(code);
}

static void maps_of_two_processes(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	uint64_t code = map_code();
	pid_t pid = start_copy();
	CLEANUP_CLOSE int fd = create_jit_map(pid);

	if (fd >= 0 && code) {
		dprintf(fd, "%" PRIx64 " 40 of_the_child\n", code);
		CHECK_STR(ask_name(symbolizer, pid, code), "of_the_child");
		CHECK_STR(ask_name(symbolizer, getpid(), code), NULL);
	}
	end_copy(pid);
	unlink(jit_path);
	unmap_code(code);
}

static uint64_t program_of(pid_t pid)
{
	struct proc_stat stat = {0};

	CHECK_INT(proc_stat__read(pid, &stat), 0);
	return stat.start_stack;
}

static const char *ask_program(struct symbolizer *symbolizer, pid_t pid, uint64_t program,
			       uint64_t address)
{
	struct sym_query query = {.pid = pid, .program = program, .address = address};

	CHECK_INT(symbolizer__name_user(symbolizer, &query, 1), 0);
	CHECK_INT(query.address, address);
	return query.name;
}

/* A process is asked for what its program has, not for that of another one that it was. */
static void programs_of_a_process(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_CLOSE int fd = create_jit_map(getpid());
	uint64_t code = map_code(), program = program_of(getpid());
	uint64_t function = address_of(plain_function);

	CHECK(program != 0);
	CHECK_STR(ask_program(symbolizer, getpid(), program, function), "plain_function");
	CHECK_STR(ask_program(symbolizer, getpid(), program + 16, function), NULL);
	if (fd >= 0 && code) {
		dprintf(fd, "%" PRIx64 " 40 generated\n", code);
		CHECK_STR(ask_program(symbolizer, getpid(), program, code), "generated");
		CHECK_STR(ask_program(symbolizer, getpid(), program + 16, code), NULL);
	}
	unlink(jit_path);
	unmap_code(code);
}

static void pass_map(int socket, pid_t pid, uint64_t program, const char *names)
{
	const struct passed_file passed = {.pid = pid, .program = program};
	CLEANUP_CLOSE int fd = memfd_create("map", MFD_CLOEXEC);

	CHECK(write(fd, names, strlen(names)) == (ssize_t)strlen(names));
	CHECK_INT(passed_file__send(socket, &passed, fd), 0);
}

/* Of programs that are gone those maps have the names that were passed; the last of each. */
static void passed_maps(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = NULL;
	struct sym_settings settings = {0};
	pid_t pid = start_copy();
	int sockets[2];

	CHECK_INT(passed_files__open(sockets), 0);
	settings.passed_files = sockets[1];
	CHECK_INT(symbolizer__new(&symbolizer, &settings, NULL, NULL), 0);
	CHECK_INT(symbolizer__start(symbolizer), 0);
	end_copy(pid);
	pass_map(sockets[0], pid, 16, "1000 40 earlier\n");
	pass_map(sockets[0], pid, 32, "1000 40 other_program\n");
	pass_map(sockets[0], pid, 16, "1000 40 first\n");
	CHECK_STR(ask_program(symbolizer, pid, 16, 0x1000), "first");
	CHECK_STR(ask_program(symbolizer, pid, 32, 0x1000), "other_program");
	CHECK_STR(ask_program(symbolizer, pid, 48, 0x1000), NULL);
	CHECK_STR(ask_program(symbolizer, pid, 0, 0x1000), NULL);
	/* One of the programs that this process has been. */
	pass_map(sockets[0], getpid(), 16, "1000 40 gone\n");
	CHECK_STR(ask_program(symbolizer, getpid(), 16, 0x1000), "gone");
	/* The first ones go when there are many. */
	for (uint64_t i = 1; i <= 300; i++)
		pass_map(sockets[0], pid, i << 8, "1000 40 one_of_many\n");
	CHECK_STR(ask_program(symbolizer, pid, 300 << 8, 0x1000), "one_of_many");
	CHECK_STR(ask_program(symbolizer, pid, 100 << 8, 0x1000), "one_of_many");
	CHECK_STR(ask_program(symbolizer, pid, 16, 0x1000), NULL);
	close(sockets[0]);
	close(sockets[1]);
}

/* Other things in place of this process's map are neither used nor waited for. */
static void check_unused_map(uint64_t code)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();

	/* Whoever waits for ever is killed. */
	alarm(30);
	CHECK_STR(ask_name(symbolizer, getpid(), code), NULL);
	CHECK_STR(ask_name(symbolizer, getpid(), address_of(plain_function)), "plain_function");
	alarm(0);
}

static void map_that_is_a_fifo(void)
{
	uint64_t code = map_code();

	close(create_jit_map(getpid()));
	unlink(jit_path);
	if (code && CHECK_INT(mkfifo(jit_path, 0600), 0))
		check_unused_map(code);
	unlink(jit_path);
	unmap_code(code);
}

static void map_that_is_a_folder(void)
{
	uint64_t code = map_code();

	close(create_jit_map(getpid()));
	unlink(jit_path);
	if (code && CHECK_INT(mkdir(jit_path, 0700), 0))
		check_unused_map(code);
	rmdir(jit_path);
	unmap_code(code);
}

/* A process could have root read any file, some of which are better not read. */
static void map_that_is_a_symbolic_link(void)
{
	char target[] = "/tmp/test_symbolizer.XXXXXX";
	const char *const targets[] = {target, "/etc/shadow", "/proc/self/maps", jit_path, "/x"};
	CLEANUP_CLOSE int fd = mkstemp(target);
	uint64_t code = map_code();

	if (fd < 0)
		tap_skip("files cannot be made in /tmp");
	for (size_t i = 0; i < ARRAY_SIZE(targets) && fd >= 0 && code; i++) {
		dprintf(fd, "%" PRIx64 " 40 elsewhere\n", code);
		close(create_jit_map(getpid()));
		unlink(jit_path);
		CHECK_INT(symlink(targets[i], jit_path), 0);
		check_unused_map(code);
		unlink(jit_path);
	}
	unlink(target);
	unmap_code(code);
}

#define NOBODY 65534

static void map_of_another_user(void)
{
	uint64_t code = map_code();
	CLEANUP_CLOSE int fd = create_jit_map(getpid());

	if (geteuid() != 0) {
		tap_skip("only root can give files away");
	} else if (fd >= 0 && code) {
		dprintf(fd, "%" PRIx64 " 40 not_mine\n", code);
		CHECK_INT(fchown(fd, NOBODY, NOBODY), 0);
		check_unused_map(code);
	}
	unlink(jit_path);
	unmap_code(code);
}

/* A process of another user than the one that traces: its own maps serve, and those of root. */
static void maps_of_a_user(void)
{
	static const struct {
		uid_t owner;
		mode_t mode;
		const char *name;
	} cases[] = {
		{NOBODY, 0600, "generated"},
		{0, 0644, "generated"},
		{0, 0600, NULL}, /* that user may not read it: it was mounted there */
		{1, 0644, NULL},
	};
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	uint64_t code = map_code();
	siginfo_t info;
	pid_t pid;

	if (geteuid() != 0) {
		tap_skip("only root can act as another user");
		unmap_code(code);
		return;
	}
	pid = fork();
	if (pid == 0) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		for (;;)
			kill(getpid(), SIGSTOP);
	}
	CHECK_INT(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP_CLOSE int fd = create_jit_map(pid);

		if (fd < 0 || !code)
			break;
		dprintf(fd, "%" PRIx64 " 40 generated\n", code);
		CHECK_INT(fchown(fd, cases[i].owner, cases[i].owner), 0);
		CHECK_INT(fchmod(fd, cases[i].mode), 0);
		CHECK_STR(ask_name(symbolizer, pid, code), cases[i].name);
	}
	end_copy(pid);
	unlink(jit_path);
	unmap_code(code);
}

/* ---- names of C++ and Rust ---- */

/* A function named by hand as a C++ compiler would name it. */
static __attribute__((noinline)) int mangled_function(int argument) __asm__("_ZN4test8functionEi");

static int mangled_function(int argument)
{
	__asm__ volatile("" : "+r"(argument));
	return argument * 5;
}

/* Nobody has this much time: 2^59 lifetimes. */
static __attribute__((noinline)) int
hostile_function(int argument) __asm__("_RC1aIC1bFGzzzzzzzzzz_EuE");

static int hostile_function(int argument)
{
	__asm__ volatile("" : "+r"(argument));
	return argument * 7;
}

static void demangled_names(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	uint64_t start = address_of(mangled_function);
	struct sym_query query = ask(symbolizer, getpid(), start + 2);

	CHECK_INT(mangled_function(2), 10);
	CHECK_STR(query.name, "test::function(int)");
	CHECK(!query.symbol);
	CHECK_INT(query.offset, 2);
}

static void symbols(void)
{
	const struct sym_settings settings = {.symbols = true};
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = NULL;
	struct sym_query query;

	CHECK_INT(symbolizer__new(&symbolizer, &settings, NULL, NULL), 0);
	query = ask(symbolizer, getpid(), address_of(mangled_function));
	CHECK_STR(query.name, "test::function(int)");
	CHECK_STR(query.symbol, "_ZN4test8functionEi");
	query = ask(symbolizer, getpid(), address_of(plain_function));
	CHECK_STR(query.name, "plain_function");
	CHECK(!query.symbol);
}

static void mangled_names(void)
{
	const struct sym_settings settings = {.mangled = true};
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = NULL;

	CHECK_INT(symbolizer__new(&symbolizer, &settings, NULL, NULL), 0);
	CHECK_STR(ask_name(symbolizer, getpid(), address_of(mangled_function)),
		  "_ZN4test8functionEi");
	CHECK_STR(ask_name(symbolizer, getpid(), address_of(plain_function)), "plain_function");
}

static void hostile_names(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	struct sym_query queries[] = {query_self(address_of(hostile_function)),
				      query_self(address_of(mangled_function)),
				      query_self(address_of(getppid))};

	CHECK_INT(hostile_function(2), 14);
	CHECK_INT(symbolizer__name_user(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_INT(symbolizer__unanswered(symbolizer), 0);
	CHECK_STR(queries[0].name, "_RC1aIC1bFGzzzzzzzzzz_EuE");
	CHECK_STR(queries[1].name, "test::function(int)");
	CHECK_STR(queries[2].name, "getppid");
}

/* ---- the kernel ---- */

/* A kernel that knows every address, and keeps count; or one that knows none. */
struct fake_kernel {
	size_t calls, addresses, largest;
	uint64_t last;
	int err;
	char texts[SYM_KERNEL_BATCH][64];
};

static int print_fake(void *context, const uint64_t *addresses, size_t nr, const char **texts)
{
	struct fake_kernel *kernel = context;

	kernel->calls++;
	kernel->addresses += nr;
	kernel->largest = nr > kernel->largest ? nr : kernel->largest;
	kernel->last = addresses[nr - 1];
	if (kernel->err)
		return kernel->err;
	for (size_t i = 0; i < nr; i++) {
		if (addresses[i] % 2)
			snprintf(kernel->texts[i], sizeof(kernel->texts[i]), "0x%lx",
				 (unsigned long)addresses[i]);
		else
			snprintf(kernel->texts[i], sizeof(kernel->texts[i]), "f%lx+0x%lx/0x100%s",
				 (unsigned long)addresses[i], (unsigned long)addresses[i] % 256,
				 addresses[i] % 4 ? " [mod]" : "");
		texts[i] = kernel->texts[i];
	}
	return 0;
}

static void printed_kernel_names(void)
{
	struct fake_kernel kernel = {0};
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = NULL;
	struct sym_query queries[] = {
		{.address = 0x1004},
		{.address = 0x1006},
		{.address = 0x1009},
		{.address = 0x1011, .return_address = true},
	};

	CHECK_INT(symbolizer__new(&symbolizer, &(struct sym_settings){0}, print_fake, &kernel), 0);
	CHECK_INT(symbolizer__name_kernel(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_STR(queries[0].name, "f1004");
	CHECK_INT(queries[0].offset, 4);
	CHECK_STR(queries[0].module, NULL);
	CHECK_STR(queries[1].name, "f1006");
	CHECK_STR(queries[1].module, "mod");
	CHECK_STR(queries[2].name, NULL);
	CHECK_STR(queries[3].name, "f1010");
	CHECK_INT(queries[3].offset, 0x11);
	CHECK_INT(kernel.last, 0x1010);
}

static void kernel_names_in_batches(void)
{
	struct fake_kernel kernel = {0};
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = NULL;
	struct sym_query queries[2 * SYM_KERNEL_BATCH + 1];

	for (size_t i = 0; i < ARRAY_SIZE(queries); i++)
		queries[i] = (struct sym_query){.address = 0x1000 + 4 * i};
	CHECK_INT(symbolizer__new(&symbolizer, &(struct sym_settings){0}, print_fake, &kernel), 0);
	CHECK_INT(symbolizer__name_kernel(symbolizer, queries, 0), 0);
	CHECK_INT(kernel.calls, 0);
	CHECK_INT(symbolizer__name_kernel(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_INT(kernel.calls, 3);
	CHECK_INT(kernel.addresses, ARRAY_SIZE(queries));
	CHECK_INT(kernel.largest, SYM_KERNEL_BATCH);
	CHECK_STR(queries[0].name, "f1000");
	CHECK_STR(queries[SYM_KERNEL_BATCH].name, "f1080");
	CHECK_STR(queries[2 * SYM_KERNEL_BATCH].name, "f1100");
}

/* Parts of the kernel are written in Rust. */
static int print_rust(void *context, const uint64_t *addresses, size_t nr, const char **texts)
{
	(void)context;
	(void)addresses;
	for (size_t i = 0; i < nr; i++)
		texts[i] = i % 2 ? "_RNvCs1234_6kernel4work+0x4/0x100 [rust_mod]" :
				   "vfs_read+0x4/0x100";
	return 0;
}

static void check_rust_in_the_kernel(bool mangled, bool symbols, const char *name)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = NULL;
	const struct sym_settings settings = {.mangled = mangled, .symbols = symbols};
	struct sym_query queries[] = {{.address = 0x1004}, {.address = 0x2004}};

	CHECK_INT(symbolizer__new(&symbolizer, &settings, print_rust, NULL), 0);
	CHECK_INT(symbolizer__name_kernel(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_STR(queries[0].name, "vfs_read");
	CHECK_STR(queries[1].name, name);
	CHECK(!queries[0].symbol);
	if (symbols && !mangled)
		CHECK_STR(queries[1].symbol, "_RNvCs1234_6kernel4work");
	else
		CHECK(!queries[1].symbol);
	CHECK_INT(queries[1].offset, 4);
	CHECK_STR(queries[1].module, "rust_mod");
}

static void rust_in_the_kernel(void)
{
	check_rust_in_the_kernel(false, false, "kernel::work");
	check_rust_in_the_kernel(false, true, "kernel::work");
	check_rust_in_the_kernel(true, true, "_RNvCs1234_6kernel4work");
}

/* The address of a kernel function; 0 if there are none to see. */
static uint64_t find_kernel_function(const char *wanted)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/kallsyms", "re");
	CLEANUP_FREE char *line = NULL;
	unsigned long address;
	char name[256];
	size_t size = 0;

	while (file && getline(&line, &size, file) >= 0)
		if (sscanf(line, "%lx %*c %255s", &address, name) == 2 && !strcmp(name, wanted))
			return address;
	return 0;
}

static void check_kallsyms(struct symbolizer *symbolizer)
{
	uint64_t start = find_kernel_function("vfs_read");
	struct sym_query queries[] = {
		{.address = start + 5, .name = "old", .module = "old"},
		{.address = start},
		{.address = start + 1, .return_address = true},
		{.address = 0xffff000000000000},
	};

	if (!start) {
		tap_skip("/proc/kallsyms shows no addresses");
		return;
	}
	CHECK_INT(symbolizer__name_kernel(symbolizer, queries, ARRAY_SIZE(queries)), 0);
	CHECK_STR(queries[0].name, "vfs_read");
	CHECK_INT(queries[0].offset, 5);
	CHECK_STR(queries[0].module, NULL);
	CHECK_STR(queries[1].name, "vfs_read");
	CHECK_INT(queries[1].offset, 0);
	CHECK_STR(queries[2].name, "vfs_read");
	CHECK_INT(queries[2].offset, 1);
	CHECK_STR(queries[3].name, NULL);
}

static void kallsyms_without_print(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();

	check_kallsyms(symbolizer);
}

static void kallsyms_when_print_fails(void)
{
	struct fake_kernel kernel = {.err = -EIO};
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = NULL;

	CHECK_INT(symbolizer__new(&symbolizer, &(struct sym_settings){0}, print_fake, &kernel), 0);
	check_kallsyms(symbolizer);
}

static const struct tap_test tests[] = {
	{"a function of this program has its name, offset and module", own_function},
	{"a return address behind the last instruction belongs to the caller",
	 return_address_behind_the_last_call},
	{"a return address at the start of a function does not belong to it",
	 return_address_at_the_start},
	{"a function of libc has its name", function_of_libc},
	{"addresses outside of all mappings have no names", addresses_outside_of_all},
	{"memory without a file has neither name nor module", memory_without_a_file},
	{"entries of a procedure linkage table have the names of what they call",
	 entries_of_a_linkage_table},
	{"no queries are no failure", nothing_asked},
	{"queries of several processes in any order are answered at once", processes_side_by_side},
	{"a process that has ended has no names", process_that_has_ended},
	{"no descriptors stay open", descriptors_are_closed},
	{"many processes with roots of their own leave descriptors for others, and have names",
	 more_roots_than_descriptors},
	{"a function of the vDSO has its name", function_of_the_vdso},
	{"generated code has the names of its map", generated_code},
	{"a map that has grown is read again", map_that_grows},
	{"a map names nothing that lies in a program, or nowhere", map_that_claims_all},
	{"each process has a map of its own", maps_of_two_processes},
	{"a process is asked as long as it runs the program", programs_of_a_process},
	{"programs that are gone have names by maps that were passed", passed_maps},
	{"a map that is a FIFO is not waited for", map_that_is_a_fifo},
	{"a map that is a folder is none", map_that_is_a_folder},
	{"a map that is a symbolic link is not used", map_that_is_a_symbolic_link},
	{"a map of another user is not used", map_of_another_user},
	{"a map of the traced user, or of root, is used", maps_of_a_user},
	{"names of C++ are demangled", demangled_names},
	{"unless they are to be kept", mangled_names},
	{"and are told as they stand in the file, too, if that is wanted", symbols},
	{"a name that would take years stays as it is, and costs no other", hostile_names},
	{"kernel names are what the kernel prints", printed_kernel_names},
	{"those of Rust are demangled, unless they are to be kept", rust_in_the_kernel},
	{"the kernel is asked in batches", kernel_names_in_batches},
	{"kernel names come from kallsyms where nothing prints them", kallsyms_without_print},
	{"kernel names come from kallsyms where printing fails", kallsyms_when_print_fails},
};

int main(void)
{
	return TAP_RUN(tests);
}
