// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/writer.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/stream/event_queue.h"
#include "core/stream/names.h"
#include "core/stream/sent_stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "test/unit/tap.h"

#define KERNEL 0xffffffff81000000
#define USER   0x7f0000001000

/* A stack whose frames are shown as these texts. */
struct shown_stack {
	struct shown_frame frames[STACK_SLOTS];
	struct shown_frame *shown[STACK_SLOTS];
	struct sent_stack stack;
};

/* As core/stream/names.c makes it; allocated. */
static char *make_text(const struct stream_writer *writer, uint64_t address,
		       const struct sym_query *query)
{
	static char level[STREAM_LEVEL_MAX];
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t i = 0; i < frame_text__levels(address, query); i++) {
		size_t length = stream_writer__level(writer, address, query, i, level);

		CHECK_INT(length, strlen(level));
		if (i)
			fputc(stream_writer__separator(writer), out);
		fputs(level, out);
	}
	fclose(out);
	return text;
}

static struct shown_stack *show(const struct stream_writer *writer, const uint64_t *addresses,
				const struct sym_query *queries, uint32_t nr)
{
	struct shown_stack *shown = calloc(1, sizeof(*shown));

	for (uint32_t i = 0; i < nr; i++) {
		char *text = make_text(writer, addresses[i], &queries[i]);

		shown->frames[i].text = text;
		shown->frames[i].length = (uint32_t)strlen(text);
		shown->frames[i].tracing = queries[i].name && !strcmp(queries[i].name, "own");
		shown->shown[i] = &shown->frames[i];
	}
	shown->stack.nr = nr;
	shown->stack.shown = shown->shown;
	return shown;
}

static void release(struct shown_stack *shown)
{
	for (uint32_t i = 0; i < shown->stack.nr; i++)
		free((char *)shown->frames[i].text);
	free(shown);
}

static const uint64_t kernel_frames[] = {KERNEL + 1, KERNEL + 2,
					 (uint64_t)FRAME_MARK << FRAME_TAG_SHIFT |
						 (uint64_t)MARK_CUT << 32 | 2};
static const struct sym_query kernel_queries[] = {
	{.address = KERNEL + 1, .name = "own", .offset = 1},
	{.address = KERNEL + 2, .name = "ext4_sync_fs", .offset = 18, .module = "ext4"},
	{0},
};
static const uint64_t user_frames[] = {USER, 42};
static const struct sym_query user_queries[] = {
	{.address = USER, .name = "a\"b;\n", .offset = 3, .module = "x", .module_offset = 16},
	{.address = 42, .module = "lib\\y", .module_offset = 26},
};

/* The writer's text for an event with both stacks, for the caller to free. */
static char *print(struct stream_writer writer, uint64_t time, const char *comm)
{
	struct stream_event event = {.time = time, .cpu = 3, .tgid = 42, .tid = 43};
	struct shown_stack *kernel =
		show(&writer, kernel_frames, kernel_queries, writer.kernel ? 3 : 0);
	struct shown_stack *user = show(&writer, user_frames, user_queries, writer.user ? 2 : 0);
	char *text = NULL;
	size_t size;

	memcpy(event.comm, comm, strnlen(comm, COMM_LEN));
	event.kernel = &kernel->stack;
	event.user = &user->stack;
	writer.out = open_memstream(&text, &size);
	stream_writer__print(&writer, &event);
	fclose(writer.out);
	release(kernel);
	release(user);
	return text;
}

static void check_print(const struct stream_writer *writer, uint64_t time, const char *comm,
			const char *expected)
{
	char *text = print(*writer, time, comm);

	CHECK_STR(text, expected);
	free(text);
}

static const char some_comm[] = "tar";

static void kernel_rows(void)
{
	const struct stream_writer writer = {.kernel = true};

	check_print(&writer, 42005194132250004, some_comm,
		    "42005194.132250004 \n"
		    "42005194.132250004 ip: ffffffff81000001 own\n"
		    "42005194.132250004 r0: ffffffff81000002 ext4_sync_fs\n"
		    "42005194.132250004 r1: [cut at 2 frames]\n");
}

static void tracing_is_hidden(void)
{
	const struct stream_writer writer = {.kernel = true, .hides_tracing = true};

	check_print(&writer, 1000000001, some_comm,
		    "1.000000001        \n"
		    "1.000000001        ip: ffffffff81000002 ext4_sync_fs\n"
		    "1.000000001        r0: [cut at 2 frames]\n");
}

