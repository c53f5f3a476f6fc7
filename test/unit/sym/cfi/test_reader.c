// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Children read, and so does this program itself; and children that are not as they should be: a
 * test chooses what a child does when it has entered the sandbox, and which file system does not
 * answer (see "--wrap" in ld(1)).
 */
#include "bpf/unwind_tables.h"
#include "sym/cfi/reader.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/cfi/rules.h"
#include "sym/cfi/table.h"
#include "sym/cfi/table_reader.h"
#include "sym/child/proc_stat.h"
#include "sym/child/reader_child.h"
#include "sym/child/sandbox.h"
#include "sym/elf/file.h"
#include "sym/process/jit_map_reader.h"
#include "sym/process/passed_file.h"
#include "sym/process/process.h"
#include "sym/process/vdso.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/page.h"
#include "test/unit/tap.h"

/* In the child; NULL: nothing. It writes to descriptor 0. */
static void (*inside)(void);

static uint64_t hanging; /* the device of the file system that does not answer, or 0 */

/* The children's doings. */
static struct {
	pid_t last;
	unsigned int nr_hung;
} * seen;

int __wrap_sandbox__enter(struct sandbox *sandbox);
int __real_sandbox__enter(struct sandbox *sandbox);
int __wrap_process__open_file(const struct process *process, const struct mapping *mapping);
int __real_process__open_file(const struct process *process, const struct mapping *mapping);

int __wrap_sandbox__enter(struct sandbox *sandbox)
{
	if (inside)
		inside();
	return __real_sandbox__enter(sandbox);
}

int __wrap_process__open_file(const struct process *process, const struct mapping *mapping)
{
	seen->last = getpid();
	if (hanging && mapping->device == hanging) {
		seen->nr_hung++;
		pause();
	}
	return __real_process__open_file(process, mapping);
}

/* The devices that did not answer in a test. */
static struct avoided_devices avoided;

/* As the kernel would tell files apart, but for the generation. */
static int identify(int fd, struct mapped_file *file)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*file = (struct mapped_file){
		.inode = st.st_ino,
		.size = (uint64_t)st.st_size,
		.ctime = (uint64_t)st.st_ctim.tv_sec,
		.ctime_nsec = (uint32_t)st.st_ctim.tv_nsec,
		.device = major(st.st_dev) << 20 | minor(st.st_dev),
	};
	return 0;
}

static const struct unwind_identifier identifier = {.identify = identify,
						    .fds = {STDERR_FILENO, STDERR_FILENO}};

static const struct unwind_keeper nobody;

/* ---- mappings ---- */

static const struct unwind_mapped *find(const struct unwind_mapped *mapped, int nr, const void *at)
{
	uint64_t address = (uint64_t)(uintptr_t)at;

	for (int i = 0; i < nr; i++)
		if (mapped[i].start <= address && address < mapped[i].end)
			return &mapped[i];
	return NULL;
}

static void own_mappings(void)
{
	CLEANUP(process__release) struct process process = {0};
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int nr = unwind_reader__mappings(getpid(), &avoided, &identifier, &nobody, &mapped);

	CHECK_INT(process__read(&process, getpid()), 0);
	if (!CHECK_INT(nr, process.mappings.nr))
		return;
	for (int i = 0; i < nr; i++) {
		const struct mapping *mapping = &process.mappings.mappings[i];
		char path[UNWIND_PATH_MAX];

		unwind_path__set(path, mapping->path);
		CHECK_INT(mapped[i].start, mapping->start);
		CHECK_INT(mapped[i].end, mapping->end);
		CHECK_INT(mapped[i].offset, mapping->offset);
		CHECK_INT(mapped[i].device, mapping->device);
		CHECK_INT(mapped[i].inode, mapping->inode);
		CHECK_STR(mapped[i].path, path);
		CHECK_INT(mapped[i].source, vdso__is_ours(mapping) ? UNWIND_SOURCE_VDSO :
					    mapping->inode	   ? UNWIND_SOURCE_FILE :
								     UNWIND_SOURCE_NONE);
	}
}

static void identities(void)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int nr = unwind_reader__mappings(getpid(), &avoided, &identifier, &nobody, &mapped);
	const struct unwind_mapped *own = find(mapped, nr, (void *)identities);
	struct stat st;

	if (!CHECK(own != NULL) || !CHECK_INT(stat("/proc/self/exe", &st), 0))
		return;
	CHECK_INT(own->identity.device, st.st_dev);
	CHECK_INT(own->identity.inode, st.st_ino);
	CHECK_INT(own->identity.size, st.st_size);
	CHECK_INT(file_time(&own->identity.modified), file_time(&st.st_mtim));
	CHECK_INT(own->file.inode, st.st_ino);
	CHECK_INT(own->file.ctime, st.st_ctim.tv_sec);
}

