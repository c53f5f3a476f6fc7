// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/section_part.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "sym/elf/file.h"
#include "sym/elf/work.h"

/* Read at once: large enough to be quick, small enough to show progress. */
#define PIECE_SIZE ((size_t)1024 * 1024)

/* Deflate makes 1032 bytes of one. */
#define INFLATION_MAX 1100

/* The header of a compressed section (System V ABI, "Section Compression"). */
static int read_header(const struct elf_file *elf, const struct elf_section *section,
		       struct section_part *part)
{
	union {
		Elf32_Chdr chdr32;
		Elf64_Chdr chdr64;
	} header;
	size_t size = elf->is_64bit ? sizeof(header.chdr64) : sizeof(header.chdr32);
	uint32_t type;

	if (section->size < size || elf_file__read(elf, &header, size, section->offset) != size)
		return -EBADMSG;
	type = elf->is_64bit ? header.chdr64.ch_type : header.chdr32.ch_type;
	/* ELFCOMPRESS_ZSTD, which elf.h has from glibc 2.37 on. */
	if (type != ELFCOMPRESS_ZLIB && type != 2)
		return -EBADMSG;
	*part = (struct section_part){
		.offset = section->offset + size,
		.size = section->size - size,
		.compression = type == ELFCOMPRESS_ZLIB ? COMPRESSION_ZLIB : COMPRESSION_ZSTD,
		.inflated = elf->is_64bit ? header.chdr64.ch_size : header.chdr32.ch_size,
	};
	return 0;
}

/* The header of GNU's older form: "ZLIB", and the size as a big-endian number of 64 bits. */
static int read_old_header(const struct elf_file *elf, const struct elf_section *section,
			   struct section_part *part)
{
	unsigned char header[12];
	uint64_t size;

	if (section->size < sizeof(header) ||
	    elf_file__read(elf, header, sizeof(header), section->offset) != sizeof(header) ||
	    memcmp(header, "ZLIB", 4))
		return -EBADMSG;
	memcpy(&size, header + 4, sizeof(size));
	*part = (struct section_part){.offset = section->offset + sizeof(header),
				      .size = section->size - sizeof(header),
				      .compression = COMPRESSION_ZLIB,
				      .inflated = be64toh(size)};
	return 0;
}

int section_part__find(struct section_part *part, const struct elf_file *elf,
		       const struct elf_section *section, bool is_old)
{
	if (section->flags & SHF_COMPRESSED)
		return read_header(elf, section, part);
	if (is_old)
		return read_old_header(elf, section, part);
	*part = (struct section_part){
		.offset = section->offset, .size = section->size, .inflated = section->size};
	return 0;
}

bool section_part__fits(const struct section_part *part, uint64_t file_size)
{
	return part->offset <= file_size && part->size <= file_size - part->offset &&
	       (part->compression == COMPRESSION_NONE ||
		part->inflated / INFLATION_MAX <= part->size);
}

/* Read what is not compressed, straight into place. */
static int read_stored(const struct section_part *part, const struct elf_file *elf,
		       unsigned char *bytes, const struct work *work)
{
	for (uint64_t done = 0; done < part->size;) {
		uint64_t left = part->size - done;
		size_t wanted = left < PIECE_SIZE ? left : PIECE_SIZE;

		if (elf_file__read(elf, bytes + done, wanted, part->offset + done) != wanted)
			return -EIO;
		work__charge(work, 1);
		done += wanted;
	}
	return 0;
}

int section_part__read(const struct section_part *part, const struct elf_file *elf,
		       unsigned char *bytes, const struct work *work)
{
	if (part->compression == COMPRESSION_NONE)
		return read_stored(part, elf, bytes, work);
	return inflate_section(elf, part->compression, part->offset, part->size, bytes,
			       part->inflated, work);
}
