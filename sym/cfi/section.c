// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/section.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>

#include "sym/cfi/pointer.h"
#include "sym/elf/byte_reader.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* The largest browsers have half a million. */
#define FUNCTIONS_MAX ((size_t)4 * 1024 * 1024)

/* A CIE, and what its augmentation says. */
struct common {
	uint64_t offset; /* in the section */
	Dwarf_CIE cie;
	struct cfi_augmentation augmentation;
};

struct function {
	uint64_t start, end;
	uint64_t offset; /* of its FDE in the section */
};

struct function_list {
	struct function *items;
	size_t nr, capacity;
};

struct reading {
	const struct cfi_section *section;
	const struct work *work;
	unsigned char ident[EI_NIDENT];
	Elf_Data data;
	struct common common; /* the CIE that was used last */
	bool has_common;
};

/* Only files of 64 bits have tables. */
#define WORD sizeof(uint64_t)

static uint64_t read_pointer(const struct cfi_section *section, struct byte_reader *reader,
			     uint8_t encoding)
{
	uint64_t place = section->address + (uint64_t)(reader->at - section->bytes.bytes);

	return cfi_pointer__read(reader, place, encoding, WORD);
}

/* ---- the header ---- */

#define HEADER_VERSION 1

bool cfi_section__find(struct cfi_bytes header, uint64_t address, uint64_t *eh_frame)
{
	const struct cfi_section section = {.bytes = header, .address = address};
	struct byte_reader reader = {.at = header.bytes, .end = header.bytes + header.size};
	uint64_t version = byte_reader__number(&reader, 1);
	uint8_t encoding = (uint8_t)byte_reader__number(&reader, 1);
	bool is_relative = (encoding & 0xf0) == DW_EH_PE_datarel; /* to the header */
	uint64_t pointer;

	byte_reader__skip(&reader, 2); /* the encodings of the table behind the pointer */
	if (is_relative)
		encoding &= 0x0f;
	if (version != HEADER_VERSION || !cfi_pointer__is_readable(encoding, WORD))
		return false;
	pointer = read_pointer(&section, &reader, encoding);
	if (reader.failed)
		return false;
	*eh_frame = is_relative ? pointer + address : pointer;
	return true;
}

/* ---- entries ---- */

/* Read the entry at offset; *next: where the one behind it is. False if it is not sound. */
static bool read_entry(struct reading *reading, uint64_t offset, uint64_t *next,
		       Dwarf_CFI_Entry *entry)
{
	work__charge(reading->work, 1);
	return dwarf_next_cfi(reading->ident, &reading->data, reading->section->is_eh_frame, offset,
			      next, entry) == 0 &&
	       *next > offset && *next <= reading->section->bytes.size;
}

/* The CIE at offset becomes the one in use. */
static bool use_common(struct reading *reading, uint64_t offset)
{
	struct common common = {.offset = offset};
	struct byte_reader data;
	Dwarf_CFI_Entry entry;
	uint64_t next;

	if (reading->has_common && reading->common.offset == offset)
		return true;
	if (offset >= reading->section->bytes.size || !read_entry(reading, offset, &next, &entry) ||
	    !dwarf_cfi_cie_p(&entry))
		return false;
	common.cie = entry.cie;
	data = (struct byte_reader){.at = entry.cie.augmentation_data,
				    .end = entry.cie.augmentation_data +
					   entry.cie.augmentation_data_size};
	common.augmentation = cfi_augmentation__read(entry.cie.augmentation, &data, WORD);
	reading->common = common;
	reading->has_common = true;
	return true;
}

/* Read the addresses of an FDE whose CIE is in use, up to its instructions. */
static bool read_range(const struct reading *reading, struct byte_reader *reader, uint64_t *start,
		       uint64_t *end)
{
	const struct common *common = &reading->common;
	uint8_t encoding = common->augmentation.encoding;

	if (encoding == CFI_NO_POINTERS)
		return false;
	*start = read_pointer(reading->section, reader, encoding);
	if (__builtin_add_overflow(*start, read_pointer(reading->section, reader, encoding & 0x07),
				   end))
		return false;
	if (common->cie.augmentation[0] == 'z')
		byte_reader__skip(reader, byte_reader__uleb(reader));
	/* Functions that the linker has dropped are at 0. */
	return !reader->failed && *start && *start < *end;
}