/* ---- files that are kept ---- */

/* The inode of this program, which somebody has already; 0: nobody has. */
static uint64_t kept;

static bool is_kept(const void *context, const struct mapped_file *file)
{
	CHECK_STR(context, "context");
	return kept && file->inode == kept;
}

/* How often the file was passed; all that were are taken. */
static int times_passed(int socket, const struct stat *wanted)
{
	struct passed_file passed;
	int times = 0;

	while (passed_file__peek(socket, &passed) > 0) {
		CLEANUP_CLOSE int fd = passed_file__take(socket);
		struct stat st = {0};

		CHECK_INT(fstat(fd, &st), 0);
		CHECK_INT(passed.device, st.st_dev);
		CHECK_INT(passed.pid, getpid());
		CHECK_INT(fcntl(fd, F_GETFD), FD_CLOEXEC);
		times += st.st_ino == wanted->st_ino && st.st_dev == wanted->st_dev;
	}
	return times;
}

static void files_are_passed(void)
{
	struct unwind_keeper keeper = {.has = is_kept, .context = "context"};
	struct stat own;
	int sockets[2];

	CHECK_INT(stat("/proc/self/exe", &own), 0);
	CHECK_INT(passed_files__open(sockets), 0);
	keeper.socket = sockets[0];
	for (int i = 0; i < 2; i++) {
		CLEANUP_FREE struct unwind_mapped *mapped = NULL;

		kept = i ? own.st_ino : 0;
		CHECK(unwind_reader__mappings(getpid(), &avoided, &identifier, &keeper, &mapped) >
		      0);
		CHECK_INT(times_passed(sockets[1], &own), !i);
	}
	close(sockets[0]);
	close(sockets[1]);
}

/* Look for this program's map; it is passed if it is another one than before. */
static int look_for_map(struct jit_map_owner *generator, const int sockets[2], bool passed)
{
	static struct reader_child child;
	struct passed_file found;
	int err;

	CHECK_INT(jit_map_reader__start(&child, generator, sockets[0]), 0);
	err = jit_map_reader__finish(&child, generator);
	if (!CHECK_INT(passed_file__peek(sockets[1], &found), passed) || !passed)
		return err;
	CHECK_INT(found.pid, generator->pid);
	CHECK_INT(found.program, generator->program);
	passed_file__drop(sockets[1]);
	return err;
}

static void maps_are_passed(void)
{
	struct jit_map_owner generator = {.pid = getpid()}, other;
	struct proc_stat now;
	char path[64];
	int sockets[2], fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	CHECK_INT(proc_stat__read(getpid(), &now), 0);
	CHECK_INT(passed_files__open(sockets), 0);
	generator.program = now.start_stack;
	CHECK_INT(look_for_map(&generator, sockets, false), -ENOENT);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		tap_skip("files cannot be made in /tmp");
		return;
	}
	other = generator;
	other.program++;
	CHECK_INT(look_for_map(&other, sockets, false), -ESRCH);
	CHECK_INT(look_for_map(&generator, sockets, true), 0);
	CHECK(generator.inode != 0);
	CHECK_INT(look_for_map(&generator, sockets, false), 0);
	/* It is made anew, while the other one is still open. */
	unlink(path);
	close(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	CHECK_INT(look_for_map(&generator, sockets, true), 0);
	unlink(path);
	close(fd);
	close(sockets[0]);
	close(sockets[1]);
}

/* Nobody takes them: then it does not wait. What is dropped is not taken. */
static void too_many_files_are_passed(void)
{
	const struct passed_file sent = {.device = 7, .pid = 8};
	struct passed_file passed;
	int sockets[2], nr = 0, err;

	CHECK_INT(passed_files__open(sockets), 0);
	while ((err = passed_file__send(sockets[0], &sent, STDERR_FILENO)) == 0 && nr < 1000000)
		nr++;
	CHECK_INT(err, -EAGAIN);
	CHECK(nr >= 100);
	for (int i = 0; i < nr; i++) {
		CHECK_INT(passed_file__peek(sockets[1], &passed), 1);
		passed_file__drop(sockets[1]);
	}
	CHECK_INT(passed.device, 7);
	CHECK_INT(passed.pid, 8);
	CHECK_INT(passed_file__peek(sockets[1], &passed), 0);
	close(sockets[0]);
	CHECK_INT(passed_file__peek(sockets[1], &passed), -EPIPE);
	close(sockets[1]);
}

