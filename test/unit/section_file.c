// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/unit/section_file.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME_SIZE 32

static uint64_t align(uint64_t size)
{
	return (size + 15) / 16 * 16;
}

void section_file__make(struct section_file *file, const struct file_section *sections, size_t nr)
{
	const size_t names = align(sizeof(Elf64_Ehdr) + (nr + 2) * sizeof(Elf64_Shdr));
	size_t at = align(names + (nr + 1) * NAME_SIZE);
	Elf64_Ehdr *ehdr;

	file->size = at;
	for (size_t i = 0; i < nr; i++)
		file->size += align(sections[i].size);
	file->bytes = calloc(1, file->size);
	if (!file->bytes)
		abort();
	ehdr = (Elf64_Ehdr *)file->bytes;
	*ehdr = (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB,
					 EV_CURRENT},
			     .e_type = ET_DYN,
			     .e_version = EV_CURRENT,
			     .e_shoff = sizeof(*ehdr),
			     .e_ehsize = sizeof(*ehdr),
			     .e_shentsize = sizeof(Elf64_Shdr),
			     .e_shnum = (Elf64_Half)(nr + 2),
			     .e_shstrndx = (Elf64_Half)(nr + 1)};
	file->headers = (Elf64_Shdr *)(file->bytes + ehdr->e_shoff);
	file->headers[nr + 1] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = names, .sh_size = (nr + 1) * NAME_SIZE};
	for (size_t i = 0; i < nr; i++) {
		const size_t name = (i + 1) * NAME_SIZE;

		strncpy((char *)file->bytes + names + name, sections[i].name, NAME_SIZE - 1);
		file->headers[i + 1] = (Elf64_Shdr){.sh_name = (Elf64_Word)name,
						    .sh_type = SHT_PROGBITS,
						    .sh_flags = sections[i].flags,
						    .sh_offset = at,
						    .sh_size = sections[i].size};
		memcpy(file->bytes + at, sections[i].bytes, sections[i].size);
		at += align(sections[i].size);
	}
}

void section_file__open(struct section_file *file)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	if (fd < 0 || write(fd, file->bytes, file->size) != (ssize_t)file->size ||
	    elf_file__open(&file->elf, fd))
		abort();
}

void section_file__close(struct section_file *file)
{
	if (file->elf.fd >= 0)
		close(file->elf.fd);
	elf_file__close(&file->elf);
	free(file->bytes);
}
