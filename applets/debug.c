// SPDX-License-Identifier: GPL-2.0-or-later
#include "applets/debug.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/unwind/file_table.h"
#include "core/unwind/thread_walk.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"
#include "sym/util/text.h"

static int parse_pid(const char *text, pid_t *pid, struct error *error)
{
	uint64_t number;

	if (number__parse(text, 1, INT_MAX, &number))
		return error__set(error, -EINVAL, "debug: '%.80s' is not a PID", text);
	*pid = (pid_t)number;
	return 0;
}

/* Hexadecimal, as stacks and tables show it, with 0x or without. */
static int parse_address(const char *text, uint64_t *address, struct error *error)
{
	const char *digits = text + (text__begins(text, "0x") ? 2 : 0);
	char *end;

	errno = 0;
	*address = strtoull(digits, &end, 16);
	if (!isxdigit((unsigned char)digits[0]) || *end || errno)
		return error__set(error, -EINVAL, "debug: '%.80s' is not an address", text);
	return 0;
}

static int walk(char **argv, FILE *out, struct error *error)
{
	pid_t tid = 0;
	int err = parse_pid(argv[0], &tid, error);

	return err ? err : thread_walk__print(tid, out, error);
}

static int table(char **argv, FILE *out, struct error *error)
{
	uint64_t offset = 0;
	int err = argv[1] ? parse_address(argv[1], &offset, error) : 0;

	return err ? err : file_table__print(argv[0], argv[1] ? &offset : NULL, out, error);
}

/* ---- name PID ADDRESS ---- */

static void print_text(FILE *out, const char *before, const char *text)
{
	char clean[4096];

	text__clean(text, strlen(text), false, clean, sizeof(clean));
	fprintf(out, "%s%s", before, clean);
}

static void print_source(FILE *out, const struct sym_source *source)
{
	if (source->file)
		print_text(out, ", ", source->file);
	if (source->file && source->line)
		fprintf(out, ":%" PRIu32, source->line);
	fputc('\n', out);
}

static void print_name(FILE *out, const struct sym_query *query)
{
	for (uint32_t i = 0; i < query->nr_inlined; i++) {
		print_text(out,
			   "inlined:  ", query->inlined[i].name ? query->inlined[i].name : "?");
		print_source(out, &query->inlined[i].source);
	}
	if (query->name) {
		print_text(out, "name:     ", query->name);
		fprintf(out, "+0x%" PRIx64, query->offset);
		print_source(out, &query->source);
	} else if (query->function_start) {
		fprintf(out, "name:     none; the function begins at 0x%" PRIx64 "\n",
			query->function_start);
	} else {
		fputs("name:     none\n", out);
	}
	if (query->name)
		fprintf(out, "found in: %s\n", sym_origin__text(query->origin));
}

static void print_file(FILE *out, const struct sym_query *query)
{
	if (query->path)
		print_text(out, "file:     ", query->path);
	else
		print_text(out, "memory:   ", query->module ? query->module : "without a file");
	if (query->path)
		fprintf(out, "+0x%" PRIx64 "\naddress:  0x%" PRIx64 " in the file",
			query->file_offset, query->module_offset);
	fputs(query->generated ? ", generated code\n" : "\n", out);
	if (query->build_id)
		print_text(out, "build ID: ", query->build_id);
	if (query->build_id)
		fputc('\n', out);
}

static int name(char **argv, FILE *out, struct error *error)
{
	const struct sym_settings settings = {
		.inlined = true, .lines = true, .files = true, .starts = true};
	CLEANUP(symbolizer__freep) struct symbolizer *symbolizer = NULL;
	struct sym_query query = {0};
	int err = parse_pid(argv[0], &query.pid, error);

	if (!err)
		err = parse_address(argv[1], &query.address, error);
	if (err)
		return err;
	if (kill(query.pid, 0) && errno == ESRCH)
		return error__set(error, -ESRCH, "there is no process %d", query.pid);
	err = symbolizer__new(&symbolizer, &settings, NULL, NULL);
	if (!err)
		err = symbolizer__name_user(symbolizer, &query, 1);
	if (err)
		return error__set(error, err, "cannot ask for names: %s", strerror(-err));
	if (symbolizer__unanswered(symbolizer))
		return error__set(error, -ETIMEDOUT, "process %d, or its file, does not answer",
				  query.pid);
	if (!query.module && !query.generated && !query.name)
		return error__set(error, -ENOENT,
				  "process %d has nothing mapped at 0x%" PRIx64
				  ", or its mappings cannot be read",
				  query.pid, query.address);
	print_name(out, &query);
	print_file(out, &query);
	return 0;
}

/* ---- all of them ---- */

static const struct {
	const char *name;
	int least, most; /* arguments */
	int (*run)(char **argv, FILE *out, struct error *error);
} tools[] = {
	{"walk", 1, 1, walk},
	{"table", 1, 2, table},
	{"name", 2, 2, name},
};

int debug__run(int argc, char **argv, FILE *out, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools) && argc > 1; i++)
		if (!strcmp(argv[1], tools[i].name) && argc - 2 >= tools[i].least &&
		    argc - 2 <= tools[i].most)
			return tools[i].run(argv + 2, out, error);
	return error__set(error, -EINVAL,
			  "debug: needs 'walk PID', 'table FILE [ADDRESS]' or 'name PID ADDRESS'");
}