/* A child of ours that has ended, and has been waited for: nobody has its PID again that soon. */
static pid_t ended_process(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return child;
}

static void ended(void)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;

	CHECK_INT(unwind_reader__mappings(ended_process(), &avoided, &identifier, &nobody, &mapped),
		  -ESRCH);
	CHECK(!mapped);
}

/* ---- tables ---- */

struct received {
	uint64_t start, nr_announced_rows;
	uint32_t nr_pages, nr_rules, nr_rows;
	struct unwind_rule *rules;
	const struct unwind_table *expected; /* NULL: nothing */
	const struct unwind_rules *expected_rules;
	uint32_t wrong;
	int refuse; /* what page() returns */
};

static int begin(void *context, const struct unwind_table_head *head)
{
	struct received *received = context;
	const struct unwind_rules *expected = received->expected_rules;

	received->start = head->start;
	received->nr_announced_rows = head->nr_rows;
	received->nr_pages = head->nr_pages;
	received->nr_rules = head->nr_rules;
	if (expected)
		CHECK(head->nr_rules == expected->nr &&
		      !memcmp(head->rules, expected->items, expected->nr * sizeof(*head->rules)));
	return 0;
}

static int page(void *context, uint32_t number, const uint32_t *rows, uint32_t nr)
{
	struct received *received = context;
	const struct unwind_table *table = received->expected;

	received->nr_rows += nr;
	if (table && (number >= table->nr_pages || nr != table->pages[number].nr ||
		      memcmp(rows, table->rows + table->pages[number].first, nr * sizeof(*rows))))
		received->wrong++;
	return received->refuse;
}

static int read_table(pid_t pid, const struct unwind_mapped *mapped, struct received *received)
{
	const struct unwind_sink sink = {.context = received, .begin = begin, .page = page};
	struct unwind_table_reader *reader;
	int err = unwind_table_reader__start(&reader, pid, mapped, &avoided);

	return err ? err : unwind_table_reader__finish(reader, &sink);
}

/* The table is as this program reads it from fd, which becomes closed. */
static void check_table(const struct unwind_mapped *mapped, int owned_fd)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(unwind_table__release) struct unwind_table table = {0};
	CLEANUP(unwind_rules__release) struct unwind_rules rules = {0};
	struct received received = {.expected = &table, .expected_rules = &rules};
	CLEANUP_CLOSE int fd = owned_fd;
	uint64_t work = UINT64_MAX;

	if (!CHECK(fd >= 0 && mapped) || !CHECK_INT(elf_file__open(&elf, fd), 0))
		return;
	CHECK_INT(unwind_rules__init(&rules), 0);
	CHECK_INT(unwind_table__read(&table, &rules, &elf, &work), 0);
	CHECK_INT(read_table(getpid(), mapped, &received), 0);
	CHECK_INT(received.start, table.start);
	CHECK_INT(received.nr_pages, table.nr_pages);
	CHECK_INT(received.nr_rows, table.nr_rows);
	CHECK_INT(received.nr_announced_rows, table.nr_rows);
	CHECK(received.nr_rows > 3);
	CHECK_INT(received.wrong, 0);
}

static void own_tables(void)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int nr = unwind_reader__mappings(getpid(), &avoided, &identifier, &nobody, &mapped);
	const struct unwind_mapped *own = find(mapped, nr, (void *)own_tables);
	const struct unwind_mapped *libc = find(mapped, nr, (void *)qsort);

	check_table(own, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
	if (libc && libc != own)
		check_table(libc, open(libc->path, O_RDONLY | O_CLOEXEC));
	if (getauxval(AT_SYSINFO_EHDR))
		check_table(find(mapped, nr, (void *)(getauxval(AT_SYSINFO_EHDR) + 0x800)),
			    vdso__open());
}

/* Read this program's own table as pid's, by a child that runs child(); returns the error. */
static int own_table_of(pid_t pid, void (*child)(void), struct received *received)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int nr = unwind_reader__mappings(getpid(), &avoided, &identifier, &nobody, &mapped),
	    err = -ENOENT;
	const struct unwind_mapped *own = find(mapped, nr, (void *)own_table_of);

	*received = (struct received){.refuse = received->refuse};
	inside = child;
	if (CHECK(own != NULL))
		err = read_table(pid, own, received);
	inside = NULL;
	return err;
}

