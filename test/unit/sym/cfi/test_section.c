// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/section.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "sym/elf/processor.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "test/unit/cfi_bytes.h"
#include "test/unit/tap.h"

/* ---- rows as text ---- */

static char text[1024];
static const struct processor *shown; /* whose rows they are */

static size_t append(size_t used, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	used += (size_t)vsnprintf(text + used, sizeof(text) - used, format, arguments);
	va_end(arguments);
	return used;
}

static size_t append_place(size_t used, const char *name, uint8_t kind, uint8_t reg, int32_t offset)
{
	switch (kind) {
	case UNWIND_SAME:
		return used;
	case UNWIND_LOST:
		return append(used, " %s=?", name);
	case UNWIND_AT_CFA:
		return append(used, " %s=c%+d", name, offset);
	case UNWIND_AT_REGISTER:
		return append(used, " %s=[r%u%+d]", name, reg, offset);
	default:
		return append(used, " %s=r%u", name, reg);
	}
}

/* "ADDRESS: CFA [fp=PLACE] [ra=PLACE] [base=PLACE]", of which a return address at CFA-8 is left
 * away. */
static int append_row(void *context, uint64_t address, const struct unwind_rule *rule)
{
	static const char *const kinds[] = {"none", "unsupported", "end"};
	size_t used = strlen(text);

	(void)context;
	used = append(used, "%s%llx: ", used ? "; " : "", (unsigned long long)address);
	if (rule->cfa < ARRAY_SIZE(kinds)) {
		append(used, "%s", kinds[rule->cfa]);
		return 0;
	}
	used = append(used, rule->cfa == UNWIND_PLT ? "plt r%u%+d" : "r%u%+d", rule->cfa_register,
		      rule->cfa_offset);
	if (rule->cfa != UNWIND_REGISTER)
		used = append(used, " then %+d", rule->cfa_addend);
	used = append_place(used, "fp", rule->frame_pointer, rule->frame_pointer_register,
			    rule->frame_pointer_offset);
	if (rule->return_address != UNWIND_AT_CFA || rule->return_address_offset != -8)
		used = append_place(used, "ra", rule->return_address, rule->return_address_register,
				    rule->return_address_offset);
	if (rule->base == UNWIND_BASE_LOST && shown->base != NO_REGISTER)
		used = append(used, " base=?");
	else if (rule->base >= UNWIND_BASE_AT_CFA)
		used = append(used, " base=c-%d", 8 * rule->base);
	if (rule->flags & UNWIND_SIGNAL)
		append(used, " signal");
	return 0;
}

static int show_of(uint16_t machine, const struct cfi_buffer *buffer, uint64_t left)
{
	const struct cfi_section section = {
		.processor = shown = processor__of(machine),
		.bytes = {.bytes = buffer->bytes, .size = buffer->size},
		.address = CFI_BYTES_ADDRESS,
		.is_eh_frame = true,
	};
	const struct work work = work__share(&left, UINT64_MAX);

	text[0] = '\0';
	return cfi_section__each_row(&section, &work, append_row, NULL);
}

static int show_with(const struct cfi_buffer *buffer, uint64_t left)
{
	return show_of(EM_X86_64, buffer, left);
}

static const char *show(const struct cfi_buffer *buffer)
{
	int err = show_with(buffer, 100000);

	return err ? strerror(-err) : text;
}

#define FUNCTION 0x401000
#define INSTRUCTIONS(...)                                                                          \
	(const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__})

/* Show one function of 16 bytes with these instructions. */
#define SHOW_FUNCTION(signal, ...)                                                                 \
	({                                                                                         \
		struct cfi_buffer one = {.size = 0};                                               \
		size_t cie_at = cfi_buffer__cie(&one, signal);                                     \
		cfi_buffer__fde(&one, cie_at, FUNCTION, 16, INSTRUCTIONS(__VA_ARGS__));            \
		show(&one);                                                                        \
	})

/* ---- tests ---- */

