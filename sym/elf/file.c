// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/file.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sym/util/cleanup.h"

/*
 * What a file can make us do is bounded by bytes: those of its headers of sections, and of their
 * names. Programs have some tens of sections, but can have one for each function: 131,072 headers
 * of 64-bit files have room. The kernel runs no program with more bytes of segments.
 */
#define SECTIONS_BYTES_MAX ((size_t)8 * 1024 * 1024)
#define NAMES_BYTES_MAX	   ((size_t)8 * 1024 * 1024)
#define SEGMENTS_BYTES_MAX ((size_t)64 * 1024)

/* Up to size bytes at offset; returns how many the file has there (still). */
static size_t read_some(int fd, void *buffer, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size && offset <= INT64_MAX - size) {
		ssize_t got = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* fstat() of libc is newfstatat(), which takes paths: a sandbox does not have that. */
int elf_file__stat(const struct elf_file *elf, struct stat *st)
{
	return syscall(SYS_fstat, elf->fd, st) ? -errno : 0;
}

size_t elf_file__read(const struct elf_file *elf, void *buffer, size_t size, uint64_t offset)
{
	return read_some(elf->fd, buffer, size, offset);
}

/* A file header of either class. Nothing is read twice: what has been checked stays as it was. */
struct header {
	uint64_t entry;
	uint64_t segments, sections; /* where their headers begin */
	size_t nr_segments, segment_size;
	size_t nr_sections, section_size;
	size_t section_names;
	uint16_t machine;
	bool is_64bit;
};

#define HEADER(ehdr, class)                                                                        \
	((struct header){                                                                          \
		.entry = (ehdr).e_entry,                                                           \
		.segments = (ehdr).e_phoff,                                                        \
		.sections = (ehdr).e_shoff,                                                        \
		.nr_segments = (ehdr).e_phnum,                                                     \
		.segment_size = (ehdr).e_phentsize,                                                \
		.nr_sections = (ehdr).e_shnum,                                                     \
		.section_size = (ehdr).e_shentsize,                                                \
		.section_names = (ehdr).e_shstrndx,                                                \
		.machine = (ehdr).e_machine,                                                       \
		.is_64bit = (class) == ELFCLASS64,                                                 \
	})

static int read_header(int fd, struct header *header)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr ehdr32;
		Elf64_Ehdr ehdr64;
	} read = {{0}};
	int data = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	size_t size = read_some(fd, &read, sizeof(read), 0);
	unsigned char class = read.ident[EI_CLASS];

	if (memcmp(read.ident, ELFMAG, SELFMAG) || read.ident[EI_DATA] != data)
		return -ENOEXEC;
	if (class == ELFCLASS64 && size == sizeof(read.ehdr64))
		*header = HEADER(read.ehdr64, class);
	else if (class == ELFCLASS32 && size >= sizeof(read.ehdr32))
		*header = HEADER(read.ehdr32, class);
	else
		return -ENOEXEC;
	return 0;
}

/*
 * A table of *nr entries, to be freed by the caller; NULL without memory. *nr becomes how many of
 * them the file has: none if they are of another size.
 */
static void *read_table(int fd, uint64_t offset, size_t *nr, size_t size, bool has_size)
{
	void *table = calloc(*nr + 1, size);

	*nr = table && has_size ? read_some(fd, table, *nr * size, offset) / size : 0;
	return table;
}

static size_t segment_size(const struct header *header)
{
	return header->is_64bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}

