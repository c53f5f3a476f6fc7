/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between kernels of this processor and of others. What differs in files is in
 * sym/elf/processor.h, and in walks in bpf/arch.bpf.h; docs/processors.md has it all.
 */
#ifndef TRACEKIT_CORE_KERNEL_OWN_PROCESSOR_H
#define TRACEKIT_CORE_KERNEL_OWN_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct own_processor {
	/* The kernel's walk from the first instruction of one of its functions has the caller. */
	bool has_kernel_caller;
	/* Slots that CPUs share are handed over by a plain addition: see bpf/scratch.bpf.h. */
	bool orders_additions;
	/* By their numbers of DWARF. */
	size_t nr_registers;
	const char *const *register_names;
	/* System calls that others do not have, behind those of this build's headers. */
	size_t nr_own_calls;
	const struct own_call {
		const char *name;
		int number;
	} * own_calls;
};

extern const struct own_processor own_processor;

/* Bits of an address of user space; above them return addresses can have a signature. */
uint8_t own_processor__address_bits(void);

#endif
