// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input: an ELF file with DWARF. Looked up are addresses where the seeds' functions are, and some
 * far off. The program does all of this in a sandbox; here its cost shows.
 */
#include <fcntl.h>
#include <string.h>

#include "sym/dwarf/data.h"
#include "sym/dwarf/image.h"
#include "sym/dwarf/package.h"
#include "sym/elf/file.h"
#include "test/fuzz/fuzz.h"

#define ADDRESSES  256
#define FIRST	   0x401000
#define WORK	   ((uint64_t)256 * 1024)
#define IMAGE_MAX  ((uint64_t)16 * 1024 * 1024)
#define LENGTH_MAX ((size_t)1024 * 1024)

struct answers {
	bool told[ADDRESSES];
	int input;
};

static int check_frames(void *context, size_t index, const struct debug_frame *frames, size_t nr)
{
	struct answers *answers = context;

	REQUIRE(index < ADDRESSES && !answers->told[index]);
	REQUIRE(nr > 0 && nr <= DEBUG_FRAMES_MAX);
	answers->told[index] = true;
	for (size_t i = 0; i < nr; i++) {
		REQUIRE(!frames[i].name || *frames[i].name);
		REQUIRE(!frames[i].name || strnlen(frames[i].name, LENGTH_MAX) <= LENGTH_MAX);
		REQUIRE(!frames[i].file || strlen(frames[i].file) <= LENGTH_MAX);
	}
	return 0;
}

/* The file of a split unit, if the input is no package of it: the input once more. */
static int open_file(void *context, const char *path)
{
	const struct answers *answers = context;

	REQUIRE(*path);
	return fcntl(answers->input, F_DUPFD_CLOEXEC, 0);
}

/* The split units are in the input as well. */
static void look_up(const struct debug_image *image, const struct elf_file *elf)
{
	struct debug_package package = {.elf = elf};
	struct answers answers = {.input = elf->fd};
	const struct debug_data_caller caller = {
		.context = &answers, .emit = check_frames, .open_file = open_file};
	uint64_t addresses[ADDRESSES] = {0}, work = WORK;
	struct debug_data *data;

	for (size_t i = 1; i < ADDRESSES - 1; i++)
		addresses[i] = FIRST + 4 * (uint64_t)i;
	addresses[ADDRESSES - 1] = UINT64_MAX;
	REQUIRE(debug_data__new(&data, image, NULL, &package) == 0);
	(void)debug_data__find(data, addresses, ADDRESSES, &caller, &work);
	/* Once more, with all that was kept from the first time. */
	memset(answers.told, 0, sizeof(answers.told));
	work = WORK;
	(void)debug_data__find(data, addresses, ADDRESSES, &caller, &work);
	debug_data__free(data);
	debug_package__release(&package);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct debug_image image = {0};
	struct debug_plan plan;
	struct elf_file elf;
	uint64_t work = WORK;

	if (elf_file__open(&elf, open_input(data, size)))
		return 0;
	if (debug_plan__make(&plan, &elf, false) == 0 && plan.size <= IMAGE_MAX &&
	    debug_image__load(&image, &plan, &work) == 0) {
		look_up(&image, &elf);
		debug_image__release(&image);
	}
	elf_file__close(&elf);
	return 0;
}
