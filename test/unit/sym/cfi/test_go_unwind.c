// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/go_unwind.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sym/elf/go_table.h"
#include "sym/util/array.h"
#include "test/unit/go_image.h"
#include "test/unit/opened_elf.h"
#include "test/unit/tap.h"

/* ---- rows as text ---- */

struct shown {
	char text[1024];
	size_t used;
	uint64_t last;
	bool is_arm64;
};

static void append(struct shown *shown, const char *format, ...)
{
	size_t room = sizeof(shown->text) - shown->used;
	va_list arguments;
	int written;

	va_start(arguments, format);
	written = vsnprintf(shown->text + shown->used, room, format, arguments);
	va_end(arguments);
	shown->used += (size_t)written < room ? (size_t)written : room - 1;
}

/* "OFFSET: CFA [in lr]", from the beginning of the code, and from the stack pointer. */
static int append_row(void *context, uint64_t address, const struct unwind_rule *rule)
{
	static const char *const kinds[] = {"none", "unsupported", "end"};
	struct shown *shown = context;

	CHECK(!shown->used || address > shown->last);
	shown->last = address;
	append(shown, "%s%llx: ", shown->used ? "; " : "", (unsigned long long)(address - GO_TEXT));
	if (rule->cfa < ARRAY_SIZE(kinds)) {
		append(shown, "%s", kinds[rule->cfa]);
		return 0;
	}
	CHECK_INT(rule->cfa_register, shown->is_arm64 ? 31 : 7);
	if (rule->flags & UNWIND_SIGNAL) {
		append(shown, "signal");
		return 0;
	}
	CHECK_INT(rule->cfa, UNWIND_REGISTER);
	CHECK_INT(rule->frame_pointer, UNWIND_LOST);
	append(shown, "%d", rule->cfa_offset);
	if (rule->return_address == UNWIND_IN_REGISTER) {
		CHECK_INT(rule->return_address_register, 30);
		append(shown, " in lr");
		return 0;
	}
	CHECK_INT(rule->return_address, UNWIND_AT_CFA);
	CHECK_INT(rule->return_address_offset, shown->is_arm64 ? -rule->cfa_offset : -8);
	return 0;
}

static int show_elf(const struct elf_file *elf, uint64_t work, struct shown *shown)
{
	struct go_table table;

	*shown = (struct shown){.is_arm64 = elf->machine == EM_AARCH64};
	if (!go_unwind__open(&table, elf, work__share(&work, UINT64_MAX)))
		return -ENOENT;
	return go_unwind__each_row(&table, append_row, shown);
}

static const char *show(const struct go_image_spec *spec)
{
	static struct shown shown;
	CLEANUP_OPENED
	struct opened opened = open_go_image(*spec);
	int err = show_elf(&opened.elf, 1000000, &shown);

	return err ? strerror(-err) : shown.text;
}

/* ---- functions ---- */

#define LEAF "\x02\x10"

static const struct go_function functions[] = {
	{"main.leaf", 0, LEAF, 0},
	{"main.frame", 0x20, "\x02\x04\x30\x18\x2f\x04", 0},
	{"runtime.systemstack", 0x40, LEAF, GO_WRITES_STACK_POINTER},
	{"runtime.sigreturn", 0x60, LEAF, 4},
	{"main.switch", 0x80, LEAF, GO_WRITES_STACK_POINTER},
	{"main.top", 0xa0, LEAF, GO_TOP_FRAME},
	{"a_function_in_c", 0xc0, NULL, 0},
	{"runtime.systemstack_switch", 0xd0, "\x02\x02\x10\x0e", 4},
	{"runtime.sigtramp", 0xe0, "\x02\x01\x10\x1f", GO_TOP_FRAME},
};

static struct go_image_spec spec_of(uint32_t magic)
{
	return (struct go_image_spec){
		.magic = magic, .functions = functions, .nr = ARRAY_SIZE(functions), .end = 0x100};
}

static void all_versions(void)
{
	static const uint32_t magics[] = {GO_16, GO_18, GO_20};
	struct go_image_spec spec = spec_of(GO_2);

	/* Go 1.2 has no flags. */
	CHECK_STR(show(&spec),
		  "0: 8; 10: none; 20: 8; 24: 32; 3c: 8; 40: end; 5f: signal; "
		  "80: 8; 90: none; a0: 8; b0: none; c0: none; cf: 8; d2: 16; e0: 8; e1: 16; "
		  "100: none");
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		spec = spec_of(magics[i]);
		CHECK_STR(
			show(&spec),
			"0: 8; 10: none; 20: 8; 24: 32; 3c: 8; 40: end; 5f: signal; "
			"80: unsupported; a0: end; c0: none; cf: 8; d2: 16; e0: 8; e1: 16; 100: none");
	}
}

