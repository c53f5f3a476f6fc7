// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kallsyms/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

/* The four files in a folder of this test's own, which stands in for tracefs; those that no test
 * writes are not there. */
enum source { WITH_ADDRESSES, TRACEABLE, SYMBOLS, BLACKLIST, NR_SOURCES };
static char paths[NR_SOURCES][96];
static int tracefs;
static bool no_addresses;

static void write_source(enum source source, const char *text)
{
	CLEANUP_FCLOSE FILE *file = fopen(paths[source], "we");

	CHECK(file && fputs(text, file) >= 0);
}

static void remove_sources(void)
{
	for (size_t i = 0; i < NR_SOURCES; i++)
		unlink(paths[i]);
}

static bool is_prefix(void *context, const char *name)
{
	return !strncmp(name, context, strlen(context));
}

static FILE *open_blacklist(void)
{
	return fopen(paths[BLACKLIST], "re");
}

static int find(struct kernel_function_list *list, const char *prefix)
{
	const struct kernel_function_sources sources = {
		.tracefs = tracefs,
		.symbols = paths[SYMBOLS],
		.open_blacklist = open_blacklist,
		.no_addresses = no_addresses,
	};
	int err = kernel_functions__find_in(list, &sources, is_prefix, (void *)prefix);

	remove_sources();
	return err;
}

/*
 * "name@address ..." of what begins with prefix in the files that have been written, or the error.
 */
static const char *found(const char *prefix)
{
	CLEANUP(kernel_function_list__release) struct kernel_function_list list = {0};
	static char result[1024];
	int used = 0;
	int err = find(&list, prefix);

	if (err)
		return strerror(-err);
	result[0] = '\0';
	for (size_t i = 0; i < list.nr && (size_t)used < sizeof(result); i++)
		used += snprintf(result + used, sizeof(result) - (size_t)used, "%s%s@%lx",
				 i ? " " : "", list.functions[i].name,
				 (unsigned long)list.functions[i].address);
	return result;
}

static void with_addresses(void)
{
	write_source(WITH_ADDRESSES, "ffffffff81000200 vfs_write\n"
				     "ffffffff81000100 vfs_read\n"
				     "ffffffffc0000100 ext4_sync_fs [ext4]\n");
	/* Other lists do not matter. */
	write_source(TRACEABLE, "other\n");
	write_source(SYMBOLS, "ffffffff81000300 T other\n");
	CHECK_STR(found(""), "ext4_sync_fs@ffffffffc0000100 vfs_read@ffffffff81000100 "
			     "vfs_write@ffffffff81000200");
}

static void names_and_aliases(void)
{
	/* Two functions of one name are two; two names of one function are one, the first. */
	write_source(WITH_ADDRESSES, "ffffffff81000300 init\n"
				     "ffffffff81000100 init\n"
				     "ffffffff81000200 zebra\n"
				     "ffffffff81000200 aardvark\n"
				     "ffffffff81000100 init\n");
	CHECK_STR(found(""), "aardvark@ffffffff81000200 init@ffffffff81000100 "
			     "init@ffffffff81000300");
}

static void not_a_function(void)
{
	write_source(WITH_ADDRESSES, "ffffffff81000100 __ftrace_invalid_address___64\n"
				     "ffffffff81000200 __ftrace_invalid\n"
				     "\n"
				     "ffffffff81000300\n"
				     "ffffffff81000400 \n"
				     "ffffffff81000500 last");
	CHECK_STR(found(""), "__ftrace_invalid@ffffffff81000200 last@ffffffff81000500");
}

static void only_what_is_wanted(void)
{
	write_source(WITH_ADDRESSES, "ffffffff81000100 vfs_read\nffffffff81000200 tcp_sendmsg\n");
	CHECK_STR(found("tcp_"), "tcp_sendmsg@ffffffff81000200");
	write_source(WITH_ADDRESSES, "ffffffff81000100 vfs_read\n");
	CHECK_STR(found("nothing"), "");
}

