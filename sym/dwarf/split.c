// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/split.h"

#include <dwarf.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sym/dwarf/package.h"
#include "sym/elf/file.h"
#include "sym/elf/work.h"
#include "sym/util/cleanup.h"

/* Units in a split file that are looked at for ours: there is one, and types. */
#define UNITS_MAX 65536
/* Bytes of the program for each byte of the unit: on average, with lists of ranges. */
#define BYTES_PER_BYTE 64

struct skeleton {
	const char *folder, *name;
	Dwarf_Attribute low;
	Dwarf_Word address_base, ranges_base;
	bool has_low;
};

static int take_attribute(Dwarf_Attribute *attribute, void *context)
{
	struct skeleton *skeleton = context;

	switch (dwarf_whatattr(attribute)) {
	case DW_AT_comp_dir:
		skeleton->folder = dwarf_formstring(attribute);
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		skeleton->name = dwarf_formstring(attribute);
		break;
	case DW_AT_low_pc:
		skeleton->low = *attribute;
		skeleton->has_low = true;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		dwarf_formudata(attribute, &skeleton->address_base);
		break;
	case DW_AT_GNU_ranges_base:
		dwarf_formudata(attribute, &skeleton->ranges_base);
		break;
	default:
		break;
	}
	return DWARF_CB_OK;
}

/* From base to the end of the section: other units follow in it. */
static struct debug_bytes bytes_from(const struct debug_image *image, enum debug_section section,
				     uint64_t base)
{
	const struct debug_bytes *bytes = &image->sections[section];

	if (base >= bytes->size)
		return (struct debug_bytes){0};
	return (struct debug_bytes){.bytes = bytes->bytes + base, .size = bytes->size - base};
}

/* From version 5 on a length stands in front of the base, and counts the bytes between, too. */
static struct debug_bytes addresses_from(const struct debug_image *image, uint64_t base,
					 uint16_t version, uint8_t offset_size)
{
	struct debug_bytes bytes = bytes_from(image, DEBUG_ADDR, base);
	const size_t others = 4; /* the version and two sizes */
	uint64_t length = 0;

	if (version < 5 || !bytes.size || base < offset_size + others)
		return bytes;
	memcpy(&length, bytes.bytes - others - offset_size, offset_size);
	if (__BYTE_ORDER == __BIG_ENDIAN && offset_size == 4)
		length >>= 32;
	if (length >= others && length - others < bytes.size)
		bytes.size = length - others;
	return bytes;
}

static int path_of(const struct skeleton *skeleton, char *path, size_t size)
{
	const char *folder = *skeleton->name == '/' || !skeleton->folder ? "" : skeleton->folder;
	int length = snprintf(path, size, "%s%s%s", folder, *folder ? "/" : "", skeleton->name);

	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

int debug_split__of(struct debug_split *split, Dwarf_Die *die, const struct debug_image *image)
{
	struct skeleton skeleton = {0};
	uint8_t offset_size;
	Dwarf_Half version;
	Dwarf_Addr low;
	int err;

	dwarf_getattrs(die, take_attribute, &skeleton, 0);
	if (!skeleton.name || !*skeleton.name)
		return -ENOENT;
	err = path_of(&skeleton, split->path, sizeof(split->path));
	if (err)
		return err;
	/* Never ask for the subdie: libdw would look for the file. */
	if (dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, &split->id, NULL, &offset_size))
		return -ENOENT;
	split->base = skeleton.has_low && dwarf_formaddr(&skeleton.low, &low) == 0 ? low : 0;
	split->addresses = addresses_from(image, skeleton.address_base, version, offset_size);
	split->ranges = bytes_from(image, DEBUG_RANGES, skeleton.ranges_base);
	return 0;
}

/*
 * Version 4 does not say how much of the program's sections belongs to a unit. But references to it
 * take bytes, too, and it takes long to copy all that follows for each of thousands of units.
 */
static void supply(struct debug_plan *plan, enum debug_section section, struct debug_bytes bytes,
		   uint64_t unit_size)
{
	if (bytes.size > BYTES_PER_BYTE * unit_size)
		bytes.size = BYTES_PER_BYTE * unit_size;
	if (bytes.size)
		debug_plan__supply(plan, section, bytes);
}

/* Find the unit that has the id of the skeleton. */
static int find_unit(const struct debug_split *split, const struct debug_image *image,
		     struct debug_unit *unit)
{
	Dwarf_Off offset = 0, next;
	size_t header;

	for (int i = 0; i < UNITS_MAX; i++, offset = next) {
		uint64_t id;
		Dwarf_Die die;

		if (dwarf_next_unit(image->dwarf, offset, &next, &header, NULL, NULL, NULL, NULL,
				    NULL, NULL))
			break;
		if (!dwarf_offdie(image->dwarf, offset + header, &die))
			break;
		if (dwarf_tag(&die) != DW_TAG_compile_unit ||
		    dwarf_cu_info(die.cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) ||
		    id != split->id)
			continue;
		*unit = (struct debug_unit){
			.root = die,
			.end = (const unsigned char *)die.addr - header + (next - offset),
			.base = split->base,
		};
		return 0;
	}
	return -ESTALE;
}

static int load_planned(const struct debug_split *split, struct debug_plan *plan,
			struct debug_image *image, struct debug_unit *unit, uint64_t *work)
{
	const uint64_t unit_size = plan->size;
	struct debug_image loaded = {0};
	int err;

	supply(plan, DEBUG_ADDR, split->addresses, unit_size);
	supply(plan, DEBUG_RANGES, split->ranges, unit_size);
	err = debug_image__load(&loaded, plan, work);
	if (err)
		return err;
	err = find_unit(split, &loaded, unit);
	if (err) {
		debug_image__release(&loaded);
		return err;
	}
	*image = loaded;
	return 0;
}

int debug_split__load(const struct debug_split *split, int fd, struct debug_image *image,
		      struct debug_unit *unit, uint64_t *work)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	struct debug_plan plan;
	int err = elf_file__open(&elf, fd);

	if (!err)
		err = debug_plan__make(&plan, &elf, true);
	return err ? err : load_planned(split, &plan, image, unit, work);
}

int debug_split__load_packed(const struct debug_split *split, struct debug_package *package,
			     struct debug_image *image, struct debug_unit *unit, uint64_t *work)
{
	struct debug_strings strings;
	struct debug_plan plan;
	int err = debug_package__plan(package, split->id, &plan, &strings, work);

	if (!err)
		err = load_planned(split, &plan, image, unit, work);
	if (err)
		return err;
	unit->strings = strings;
	unit->strings.end = unit->end;
	return 0;
}
