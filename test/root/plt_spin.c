// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Spins in an entry of its procedure linkage table, for good: the slot that the
 * entry jumps through is made to lead back to the entry. Linked at a fixed
 * address, so that the address of getppid is that of its entry, and without
 * RELRO, so that the slot can be written.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	unsigned char *entry = (unsigned char *)(uintptr_t)getppid;
	int32_t displacement;
	uintptr_t slot;

	/* jmp *displacement(%rip) */
	if (entry[0] != 0xff || entry[1] != 0x25)
		return 77;
	memcpy(&displacement, entry + 2, sizeof(displacement));
	slot = (uintptr_t)entry + 6 + (uintptr_t)(intptr_t)displacement;
	memcpy((void *)slot, &entry, sizeof(entry));
	return getppid();
}
