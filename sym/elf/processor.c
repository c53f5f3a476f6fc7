// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/processor.h"

#include <elf.h>

#include "sym/util/array.h"

static const struct processor processors[] = {
	{
		.elf = EM_X86_64,
		.stack_pointer = 7,
		.frame_pointer = 6,
		.return_address = 16,
		.program_counter = 16,
		.base = 3,
		.jump_slot = R_X86_64_JUMP_SLOT,
		.glob_dat = R_X86_64_GLOB_DAT,
		.irelative = R_X86_64_IRELATIVE,
		.ftrace_lists_functions = true,
	},
	{
		.elf = EM_AARCH64,
		.stack_pointer = 31,
		.frame_pointer = 29,
		.return_address = 30,
		.program_counter = NO_REGISTER,
		.base = NO_REGISTER,
		.has_return_register = true,
		.signs_return_addresses = true,
		.jump_slot = R_AARCH64_JUMP_SLOT,
		.glob_dat = R_AARCH64_GLOB_DAT,
		.irelative = R_AARCH64_IRELATIVE,
		.stub_header = 32,
		.stub_pushes = 16,
		.stub_push = 0xa9bf7bf0, /* stp x16, x30, [sp, #-16]! */
	},
};

const struct processor *processor__of(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(processors); i++)
		if (processors[i].elf == machine)
			return &processors[i];
	return NULL;
}
