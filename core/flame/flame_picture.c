// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/flame_picture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_css.h"
#include "core/flame/flame_js.h"
#include "core/flame/flame_tree.h"
#include "core/flame/markup.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/pointer_map.h"
#include "sym/util/text.h"
#include "sym/util/unpack.h"

/* In pixels. */
#define ROW	  16
#define ABOVE	  76
#define BELOW	  12
#define WIDE	  1200
#define CHARACTER 7.3

/* In percent: a frame is seen from a tenth of a pixel on. */
#define LEAST (0.1 * 100 / WIDE)

/* The first letter of its class in flame.css, by its kind. */
static const char classes[NR_FLAME_KINDS] = {
	[FLAME_PROCESS] = 'p',	 [FLAME_USER] = 'u',	[FLAME_KERNEL] = 'k', [FLAME_INLINED] = 'i',
	[FLAME_GENERATED] = 'g', [FLAME_UNKNOWN] = 'x', [FLAME_MARK] = 'm',
};

/* What is drawn of the tree. */
struct drawing {
	bool *drawn;		 /* by number; no frame without its caller */
	uint32_t deepest, depth; /* of what is drawn, and of all */
	size_t left_out;
	double largest_left_out; /* in percent */
};

static void drawing__release(struct drawing *drawing)
{
	free(drawing->drawn);
}

static double before_of(const struct flame_picture *picture, const struct flame_node *node)
{
	return (double)node->total_before * picture->scale;
}

uint64_t flame_picture__scale(const struct flame_picture *picture, uint64_t before)
{
	double scaled = (double)before * picture->scale + 0.5;

	return scaled < (double)UINT64_MAX ? (uint64_t)scaled : UINT64_MAX;
}

double flame_picture__percent(uint64_t weight, uint64_t all)
{
	return all ? (double)weight * 100 / (double)all : 0;
}

/*
 * In percent, of the run in which it is larger: frames of either are drawn. No frame has a larger
 * one than its caller.
 */
static double share_of(const struct flame_tree *tree, const struct flame_node *node)
{
	double now = flame_picture__percent(node->total, tree->nodes[0].total);
	double before = flame_picture__percent(node->total_before, tree->nodes[0].total_before);

	return now > before ? now : before;
}

static size_t digits(uint64_t number)
{
	size_t nr = 1;

	for (; number >= 10; number /= 10)
		nr++;
	return nr;
}

/* As much of a name as fits into a picture of the usual width; whole characters. */
static size_t fitting(const char *text, double width, bool *cut)
{
	double room = (width / 100 * WIDE - 6) / CHARACTER;
	size_t length = strlen(text), fits = room > 0 ? (size_t)room : 0;

	*cut = length > fits;
	if (!*cut)
		return length;
	fits = fits > 2 ? fits - 2 : 0;
	while (fits > 0 && (text[fits] & 0xC0) == 0x80)
		fits--;
	return fits;
}

/* The longest that the SVG of a frame is, without its name and its module. */
static size_t frame_bytes(const struct flame_picture *picture)
{
	static const char fixed[] = "<g class=\"u0\" data-d=\"\" data-n=\"\" data-m=\"\">"
				    "<title>\n , 100.00 %</title><rect x=\"100.000000%\" y=\"\" "
				    "width=\"100.0000%\" height=\"16\"/><text x=\"100.0000%\" "
				    "dx=\"3\" y=\"\">..</text></g>\n";
	static const char compared[] = " data-b=\"\"; before 0.00e-00, 100.00 % (+00.0 %)";
	const struct flame_node *all = &picture->tree->nodes[0];
	size_t now = digits(all->total), before = digits(all->total_before);
	size_t places = 4 * digits(picture->tree->nr * ROW); /* depth, module, and two heights */
	size_t bytes = strlen(fixed) + places + 2 * now +
		       markup__length(picture->unit, strlen(picture->unit));

	if (picture->scale > 0)
		bytes += strlen(compared) + before + 2 * (now > before ? now : before);
	return bytes;
}

