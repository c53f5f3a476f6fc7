// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kallsyms/kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"

bool kernel_symbol__parse(const char *text, struct kernel_symbol *symbol)
{
	struct kernel_symbol parsed = {.name = text};
	const char *plus = NULL;
	const char *bracket;
	char *end;

	for (const char *found = strstr(text, "+0x"); found; found = strstr(found + 1, "+0x"))
		plus = found;
	if (!plus || plus == text)
		return false;
	errno = 0;
	parsed.name_length = (size_t)(plus - text);
	parsed.offset = strtoull(plus + 1, &end, 16);
	if (errno || *end != '/')
		return false;
	bracket = strstr(end, " [");
	if (bracket) {
		parsed.module = bracket + 2;
		/* A build id can follow the module's name. */
		parsed.module_length = strcspn(parsed.module, " ]");
	}
	*symbol = parsed;
	return true;
}

/*
 * /proc/kallsyms has no sizes: the nearest symbol below is the function. An address far behind the
 * last function of a module lies in memory without symbols, as that of a BPF program.
 */
#define MODULE_FUNCTION_MAX 65536

bool kallsyms_line__parse(char *line, struct kallsyms_line *symbol)
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

bool kallsyms_line__is_function(const struct kallsyms_line *symbol)
{
	/* Modules of arm64 mark where code begins, and data in it: "$x", "$d". */
	return strchr("tTwW", symbol->type) && symbol->name[0] != '$';
}

/* The nearest symbol so far at or below a lookup, for it and the lookups behind it. */
struct nearest {
	uint64_t start;
	char *name; /* allocated; NULL: none yet */
	char *module;
};

struct nearest_list {
	struct nearest *items; /* one for each lookup */
	size_t nr;
};

static void nearest_list__release(struct nearest_list *list)
{
	for (size_t i = 0; list->items && i < list->nr; i++) {
		free(list->items[i].name);
		free(list->items[i].module);
	}
	free(list->items);
}

static int offer_symbol(struct nearest *nearest, const struct kallsyms_line *symbol)
{
	char *name, *module = NULL;

	/* The first of several aliases: the kernel itself prints this one. */
	if (nearest->name && nearest->start >= symbol->address)
		return 0;
	name = strdup(symbol->name);
	if (symbol->module)
		module = strdup(symbol->module);
	if (!name || (symbol->module && !module)) {
		free(name);
		free(module);
		return -ENOMEM;
	}
	free(nearest->name);
	free(nearest->module);
	*nearest = (struct nearest){.start = symbol->address, .name = name, .module = module};
	return 0;
}

static int take_nearest(const struct nearest_list *list, struct kallsyms_lookup *lookups,
			uint64_t text_end, struct arena *names)
{
	const struct nearest *nearest = NULL;
	const char *name = NULL, *module = NULL;

	for (size_t i = 0; i < list->nr; i++) {
		const struct nearest *item = &list->items[i];
		uint64_t address = lookups[i].address;

		if (item->name && (!nearest || item->start > nearest->start)) {
			nearest = item;
			name = arena__copy_string(names, item->name, strlen(item->name));
			module = item->module ? arena__copy_string(names, item->module,
								   strlen(item->module)) :
						NULL;
			if (!name || (item->module && !module))
				return -ENOMEM;
		}
		if (!nearest || (module ? address - nearest->start > MODULE_FUNCTION_MAX :
					  text_end && address >= text_end))
			continue;
		lookups[i].name = name;
		lookups[i].module = module;
		lookups[i].start = nearest->start;
	}
	return 0;
}

int kallsyms__find(FILE *file, struct kallsyms_lookup *lookups, size_t nr, struct arena *names)
{
	CLEANUP(nearest_list__release)
	struct nearest_list nearest = {calloc(nr + 1, sizeof(*nearest.items)), nr};
	CLEANUP_FREE char *line = NULL;
	uint64_t highest = 0, text_end = 0;
	size_t size = 0;

	if (!nearest.items)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		lookups[i].name = lookups[i].module = NULL;
	while (getline(&line, &size, file) >= 0) {
		struct kallsyms_line symbol;
		size_t first;

		if (!kallsyms_line__parse(line, &symbol))
			continue;
		if (symbol.address > highest)
			highest = symbol.address;
		if (!strcmp(symbol.name, "_etext"))
			text_end = symbol.address;
		first = array__lower_bound(lookups, nr, sizeof(*lookups), symbol.address);
		if (first == nr || !kallsyms_line__is_function(&symbol))
			continue;
		if (offer_symbol(&nearest.items[first], &symbol))
			return -ENOMEM;
	}
	return highest ? take_nearest(&nearest, lookups, text_end, names) : -EACCES;
}
