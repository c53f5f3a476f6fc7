// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symbolize [-a] [-i] [-l COMMON] FILE < ADDRESSES: the output of addr2line -f [-a] [-i] for
 * addresses of the file itself, in hexadecimal, one to a line. -l: the file of dwz. Its split units
 * are in FILE.dwp, if there is one.
 * symbolize -s FILE < ADDRESSES: "START NAME" for each, from the tables of symbols alone.
 * symbolize -f FILE < ADDRESSES: where the function begins, from call-frame information alone.
 * It keeps all its memory until it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/cfi/function_starts.h"
#include "sym/dwarf/reader.h"
#include "sym/elf/file.h"
#include "sym/elf/symbols.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

struct wanted {
	uint64_t *addresses; /* as they were asked for */
	struct debug_chain *chains;
	struct elf_lookup *lookups; /* sorted */
	size_t nr, capacity;
};

static int compare_addresses(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int read_addresses(struct wanted *wanted)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		if (ARRAY_GROW(wanted->addresses, wanted->nr, wanted->capacity))
			return -ENOMEM;
		wanted->addresses[wanted->nr++] = strtoull(line, NULL, 16);
	}
	wanted->chains = calloc(wanted->nr + 1, sizeof(*wanted->chains));
	wanted->lookups = calloc(wanted->nr + 1, sizeof(*wanted->lookups));
	if (!wanted->chains || !wanted->lookups)
		return -ENOMEM;
	for (size_t i = 0; i < wanted->nr; i++)
		wanted->lookups[i].address = wanted->chains[i].address = wanted->addresses[i];
	array__sort(wanted->chains, wanted->nr, sizeof(*wanted->chains), compare_addresses);
	array__sort(wanted->lookups, wanted->nr, sizeof(*wanted->lookups), compare_addresses);
	return 0;
}

static void print_frame(const char *name, const char *file, uint32_t line)
{
	fputs(name ? name : "??", stdout);
	putchar('\n');
	fputs(file ? file : "??", stdout);
	if (line)
		printf(":%u\n", line);
	else
		puts(":?");
}

static void print_all(const struct wanted *wanted, bool addresses, bool inlines)
{
	for (size_t i = 0; i < wanted->nr; i++) {
		size_t at = array__lower_bound(wanted->chains, wanted->nr, sizeof(*wanted->chains),
					       wanted->addresses[i]);
		const struct debug_chain *chain = &wanted->chains[at];
		const char *symbol = wanted->lookups[at].name;

		if (addresses)
			printf("0x%016llx\n", (unsigned long long)chain->address);
		if (!chain->nr)
			print_frame(symbol, NULL, 0);
		for (size_t j = 0; j < chain->nr && (j == 0 || inlines); j++) {
			const struct debug_frame *frame = &chain->frames[j];
			bool by_symbol = j + 1 == chain->nr && symbol && !frame->is_linkage_name;

			print_frame(by_symbol ? symbol : frame->name, frame->file, frame->line);
		}
	}
}

static void print_symbols(const struct wanted *wanted)
{
	for (size_t i = 0; i < wanted->nr; i++) {
		size_t at = array__lower_bound(wanted->lookups, wanted->nr,
					       sizeof(*wanted->lookups), wanted->addresses[i]);
		const struct elf_lookup *lookup = &wanted->lookups[at];

		if (lookup->name)
			printf("%llx %s\n", (unsigned long long)lookup->start, lookup->name);
		else
			puts("??");
	}
}

static void print_starts(const struct wanted *wanted)
{
	for (size_t i = 0; i < wanted->nr; i++) {
		size_t at = array__lower_bound(wanted->lookups, wanted->nr,
					       sizeof(*wanted->lookups), wanted->addresses[i]);

		if (wanted->lookups[at].start)
			printf("%llx\n", (unsigned long long)wanted->lookups[at].start);
		else
			puts("??");
	}
}

/* Any file: this is a tool for those who trust what they give it. */
static int open_file(void *context, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	(void)context;
	return fd < 0 ? -errno : fd;
}

static int open_elf(struct elf_file *elf, const char *path)
{
	int fd = open_file(NULL, path);

	return fd < 0 ? fd : elf_file__open(elf, fd);
}

static int find_symbols(const struct elf_file *elf, struct wanted *wanted, struct arena *arena)
{
	uint64_t work = ELF_SYMBOLS_WORK;

	return elf_symbols__find(elf, wanted->lookups, wanted->nr, arena, &work);
}

static int find_starts(const struct elf_file *elf, struct wanted *wanted)
{
	uint64_t work = ELF_SYMBOLS_WORK;

	return function_starts__find(elf, wanted->lookups, wanted->nr, &work);
}

static int find(const struct elf_file *elf, const struct elf_file *alternate,
		const struct elf_file *package, struct wanted *wanted, struct arena *arena,
		struct debug_reader **reader)
{
	const struct debug_reader_caller caller = {.open_file = open_file};
	int err = debug_reader__start(reader, elf, alternate, package, &caller);

	/* While the child reads, so that both use a CPU. */
	if (find_symbols(elf, wanted, arena) == -ENOMEM)
		return -ENOMEM;
	if (!err)
		err = debug_reader__find(*reader, wanted->chains, wanted->nr, arena);
	return err;
}

int main(int argc, char **argv)
{
	struct elf_file elf, alternate, package;
	struct debug_reader *reader = NULL;
	struct wanted wanted = {0};
	struct arena arena = {0};
	bool addresses = false, inlines = false, symbols = false, has_alternate = false,
	     starts = false, has_package;
	char package_path[4096];
	int option, err;

	while ((option = getopt(argc, argv, "afil:s")) != -1) {
		addresses |= option == 'a';
		starts |= option == 'f';
		inlines |= option == 'i';
		symbols |= option == 's';
		if (option == 'l')
			has_alternate = open_elf(&alternate, optarg) == 0;
	}
	if (optind + 1 != argc || open_elf(&elf, argv[optind])) {
		fprintf(stderr,
			"usage: symbolize [-a] [-i] [-l COMMON] | -s | -f FILE < ADDRESSES\n");
		return 1;
	}
	snprintf(package_path, sizeof(package_path), "%s.dwp", argv[optind]);
	has_package = open_elf(&package, package_path) == 0;
	err = read_addresses(&wanted);
	if (!err && symbols) {
		err = find_symbols(&elf, &wanted, &arena);
		print_symbols(&wanted);
	} else if (!err && starts) {
		err = find_starts(&elf, &wanted);
		print_starts(&wanted);
	} else if (!err) {
		err = find(&elf, has_alternate ? &alternate : NULL, has_package ? &package : NULL,
			   &wanted, &arena, &reader);
		print_all(&wanted, addresses, inlines);
		/* The child's cost is then ours, for whoever measures. */
		debug_reader__stop(reader);
	}
	if (err)
		fprintf(stderr, "symbolize: %s\n", strerror(-err));
	return err != 0;
}
