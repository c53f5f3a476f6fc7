// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/package.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sym/elf/byte_reader.h"
#include "sym/elf/file.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* The largest programs have some ten thousand units, of 76 bytes each. */
#define INDEX_MAX   ((uint64_t)64 * 1024 * 1024)
#define HEADER_SIZE 16
#define COLUMNS_MAX 16
/* Longer names are cut. */
#define STRING_MAX 4095

void debug_package__release(struct debug_package *package)
{
	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		free(package->inflated[i]);
	free(package->index.bytes);
	*package = (struct debug_package){0};
}

/* ---- the index ---- */

static uint32_t word_at(const unsigned char *words, uint64_t number)
{
	uint32_t word;

	memcpy(&word, words + number * sizeof(word), sizeof(word));
	return word;
}

/* GNU's version is a word, that of DWARF 5 half of one. */
static uint32_t version_of(const unsigned char *bytes)
{
	uint16_t half;

	memcpy(&half, bytes, sizeof(half));
	return half == 5 ? half : word_at(bytes, 0);
}

/* Find the tables, which must lie in size bytes. */
static int lay_out(struct package_index *index, uint64_t size)
{
	uint64_t cells, needed;

	if (size < HEADER_SIZE)
		return -EBADMSG;
	index->version = version_of(index->bytes);
	index->columns = word_at(index->bytes, 1);
	index->units = word_at(index->bytes, 2);
	index->slots = word_at(index->bytes, 3);
	if ((index->version != 2 && index->version != 5) || index->columns > COLUMNS_MAX ||
	    (index->slots & (index->slots - 1)))
		return -EBADMSG;
	cells = (uint64_t)index->units * index->columns;
	needed = HEADER_SIZE + (uint64_t)index->slots * (sizeof(uint64_t) + sizeof(uint32_t)) +
		 (index->columns + 2 * cells) * sizeof(uint32_t);
	if (needed > size)
		return -EBADMSG;
	index->ids = index->bytes + HEADER_SIZE;
	index->rows = index->ids + index->slots * sizeof(uint64_t);
	index->kinds = index->rows + index->slots * sizeof(uint32_t);
	index->offsets = index->kinds + index->columns * sizeof(uint32_t);
	index->sizes = index->offsets + cells * sizeof(uint32_t);
	return 0;
}

static int read_index(struct package_index *index, const struct elf_file *elf, uint64_t file_size,
		      const struct work *work)
{
	const struct elf_section *section = elf_file__find_section(elf, ".debug_cu_index", false);
	struct section_part part;
	int err;

	if (!section)
		return -ENOENT;
	err = section_part__find(&part, elf, section, false);
	if (err)
		return err;
	if (!section_part__fits(&part, file_size))
		return -EBADMSG;
	if (part.inflated > INDEX_MAX)
		return -EFBIG;
	index->bytes = malloc(part.inflated + 1);
	if (!index->bytes)
		return -ENOMEM;
	err = section_part__read(&part, elf, index->bytes, work);
	return err ? err : lay_out(index, part.inflated);
}

static int read_tables(struct debug_package *package, const struct work *work)
{
	struct stat st;
	int err = debug_parts__find(package->parts, package->elf, true);

	if (!err)
		err = elf_file__stat(package->elf, &st);
	for (size_t i = 0; i < DEBUG_SECTIONS && !err; i++)
		if (!section_part__fits(&package->parts[i], (uint64_t)st.st_size))
			err = -EBADMSG;
	return err ? err : read_index(&package->index, package->elf, (uint64_t)st.st_size, work);
}

/* What does not change is read once. If that fails otherwise than by a lack, so it stays. */
static int read_once(struct debug_package *package, const struct work *work)
{
	if (package->is_read)
		return package->err;
	package->err = read_tables(package, work);
	package->is_read = package->err != -ENOMEM;
	if (package->err)
		free(TAKE_POINTER(package->index.bytes));
	return package->err;
}

