// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "sym/dwarf/image.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"

/* Bytes of each of the three parts of a path: a longer one is no path. */
#define PATH_PART_MAX 4096
/* Facts that a producer may state about each file or folder; there are five kinds of them. */
#define FORMATS_MAX 16
/* Entries without facts take no bytes, and a producer can claim any number of them. */
#define ENTRIES_MAX (1024 * 1024)

struct entry_format {
	uint64_t content, form;
};

struct entry {
	const char *path;
	uint64_t folder;
};

/* A string of another section, "" if it has none there. The image ends it. */
static const char *string_at(const struct debug_image *image, enum debug_section section,
			     uint64_t offset)
{
	const struct debug_bytes *bytes = &image->sections[section];

	return offset < bytes->size ? (const char *)bytes->bytes + offset : "";
}

/* Read a value: into *text if it is a string, else into *number. */
static void read_form(const struct debug_lines *lines, struct byte_reader *reader, uint64_t form,
		      const char **text, uint64_t *number)
{
	switch (form) {
	case DW_FORM_string:
		*text = byte_reader__string(reader);
		break;
	case DW_FORM_line_strp:
		*text = string_at(lines->image, DEBUG_LINE_STR,
				  byte_reader__number(reader, lines->offset_size));
		break;
	case DW_FORM_strp:
		*text = string_at(lines->image, DEBUG_STR,
				  byte_reader__number(reader, lines->offset_size));
		break;
	case DW_FORM_udata:
		*number = byte_reader__uleb(reader);
		break;
	case DW_FORM_data1:
		*number = byte_reader__number(reader, 1);
		break;
	case DW_FORM_data2:
		*number = byte_reader__number(reader, 2);
		break;
	case DW_FORM_data4:
		*number = byte_reader__number(reader, 4);
		break;
	case DW_FORM_data8:
		*number = byte_reader__number(reader, 8);
		break;
	case DW_FORM_data16:
		byte_reader__skip(reader, 16);
		break;
	case DW_FORM_block:
		byte_reader__skip(reader, byte_reader__uleb(reader));
		break;
	default:
		byte_reader__fail(reader);
	}
}

static void read_entry(const struct debug_lines *lines, struct byte_reader *reader,
		       const struct entry_format *formats, size_t nr, struct entry *entry)
{
	*entry = (struct entry){.path = ""};
	for (size_t i = 0; i < nr; i++) {
		const char *text = "";
		uint64_t number = 0;

		read_form(lines, reader, formats[i].form, &text, &number);
		if (formats[i].content == DW_LNCT_path)
			entry->path = text;
		else if (formats[i].content == DW_LNCT_directory_index)
			entry->folder = number;
	}
}

static int add_folder(struct debug_lines *lines, const char *name)
{
	if (ARRAY_GROW(lines->folders, lines->nr_folders, lines->folders_capacity))
		return -ENOMEM;
	lines->folders[lines->nr_folders++] = name;
	return 0;
}

static int add_file(struct debug_lines *lines, const char *name, uint64_t folder)
{
	if (ARRAY_GROW(lines->files, lines->nr_files, lines->files_capacity))
		return -ENOMEM;
	lines->files[lines->nr_files++] = (struct debug_line_file){.name = name, .folder = folder};
	return 0;
}

/* Read the folders, or the files, of version 5: a description of what an entry has, and entries. */
static int read_entries(struct debug_lines *lines, struct byte_reader *reader, bool are_files,
			const struct work *work)
{
	struct entry_format formats[FORMATS_MAX];
	size_t nr_formats = byte_reader__number(reader, 1);
	uint64_t nr;

	if (nr_formats > FORMATS_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < nr_formats; i++) {
		formats[i].content = byte_reader__uleb(reader);
		formats[i].form = byte_reader__uleb(reader);
	}
	nr = byte_reader__uleb(reader);
	if (nr > ENTRIES_MAX)
		return -EBADMSG;
	for (uint64_t i = 0; i < nr && !reader->failed; i++) {
		struct entry entry;
		int err;

		if (!work__is_left(work))
			return -EFBIG;
		work__charge(work, 1);
		read_entry(lines, reader, formats, nr_formats, &entry);
		err = are_files ? add_file(lines, entry.path, entry.folder) :
				  add_folder(lines, entry.path);
		if (err)
			return err;
	}
	return 0;
}

/* Read the entries of versions 2 to 4: folder 0 is the compilation's, there is no file 0. */
static int read_old_entries(struct debug_lines *lines, struct byte_reader *reader,
			    const struct work *work)
{
	const char *name;
	int err = add_folder(lines, "");

	while (!err && *(name = byte_reader__string(reader))) {
		err = work__is_left(work) ? add_folder(lines, name) : -EFBIG;
		work__charge(work, 1);
	}
	if (!err)
		err = add_file(lines, "", 0);
	while (!err && *(name = byte_reader__string(reader))) {
		err = work__is_left(work) ? add_file(lines, name, byte_reader__uleb(reader)) :
					    -EFBIG;
		byte_reader__uleb(reader); /* when it was changed */
		byte_reader__uleb(reader); /* its length */
		work__charge(work, 1);
	}
	return err;
}