/* Of the name, in the title and as the label. */
static size_t name_bytes(const struct flame_picture *picture, const struct flame_node *node)
{
	double width = flame_picture__percent(node->total, picture->tree->nodes[0].total);
	bool cut;

	return markup__length(node->text, strlen(node->text)) +
	       markup__length(node->text, fitting(node->text, width, &cut));
}

/* Frames that are wide enough to be seen, in the order in which they are wanted. */
struct candidate {
	double share;
	uint32_t depth;
	uint32_t number;
};

/* Callers come before their callees. */
static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = COMPARE(b->share, a->share);

	if (order == 0)
		order = COMPARE(a->depth, b->depth);
	return order ? order : COMPARE(a->number, b->number);
}

/* What is left of FLAME_BYTES. The name of a module takes its bytes once. */
struct room {
	size_t bytes;
	struct pointer_map modules; /* true: taken */
};

static void room__release(struct room *room)
{
	pointer_map__release(&room->modules);
}

/* Take room for a frame of that many bytes and its module. Returns 0, -ENOSPC or -ENOMEM. */
static int take_room(struct room *room, const struct flame_node *node, size_t bytes)
{
	uintptr_t *is_there = NULL;

	if (node->module) {
		is_there = pointer_map__at(&room->modules, node->module);
		if (!is_there)
			return -ENOMEM;
		if (!*is_there)
			bytes += strlen("<m></m>") +
				 markup__length(node->module, strlen(node->module));
	}
	if (bytes > room->bytes)
		return -ENOSPC;
	room->bytes -= bytes;
	if (is_there)
		*is_there = true;
	return 0;
}

static void leave_out(struct drawing *drawing, double share)
{
	/* Of no weight there is nothing to see. */
	drawing->left_out += share > 0;
	if (share > drawing->largest_left_out)
		drawing->largest_left_out = share;
}

/* Draw the root, and those of the candidates for which there is room. */
static int take(const struct flame_picture *picture, struct drawing *drawing,
		const struct candidate *items, size_t nr)
{
	CLEANUP(room__release) struct room room = {.bytes = FLAME_BYTES};
	size_t each = frame_bytes(picture);

	drawing->drawn[0] = true;
	for (size_t i = 0; i < nr; i++) {
		const struct flame_node *node = &picture->tree->nodes[items[i].number];
		int err = -ENOSPC;

		if (drawing->drawn[node->parent])
			err = take_room(&room, node, each + name_bytes(picture, node));
		if (err == -ENOMEM)
			return err;
		if (err) {
			leave_out(drawing, items[i].share);
			continue;
		}
		drawing->drawn[items[i].number] = true;
		if (node->depth > drawing->deepest)
			drawing->deepest = node->depth;
	}
	return 0;
}

/* Returns 0 or -ENOMEM; either way drawing__release() is due. */
static int choose(const struct flame_picture *picture, struct drawing *drawing)
{
	const struct flame_tree *tree = picture->tree;
	CLEANUP_FREE struct candidate *items = calloc(tree->nr, sizeof(*items));
	size_t nr = 0;

	drawing->drawn = calloc(tree->nr, sizeof(*drawing->drawn));
	if (!items || !drawing->drawn)
		return -ENOMEM;
	for (uint32_t i = 1; i < tree->nr; i++) {
		uint32_t depth = tree->nodes[i].depth;
		double share = share_of(tree, &tree->nodes[i]);

		if (depth > drawing->depth)
			drawing->depth = depth;
		if (share >= LEAST)
			items[nr++] = (struct candidate){share, depth, i};
		else
			leave_out(drawing, share);
	}
	array__sort(items, nr, sizeof(*items), compare_candidates);
	return take(picture, drawing, items, nr);
}

static void write_text(FILE *out, const char *text)
{
	markup__escape(out, text, strlen(text));
}

static void write_label(FILE *out, const char *text, double x, double width, uint32_t y)
{
	bool cut;
	size_t length = fitting(text, width, &cut);

	if (length == 0)
		return;
	fprintf(out, "<text x=\"%.4f%%\" dx=\"3\" y=\"%" PRIu32 "\">", x, y + 12);
	markup__escape(out, text, length);
	fprintf(out, "%s</text>", cut ? ".." : "");
}

