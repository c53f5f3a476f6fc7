// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/function_starts.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sym/cfi/pointer.h"
#include "sym/cfi/section.h"
#include "sym/elf/byte_reader.h"
#include "sym/elf/file.h"
#include "sym/elf/file_window.h"
#include "sym/elf/symbols.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* A file may have the work of eight million symbols; a small read takes as long as 32 of them. */
#define WORK_MAX  (8 * 1024 * 1024)
#define READ_COST 32

/* Bytes of a CIE up to its instructions; those of compilers have some twenty. */
#define CIE_BYTES 256

/* Bytes of an FDE up to the end of its range: a length, an offset, and two addresses. */
#define FDE_BYTES 24

/* This length says that a longer one follows, which no program needs. */
#define LONG_LENGTH 0xffffffff

/* Where entries are: a section or a segment of the file. */
struct region {
	uint64_t address, offset, size;
};

struct reading {
	const struct elf_file *elf;
	struct work work;
	size_t word; /* the size of an address */
	bool is_eh_frame;
	struct region region;
	struct file_window entries;
	/* The CIE that was used last: where it is in the file, and how its FDEs encode addresses.
	 */
	uint64_t common;
	uint8_t encoding;
	bool has_common;
};

/* ---- entries ---- */

enum entry_kind { ENTRY_END, ENTRY_OTHER, ENTRY_FUNCTION };

struct entry {
	enum entry_kind kind;
	uint64_t next;	     /* where the one behind it is in the region */
	uint64_t start, end; /* of an ENTRY_FUNCTION */
};

static bool is_cie(const struct reading *reading, uint64_t id)
{
	return id == (reading->is_eh_frame ? 0 : UINT32_MAX);
}

/* Read what a CIE says about addresses; CFI_NO_POINTERS if it makes no sense. */
static uint8_t read_cie(const struct reading *reading, struct byte_reader reader)
{
	struct byte_reader data;
	const char *letters;
	uint64_t version, size;

	if (!is_cie(reading, byte_reader__number(&reader, 4)))
		return CFI_NO_POINTERS;
	version = byte_reader__number(&reader, 1);
	letters = byte_reader__string(&reader);
	/* Addresses of the class's size, and no segments. */
	if (version >= 4 && (byte_reader__number(&reader, 1) != reading->word ||
			     byte_reader__number(&reader, 1) != 0))
		return CFI_NO_POINTERS;
	byte_reader__uleb(&reader); /* alignments */
	byte_reader__sleb(&reader);
	if (version == 1) /* the return address's column */
		byte_reader__skip(&reader, 1);
	else
		byte_reader__uleb(&reader);
	size = letters[0] == 'z' ? byte_reader__uleb(&reader) : 0;
	if (reader.failed || size > byte_reader__left(&reader))
		return CFI_NO_POINTERS;
	data = (struct byte_reader){.at = reader.at, .end = reader.at + size};
	return cfi_augmentation__read(letters, &data, reading->word).encoding;
}

/* The CIE at that place of the region becomes the one in use. */
static void use_common(struct reading *reading, uint64_t at)
{
	const uint64_t place = reading->region.offset + at;
	unsigned char bytes[CIE_BYTES];
	struct byte_reader reader = {.at = bytes};
	uint64_t length, left;
	size_t size;

	if (reading->has_common && reading->common == place)
		return;
	reading->has_common = true;
	reading->common = place;
	reading->encoding = CFI_NO_POINTERS;
	if (at >= reading->region.size)
		return;
	left = reading->region.size - at;
	work__charge(&reading->work, READ_COST);
	size = elf_file__read(reading->elf, bytes, left < sizeof(bytes) ? left : sizeof(bytes),
			      place);
	reader.end = bytes + size;
	length = byte_reader__number(&reader, 4);
	if (length < byte_reader__left(&reader))
		reader.end = reader.at + length;
	reading->encoding = read_cie(reading, reader);
}

