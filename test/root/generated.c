// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that is generated into memory of any kind, and run there: generated KIND [FILE]. Or, as
 * generated changing, files that look like programs and are written to all the time, among 4,090
 * others.
 *
 * Stacks are main > call_generated > the code, which keeps a frame pointer; the rest does not, and
 * has call-frame information. The JIT map calls the code generated_code. Exit status: 77 if the
 * machine does not have that kind of memory.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

#include "machine_code.h"

/* Of huge pages it is one. */
#define SIZE	  ((size_t)2 << 20)
#define CODE_STEP 4096

static void *map(int fd, int flags)
{
	return mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC, flags, fd, 0);
}

static void *map_file(int fd)
{
	return fd < 0 || ftruncate(fd, (off_t)SIZE) ? MAP_FAILED : map(fd, MAP_SHARED);
}

static void *map_memory_file(unsigned int flags)
{
	return map_file(memfd_create("generated", MFD_CLOEXEC | flags));
}

static void *map_path(const char *path)
{
	return map_file(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
}

static void *map_deleted(const char *path)
{
	void *memory = map_path(path);

	unlink(path);
	return memory;
}

static void *map_zero(int flags)
{
	return map(open("/dev/zero", O_RDWR | O_CLOEXEC), flags);
}

/* Shared memory of System V, which is gone when this process is. */
static void *map_sysv(int flags)
{
	int id = shmget(IPC_PRIVATE, SIZE, IPC_CREAT | 0600 | flags);
	void *memory = id < 0 ? MAP_FAILED : shmat(id, NULL, SHM_EXEC);

	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	return memory;
}

static void *map_kind(const char *kind, const char *path)
{
	if (!strcmp(kind, "anonymous"))
		return map(-1, MAP_PRIVATE | MAP_ANONYMOUS);
	if (!strcmp(kind, "shared"))
		return map(-1, MAP_SHARED | MAP_ANONYMOUS);
	if (!strcmp(kind, "huge"))
		return map(-1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
	if (!strcmp(kind, "memfd"))
		return map_memory_file(0);
	if (!strcmp(kind, "memfd-huge"))
		return map_memory_file(MFD_HUGETLB);
	if (!strcmp(kind, "zero"))
		return map_zero(MAP_PRIVATE);
	if (!strcmp(kind, "zero-shared"))
		return map_zero(MAP_SHARED);
	if (!strcmp(kind, "sysv"))
		return map_sysv(0);
	if (!strcmp(kind, "sysv-huge"))
		return map_sysv(SHM_HUGETLB);
	if (!strcmp(kind, "file"))
		return map_path(path);
	if (!strcmp(kind, "deleted"))
		return map_deleted(path);
	errno = EINVAL;
	return MAP_FAILED;
}

static int write_jit_map(const void *memory)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	file = fopen(path, "we");
	if (!file)
		return -1;
	fprintf(file, "%lx %zx generated_code\n", (unsigned long)(uintptr_t)memory, SIZE);
	return fclose(file);
}

__attribute__((noinline)) static void call_generated(void (*generated)(void))
{
	generated();
	__asm__ volatile(""); /* no jump instead of the call */
}

#define OTHERS	 4090
#define CHANGING 16
#define PAGE	 4096
#define CODE_AT	 64
#define PAUSE_MS 50

static int64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The memory of a new file with that content, or NULL. */
static char *map_page(const char *content, int *fd)
{
	void *memory;

	*fd = memfd_create("changing", MFD_CLOEXEC);
	if (*fd < 0 || pwrite(*fd, content, PAGE, 0) != PAGE)
		return NULL;
	memory = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, *fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static int run_changing(void)
{
	char content[PAGE] = ELFMAG, *codes[CHANGING];
	int64_t written = 0;
	int fds[CHANGING];

	put_code(content + CODE_AT, code_count, sizeof(code_count));
	for (int i = 0; i < OTHERS; i++) {
		int fd;

		if (!map_page(content, &fd))
			return 77;
		close(fd);
	}
	for (int i = 0; i < CHANGING; i++) {
		codes[i] = map_page(content, &fds[i]);
		if (!codes[i])
			return 77;
	}
	for (int i = 0;; i = (i + 1) % CHANGING) {
		bool is_time = milliseconds() - written >= PAUSE_MS;

		for (int j = 0; j < CHANGING && is_time; j++)
			if (pwrite(fds[j], "", 1, PAGE - 1) != 1)
				return 1;
		if (is_time)
			written = milliseconds();
		call_generated((void (*)(void))(uintptr_t)(codes[i] + CODE_AT));
	}
}

/* As in compilers: always at another place, so that a file is always written to. */
int main(int argc, char **argv)
{
	char *memory;

	if (argc > 1 && !strcmp(argv[1], "changing"))
		return run_changing();
	memory = argc > 1 ? map_kind(argv[1], argc > 2 ? argv[2] : "") : MAP_FAILED;
	if (memory == MAP_FAILED) {
		perror("generated");
		return 77;
	}
	if (write_jit_map(memory))
		return 1;
	for (size_t at = 0;; at = (at + CODE_STEP) % SIZE) {
		put_code(memory + at, code_count, sizeof(code_count));
		call_generated((void (*)(void))(uintptr_t)(memory + at));
	}
}
