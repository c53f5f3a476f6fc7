// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/vdso.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/elf/file.h"
#include "sym/process/process.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

static bool has_vdso(void)
{
	if (getauxval(AT_SYSINFO_EHDR))
		return true;
	tap_skip("the kernel maps no vDSO");
	return false;
}

/* Only the mapping of this process that begins where the kernel said is ours. */
static void own_mapping(void)
{
	CLEANUP(process__release) struct process process = {0};

	if (!has_vdso() || !CHECK_INT(process__read(&process, getpid()), 0))
		return;
	for (size_t i = 0; i < process.mappings.nr; i++) {
		const struct mapping *mapping = &process.mappings.mappings[i];

		CHECK_INT(vdso__is_ours(mapping), mapping->start == getauxval(AT_SYSINFO_EHDR));
	}
}

#define FAR 0x7ffff0000000

static void other_mappings(void)
{
	static const struct mapping mappings[] = {
		{.start = FAR, .end = FAR + 0x2000, .path = ""},
		{.start = FAR, .end = FAR + 0x2000, .path = "[vvar]"},
		{.start = FAR, .end = FAR + 0x2000, .path = "[vsyscall]"},
		{.start = FAR, .end = FAR + 0x2000, .path = "[vdso] (deleted)"},
		{.start = FAR, .end = FAR + 0x2000, .path = "/tmp/[vdso]"},
		/* A file can have that name, as seen from some roots. */
		{.start = FAR, .end = FAR + 0x2000, .path = "[vdso]", .inode = 1},
		/* The one of 32-bit processes. */
		{.start = 0xf7fc0000, .end = 0xf7fc2000, .path = "[vdso]"},
	};
	const struct mapping ours = {.start = FAR, .end = FAR + 0x2000, .path = "[vdso]"};

	if (sizeof(void *) != 8) {
		tap_skip("this program is no 64-bit one");
		return;
	}
	CHECK(vdso__is_ours(&ours));
	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++)
		tap_check(!vdso__is_ours(&mappings[i]), __FILE__, __LINE__,
			  "'%s' at %#lx is taken for ours", mappings[i].path,
			  (unsigned long)mappings[i].start);
}

static void copy_of_the_image(void)
{
	const char *image = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	CLEANUP_FREE char *copy = NULL;
	CLEANUP_CLOSE int fd = -1;
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	struct stat st;

	if (!has_vdso())
		return;
	fd = vdso__open();
	if (!CHECK(fd >= 0) || !CHECK_INT(fstat(fd, &st), 0))
		return;
	CHECK_INT(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	CHECK(st.st_size > 1024 && st.st_size < 1 << 20);
	copy = malloc((size_t)st.st_size);
	CHECK_INT(pread(fd, copy, (size_t)st.st_size, 0), st.st_size);
	CHECK(!memcmp(copy, image, (size_t)st.st_size));
	CHECK_INT(elf_file__open(&elf, fd), 0);
	CHECK(elf.nr_sections > 0 && elf.nr_segments > 0);
}

static const struct tap_test tests[] = {
	{"the vDSO of this process is ours, and nothing else of it", own_mapping},
	{"what only looks like it is not", other_mappings},
	{"its copy is an ELF file, byte for byte what the kernel has mapped", copy_of_the_image},
};

int main(void)
{
	return TAP_RUN(tests);
}
