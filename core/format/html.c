// SPDX-License-Identifier: GPL-2.0-or-later
/* A page: a flame graph, and a table of functions beside it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/flame/markup.h"
#include "core/format/flame_stacks.h"
#include "core/format/format.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/pointer_map.h"

/* Functions in the table: those with the largest totals. */
#define ROWS_MAX 500

struct row {
	const char *text;
	uint64_t self, total;
	uint32_t inside; /* how often it is on the way to the node that is looked at */
};

struct rows {
	struct row *rows;
	size_t nr, capacity;
	struct pointer_map numbers; /* of rows, by text; 1 more */
};

static void rows__release(struct rows *rows)
{
	free(rows->rows);
	pointer_map__release(&rows->numbers);
}

/* NULL: out of memory. */
static struct row *row_of(struct rows *rows, const char *text)
{
	uintptr_t *number = pointer_map__at(&rows->numbers, text);

	if (!number)
		return NULL;
	if (!*number) {
		if (ARRAY_GROW(rows->rows, rows->nr, rows->capacity))
			return NULL;
		rows->rows[rows->nr++] = (struct row){.text = text};
		*number = rows->nr;
	}
	return &rows->rows[*number - 1];
}

static bool is_function(const struct flame_node *node)
{
	return node->kind != FLAME_PROCESS && node->kind != FLAME_MARK;
}

/* Each stack counts once for a function, however often that has called itself. */
static int count_rows(struct rows *rows, const struct flame_tree *tree)
{
	uint32_t number = 0, next;

	do {
		const struct flame_node *node = &tree->nodes[number];
		struct row *row = is_function(node) ? row_of(rows, node->text) : NULL;

		if (is_function(node) && !row)
			return -ENOMEM;
		if (row) {
			row->self += node->self;
			row->total += row->inside++ ? 0 : node->total;
		}
		next = flame_tree__next(tree, number);
		/* Leave it, and all callers that end with it. */
		for (uint32_t up = number; up != (next ? tree->nodes[next].parent : 0);
		     up = tree->nodes[up].parent)
			if (is_function(&tree->nodes[up]))
				row_of(rows, tree->nodes[up].text)->inside--;
		number = next;
	} while (number);
	return 0;
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = COMPARE(b->total, a->total);

	if (!order)
		order = COMPARE(b->self, a->self);
	return order ? order : strcmp(a->text, b->text);
}

static void write_row(FILE *out, const struct row *row, uint64_t all)
{
	double unit = all ? 100 / (double)all : 0;

	fprintf(out,
		"<tr><td>%" PRIu64 "</td><td>%.2f</td><td>%" PRIu64
		"</td><td>%.2f</td><td data-name>",
		row->self, (double)row->self * unit, row->total, (double)row->total * unit);
	markup__escape(out, row->text, strlen(row->text));
	fputs("</td></tr>\n", out);
}

static int write_table(FILE *out, const struct flame_tree *tree, const char *unit)
{
	CLEANUP(rows__release) struct rows rows = {0};
	int err = count_rows(&rows, tree);

	if (err)
		return err;
	array__sort(rows.rows, rows.nr, sizeof(*rows.rows), compare_rows);
	fprintf(out,
		"<table><thead><tr><th>self</th><th>%%</th><th>total</th><th>%%</th>"
		"<th>function (%s)</th></tr></thead><tbody>\n",
		unit);
	for (size_t i = 0; i < rows.nr && i < ROWS_MAX; i++)
		write_row(out, &rows.rows[i], tree->nodes[0].total);
	fputs("</tbody></table>\n", out);
	if (rows.nr > ROWS_MAX)
		fprintf(out, "<p>%zu functions with smaller totals are left out</p>\n",
			rows.nr - ROWS_MAX);
	return 0;
}

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	"<style>\n"
	":root { color-scheme: light dark; }\n"
	"body { margin: 8px; font: 13px system-ui, sans-serif; }\n"
	"main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(260px, 30em); gap: 12px; }\n"
	"@media (max-width: 900px) { main { grid-template-columns: minmax(0, 1fr); } }\n"
	"aside { max-height: 96vh; overflow: auto; }\n"
	"table { border-collapse: collapse; width: 100%; font-size: 12px; }\n"
	"th { position: sticky; top: 0; background: Canvas; cursor: pointer; text-align: right; }\n"
	"td { text-align: right; padding: 1px 6px; font-variant-numeric: tabular-nums; }\n"
	"td:last-child, th:last-child { text-align: left; overflow-wrap: anywhere; }\n"
	"td[data-name] { cursor: pointer; font-family: ui-monospace, monospace; }\n"
	"tr:hover { background: color-mix(in srgb, CanvasText 10%, Canvas); }\n"
	"</style>\n<title>";

/* A click on the head of a column sorts by it. */
static const char sorter[] =
	"<script>\n"
	"document.querySelector('thead').addEventListener('click', (event) => {\n"
	"	const column = event.target.cellIndex, body = document.querySelector('tbody');\n"
	"	const key = (row) => row.cells[column].textContent;\n"
	"	const compare = column < 4 ? (a, b) => key(b) - key(a) :\n"
	"		(a, b) => key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;\n"
	"	body.append(...[...body.rows].sort(compare));\n"
	"});\n"
	"</script>\n";

static int write_html(FILE *out, const struct shown_stacks *shown)
{
	CLEANUP(flame_stacks__release) struct flame_stacks stacks = {0};
	int err = flame_stacks__make(&stacks, shown);

	if (err)
		return err;
	stacks.picture.in_page = true;
	fputs(head, out);
	markup__escape(out, stacks.title, strlen(stacks.title));
	fputs("</title></head><body><main><div>\n", out);
	err = flame_picture__write(out, &stacks.picture);
	fputs("</div><aside>\n", out);
	if (!err)
		err = write_table(out, &stacks.tree, shown->unit);
	fprintf(out, "</aside></main>\n%s</body></html>\n", sorter);
	return err;
}

const struct format format_html = {
	.name = "html",
	.suffix = ".html",
	.whole = true,
	.write = write_html,
};
