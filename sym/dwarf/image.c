// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/image.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/elf/file.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"

/*
 * Bounds for holes: file systems that compress allocate less than they show, but a file that is one
 * large hole holds nothing.
 */
#define HOLE_FACTOR	 64
#define HOLE_SLACK	 ((uint64_t)16 * 1024 * 1024)
#define SECTION_NAME_MAX 32
#define ALIGNMENT	 16

static const char *const names[DEBUG_SECTIONS] = {
	[DEBUG_INFO] = "info",	       [DEBUG_ABBREV] = "abbrev",
	[DEBUG_LINE] = "line",	       [DEBUG_LINE_STR] = "line_str",
	[DEBUG_STR] = "str",	       [DEBUG_STR_OFFSETS] = "str_offsets",
	[DEBUG_ADDR] = "addr",	       [DEBUG_RANGES] = "ranges",
	[DEBUG_RNGLISTS] = "rnglists", [DEBUG_TYPES] = "types",
};

/*
 * The names of the image's sections: ".debug_" and names[i], each with a NUL, behind a first one.
 */
#define NAMES_SIZE 256

/* The section of that name, or DEBUG_SECTIONS. */
static enum debug_section section_of(const char *name, bool is_split, bool *is_old)
{
	char wanted[SECTION_NAME_MAX + 16];
	enum debug_section i;

	*is_old = !strncmp(name, ".zdebug_", 8);
	if (!*is_old && strncmp(name, ".debug_", 7))
		return DEBUG_SECTIONS;
	name += *is_old ? 8 : 7;
	for (i = 0; i < DEBUG_SECTIONS; i++) {
		stpcpy(stpcpy(wanted, names[i]), is_split ? ".dwo" : "");
		if (!strcmp(name, wanted))
			break;
	}
	return i;
}

static int find_part(struct section_part parts[DEBUG_SECTIONS], const struct elf_file *elf,
		     const struct elf_section *section, bool is_split)
{
	enum debug_section number;
	bool is_old;

	if (section->type == SHT_NOBITS || section->size == 0 || (section->flags & SHF_GROUP))
		return 0;
	number = section_of(elf_file__section_name(elf, section), is_split, &is_old);
	if (number == DEBUG_SECTIONS)
		return 0;
	/* GCC gives each unit of a type a section of that name, in front of that of the code. */
	if (parts[number].inflated && !(is_split && number == DEBUG_INFO))
		return 0;
	return section_part__find(&parts[number], elf, section, is_old);
}

static uint64_t aligned(uint64_t size)
{
	/* At least one zero behind each section: strings end there, whatever a file has. */
	return (size / ALIGNMENT + 1) * ALIGNMENT;
}

static uint64_t image_size(const struct debug_plan *plan)
{
	uint64_t size = aligned(sizeof(Elf64_Ehdr)) + aligned(NAMES_SIZE) +
			(DEBUG_SECTIONS + 2) * sizeof(Elf64_Shdr);

	for (size_t i = 0; i < DEBUG_SECTIONS; i++)
		if (plan->parts[i].inflated)
			size += aligned(plan->parts[i].inflated);
	return size;
}

/* Check that the file can hold what is to be read of it. */
static int check_sizes(const struct debug_plan *plan)
{
	uint64_t stored = 0;
	struct stat st;
	int err = elf_file__stat(plan->elf, &st);

	if (err)
		return err;
	for (size_t i = 0; i < DEBUG_SECTIONS; i++) {
		const struct section_part *part = &plan->parts[i];

		if (!section_part__fits(part, (uint64_t)st.st_size))
			return -EBADMSG;
		if (part->inflated > DEBUG_IMAGE_MAX)
			return -EFBIG;
		stored += part->size;
	}
	if (stored > HOLE_SLACK && stored / 512 / HOLE_FACTOR > (uint64_t)st.st_blocks)
		return -EBADMSG;
	return 0;
}

int debug_parts__find(struct section_part parts[DEBUG_SECTIONS], const struct elf_file *elf,
		      bool is_split)
{
	int err = 0;

	for (size_t i = 1; i < elf->nr_sections && !err; i++)
		err = find_part(parts, elf, &elf->sections[i], is_split);
	return err;
}

int debug_plan__check(struct debug_plan *plan)
{
	int err;

	if (!plan->parts[DEBUG_INFO].inflated || !plan->parts[DEBUG_ABBREV].inflated)
		return -ENOENT;
	err = check_sizes(plan);
	if (err)
		return err;
	plan->size = image_size(plan);
	return plan->size > DEBUG_IMAGE_MAX ? -EFBIG : 0;
}

