// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/pointer.h"

#include "sym/elf/byte_reader.h"

/* The size of an encoded pointer, 0 if it has none, or none that is known. */
static size_t size_of(uint8_t encoding, size_t word)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		return word;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	default:
		return 0;
	}
}

bool cfi_pointer__is_readable(uint8_t encoding, size_t word)
{
	uint8_t application = encoding & 0xf0;

	return size_of(encoding, word) &&
	       (application == DW_EH_PE_absptr || application == DW_EH_PE_pcrel);
}

uint64_t cfi_pointer__read(struct byte_reader *reader, uint64_t place, uint8_t encoding,
			   size_t word)
{
	size_t size = size_of(encoding, word);
	uint64_t value = byte_reader__number(reader, size);

	if (encoding & DW_EH_PE_signed && size && size < sizeof(value))
		value = (uint64_t)((int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size));
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		value += place;
	return word < sizeof(value) ? (uint32_t)value : value;
}

/* Letter by letter; an unknown letter ends it, since the size of its data is unknown, too. */
struct cfi_augmentation cfi_augmentation__read(const char *letters, struct byte_reader *data,
					       size_t word)
{
	struct cfi_augmentation augmentation = {.encoding = DW_EH_PE_absptr};

	if (letters[0] == '\0')
		return augmentation;
	/* In other augmentations nobody knows where the instructions begin. */
	if (letters[0] != 'z') {
		augmentation.encoding = CFI_NO_POINTERS;
		return augmentation;
	}
	for (const char *letter = letters + 1; *letter; letter++) {
		if (*letter == 'R')
			augmentation.encoding = (uint8_t)byte_reader__number(data, 1);
		else if (*letter == 'L')
			byte_reader__skip(data, 1);
		else if (*letter == 'P')
			byte_reader__skip(data,
					  size_of((uint8_t)byte_reader__number(data, 1), word));
		else if (*letter == 'S')
			augmentation.is_signal_frame = true;
		/* arm64: of the key that signs, and of memory with tags. */
		else if (*letter != 'B' && *letter != 'G')
			break;
	}
	if (data->failed || !cfi_pointer__is_readable(augmentation.encoding, word))
		augmentation.encoding = CFI_NO_POINTERS;
	return augmentation;
}
