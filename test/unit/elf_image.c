// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/unit/elf_image.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* Memory for images grows in powers of two. */
static size_t room_for(size_t size)
{
	size_t room = 64;

	while (room < size)
		room *= 2;
	return room;
}

static void resize(struct elf_image *image, size_t room)
{
	image->bytes = realloc(image->bytes, room);
	if (!image->bytes)
		abort();
}

static void append(struct elf_image *image, const void *bytes, size_t size)
{
	if (!image->bytes || room_for(image->size + size) > room_for(image->size))
		resize(image, room_for(image->size + size));
	memcpy(image->bytes + image->size, bytes, size);
	image->size += size;
}

static void append_symbol(struct elf_image *image, bool is_32bit, const Elf64_Sym *symbol)
{
	Elf32_Sym narrow = {
		.st_name = symbol->st_name,
		.st_value = (Elf32_Addr)symbol->st_value,
		.st_size = (Elf32_Word)symbol->st_size,
		.st_info = symbol->st_info,
		.st_shndx = symbol->st_shndx,
	};

	if (is_32bit)
		append(image, &narrow, sizeof(narrow));
	else
		append(image, symbol, sizeof(*symbol));
}

static void append_shdr(struct elf_image *image, bool is_32bit, const Elf64_Shdr *section)
{
	Elf32_Shdr narrow = {
		.sh_name = section->sh_name,
		.sh_type = section->sh_type,
		.sh_flags = (Elf32_Word)section->sh_flags,
		.sh_addr = (Elf32_Addr)section->sh_addr,
		.sh_offset = (Elf32_Off)section->sh_offset,
		.sh_size = (Elf32_Word)section->sh_size,
		.sh_link = section->sh_link,
		.sh_entsize = (Elf32_Word)section->sh_entsize,
	};

	if (is_32bit)
		append(image, &narrow, sizeof(narrow));
	else
		append(image, section, sizeof(*section));
}

static void append_segment(struct elf_image *image, bool is_32bit, const Elf64_Phdr *segment)
{
	Elf32_Phdr narrow = {
		.p_type = segment->p_type,
		.p_flags = segment->p_flags,
		.p_offset = (Elf32_Off)segment->p_offset,
		.p_vaddr = (Elf32_Addr)segment->p_vaddr,
		.p_filesz = (Elf32_Word)segment->p_filesz,
		.p_memsz = (Elf32_Word)segment->p_memsz,
	};

	if (is_32bit)
		append(image, &narrow, sizeof(narrow));
	else
		append(image, segment, sizeof(*segment));
}

static void append_segments(struct elf_image *image, bool is_32bit)
{
	const Elf64_Phdr text = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = IMAGE_TEXT_OFFSET,
		.p_vaddr = IMAGE_TEXT_ADDRESS,
		.p_filesz = IMAGE_TEXT_SIZE,
		.p_memsz = IMAGE_TEXT_SIZE,
	};
	const Elf64_Phdr data = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_W,
		.p_offset = IMAGE_DATA_OFFSET,
		.p_vaddr = IMAGE_DATA_ADDRESS,
		.p_filesz = IMAGE_DATA_SIZE,
		.p_memsz = 2 * IMAGE_DATA_SIZE,
	};

	append_segment(image, is_32bit, &text);
	append_segment(image, is_32bit, &data);
}

size_t image_note__append(void *notes, size_t size, uint32_t type, const char *owner,
			  const void *data, size_t data_size)
{
	const Elf64_Nhdr header = {.n_namesz = (Elf64_Word)strlen(owner) + 1,
				   .n_descsz = (Elf64_Word)data_size,
				   .n_type = type};
	unsigned char *at = (unsigned char *)notes + size;
	size_t owner_room = (header.n_namesz + 3) & ~3U, data_room = (data_size + 3) & ~(size_t)3;

	memset(at, 0, sizeof(header) + owner_room + data_room);
	memcpy(at, &header, sizeof(header));
	memcpy(at + sizeof(header), owner, header.n_namesz);
	memcpy(at + sizeof(header) + owner_room, data, data_size);
	return size + sizeof(header) + owner_room + data_room;
}

