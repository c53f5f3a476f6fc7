// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/file.h"

#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What a file can make us do is bounded. Programs have some tens of sections and segments. */
#define SECTIONS_MAX 4096
#define SEGMENTS_MAX 1024

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

/* All size bytes at offset: 0, or -EIO. */
static int read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	return read_some(fd, buffer, size, offset) == size ? 0 : -EIO;
}

/*
 * libelf allocates by the counts that the file states, and believes them as long
 * as the file, however sparse, is long enough: look at them before it does.
 */
static int check_counts(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr ehdr32;
		Elf64_Ehdr ehdr64;
	} header = {{0}};
	int data = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	uint64_t sections, first;

	if (read_at(fd, &header, sizeof(header.ehdr32), 0) ||
	    memcmp(header.ident, ELFMAG, SELFMAG) || header.ident[EI_DATA] != data)
		return -ENOEXEC;
	if (header.ident[EI_CLASS] == ELFCLASS64) {
		if (read_at(fd, &header, sizeof(header.ehdr64), 0))
			return -ENOEXEC;
		sections = header.ehdr64.e_shnum;
		first = header.ehdr64.e_shoff;
	} else {
		sections = header.ehdr32.e_shnum;
		first = header.ehdr32.e_shoff;
	}
	/* 0 sections but a table of them: the count is in the first entry, and above 65,279. */
	return sections > SECTIONS_MAX || (sections == 0 && first != 0) ? -ENOEXEC : 0;
}

static int read_segments(struct elf_file *elf, Elf *file)
{
	size_t nr;

	if (elf_getphdrnum(file, &nr) || nr > SEGMENTS_MAX)
		return -ENOEXEC;
	elf->segments = calloc(nr + 1, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct elf_segment segment;
		GElf_Phdr phdr;

		if (!gelf_getphdr(file, (int)i, &phdr))
			continue;
		segment = (struct elf_segment){
			.offset = phdr.p_offset,
			.size = phdr.p_filesz,
			.address = phdr.p_vaddr,
			.memory = phdr.p_memsz,
			.flags = phdr.p_flags,
		};
		if (phdr.p_type == PT_LOAD)
			elf->segments[elf->nr_segments++] = segment;
		else if (phdr.p_type == PT_GNU_EH_FRAME)
			elf->eh_frame_header = segment;
	}
	return 0;
}

static int read_sections(struct elf_file *elf, Elf *file)
{
	size_t nr;

	if (elf_getshdrnum(file, &nr) || nr > SECTIONS_MAX)
		return -ENOEXEC;
	elf->sections = calloc(nr + 1, sizeof(*elf->sections));
	if (!elf->sections)
		return -ENOMEM;
	if (elf_getshdrstrndx(file, &elf->section_names))
		elf->section_names = nr;
	elf->nr_sections = nr;
	for (size_t i = 0; i < nr; i++) {
		Elf_Scn *section = elf_getscn(file, i);
		GElf_Shdr shdr;

		if (!section || !gelf_getshdr(section, &shdr))
			continue;
		elf->sections[i] = (struct elf_section){
			.address = shdr.sh_addr,
			.offset = shdr.sh_offset,
			.size = shdr.sh_size,
			.entry_size = shdr.sh_entsize,
			.flags = shdr.sh_flags,
			.type = shdr.sh_type,
			.link = shdr.sh_link,
			.name = shdr.sh_name,
		};
	}
	return 0;
}

int elf_file__open(struct elf_file *elf, int fd)
{
	struct elf_file opened = {.fd = fd};
	GElf_Ehdr ehdr;
	Elf *file;
	int err = check_counts(fd);

	if (err)
		return err;
	elf_version(EV_CURRENT);
	/* Not ELF_C_READ_MMAP: a file that is cut short meanwhile must not kill us. */
	file = elf_begin(fd, ELF_C_READ, NULL);
	if (!file || elf_kind(file) != ELF_K_ELF)
		err = -ENOEXEC;
	opened.is_64bit = !err && gelf_getclass(file) == ELFCLASS64;
	if (!err && gelf_getehdr(file, &ehdr)) {
		opened.machine = ehdr.e_machine;
		opened.entry = ehdr.e_entry;
	}
	if (!err)
		err = read_segments(&opened, file);
	if (!err)
		err = read_sections(&opened, file);
	elf_end(file);
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

void elf_file__section_name(const struct elf_file *elf, const struct elf_section *section,
			    char *name, size_t size)
{
	const struct elf_section *names;
	size_t room = 0;

	if (elf->section_names < elf->nr_sections) {
		names = &elf->sections[elf->section_names];
		if (section->name < names->size)
			room = names->size - section->name < size - 1 ?
				       names->size - section->name :
				       size - 1;
		room = read_some(elf->fd, name, room, names->offset + section->name);
	}
	name[room] = '\0';
}

/* Outside of memory, tables and notes are passed over: a name costs a system call. */
const struct elf_section *elf_file__find_section(const struct elf_file *elf, const char *name,
						 bool in_memory)
{
	for (size_t i = 0; i < elf->nr_sections; i++) {
		const struct elf_section *section = &elf->sections[i];
		char found[32];

		if (((section->flags & SHF_ALLOC) != 0) != in_memory ||
		    (!in_memory && section->type != SHT_PROGBITS))
			continue;
		elf_file__section_name(elf, section, found, sizeof(found));
		if (!strcmp(found, name))
			return section;
	}
	return NULL;
}