static void usual_shapes(void)
{
	/* push %rbp; mov %rsp, %rbp; ...; leave */
	CHECK_STR(
		SHOW_FUNCTION(false, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16,
			      DW_CFA_offset | 6, 2, DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register,
			      6, DW_CFA_advance_loc | 11, DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6),
		"401000: r7+8; 401001: r7+16 fp=c-16; 401004: r6+16 fp=c-16; 40100f: r7+8; 401010: none");
	/* An epilogue in the middle. */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_advance_loc1, 2, DW_CFA_def_cfa_offset, 32,
				DW_CFA_remember_state, DW_CFA_advance_loc2, 4, 0,
				DW_CFA_def_cfa_offset, 8, DW_CFA_advance_loc4, 1, 0, 0, 0,
				DW_CFA_restore_state),
		  "401000: r7+8; 401002: r7+32; 401006: r7+8; 401007: r7+32; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_nop), "401000: r7+8; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_undefined, 16), "401000: end; 401010: none");
	/* vfork() keeps its return address in a register. */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_register, 16, 5, DW_CFA_def_cfa_offset, 0),
		  "401000: r7+0 ra=r5; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_undefined, 6, DW_CFA_advance_loc | 1,
				DW_CFA_same_value, 6),
		  "401000: r7+8 fp=?; 401001: r7+8; 401010: none");
}

/* %rbx, which is kept as callees ask. */
static void base_registers(void)
{
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_advance_loc | 1, DW_CFA_offset | 3, 3,
				DW_CFA_advance_loc | 1, DW_CFA_def_cfa_register, 3,
				DW_CFA_advance_loc | 1, DW_CFA_restore | 3, DW_CFA_advance_loc | 1,
				DW_CFA_undefined, 3),
		  "401000: r7+8; 401001: r7+8 base=c-24; 401002: r3+8 base=c-24; 401003: r3+8; "
		  "401004: r3+8 base=?; 401010: none");
	/* What rules cannot say: too far, in another register, not on the stack. */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_offset | 3, 0xff, 1, DW_CFA_advance_loc | 1,
				DW_CFA_offset | 3, 0x80, 2, DW_CFA_advance_loc | 1, DW_CFA_register,
				3, 12, DW_CFA_advance_loc | 1, DW_CFA_offset | 3, 1),
		  "401000: r7+8 base=c-2040; 401001: r7+8 base=?; 401002: r7+8 base=?; "
		  "401003: r7+8 base=?; 401010: none");
}

static void expressions(void)
{
	/* A stack that was aligned anew: where it was is on it. */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
				DW_CFA_expression, 6, 2, DW_OP_breg6, 0),
		  "401000: r6-8 then +0 fp=[r6+0]; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 16, DW_OP_deref,
				DW_OP_plus_uconst, 8),
		  "401000: r7+16 then +8; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 16, DW_OP_deref,
				DW_OP_lit4, DW_OP_minus),
		  "401000: r7+16 then -4; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16,
				0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
				DW_OP_shl, DW_OP_plus),
		  "401000: plt r7+8 then +11; 401010: none");
	/* The kernel's signal frame. */
	CHECK_STR(SHOW_FUNCTION(true, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 1,
				DW_OP_deref, DW_CFA_expression, 6, 3, DW_OP_breg7, 0xf8, 0,
				DW_CFA_expression, 16, 3, DW_OP_breg7, 0xa8, 1),
		  "401000: r7+160 then +0 fp=[r7+120] ra=[r7+168] signal; 401010: none");
}

static void other_shapes(void)
{
	/*
	 * A register of another shape is only lost if callers may not need it; else all is
	 * unsupported.
	 */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_val_offset, 6, 2), "401000: r7+8 fp=?; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_val_offset, 16, 2),
		  "401000: unsupported; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 0, DW_OP_neg),
		  "401000: unsupported; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0, DW_OP_deref,
				DW_OP_deref),
		  "401000: unsupported; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa_expression, 0),
		  "401000: unsupported; 401010: none");
	/* Only from there on. */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_advance_loc | 4, 0x3f),
		  "401000: r7+8; 401004: unsupported; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_restore_state), "401000: unsupported; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa, 7, 0x80, 0x80, 0x80, 0x80, 0x10),
		  "401000: unsupported; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_advance_loc | 4, DW_CFA_def_cfa_expression, 100),
		  "401000: r7+8; 401004: unsupported; 401010: none");
	/* More than is there. */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_advance_loc | 16, DW_CFA_def_cfa_offset, 16),
		  "401000: r7+8; 401010: none");
}

