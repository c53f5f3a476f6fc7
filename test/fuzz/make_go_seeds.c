// SPDX-License-Identifier: GPL-2.0-or-later
/* make_go_seeds DIRECTORY: write seeds of fuzz_go_functions and fuzz_unwind_table. */
#include "sym/util/array.h"
#include "test/fuzz/seed.h"
#include "test/unit/cfi_bytes.h"
#include "test/unit/go_image.h"

static const struct go_function functions[] = {
	{"main.main", 0, "\x02\x10", 0},
	{"main.(*T).Method", 0x20, "\x02\x04\x30\x80\x01\x2f\x04", 0},
	{"type..eq.foo", 0x28, NULL, 0},
	{"runtime.sigreturn", 0x40, "\x02\x10", 0},
	{"main.top", 0x60, "\x02\x10", 1},
	{"main.f[...]", 0x80, "\x02\x10", 2},
};

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

static int write_image(const char *directory, const char *name, const struct go_image_spec *spec)
{
	struct elf_image image = go_image__make(spec);
	int err = seed__write(directory, name, image.bytes, image.size);

	elf_image__free(&image);
	return err;
}

int main(int argc, char **argv)
{
	static const unsigned char instructions[] = {DW_CFA_def_cfa_offset, 32};
	struct go_image_spec mixed = {.magic = GO_16, FUNCTIONS};
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);
	int err = 0;

	if (argc != 2)
		return 2;
	cfi_buffer__fde(&buffer, cie, GO_TEXT + 8, 0x28, instructions, sizeof(instructions));
	mixed.eh_frame = buffer.bytes;
	mixed.eh_frame_size = buffer.size;
	err |= write_image(argv[1], "mixed", &mixed);
	for (size_t i = 0; i < ARRAY_SIZE(seeds); i++)
		err |= write_image(argv[1], seeds[i].name, &seeds[i].spec);
	return err;
}
