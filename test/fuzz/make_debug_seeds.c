// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make_debug_seeds DIRECTORY: write the seeds of fuzz_debug_data, images of what compilers
 * made for the unit tests, in FIXTURES.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/dwarf/image.h"
#include "sym/elf/file.h"
#include "sym/util/cleanup.h"
#include "test/fuzz/seed.h"

static int write_image(const char *directory, const char *name, const struct elf_file *elf)
{
	struct debug_image image;
	struct debug_plan plan;
	uint64_t work = UINT64_MAX;
	int err = debug_plan__make(&plan, elf, false);

	if (!err)
		err = debug_image__load(&image, &plan, &work);
	if (err) {
		fprintf(stderr, "%s: %s\n", name, strerror(-err));
		return 1;
	}
	err = seed__write(directory, name, image.bytes, image.size);
	debug_image__release(&image);
	return err;
}

static int write_seed(const char *directory, const char *name)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP_CLOSE int fd = -1;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", FIXTURES, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_file__open(&elf, fd)) {
		fprintf(stderr, "%s cannot be read\n", path);
		return 1;
	}
	return write_image(directory, name, &elf);
}

int main(int argc, char **argv)
{
	CLEANUP_FREE char *names = strdup(PROGRAMS);
	char *state = NULL;
	int err = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: make_debug_seeds DIRECTORY\n");
		return 1;
	}
	for (char *name = strtok_r(names, " ", &state); name && !err;
	     name = strtok_r(NULL, " ", &state))
		err = write_seed(argv[1], name);
	return err;
}
