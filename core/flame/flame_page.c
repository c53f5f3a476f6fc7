// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/flame_page.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/flame/flame_functions.h"
#include "core/flame/flame_picture.h"
#include "core/flame/flame_tree.h"
#include "core/flame/markup.h"
#include "sym/util/cleanup.h"

/* Functions in the table: the first of their order, so many, and as much text. */
#define ROWS_MAX  500
#define NAMES_MAX ((size_t)300 * 1000)

/* ---- the table ---- */

static void write_number(FILE *out, uint64_t number)
{
	fprintf(out, "<td>%" PRIu64 "</td>", number);
}

static void write_share(FILE *out, uint64_t number, uint64_t all)
{
	fprintf(out, "<td>%.2f</td>", flame_picture__percent(number, all));
}

static void write_change(FILE *out, uint64_t number, uint64_t before)
{
	fprintf(out, "<td>%+" PRId64 "</td>", (int64_t)(number - before));
}

static void write_row(FILE *out, const struct flame_function *function,
		      const struct flame_picture *picture)
{
	uint64_t all = picture->tree->nodes[0].total;

	fputs("<tr>", out);
	write_number(out, function->self);
	if (picture->scale > 0)
		write_change(out, function->self, function->self_before);
	else
		write_share(out, function->self, all);
	write_number(out, function->total);
	if (picture->scale > 0)
		write_change(out, function->total, function->total_before);
	else
		write_share(out, function->total, all);
	fputs("<td data-name>", out);
	markup__escape(out, function->text, strlen(function->text));
	fputs("</td></tr>\n", out);
}

static int write_table(FILE *out, const struct flame_picture *picture)
{
	CLEANUP(flame_functions__release) struct flame_functions functions = {0};
	const char *beside = picture->scale > 0 ? "change" : "%";
	size_t rows = 0, names = 0;
	int err = flame_functions__count(&functions, picture, FLAME_BY_TOTAL);

	if (err)
		return err;
	fprintf(out,
		"<table><thead><tr><th>self</th><th>%s</th><th>total</th><th>%s</th>"
		"<th>function (",
		beside, beside);
	markup__escape(out, picture->unit, strlen(picture->unit));
	fputs(")</th></tr></thead><tbody>\n", out);
	for (size_t i = 0; i < functions.nr && rows < ROWS_MAX; i++) {
		const struct flame_function *function = &functions.items[i];
		size_t length = markup__length(function->text, strlen(function->text));

		if (length > NAMES_MAX - names)
			continue;
		names += length;
		rows++;
		write_row(out, function, picture);
	}
	fputs("</tbody></table>\n", out);
	if (rows < functions.nr)
		fprintf(out,
			"<p>%zu functions with smaller %s or very long names are left out</p>\n",
			functions.nr - rows, picture->scale > 0 ? "changes" : "totals");
	return 0;
}

/* ---- the page ---- */

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	"<style>\n"
	":root { color-scheme: light dark; }\n"
	"body { margin: 8px; font: 13px system-ui, sans-serif; }\n"
	"main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(260px, 30em); gap: 12px; }\n"
	"@media (max-width: 900px) { main { grid-template-columns: minmax(0, 1fr); } }\n"
	"aside { max-height: 96vh; overflow: auto; position: sticky; top: 0; align-self: start; }\n"
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

int flame_page__write(FILE *out, const struct flame_picture *picture)
{
	struct flame_picture inner = *picture;
	int err;

	inner.in_page = true;
	fputs(head, out);
	markup__escape(out, picture->title, strlen(picture->title));
	fputs("</title></head><body><main><div>\n", out);
	err = flame_picture__write(out, &inner);
	fputs("</div><aside>\n", out);
	if (!err)
		err = write_table(out, picture);
	fprintf(out, "</aside></main>\n%s</body></html>\n", sorter);
	return err;
}