/* Then it is found by its path. */
static void ended_with_a_path(void)
{
	struct received received = {.refuse = 0};

	CHECK_INT(own_table_of(ended_process(), NULL, &received), 0);
	CHECK(received.nr_rows > 3);
}

static void refused_by_the_sink(void)
{
	struct received received = {.refuse = -E2BIG};

	CHECK_INT(own_table_of(getpid(), NULL, &received), -E2BIG);
}

/* ---- other files ---- */

static char directory[] = "/tmp/test_unwind_reader.XXXXXX";
static char path[sizeof(directory) + 16];

static void remove_directory(void)
{
	unlink(path);
	rmdir(directory);
	memcpy(directory + sizeof(directory) - 7, "XXXXXX", 6);
}

static void write_bytes(const char *text)
{
	CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && dprintf(fd, "%s", text) > 0);
	CHECK_INT(ftruncate(fd, (off_t)page_size()), 0);
}

/* As if it were a program. */
static void write_file(const char *text)
{
	char bytes[64];

	snprintf(bytes, sizeof(bytes), ELFMAG "%s", text);
	write_bytes(bytes);
}

/*
 * The mapping of the file that is there, as it is found in this program; *at becomes its memory,
 * which is executable.
 */
static struct unwind_mapped map_file(void **at)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	const struct unwind_mapped *found;
	int nr;

	*at = mmap(NULL, page_size(), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	nr = unwind_reader__mappings(getpid(), &avoided, &identifier, &nobody, &mapped);
	found = find(mapped, nr, *at);
	CHECK(found && found->source == UNWIND_SOURCE_FILE);
	return found ? *found : (struct unwind_mapped){.start = 0};
}

/* Map a new file, in a directory that is to be removed. */
static struct unwind_mapped map_new_file(void **at)
{
	CHECK(mkdtemp(directory) != NULL);
	snprintf(path, sizeof(path), "%s/file", directory);
	write_file("no program");
	return map_file(at);
}

static void no_program(void)
{
	struct received received = {.nr_rows = 0};
	void *at;
	struct unwind_mapped mapped = map_new_file(&at);

#ifndef __SANITIZE_ADDRESS__ /* which ends such a child in the sandbox */
	CHECK_INT(read_table(getpid(), &mapped, &received), -ENOEXEC);
#endif
	/* A file that is not mapped there any more is not taken for the mapped one. */
	munmap(at, page_size());
	mapped.inode++;
	CHECK_INT(read_table(getpid(), &mapped, &received), -ESTALE);
	remove_directory();
}

static bool skip_unless_root(void)
{
	if (geteuid())
		tap_skip("only root opens mapped files by their addresses");
	return geteuid();
}

/* As by an upgrade: the same file is mapped, though its inode has been changed. */
static void renamed(void)
{
	struct received received = {.nr_rows = 0};
	char other[sizeof(path) + 8];
	void *at;
	struct unwind_mapped mapped, again;

	if (skip_unless_root())
		return;
	mapped = map_new_file(&at);
	munmap(at, page_size());
	CHECK_INT(chmod(path, 0400), 0);
	snprintf(other, sizeof(other), "%s.old", path);
	CHECK_INT(link(path, other), 0);
	again = map_file(&at);
	CHECK(file_identity__has_content_of(&mapped.identity, &again.identity));
	unlink(path);
	unlink(other);
	CHECK(read_table(getpid(), &again, &received) != -ESTALE);
	munmap(at, page_size());
	remove_directory();
}

static void replaced(void)
{
	struct received received = {.nr_rows = 0};
	void *at;
	struct unwind_mapped mapped = map_new_file(&at);

	/* Written to, though it is mapped. */
	write_file("nor now");
	CHECK_INT(read_table(getpid(), &mapped, &received), -ESTALE);
	/* By another file of that name, when the process has gone. */
	mapped = map_file(&at);
	unlink(path);
	write_file("another");
	CHECK_INT(read_table(ended_process(), &mapped, &received), -ESTALE);
	/* A FIFO has no writer, and is not waited for. */
	unlink(path);
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK(read_table(ended_process(), &mapped, &received) == -EINVAL);
	unlink(path);
	/* Not -ENOENT, as a file that has no table. */
	CHECK_INT(read_table(ended_process(), &mapped, &received), -ESTALE);
	munmap(at, page_size());
	remove_directory();
}

