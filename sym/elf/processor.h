/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between processors in files of programs, by the e_machine of the file: so the files
 * of each are read on any. Names of the processor that tracekit itself runs on are in machine.h;
 * docs/processors.md says what a further one needs.
 */
#ifndef TRACEKIT_SYM_ELF_PROCESSOR_H
#define TRACEKIT_SYM_ELF_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_REGISTER 255

/* bti c */
#define ARM64_LANDING_PAD 0xd503245f

/* Registers have their DWARF numbers. */
struct processor {
	uint16_t elf; /* EM_X86_64 and the like */

	/* Call-frame information. */
	uint8_t stack_pointer, frame_pointer;
	uint8_t return_address;	 /* the column, unless a CIE has another one */
	uint8_t program_counter; /* in expressions, or NO_REGISTER */
	uint8_t base; /* kept for callees, and what frames are reached by; or NO_REGISTER */
	bool has_return_register;    /* whose content is the return address until it is saved */
	bool signs_return_addresses; /* can do so: pointer authentication */

	/* Relocations of the slots that entries of linkage tables jump through. */
	uint32_t jump_slot, glob_dat, irelative;
	/*
	 * Where linkers write no call-frame information about linkage tables: the bytes of what
	 * stands before the entries and enters the dynamic linker, its instruction that pushes, and
	 * how much that does. Or 0.
	 */
	uint8_t stub_header, stub_pushes;
	uint32_t stub_push;

	/* The addresses that ftrace lists are those of functions; else of what it patches in them.
	 */
	bool ftrace_lists_functions;
};

/* NULL if it is not known here. */
const struct processor *processor__of(uint16_t machine);

#endif
