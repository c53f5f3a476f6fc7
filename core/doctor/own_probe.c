// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/doctor/own_probe.h"

#include <link.h>
#include <stddef.h>

#include "core/doctor/usdt.h"

USDT_SEMAPHORE(own_probe_semaphore);

__attribute__((noinline)) void own_probe__fire(void)
{
	if (own_probe_semaphore)
		USDT_PROBE("tracekit", "doctor", "own_probe_semaphore");
	__asm__ volatile(""); /* the calls are not to be left out */
}

static int find_offset(struct dl_phdr_info *object, size_t size, void *offset)
{
	uint64_t address = (uintptr_t)own_probe__fire - object->dlpi_addr;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && address >= part->p_vaddr &&
		    address - part->p_vaddr < part->p_filesz)
			*(uint64_t *)offset = address - part->p_vaddr + part->p_offset;
	}
	return 1; /* the program comes first */
}

uint64_t own_probe__offset(void)
{
	uint64_t offset = 0;

	dl_iterate_phdr(find_offset, &offset);
	return offset;
}