static void delimited_rows(void)
{
	const struct stream_writer writer = {
		.kernel = true,
		.user = true,
		.delimited = true,
		.style.verbose = true,
		.style.offsets = true,
	};

	check_print(&writer, 7, some_comm,
		    "0.000000007        tar          42     3   \n"
		    "0.000000007        tar          42     3   ip: ffffffff81000001 own+0x1\n"
		    "0.000000007        tar          42     3   r0: ffffffff81000002 "
		    "ext4_sync_fs+0x12 [ext4]\n"
		    "0.000000007        tar          42     3   r1: [cut at 2 frames]\n"
		    "0.000000007        tar          42     3   --\n"
		    "0.000000007        tar          42     3   ip: 7f0000001000 a\"b;?+0x3\n"
		    "0.000000007        tar          42     3   r0: 2a [unknown] (lib\\y+0x1a)\n");
}

/* Columns of a long comm, cut where a character ends, and of large numbers. */
static void hostile_comms(void)
{
	const struct stream_writer writer = {.style.verbose = true};
	const struct stream_writer columns = {.style.verbose = true, .container_column = true};

	check_print(&writer, 7, "\033[2Ja\nb\"\\;\xff\xfe-xy",
		    "0.000000007        ?[2Ja?b\"\\;?? 42     3   \n");
	check_print(&writer, 7, "0123456789a\xc3\xa4xyz",
		    "0.000000007        0123456789a  42     3   \n");
	check_print(&writer, 7, "0123456789\xc3\xa4xyz",
		    "0.000000007        0123456789\xc3\xa4 42     3   \n");
	check_print(&writer, 7, "0123456789abcdef",
		    "0.000000007        0123456789ab 42     3   \n");
	check_print(&writer, 7, "", "0.000000007                     42     3   \n");
	check_print(&columns, 7, "tar",
		    "0.000000007        tar          42     3   -            \n");
}

static void labels(void)
{
	const struct stream_writer writer = {0};
	struct sym_query queries[STACK_SLOTS] = {0};
	uint64_t addresses[STACK_SLOTS];
	struct stream_event event = {0};
	struct shown_stack *user, *none = show(&writer, NULL, NULL, 0);
	char *text = NULL, *line, row[64];
	size_t size;
	FILE *out;

	for (uint32_t i = 0; i < STACK_SLOTS; i++)
		addresses[i] = queries[i].address = i;
	user = show(&writer, addresses, queries, STACK_SLOTS);
	event.kernel = &none->stack;
	event.user = &user->stack;
	out = open_memstream(&text, &size);
	stream_writer__print(&(struct stream_writer){.out = out}, &event);
	fclose(out);
	line = strtok(text, "\n");
	for (uint32_t i = 0; i < STACK_SLOTS; i++) {
		line = strtok(NULL, "\n");
		if (i)
			snprintf(row, sizeof(row), "0.000000000        r%u: %x [unknown]", i - 1,
				 i);
		else
			snprintf(row, sizeof(row), "0.000000000        ip: 0 [unknown]");
		if (!CHECK(line != NULL) || !CHECK_STR(line, row))
			break;
	}
	free(text);
	release(user);
	release(none);
}

static void json(void)
{
	const struct stream_writer both = {.form = STREAM_JSON, .kernel = true, .user = true};
	const struct stream_writer user = {.form = STREAM_JSON, .user = true};

	check_print(
		&both, 42005194132250004, "\033\"\xff",
		"{\"time\":\"42005194.132250004\",\"comm\":\"\\u001b\\\"\xef\xbf\xbd\",\"pid\":42,"
		"\"tid\":43,\"cpu\":3,\"kernel\":["
		"{\"addr\":\"ffffffff81000001\",\"name\":\"own\",\"offset\":1},"
		"{\"addr\":\"ffffffff81000002\",\"name\":\"ext4_sync_fs\",\"offset\":18,"
		"\"module\":\"ext4\"},"
		"{\"addr\":null,\"name\":\"[cut at 2 frames]\"}],\"user\":["
		"{\"addr\":\"7f0000001000\",\"name\":\"a\\\"b;\\u000a\",\"offset\":3,\"module\":\"x\","
		"\"module_offset\":16},"
		"{\"addr\":\"2a\",\"name\":null,\"module\":\"lib\\\\y\",\"module_offset\":26}]}\n");
	check_print(
		&user, 7, some_comm,
		"{\"time\":\"0.000000007\",\"comm\":\"tar\",\"pid\":42,\"tid\":43,\"cpu\":3,"
		"\"user\":["
		"{\"addr\":\"7f0000001000\",\"name\":\"a\\\"b;\\u000a\",\"offset\":3,\"module\":\"x\","
		"\"module_offset\":16},"
		"{\"addr\":\"2a\",\"name\":null,\"module\":\"lib\\\\y\",\"module_offset\":26}]}\n");
}

