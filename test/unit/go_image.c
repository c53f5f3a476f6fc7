// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/unit/go_image.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "test/unit/cfi_bytes.h"

#define TABLE_ADDRESS  0x500000
#define MODULE_ADDRESS 0x600000
#define CODE_SIZE      0x10000
#define PADDING	       24 /* before a table that has no section of its own */
#define IMAGE_SIZE     (256 * 1024)
#define MODULE_WORDS   32
#define MODULE_TEXT    22
#define HEADER_TEXT    24 /* its place in a header since 1.18 */
#define DESCRIPTION    48 /* bytes of what describes a function */
#define DELTAS	       12 /* behind where the function begins */
#define FLAGS	       33
#define FLAGS_20       37

struct writer {
	unsigned char *bytes; /* IMAGE_SIZE */
	size_t size;
};

static void put(struct writer *writer, const void *bytes, size_t size)
{
	if (size > IMAGE_SIZE - writer->size)
		abort();
	memcpy(writer->bytes + writer->size, bytes, size);
	writer->size += size;
}

static void put_number(struct writer *writer, uint64_t number, size_t size)
{
	uint32_t narrow = (uint32_t)number;

	if (size == sizeof(number))
		put(writer, &number, sizeof(number));
	else
		put(writer, &narrow, sizeof(narrow));
}

static void align(struct writer *writer)
{
	static const unsigned char zeros[8];

	put(writer, zeros, -writer->size % sizeof(zeros));
}

static void put_names(struct writer *writer, const struct go_image_spec *spec)
{
	put(writer, "", 1);
	for (size_t i = 0; i < spec->nr; i++)
		put(writer, spec->functions[i].name, strlen(spec->functions[i].name) + 1);
	align(writer);
}

/* No deltas are at 0: that is for functions without any. */
static void put_deltas(struct writer *writer, const struct go_image_spec *spec)
{
	put(writer, "", 1);
	for (size_t i = 0; i < spec->nr; i++)
		if (spec->functions[i].deltas)
			put(writer, spec->functions[i].deltas,
			    strlen(spec->functions[i].deltas) + 1);
}

/* Put the description of a function, whose deltas are at the place given. */
static void put_description(struct writer *writer, const struct go_image_spec *spec,
			    const struct go_function *function, uint64_t names, uint64_t deltas,
			    size_t size)
{
	unsigned char bytes[DESCRIPTION] = {0};
	uint32_t name = (uint32_t)names, place = function->deltas ? (uint32_t)deltas : 0;

	memcpy(bytes, &name, sizeof(name));
	memcpy(bytes + DELTAS, &place, sizeof(place));
	if (spec->magic != GO_2)
		bytes[spec->magic == GO_20 ? FLAGS_20 : FLAGS] = function->flags;
	put(writer, bytes, size);
}

/*
 * The pairs and descriptions. base: the descriptions are counted from there; so are names and
 * deltas if the table is of Go 1.2.
 */
static void put_functions(struct writer *writer, const struct go_image_spec *spec, size_t base,
			  uint64_t names, uint64_t deltas)
{
	bool narrow = spec->magic == GO_18 || spec->magic == GO_20;
	size_t entry = narrow ? sizeof(uint32_t) : sizeof(uint64_t);
	uint64_t text = narrow ? 0 : GO_TEXT;
	size_t descriptions = writer->size + (2 * spec->nr + 1) * entry - base;

	for (size_t i = 0; i < spec->nr; i++) {
		put_number(writer, text + spec->functions[i].offset, entry);
		put_number(writer, descriptions + i * DESCRIPTION, entry);
	}
	put_number(writer, text + spec->end, entry);
	for (size_t i = 0; i < spec->nr; i++) {
		const struct go_function *function = &spec->functions[i];

		put_number(writer, text + function->offset, entry);
		put_description(writer, spec, function, names, deltas, DESCRIPTION - entry);
		names += strlen(function->name) + 1;
		deltas += function->deltas ? strlen(function->deltas) + 1 : 0;
	}
}