/* The class of a frame: a letter for its kind, and one of three shades. */
static void write_kind(FILE *out, const struct flame_node *node)
{
	fprintf(out, "%c%u", classes[node->kind], (unsigned int)(text__hash(node->text) % 3));
}

/* A letter for more, less or equal, and one of five shades for how much of the two that is. */
static void write_growth(FILE *out, double now, double before)
{
	static const double shades[] = {.01, .05, .15, .33, .6};
	double sum = now + before, difference = now - before;
	double part = sum > 0 ? (difference < 0 ? -difference : difference) / sum : 0;
	unsigned int shade = 0;

	while (shade < ARRAY_SIZE(shades) && part >= shades[shade])
		shade++;
	fprintf(out, "%c%u", shade == 0 ? 'e' : difference < 0 ? 'f' : 'r', shade);
}

static void write_comparison(FILE *out, const struct flame_picture *picture,
			     const struct flame_node *node)
{
	double before = before_of(picture, node);

	if (node->total_before == 0) {
		fputs("; not before", out);
		return;
	}
	fputs("; before ", out);
	if (before < 1)
		fprintf(out, "%.2g", before); /* what was there is never shown as 0 */
	else
		fprintf(out, "%.*f", picture->scale == 1 ? 0 : 1, before);
	fprintf(out, ", %.2f %%",
		flame_picture__percent(node->total_before, picture->tree->nodes[0].total_before));
	fprintf(out, node->total ? " (%+.1f %%)" : " (gone)",
		((double)node->total - before) * 100 / before);
}

/* left: the weight that is beside it, before it. */
static void write_frame(FILE *out, const struct flame_picture *picture,
			const struct drawing *drawing, uint32_t number, uint64_t left,
			unsigned int module)
{
	const struct flame_node *all = &picture->tree->nodes[0];
	const struct flame_node *node = &picture->tree->nodes[number];
	double x = flame_picture__percent(left, all->total);
	double width = flame_picture__percent(node->total, all->total);
	uint32_t y = (drawing->deepest - node->depth) * ROW;

	fputs("<g class=\"", out);
	if (picture->scale > 0)
		write_growth(out, (double)node->total, before_of(picture, node));
	else
		write_kind(out, node);
	fprintf(out, "\" data-d=\"%" PRIu32 "\" data-n=\"%" PRIu64 "\"", node->depth, node->total);
	if (picture->scale > 0)
		fprintf(out, " data-b=\"%" PRIu64 "\"", node->total_before);
	if (module)
		fprintf(out, " data-m=\"%u\"", module);
	fputs("><title>", out);
	write_text(out, node->text);
	fprintf(out, "\n%" PRIu64 " ", node->total);
	write_text(out, picture->unit);
	fprintf(out, ", %.2f %%", width);
	if (picture->scale > 0)
		write_comparison(out, picture, node);
	fprintf(out,
		"</title><rect x=\"%.6f%%\" y=\"%" PRIu32 "\" width=\"%.4f%%\" height=\"%d\"/>", x,
		y, width, ROW);
	write_label(out, node->text, x, width, y);
	fputs("</g>\n", out);
}

/* Each module that is drawn, by its number from 1 on. */
static int number_modules(const struct flame_picture *picture, const struct drawing *drawing,
			  struct pointer_map *numbers, FILE *out)
{
	const struct flame_tree *tree = picture->tree;

	fputs("<metadata>", out);
	for (uint32_t i = 0; i < tree->nr; i++) {
		const struct flame_node *node = &tree->nodes[i];
		uintptr_t *number;

		if (!node->module || !drawing->drawn[i])
			continue;
		number = pointer_map__at(numbers, node->module);
		if (!number)
			return -ENOMEM;
		if (*number)
			continue;
		*number = numbers->nr;
		fputs("<m>", out);
		write_text(out, node->module);
		fputs("</m>", out);
	}
	fputs("</metadata>\n", out);
	return 0;
}

