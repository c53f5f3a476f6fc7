// SPDX-License-Identifier: GPL-2.0-or-later
/* make_go_seeds DIRECTORY: write the seeds of fuzz_go_functions. */
#include "core/util/array.h"
#include "test/fuzz/seed.h"
#include "test/unit/go_image.h"

static const struct go_function functions[] = {{"main.main", 0},
					       {"main.(*T).Method", 0x20},
					       {"type..eq.foo", 0x28},
					       {"main.f[...]", 0x80}};

#define FUNCTIONS .functions = functions, .nr = ARRAY_SIZE(functions), .end = 0x100

static const struct {
	const char *name;
	struct go_image_spec spec;
} seeds[] = {
	{"go2", {.magic = GO_2, FUNCTIONS}},
	{"go16", {.magic = GO_16, FUNCTIONS}},
	{"go18", {.magic = GO_18, FUNCTIONS}},
	{"go20", {.magic = GO_20, FUNCTIONS}},
	{"relro", {.magic = GO_20, .in_relro = true, FUNCTIONS}},
	{"relocated", {.magic = GO_18, .text = GO_TEXT_IN_HEADER_RELOCATED, FUNCTIONS}},
	{"module", {.magic = GO_20, .text = GO_TEXT_IN_MODULE_RELOCATED, FUNCTIONS}},
	{"text", {.magic = GO_20, .text = GO_TEXT_NOWHERE, FUNCTIONS}},
};

int main(int argc, char **argv)
{
	int err = 0;

	if (argc != 2)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
		struct elf_image image = go_image__make(&seeds[i].spec);

		err |= seed__write(argv[1], seeds[i].name, image.bytes, image.size);
		elf_image__free(&image);
	}
	return err;
}