/* Its number, from 0 on, or a negative errno. Slots are visited in the order of whoever filled. */
static int64_t find_row(const struct package_index *index, uint64_t id, const struct work *work)
{
	uint64_t mask = (uint64_t)index->slots - 1, at = id & mask, step = ((id >> 32) & mask) | 1;

	for (uint32_t i = 0; i < index->slots && work__is_left(work); i++) {
		uint32_t row = word_at(index->rows, at);
		uint64_t found;

		if (!row)
			return -ENOENT;
		memcpy(&found, index->ids + at * sizeof(found), sizeof(found));
		if (found == id)
			return row <= index->units ? (int64_t)row - 1 : -EBADMSG;
		work__charge(work, 1);
		at = (at + step) & mask;
	}
	return -ENOENT;
}

/* The section that a column is about, or DEBUG_SECTIONS if it is not needed. */
static enum debug_section column_section(const struct package_index *index, uint32_t column)
{
	switch (word_at(index->kinds, column)) {
	case 1:
		return DEBUG_INFO;
	case 3:
		return DEBUG_ABBREV;
	case 6:
		return DEBUG_STR_OFFSETS;
	case 8: /* macros in version 2 */
		return index->version == 5 ? DEBUG_RNGLISTS : DEBUG_SECTIONS;
	default:
		return DEBUG_SECTIONS;
	}
}

/* ---- its sections ---- */

/* Have all of a compressed section in memory. */
static int inflate(struct debug_package *package, enum debug_section section,
		   const struct work *work)
{
	const struct section_part *part = &package->parts[section];
	CLEANUP_FREE unsigned char *bytes = NULL;
	int err;

	if (package->inflated[section])
		return 0;
	if (part->inflated > DEBUG_IMAGE_MAX)
		return -EFBIG;
	bytes = malloc(part->inflated);
	if (!bytes)
		return -ENOMEM;
	err = section_part__read(part, package->elf, bytes, work);
	if (!err)
		package->inflated[section] = TAKE_POINTER(bytes);
	return err;
}

/* Up to size bytes at offset of a section; returns how many there are. */
static size_t read_some(struct debug_package *package, enum debug_section section, uint64_t offset,
			void *bytes, size_t size, const struct work *work)
{
	const struct section_part *part = &package->parts[section];

	if (offset >= part->inflated)
		return 0;
	if (size > part->inflated - offset)
		size = part->inflated - offset;
	if (part->compression == COMPRESSION_NONE)
		return elf_file__read(package->elf, bytes, size, part->offset + offset);
	if (inflate(package, section, work))
		return 0;
	memcpy(bytes, package->inflated[section] + offset, size);
	return size;
}

/* A unit's share of a section. */
struct share {
	uint64_t offset, size;
};

static int find_shares(const struct debug_package *package, uint64_t id,
		       struct share shares[DEBUG_SECTIONS], const struct work *work)
{
	const struct package_index *index = &package->index;
	int64_t row = find_row(index, id, work);

	for (uint32_t i = 0; row >= 0 && i < index->columns; i++) {
		enum debug_section section = column_section(index, i);
		uint64_t cell = (uint64_t)row * index->columns + i;
		struct share share = {word_at(index->offsets, cell), word_at(index->sizes, cell)};

		if (section == DEBUG_SECTIONS)
			continue;
		if (share.offset + share.size > package->parts[section].inflated)
			return -EBADMSG;
		shares[section] = share;
	}
	return row < 0 ? (int)row : 0;
}

/* Have the plan read a share, from the file or from what was inflated. */
static int plan_share(struct debug_package *package, enum debug_section section,
		      const struct share *share, struct debug_plan *plan, const struct work *work)
{
	const struct section_part *whole = &package->parts[section];
	int err;

	if (whole->compression == COMPRESSION_NONE) {
		plan->parts[section] =
			(struct section_part){.offset = whole->offset + share->offset,
					      .size = share->size,
					      .inflated = share->size};
		return 0;
	}
	err = inflate(package, section, work);
	if (!err)
		debug_plan__supply(
			plan, section,
			(struct debug_bytes){.bytes = package->inflated[section] + share->offset,
					     .size = share->size});
	return err;
}

