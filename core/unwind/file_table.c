// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/file_table.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "core/unwind/host_tables.h"
#include "core/unwind/rule_text.h"
#include "sym/cfi/reader.h"
#include "sym/cfi/table.h"
#include "sym/cfi/table_reader.h"
#include "sym/child/reader_child.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

#define TABLE_PAGE ((uint64_t)1 << UNWIND_PAGE_BITS)

/* What the sink of a table prints. */
struct listing {
	FILE *out;
	const uint64_t *wanted; /* an offset; or NULL: all rows */
	bool has_row;		/* that covers it */
	uint64_t start;		/* offset of the first page */
	struct unwind_rule *rules;
};

static void listing__release(struct listing *listing)
{
	free(listing->rules);
}

static int begin(void *context, const struct unwind_table_head *head)
{
	struct listing *listing = context;

	listing->start = head->start;
	listing->rules = calloc(head->nr_rules + 1, sizeof(*listing->rules));
	if (!listing->rules)
		return -ENOMEM;
	memcpy(listing->rules, head->rules, head->nr_rules * sizeof(*listing->rules));
	if (!listing->wanted)
		fprintf(listing->out, "%" PRIu64 " rows and %" PRIu32 " rules\n", head->nr_rows,
			head->nr_rules);
	return 0;
}

/* "0x1139 to 0x1150: CFA=rsp+16, ra=[CFA-8]"; a row goes as far as the next one, or its page. */
static int print_page(void *context, uint32_t page, const uint32_t *rows, uint32_t nr)
{
	struct listing *listing = context;
	uint64_t first = listing->start + page * TABLE_PAGE;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t offset = first + unwind_row_low(rows[i]);
		uint64_t end =
			i + 1 < nr ? first + unwind_row_low(rows[i + 1]) : first + TABLE_PAGE;

		if (listing->wanted && (*listing->wanted < offset || *listing->wanted >= end))
			continue;
		listing->has_row = true;
		fprintf(listing->out, "0x%" PRIx64 " to 0x%" PRIx64 ": ", offset, end);
		rule_text__print(listing->out, &listing->rules[unwind_row_rule(rows[i])]);
		fputc('\n', listing->out);
	}
	return 0;
}

/* Find out which file that is, as it is done for what a program needs before it runs. */
static int look_at(const char *path, struct avoided_devices *avoided, struct unwind_mapped *mapped)
{
	const struct unwind_keeper nobody = {0};
	CLEANUP_FREE struct unwind_mapped *found = NULL;
	char text[PATH_MAX + 1];
	const struct unwind_needs needs = {.texts = text, .size = strlen(path) + 2, .path = path};
	int nr;

	if (needs.size > sizeof(text))
		return -ENAMETOOLONG;
	text[0] = ELF_NEED_LOADER;
	strcpy(text + 1, path);
	nr = unwind_reader__needed(&needs, avoided, &host_identifier, &nobody, &found);
	if (nr < 1)
		return nr < 0 ? nr : -EPROTO;
	*mapped = found[0];
	if (mapped->path[0] == '#')
		return -ENAMETOOLONG;
	return mapped->source == UNWIND_SOURCE_FILE  ? 0 :
	       mapped->source == UNWIND_SOURCE_OTHER ? -ENOEXEC :
						       -ESTALE;
}

static int read_table(const struct unwind_mapped *mapped, struct avoided_devices *avoided,
		      struct listing *listing)
{
	const struct unwind_sink sink = {.context = listing, .begin = begin, .page = print_page};
	struct unwind_table_reader *reader;
	int err = unwind_table_reader__start(&reader, getpid(), mapped, avoided);

	return err ? err : unwind_table_reader__finish(reader, &sink);
}

int file_table__print(const char *path, const uint64_t *offset, FILE *out, struct error *error)
{
	CLEANUP(listing__release) struct listing listing = {.out = out, .wanted = offset};
	struct avoided_devices avoided = {0};
	struct unwind_mapped mapped;
	int err = look_at(path, &avoided, &mapped);

	if (err == -ESTALE)
		return error__set(error, err, "%.400s cannot be opened", path);
	if (!err)
		err = read_table(&mapped, &avoided, &listing);
	if (err)
		return error__set(error, err, "%.400s has no table: %s", path,
				  unwind_table_reader__text(err));
	if (offset && !listing.has_row)
		return error__set(error, -ENODATA, "%.400s has no row for 0x%" PRIx64, path,
				  *offset);
	return 0;
}