size_t image_note__append_usdt(void *notes, size_t size, bool is_32bit, const uint64_t addresses[3],
			       const char *text, size_t text_size)
{
	const uint32_t narrow[3] = {(uint32_t)addresses[0], (uint32_t)addresses[1],
				    (uint32_t)addresses[2]};
	size_t head = is_32bit ? sizeof(narrow) : 3 * sizeof(addresses[0]);
	unsigned char data[1024];

	if (head + text_size > sizeof(data))
		abort();
	memcpy(data, is_32bit ? (const void *)narrow : addresses, head);
	memcpy(data + head, text, text_size);
	return image_note__append(notes, size, 3, "stapsdt", data, head + text_size);
}

/* Notes, .stapsdt.base, and the names of sections; .stapsdt.base is the only section named. */
static size_t append_notes(struct elf_image *image, const struct image_spec *spec,
			   Elf64_Shdr sections[3])
{
	static const char names[] = "\0.stapsdt.base";

	sections[0] = (Elf64_Shdr){
		.sh_type = SHT_NOTE, .sh_offset = image->size, .sh_size = spec->notes_size};
	append(image, spec->notes, spec->notes_size);
	sections[1] = (Elf64_Shdr){.sh_name = spec->stapsdt_base ? 1 : 0,
				   .sh_type = SHT_PROGBITS,
				   .sh_flags = SHF_ALLOC,
				   .sh_addr = spec->stapsdt_base,
				   .sh_size = 1};
	sections[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = image->size, .sh_size = sizeof(names)};
	append(image, names, sizeof(names));
	return 3;
}

/* What a symbol's entry says of its section; what has no room there is in SHT_SYMTAB_SHNDX. */
static uint16_t section_in_entry(uint32_t section)
{
	return section < SHN_LORESERVE ? (uint16_t)section : SHN_XINDEX;
}

static uint32_t section_of(const struct image_spec *spec, const struct image_symbol *symbol)
{
	if (symbol->section >= SHN_LORESERVE)
		return symbol->section;
	return (uint32_t)spec->nr_before + (symbol->section ? symbol->section : IMAGE_TEXT_SECTION);
}

/* A table and its names; sections[0] and [1] become theirs, number the first one's. */
static void append_table(struct elf_image *image, const struct image_spec *spec,
			 const struct image_table *table, Elf64_Shdr sections[2], size_t number)
{
	size_t entry = spec->is_32bit ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	uint32_t name = 1;

	sections[0] = (Elf64_Shdr){.sh_type = table->type,
				   .sh_offset = image->size,
				   .sh_size = entry * (table->nr + 1),
				   .sh_link = (uint32_t)(spec->nr_before + number) + 1,
				   .sh_entsize = entry};
	append_symbol(image, spec->is_32bit, &(Elf64_Sym){0});
	for (size_t i = 0; i < table->nr; i++) {
		const struct image_symbol *symbol = &table->symbols[i];
		uint16_t section = symbol->section >= SHN_LORESERVE ?
					   symbol->section :
					   section_in_entry(section_of(spec, symbol));

		append_symbol(image, spec->is_32bit,
			      &(Elf64_Sym){.st_name = name,
					   .st_value = symbol->start,
					   .st_size = symbol->size,
					   .st_info = symbol->info,
					   .st_shndx = section});
		name += (uint32_t)strlen(symbol->name) + 1;
	}
	sections[1] =
		(Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = image->size, .sh_size = name};
	append(image, "", 1);
	for (size_t i = 0; i < table->nr; i++)
		append(image, table->symbols[i].name, strlen(table->symbols[i].name) + 1);
}

/* The numbers of sections for a table, as if none had room in its entries. */
static void append_numbers(struct elf_image *image, const struct image_spec *spec,
			   const struct image_table *table, Elf64_Shdr *section, size_t number)
{
	uint32_t value = 0;

	*section = (Elf64_Shdr){.sh_type = SHT_SYMTAB_SHNDX,
				.sh_offset = image->size,
				.sh_size = (table->nr + 1) * sizeof(value),
				.sh_link = (uint32_t)(spec->nr_before + number),
				.sh_entsize = sizeof(value)};
	append(image, &value, sizeof(value));
	for (size_t i = 0; i < table->nr; i++) {
		value = section_of(spec, &table->symbols[i]);
		append(image, &value, sizeof(value));
	}
}