static void without_addresses(void)
{
	/* As kernels before 6.5 list them; the addresses, all of a name, come from kallsyms. */
	write_source(TRACEABLE, "vfs_read\next4_sync_fs [ext4]\ninit\ninit\n"
				"__ftrace_invalid_address___8\n");
	write_source(SYMBOLS, "ffffffff81000100 T vfs_read\n"
			      "ffffffff81000200 T not_traceable\n"
			      "ffffffff81000300 t init\n"
			      "ffffffff81000400 t init\n"
			      "ffffffff81000500 D vfs_read\n"
			      "ffffffffc0000100 t ext4_sync_fs\t[ext4]\n");
	CHECK_STR(found(""), "ext4_sync_fs@ffffffffc0000100 init@ffffffff81000300 "
			     "init@ffffffff81000400 vfs_read@ffffffff81000100");
	write_source(TRACEABLE, "vfs_read\ntcp_sendmsg\n");
	write_source(SYMBOLS, "ffffffff81000100 T vfs_read\nffffffff81000200 T tcp_sendmsg\n");
	CHECK_STR(found("tcp_"), "tcp_sendmsg@ffffffff81000200");
}

/* On arm64 the list has places behind the beginnings of functions. */
static void addresses_of_what_is_patched(void)
{
	no_addresses = true;
	write_source(WITH_ADDRESSES, "ffffffff81000104 vfs_read\n");
	write_source(TRACEABLE, "vfs_read\n");
	write_source(SYMBOLS, "ffffffff81000100 T vfs_read\n");
	CHECK_STR(found(""), "vfs_read@ffffffff81000100");
	no_addresses = false;
}

static void other_names_of_functions(void)
{
	/* ftrace lists each function under one of its names; whether it can be probed is tried. */
	write_source(TRACEABLE, "__do_sys_getppid\n");
	write_source(SYMBOLS, "ffffffff81000200 t __do_sys_getppid\n"
			      "ffffffff81000200 T __x64_sys_getppid\n");
	CHECK_STR(found("__x64"), "__x64_sys_getppid@ffffffff81000200");
	write_source(TRACEABLE, "__do_sys_getppid\n");
	write_source(SYMBOLS, "ffffffff81000200 t __do_sys_getppid\n");
	CHECK_STR(found("nothing"), "");
}

static void without_ftrace(void)
{
	write_source(SYMBOLS, "ffffffff81000100 T vfs_read\n"
			      "ffffffff810000f0 T __pfx_vfs_read\n"
			      "ffffffff810000f1 t __cfi_vfs_read\n"
			      "ffffffff81000150 t vfs_read.cold\n"
			      "ffffffff81000160 t vfs_read.constprop.0\n"
			      "ffffffff81000200 T blacklisted\n"
			      "ffffffff81000280 T blacklisted_not\n"
			      "ffffffff81000300 D data\n"
			      "ffffffff81000400 W weak\n"
			      "ffffffffc0000100 t bpf_prog_0123_count\t[bpf]\n"
			      "ffffffffc0000200 t bpf_trampoline_1\t[bpf]\n"
			      "ffffffffc0000300 t ext4_sync_fs\t[ext4]\n");
	write_source(BLACKLIST, "0xffffffff81000200-0xffffffff81000280\tblacklisted\n"
				"0xffffffff81000900-0xffffffff81000980\tgone\n");
	CHECK_STR(found(""), "blacklisted_not@ffffffff81000280 ext4_sync_fs@ffffffffc0000300 "
			     "vfs_read@ffffffff81000100 vfs_read.constprop.0@ffffffff81000160 "
			     "weak@ffffffff81000400");
}

static void broken_blacklist(void)
{
	write_source(SYMBOLS, "ffffffff81000100 T one\nffffffff81000200 T two\n");
	write_source(BLACKLIST, "0xffffffff81000100-0xffffffff81000180\tone\nnonsense\n"
				"0xffffffff81000200-0xffffffff81000280\ttwo\n");
	CHECK_STR(found(""), "two@ffffffff81000200");
	write_source(SYMBOLS, "ffffffff81000100 T one\n");
	CHECK_STR(found(""), "one@ffffffff81000100");
}

