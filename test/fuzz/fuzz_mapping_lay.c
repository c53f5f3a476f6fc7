// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: a byte, then mappings of three bytes: where they begin and end, and which file. */
#include <string.h>

#include "sym/process/maps.h"
#include "test/fuzz/fuzz.h"

/* Addresses are multiples of the unit: as low as can be, or as high. */
#define HIGH ((uint64_t)1 << 56)

#define PLACES	     256
#define MAPPINGS_MAX 300

/* The mapping that was made last at each place; inode 0: none. */
struct place {
	ino_t inode;
	uint64_t offset;
};

static size_t take_mappings(struct mapping *mappings, const uint8_t *data, size_t size,
			    uint64_t unit)
{
	static const char *const paths[] = {"", "/a", "/b", "[vdso]"};
	size_t nr = size / 3 < MAPPINGS_MAX ? size / 3 : MAPPINGS_MAX;

	for (size_t i = 0; i < nr; i++)
		mappings[i] = (struct mapping){.start = data[3 * i] * unit,
					       .end = data[3 * i + 1] * unit,
					       .offset = (uint64_t)data[3 * i + 2] << 32,
					       .inode = i + 1,
					       .path = paths[data[3 * i + 2] % 4]};
	return nr;
}

static void note_places(struct place *places, const struct mapping *mapping, uint64_t unit)
{
	for (uint64_t at = mapping->start; at < mapping->end; at += unit)
		places[at / unit] = (struct place){.inode = mapping->inode,
						   .offset = mapping->offset + at - mapping->start};
}

static void check_list(const struct mapping_list *list, const struct place *expected,
		       const struct mapping *mappings, uint64_t unit)
{
	struct place places[PLACES] = {0};

	for (size_t i = 0; i < list->nr; i++) {
		const struct mapping *mapping = &list->mappings[i];

		REQUIRE(mapping->start < mapping->end);
		REQUIRE(i == 0 || list->mappings[i - 1].end <= mapping->start);
		REQUIRE(!strcmp(mapping->path, mappings[mapping->inode - 1].path));
		note_places(places, mapping, unit);
	}
	for (size_t i = 0; i < PLACES; i++)
		REQUIRE(places[i].inode == expected[i].inode &&
			places[i].offset == expected[i].offset);
}

/* The first byte says how many of them lie below the others. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct mapping_list nothing = {0};
	struct mapping_list base = {0}, list = {0};
	struct mapping mappings[MAPPINGS_MAX];
	struct place places[PLACES] = {0};
	uint64_t unit;
	size_t nr, nr_below;

	if (size == 0)
		return 0;
	unit = data[0] & 1 ? HIGH : 1;
	nr = take_mappings(mappings, data + 1, size - 1, unit);
	nr_below = (size_t)data[0] / 2 < nr ? (size_t)data[0] / 2 : nr;
	for (size_t i = 0; i < nr; i++)
		note_places(places, &mappings[i], unit);
	REQUIRE(mapping_list__lay(&base, &nothing, mappings, nr_below) == 0);
	REQUIRE(mapping_list__lay(&list, &base, mappings + nr_below, nr - nr_below) == 0);
	mapping_list__release(&base);
	check_list(&list, places, mappings, unit);
	mapping_list__release(&list);
	return 0;
}