static int add_function(struct reading *reading, struct function_list *list, uint64_t offset,
			const Dwarf_FDE *fde)
{
	struct byte_reader reader = {.at = fde->start, .end = fde->end};
	struct function function = {.offset = offset};

	if (!use_common(reading, fde->CIE_pointer) ||
	    !read_range(reading, &reader, &function.start, &function.end))
		return 0;
	if (list->nr == FUNCTIONS_MAX)
		return -EFBIG;
	if (ARRAY_GROW(list->items, list->nr, list->capacity))
		return -ENOMEM;
	list->items[list->nr++] = function;
	return 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *left = a, *right = b;
	int order = COMPARE(left->start, right->start);

	return order ? order : COMPARE(left->offset, right->offset);
}

static int list_functions(struct reading *reading, struct function_list *list)
{
	Dwarf_CFI_Entry entry;
	uint64_t next;
	int err = 0;

	for (uint64_t offset = 0; offset < reading->section->bytes.size && !err; offset = next) {
		if (!work__is_left(reading->work))
			return -EFBIG;
		if (!read_entry(reading, offset, &next, &entry))
			break;
		if (!dwarf_cfi_cie_p(&entry))
			err = add_function(reading, list, offset, &entry.fde);
	}
	array__sort(list->items, list->nr, sizeof(*list->items), compare_functions);
	return err;
}

/* ---- rows ---- */

static int run_function(struct reading *reading, const struct function *function, uint64_t end,
			cfi_visit visit, void *context)
{
	const struct common *common = &reading->common;
	struct cfi_program program = {
		.processor = reading->section->processor, .start = function->start, .end = end};
	struct byte_reader reader;
	Dwarf_CFI_Entry entry;
	uint64_t ignored;

	/* They have been read before. */
	if (!read_entry(reading, function->offset, &ignored, &entry) ||
	    !use_common(reading, entry.fde.CIE_pointer))
		return 0;
	reader = (struct byte_reader){.at = entry.fde.start, .end = entry.fde.end};
	read_range(reading, &reader, &ignored, &ignored);
	program.initial.bytes = common->cie.initial_instructions;
	program.initial.size =
		(size_t)(common->cie.initial_instructions_end - common->cie.initial_instructions);
	program.instructions.bytes = reader.at;
	program.instructions.size = byte_reader__left(&reader);
	program.code_alignment = common->cie.code_alignment_factor;
	program.data_alignment = common->cie.data_alignment_factor;
	program.return_address = common->cie.return_address_register;
	program.is_signal_frame = common->augmentation.is_signal_frame;
	return cfi_program__run(&program, reading->work, visit, context);
}

static int run_functions(struct reading *reading, const struct function_list *list, cfi_visit visit,
			 void *context)
{
	static const struct unwind_rule none = {.cfa = UNWIND_NONE};
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++) {
		const struct function *function = &list->items[i];
		uint64_t next = i + 1 < list->nr ? function[1].start : UINT64_MAX;
		uint64_t end = function->end < next ? function->end : next;

		if (!work__is_left(reading->work))
			return -EFBIG;
		err = run_function(reading, function, end, visit, context);
		if (!err && end < next && function->start < end)
			err = visit(context, end, &none);
	}
	return err;
}

int cfi_section__each_row(const struct cfi_section *section, const struct work *work,
			  cfi_visit visit, void *context)
{
	struct reading reading = {
		.section = section,
		.work = work,
		.ident = {[EI_CLASS] = ELFCLASS64,
			  [EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB :
										  ELFDATA2MSB},
		.data = {.d_buf = (void *)section->bytes.bytes,
			 .d_size = section->bytes.size,
			 .d_type = ELF_T_BYTE,
			 .d_version = EV_CURRENT},
	};
	struct function_list list = {0};
	int err = list_functions(&reading, &list);

	if (!err)
		err = run_functions(&reading, &list, visit, context);
	free(list.items);
	return err;
}
