// SPDX-License-Identifier: GPL-2.0-or-later
/* make_cfi_seeds DIRECTORY: write the seeds of fuzz_cfi_section. */
#include <fcntl.h>
#include <unistd.h>

#include "sym/elf/file.h"
#include "test/fuzz/seed.h"
#include "test/unit/cfi_bytes.h"

/* The shapes that this program's own call-frame information may not have. */
static int write_shapes(const char *directory)
{
	static const unsigned char plt[] = {DW_CFA_def_cfa_expression,
					    11,
					    DW_OP_breg7,
					    8,
					    DW_OP_breg16,
					    0,
					    DW_OP_lit15,
					    DW_OP_and,
					    DW_OP_lit11,
					    DW_OP_ge,
					    DW_OP_lit3,
					    DW_OP_shl,
					    DW_OP_plus};
	static const unsigned char aligned[] = {DW_CFA_def_cfa_expression,
						3,
						DW_OP_breg6,
						0x78,
						DW_OP_deref,
						DW_CFA_advance_loc | 4,
						DW_CFA_expression,
						6,
						2,
						DW_OP_breg6,
						0,
						DW_CFA_advance_loc2,
						1,
						0,
						DW_CFA_register,
						16,
						5,
						DW_CFA_remember_state,
						DW_CFA_restore_state};
	struct cfi_buffer buffer = {.size = 1}; /* in front: what it is */
	size_t cie = cfi_buffer__cie(&buffer, false);

	cfi_buffer__fde(&buffer, cie, 0x401000, 64, plt, sizeof(plt));
	cie = cfi_buffer__cie(&buffer, true);
	cfi_buffer__fde(&buffer, cie, 0x402000, 64, aligned, sizeof(aligned));
	return seed__write(directory, "shapes", buffer.bytes, buffer.size);
}

static int write_own(const char *directory)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct elf_section *section;
	struct elf_file elf;
	unsigned char bytes[4096] = {0};
	size_t size = 0;

	if (fd < 0 || elf_file__open(&elf, fd))
		return 1;
	section = elf_file__find_section(&elf, ".eh_frame", true);
	if (section)
		size = elf_file__read(&elf, bytes + 1,
				      section->size < sizeof(bytes) ? section->size :
								      sizeof(bytes) - 1,
				      section->offset);
	elf_file__close(&elf);
	close(fd);
	return seed__write(directory, "own", bytes, size + 1);
}

int main(int argc, char **argv)
{
	return argc != 2 || write_shapes(argv[1]) || write_own(argv[1]);
}