static size_t section_size(const struct header *header)
{
	return header->is_64bit ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

#define SEGMENT(phdr)                                                                              \
	((struct elf_segment){                                                                     \
		.offset = (phdr).p_offset,                                                         \
		.size = (phdr).p_filesz,                                                           \
		.address = (phdr).p_vaddr,                                                         \
		.memory = (phdr).p_memsz,                                                          \
		.flags = (phdr).p_flags,                                                           \
	})

static void take_segment(struct elf_file *elf, uint32_t type, struct elf_segment segment)
{
	if (type == PT_LOAD)
		elf->segments[elf->nr_segments++] = segment;
	else if (type == PT_GNU_EH_FRAME)
		elf->eh_frame_header = segment;
}

static int read_segments(struct elf_file *elf, const struct header *header)
{
	size_t nr = header->nr_segments, size = segment_size(header);
	CLEANUP_FREE void *table = NULL;
	const Elf64_Phdr *phdrs64;
	const Elf32_Phdr *phdrs32;

	if (nr > SEGMENTS_BYTES_MAX / size)
		return -ENOEXEC;
	table = read_table(elf->fd, header->segments, &nr, size, header->segment_size == size);
	phdrs64 = table;
	phdrs32 = table;
	elf->segments = calloc(nr + 1, sizeof(*elf->segments));
	if (!table || !elf->segments)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (header->is_64bit)
			take_segment(elf, phdrs64[i].p_type, SEGMENT(phdrs64[i]));
		else
			take_segment(elf, phdrs32[i].p_type, SEGMENT(phdrs32[i]));
	return 0;
}

#define SECTION(shdr)                                                                              \
	((struct elf_section){                                                                     \
		.address = (shdr).sh_addr,                                                         \
		.offset = (shdr).sh_offset,                                                        \
		.size = (shdr).sh_size,                                                            \
		.entry_size = (shdr).sh_entsize,                                                   \
		.flags = (shdr).sh_flags,                                                          \
		.type = (shdr).sh_type,                                                            \
		.link = (shdr).sh_link,                                                            \
		.name = (shdr).sh_name,                                                            \
	})

/* So many of the file's sections, from the first on. */
static int read_sections_up_to(struct elf_file *elf, const struct header *header, size_t nr)
{
	size_t size = section_size(header);
	CLEANUP_FREE void *table =
		read_table(elf->fd, header->sections, &nr, size, header->section_size == size);
	const Elf64_Shdr *shdrs64 = table;
	const Elf32_Shdr *shdrs32 = table;

	free(elf->sections);
	elf->sections = calloc(nr + 1, sizeof(*elf->sections));
	if (!table || !elf->sections)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		elf->sections[i] = header->is_64bit ? SECTION(shdrs64[i]) : SECTION(shdrs32[i]);
	elf->nr_sections = nr;
	return 0;
}

/*
 * What does not fit the file header is in the first section, which is none (gABI, 4): the number of
 * sections, where the file header says 0, and of the one with names. What more there are than have
 * room is left out.
 */
static int read_sections(struct elf_file *elf, struct header *header)
{
	uint64_t nr = header->nr_sections, most = SECTIONS_BYTES_MAX / section_size(header);
	int err;

	if (!header->sections)
		return read_sections_up_to(elf, header, 0);
	err = read_sections_up_to(elf, header, 1);
	if (err)
		return err;
	if (!nr && elf->sections[0].type == SHT_NULL)
		nr = elf->sections[0].size;
	if (header->section_names == SHN_XINDEX)
		header->section_names = elf->sections[0].link;
	return read_sections_up_to(elf, header, nr < most ? nr : most);
}

/* The names of sections, with a NUL behind them. */
static int read_names(struct elf_file *elf, const struct header *header)
{
	const struct elf_section *names;
	size_t size;

	if (header->section_names == SHN_UNDEF || header->section_names >= elf->nr_sections)
		return 0;
	names = &elf->sections[header->section_names];
	if (names->type == SHT_NOBITS)
		return 0;
	size = names->size < NAMES_BYTES_MAX ? names->size : NAMES_BYTES_MAX;
	elf->names = calloc(1, size + 1);
	if (!elf->names)
		return -ENOMEM;
	elf->names_size = read_some(elf->fd, elf->names, size, names->offset);
	return 0;
}

int elf_file__open(struct elf_file *elf, int fd)
{
	struct header header;
	struct elf_file opened;
	int err = read_header(fd, &header);

	if (err)
		return err;
	opened = (struct elf_file){
		.fd = fd,
		.is_64bit = header.is_64bit,
		.machine = header.machine,
		.entry = header.entry,
	};
	err = read_segments(&opened, &header);
	if (!err)
		err = read_sections(&opened, &header);
	if (!err)
		err = read_names(&opened, &header);
	if (err) {
		elf_file__close(&opened);
		return err;
	}
	*elf = opened;
	return 0;
}

void elf_file__close(struct elf_file *elf)
{
	free(elf->segments);
	free(elf->sections);
	free(elf->names);
	*elf = (struct elf_file){.fd = -1};
}

bool elf_file__address(const struct elf_file *elf, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->size) {
			*address = offset - segment->offset + segment->address;
			return true;
		}
	}
	return false;
}

const struct elf_segment *elf_file__segment(const struct elf_file *elf, uint64_t address,
					    uint32_t flags)
{
	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if ((segment->flags & flags) == flags && address >= segment->address &&
		    address - segment->address < segment->size)
			return segment;
	}
	return NULL;
}

bool elf_file__offset(const struct elf_file *elf, uint64_t address, uint32_t flags,
		      uint64_t *offset)
{
	const struct elf_segment *segment = elf_file__segment(elf, address, flags);

	if (!segment)
		return false;
	*offset = address - segment->address + segment->offset;
	return true;
}

/* In pieces: most strings are short, and their ends are not known. */
size_t elf_file__string(const struct elf_file *elf, const struct elf_section *table,
			uint64_t offset, char *string, size_t size)
{
	size_t length = 0, chunk = 128;

	for (; length < size - 1; chunk = size) {
		uint64_t at = offset + length;
		size_t room = size - 1 - length;
		size_t got, end;

		if (at < offset || at >= table->size)
			break;
		if (room > chunk)
			room = chunk;
		if (room > table->size - at)
			room = table->size - at;
		got = read_some(elf->fd, string + length, room, table->offset + at);
		end = strnlen(string + length, got);
		length += end;
		if (end < room)
			break; /* its NUL, or the end of the file */
	}
	string[length] = '\0';
	return length;
}

const char *elf_file__section_name(const struct elf_file *elf, const struct elf_section *section)
{
	return section->name < elf->names_size ? elf->names + section->name : "";
}

const struct elf_section *elf_file__find_section(const struct elf_file *elf, const char *name,
						 bool in_memory)
{
	for (size_t i = 0; i < elf->nr_sections; i++) {
		const struct elf_section *section = &elf->sections[i];

		if (((section->flags & SHF_ALLOC) != 0) != in_memory ||
		    (!in_memory && section->type != SHT_PROGBITS))
			continue;
		if (!strcmp(elf_file__section_name(elf, section), name))
			return section;
	}
	return NULL;
}