/* From version 5 on a header stands in front, which says how large the offsets are. */
static struct debug_strings strings_in(struct debug_package *package, const struct share *share,
				       const struct work *work)
{
	struct debug_strings strings = {.package = package, .entry_size = 4};
	uint32_t length = 0, header = 0;

	if (package->index.version >= 5 &&
	    read_some(package, DEBUG_STR_OFFSETS, share->offset, &length, sizeof(length), work)) {
		header = length == UINT32_MAX ? 16 : 8;
		strings.entry_size = length == UINT32_MAX ? 8 : 4;
	}
	if (header <= share->size) {
		strings.offset = share->offset + header;
		strings.nr = (share->size - header) / strings.entry_size;
	}
	return strings;
}

int debug_package__plan(struct debug_package *package, uint64_t id, struct debug_plan *plan,
			struct debug_strings *strings, uint64_t *left)
{
	static const enum debug_section read[] = {DEBUG_INFO, DEBUG_ABBREV, DEBUG_RNGLISTS};
	const struct work work = work__share(left, UINT64_MAX);
	struct debug_plan made = {.elf = package->elf};
	struct share shares[DEBUG_SECTIONS] = {0};
	int err = read_once(package, &work);

	if (!err)
		err = find_shares(package, id, shares, &work);
	for (size_t i = 0; i < ARRAY_SIZE(read) && !err; i++)
		if (shares[read[i]].size)
			err = plan_share(package, read[i], &shares[read[i]], &made, &work);
	if (!err)
		err = debug_plan__check(&made);
	if (err)
		return err;
	*plan = made;
	*strings = strings_in(package, &shares[DEBUG_STR_OFFSETS], &work);
	return 0;
}

/* ---- strings ---- */

/* False if the attribute does not refer to a string by its index. What is cut has the largest. */
static bool index_of(const struct debug_strings *strings, const Dwarf_Attribute *attribute,
		     uint64_t *index)
{
	const unsigned char *at = attribute->valp;
	struct byte_reader reader = {.at = at, .end = at < strings->end ? strings->end : at};

	switch (attribute->form) {
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index:
		*index = byte_reader__uleb(&reader);
		break;
	case DW_FORM_strx1:
		*index = byte_reader__number(&reader, 1);
		break;
	case DW_FORM_strx2:
		*index = byte_reader__number(&reader, 2);
		break;
	case DW_FORM_strx3:
		*index = byte_reader__number(&reader, 2);
		*index |= byte_reader__number(&reader, 1) << 16;
		break;
	case DW_FORM_strx4:
		*index = byte_reader__number(&reader, 4);
		break;
	default:
		return false;
	}
	if (reader.failed)
		*index = UINT64_MAX;
	return true;
}

const char *debug_strings__get(struct debug_strings *strings, Dwarf_Attribute *attribute,
			       const struct work *work)
{
	uint64_t index, offset = 0;
	char text[STRING_MAX];
	const char *copy;
	size_t length;

	if (!strings->package || !index_of(strings, attribute, &index))
		return dwarf_formstring(attribute);
	work__charge(work, 1);
	if (index >= strings->nr ||
	    read_some(strings->package, DEBUG_STR_OFFSETS,
		      strings->offset + index * strings->entry_size, &offset, strings->entry_size,
		      work) != strings->entry_size)
		return NULL;
	length = strnlen(text,
			 read_some(strings->package, DEBUG_STR, offset, text, sizeof(text), work));
	copy = arena__copy_string(&strings->arena, text, length);
	strings->size += copy ? length + 1 : 0;
	return copy;
}

void debug_strings__release(struct debug_strings *strings)
{
	arena__release(&strings->arena);
	*strings = (struct debug_strings){0};
}
