// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kallsyms/kernel.h"

#include <errno.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

/* "name module offset" of a printed symbol, "-" for the kernel itself; or "refused". */
static const char *parse(const char *text)
{
	static char result[256];
	struct kernel_symbol symbol;

	if (!kernel_symbol__parse(text, &symbol))
		return "refused";
	snprintf(result, sizeof(result), "%.*s %.*s %#lx", (int)symbol.name_length, symbol.name,
		 symbol.module ? (int)symbol.module_length : 1, symbol.module ? symbol.module : "-",
		 (unsigned long)symbol.offset);
	return result;
}

static void printed_symbols(void)
{
	CHECK_STR(parse("vfs_read+0x9e/0x2c0"), "vfs_read - 0x9e");
	CHECK_STR(parse("vfs_read+0x0/0x2c0"), "vfs_read - 0");
	CHECK_STR(parse("ext4_sync_fs+0x31/0x1b0 [ext4]"), "ext4_sync_fs ext4 0x31");
	CHECK_STR(parse("f+0x1/0x2 [xfs 0123456789abcdef0123456789abcdef01234567]"), "f xfs 0x1");
	CHECK_STR(parse("bpf_prog_6deef7357e7b4530_count+0x1f/0x40 [bpf]"),
		  "bpf_prog_6deef7357e7b4530_count bpf 0x1f");
	CHECK_STR(parse("f.constprop.0.isra.0+0xffffffffffffffff/0x10"),
		  "f.constprop.0.isra.0 - 0xffffffffffffffff");
	CHECK_STR(parse("odd+0xname+0x5/0x10"), "odd+0xname - 0x5");
}

