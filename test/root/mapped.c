// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does a BPF program find where an address lies, as /proc/PID/maps and stat() say?
 *
 *     mapped PID NUMBER
 *     mapped many NUMBER
 *     mapped changing NUMBER
 *
 * PID: so many addresses of that process, which maps nothing meanwhile: at random, at the edges of
 * mappings, and between them. many: of a process with thousands of mappings. changing: of one in
 * which threads map, unmap and split, those whose mappings stay.
 *
 * Prints answers that are not right, and how many are. Exit status: 1 if one is wrong, or if
 * many were missed; 77 if the kernel does not tell where it keeps mappings.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/kernel/types.h"
#include "sym/util/cleanup.h"
#include "test/root/mapped.h"

/* It needs the types. */
#include "mapped.skel.h"

#define OVERLAY 0x794c7630 /* linux/magic.h */

struct line {
	uint64_t start, end, offset, inode;
	dev_t device;
	bool executable;
	bool vdso;
};

static size_t page;
static struct line *lines;
static size_t nr_lines;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "mapped: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The text of /proc/PID/maps; the caller's. */
static char *read_maps(int pid)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64], *text = NULL;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	if (!file || getdelim(&text, &size, 0, file) < 0)
		fail(path);
	return text;
}

static void parse_maps(char *text)
{
	char *rest = NULL;

	nr_lines = 0;
	for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
		struct line line = {0};
		unsigned int major, minor;
		char mode[5];

		if (sscanf(at, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64,
			   &line.start, &line.end, mode, &line.offset, &major, &minor,
			   &line.inode) < 7)
			fail(at);
		/* It is not among the mappings of the process. */
		if (strstr(at, "[vsyscall]"))
			continue;
		line.device = makedev(major, minor);
		line.executable = mode[2] == 'x';
		line.vdso = strstr(at, "[vdso]");
		lines = realloc(lines, (nr_lines + 1) * sizeof(*lines));
		if (!lines)
			fail("realloc");
		lines[nr_lines++] = line;
	}
}

static const struct line *line_at(uint64_t address)
{
	for (size_t i = 0; i < nr_lines; i++)
		if (address >= lines[i].start && address < lines[i].end)
			return &lines[i];
	return NULL;
}

static uint64_t random_number(void)
{
	return (uint64_t)random() << 31 ^ (uint64_t)random();
}

/* In a mapping, at an edge of one, behind it, or anywhere, also where no process has any. */
static uint64_t choose_address(void)
{
	const struct line *line = &lines[random_number() % nr_lines];

	switch (random_number() % 8) {
	case 0:
		return line->start;
	case 1:
		return line->start - 1;
	case 2:
		return line->end - 1;
	case 3:
		return line->end;
	case 4:
		return line->end + random_number() % (1 << 24);
	case 5:
		return random_number() << random_number() % 8;
	default:
		return line->start + random_number() % (line->end - line->start);
	}
}

static void name_file(int pid, const struct line *line, char path[128])
{
	snprintf(path, 128, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, line->start, line->end);
}

/* Devices, and what BPF maps have, are no regular files. */
static bool can_be_program(int pid, const struct line *line)
{
	char path[128];
	struct stat st;

	name_file(pid, line, path);
	return line->inode && (stat(path, &st) || S_ISREG(st.st_mode));
}

/* How the file at the start of that mapping looks from outside; false: it cannot be opened. */
static bool look_at_file(int pid, const struct line *line, struct stat *st, bool *overlay,
			 int *generation)
{
	CLEANUP_CLOSE int fd = -1;
	struct statfs fs;
	char path[128];

	name_file(pid, line, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, st) || fstatfs(fd, &fs))
		return false;
	*overlay = fs.f_type == OVERLAY;
	if (ioctl(fd, FS_IOC_GETVERSION, generation))
		*generation = -1;
	return true;
}

static bool is_identity(int pid, const struct line *line, const struct mapped_file *file)
{
	int generation = -1;
	bool overlay = true;
	struct stat st;

	if (!look_at_file(pid, line, &st, &overlay, &generation))
		return file->inode == line->inode;
	/* What is mapped is of the file system below, of which maps and stat() say this or that. */
	if (overlay)
		return true;
	return file->inode == line->inode &&
	       makedev(file->device >> 20, file->device & 0xfffff) == line->device &&
	       file->size == (uint64_t)st.st_size && file->ctime == (uint64_t)st.st_ctim.tv_sec &&
	       file->ctime_nsec == (uint32_t)st.st_ctim.tv_nsec &&
	       (generation == -1 || file->generation == (uint32_t)generation);
}