/* Read the range of an FDE; at: where its first byte is in the region. */
static bool read_range(struct reading *reading, uint64_t at, const unsigned char *first,
		       struct byte_reader reader, struct entry *entry)
{
	const uint64_t address = reading->region.address + at;
	uint64_t pointer = byte_reader__number(&reader, 4), size;

	/* In .eh_frame the distance from the pointer. */
	use_common(reading, reading->is_eh_frame ? at + 4 - pointer : pointer);
	if (reading->encoding == CFI_NO_POINTERS)
		return false;
	entry->start = cfi_pointer__read(&reader, address + (uint64_t)(reader.at - first),
					 reading->encoding, reading->word);
	size = cfi_pointer__read(&reader, 0, reading->encoding & 0x07, reading->word);
	/* Functions that the linker has dropped are at 0. */
	return !reader.failed && entry->start && size &&
	       !__builtin_add_overflow(entry->start, size, &entry->end);
}

static struct entry read_entry(struct reading *reading, uint64_t at)
{
	struct entry entry = {.kind = ENTRY_END};
	struct byte_reader reader, id;
	const unsigned char *first;
	uint64_t length;
	size_t size;

	if (at >= reading->region.size)
		return entry;
	work__charge(&reading->work, 1);
	first = (const unsigned char *)file_window__at(
		&reading->entries, reading->region.offset + at, FDE_BYTES, &size);
	if (size > reading->region.size - at)
		size = (size_t)(reading->region.size - at);
	reader = (struct byte_reader){.at = first, .end = first + size};
	length = byte_reader__number(&reader, 4);
	if (reader.failed || length == 0 || length == LONG_LENGTH ||
	    length > reading->region.size - at - 4)
		return entry;
	entry.kind = ENTRY_OTHER;
	entry.next = at + 4 + length;
	if (length < byte_reader__left(&reader))
		reader.end = reader.at + length;
	id = reader;
	if (!is_cie(reading, byte_reader__number(&id, 4)) &&
	    read_range(reading, at, first, reader, &entry))
		entry.kind = ENTRY_FUNCTION;
	return entry;
}

/* ---- the table of .eh_frame_hdr ---- */

/* The header: four bytes, and two numbers of eight at most. */
#define HEADER_BYTES 20

/* As linkers write it: pairs of a start and its FDE, relative to the header, sorted. */
#define TABLE_ENCODING (DW_EH_PE_datarel | DW_EH_PE_sdata4)

struct pair {
	int32_t start, entry;
};

/* Pairs that are read together: the last steps of a search are made in memory. */
#define BLOCK_PAIRS 512

struct table {
	uint64_t address; /* of the header */
	uint64_t offset;  /* of the first pair in the file */
	uint64_t nr;
	uint64_t first; /* of the pairs that are held */
	size_t held;
	struct pair pairs[BLOCK_PAIRS];
};

static bool open_table(struct table *table, const struct reading *reading)
{
	const struct elf_segment *header = &reading->elf->eh_frame_header;
	unsigned char bytes[HEADER_BYTES];
	struct byte_reader reader = {.at = bytes};
	uint8_t pointer, count;
	uint64_t room;

	work__charge(&reading->work, READ_COST);
	reader.end =
		bytes + elf_file__read(reading->elf, bytes,
				       header->size < sizeof(bytes) ? header->size : sizeof(bytes),
				       header->offset);
	byte_reader__skip(&reader, 1); /* version */
	pointer = (uint8_t)byte_reader__number(&reader, 1);
	count = (uint8_t)byte_reader__number(&reader, 1);
	if (byte_reader__number(&reader, 1) != TABLE_ENCODING || bytes[0] != 1)
		return false;
	cfi_pointer__read(&reader, 0, pointer & 0x0f, reading->word); /* .eh_frame */
	table->nr = cfi_pointer__read(&reader, 0, count & 0x0f, reading->word);
	if (reader.failed)
		return false;
	table->address = header->address;
	table->offset = header->offset + (uint64_t)(reader.at - bytes);
	room = (header->size - (uint64_t)(reader.at - bytes)) / sizeof(struct pair);
	if (table->nr > room)
		table->nr = room;
	return table->nr;
}

