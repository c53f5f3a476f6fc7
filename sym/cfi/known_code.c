// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/known_code.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "sym/elf/file.h"
#include "sym/elf/processor.h"
#include "sym/util/array.h"

#define STACK_POINTER 7
#define WORD	      8
#define RETURN_SIZE   1

/* More than the pieces of _init() have ever had together. */
#define SECTION_MAX 64

struct known_codes {
	struct known_code *codes;
	size_t nr;
};

static void add(struct known_codes *known, uint64_t start, uint64_t end, struct unwind_rule rule)
{
	if (known->nr < KNOWN_CODES_MAX && start && start < end)
		known->codes[known->nr++] =
			(struct known_code){.start = start, .end = end, .rule = rule};
}

/* The frame has so many bytes, with the return address. */
static struct unwind_rule frame_of(int32_t size)
{
	return (struct unwind_rule){.cfa = UNWIND_REGISTER,
				    .cfa_register = STACK_POINTER,
				    .cfa_offset = size,
				    .return_address = UNWIND_AT_CFA,
				    .return_address_offset = -WORD,
				    .base = UNWIND_BASE_SAME};
}

/* How such a section begins and ends: with a word on the stack, whatever is between. */
struct shape {
	unsigned char begin[4], end[5];
	uint8_t begin_size, end_size;
};

static const struct shape shapes[] = {
	/* glibc: sub $8, %rsp ... add $8, %rsp; ret */
	{.begin = {0x48, 0x83, 0xec, 8},
	 .begin_size = 4,
	 .end = {0x48, 0x83, 0xc4, 8, 0xc3},
	 .end_size = 5},
	/* musl: push %rax ... pop %rax; ret */
	{.begin = {0x50}, .begin_size = 1, .end = {0x58, 0xc3}, .end_size = 2},
};

static bool has_shape(const struct shape *shape, const unsigned char *code, size_t size)
{
	return size >= (size_t)shape->begin_size + shape->end_size &&
	       !memcmp(code, shape->begin, shape->begin_size) &&
	       !memcmp(code + size - shape->end_size, shape->end, shape->end_size);
}

static void add_section(struct known_codes *known, const struct elf_file *elf, const char *name)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const struct elf_section *section = elf_file__find_section(elf, name, true);
	unsigned char code[SECTION_MAX];
	size_t skipped = 0;
	uint64_t end;

	if (!section || section->type == SHT_NOBITS || section->size > sizeof(code) ||
	    __builtin_add_overflow(section->address, section->size, &end) ||
	    elf_file__read(elf, code, section->size, section->offset) != section->size)
		return;
	if (section->size > sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		skipped = sizeof(endbr64);
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		uint64_t pushed = section->address + skipped + shapes[i].begin_size;

		if (!has_shape(&shapes[i], code + skipped, section->size - skipped))
			continue;
		add(known, section->address, pushed, frame_of(WORD));
		add(known, pushed, end - RETURN_SIZE, frame_of(2 * WORD));
		add(known, end - RETURN_SIZE, end, frame_of(WORD));
		return;
	}
}

/* A stub that has pushed so many bytes; its caller is in a register. */
static struct unwind_rule stub_rule(const struct processor *processor, uint8_t pushed)
{
	return (struct unwind_rule){.cfa = UNWIND_REGISTER,
				    .cfa_register = processor->stack_pointer,
				    .cfa_offset = pushed,
				    .return_address = UNWIND_IN_REGISTER,
				    .return_address_register = processor->return_address};
}

/* Where the header of a linkage table has pushed, from its beginning on; 0: it has no header. */
static uint64_t find_push(const struct elf_file *elf, const struct elf_section *section,
			  const struct processor *processor)
{
	uint32_t code[2] = {0};
	size_t i;

	elf_file__read(elf, code, sizeof(code), section->offset);
	i = code[0] == ARM64_LANDING_PAD;
	return code[i] == processor->stub_push ? (i + 1) * sizeof(code[0]) : 0;
}

/* Stubs leave the stack alone, and the return address where the call has put it. */
static void add_stubs(struct known_codes *known, const struct elf_file *elf, const char *name,
		      const struct processor *processor)
{
	const struct elf_section *section = elf_file__find_section(elf, name, true);
	struct unwind_rule plain = stub_rule(processor, 0);
	uint64_t push, header, end;

	if (!section || section->type != SHT_PROGBITS || !(section->flags & SHF_EXECINSTR) ||
	    __builtin_add_overflow(section->address, section->size, &end))
		return;
	push = section->address + find_push(elf, section, processor);
	header = section->address + processor->stub_header;
	if (push == section->address || header > end) {
		add(known, section->address, end, plain);
		return;
	}
	add(known, section->address, push, plain);
	add(known, push, header, stub_rule(processor, processor->stub_pushes));
	add(known, header, end, plain);
}

static int compare_codes(const void *left, const void *right)
{
	const struct known_code *a = left, *b = right;

	return COMPARE(a->start, b->start);
}

size_t known_code__find(struct known_code codes[KNOWN_CODES_MAX], const struct elf_file *elf)
{
	const struct processor *processor = processor__of(elf->machine);
	struct known_codes known = {.codes = codes};
	uint64_t end;

	if (elf->entry && !__builtin_add_overflow(elf->entry, UNWIND_ENTRY_SIZE, &end))
		add(&known, elf->entry, end, (struct unwind_rule){.cfa = UNWIND_END});
	if (elf->machine == EM_X86_64) {
		add_section(&known, elf, ".init");
		add_section(&known, elf, ".fini");
	}
	if (processor && processor->stub_header) {
		add_stubs(&known, elf, ".plt", processor);
		add_stubs(&known, elf, ".iplt", processor);
	}
	array__sort(codes, known.nr, sizeof(*codes), compare_codes);
	return known.nr;
}
