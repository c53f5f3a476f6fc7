// SPDX-License-Identifier: GPL-2.0-or-later
/* The face of the library: kernel names here, user names from the worker. */
#include "sym/sym.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf/demangle.h"
#include "sym/kallsyms/kernel.h"
#include "sym/symfile/debuginfod.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/debug_log.h"
#include "sym/util/error.h"
#include "sym/worker/worker.h"

struct symbolizer {
	struct sym_settings settings;
	sym_kernel_print print;
	void *print_context;
	struct worker *worker; /* started when it is first needed */
	struct arena names;
};

int sym_settings__check(const struct sym_settings *settings, struct error *error)
{
	CLEANUP_CLOSE int symfs = -1;

	if (settings->symfs)
		symfs = open(settings->symfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (settings->symfs && symfs < 0)
		return error__set(error, -errno, "--symfs %s: %s", settings->symfs,
				  strerror(errno));
	return settings->debuginfod ? debuginfod__check(error) : 0;
}

int symbolizer__new(struct symbolizer **out, const struct sym_settings *settings,
		    sym_kernel_print print, void *context)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return -ENOMEM;
	symbolizer->settings = *settings;
	symbolizer->print = print;
	symbolizer->print_context = context;
	*out = symbolizer;
	return 0;
}

void symbolizer__free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	worker__free(symbolizer->worker);
	arena__release(&symbolizer->names);
	free(symbolizer);
}

void symbolizer__freep(struct symbolizer **symbolizer)
{
	symbolizer__free(*symbolizer);
}

static int take_printed(struct symbolizer *symbolizer, struct sym_query *query, const char *text)
{
	struct kernel_symbol symbol;

	if (!kernel_symbol__parse(text, &symbol))
		return 0;
	query->offset = symbol.offset + (query->address - sym_query__lookup_address(query));
	query->name = arena__copy_string(&symbolizer->names, symbol.name, symbol.name_length);
	if (!query->name)
		return -ENOMEM;
	if (!symbol.module)
		return 0;
	query->module = arena__copy_string(&symbolizer->names, symbol.module, symbol.module_length);
	return query->module ? 0 : -ENOMEM;
}

static int name_by_print(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	for (size_t done = 0, batch; done < nr; done += batch) {
		uint64_t addresses[SYM_KERNEL_BATCH];
		const char *texts[SYM_KERNEL_BATCH];
		int err;

		batch = nr - done < SYM_KERNEL_BATCH ? nr - done : SYM_KERNEL_BATCH;
		for (size_t i = 0; i < batch; i++)
			addresses[i] = sym_query__lookup_address(&queries[done + i]);
		err = symbolizer->print(symbolizer->print_context, addresses, batch, texts);
		for (size_t i = 0; i < batch && !err; i++)
			err = take_printed(symbolizer, &queries[done + i], texts[i]);
		if (err)
			return err;
	}
	return 0;
}

static int compare_queries(const void *a, const void *b)
{
	const struct sym_query *const *left = a, *const *right = b;

	return COMPARE(sym_query__lookup_address(*left), sym_query__lookup_address(*right));
}

static int name_by_kallsyms(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	CLEANUP_FREE struct sym_query **sorted = calloc(nr + 1, sizeof(*sorted));
	CLEANUP_FREE struct kallsyms_lookup *lookups = calloc(nr + 1, sizeof(*lookups));
	CLEANUP_FCLOSE FILE *file = fopen("/proc/kallsyms", "re");
	int err;

	if (!sorted || !lookups)
		return -ENOMEM;
	if (!file)
		return -errno;
	for (size_t i = 0; i < nr; i++)
		sorted[i] = &queries[i];
	array__sort(sorted, nr, sizeof(*sorted), compare_queries);
	for (size_t i = 0; i < nr; i++)
		lookups[i].address = sym_query__lookup_address(sorted[i]);
	err = kallsyms__find(file, lookups, nr, &symbolizer->names);
	for (size_t i = 0; i < nr && !err; i++) {
		sorted[i]->name = lookups[i].name;
		sorted[i]->module = lookups[i].module;
		if (sorted[i]->name)
			sorted[i]->offset = sorted[i]->address - lookups[i].start;
	}
	return err;
}

static int name_symbols(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	if (symbolizer->print) {
		if (name_by_print(symbolizer, queries, nr) == 0)
			return 0;
		for (size_t i = 0; i < nr; i++)
			queries[i].name = queries[i].module = NULL;
	}
	return name_by_kallsyms(symbolizer, queries, nr);
}

/* Some of the kernel is written in Rust. */
static int demangle_names(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	unsigned int patience = DEMANGLE_PATIENCE;
	char text[DEMANGLED_SIZE];

	for (size_t i = 0; i < nr; i++) {
		if (!queries[i].name || !demangle(queries[i].name, text, &patience))
			continue;
		if (symbolizer->settings.symbols)
			queries[i].symbol = queries[i].name;
		queries[i].name = arena__copy_string(&symbolizer->names, text, strlen(text));
		if (!queries[i].name)
			return -ENOMEM;
	}
	return 0;
}

static void say_names(const struct sym_query *queries, size_t nr)
{
	for (size_t i = 0; debug_log__has(DEBUG_LOG_NAMES) && i < nr; i++)
		debug_log__print(
			DEBUG_LOG_NAMES, "0x%" PRIx64 " of the kernel is %s+0x%" PRIx64 "%s%s",
			queries[i].address, queries[i].name ? queries[i].name : "without a name",
			queries[i].offset, queries[i].module ? " in " : "",
			queries[i].module ? queries[i].module : "");
}

int symbolizer__name_kernel(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	int err = name_symbols(symbolizer, queries, nr);

	if (!err)
		say_names(queries, nr);
	return err || symbolizer->settings.mangled ? err : demangle_names(symbolizer, queries, nr);
}

static int start_worker(struct symbolizer *symbolizer)
{
	return symbolizer->worker ? 0 : worker__new(&symbolizer->worker, &symbolizer->settings);
}

int symbolizer__start(struct symbolizer *symbolizer)
{
	int err = start_worker(symbolizer);

	return err ? err : worker__start(symbolizer->worker);
}

int symbolizer__name_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	int err = start_worker(symbolizer);

	return err ? err : worker__name(symbolizer->worker, queries, nr, &symbolizer->names);
}

int symbolizer__ask_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	int err = start_worker(symbolizer);

	return err ? err : worker__ask(symbolizer->worker, queries, nr, &symbolizer->names);
}

int symbolizer__attend(struct symbolizer *symbolizer)
{
	return symbolizer->worker ? worker__attend(symbolizer->worker) : 0;
}

int symbolizer__poll(const struct symbolizer *symbolizer, struct pollfd *pollfd)
{
	if (symbolizer->worker)
		return worker__poll(symbolizer->worker, pollfd);
	*pollfd = (struct pollfd){.fd = -1};
	return -1;
}

void symbolizer__forget_names(struct symbolizer *symbolizer)
{
	arena__release(&symbolizer->names);
}

size_t symbolizer__unanswered(const struct symbolizer *symbolizer)
{
	return symbolizer->worker ? worker__unanswered(symbolizer->worker) : 0;
}

bool symbolizer__has_incomplete_debug(const struct symbolizer *symbolizer)
{
	return symbolizer->worker && worker__has_incomplete_debug(symbolizer->worker);
}
