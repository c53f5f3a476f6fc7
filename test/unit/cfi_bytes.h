/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A section of call-frame information, entry by entry, in memory. */
#ifndef TRACEKIT_TEST_CFI_BYTES_H
#define TRACEKIT_TEST_CFI_BYTES_H

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CFI_BYTES_ADDRESS 0x500000 /* of the section */

struct cfi_buffer {
	unsigned char bytes[48 * 1024];
	size_t size;
};

static inline void cfi_buffer__put(struct cfi_buffer *buffer, const void *bytes, size_t size)
{
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

static inline void cfi_buffer__word(struct cfi_buffer *buffer, uint32_t word)
{
	cfi_buffer__put(buffer, &word, sizeof(word));
}

/* The length of the entry that begins at start; it ends here. */
static inline void cfi_buffer__end(struct cfi_buffer *buffer, size_t start)
{
	uint32_t length;

	while (buffer->size % 8 != start % 8)
		buffer->bytes[buffer->size++] = DW_CFA_nop;
	length = (uint32_t)(buffer->size - start - sizeof(length));
	memcpy(buffer->bytes + start, &length, sizeof(length));
}

/*
 * As compilers write it for x86-64: CFA = rsp + 8, the return address below. signal: it is of
 * signal frames. Returns its offset.
 */
static inline size_t cfi_buffer__cie(struct cfi_buffer *buffer, bool signal)
{
	static const unsigned char behind[] = {
		1,
		0x78,
		16, /* alignments 1 and -8; the return address is column 16 */
		1,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_CFA_def_cfa,
		7,
		8,
		DW_CFA_offset | 16,
		1};
	size_t start = buffer->size;

	cfi_buffer__word(buffer, 0);
	cfi_buffer__word(buffer, 0);
	cfi_buffer__put(buffer, "\1", 1); /* version */
	cfi_buffer__put(buffer, signal ? "zRS" : "zR", signal ? 4 : 3);
	cfi_buffer__put(buffer, behind, sizeof(behind));
	cfi_buffer__end(buffer, start);
	return start;
}

/* A CIE of arm64: CFA = sp, the return address in x30; letters: more of the augmentation. */
static inline size_t cfi_buffer__arm64_cie(struct cfi_buffer *buffer, const char *letters)
{
	static const unsigned char behind[] = {
		4,
		0x78,
		30, /* alignments 4 and -8; the return address is column 30 */
		1,
		DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		DW_CFA_def_cfa,
		31,
		0};
	size_t start = buffer->size;

	cfi_buffer__word(buffer, 0);
	cfi_buffer__word(buffer, 0);
	cfi_buffer__put(buffer, "\1zR", 3);
	cfi_buffer__put(buffer, letters, strlen(letters) + 1);
	cfi_buffer__put(buffer, behind, sizeof(behind));
	cfi_buffer__end(buffer, start);
	return start;
}

static inline void cfi_buffer__fde(struct cfi_buffer *buffer, size_t cie, uint64_t address,
				   uint32_t length, const void *instructions, size_t size)
{
	size_t start = buffer->size;

	cfi_buffer__word(buffer, 0);
	cfi_buffer__word(buffer, (uint32_t)(buffer->size - cie));
	cfi_buffer__word(buffer, (uint32_t)(address - CFI_BYTES_ADDRESS - buffer->size));
	cfi_buffer__word(buffer, length);
	cfi_buffer__put(buffer, "", 1); /* no augmentation data */
	cfi_buffer__put(buffer, instructions, size);
	cfi_buffer__end(buffer, start);
}

#endif