static void as_perf(void)
{
	struct stream_writer both = {
		.form = STREAM_PERF, .kernel = true, .user = true, .hides_tracing = true};

	stream_writer__set_event(&both, "t:ext4:sync fs\n");
	check_print(&both, 42005194132250004, "\033\"\xff",
		    "?\"? 42/43 [003] 42005194.132250004: 1 ext4:sync?fs?: \n"
		    "\tffffffff81000002 ext4_sync_fs+0x12 ([ext4])\n"
		    "\t               0 [cut at 2 frames] ([unknown])\n"
		    "\t    7f0000001000 a\"b;?+0x3 (x)\n"
		    "\t              2a [unknown] (lib\\y)\n\n");
	both.kernel = false;
	stream_writer__set_event(&both, "/usr/lib/c:malloc");
	check_print(&both, 7, " x",
		    "?x 42/43 [003] 0.000000007: 1 c:malloc: \n"
		    "\t    7f0000001000 a\"b;?+0x3 (x)\n"
		    "\t              2a [unknown] (lib\\y)\n\n");
}

static void folded(void)
{
	const struct stream_writer both = {
		.form = STREAM_FOLDED, .kernel = true, .user = true, .delimited = true};
	const struct stream_writer kernel = {.form = STREAM_FOLDED, .kernel = true};

	check_print(&both, 7, "a;b",
		    "a:b;[unknown];a\"b:?;-;[cut at 2 frames];ext4_sync_fs;own 1\n");
	check_print(&kernel, 7, "", "?;[cut at 2 frames];ext4_sync_fs;own 1\n");
}

