// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kallsyms/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf/machine.h"
#include "sym/elf/processor.h"
#include "sym/kallsyms/kernel.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/kernel_fs.h"
#include "sym/util/text.h"

void kernel_function_list__release(struct kernel_function_list *list)
{
	arena__release(&list->names);
	free(list->functions);
	*list = (struct kernel_function_list){0};
}

static int add(struct kernel_function_list *list, uint64_t address, const char *name)
{
	struct kernel_function function = {.address = address};

	if (ARRAY_GROW(list->functions, list->nr, list->capacity))
		return -ENOMEM;
	function.name = arena__copy_string(&list->names, name, strlen(name));
	if (!function.name)
		return -ENOMEM;
	list->functions[list->nr++] = function;
	return 0;
}

static int compare_addresses(const void *left, const void *right)
{
	const struct kernel_function *a = left, *b = right;
	int order = COMPARE(a->address, b->address);

	return order ? order : strcmp(a->name, b->name);
}

static int compare_names(const void *left, const void *right)
{
	const struct kernel_function *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : COMPARE(a->address, b->address);
}

/* Keep the first of several names of one address; without addresses, each name once. */
static void sort(struct kernel_function_list *list)
{
	size_t kept = 0;

	array__sort(list->functions, list->nr, sizeof(*list->functions), compare_addresses);
	for (size_t i = 0; i < list->nr; i++) {
		struct kernel_function *last = &list->functions[kept - (kept > 0)];
		const struct kernel_function *next = &list->functions[i];

		if (kept && last->address == next->address &&
		    (next->address || !strcmp(last->name, next->name))) {
			last->ambiguous = !next->address;
			continue;
		}
		list->functions[kept++] = *next;
	}
	list->nr = kept;
	array__sort(list->functions, list->nr, sizeof(*list->functions), compare_names);
}

/* ftrace lists functions without a name in this way. */
static bool is_name(const char *name)
{
	return name[0] && strncmp(name, "__ftrace_invalid_address", 24);
}

/* "ffffffff81001234 vfs_read [module]", since Linux 6.5 */
#define TRACEABLE_WITH_ADDRESSES "available_filter_functions_addrs"
/* "vfs_read [module]" */
#define TRACEABLE "available_filter_functions"

/* A list of ftrace. Returns 0 or a negative errno. */
static int read_traceable(struct kernel_function_list *list, int tracefs, bool with_addresses,
			  kernel_function_wanted wanted, void *context)
{
	CLEANUP_CLOSE int fd =
		openat(tracefs, with_addresses ? TRACEABLE_WITH_ADDRESSES : TRACEABLE,
		       O_RDONLY | O_CLOEXEC);
	CLEANUP_FCLOSE FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;

	if (!file)
		return -errno;
	TAKE_FD(fd);
	while (getline(&line, &size, file) >= 0) {
		uint64_t address = 0;
		char *name = line;
		int err;

		if (with_addresses) {
			address = strtoull(line, &name, 16);
			if (*name++ != ' ')
				continue;
		}
		name[strcspn(name, " \t\n")] = '\0';
		if (!is_name(name) || !wanted(context, name))
			continue;
		err = add(list, address, name);
		if (err)
			return err;
	}
	return ferror(file) ? -EIO : 0;
}

/* Returns 0 or a negative errno. */
static int read_symbols(struct kernel_function_list *list, const char *path,
			kernel_function_wanted wanted, void *context)
{
	CLEANUP_FCLOSE FILE *file = path ? fopen(path, "re") : NULL;
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;

	if (!file)
		return path ? -errno : -ENOENT;
	while (getline(&line, &size, file) >= 0) {
		struct kallsyms_line symbol;
		int err;

		if (!kallsyms_line__parse(line, &symbol) || !kallsyms_line__is_function(&symbol) ||
		    !wanted(context, symbol.name))
			continue;
		err = add(list, symbol.address, symbol.name);
		if (err)
			return err;
	}
	return ferror(file) ? -EIO : 0;
}