static bool is_right(int pid, uint64_t address, const struct answer *answer)
{
	const struct line *line = line_at(address);
	const struct found_mapping *found = &answer->found;

	if (!line)
		return answer->outcome == MAPPING_NONE;
	if (found->start != line->start || found->end != line->end ||
	    !found->executable != !line->executable)
		return false;
	if (line->vdso)
		return answer->outcome == MAPPING_OF_FILE && !found->offset && !found->file.inode;
	if (!can_be_program(pid, line))
		return answer->outcome == MAPPING_ANONYMOUS;
	return answer->outcome == MAPPING_OF_FILE && found->offset == line->offset &&
	       is_identity(pid, line, &found->file);
}

static void print_wrong(uint64_t address, const struct answer *answer)
{
	const struct line *line = line_at(address);
	const struct found_mapping *found = &answer->found;

	printf("%" PRIx64 ": outcome %u%s, %llx-%llx at %llx, inode %llu; it is ", address,
	       answer->outcome, answer->changing ? " (changing)" : "",
	       (unsigned long long)found->start, (unsigned long long)found->end,
	       (unsigned long long)found->offset, (unsigned long long)found->file.inode);
	if (line)
		printf("%" PRIx64 "-%" PRIx64 " at %" PRIx64 ", inode %" PRIu64 "\n", line->start,
		       line->end, line->offset, line->inode);
	else
		printf("nowhere\n");
}

static void ask(struct mapped_bpf *skeleton, int iterator)
{
	uint32_t before = skeleton->bss->answered;
	int fd = bpf_iter_create(iterator);
	char nothing[64];

	if (fd < 0)
		fail("bpf_iter_create");
	while (read(fd, nothing, sizeof(nothing)) > 0)
		;
	close(fd);
	if (skeleton->bss->answered != before + 1) {
		fprintf(stderr, "mapped: there is no such process\n");
		exit(1);
	}
}

/* Addresses of that process, whose mappings stay. Returns how many answers are wrong. */
static long compare(struct mapped_bpf *skeleton, int iterator, int pid, long number)
{
	long right = 0, wrong = 0;

	skeleton->bss->wanted_tid = (uint32_t)pid;
	while (right + wrong < number) {
		CLEANUP_FREE char *before = read_maps(pid), *after = NULL, *parsed = strdup(before);

		parse_maps(parsed);
		for (int i = 0; i < ADDRESSES; i++)
			skeleton->bss->addresses[i] = choose_address();
		ask(skeleton, iterator);
		after = read_maps(pid);
		if (strcmp(before, after))
			continue;
		for (int i = 0; i < ADDRESSES; i++) {
			const struct answer *answer = &skeleton->bss->answers[i];
			uint64_t address = skeleton->bss->addresses[i];

			if (is_right(pid, address, answer)) {
				right++;
			} else if (wrong++ < 20) {
				print_wrong(address, answer);
			}
		}
	}
	printf("%ld answers are right, %ld are not; %zu mappings\n", right, wrong, nr_lines);
	return wrong;
}

/* ---- processes of our own ---- */