static void put_header(struct writer *writer, const struct go_image_spec *spec)
{
	const unsigned char rest[4] = {0, 0, spec->is_arm64 ? 4 : 1, 8};

	put_number(writer, spec->magic, sizeof(uint32_t));
	put(writer, rest, sizeof(rest));
	put_number(writer, spec->nr, sizeof(uint64_t));
}

/* Go 1.2: all is counted from the table. */
static void put_old_table(struct writer *writer, const struct go_image_spec *spec)
{
	size_t table = writer->size, entry = sizeof(uint64_t);
	struct writer deltas = {.bytes = calloc(1, IMAGE_SIZE)};
	uint64_t behind = 16 + (2 * spec->nr + 1) * entry + spec->nr * DESCRIPTION;

	if (!deltas.bytes)
		abort();
	put_deltas(&deltas, spec);
	put_header(writer, spec);
	/* Deltas and names stand behind all else. */
	put_functions(writer, spec, table, behind + deltas.size + 1, behind + 1);
	put(writer, deltas.bytes, deltas.size);
	put_names(writer, spec);
	free(deltas.bytes);
}

static void put_table(struct writer *writer, const struct go_image_spec *spec)
{
	bool has_text = spec->magic != GO_16;
	struct writer parts = {.bytes = calloc(1, IMAGE_SIZE)};
	size_t header = 16 + sizeof(uint64_t) * (6 + has_text);

	size_t deltas;

	if (!parts.bytes)
		abort();
	put_names(&parts, spec);
	deltas = parts.size;
	put_deltas(&parts, spec);
	align(&parts);
	put_header(writer, spec);
	put_number(writer, 1, sizeof(uint64_t)); /* files */
	if (has_text)
		put_number(writer, spec->text == GO_TEXT_IN_HEADER ? GO_TEXT : 0, sizeof(uint64_t));
	put_number(writer, header, sizeof(uint64_t));
	for (int i = 0; i < 2; i++)
		put_number(writer, header, sizeof(uint64_t)); /* of no interest */
	put_number(writer, header + deltas, sizeof(uint64_t));
	put_number(writer, header + parts.size, sizeof(uint64_t));
	put(writer, parts.bytes, parts.size);
	put_functions(writer, spec, writer->size, 1, 1);
	free(parts.bytes);
}

static void put_module(struct writer *writer, const struct go_image_spec *spec)
{
	for (int i = 0; i < MODULE_WORDS; i++)
		put_number(writer,
			   i == MODULE_TEXT && spec->text == GO_TEXT_IN_MODULE ? GO_TEXT :
			   i == MODULE_TEXT				       ? 0 :
										 TABLE_ADDRESS,
			   sizeof(uint64_t));
}

/* A relocation of something else, and one that matters if address is not 0. */
static void put_relocations(struct writer *writer, uint64_t address)
{
	const Elf64_Rela relocations[2] = {
		{.r_offset = TABLE_ADDRESS - 8, .r_addend = 1},
		{.r_offset = address, .r_addend = GO_TEXT},
	};

	put(writer, relocations, sizeof(relocations));
}

static const char section_names[] = "\0.text\0.gopclntab\0.data.rel.ro\0.go.buildinfo\0"
				    ".go.module\0.rela.dyn\0.eh_frame\0";

static void name_section(Elf64_Shdr *section, const char *name)
{
	const char *at = memmem(section_names, sizeof(section_names), name, strlen(name) + 1);

	section->sh_name = (uint32_t)(at - section_names);
}

/* Make a section of all that was written since offset. */
static void add_section(Elf64_Shdr *sections, size_t *nr, const struct writer *writer,
			size_t offset, const char *name, uint32_t type, uint64_t address)
{
	sections[*nr] = (Elf64_Shdr){.sh_type = type,
				     .sh_flags = SHF_ALLOC,
				     .sh_addr = address,
				     .sh_offset = offset,
				     .sh_size = writer->size - offset};
	name_section(&sections[(*nr)++], name);
}