/* ---- files that are looked for ---- */

/* The path of the file below the root of its file system, which can be above our root. */
static char *place_of_file(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/mountinfo", "re");
	struct statx status = {0};
	unsigned long long id;
	char *place = NULL;

	CHECK_INT(statx(AT_FDCWD, directory, 0, STATX_MNT_ID, &status), 0);
	for (char *line = NULL; !place && file && fscanf(file, "%m[^\n]\n", &line) == 1;
	     free(line)) {
		CLEANUP_FREE char *root = NULL;
		CLEANUP_FREE char *point = NULL;

		if (sscanf(line, "%llu %*u %*u:%*u %ms %ms", &id, &root, &point) == 3 &&
		    id == status.stx_mnt_id &&
		    asprintf(&place, "%s%s", strcmp(root, "/") ? root : "",
			     path + (strcmp(point, "/") ? strlen(point) : 0)) < 0)
			place = NULL;
	}
	/* After chroot() no line is of our root, and files are looked for below it. */
	return place ? place : strdup(path);
}

/* A look for the file, as it is known before it was found, by who has it at that address. */
static struct unwind_look look_for(const struct unwind_mapped *mapped, pid_t pid, const void *at)
{
	CLEANUP_FREE char *place = place_of_file();
	struct unwind_look look = {
		.pid = pid, .start = (uint64_t)(uintptr_t)at, .file = mapped->file};

	CHECK(place != NULL);
	unwind_path__set(look.place, place ? place : "");
	return look;
}

static void check_looks(struct unwind_look *looks, size_t nr)
{
	CHECK_INT(unwind_reader__look(looks, nr, &avoided, &identifier, &nobody), (int)nr);
}

static void check_look(struct unwind_look look, uint32_t source)
{
	check_looks(&look, 1);
	CHECK_INT(look.mapped.source, source);
}

static void looked_for_in_process(void)
{
	void *at;
	struct unwind_mapped mapped = map_new_file(&at);
	struct unwind_look looks[] = {look_for(&mapped, getpid(), at),
				      look_for(&mapped, getpid(), at)};

	/* What is there in the place of a file that is gone. */
	looks[1].file.generation++;
	check_looks(looks, ARRAY_SIZE(looks));
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
		CHECK(!memcmp(&looks[i].mapped, &mapped, offsetof(struct unwind_mapped, path)));
		CHECK_STR(looks[i].mapped.path, path);
	}
	/* Written to since the walk, and no program. */
	write_bytes("none");
	check_look(looks[0], UNWIND_SOURCE_OTHER);
	munmap(at, page_size());
	check_look(looks[0], UNWIND_SOURCE_NONE);
	remove_directory();
}

static void looked_for_where_mounted(void)
{
	void *at;
	struct unwind_mapped mapped = map_new_file(&at);
	struct unwind_look look = look_for(&mapped, ended_process(), at), other = look;

	munmap(at, page_size());
	check_looks(&look, 1);
	CHECK_INT(look.mapped.source, UNWIND_SOURCE_FILE);
	CHECK(!memcmp(&look.mapped.identity, &mapped.identity, sizeof(mapped.identity)));
	CHECK_STR(look.mapped.path, path);
	CHECK_INT(look.mapped.device, mapped.device);
	CHECK_INT(look.mapped.inode, mapped.inode);
	/* Another file, by any part of what the kernel knows. */
	other.file.generation++;
	check_look(other, UNWIND_SOURCE_NONE);
	other = look;
	other.file.device++;
	check_look(other, UNWIND_SOURCE_NONE);
	unlink(path);
	check_look(look, UNWIND_SOURCE_NONE);
	remove_directory();
}

/* ---- file systems that do not answer ---- */

static void wait_for_ever(void)
{
	pause();
}

static int own_vdso_table(void (*child)(void))
{
	const struct unwind_mapped vdso = {.source = UNWIND_SOURCE_VDSO};
	struct received received = {.nr_rows = 0};
	int err;

	inside = child;
	err = read_table(getpid(), &vdso, &received);
	inside = NULL;
	return err;
}

static bool is_quick(uint64_t start)
{
	return monotonic_now() - start < 900000000;
}

