// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make_debug_seeds DIRECTORY: write the seeds of fuzz_debug_data, images of what compilers
 * made for the unit tests, in FIXTURES. Those of packages have the sections of both files.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/dwarf/image.h"
#include "sym/elf/file.h"
#include "sym/util/cleanup.h"
#include "test/fuzz/seed.h"
#include "test/unit/section_file.h"

#define SECTIONS_MAX 32

static int open_fixture(struct elf_file *elf, const char *name)
{
	char path[4096];
	int err;

	snprintf(path, sizeof(path), "%s/%s", FIXTURES, name);
	err = elf_file__open(elf, open(path, O_RDONLY | O_CLOEXEC));
	if (err)
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
	return err;
}

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

	return open_fixture(&elf, name) || write_image(directory, name, &elf);
}

/* Append the debug data of a file to the sections of a seed. */
static size_t add_sections(struct file_section *sections, size_t nr, const struct elf_file *elf)
{
	for (size_t i = 1; i < elf->nr_sections && nr < SECTIONS_MAX; i++) {
		const struct elf_section *section = &elf->sections[i];
		const char *name = elf_file__section_name(elf, section);
		void *bytes = malloc(section->size + 1);

		if (strncmp(name, ".debug_", 7) || !bytes ||
		    elf_file__read(elf, bytes, section->size, section->offset) != section->size) {
			free(bytes);
			continue;
		}
		sections[nr++] = (struct file_section){name, bytes, section->size, 0};
	}
	return nr;
}

/* It is named after its program, and after who made it. */
static int write_package(const char *directory, const char *name)
{
	CLEANUP(section_file__close) struct section_file seed = {.elf.fd = -1};
	struct file_section sections[SECTIONS_MAX];
	CLEANUP(elf_file__close) struct elf_file program = {.fd = -1};
	CLEANUP(elf_file__close) struct elf_file package = {.fd = -1};
	char base[64];
	size_t nr;

	snprintf(base, sizeof(base), "%.*s", (int)strcspn(name, "."), name);
	if (open_fixture(&program, base) || open_fixture(&package, name))
		return 1;
	nr = add_sections(sections, 0, &program);
	nr = add_sections(sections, nr, &package);
	section_file__make(&seed, sections, nr);
	for (size_t i = 0; i < nr; i++)
		free((void *)sections[i].bytes);
	return seed__write(directory, name, seed.bytes, seed.size);
}

static int write_all(const char *directory, const char *list,
		     int (*write)(const char *directory, const char *name))
{
	CLEANUP_FREE char *names = strdup(list);
	char *state = NULL;
	int err = 0;

	for (char *name = strtok_r(names, " ", &state); name && !err;
	     name = strtok_r(NULL, " ", &state))
		err = write(directory, name);
	return err;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_debug_seeds DIRECTORY\n");
		return 1;
	}
	return write_all(argv[1], PROGRAMS, write_seed) ||
	       write_all(argv[1], PACKAGES, write_package);
}
