// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/doctor/own_probe.h"

#include <link.h>
#include <stddef.h>

/* The note of a USDT probe, as <sys/sdt.h> writes it: addresses of the place, of a base in the
 * file, and of the semaphore; then provider, name and arguments. */
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".popsection\n");

#define PROBE(semaphore)                                                                           \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"                              \
			 ".balign 4\n"                                                             \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                        \
			 "991: .asciz \"stapsdt\"\n"                                               \
			 "992: .balign 4\n"                                                        \
			 "993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                       \
			 ".asciz \"tracekit\"\n"                                                   \
			 ".asciz \"doctor\"\n"                                                     \
			 ".asciz \"\"\n"                                                           \
			 "994: .balign 4\n"                                                        \
			 ".popsection\n")

/* The kernel counts in it how many wait for the probe. */
__attribute__((used, visibility("hidden"),
	       section(".probes"))) volatile unsigned short own_probe_semaphore;

__attribute__((noinline)) void own_probe__fire(void)
{
	if (own_probe_semaphore)
		PROBE("own_probe_semaphore");
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