/* Distances count instructions; the return address is in x30, and later at the bottom. */
static void arm64(void)
{
	static const struct go_function of_arm64[] = {
		{"main.leaf", 0, "\x02\x04", 0},
		{"main.frame", 0x20, "\x02\x03\x40\x04\x3f\x01", 0},
		{"runtime.asyncPreempt", 0x40, "\x02\x02\x40\x06", 4},
		{"runtime.systemstack", 0x60, "\x02\x08", 4},
		{"runtime.systemstack_switch", 0x80, "\x02\x01\x20\x07", 4},
		{"runtime.sigtramp", 0xa0, "\x02\x01\x40\x07", GO_TOP_FRAME},
		{"main.switch", 0xc0, "\x02\x08", GO_WRITES_STACK_POINTER},
	};
	const struct go_image_spec spec = {.magic = GO_20,
					   .is_arm64 = true,
					   .functions = of_arm64,
					   .nr = ARRAY_SIZE(of_arm64),
					   .end = 0xe0};

	CHECK_STR(show(&spec), "0: 0 in lr; 10: none; 20: 0 in lr; 2c: 32; 3c: 0 in lr; "
			       "40: 16 in lr; 48: 48; 60: end; 80: 0 in lr; 84: 16; "
			       "a0: 0 in lr; a4: 32; c0: unsupported; e0: none");
}

static const char *show_one(const char *deltas)
{
	const struct go_function function = {"main.main", 0, deltas, 0};
	const struct go_image_spec spec = {
		.magic = GO_20, .functions = &function, .nr = 1, .end = 0x200};

	return show(&spec);
}

static void deltas(void)
{
	/* Numbers of several bytes; many of them; a longer range than the function has. */
	CHECK_STR(show_one("\x02\x80\x01\x80\x02\x81\x01"), "0: 8; 80: 136; 101: none; 200: none");
	CHECK_STR(show_one("\x02\x04\x10\xff\xff\xff\xff\x0f"), "0: 8; 4: 16; 200: none");
	CHECK_STR(show_one("\x02\x01\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01"
			   "\x0f\x01\x0f\x01\x0f\x01\x0f\x01\x0f\x01\x0f\x01\x0f\x01\x10\x01"
			   "\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01"
			   "\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01\x10\x01\x80\x04\x01"),
		  "0: 8; 1: 16; 2: 24; 3: 32; 4: 40; 5: 48; 6: 56; 7: 64; 8: 56; 9: 48; a: 40; "
		  "b: 32; c: 24; d: 16; e: 8; f: 16; 10: 24; 11: 32; 12: 40; 13: 48; 14: 56; "
		  "15: 64; 16: 72; 17: 80; 18: 88; 19: 96; 1a: 104; 1b: 112; 1c: 120; 1d: 128; "
		  "1e: 136; 1f: 392; 20: none; 200: none");
	/* Beyond the frame, and more than a rule can have. */
	CHECK_STR(show_one("\x02\x04\x0f\x04"), "0: 8; 4: unsupported; 8: none; 200: none");
	CHECK_STR(show_one("\x02\x04\xf8\xff\xff\xff\x0f\x04"),
		  "0: 8; 4: unsupported; 8: none; 200: none");
}

/* ---- hostile files ---- */

static void unsorted_functions(void)
{
	static const struct go_function unsorted[] = {{"main.a", 0x40, LEAF, 0},
						      {"main.b", 0x20, LEAF, 0},
						      {"main.c", 0x40, "\x02\x08", 0},
						      {"runtime.sigreturn", 0x40, LEAF, 0},
						      {"main.d", 0x60, LEAF, 0}};
	struct go_image_spec spec = {.magic = GO_18, .functions = unsorted, .nr = 5, .end = 0x50};

	CHECK_STR(show(&spec), "40: 8; 48: none; 60: none");
	spec.end = 0x80;
	CHECK_STR(show(&spec), "40: 8; 48: none; 60: 8; 70: none; 80: none");
}

static void other_machines(void)
{
	CLEANUP_OPENED
	struct opened opened = open_go_image(spec_of(GO_20));
	struct shown shown;

	opened.elf.machine = EM_S390;
	CHECK_INT(show_elf(&opened.elf, 1000000, &shown), -ENOENT);
}

static void cut_files(void)
{
	CLEANUP_OPENED
	struct opened opened = open_go_image(spec_of(GO_20));
	struct shown shown;

	while (opened__cut(&opened))
		(void)show_elf(&opened.elf, 1000000, &shown);
	CHECK_INT(show_elf(&opened.elf, 1000000, &shown), -ENOENT);
}

static void work_is_bounded(void)
{
	CLEANUP_OPENED
	struct opened opened = open_go_image(spec_of(GO_20));
	struct shown shown;
	int err = -ENOENT;

	for (uint64_t work = 0; err == -ENOENT; work++)
		err = show_elf(&opened.elf, work, &shown);
	CHECK_INT(err, -EFBIG);
}

static const struct tap_test tests[] = {
	{"functions of all versions of Go", all_versions},
	{"functions for arm64", arm64},
	{"deltas of the stack pointer", deltas},
	{"functions that are not sorted", unsorted_functions},
	{"files of other machines have none", other_machines},
	{"files that are cut short", cut_files},
	{"work is bounded", work_is_bounded},
};

int main(void)
{
	return TAP_RUN(tests);
}