/* Map executable memory from a file on no disk; this program has nothing else from its device. */
static void *map_memory_file(void)
{
	CLEANUP_CLOSE int fd = memfd_create("hanging", MFD_CLOEXEC);
	void *at;

	CHECK_INT(ftruncate(fd, (off_t)page_size()), 0);
	at = mmap(NULL, page_size(), PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	CHECK(at != MAP_FAILED);
	return at;
}

static void check_sources(void *at, uint32_t expected)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;
	int nr = unwind_reader__mappings(getpid(), &avoided, &identifier, &nobody, &mapped);
	const struct unwind_mapped *found = find(mapped, nr, at);
	const struct unwind_mapped *own = find(mapped, nr, (void *)check_sources);
	const struct unwind_mapped *libc = find(mapped, nr, (void *)qsort);

	if (!CHECK(found && own && libc))
		return;
	CHECK_INT(found->source, expected);
	CHECK_INT(own->source, UNWIND_SOURCE_FILE);
	CHECK_INT(libc->source, UNWIND_SOURCE_FILE);
	hanging = found->device;
}

/* Mappings around those of the file system are told, and it is not asked again. */
static void no_answer(void)
{
	struct received received = {.nr_rows = 0};
	struct unwind_mapped mapped = {.source = UNWIND_SOURCE_FILE, .inode = 1};
	uint64_t start;
	void *at;

	if (skip_unless_root())
		return;
	at = map_memory_file();
	seen->nr_hung = 0;
	check_sources(at, UNWIND_SOURCE_OTHER);
	check_sources(at, UNWIND_SOURCE_NONE);
	CHECK_INT(seen->nr_hung, 1);
	CHECK_INT(avoided.nr, 1);
	CHECK(avoided.devices[0] == hanging && major(hanging) == 0);
	start = monotonic_now();
	check_sources(at, UNWIND_SOURCE_NONE);
	mapped.device = hanging;
	CHECK_INT(read_table(getpid(), &mapped, &received), -ETIMEDOUT);
	check_look((struct unwind_look){.pid = getpid(), .start = (uint64_t)(uintptr_t)at},
		   UNWIND_SOURCE_NONE);
	CHECK(is_quick(start));
	CHECK_INT(seen->nr_hung, 1);
	munmap(at, page_size());
	hanging = 0;
	avoided.nr = 0;
}

/* A look that hangs leaves the others as they are. */
static void no_answer_of_look(void)
{
	void *memory = map_memory_file(), *at;
	struct unwind_mapped mapped = map_new_file(&at);
	struct unwind_look looks[] = {look_for(&mapped, getpid(), memory),
				      look_for(&mapped, getpid(), at)};

	looks[0].file.generation++; /* it is not found by its path */
	check_looks(looks, 1);
	CHECK_INT(looks[0].mapped.source, UNWIND_SOURCE_OTHER);
	hanging = looks[0].mapped.device;
	seen->nr_hung = 0;
	check_looks(looks, ARRAY_SIZE(looks));
	CHECK_INT(looks[0].mapped.source, UNWIND_SOURCE_NONE);
	CHECK_INT(looks[1].mapped.source, UNWIND_SOURCE_FILE);
	CHECK_INT(seen->nr_hung, 1);
	CHECK_INT(avoided.nr, 1);
	munmap(memory, page_size());
	munmap(at, page_size());
	remove_directory();
	hanging = 0;
	avoided.nr = 0;
}

/* The same where somebody asks for a file; a disk is asked the next time, too. */
static void no_answer_of_file(void)
{
	static const struct {
		unsigned int major, nr_avoided;
	} devices[] = {{0, 1}, {8, 0}};

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
		struct received received = {.nr_rows = 0};
		struct unwind_mapped mapped = {.source = UNWIND_SOURCE_FILE, .inode = 1};

		hanging = mapped.device = makedev(devices[i].major, 77);
		seen->nr_hung = 0;
		CHECK_INT(read_table(getpid(), &mapped, &received), -ETIMEDOUT);
		CHECK_INT(avoided.nr, devices[i].nr_avoided);
		CHECK_INT(seen->nr_hung, 1);
		avoided.nr = 0;
	}
	hanging = 0;
}

/* A child that is stopped while it reads no file says nothing about a device: the vDSO has none. */
static void no_answer_of_memory(void)
{
	CHECK_INT(own_vdso_table(wait_for_ever), -ETIMEDOUT);
	CHECK_INT(avoided.nr, 0);
	CHECK(own_vdso_table(NULL) != -ETIMEDOUT);
}