/* The caller's stack pointer is the CFA, or a walk would go on in a frame that is not there. */
static void stack_pointers(void)
{
	/* As longjmp() of glibc, and setcontext(). */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa, 5, 0, DW_CFA_register, 7, 8, DW_CFA_register,
				16, 1),
		  "401000: unsupported; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_def_cfa, 1, 0, DW_CFA_offset_extended_sf, 7, 0x6c,
				DW_CFA_offset_extended_sf, 16, 0x6b),
		  "401000: unsupported; 401010: none");
	/* Up to where the stack pointer is again as without a rule. */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_offset | 7, 2, DW_CFA_advance_loc | 4,
				DW_CFA_restore | 7),
		  "401000: unsupported; 401004: r7+8; 401010: none");
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_val_offset, 7, 2, DW_CFA_advance_loc | 4,
				DW_CFA_val_offset, 7, 0, DW_CFA_advance_loc | 4, DW_CFA_undefined,
				7, DW_CFA_advance_loc | 4, DW_CFA_val_offset_sf, 7, 0),
		  "401000: unsupported; 401004: r7+8; 401008: unsupported; 40100c: r7+8; "
		  "401010: none");
	/* The CFA in other words. */
	CHECK_STR(SHOW_FUNCTION(true, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 1,
				DW_OP_deref, DW_CFA_expression, 7, 3, DW_OP_breg7, 0xa0, 1),
		  "401000: r7+160 then +0 signal; 401010: none");
	CHECK_STR(SHOW_FUNCTION(true, DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 1,
				DW_OP_deref, DW_CFA_expression, 7, 3, DW_OP_breg7, 0xa8, 1),
		  "401000: unsupported; 401010: none");
	/* A frame without a caller needs no rule. */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_undefined, 16, DW_CFA_undefined, 7),
		  "401000: end; 401010: none");
}

/* Show one function of arm64, of 32 bytes. */
static const char *show_arm64(const char *letters, const unsigned char *instructions, size_t size)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__arm64_cie(&buffer, letters);
	int err;

	cfi_buffer__fde(&buffer, cie, FUNCTION, 32, instructions, size);
	err = show_of(EM_AARCH64, &buffer, 100000);
	return err ? strerror(-err) : text;
}

#define SHOW_ARM64(letters, ...) show_arm64(letters, INSTRUCTIONS(__VA_ARGS__))

static void return_register(void)
{
	/* Nothing is saved: the return address is still in its register, x30. */
	CHECK_STR(SHOW_ARM64("", DW_CFA_nop), "401000: r31+0 ra=r30; 401020: none");
	CHECK_STR(SHOW_ARM64("", DW_CFA_def_cfa_offset, 32), "401000: r31+32 ra=r30; 401020: none");
	/* stp x29, x30, [sp, #-32]!; mov x29, sp; ...; ldp x29, x30, [sp], #32 */
	CHECK_STR(SHOW_ARM64("", DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 32,
			     DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3, DW_CFA_advance_loc | 5,
			     DW_CFA_restore | 30, DW_CFA_restore | 29, DW_CFA_def_cfa_offset, 0),
		  "401000: r31+0 ra=r30; 401004: r31+32 fp=c-32 ra=c-24; "
		  "401018: r31+0 ra=r30; 401020: none");
	CHECK_STR(SHOW_ARM64("", DW_CFA_same_value, 30), "401000: r31+0 ra=r30; 401020: none");
	CHECK_STR(SHOW_ARM64("", DW_CFA_register, 30, 9), "401000: r31+0 ra=r9; 401020: none");
	CHECK_STR(SHOW_ARM64("", DW_CFA_undefined, 30), "401000: end; 401020: none");
}

/* paciasp; stp x29, x30, [sp, #-16]!; ...; autiasp. The rules are as without. */
static void signed_return_addresses(void)
{
	static const char *const letters[] = {"", "B", "G", "BG"};

	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		CHECK_STR(SHOW_ARM64(letters[i], DW_CFA_advance_loc | 1,
				     DW_CFA_AARCH64_negate_ra_state, DW_CFA_advance_loc | 1,
				     DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 29, 2,
				     DW_CFA_offset | 30, 1, DW_CFA_advance_loc | 4,
				     DW_CFA_AARCH64_negate_ra_state, DW_CFA_restore | 29,
				     DW_CFA_restore | 30, DW_CFA_def_cfa_offset, 0),
			  "401000: r31+0 ra=r30; 401004: r31+0 ra=r30; 401008: r31+16 fp=c-16; "
			  "401018: r31+0 ra=r30; 401020: none");
	CHECK_STR(SHOW_ARM64("", DW_CFA_advance_loc | 1, 0x2c, DW_CFA_def_cfa_offset, 16),
		  "401000: r31+0 ra=r30; 401004: r31+16 ra=r30; 401020: none");
	/* Other processors sign none. */
	CHECK_STR(SHOW_FUNCTION(false, DW_CFA_advance_loc | 1, 0x2c),
		  "401000: r7+8; 401001: unsupported; 401010: none");
}

