// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/flame_picture.h"

#include <stdlib.h>
#include <string.h>

#include "core/flame/flame_tree.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

static void add(struct flame_tree *tree, const char *caller, const char *callee, uint64_t weight)
{
	const struct flame_frame frames[] = {
		{.text = caller, .kind = FLAME_PROCESS},
		{.text = callee, .module = caller, .kind = FLAME_USER}};

	CHECK_INT(flame_tree__add(tree, frames, ARRAY_SIZE(frames), weight), 0);
}

/* The picture, without its style and its script. */
static char *draw_in(struct flame_tree *tree, const char *unit, bool in_page, size_t *size)
{
	const struct flame_picture picture = {.tree = tree,
					      .title = "profile </title><script>",
					      .about = "host & <kernel>",
					      .unit = unit,
					      .in_page = in_page};
	char *text = NULL;
	FILE *out = open_memstream(&text, size);
	char *style, *script;

	CHECK_INT(flame_tree__sort(tree), 0);
	CHECK_INT(flame_picture__write(out, &picture), 0);
	fclose(out);
	style = strstr(text, "</style>");
	script = strstr(text, "<script>");
	if (!CHECK(style && script && style < script))
		return text;
	*script = '\0';
	memmove(text, style, strlen(style) + 1);
	return text;
}

static char *draw(struct flame_tree *tree, bool in_page, size_t *size)
{
	return draw_in(tree, "samples", in_page, size);
}

static void places(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	CLEANUP_FREE char *text = NULL;
	size_t size;

	add(&tree, "b", "work", 1);
	add(&tree, "a", "idle", 3);
	text = draw(&tree, false, &size);
	CHECK(strstr(text, "data-d=\"0\" data-n=\"4\"><title>all\n4 samples, 100.00 %</title>"
			   "<rect x=\"0.000000%\" y=\"32\" width=\"100.0000%\" height=\"16\"/>"));
	CHECK(strstr(text,
		     "data-d=\"2\" data-n=\"3\" data-m=\"2\"><title>idle\n3 samples, 75.00 %"
		     "</title><rect x=\"0.000000%\" y=\"0\" width=\"75.0000%\" height=\"16\"/>"));
	CHECK(strstr(text, "data-d=\"1\" data-n=\"1\"><title>b\n1 samples, 25.00 %</title>"
			   "<rect x=\"75.000000%\" y=\"16\" width=\"25.0000%\" height=\"16\"/>"));
	CHECK(strstr(text, "<metadata><m>b</m><m>a</m></metadata>"));
	CHECK(!strstr(text, "left out"));
}

static void hostile(void)
{
	static const char evil[] = "</title></text></svg><script>alert(1)</script>]]>\"'&<!--";
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	CLEANUP_FREE char *text = NULL;
	size_t size;

	add(&tree, evil, evil, 1);
	text = draw(&tree, true, &size);
	CHECK(!strstr(text, "<script") && !strstr(text, "<!--") && !strstr(text, "]]>"));
	CHECK(strstr(text, "&lt;script&gt;alert(1)&lt;/script&gt;]]&gt;&quot;&#39;&amp;&lt;!--"));
	CHECK(strstr(text, "profile &lt;/title&gt;&lt;script&gt;"));
	CHECK(strstr(text, "host &amp; &lt;kernel&gt;"));
}

static size_t count(const char *text, const char *part)
{
	size_t nr = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		nr++;
	return nr;
}

/* However many frames there are, and however long their names; what is drawn fills the room. */
static void bounded(size_t name_length)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	CLEANUP_FREE char *text = NULL, *name = malloc(name_length + 1);
	char left_out[100];
	size_t size, nr = 10 * 1000;

	for (size_t i = 0; i < nr; i++) {
		memset(name, '<', name_length);
		snprintf(name + name_length - 5, 6, "%05zu", i);
		add(&tree, name, "f", i < 10 ? 10 : 9);
	}
	text = draw(&tree, false, &size);
	CHECK(size > 4000000 && size < 5000000);
	CHECK_INT(count(text, "data-n=\"10\""), 20);
	CHECK(strstr(text, "data-n=\"9\""));
	snprintf(left_out, sizeof(left_out), "; %zu frames of at most 0.01 %% left out",
		 2 * nr + 1 - count(text, "<title>"));
	CHECK(strstr(text, left_out));
	CHECK(strstr(text, " data-left-out=\"\""));
}

static void many(void)
{
	bounded(150);
}

static void long_names(void)
{
	bounded(4000);
}

/* A frame for which there is no room leaves it to those that are narrower. */
static void too_long(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	size_t length = 900 * 1000, size;
	CLEANUP_FREE char *text = NULL, *name = calloc(length + 1, 1);

	memset(name, '&', length);
	add(&tree, "main", name, 95);
	name[length / 2] = '\0';
	add(&tree, "main", name, 3);
	add(&tree, "main", "work", 2);
	text = draw(&tree, false, &size);
	CHECK(strstr(text, "<title>work\n2 samples"));
	CHECK(strstr(text, "&amp;\n3 samples"));
	CHECK(strstr(text, "; 1 frames of at most 95 % left out"));
}