static int read_header(struct debug_lines *lines, struct byte_reader *reader,
		       const struct work *work)
{
	uint64_t length = byte_reader__number(reader, 4), header_length;
	struct byte_reader header;
	int err;

	lines->offset_size = length == 0xffffffff ? 8 : 4;
	if (lines->offset_size == 8)
		length = byte_reader__number(reader, 8);
	if (length > byte_reader__left(reader))
		return -EBADMSG;
	reader->end = reader->at + length;
	lines->version = (uint8_t)byte_reader__number(reader, 2);
	if (lines->version < 2 || lines->version > 5)
		return -EBADMSG;
	if (lines->version == 5) {
		lines->address_size = (uint8_t)byte_reader__number(reader, 1);
		byte_reader__skip(reader, 1); /* segment selectors: of no machine that we know */
	}
	header_length = byte_reader__number(reader, lines->offset_size);
	if (header_length > byte_reader__left(reader))
		return -EBADMSG;
	header = (struct byte_reader){.at = reader->at, .end = reader->at + header_length};
	lines->program = (struct byte_reader){.at = header.end, .end = reader->end};
	lines->min_instruction_length = (uint8_t)byte_reader__number(&header, 1);
	if (lines->version >= 4)
		byte_reader__skip(&header, 1); /* operations in an instruction: only of VLIW */
	byte_reader__skip(&header, 1);	       /* rows begin statements, or not */
	lines->line_base = (int8_t)byte_reader__number(&header, 1);
	lines->line_range = (uint8_t)byte_reader__number(&header, 1);
	lines->opcode_base = (uint8_t)byte_reader__number(&header, 1);
	lines->opcode_lengths = header.at;
	byte_reader__skip(&header, lines->opcode_base ? lines->opcode_base - 1 : 0);
	if (header.failed || lines->opcode_base == 0 || lines->line_range == 0)
		return -EBADMSG;
	if (lines->version < 5)
		return read_old_entries(lines, &header, work);
	err = read_entries(lines, &header, false, work);
	return err ? err : read_entries(lines, &header, true, work);
}

int debug_lines__open(struct debug_lines *lines, const struct debug_image *image, uint64_t offset,
		      uint8_t address_size, const char *compilation_folder, const struct work *work)
{
	const struct debug_bytes *section = &image->sections[DEBUG_LINE];
	struct debug_lines opened = {.image = image,
				     .address_size = address_size,
				     .compilation_folder = compilation_folder};
	struct byte_reader reader;
	int err;

	if (offset >= section->size)
		return -EBADMSG;
	reader = (struct byte_reader){.at = section->bytes + offset,
				      .end = section->bytes + section->size};
	err = read_header(&opened, &reader, work);
	if (err) {
		debug_lines__release(&opened);
		return err;
	}
	*lines = opened;
	return 0;
}

void debug_lines__release(struct debug_lines *lines)
{
	free(lines->folders);
	free(lines->files);
	arena__release(&lines->paths);
	*lines = (struct debug_lines){0};
}

/* The folder that a relative path begins with, or "". */
static const char *folder_of(const struct debug_lines *lines, uint64_t folder)
{
	return folder < lines->nr_folders ? lines->folders[folder] : "";
}

const char *debug_lines__path(struct debug_lines *lines, uint64_t number)
{
	const char *parts[3] = {"", "", ""};
	size_t lengths[3], size = 0;
	struct debug_line_file *file;
	char *path, *end;

	if (number >= lines->nr_files || !*lines->files[number].name)
		return NULL;
	file = &lines->files[number];
	if (file->path)
		return file->path;
	parts[2] = file->name;
	if (*parts[2] != '/')
		parts[1] = folder_of(lines, file->folder);
	if (*parts[2] != '/' && *parts[1] != '/' && lines->compilation_folder)
		parts[0] = lines->compilation_folder;
	for (int i = 0; i < 3; i++) {
		lengths[i] = strnlen(parts[i], PATH_PART_MAX);
		size += lengths[i] + 1;
	}
	path = arena__alloc(&lines->paths, size);
	if (!path)
		return NULL;
	end = path;
	for (int i = 0; i < 3; i++) {
		end = mempcpy(end, parts[i], lengths[i]);
		if (i < 2 && lengths[i])
			*end++ = '/';
	}
	*end = '\0';
	file->path = path;
	return path;
}