/* After so many that do not answer, no others are trusted, either. */
/* No user can make more disks. */
static void too_many_avoided(void)
{
	CHECK(!avoided_devices__has(&avoided, makedev(0, 77)));
	avoided.nr = AVOIDED_DEVICES_MAX;
	CHECK(avoided_devices__has(&avoided, makedev(0, 77)));
	CHECK(!avoided_devices__has(&avoided, makedev(8, 1)));
	CHECK(!avoided_devices__add(&avoided, makedev(0, 77)));
	avoided.nr = 0;
}

/* ---- children ---- */

static void own_children(void)
{
	CLEANUP_FREE struct unwind_mapped *mapped = NULL;

	CHECK(unwind_reader__mappings(getpid(), &avoided, &identifier, &nobody, &mapped) > 0);
	CHECK(seen->last != getpid() && reader_child__is_own(seen->last));
	CHECK(!reader_child__is_own(getpid()));
	CHECK(!reader_child__is_own(ended_process()));
}

static void send_bytes(const void *bytes, size_t size)
{
	if (write(0, bytes, size) != (ssize_t)size)
		_exit(1);
}

/*
 * The beginning of a table: a result, how many rules and pages, where they begin, and how
 * many rows they have.
 */
static void send_header(int32_t result, uint32_t rules, uint32_t pages, uint64_t start,
			uint64_t rows)
{
	const uint32_t numbers[] = {(uint32_t)result, 0, rules, pages};

	send_bytes(numbers, sizeof(numbers));
	send_bytes(&start, sizeof(start));
	send_bytes(&rows, sizeof(rows));
}

static void be_killed(void)
{
	kill(getpid(), SIGKILL);
}

static void end_early(void)
{
	send_header(0, 0, 1, 0, 1);
	_exit(0);
}

static void compute_for_long(void)
{
	uint64_t end = monotonic_now() + 1500000000;

	while (monotonic_now() < end)
		;
}

/* On a busy machine one that was killed may end later than it is waited for. */
static bool all_have_ended(void)
{
	for (int waited = 0; waited < 5000; waited++) {
		if (waitpid(-1, NULL, WNOHANG) < 0)
			return true;
		usleep(1000);
	}
	return false;
}

static void children(void)
{
	struct received received = {.nr_rows = 0};
	uint64_t start = monotonic_now();

	CHECK_INT(own_table_of(getpid(), be_killed, &received), -EPIPE);
	CHECK_INT(own_table_of(getpid(), end_early, &received), -EPIPE);
	CHECK_INT(own_table_of(getpid(), wait_for_ever, &received), -ETIMEDOUT);
	CHECK(monotonic_now() - start < 5000000000);
	/* A child that computes makes progress, and nobody else waits for it. */
	CHECK_INT(own_table_of(getpid(), compute_for_long, &received), 0);
	CHECK(received.nr_rows > 3);
	CHECK(all_have_ended());
}

/* ---- nonsense ---- */

static struct {
	int32_t result;
	uint32_t rules, pages, nr;
	uint64_t start;
	uint32_t rows[3];
} nonsense;

static void send_nonsense(void)
{
	static const char zeros[4096];

	send_header(nonsense.result, nonsense.rules, nonsense.pages, nonsense.start, nonsense.nr);
	send_bytes(zeros, nonsense.rules * sizeof(struct unwind_rule));
	if (nonsense.pages) {
		send_bytes(&nonsense.nr, sizeof(nonsense.nr));
		send_bytes(nonsense.rows, nonsense.nr * sizeof(nonsense.rows[0]));
	}
	_exit(0);
}

/* Rules, and rows of one page: a rule and where it begins in turn, up to -1. */
static int sent_rows(uint32_t rules, const int *rows)
{
	struct received received = {.nr_rows = 0};

	memset(&nonsense, 0, sizeof(nonsense));
	nonsense.rules = rules;
	nonsense.pages = 1;
	for (; rows[0] >= 0; rows += 2)
		nonsense.rows[nonsense.nr++] = unwind_row((uint32_t)rows[0], (uint32_t)rows[1]);
	return own_table_of(getpid(), send_nonsense, &received);
}

static int sent_header(int32_t result, uint32_t rules, uint32_t pages, uint64_t start)
{
	struct received received = {.nr_rows = 0};

	memset(&nonsense, 0, sizeof(nonsense));
	nonsense.result = result;
	nonsense.start = start;
	/* Behind the header nothing is read. */
	nonsense.rules = rules;
	nonsense.pages = pages;
	return own_table_of(getpid(), send_nonsense, &received);
}