/* Inlined calls have rows, words and objects of their own. */
static void inlined_calls(void)
{
	static const struct sym_inlined inlined[] = {
		{.name = "min", .source = {.file = "/src/min.h", .line = 3}},
		{.name = "clamp", .source = {.file = "/src/clamp.h", .line = 14}},
	};
	const uint64_t addresses[] = {USER, USER + 16};
	const struct sym_query queries[] = {
		{.address = USER,
		 .name = "draw",
		 .offset = 4,
		 .inlined = inlined,
		 .nr_inlined = 2,
		 .source = {.file = "draw.c", .line = 7}},
		{.address = USER + 16, .name = "main"},
	};
	const struct {
		struct stream_writer writer;
		const char *expected;
	} cases[] = {
		{{.user = true},
		 "0.000000001        \n"
		 "0.000000001        ip: 7f0000001000 min (inlined) at min.h:3\n"
		 "0.000000001        r0: 7f0000001000 clamp (inlined) at clamp.h:14\n"
		 "0.000000001        r1: 7f0000001000 draw at draw.c:7\n"
		 "0.000000001        r2: 7f0000001010 main\n"},
		{{.user = true, .form = STREAM_FOLDED, .style.annotations = true},
		 "c;main;draw:draw.c:7;clamp_[i]:clamp.h:14;min_[i]:min.h:3 1\n"},
		{{.user = true, .form = STREAM_JSON},
		 "{\"time\":\"0.000000001\",\"comm\":\"c\",\"pid\":0,\"tid\":0,\"cpu\":0,\"user\":["
		 "{\"addr\":\"7f0000001000\",\"name\":\"min\",\"inlined\":true,"
		 "\"file\":\"/src/min.h\",\"line\":3},"
		 "{\"addr\":\"7f0000001000\",\"name\":\"clamp\",\"inlined\":true,"
		 "\"file\":\"/src/clamp.h\",\"line\":14},"
		 "{\"addr\":\"7f0000001000\",\"name\":\"draw\",\"offset\":4,"
		 "\"file\":\"draw.c\",\"line\":7},"
		 "{\"addr\":\"7f0000001010\",\"name\":\"main\",\"offset\":0}]}\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct stream_writer writer = cases[i].writer;
		struct shown_stack *shown = show(&writer, addresses, queries, 2);
		struct shown_stack *none = show(&writer, NULL, NULL, 0);
		struct stream_event event = {
			.time = 1, .comm = "c", .kernel = &none->stack, .user = &shown->stack};
		char *text = NULL;
		size_t size;

		writer.out = open_memstream(&text, &size);
		stream_writer__print(&writer, &event);
		fclose(writer.out);
		CHECK_STR(text, cases[i].expected);
		free(text);
		release(shown);
		release(none);
	}
}

/* The mark for calls that are left out has no address. */
static void endless_inlined_calls(void)
{
	static struct sym_inlined many[FRAME_INLINED_MAX + 1];
	static char text[STREAM_LEVEL_MAX];
	const struct sym_query query = {
		.address = USER, .name = "draw", .inlined = many, .nr_inlined = ARRAY_SIZE(many)};
	struct stream_writer writer = {.form = STREAM_JSON};

	stream_writer__level(&writer, USER, &query, FRAME_INLINED_MAX - 1, text);
	CHECK_STR(text, "{\"addr\":\"7f0000001000\",\"name\":null,\"inlined\":true}");
	stream_writer__level(&writer, USER, &query, FRAME_INLINED_MAX, text);
	CHECK_STR(text, "{\"addr\":null,\"name\":\"[cut at 62 inlined calls]\"}");
	stream_writer__level(&writer, USER, &query, FRAME_INLINED_MAX + 1, text);
	CHECK_STR(text, "{\"addr\":\"7f0000001000\",\"name\":\"draw\",\"offset\":0}");
	writer = (struct stream_writer){.form = STREAM_FOLDED};
	stream_writer__level(&writer, USER, &query, 1, text);
	CHECK_STR(text, "[cut at 62 inlined calls]");
}

/* The longest names fit. */
static void long_names(void)
{
	static char name[FRAME_NAME_MAX + 100], text[STREAM_LEVEL_MAX];
	const struct sym_query query = {.address = USER,
					.name = name,
					.module = name,
					.source = {.file = name, .line = UINT32_MAX}};
	struct stream_writer writer = {.form = STREAM_JSON};
	size_t length;

	memset(name, '\1', sizeof(name) - 1);
	length = stream_writer__level(&writer, USER, &query, 0, text);
	CHECK_INT(length, strlen(text));
	CHECK(length > (size_t)3 * 6 * FRAME_NAME_MAX);
	writer = (struct stream_writer){.style.verbose = true, .style.offsets = true};
	length = stream_writer__level(&writer, KERNEL, &query, 0, text);
	CHECK_INT(length, strlen(text));
}

/* A place in a file has no address if no process is known to have it mapped. */
static void places_in_files(void)
{
	static char text[STREAM_LEVEL_MAX];
	const uint64_t frame = frame_in_module(3, 18);
	const struct sym_query query = {
		.address = 18, .in_file = true, .module = "libfoo.so", .module_offset = 18};

	stream_writer__level(&(struct stream_writer){.form = STREAM_JSON}, frame, &query, 0, text);
	CHECK_STR(text, "{\"addr\":null,\"name\":null,"
			"\"module\":\"libfoo.so\",\"module_offset\":18}");
	stream_writer__level(&(struct stream_writer){.style.verbose = true}, frame, &query, 0,
			     text);
	CHECK_STR(text, "- [unknown] (libfoo.so+0x12)");
	stream_writer__level(&(struct stream_writer){.form = STREAM_FOLDED}, frame, &query, 0,
			     text);
	CHECK_STR(text, "[unknown]");
}

static void check_unnamed(struct stream_writer writer, const struct sym_query *query,
			  const char *expected)
{
	char *text = make_text(&writer, USER, query);

	CHECK_STR(text, expected);
	free(text);
}

/* A function that has no name, but a start; and names that could pass for one, or for a mark. */
static void starts(void)
{
	const struct sym_query query = {.address = USER,
					.module = "l.so",
					.module_offset = 0x12ab,
					.offset = 0xab,
					.function_start = 0x1200,
					.path = "/lib/l.so"},
			       named = {.address = USER,
					.name = "[l.so+0x1200]",
					.module = "l.so",
					.function_start = 0x1200},
			       nowhere = {.address = USER, .function_start = 0x1200};
	static char module[2 * FRAME_NAME_MAX], name[FRAME_NAME_MAX];
	struct sym_query hostile = query;
	char *text;

	check_unnamed((struct stream_writer){0}, &query, "7f0000001000 [l.so+0x1200]");
	check_unnamed((struct stream_writer){.style = {.offsets = true, .verbose = true}}, &query,
		      "7f0000001000 [l.so+0x1200]+0xab (l.so+0x12ab)");
	check_unnamed((struct stream_writer){.form = STREAM_FOLDED}, &query, "[l.so+0x1200]");
	check_unnamed((struct stream_writer){.form = STREAM_JSON}, &query,
		      "{\"addr\":\"7f0000001000\",\"name\":\"[l.so+0x1200]\",\"unnamed\":true,"
		      "\"offset\":171,\"module\":\"l.so\",\"module_offset\":4779}");
	check_unnamed((struct stream_writer){.form = STREAM_PERF}, &query,
		      "\t    7f0000001000 [l.so+0x1200]+0xab (/lib/l.so)");
	hostile.source = (struct sym_source){.file = "a.c", .line = 7};
	check_unnamed((struct stream_writer){0}, &hostile, "7f0000001000 [l.so+0x1200] at a.c:7");

	check_unnamed((struct stream_writer){0}, &named, "7f0000001000 ?l.so+0x1200]");
	check_unnamed((struct stream_writer){.form = STREAM_FOLDED}, &named, "?l.so+0x1200]");
	check_unnamed((struct stream_writer){.form = STREAM_PERF}, &named,
		      "\t    7f0000001000 ?l.so+0x1200]+0x0 (l.so)");
	check_unnamed((struct stream_writer){.form = STREAM_FOLDED}, &nowhere, "[unknown]");

	hostile = query;
	hostile.module = "cut at 3 frames;\n\xff";
	check_unnamed((struct stream_writer){.form = STREAM_FOLDED}, &hostile,
		      "[cut?at?3?frames:??+0x1200]");
	memset(module, 'x', sizeof(module) - 1);
	hostile.module = module;
	hostile.function_start = UINT64_MAX;
	text = make_text(&(struct stream_writer){.form = STREAM_FOLDED}, USER, &hostile);
	CHECK(strlen(text) < FRAME_NAME_MAX && strlen(text) > FRAME_NAME_MAX - 32);
	CHECK_STR(text + strlen(text) - 21, "x+0xffffffffffffffff]");
	free(text);
	frame_text__function(&hostile, false, name);
	CHECK(strlen(name) < sizeof(name));
	hostile.function_start = 0x1200;
	hostile.module = "unwind stopped: no rule";
	check_unnamed((struct stream_writer){0}, &hostile,
		      "7f0000001000 [unwind?stopped:?no?rule+0x1200]");
}

static void check_gap(struct stream_writer writer, const char *expected)
{
	const struct stream_event gap = {.time = 1000000001, .lost = 12};
	char *text = NULL;
	size_t size;

	writer.out = open_memstream(&text, &size);
	stream_writer__print(&writer, &gap);
	fclose(writer.out);
	CHECK_STR(text, expected);
	free(text);
}

static void gaps(void)
{
	check_gap((struct stream_writer){.kernel = true}, "lost 12 events\n");
	check_gap((struct stream_writer){.form = STREAM_JSON},
		  "{\"lost\":12,\"time\":\"1.000000001\"}\n");
	check_gap((struct stream_writer){.form = STREAM_FOLDED}, "");
}

static void check_header(struct stream_writer writer, const char *expected)
{
	char *text = NULL;
	size_t size;

	writer.out = open_memstream(&text, &size);
	stream_writer__print_header(&writer);
	fclose(writer.out);
	CHECK_STR(text, expected);
	free(text);
}

static void headers(void)
{
	check_header((struct stream_writer){0}, "TIME(s)            STACK\n");
	check_header((struct stream_writer){.style.verbose = true},
		     "TIME(s)            COMM         PID    CPU STACK\n");
	check_header((struct stream_writer){.style.verbose = true, .container_column = true},
		     "TIME(s)            COMM         PID    CPU CONTAINER    STACK\n");
	check_header((struct stream_writer){.container_column = true},
		     "TIME(s)            CONTAINER    STACK\n");
	check_header((struct stream_writer){.form = STREAM_JSON}, "");
	check_header((struct stream_writer){.form = STREAM_FOLDED}, "");
}

static const struct tap_test tests[] = {
	{"rows of a kernel stack", kernel_rows},
	{"what the probe put on top is not shown", tracing_is_hidden},
	{"both stacks, with -d, -s and -v", delimited_rows},
	{"any comm keeps to its column", hostile_comms},
	{"the label of each frame", labels},
	{"JSON", json},
	{"as perf script prints", as_perf},
	{"folded lines", folded},
	{"inlined calls and source lines", inlined_calls},
	{"inlined calls without end", endless_inlined_calls},
	{"the longest names fit", long_names},
	{"a place in a file has no address where nobody knows it", places_in_files},
	{"functions without a name, where they begin", starts},
	{"gaps", gaps},
	{"headers", headers},
};

int main(void)
{
	return TAP_RUN(tests);
}