static void many_functions(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false), signal;

	/* In any order, side by side, across each other, twice; and one that was dropped. */
	cfi_buffer__fde(&buffer, cie, FUNCTION + 32, 16, INSTRUCTIONS(DW_CFA_def_cfa_offset, 24));
	signal = cfi_buffer__cie(&buffer, true);
	cfi_buffer__fde(&buffer, cie, FUNCTION, 32,
			INSTRUCTIONS(DW_CFA_advance_loc | 24, DW_CFA_def_cfa_offset, 16));
	cfi_buffer__fde(&buffer, signal, FUNCTION + 16, 4, INSTRUCTIONS(DW_CFA_nop));
	cfi_buffer__fde(&buffer, cie, 0, 64, INSTRUCTIONS(DW_CFA_nop));
	cfi_buffer__fde(&buffer, cie, FUNCTION + 64, 8, INSTRUCTIONS(DW_CFA_nop));
	cfi_buffer__fde(&buffer, cie, FUNCTION + 64, 8, INSTRUCTIONS(DW_CFA_def_cfa_offset, 40));
	cfi_buffer__fde(&buffer, cie, FUNCTION + 80, 0, INSTRUCTIONS(DW_CFA_nop));
	CHECK_STR(show(&buffer), "401000: r7+8; 401010: r7+8 signal; 401014: none; 401020: r7+24; "
				 "401030: none; 401040: r7+40; 401048: none");
}

static void not_sound(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false), size;

	cfi_buffer__fde(&buffer, cie, FUNCTION, 16, INSTRUCTIONS(DW_CFA_nop));
	size = buffer.size;
	/* A CIE that is none, a length behind the end, an end in the middle. */
	cfi_buffer__fde(&buffer, size, FUNCTION + 32, 16, INSTRUCTIONS(DW_CFA_nop));
	CHECK_STR(show(&buffer), "401000: r7+8; 401010: none");
	buffer.size = size;
	cfi_buffer__word(&buffer, 4096);
	CHECK_STR(show(&buffer), "401000: r7+8; 401010: none");
	buffer.size = size;
	cfi_buffer__word(&buffer, 0);
	cfi_buffer__fde(&buffer, cie, FUNCTION + 32, 16, INSTRUCTIONS(DW_CFA_nop));
	CHECK_STR(show(&buffer), "401000: r7+8; 401010: none");
	buffer.size = size - 1;
	CHECK_STR(show(&buffer), "");
	buffer.size = 0;
	CHECK_STR(show(&buffer), "");
}

static void bounded_work(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);

	for (uint64_t i = 0; i < 16; i++)
		cfi_buffer__fde(&buffer, cie, FUNCTION + 16 * i, 16, INSTRUCTIONS(DW_CFA_nop));
	CHECK_INT(show_with(&buffer, 1000), 0);
	CHECK_INT(show_with(&buffer, 10), -EFBIG);
	CHECK_INT(show_with(&buffer, 40), -EFBIG);
}

static int refuse(void *context, uint64_t address, const struct unwind_rule *rule)
{
	(void)address;
	(void)rule;
	return ++*(int *)context == 2 ? -EIO : 0;
}

static void visitor_ends_it(void)
{
	struct cfi_buffer buffer = {.size = 0};
	size_t cie = cfi_buffer__cie(&buffer, false);
	uint64_t left = 1000;
	const struct work work = work__share(&left, UINT64_MAX);
	int visits = 0;

	cfi_buffer__fde(&buffer, cie, FUNCTION, 16,
			INSTRUCTIONS(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16));
	CHECK_INT(cfi_section__each_row(&(struct cfi_section){.processor = processor__of(EM_X86_64),
							      .bytes = {.bytes = buffer.bytes,
									.size = buffer.size},
							      .address = CFI_BYTES_ADDRESS,
							      .is_eh_frame = true},
					&work, refuse, &visits),
		  -EIO);
	CHECK_INT(visits, 2);
	CHECK(processor__of(EM_386) == NULL);
}

static const struct tap_test tests[] = {
	{"functions as compilers make them", usual_shapes},
	{"where the base register is", base_registers},
	{"expressions of known shapes", expressions},
	{"the caller's stack pointer is the CFA, or the row is of no use", stack_pointers},
	{"what has another shape, or is not sound, ends nothing but itself", other_shapes},
	{"return addresses in a register, until they are saved", return_register},
	{"return addresses that are signed, until they are not", signed_return_addresses},
	{"functions in any order, and across each other", many_functions},
	{"sections that are not sound", not_sound},
	{"work is bounded", bounded_work},
	{"a visitor can end it", visitor_ends_it},
};

int main(void)
{
	return TAP_RUN(tests);
}