static bool is_in_list(void *context, const char *name)
{
	const struct kernel_function_list *list = context;
	struct kernel_function key = {.name = name};
	size_t low = 0, high = list->nr;

	/* The first that does not come before (name, address 0). */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_names(&list->functions[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list->nr && !strcmp(list->functions[low].name, name);
}

/* False for names in kallsyms that are no functions of the kernel, or added by compilers. */
static bool is_probeable_name(const char *name)
{
	static const char *const others[] = {"__pfx_", "__cfi_", "bpf_prog_", "bpf_trampoline_"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (text__begins(name, others[i]))
			return false;
	return !strstr(name, ".cold");
}

/* A filter in front of the caller's own. */
struct probeable {
	const struct kernel_function_list *blacklist; /* by name */
	kernel_function_wanted wanted;
	void *context;
};

static bool is_probeable(void *context, const char *name)
{
	const struct probeable *probeable = context;

	return is_probeable_name(name) && probeable->wanted(probeable->context, name) &&
	       !is_in_list((void *)probeable->blacklist, name);
}

/* If the list cannot be read, probing finds out what is in it. */
static void read_blacklist(struct kernel_function_list *list, FILE *(*open_blacklist)(void))
{
	CLEANUP_FCLOSE FILE *file = open_blacklist ? open_blacklist() : NULL;
	char name[512];

	while (file && fscanf(file, "0x%*x-0x%*x %511s\n", name) == 1)
		if (add(list, 0, name))
			break;
	sort(list);
}

static int find_among_symbols(struct kernel_function_list *list,
			      const struct kernel_function_sources *sources,
			      kernel_function_wanted wanted, void *context)
{
	CLEANUP(kernel_function_list__release) struct kernel_function_list blacklist = {0};
	struct probeable probeable = {&blacklist, wanted, context};

	read_blacklist(&blacklist, sources->open_blacklist);
	return read_symbols(list, sources->symbols, is_probeable, &probeable);
}

/* For the list without addresses: kallsyms has them, for all functions of a name. */
static int find_traceable(struct kernel_function_list *list,
			  const struct kernel_function_sources *sources,
			  kernel_function_wanted wanted, void *context)
{
	CLEANUP(kernel_function_list__release) struct kernel_function_list names = {0};
	int err = read_traceable(&names, sources->tracefs, false, wanted, context);

	if (err || !names.nr)
		return err;
	sort(&names);
	return read_symbols(list, sources->symbols, is_in_list, &names);
}

int kernel_functions__find_in(struct kernel_function_list *list,
			      const struct kernel_function_sources *sources,
			      kernel_function_wanted wanted, void *context)
{
	CLEANUP(kernel_function_list__release) struct kernel_function_list found = {0};
	int err = sources->no_addresses ?
			  -ENOENT :
			  read_traceable(&found, sources->tracefs, true, wanted, context);

	if (err && err != -ENOMEM)
		err = find_traceable(&found, sources, wanted, context);
	if (err && err != -ENOMEM) {
		err = find_among_symbols(&found, sources, wanted, context);
	} else if (!err && !found.nr) {
		/* ftrace lists one name of each function, for some not the one that people use. */
		err = find_among_symbols(&found, sources, wanted, context);
		err = err == -ENOMEM ? err : 0;
	}
	if (err)
		return err;
	sort(&found);
	*list = found;
	found = (struct kernel_function_list){0};
	return 0;
}

static FILE *open_blacklist(void)
{
	return kernel_fs__open_file(KERNEL_FS_DEBUG, "kprobes/blacklist");
}

int kernel_functions__find(struct kernel_function_list *list, kernel_function_wanted wanted,
			   void *context)
{
	CLEANUP_CLOSE int tracefs = kernel_fs__open(KERNEL_FS_TRACE);
	const struct processor *own = processor__of(MACHINE_ELF);
	const struct kernel_function_sources sources = {
		.tracefs = tracefs,
		.symbols = "/proc/kallsyms",
		.open_blacklist = open_blacklist,
		.no_addresses = !own || !own->ftrace_lists_functions,
	};

	return kernel_functions__find_in(list, &sources, wanted, context);
}