static pid_t start_child(void (*run)(void))
{
	int said[2];
	pid_t pid;
	char byte;

	if (pipe(said))
		fail("pipe");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		if (write(said[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(said[1]);
	if (pid < 0 || read(said[0], &byte, 1) != 1)
		fail("cannot start a process");
	close(said[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define MANY 3000

/* No two neighbours are alike, so none become one; some are far from the others. */
static void map_many(void)
{
	int fd = memfd_create("many", MFD_CLOEXEC),
	    device = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || device < 0 || ftruncate(fd, (off_t)(MANY * page)))
		fail("memfd");
	for (size_t i = 0; i < MANY; i++) {
		void *wanted = i % 7 ? NULL : (void *)(0x10000000000 + i * 64 * page);
		int mapped = i % 3 == 0 ? -1 : i % 5 == 0 ? device : fd;
		int flags = mapped == fd ? MAP_SHARED : MAP_PRIVATE;

		if (mmap(wanted, page, i % 2 ? PROT_READ : PROT_NONE,
			 flags | (mapped < 0 ? MAP_ANONYMOUS : 0), mapped,
			 mapped < 0 ? 0 : (off_t)(i * page)) == MAP_FAILED)
			fail("mmap");
	}
}

#define STAY	 16
#define PAGES	 4
#define CHANGERS 2

static char *stay[STAY];

/* Next to what stays, and elsewhere, so that the tree is changed all the time. */
static void *change(void *unused)
{
	for (unsigned int i = 0;; i++) {
		char *neighbour = stay[i % STAY] + PAGES * page;

		mmap(neighbour, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		munmap(neighbour, page);
		mprotect(stay[(i + 1) % STAY] - page, page,
			 i % 3 ? PROT_READ : PROT_READ | PROT_WRITE);
		/* The first does not stay whole. */
		mprotect(stay[0] + page, page, i % 2 ? PROT_READ : PROT_READ | PROT_EXEC);
	}
	return unused;
}

static void make_mappings(void)
{
	int fd = memfd_create("stays", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)(STAY * PAGES * page)))
		fail("memfd");
	for (int i = 0; i < STAY; i++) {
		/* A page before it, and one behind it. */
		char *room = mmap(NULL, (PAGES + 2) * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

		stay[i] = room + page;
		if (room == MAP_FAILED ||
		    mmap(stay[i], PAGES * page, PROT_READ, MAP_SHARED | MAP_FIXED, fd,
			 (off_t)((size_t)i * PAGES * page)) == MAP_FAILED)
			fail("mmap");
	}
}

static void start_changers(void)
{
	pthread_t thread;

	for (int i = 0; i < CHANGERS; i++)
		if (pthread_create(&thread, NULL, change, NULL))
			fail("pthread_create");
}

/* All are of one file, which is mapped in order. */
static bool is_place_in_file(int number, uint64_t address, const struct answer *answer)
{
	const struct found_mapping *found = &answer->found;
	uint64_t start = (uint64_t)stay[number];

	if (answer->outcome != MAPPING_OF_FILE || found->start < start ||
	    found->end > start + PAGES * page)
		return false;
	/* Only the first is split. */
	if (number && (found->start != start || found->end != start + PAGES * page))
		return false;
	return found->offset + (address - found->start) ==
	       (uint64_t)number * PAGES * page + (address - start);
}

static long compare_changing(struct mapped_bpf *skeleton, int iterator, long number)
{
	long right = 0, missing = 0, flagged = 0, wrong = 0;
	pid_t pid;

	make_mappings();
	pid = start_child(start_changers);
	skeleton->bss->wanted_tid = (uint32_t)pid;
	while (right + flagged + missing + wrong < number) {
		for (int i = 0; i < ADDRESSES; i++)
			skeleton->bss->addresses[i] =
				(uint64_t)stay[i % STAY] + random_number() % (PAGES * page);
		ask(skeleton, iterator);
		for (int i = 0; i < ADDRESSES; i++) {
			const struct answer *answer = &skeleton->bss->answers[i];
			uint64_t address = skeleton->bss->addresses[i];

			if (is_place_in_file(i % STAY, address, answer))
				right++;
			else if (answer->outcome == MAPPING_TORN ||
				 (answer->changing && answer->outcome == MAPPING_NONE))
				flagged++;
			else if (answer->outcome == MAPPING_NONE)
				missing++;
			else if (wrong++ < 20)
				print_wrong(address, answer);
		}
	}
	end_child(pid);
	printf("while threads map, unmap and split: %ld answers are right; %ld are not, and say "
	       "that it changes; %ld missed the mapping; %ld are wrong\n",
	       right, flagged, missing, wrong);
	/* One next to a change can be missed. */
	return wrong || missing > number / 100 ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct mapped_bpf *skeleton = mapped_bpf__open();
	struct trace_config *config;
	struct bpf_link *link;
	long number, wrong;
	int err;

	if (argc != 3 || !skeleton)
		return 2;
	page = (size_t)sysconf(_SC_PAGESIZE);
	number = atol(argv[2]);
	config = (struct trace_config *)&skeleton->rodata->config;
	err = task_layout__read(&config->task);
	if (!err)
		err = mapping_layout__read(&config->mapping);
	if (err) {
		fprintf(stderr, "mapped: %s\n", strerror(-err));
		return err == -ESRCH ? 77 : 1;
	}
	if (mapped_bpf__load(skeleton))
		fail("cannot load");
	link = bpf_program__attach_iter(skeleton->progs.look_up, NULL);
	if (!link)
		fail("cannot attach");
	if (!strcmp(argv[1], "changing")) {
		wrong = compare_changing(skeleton, bpf_link__fd(link), number);
	} else if (!strcmp(argv[1], "many")) {
		pid_t pid = start_child(map_many);

		wrong = compare(skeleton, bpf_link__fd(link), pid, number);
		end_child(pid);
	} else {
		wrong = compare(skeleton, bpf_link__fd(link), atoi(argv[1]), number);
	}
	bpf_link__destroy(link);
	mapped_bpf__destroy(skeleton);
	return wrong != 0;
}