static void nonsense_test(void)
{
	CHECK_INT(sent_rows(2, (const int[]){0, 0, 1, 5, -1}), 0);
	CHECK_INT(sent_rows(2, (const int[]){-1}), 0);
	CHECK_INT(sent_rows(2, (const int[]){0, 0, 2, 5, -1}), -EPROTO);
	CHECK_INT(sent_rows(2, (const int[]){0, 1, 1, 5, -1}), -EPROTO);
	CHECK_INT(sent_rows(2, (const int[]){0, 0, 1, 5, 0, 5, -1}), -EPROTO);
	CHECK_INT(sent_rows(2, (const int[]){0, 0, 1, 5, 0, 4, -1}), -EPROTO);
	CHECK_INT(sent_rows(0, (const int[]){0, 0, -1}), -EPROTO);
	CHECK_INT(sent_header(0, 3, 0, 0), 0);
	CHECK_INT(sent_header(5, 0, 0, 0), -EPROTO);
	CHECK_INT(sent_header(-EBADMSG, 0, 0, 0), -EBADMSG);
	CHECK_INT(sent_header(0, 0, UNWIND_TABLE_PAGES_MAX + 1, 0), -EPROTO);
	CHECK_INT(sent_header(0, 0, 0, 0x1000), -EPROTO);
}

static void too_many_rows(void)
{
	const uint32_t nr = 65537;

	send_header(0, 0, 1, 0, nr);
	send_bytes(&nr, sizeof(nr));
	wait_for_ever();
}

static void too_many_rules(void)
{
	send_header(0, UNWIND_RULES + 1, 0, 0, 0);
	wait_for_ever();
}

static void too_many_announced_rows(void)
{
	send_header(0, 0, 0, 0, UNWIND_TABLE_ROWS_MAX + 1);
	wait_for_ever();
}

static void too_much_test(void)
{
	struct received received = {.nr_rows = 0};

	CHECK_INT(own_table_of(getpid(), too_many_rows, &received), -EPROTO);
	CHECK_INT(own_table_of(getpid(), too_many_rules, &received), -EPROTO);
	CHECK_INT(own_table_of(getpid(), too_many_announced_rows, &received), -EPROTO);
}

/* ---- paths ---- */

static void paths(void)
{
	char whole[400], first[UNWIND_PATH_MAX], second[UNWIND_PATH_MAX];

	memset(whole, 'x', sizeof(whole));
	whole[UNWIND_PATH_MAX - 1] = '\0';
	unwind_path__set(first, whole);
	CHECK_STR(first, whole);
	whole[UNWIND_PATH_MAX - 1] = 'x';
	whole[UNWIND_PATH_MAX] = '\0';
	unwind_path__set(first, whole);
	CHECK(first[0] == '#' && strlen(first) == 17);
	whole[UNWIND_PATH_MAX - 1] = 'y';
	unwind_path__set(second, whole);
	CHECK(strcmp(first, second) != 0);
	unwind_path__set(second, "");
	CHECK_STR(second, "");
}

static const struct tap_test tests[] = {
	{"mappings are those of the process", own_mappings},
	{"a file is known by what stat() says", identities},
	{"a process that has ended has none", ended},
	{"programs are passed to who keeps them, unless it has them", files_are_passed},
	{"more than it takes are not waited for", too_many_files_are_passed},
	{"so are the JIT maps of programs, whenever there is another one", maps_are_passed},
	{"tables are those of the files", own_tables},
	{"a process that has ended leaves a path", ended_with_a_path},
	{"who takes a table can refuse it", refused_by_the_sink},
	{"a file that is no program", no_program},
	{"a file that is the same under another name", renamed},
	{"a file that is another one by now", replaced},
	{"a file is looked for where a process has it", looked_for_in_process},
	{"a file that nobody has mapped is found by its path", looked_for_where_mounted},
	{"a file system that does not answer is avoided", no_answer},
	{"others are found beside it", no_answer_of_look},
	{"a disk never is", no_answer_of_file},
	{"what has no file never is", no_answer_of_memory},
	{"there are so many that do not answer", too_many_avoided},
	{"children are known", own_children},
	{"children that end, wait, or take their time", children},
	{"a table that is not sound is refused", nonsense_test},
	{"so is what is too much of it", too_much_test},
	{"long paths are shortened", paths},
};

int main(void)
{
	seen = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	return TAP_RUN(tests);
}
