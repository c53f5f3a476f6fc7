// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * make_formats FOLDER: stacks whose functions have hostile names, in each format, as FOLDER/stacks
 * and the suffix of the format. The names, as they are, are in FOLDER/names, with a NUL behind
 * each.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/format/format.h"
#include "core/names/frame_names.h"
#include "core/trace/accounting.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"

/* Markup, script, separators, what ends strings, what terminals obey, and what is no text. */
static const char *hostile[] = {
	"</script><script>window.hacked=1</script>",
	"]]><script>window.hacked=1</script>",
	"<img src=x onerror=window.hacked=1>",
	"<!-- -->",
	"\"onmouseover=\"window.hacked=1",
	"'quotes' \"and\" `these`",
	"back\\slash \\u0000 \\n",
	"a;b;c 42",
	"a\nb 42",
	"a\r\tb",
	"\x1b[2J\x1b]0;title\x07",
	"\x7f\xc2\x9b"
	"31m",
	"&lt;&amp;&#0;",
	"\xff\xfe\x80 invalid",
	"\xed\xa0\x80 surrogate",
	"\xe2\x80\xae right to left",
	"\xe2\x81\xa6isolate\xef\xbb\xbf",
	"\xef\xbf\xbf not a character",
	"operator new[](unsigned long)",
	"std::map<int, std::less<int> >::\xc3\xa9t\xc3\xa9 \xf0\x9f\x94\xa5",
	"{\"name\":\"json\"}",
	"%s%n${PATH}$(reboot)",
	NULL, /* a name of 4 KB */
};

#define NR ARRAY_SIZE(hostile)

static const struct stack_layout layout = {.frame_indent = "  ", .count_indent = "    "};

/* Each name is called by main, and called so often as its number says. */
static void make_stack(struct arena *arena, size_t i, struct counted_stack *stack)
{
	static const struct frames none;
	struct frames *frames = arena__alloc(arena, sizeof(*frames) + 2 * sizeof(uint64_t));

	frames->nr = 2;
	frames->frames[0] = 0x1000 + i;
	frames->frames[1] = 0x9000;
	*stack = (struct counted_stack){.key = {.tgid = 42, .comm = "a;\n<b>"},
					.count = i + 1,
					.kernel = &none,
					.user = frames};
}

static void write_formats(const char *folder, const struct shown_stacks *shown)
{
	for (size_t i = 0; i < NR_FORMATS; i++) {
		char path[PATH_MAX];
		FILE *out;

		snprintf(path, sizeof(path), "%s/stacks%s", folder, formats[i]->suffix);
		out = fopen(path, "w");
		if (!out || formats[i]->write(out, shown) || fclose(out))
			exit(1);
	}
}

static void write_names(const char *folder)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%s/names", folder);
	out = fopen(path, "w");
	if (!out)
		exit(1);
	for (size_t i = 0; i < NR; i++)
		fwrite(hostile[i], strlen(hostile[i]) + 1, 1, out);
	if (fclose(out))
		exit(1);
}

int main(int argc, char **argv)
{
	static char long_name[4000];
	static struct counted_stack stacks[NR];
	static struct frame_place places[NR + 1];
	static struct sym_query queries[NR + 1];
	struct arena arena = {0};
	struct stack_counts counts = {.items = stacks, .nr = NR};
	const struct frame_names names = {.places = places, .queries = queries, .nr = NR + 1};
	const struct accounting accounting = {.events.n[EVENTS_COUNTED] = NR};
	const struct shown_stacks shown = {
		.counts = &counts,
		.names = &names,
		.layout = &layout,
		.comms = true,
		.unit = "samples",
		.accounting = &accounting,
	};

	if (argc != 2)
		return 2;
	memset(long_name, '<', sizeof(long_name) - 1);
	hostile[NR - 1] = long_name;
	for (size_t i = 0; i < NR; i++) {
		make_stack(&arena, i, &stacks[i]);
		places[i] = (struct frame_place){.frame = 0x1000 + i, .tgid = 42};
		queries[i] = (struct sym_query){.address = 0x1000 + i,
						.name = hostile[i],
						.module = hostile[NR - 2 - i % 4]};
	}
	places[NR] = (struct frame_place){.frame = 0x9000, .tgid = 42, .return_address = true};
	queries[NR] = (struct sym_query){.address = 0x9000, .return_address = true, .name = "main"};
	write_formats(argv[1], &shown);
	write_names(argv[1]);
	arena__release(&arena);
	return 0;
}
