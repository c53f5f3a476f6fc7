// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/cleanup.h"

bool kernel_symbol__parse(const char *text, struct kernel_symbol *symbol)
{
	const char *plus = NULL;
	const char *bracket;
	char *end;

	for (const char *found = strstr(text, "+0x"); found; found = strstr(found + 1, "+0x"))
		plus = found;
	if (!plus || plus == text)
		return false;
	errno = 0;
	*symbol = (struct kernel_symbol){.name = text, .name_length = (size_t)(plus - text)};
	symbol->offset = strtoull(plus + 1, &end, 16);
	if (errno || *end != '/')
		return false;
	bracket = strstr(end, " [");
	if (bracket) {
		symbol->module = bracket + 2;
		/* A build id can follow the module's name. */
		symbol->module_length = strcspn(symbol->module, " ]");
	}
	return true;
}

/*
 * /proc/kallsyms has no sizes: the nearest symbol below is the function. What
 * is far behind the last function of a module lies in memory that has no
 * symbols, a BPF program's for one.
 */
#define MODULE_FUNCTION_MAX 65536

struct kallsyms_line {
	uint64_t address;
	char type;
	char *name;
	char *module; /* or NULL */
};

/* "ffffffffc0a01000 t ext4_sync_fs\t[ext4]"; the strings lie in line. */
static bool parse_kallsyms(char *line, struct kallsyms_line *symbol)
{
	char *end, *module;

	errno = 0;
	symbol->address = strtoull(line, &end, 16);
	if (errno || end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	symbol->type = end[1];
	symbol->name = end + 3;
	symbol->module = NULL;
	end = symbol->name + strcspn(symbol->name, "\t\n ");
	module = strchr(end, '[');
	if (module) {
		symbol->module = module + 1;
		module[strcspn(module, "]\n")] = '\0';
	}
	*end = '\0';
	return symbol->name[0] != '\0';
}

static size_t first_lookup(const struct kallsyms_lookup *lookups, size_t nr, uint64_t address)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lookups[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Remember a symbol at the first lookup that it could name; carry_on() takes it further. */
static int offer_symbol(struct kallsyms_lookup *lookups, size_t nr,
			const struct kallsyms_line *symbol, struct arena *names)
{
	struct kallsyms_lookup *lookup = &lookups[first_lookup(lookups, nr, symbol->address)];

	if (lookup == lookups + nr)
		return 0;
	/* Of aliases the first, which is the one that the kernel itself prints. */
	if (lookup->name && lookup->start >= symbol->address)
		return 0;
	lookup->start = symbol->address;
	lookup->module = NULL;
	lookup->name = arena__copy_string(names, symbol->name, strlen(symbol->name));
	if (!lookup->name)
		return -ENOMEM;
	if (symbol->module) {
		lookup->module = arena__copy_string(names, symbol->module, strlen(symbol->module));
		if (!lookup->module)
			return -ENOMEM;
	}
	return 0;
}

static void carry_on(struct kallsyms_lookup *lookups, size_t nr, uint64_t text_end)
{
	const struct kallsyms_lookup *nearest = NULL;
	struct kallsyms_lookup kept;

	for (size_t i = 0; i < nr; i++) {
		struct kallsyms_lookup *lookup = &lookups[i];

		if (lookup->name && (!nearest || lookup->start > kept.start))
			kept = *lookup, nearest = &kept;
		if (!nearest)
			continue;
		lookup->name = kept.name;
		lookup->module = kept.module;
		lookup->start = kept.start;
		if (kept.module ? lookup->address - kept.start > MODULE_FUNCTION_MAX :
				  text_end && lookup->address >= text_end)
			lookup->name = lookup->module = NULL;
	}
}

int kallsyms__find(FILE *file, struct kallsyms_lookup *lookups, size_t nr, struct arena *names)
{
	CLEANUP_FREE
	char *line = NULL;
	uint64_t highest = 0, text_end = 0;
	size_t size = 0;

	for (size_t i = 0; i < nr; i++)
		lookups[i].name = lookups[i].module = NULL;
	while (getline(&line, &size, file) >= 0) {
		struct kallsyms_line symbol;
		int err;

		if (!parse_kallsyms(line, &symbol))
			continue;
		if (symbol.address > highest)
			highest = symbol.address;
		if (!strcmp(symbol.name, "_etext"))
			text_end = symbol.address;
		if (!strchr("tTwW", symbol.type))
			continue;
		err = offer_symbol(lookups, nr, &symbol, names);
		if (err)
			return err;
	}
	if (highest == 0)
		return -EACCES;
	carry_on(lookups, nr, text_end);
	return 0;
}