static void write_ehdr(struct elf_image *image, bool is_32bit, size_t shoff, size_t sections,
		       size_t names)
{
	Elf64_Ehdr wide = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_shoff = shoff,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = sections < SHN_LORESERVE ? (Elf64_Half)sections : 0,
		.e_shstrndx = section_in_entry((uint32_t)names),
	};
	Elf32_Ehdr narrow = {
		.e_type = ET_EXEC,
		.e_machine = EM_386,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf32_Ehdr),
		.e_shoff = (Elf32_Off)shoff,
		.e_ehsize = sizeof(Elf32_Ehdr),
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf32_Shdr),
		.e_shnum = wide.e_shnum,
		.e_shstrndx = wide.e_shstrndx,
	};

	memcpy(narrow.e_ident, wide.e_ident, EI_NIDENT);
	narrow.e_ident[EI_CLASS] = ELFCLASS32;
	if (is_32bit)
		memcpy(image->bytes, &narrow, sizeof(narrow));
	else
		memcpy(image->bytes, &wide, sizeof(wide));
}

struct elf_image elf_image__make(const struct image_spec *spec)
{
	Elf64_Shdr sections[2 + 3 * IMAGE_TABLES + 3] = {
		{0},
		{.sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		 .sh_addr = IMAGE_TEXT_ADDRESS,
		 .sh_offset = IMAGE_TEXT_OFFSET,
		 .sh_size = IMAGE_TEXT_SIZE},
	};
	const Elf64_Ehdr no_header = {0};
	struct elf_image image = {0};
	size_t before = spec->nr_before, nr = 2, names, shoff;

	append(&image, &no_header, spec->is_32bit ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr));
	append_segments(&image, spec->is_32bit);
	for (size_t i = 0; i < IMAGE_TABLES && spec->tables[i].type; i++, nr += 2)
		append_table(&image, spec, &spec->tables[i], &sections[nr], nr);
	for (size_t i = 0; before && i < IMAGE_TABLES && spec->tables[i].type; i++)
		append_numbers(&image, spec, &spec->tables[i], &sections[nr++],
			       IMAGE_TABLE_SECTION(i));
	if (spec->notes)
		nr += append_notes(&image, spec, &sections[nr]);
	append(&image, &no_header, -image.size % sizeof(uint64_t));
	names = spec->notes ? before + nr - 1 : 0;
	/* What has no room in the file header. */
	sections[0].sh_size = before + nr < SHN_LORESERVE ? 0 : before + nr;
	sections[0].sh_link = names < SHN_LORESERVE ? 0 : (uint32_t)names;
	shoff = image.size;
	append_shdr(&image, spec->is_32bit, &sections[0]);
	for (size_t i = 0; i < before; i++)
		append_shdr(&image, spec->is_32bit, &(Elf64_Shdr){.sh_type = SHT_PROGBITS});
	for (size_t i = 1; i < nr; i++)
		append_shdr(&image, spec->is_32bit, &sections[i]);
	write_ehdr(&image, spec->is_32bit, shoff, before + nr, names);
	/* The image ends where its memory does, so that sanitizers see reads behind it. */
	resize(&image, image.size);
	return image;
}

Elf64_Ehdr *elf_image__ehdr(const struct elf_image *image)
{
	return (Elf64_Ehdr *)image->bytes;
}

Elf64_Phdr *elf_image__phdr(const struct elf_image *image)
{
	return (Elf64_Phdr *)(image->bytes + elf_image__ehdr(image)->e_phoff);
}

Elf64_Shdr *elf_image__shdr(const struct elf_image *image, size_t section)
{
	return (Elf64_Shdr *)(image->bytes + elf_image__ehdr(image)->e_shoff) + section;
}

void elf_image__drop_sections(const struct elf_image *image)
{
	Elf64_Ehdr *ehdr = elf_image__ehdr(image);

	ehdr->e_shoff = 0;
	ehdr->e_shnum = 0;
	ehdr->e_shstrndx = 0;
}

void elf_image__free(struct elf_image *image)
{
	free(image->bytes);
	*image = (struct elf_image){0};
}