/* A frame without room, beside one of weight others: what is said of it. */
static void left_out(uint64_t weight, uint64_t others, const char *said)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	size_t length = 900 * 1000, size;
	CLEANUP_FREE char *text = NULL, *name = calloc(length + 1, 1);

	memset(name, '&', length);
	add(&tree, "main", name, weight);
	add(&tree, "main", "work", others);
	text = draw(&tree, false, &size);
	CHECK(strstr(text, said));
}

static void left_out_third(void)
{
	left_out(1, 2, "; 1 frames of at most 33.3334 % left out");
}

static void left_out_exactly(void)
{
	left_out(7, 9993, "; 1 frames of at most 0.07 % left out");
}

/* Names that are labels, too, and the unit have their part of the room. */
static void labels(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct flame_frame frames[10 * 1000];
	CLEANUP_FREE char *text = NULL;
	char name[150 + 1] = "";
	size_t size;

	memset(name, '&', sizeof(name) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = (struct flame_frame){.text = name, .kind = FLAME_USER};
	CHECK_INT(flame_tree__add(&tree, frames, ARRAY_SIZE(frames), 1), 0);
	text = draw_in(&tree, name, false, &size);
	CHECK(size > 4000000 && size < 4600000);
}

/* Frames that are as wide as each other: the deepest are left out. */
static void deep(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	size_t nr = 30 * 1000;
	CLEANUP_FREE struct flame_frame *frames = calloc(nr, sizeof(*frames));
	CLEANUP_FREE char *text = NULL;
	size_t size;

	for (size_t i = 0; i < nr; i++)
		frames[i] = (struct flame_frame){.text = "f", .kind = FLAME_USER};
	CHECK_INT(flame_tree__add(&tree, frames, nr, INT64_MAX), 0);
	text = draw(&tree, false, &size);
	CHECK(size > 4000000 && size < 4600000);
	CHECK(strstr(text, "data-d=\"15000\""));
	CHECK(!strstr(text, "data-d=\"30000\""));
	CHECK(strstr(text, " frames of at most 100 % left out"));
}

/* The picture of two runs. */
static char *compare(struct flame_tree *tree, double scale)
{
	const struct flame_picture picture = {
		.tree = tree, .title = "", .about = "", .unit = "samples", .scale = scale};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	CHECK_INT(flame_tree__sort(tree), 0);
	CHECK_INT(flame_picture__write(out, &picture), 0);
	fclose(out);
	return text;
}

/* Weights of two runs that differ by as much as they can. */
static void unlike(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct flame_frame frames[] = {{.text = "old", .kind = FLAME_USER}};
	CLEANUP_FREE char *text = NULL;

	add(&tree, "main", "work", 1);
	CHECK_INT(flame_tree__add_before(&tree, frames, 1, INT64_MAX - 1), 0);
	CHECK_INT(flame_tree__add_before(&tree, frames, 0, 1), 0);
	text = compare(&tree, 1 / 9223372036854775807.0);
	CHECK(strstr(text, "data-n=\"0\" data-b=\"9223372036854775806\"><title>old\n"
			   "0 samples, 0.00 %; before 1.0, 100.00 % (gone)"));
	CHECK(strstr(text, "<title>work\n1 samples, 100.00 %; not before</title>"));
}

/* What is less than one of the later run's was there all the same. */
static void scaled(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	const struct flame_frame rare[] = {{.text = "main", .kind = FLAME_PROCESS},
					   {.text = "work", .module = "main", .kind = FLAME_USER}};
	CLEANUP_FREE char *text = NULL;

	add(&tree, "main", "work", 10);
	CHECK_INT(flame_tree__add_before(&tree, rare, 2, 4), 0);
	CHECK_INT(flame_tree__add_before(&tree, rare, 1, 996), 0);
	text = compare(&tree, .01);
	CHECK(strstr(text, "data-b=\"4\" data-m=\"1\"><title>work\n"
			   "10 samples, 100.00 %; before 0.04, 0.40 % (+24900.0 %)</title>"));
}

static const struct tap_test tests[] = {
	{"frames stand above their callers, in the order of names, as wide as they weigh", places},
	{"no name becomes markup", hostile},
	{"a picture of many frames stays below 5 MB, and says what is left out", many},
	{"a picture of long names does", long_names},
	{"a name that is longer than the picture", too_long},
	{"a third is at most 33.3334 %", left_out_third},
	{"0.07 % are at most 0.07 %", left_out_exactly},
	{"labels and units of many bytes", labels},
	{"30,000 frames on each other", deep},
	{"two runs of very different weights", unlike},
	{"weights of before that are scaled to less than one", scaled},
};

int main(void)
{
	return TAP_RUN(tests);
}