static void hidden_addresses(void)
{
	CLEANUP(kernel_function_list__release) struct kernel_function_list list = {0};

	/* If the kernel shows no addresses, a name is one function. */
	write_source(SYMBOLS, "0000000000000000 T vfs_read\n"
			      "0000000000000000 t init\n"
			      "0000000000000000 t init\n");
	CHECK_STR(found(""), "init@0 vfs_read@0");
	write_source(TRACEABLE, "init\n");
	write_source(SYMBOLS, "0000000000000000 T vfs_read\n0000000000000000 t init\n");
	CHECK_STR(found(""), "init@0");
	write_source(SYMBOLS, "0000000000000000 T vfs_read\n0000000000000000 t init\n"
			      "0000000000000000 t init\n");
	CHECK_INT(find(&list, ""), 0);
	if (CHECK_INT(list.nr, 2)) {
		CHECK(list.functions[0].ambiguous);
		CHECK(!list.functions[1].ambiguous);
	}
}

static void no_source_at_all(void)
{
	const struct kernel_function_sources none = {.tracefs = -1};
	struct kernel_function_list list = {.nr = 42};

	CHECK_INT(find(&list, ""), -ENOENT);
	CHECK_INT(list.nr, 42);
	CHECK_INT(kernel_functions__find_in(&list, &none, is_prefix, (void *)""), -ENOENT);
	CHECK_INT(list.nr, 42);
	/* Names alone do not tell where functions are. */
	write_source(TRACEABLE, "vfs_read\n");
	CHECK_INT(find(&list, ""), -ENOENT);
	CHECK_INT(list.nr, 42);
}

/* The same name a thousand times, and lines longer than any buffer. */
static void many_and_long(void)
{
	CLEANUP(kernel_function_list__release) struct kernel_function_list list = {0};
	FILE *file = fopen(paths[WITH_ADDRESSES], "we");

	if (!CHECK(file))
		return;
	for (unsigned int i = 0; i < 1000; i++)
		fprintf(file, "ffffffff8100%04x same\nffffffff8200%04x %0*u\n", i, i, 5000, i);
	fclose(file);
	CHECK_INT(find(&list, ""), 0);
	CHECK_INT(list.nr, 2000);
	CHECK_INT(strlen(list.functions[0].name), 5000);
	for (size_t i = 1; i < list.nr; i++) {
		const struct kernel_function *pair = &list.functions[i - 1];
		int order = strcmp(pair[0].name, pair[1].name);

		if (!CHECK(order < 0 || (!order && pair[0].address < pair[1].address)))
			break;
	}
}

/* This machine's own: whatever it shows, it has names. */
static void of_this_kernel(void)
{
	CLEANUP(kernel_function_list__release) struct kernel_function_list list = {0};
	int err = kernel_functions__find(&list, is_prefix, (void *)"vfs_rea");

	if (err) {
		tap_skip("no /proc/kallsyms");
		return;
	}
	for (size_t i = 0; i < list.nr; i++)
		CHECK(!strncmp(list.functions[i].name, "vfs_rea", 7));
	CHECK(list.nr > 0);
}

static const struct tap_test tests[] = {
	{"ftrace's list with addresses is all that is read", with_addresses},
	{"each function once: one name of several, several of one name", names_and_aliases},
	{"lines that list no function are left out", not_a_function},
	{"only what is wanted is kept", only_what_is_wanted},
	{"ftrace's list without addresses, with those of kallsyms", without_addresses},
	{"without those of ftrace, where they are not of functions", addresses_of_what_is_patched},
	{"what ftrace lists under another name is found by its own", other_names_of_functions},
	{"without ftrace: kallsyms, without what cannot be probed", without_ftrace},
	{"a blacklist is believed as far as it can be read", broken_blacklist},
	{"hidden addresses: each name once", hidden_addresses},
	{"no source: an error, and the list as it was", no_source_at_all},
	{"thousands of functions of one name, and very long names", many_and_long},
	{"the functions of this kernel", of_this_kernel},
};

int main(void)
{
	static const char *const names[NR_SOURCES] = {"available_filter_functions_addrs",
						      "available_filter_functions", "symbols",
						      "blacklist"};
	char folder[] = "/tmp/kernel_functions.XXXXXX";
	int status;

	if (!mkdtemp(folder))
		return 1;
	for (size_t i = 0; i < NR_SOURCES; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", folder, names[i]);
	tracefs = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	status = TAP_RUN(tests);
	close(tracefs);
	rmdir(folder);
	return status;
}
