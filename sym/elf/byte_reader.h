/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers and strings out of memory that anyone wrote, one behind the other, in the byte
 * order of this machine. Behind the end all are 0 or "", and failed says so.
 */
#ifndef TRACEKIT_SYM_ELF_BYTE_READER_H
#define TRACEKIT_SYM_ELF_BYTE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_reader {
	const unsigned char *at, *end;
	bool failed;
};

static inline size_t byte_reader__left(const struct byte_reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

static inline void byte_reader__fail(struct byte_reader *reader)
{
	reader->at = reader->end;
	reader->failed = true;
}

static inline void byte_reader__skip(struct byte_reader *reader, uint64_t size)
{
	if (size > byte_reader__left(reader))
		byte_reader__fail(reader);
	else
		reader->at += size;
}

/* A number of 1, 2, 4 or 8 bytes. */
static inline uint64_t byte_reader__number(struct byte_reader *reader, size_t size)
{
	uint64_t number = 0;

	if (size > byte_reader__left(reader)) {
		byte_reader__fail(reader);
		return 0;
	}
	if (size == 1) {
		number = *reader->at;
	} else if (size == 2) {
		uint16_t half;

		memcpy(&half, reader->at, sizeof(half));
		number = half;
	} else if (size == 4) {
		uint32_t word;

		memcpy(&word, reader->at, sizeof(word));
		number = word;
	} else if (size == 8) {
		memcpy(&number, reader->at, sizeof(number));
	} else {
		byte_reader__fail(reader);
		return 0;
	}
	reader->at += size;
	return number;
}

/* LEB128 (DWARF 5, 7.6). What does not fit into 64 bits is cut off. */
static inline uint64_t byte_reader__leb(struct byte_reader *reader, bool is_signed)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; reader->at < reader->end;) {
		unsigned char byte = *reader->at++;

		if (shift < 64)
			number |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
		if (byte & 0x80)
			continue;
		if (is_signed && shift < 64 && (byte & 0x40))
			number |= ~(uint64_t)0 << shift;
		return number;
	}
	byte_reader__fail(reader);
	return 0;
}

static inline uint64_t byte_reader__uleb(struct byte_reader *reader)
{
	return byte_reader__leb(reader, false);
}

static inline int64_t byte_reader__sleb(struct byte_reader *reader)
{
	return (int64_t)byte_reader__leb(reader, true);
}

static inline const char *byte_reader__string(struct byte_reader *reader)
{
	const unsigned char *start = reader->at;
	const unsigned char *nul =
		byte_reader__left(reader) ? memchr(start, 0, byte_reader__left(reader)) : NULL;

	if (!nul) {
		byte_reader__fail(reader);
		return "";
	}
	reader->at = nul + 1;
	return (const char *)start;
}

#endif
