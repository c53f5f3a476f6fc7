/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pointers of call-frame information, whose size and meaning a byte encodes, and the
 * augmentation of a CIE, which says how the FDEs that share it encode theirs. Formats: Linux
 * Standard Base Core 5.0, 10.5 and 10.6.
 */
#ifndef TRACEKIT_SYM_CFI_POINTER_H
#define TRACEKIT_SYM_CFI_POINTER_H

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_reader;

/* This encoding says that there are no pointers. */
#define CFI_NO_POINTERS DW_EH_PE_omit

/*
 * True if addresses of that encoding can be read here: linkers write these. word: 4 or 8, as the
 * class of the file says.
 */
bool cfi_pointer__is_readable(uint8_t encoding, size_t word);

/* Read a pointer; place: the address where it stands. Of no known size: the reader fails. */
uint64_t cfi_pointer__read(struct byte_reader *reader, uint64_t place, uint8_t encoding,
			   size_t word);

struct cfi_augmentation {
	uint8_t encoding; /* of addresses in FDEs; CFI_NO_POINTERS: they cannot be read */
	bool is_signal_frame;
};

/* letters end with a NUL; data: what stands behind the length of the data. */
struct cfi_augmentation cfi_augmentation__read(const char *letters, struct byte_reader *data,
					       size_t word);

#endif