static void write_headers(struct writer *writer, size_t shoff, size_t sections, bool is_arm64)
{
	const Elf64_Ehdr ehdr = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = is_arm64 ? EM_AARCH64 : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = shoff,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)sections,
		.e_shstrndx = (Elf64_Half)(sections - 1),
	};

	/* The file does not hold the code, only where it is. */
	const Elf64_Phdr phdr = {.p_type = PT_LOAD,
				 .p_flags = PF_R | PF_X,
				 .p_vaddr = GO_TEXT,
				 .p_filesz = CODE_SIZE,
				 .p_memsz = CODE_SIZE};

	memcpy(writer->bytes, &ehdr, sizeof(ehdr));
	memcpy(writer->bytes + sizeof(ehdr), &phdr, sizeof(phdr));
}

struct elf_image go_image__make(const struct go_image_spec *spec)
{
	struct writer writer = {.bytes = calloc(1, IMAGE_SIZE)};
	Elf64_Shdr sections[9] = {{0}};
	uint64_t relocated = 0;
	size_t nr = 1, offset;

	if (!writer.bytes)
		abort();
	writer.size = GO_TABLE_OFFSET - (spec->in_relro ? PADDING : 0);
	offset = writer.size;
	add_section(sections, &nr, &writer, offset, ".text", SHT_PROGBITS,
		    spec->text == GO_TEXT_NOWHERE ? GO_TEXT : GO_TEXT - 0x1000);
	writer.size = GO_TABLE_OFFSET;
	if (spec->magic == GO_2)
		put_old_table(&writer, spec);
	else
		put_table(&writer, spec);
	add_section(sections, &nr, &writer, offset, spec->in_relro ? ".data.rel.ro" : ".gopclntab",
		    SHT_PROGBITS, TABLE_ADDRESS - (GO_TABLE_OFFSET - offset));
	align(&writer);
	if (!spec->unmarked)
		add_section(sections, &nr, &writer, writer.size - 8, ".go.buildinfo", SHT_PROGBITS,
			    MODULE_ADDRESS - 8);
	offset = writer.size;
	if (spec->text == GO_TEXT_IN_MODULE || spec->text == GO_TEXT_IN_MODULE_RELOCATED) {
		put_module(&writer, spec);
		add_section(sections, &nr, &writer, offset, ".go.module", SHT_PROGBITS,
			    MODULE_ADDRESS);
	}
	if (spec->text == GO_TEXT_IN_HEADER_RELOCATED)
		relocated = TABLE_ADDRESS + HEADER_TEXT;
	if (spec->text == GO_TEXT_IN_MODULE_RELOCATED)
		relocated = MODULE_ADDRESS + MODULE_TEXT * sizeof(uint64_t);
	if (spec->eh_frame) {
		offset = writer.size;
		put(&writer, spec->eh_frame, spec->eh_frame_size);
		align(&writer);
		add_section(sections, &nr, &writer, offset, ".eh_frame", SHT_PROGBITS,
			    CFI_BYTES_ADDRESS);
	}
	offset = writer.size;
	put_relocations(&writer, relocated);
	add_section(sections, &nr, &writer, offset, ".rela.dyn", SHT_RELA, 0);
	offset = writer.size;
	put(&writer, section_names, sizeof(section_names));
	add_section(sections, &nr, &writer, offset, "", SHT_STRTAB, 0);
	align(&writer);
	offset = writer.size;
	put(&writer, sections, nr * sizeof(sections[0]));
	write_headers(&writer, offset, nr, spec->is_arm64);
	/* The image ends where its memory does, so that sanitizers see reads behind it. */
	writer.bytes = realloc(writer.bytes, writer.size);
	if (!writer.bytes)
		abort();
	return (struct elf_image){.bytes = writer.bytes, .size = writer.size};
}