static void what_names_nothing(void)
{
	static const char *const texts[] = {
		"",
		"0xffffffff81000000",
		"ffffffff81000000",
		"(____ptrval____)",
		"vfs_read",
		"vfs_read+",
		"vfs_read+0x",
		"vfs_read+0x/0x10",
		"vfs_read+0xzz/0x10",
		"vfs_read+0x9e",
		"vfs_read+0x9e 0x2c0",
		"vfs_read+0x10000000000000000/0x10",
		"+0x9e/0x2c0",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		tap_check(!strcmp(parse(texts[i]), "refused"), __FILE__, __LINE__,
			  "'%s' was not refused", texts[i]);
}

static struct kallsyms_lookup lookups[8];
static struct arena names;

/* Look addresses up in text; the result is in lookups until the next call. */
static int find(const char *text, const uint64_t *addresses, size_t nr)
{
	CLEANUP_FCLOSE FILE *file =
		text[0] ? fmemopen((void *)text, strlen(text), "r") : fopen("/dev/null", "r");

	arena__release(&names);
	for (size_t i = 0; i < nr; i++)
		lookups[i] = (struct kallsyms_lookup){.address = addresses[i]};
	return kallsyms__find(file, lookups, nr, &names);
}

#define FIND(text, ...)                                                                            \
	find(text, (const uint64_t[]){__VA_ARGS__}, ARRAY_SIZE(((const uint64_t[]){__VA_ARGS__})))

static const char core_text[] = "ffffffff81000000 T _stext\n"
				"ffffffff81000100 T vfs_read\n"
				"ffffffff81000200 t do_read\n"
				"ffffffff81000300 W weak_read\n"
				"ffffffff81000400 w weak_local\n"
				"ffffffff81001000 T _etext\n"
				"ffffffff82000000 D some_data\n";

static void nearest_function_below(void)
{
	CHECK_INT(FIND(core_text, 0xffffffff81000150, 0xffffffff81000200, 0xffffffff810002ff,
		       0xffffffff81000300, 0xffffffff81000fff),
		  0);
	CHECK_STR(lookups[0].name, "vfs_read");
	CHECK_INT(lookups[0].start, 0xffffffff81000100);
	CHECK_STR(lookups[0].module, NULL);
	CHECK_STR(lookups[1].name, "do_read");
	CHECK_STR(lookups[2].name, "do_read");
	CHECK_INT(lookups[2].start, 0xffffffff81000200);
	CHECK_STR(lookups[3].name, "weak_read");
	CHECK_STR(lookups[4].name, "weak_local");
}

static void outside_of_all_functions(void)
{
	CHECK_INT(FIND(core_text, 0, 0xffffffff80ffffff, 0xffffffff81001000, 0xffffffff82000000,
		       UINT64_MAX),
		  0);
	for (size_t i = 0; i < 5; i++)
		CHECK_STR(lookups[i].name, NULL);
}

static void order_of_lines(void)
{
	const char *text = "ffffffff81000300 T third\n"
			   "ffffffff81001000 T _etext\n"
			   "ffffffff81000100 T first\n"
			   "ffffffff81000200 T second\n";

	CHECK_INT(FIND(text, 0xffffffff81000110, 0xffffffff81000110, 0xffffffff81000310), 0);
	CHECK_STR(lookups[0].name, "first");
	CHECK_STR(lookups[1].name, "first");
	CHECK_STR(lookups[2].name, "third");
	CHECK_INT(FIND(text, 0xffffffff81000250), 0);
	CHECK_STR(lookups[0].name, "second");
}

static void first_alias(void)
{
	CHECK_INT(FIND("ffffffff81000000 t __x64_sys_read\n"
		       "ffffffff81000000 T sys_read\n"
		       "ffffffff81000000 W read_alias\n",
		       0xffffffff81000000, 0xffffffff81000008),
		  0);
	CHECK_STR(lookups[0].name, "__x64_sys_read");
	CHECK_STR(lookups[1].name, "__x64_sys_read");
}

static const char module_text[] = "ffffffff81000000 T _stext\n"
				  "ffffffff81001000 T _etext\n"
				  "ffffffffc0001000 t ext4_sync\t[ext4]\n"
				  "ffffffffc0002000 t ext4_read\t[ext4]\n"
				  "ffffffffc0100000 t bpf_prog_6deef7357e7b4530_f\t[bpf]\n";

static void functions_of_modules(void)
{
	CHECK_INT(FIND(module_text, 0xffffffff81000010, 0xffffffffc0001010, 0xffffffffc0002000,
		       0xffffffffc0100020),
		  0);
	CHECK_STR(lookups[0].module, NULL);
	CHECK_STR(lookups[1].name, "ext4_sync");
	CHECK_STR(lookups[1].module, "ext4");
	CHECK_STR(lookups[2].name, "ext4_read");
	CHECK_STR(lookups[3].name, "bpf_prog_6deef7357e7b4530_f");
	CHECK_STR(lookups[3].module, "bpf");
}

static void far_behind_a_module(void)
{
	CHECK_INT(FIND(module_text, 0xffffffffc0000000, 0xffffffffc0012000, 0xffffffffc0012001,
		       0xffffffffc0100001, 0xfffffffff0000000),
		  0);
	CHECK_STR(lookups[0].name, NULL);
	CHECK_STR(lookups[1].name, "ext4_read");
	CHECK_STR(lookups[2].name, NULL);
	CHECK_STR(lookups[2].module, NULL);
	CHECK_STR(lookups[3].name, "bpf_prog_6deef7357e7b4530_f");
	CHECK_STR(lookups[4].name, NULL);
}

static void hidden_addresses(void)
{
	CHECK_INT(FIND("0000000000000000 T _stext\n0000000000000000 T vfs_read\n", 16), -EACCES);
	CHECK_INT(FIND("", 16), -EACCES);
}

static void old_answers_do_not_stay(void)
{
	CLEANUP_FCLOSE FILE *file = fmemopen((void *)core_text, strlen(core_text), "r");
	struct kallsyms_lookup lookup = {.address = 16, .name = "old", .module = "old"};

	CHECK_INT(kallsyms__find(file, &lookup, 1, &names), 0);
	CHECK_STR(lookup.name, NULL);
	CHECK_STR(lookup.module, NULL);
}

static void malformed_lines(void)
{
	CHECK_INT(FIND("\n"
		       "ffffffff81000000\n"
		       "ffffffff81000000 T\n"
		       "ffffffff81000000 T \n"
		       "ffffffff81000000 Tvfs_read\n"
		       "ffffffff81000000 TT vfs_read\n"
		       " T vfs_read\n"
		       "xyz T vfs_read\n"
		       "fffffffffffffffff T too_large\n"
		       "ffffffff81000000 T\tvfs_read\n"
		       "ffffffff81000010 T right\n"
		       "ffffffff81000020 T in_module [\n"
		       "ffffffff81000030 T also_in_module [m\n"
		       "ffffffff81000040 T no_end_of_line",
		       0xffffffff81000000, 0xffffffff81000010, 0xffffffff81000020,
		       0xffffffff81000030, 0xffffffff81000040),
		  0);
	CHECK_STR(lookups[0].name, NULL);
	CHECK_STR(lookups[1].name, "right");
	CHECK_STR(lookups[2].name, "in_module");
	CHECK_STR(lookups[3].name, "also_in_module");
	CHECK_STR(lookups[3].module, "m");
	CHECK_STR(lookups[4].name, "no_end_of_line");
}

static void data_is_no_function(void)
{
	CHECK_INT(FIND("ffffffff81000000 T function\n"
		       "ffffffff81000010 d data\n"
		       "ffffffff81000020 A absolute\n"
		       "ffffffff81000030 U undefined\n",
		       0xffffffff81000040),
		  0);
	CHECK_STR(lookups[0].name, "function");
}

static void marks_of_code(void)
{
	CHECK_INT(FIND("ffff800008000000 T function\n"
		       "ffff800001000000 t in_module\t[m]\n"
		       "ffff800001000000 t $x\t[m]\n"
		       "ffff800001000010 t $d.12\t[m]\n"
		       "ffff800001000020 t $x\t[m]\n",
		       0xffff800001000024),
		  0);
	CHECK_STR(lookups[0].name, "in_module");
	CHECK_INT(lookups[0].start, 0xffff800001000000);
}

static void nothing_asked(void)
{
	CLEANUP_FCLOSE FILE *file = fmemopen((void *)core_text, strlen(core_text), "r");

	CHECK_INT(kallsyms__find(file, lookups, 0, &names), 0);
}

static const struct tap_test tests[] = {
	{"what %pS prints is parsed: name, offset, module, build id", printed_symbols},
	{"a bare address and malformed text name nothing", what_names_nothing},
	{"kallsyms: the nearest function below names an address", nearest_function_below},
	{"kallsyms: below the first function and from _etext on there are no names",
	 outside_of_all_functions},
	{"kallsyms: the order of lines does not matter", order_of_lines},
	{"kallsyms: of aliases the first one is taken", first_alias},
	{"kallsyms: functions of modules come with their module", functions_of_modules},
	{"kallsyms: an address far behind the functions of a module has no name",
	 far_behind_a_module},
	{"kallsyms: hidden addresses, all zero, are -EACCES", hidden_addresses},
	{"kallsyms: answers of an earlier call do not stay", old_answers_do_not_stay},
	{"kallsyms: malformed lines are left out", malformed_lines},
	{"kallsyms: data names no code", data_is_no_function},
	{"kallsyms: marks of code and data name nothing", marks_of_code},
	{"kallsyms: no lookups are no failure", nothing_asked},
};

int main(void)
{
	int status = TAP_RUN(tests);

	arena__release(&names);
	return status;
}