static int write_frames(FILE *out, const struct flame_picture *picture,
			const struct drawing *drawing)
{
	const struct flame_tree *tree = picture->tree;
	CLEANUP(pointer_map__release) struct pointer_map modules = {0};
	/* By depth: the weight that is beside the next frame, before it. */
	CLEANUP_FREE uint64_t *left = calloc(drawing->depth + 2, sizeof(*left));
	uint32_t number = 0;
	int err = left ? number_modules(picture, drawing, &modules, out) : -ENOMEM;

	if (err)
		return err;
	fprintf(out, "<g class=\"frames\"%s transform=\"translate(0,%d)\">\n",
		drawing->left_out ? " data-left-out=\"\"" : "", ABOVE);
	do {
		const struct flame_node *node = &tree->nodes[number];
		const uintptr_t *module =
			node->module ? pointer_map__at(&modules, node->module) : NULL;
		bool drawn = drawing->drawn[number];

		if (drawn)
			write_frame(out, picture, drawing, number, left[node->depth],
				    module ? (unsigned int)*module : 0);
		left[node->depth + 1] = left[node->depth];
		left[node->depth] += node->total;
		number = drawn ? flame_tree__next(tree, number) : flame_tree__skip(tree, number);
	} while (number);
	fputs("</g>\n", out);
	return 0;
}

static void write_start(FILE *out, const struct flame_picture *picture,
			const struct drawing *drawing)
{
	unpack(flame_css_packed, sizeof(flame_css_packed), flame_css, sizeof(flame_css) - 1);
	if (!picture->in_page)
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	fprintf(out,
		"<svg class=\"flame%s\" xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" "
		"width=\"100%%\" height=\"%" PRIu32 "\">\n<style>%s</style>\n",
		picture->waits ? " waits" : "", ABOVE + (drawing->deepest + 1) * ROW + BELOW,
		flame_css);
}

/* To 4 digits behind the point: "at most" stays true. */
static double rounded_up(double percent)
{
	/* What is exact but for the last bits of a double is left as it is. */
	return (double)(uint64_t)(percent * 10000 + (1 - 1e-9)) / 10000;
}

/* Behind the frames, since it stays in sight above them when the picture is scrolled. */
static void write_head(FILE *out, const struct flame_picture *picture,
		       const struct drawing *drawing)
{
	static const struct {
		const char *name, *label;
	} buttons[] = {{"reset", "whole picture"},
		       {"search", "search (Ctrl-F)"},
		       {"icicle", "upside down"},
		       {"modules", "colours by module"},
		       {"before", "widths of before"}};

	fprintf(out, "<g class=\"head\"><rect width=\"100%%\" height=\"%d\"/>\n", ABOVE);
	fputs("<text class=\"title\" x=\"6\" y=\"18\">", out);
	write_text(out, picture->title);
	fputs("</text>\n<text class=\"about\" x=\"6\" y=\"36\">", out);
	write_text(out, picture->about);
	if (drawing->left_out)
		fprintf(out, "; %zu frames of at most %.7g %% left out", drawing->left_out,
			rounded_up(drawing->largest_left_out));
	fputs("</text>\n<text x=\"6\" y=\"54\">", out);
	for (size_t i = 0; i < ARRAY_SIZE(buttons) - (picture->scale > 0 ? 0 : 1); i++)
		fprintf(out, "<tspan class=\"button %s\" dx=\"%d\">%s</tspan>", buttons[i].name,
			i ? 16 : 0, buttons[i].label);
	fputs("<tspan class=\"matched\" dx=\"16\"></tspan></text>\n"
	      "<text class=\"details\" x=\"6\" y=\"71\"></text></g>\n",
	      out);
}

int flame_picture__write(FILE *out, const struct flame_picture *picture)
{
	CLEANUP(drawing__release) struct drawing drawing = {0};
	int err = choose(picture, &drawing);

	if (err)
		return err;
	write_start(out, picture, &drawing);
	err = write_frames(out, picture, &drawing);
	write_head(out, picture, &drawing);
	unpack(flame_js_packed, sizeof(flame_js_packed), flame_js, sizeof(flame_js) - 1);
	if (picture->in_page)
		fprintf(out, "</svg>\n<script>%s</script>\n", flame_js);
	else
		fprintf(out, "<script><![CDATA[%s]]></script>\n</svg>\n", flame_js);
	return err;
}