int debug_plan__make(struct debug_plan *plan, const struct elf_file *elf, bool is_split)
{
	struct debug_plan made = {.elf = elf};
	int err = debug_parts__find(made.parts, elf, is_split);

	if (!err)
		err = debug_plan__check(&made);
	if (!err)
		*plan = made;
	return err;
}

void debug_plan__supply(struct debug_plan *plan, enum debug_section section,
			struct debug_bytes bytes)
{
	plan->parts[section] = (struct section_part){.inflated = bytes.size};
	plan->supplied[section] = bytes.bytes;
	plan->size = image_size(plan);
}

/* Load a section from the file, or from memory. */
static int load_part(const struct debug_plan *plan, enum debug_section section,
		     unsigned char *bytes, const struct work *work)
{
	const struct section_part *part = &plan->parts[section];

	if (!plan->supplied[section])
		return section_part__read(part, plan->elf, bytes, work);
	memcpy(bytes, plan->supplied[section], part->inflated);
	return 0;
}

static Elf64_Shdr section_header(const struct debug_image *image, enum debug_section section,
				 size_t name)
{
	const struct debug_bytes *bytes = &image->sections[section];

	return (Elf64_Shdr){
		.sh_name = (Elf64_Word)name,
		.sh_type = bytes->size ? SHT_PROGBITS : SHT_NOBITS,
		.sh_offset = bytes->size ? (Elf64_Off)(bytes->bytes - image->bytes) : 0,
		.sh_size = bytes->size,
		.sh_addralign = 1,
	};
}

/*
 * The headers of the image, whose class does not matter to libdw: DWARF states the size
 * of addresses itself. Behind the sections stand their names, then their headers.
 */
static void write_headers(struct debug_image *image, size_t end)
{
	Elf64_Shdr headers[DEBUG_SECTIONS + 2] = {0};
	char *text = (char *)image->bytes + end;
	size_t used = 1;
	Elf64_Ehdr ehdr = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_version = EV_CURRENT,
		.e_shoff = end + aligned(NAMES_SIZE),
		.e_ehsize = sizeof(ehdr),
		.e_shentsize = sizeof(headers[0]),
		.e_shnum = ARRAY_SIZE(headers),
		.e_shstrndx = ARRAY_SIZE(headers) - 1,
	};

	for (size_t i = 0; i < DEBUG_SECTIONS; i++) {
		headers[i + 1] = section_header(image, (enum debug_section)i, used);
		used = (size_t)(stpcpy(stpcpy(text + used, ".debug_"), names[i]) - text) + 1;
	}
	headers[ARRAY_SIZE(headers) - 1] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = end, .sh_size = NAMES_SIZE, .sh_addralign = 1};
	memcpy(image->bytes, &ehdr, sizeof(ehdr));
	memcpy(image->bytes + ehdr.e_shoff, headers, sizeof(headers));
}

static int load_parts(struct debug_image *image, const struct debug_plan *plan,
		      const struct work *work)
{
	uint64_t at = aligned(sizeof(Elf64_Ehdr));

	for (size_t i = 0; i < DEBUG_SECTIONS; i++) {
		uint64_t size = plan->parts[i].inflated;
		int err;

		if (!size)
			continue;
		err = load_part(plan, (enum debug_section)i, image->bytes + at, work);
		if (err)
			return err;
		image->sections[i] = (struct debug_bytes){.bytes = image->bytes + at, .size = size};
		at += aligned(size);
	}
	write_headers(image, at);
	return 0;
}

static int begin_dwarf(struct debug_image *image)
{
	elf_version(EV_CURRENT);
	image->elf = elf_memory((char *)image->bytes, image->size);
	image->dwarf = image->elf ? dwarf_begin_elf(image->elf, DWARF_C_READ, NULL) : NULL;
	return image->dwarf ? 0 : -EBADMSG;
}

int debug_image__load(struct debug_image *image, const struct debug_plan *plan, uint64_t *work)
{
	struct debug_image loaded = {.size = plan->size};
	void *memory =
		mmap(NULL, loaded.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct work all = work__share(work, UINT64_MAX);
	int err;

	if (memory == MAP_FAILED)
		return -ENOMEM;
	/* Otherwise half of the time of reading goes to page faults, one each 4 KB. */
	madvise(memory, loaded.size, MADV_HUGEPAGE);
	loaded.bytes = memory;
	err = load_parts(&loaded, plan, &all);
	if (!err)
		err = begin_dwarf(&loaded);
	if (err) {
		debug_image__release(&loaded);
		return err;
	}
	*image = loaded;
	return 0;
}

void debug_image__release(struct debug_image *image)
{
	dwarf_end(image->dwarf);
	elf_end(image->elf);
	if (image->bytes)
		munmap(image->bytes, image->size);
	*image = (struct debug_image){0};
}
