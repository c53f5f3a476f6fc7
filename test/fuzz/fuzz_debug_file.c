// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input: the contents of the sections in which a program names, or holds, the file of its symbols.
 * The input is taken for each of them.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "sym/elf/file.h"
#include "sym/symfile/debug_link.h"
#include "sym/symfile/mini_symbols.h"
#include "test/fuzz/fuzz.h"

static const char names[] = "\0.gnu_debuglink\0.gnu_debugaltlink";

static uint32_t name_of(const char *section)
{
	uint32_t at = 1;

	while (strcmp(names + at, section))
		at += (uint32_t)strlen(names + at) + 1;
	return at;
}

static void check_link(const struct elf_file *elf)
{
	struct debug_link link = {.name = "untouched"};

	if (debug_link__read(&link, elf)) {
		REQUIRE(!strcmp(link.name, "untouched"));
		return;
	}
	REQUIRE(memchr(link.name, '\0', sizeof(link.name)));
	REQUIRE(link.name[0] && !strchr(link.name, '/'));
	REQUIRE(strcmp(link.name, ".") && strcmp(link.name, ".."));
}

static void check_alternate(const struct elf_file *elf)
{
	static struct debug_alternate alternate;

	if (debug_alternate__read(&alternate, elf))
		return;
	REQUIRE(memchr(alternate.path, '\0', sizeof(alternate.path)));
	REQUIRE(alternate.path[0]);
	REQUIRE(alternate.id.size >= 2 && alternate.id.size <= ELF_BUILD_ID_MAX);
}

#define INFLATED_MAX (1024 * 1024)

static int count_piece(void *context, const uint8_t *bytes, size_t size)
{
	size_t *total = context;

	REQUIRE(bytes && size);
	*total += size;
	return *total > INFLATED_MAX ? -E2BIG : 0;
}

/* By the child's function, but not in a child. */
static void check_mini_symbols(const uint8_t *data, size_t size)
{
	size_t total = 0;
	int err = mini_symbols__inflate(data, size, count_piece, &total);

	REQUIRE(err == 0 || err == -EBADMSG || err == -EFBIG || err == -E2BIG);
	REQUIRE((err == -E2BIG) == (total > INFLATED_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_section sections[] = {
		{.type = SHT_STRTAB, .size = sizeof(names)},
		{.name = name_of(".gnu_debuglink")},
		{.name = name_of(".gnu_debugaltlink")},
	};
	struct elf_file elf = {
		.fd = open_input((const uint8_t *)names, sizeof(names)),
		.is_64bit = true,
		.machine = EM_X86_64,
		.sections = sections,
		.nr_sections = sizeof(sections) / sizeof(sections[0]),
		.names = (char *)names,
		.names_size = sizeof(names),
	};

	REQUIRE(pwrite(elf.fd, data, size, sizeof(names)) == (ssize_t)size);
	for (size_t i = 1; i < elf.nr_sections; i++) {
		sections[i].type = SHT_PROGBITS;
		sections[i].offset = sizeof(names);
		sections[i].size = size;
	}
	check_link(&elf);
	check_alternate(&elf);
	check_mini_symbols(data, size);
	return 0;
}
