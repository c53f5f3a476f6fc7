// SPDX-License-Identifier: GPL-2.0-or-later
/* The report about a file whose names cannot be had. */
#include "sym/address/file_names.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sym/child/supervisor.h"
#include "sym/process/rooted.h"
#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/cleanup.h"
#include "test/unit/section_file.h"
#include "test/unit/tap.h"

/* True if a file with one section of that name is reported to lack names. */
static bool is_left_out(const char *name)
{
	static const struct avoid_list avoided;
	static const struct sym_settings settings;
	CLEANUP(section_file__close) struct section_file file = {.elf.fd = -1};
	CLEANUP(arena__release) struct arena arena = {0};
	const struct file_section section = {.name = name, .bytes = "no xz stream", .size = 12};
	struct progress progress = {.work = ELF_SYMBOLS_WORK};
	const struct supervisor supervisor = {.avoided = &avoided, .progress = &progress};
	struct file_names names = {.settings = &settings,
				   .supervisor = &supervisor,
				   .names = &arena,
				   .debug_files = {.symfs = -1}};
	struct elf_lookup lookup = {.address = 0x1000};
	struct sym_file sym_file = {.path = "/no/such/file", .root = ROOTED_OURS};

	section_file__make(&file, &section, 1);
	section_file__open(&file);
	sym_file.elf = file.elf;
	CHECK_INT(file_names__find(&names, &sym_file, &lookup, 1), 0);
	CHECK(lookup.name == NULL);
	return progress.left_out;
}

static void no_symbols(void)
{
	CHECK(!is_left_out(".comment"));
	CHECK(!is_left_out(".gnu_debugdata"));
}

/* There is a descriptor for the file, and none for what would be inflated. */
static void no_descriptors(void)
{
	int free = fcntl(0, F_DUPFD, 0);
	struct rlimit before, few;

	close(free);
	getrlimit(RLIMIT_NOFILE, &before);
	few = (struct rlimit){.rlim_cur = (rlim_t)free + 1, .rlim_max = before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &few);
	CHECK(!is_left_out(".comment"));
	CHECK(is_left_out(".gnu_debugdata"));
	setrlimit(RLIMIT_NOFILE, &before);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"a file without symbols, or with none that make sense, is no failure", no_symbols},
		{"symbols that cannot be had for now are said to be left out", no_descriptors},
	};

	return TAP_RUN(tests);
}