/* Hold up to nr pairs from first on; false if there is none, or no work is left. */
static bool read_pairs(struct reading *reading, struct table *table, uint64_t first, uint64_t nr)
{
	const size_t size = sizeof(struct pair);
	size_t wanted = (size_t)(table->nr - first < nr ? table->nr - first : nr);

	table->first = first;
	table->held = 0;
	if (!work__is_left(&reading->work))
		return false;
	work__charge(&reading->work, READ_COST);
	table->held = elf_file__read(reading->elf, table->pairs, wanted * size,
				     table->offset + first * size) /
		      size;
	return table->held;
}

static uint64_t from_header(const struct reading *reading, const struct table *table,
			    int32_t distance)
{
	uint64_t address = table->address + (uint64_t)(int64_t)distance;

	return reading->word < sizeof(address) ? (uint32_t)address : address;
}

static uint64_t start_of(const struct reading *reading, const struct table *table, uint64_t i)
{
	return from_header(reading, table, table->pairs[i].start);
}

/* True if the last pair that begins at or before address is among those that are held. */
static bool holds(const struct reading *reading, const struct table *table, uint64_t address)
{
	return table->held && start_of(reading, table, 0) <= address &&
	       (table->first + table->held == table->nr ||
		address < start_of(reading, table, table->held - 1));
}

/* Hold the block of pairs with the one of an address. */
static bool find_block(struct reading *reading, struct table *table, uint64_t address)
{
	uint64_t first = 0, end = (table->nr + BLOCK_PAIRS - 1) / BLOCK_PAIRS;

	if (holds(reading, table, address))
		return true;
	while (end - first > 1) {
		uint64_t middle = first + (end - first) / 2;

		if (!read_pairs(reading, table, middle * BLOCK_PAIRS, 1))
			return false;
		if (start_of(reading, table, 0) <= address)
			first = middle;
		else
			end = middle;
	}
	return read_pairs(reading, table, first * BLOCK_PAIRS, BLOCK_PAIRS);
}

/* The number of the last of the pairs that are held that begins at or before address, or 0. */
static size_t find_in_block(const struct reading *reading, const struct table *table,
			    uint64_t address)
{
	size_t first = 0, end = table->held;

	while (end - first > 1) {
		size_t middle = first + (end - first) / 2;

		if (start_of(reading, table, middle) <= address)
			first = middle;
		else
			end = middle;
	}
	return first;
}

/* The entry at an address, in whichever segment that is. */
static struct entry read_entry_at(struct reading *reading, uint64_t address)
{
	const struct elf_segment *segment = elf_file__segment(reading->elf, address, PF_R);

	if (!segment)
		return (struct entry){.kind = ENTRY_END};
	reading->region = (struct region){segment->address, segment->offset, segment->size};
	return read_entry(reading, address - segment->address);
}

/* ---- lookups ---- */

/* Take the entry of a function for a lookup, if it covers that, and code is there. */
static void take_start(const struct reading *reading, struct elf_lookup *lookup,
		       const struct entry *entry)
{
	const struct elf_segment *segment;

	if (lookup->name || entry->start > lookup->address || lookup->address >= entry->end ||
	    entry->start <= lookup->start)
		return;
	segment = elf_file__segment(reading->elf, lookup->address, PF_X);
	if (segment && entry->start >= segment->address)
		lookup->start = entry->start;
}

static void search_table(struct reading *reading, struct table *table, struct elf_lookup *lookups,
			 size_t nr)
{
	struct entry entry = {.kind = ENTRY_END};

	for (size_t i = 0; i < nr && work__is_left(&reading->work); i++) {
		const uint64_t address = lookups[i].address;

		if (lookups[i].name)
			continue;
		/* The neighbour's, as a rule. */
		if (entry.kind != ENTRY_FUNCTION || address < entry.start || address >= entry.end) {
			if (!find_block(reading, table, address))
				continue;
			entry = read_entry_at(
				reading,
				from_header(reading, table,
					    table->pairs[find_in_block(reading, table, address)]
						    .entry));
		}
		if (entry.kind == ENTRY_FUNCTION)
			take_start(reading, &lookups[i], &entry);
	}
}

/* Where functions overlap, the innermost is taken: the one that begins last. */
static void take_all(struct reading *reading, struct elf_lookup *lookups, size_t nr,
		     const struct entry *entry)
{
	size_t i = array__lower_bound(lookups, nr, sizeof(*lookups), entry->start);

	for (; i < nr && lookups[i].address < entry->end && work__is_left(&reading->work); i++) {
		take_start(reading, &lookups[i], entry);
		work__charge(&reading->work, 1);
	}
}

static void pass_entries(struct reading *reading, struct elf_lookup *lookups, size_t nr)
{
	struct entry entry;

	for (uint64_t at = 0; work__is_left(&reading->work); at = entry.next) {
		entry = read_entry(reading, at);
		if (entry.kind == ENTRY_END)
			break;
		if (entry.kind == ENTRY_FUNCTION)
			take_all(reading, lookups, nr, &entry);
	}
}

/* .eh_frame without a table: a section, or what the header says, up to the end of its segment. */
static bool find_eh_frame(struct reading *reading)
{
	const struct elf_section *section = elf_file__find_section(reading->elf, ".eh_frame", true);
	const struct elf_segment *header = &reading->elf->eh_frame_header, *segment;
	unsigned char bytes[CFI_HEADER_SIZE];
	struct cfi_bytes read = {.bytes = bytes};
	uint64_t address, within;

	if (section && section->type != SHT_NOBITS) {
		reading->region = (struct region){section->address, section->offset, section->size};
		return true;
	}
	read.size = elf_file__read(reading->elf, bytes,
				   header->size < sizeof(bytes) ? header->size : sizeof(bytes),
				   header->offset);
	if (!cfi_section__find(read, header->address, &address))
		return false;
	segment = elf_file__segment(reading->elf, address, PF_R);
	if (!segment)
		return false;
	within = address - segment->address;
	reading->region =
		(struct region){address, segment->offset + within, segment->size - within};
	return true;
}

static bool find_debug_frame(struct reading *reading)
{
	const struct elf_section *section =
		elf_file__find_section(reading->elf, ".debug_frame", false);

	if (!section || section->flags & SHF_COMPRESSED)
		return false;
	reading->region = (struct region){0, section->offset, section->size};
	return true;
}

/* True if one has neither a name nor a start. */
static bool any_left(const struct elf_lookup *lookups, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!lookups[i].name && !lookups[i].start)
			return true;
	return false;
}

static void find_all(struct reading *reading, struct table *table, struct elf_lookup *lookups,
		     size_t nr)
{
	reading->is_eh_frame = true;
	if (open_table(table, reading))
		search_table(reading, table, lookups, nr);
	else if (find_eh_frame(reading))
		pass_entries(reading, lookups, nr);
	reading->is_eh_frame = false;
	reading->has_common = false;
	if (any_left(lookups, nr) && find_debug_frame(reading))
		pass_entries(reading, lookups, nr);
}

int function_starts__find(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
			  uint64_t *work)
{
	CLEANUP_FREE struct reading *reading = NULL;
	CLEANUP_FREE struct table *table = NULL;

	for (size_t i = 0; i < nr; i++)
		if (!lookups[i].name)
			lookups[i].start = 0;
	if (!any_left(lookups, nr))
		return 0;
	reading = calloc(1, sizeof(*reading));
	table = calloc(1, sizeof(*table));
	if (!reading || !table)
		return -ENOMEM;
	reading->elf = elf;
	reading->work = work__share(work, WORK_MAX);
	reading->word = elf->is_64bit ? sizeof(uint64_t) : sizeof(uint32_t);
	reading->entries.elf = elf;
	reading->entries.work = &reading->work;
	find_all(reading, table, lookups, nr);
	return work__is_left(&reading->work) ? 0 : -EFBIG;
}
