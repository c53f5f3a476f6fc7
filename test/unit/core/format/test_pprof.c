// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <zlib.h>

#include "core/format/format.h"
#include "core/format/profile.pb-c.h"
#include "core/names/frame_names.h"
#include "core/trace/accounting.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/text.h"
#include "test/unit/stack_frames.h"
#include "test/unit/tap.h"

typedef Perftools__Profiles__Profile Profile;

#define KERNEL(n) (0xffffffff81000000 + (n))

static struct frame_place places[] = {
	{KERNEL(0x10), 0, false, 0}, {KERNEL(0x2020), 0, true, 0}, {KERNEL(0x900000), 0, true, 0},
	{0x1000, 42, false, 0},	     {0x2000, 42, true, 0},	   {0x3000, 42, true, 0},
	{0x7f0000, 42, true, 0},     {0x5000, 43, true, 0},	   {0x6000, 43, false, 0},
	{0x7000, 43, true, 0},	     {0x8000, 43, true, 0},
};
static const struct sym_inlined inlined[] = {
	{.name = "in\xff;ner\n", .source = {.file = "/src/a\x1b.h", .line = 3}},
	{.name = NULL, .source = {.line = 4}},
};
static struct sym_query queries[] = {
	{.address = KERNEL(0x10), .name = "vfs_read"},
	{.address = KERNEL(0x2020), .return_address = true, .name = "do_syscall"},
	{.address = KERNEL(0x900000),
	 .return_address = true,
	 .name = "of_module",
	 .module = "kmod"},
	/* In a library, and in the program. */
	{.address = 0x1000,
	 .name = "[cut at 3 frames]",
	 .path = "/lib/l.so",
	 .file_offset = 0x40,
	 .module = "l.so"},
	{.address = 0x2000,
	 .return_address = true,
	 .name = "main",
	 .inlined = inlined,
	 .nr_inlined = ARRAY_SIZE(inlined),
	 .source = {.file = "main.c", .line = 9},
	 .path = "/bin/a\x1b (deleted)",
	 .build_id = "abcd",
	 .file_offset = 0x1234,
	 .module = "a"},
	/* No name; generated; the same place as above in another process; a file without more. */
	{.address = 0x3000,
	 .return_address = true,
	 .path = "/lib/l.so",
	 .file_offset = 0x5000,
	 .module = "l.so"},
	{.address = 0x7f0000, .return_address = true, .generated = true, .name = "jit"},
	{.address = 0x5000,
	 .return_address = true,
	 .name = "main",
	 .path = "/bin/a\x1b",
	 .build_id = "abcd",
	 .file_offset = 0x1234,
	 .module = "a"},
	{.address = 0x6000, .module = "gone.so", .module_offset = 0x88},
	{.address = 0x7000,
	 .return_address = true,
	 .module = "huge.so",
	 .module_offset = UINT64_MAX},
	/* No name, but a start, in a file whose name could pass for a mark. */
	{.address = 0x8000,
	 .return_address = true,
	 .module = "cut at 1.so\x1b",
	 .module_offset = 0x190,
	 .function_start = 0x180},
};
static const struct frame_names names = {
	.places = places, .queries = queries, .nr = ARRAY_SIZE(places)};

_Static_assert(ARRAY_SIZE(places) == ARRAY_SIZE(queries), "each frame has its answer");

static struct arena arena;
static const struct frames no_frames;

#define FRAMES(...) FRAMES_IN(&arena, __VA_ARGS__)

static struct shown_stacks shown_of(struct stack_counts *counts,
				    const struct accounting *accounting)
{
	return (struct shown_stacks){
		.counts = counts,
		.names = &names,
		.comms = true,
		.accounting = accounting,
		.unit = "samples",
		.cost = "cpu",
		.cost_unit = "nanoseconds",
		.cost_each = 1000,
		.now = 100,
		.nanoseconds = 2000000000,
	};
}

/* What a file of this format holds, decompressed and decoded. */
static Profile *read_back(const struct shown_stacks *shown)
{
	static uint8_t bytes[4 * 1024 * 1024];
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	z_stream stream = {0};
	Profile *profile = NULL;

	CHECK_INT(format_pprof.write(out, shown), 0);
	fclose(out);
	stream.next_in = (uint8_t *)text;
	stream.avail_in = (uInt)size;
	stream.next_out = bytes;
	stream.avail_out = sizeof(bytes);
	CHECK_INT(inflateInit2(&stream, 16 + 15), Z_OK);
	if (CHECK_INT(inflate(&stream, Z_FINISH), Z_STREAM_END))
		profile = perftools__profiles__profile__unpack(NULL, stream.total_out, bytes);
	inflateEnd(&stream);
	free(text);
	return profile;
}

static const char *string_of(const Profile *profile, int64_t number)
{
	if (number < 0 || (size_t)number >= profile->n_string_table)
		return "(no such string)";
	return profile->string_table[number];
}

/* pprof's own rules, and those of Parca: numbers in order, and nothing refers to what is not there.
 */
static void check_valid(const Profile *profile)
{
	CHECK_STR(string_of(profile, 0), "");
	for (size_t i = 0; i < profile->n_string_table; i++) {
		char clean[8192];
		const char *text = profile->string_table[i];

		text__clean(text, strlen(text), false, clean, sizeof(clean));
		CHECK_STR(text, clean);
	}
	for (size_t i = 0; i < profile->n_mapping; i++) {
		CHECK_INT(profile->mapping[i]->id, i + 1);
		CHECK(profile->mapping[i]->memory_start < profile->mapping[i]->memory_limit);
	}
	for (size_t i = 0; i < profile->n_function; i++)
		CHECK_INT(profile->function[i]->id, i + 1);
	for (size_t i = 0; i < profile->n_location; i++) {
		const Perftools__Profiles__Location *location = profile->location[i];

		CHECK_INT(location->id, i + 1);
		CHECK(location->mapping_id <= profile->n_mapping);
		if (location->mapping_id) {
			const Perftools__Profiles__Mapping *mapping =
				profile->mapping[location->mapping_id - 1];

			CHECK(location->address >= mapping->memory_start &&
			      location->address < mapping->memory_limit);
		}
		for (size_t line = 0; line < location->n_line; line++)
			CHECK(location->line[line]->function_id - 1 < profile->n_function);
	}
	for (size_t i = 0; i < profile->n_sample; i++) {
		const Perftools__Profiles__Sample *sample = profile->sample[i];

		CHECK_INT(sample->n_value, profile->n_sample_type);
		for (size_t at = 0; at < sample->n_location_id; at++)
			CHECK(sample->location_id[at] - 1 < profile->n_location);
		if (sample->n_label == 2)
			CHECK(sample->label[0]->key != sample->label[1]->key);
	}
}

/* "name file:line|caller file:line" of a location, the innermost first. */
static const char *lines_of(const Profile *profile, uint64_t id)
{
	static char text[1024];
	const Perftools__Profiles__Location *location = profile->location[id - 1];

	text[0] = '\0';
	for (size_t i = 0; i < location->n_line; i++) {
		const Perftools__Profiles__Function *function =
			profile->function[location->line[i]->function_id - 1];

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %s:%" PRId64,
			 i ? "|" : "", string_of(profile, function->name),
			 string_of(profile, function->filename), location->line[i]->line);
	}
	return text;
}

static const char *mapping_of(const Profile *profile, uint64_t id)
{
	static char text[1024];
	uint64_t number = profile->location[id - 1]->mapping_id;

	if (!number)
		return "";
	snprintf(text, sizeof(text), "%s %s",
		 string_of(profile, profile->mapping[number - 1]->filename),
		 string_of(profile, profile->mapping[number - 1]->build_id));
	return text;
}

/* The place in the file of a location. */
static uint64_t offset_of(const Profile *profile, uint64_t id)
{
	const Perftools__Profiles__Location *location = profile->location[id - 1];
	const Perftools__Profiles__Mapping *mapping = profile->mapping[location->mapping_id - 1];

	return location->address - mapping->memory_start + mapping->file_offset;
}

static void stacks(void)
{
	struct counted_stack items[] = {
		{.key = {.tgid = 42, .comm = "a\n"},
		 .count = 3,
		 .kernel = FRAMES(KERNEL(0x10), KERNEL(0x2020), KERNEL(0x900000)),
		 .user = FRAMES(0x1000, 0x3000, 0x7f0000, 0x2000),
		 .hidden = 1},
		{.key = {.tgid = 43, .comm = "b"},
		 .count = 1,
		 .kernel = FRAMES(KERNEL(0x10)),
		 .user = FRAMES(0x6000, 0x5000, 0x7000, frame_mark(MARK_CUT, 2), 0x8000)},
	};
	struct stack_counts counts = {.items = items, .nr = ARRAY_SIZE(items)};
	const struct accounting accounting = {.events.n[EVENTS_SEEN] = 9,
					      .events.n[EVENTS_COUNTED] = 4,
					      .events.n[EVENTS_LOST_BUSY] = 5};
	const struct shown_stacks shown = shown_of(&counts, &accounting);
	Profile *profile;
	const uint64_t *ids;

	profile = read_back(&shown);
	if (!CHECK(profile != NULL))
		return;
	check_valid(profile);
	CHECK_INT(profile->n_sample, 2);
	CHECK_INT(profile->sample[0]->value[0], 3);
	CHECK_INT(profile->sample[0]->value[1], 3000);
	CHECK_STR(string_of(profile, profile->sample_type[1]->unit), "nanoseconds");
	CHECK_STR(string_of(profile, profile->default_sample_type), "cpu");
	CHECK_INT(profile->period, 1000);
	CHECK_INT(profile->time_nanos, 98000000000);
	CHECK_INT(profile->duration_nanos, 2000000000);
	CHECK_INT(profile->n_comment, 3);
	CHECK_STR(string_of(profile, profile->comment[2]), "5 of 9 events are not shown: 5 busy");
	CHECK_STR(string_of(profile, profile->sample[0]->label[0]->key), "pid");
	CHECK_INT(profile->sample[0]->label[0]->num, 42);
	CHECK_STR(string_of(profile, profile->sample[0]->label[1]->str), "a?");

	/* The leaf comes first; frame 0 is hidden. */
	ids = profile->sample[0]->location_id;
	CHECK_INT(profile->sample[0]->n_location_id, 6);
	CHECK_STR(lines_of(profile, ids[0]), "do_syscall :0");
	CHECK_INT(profile->location[ids[0] - 1]->address, KERNEL(0x201f));
	CHECK(!strncmp(mapping_of(profile, ids[0]), "[kernel.kallsyms] ", 18));
	CHECK_STR(mapping_of(profile, ids[1]), "[kmod] ");
	CHECK_STR(lines_of(profile, ids[2]), "?cut at 3 frames] :0");
	CHECK_STR(mapping_of(profile, ids[2]), "/lib/l.so ");
	CHECK_INT(offset_of(profile, ids[2]), 0x40);
	CHECK_STR(lines_of(profile, ids[3]), "");
	CHECK_INT(offset_of(profile, ids[3]), 0x4fff);
	CHECK_STR(lines_of(profile, ids[4]), "jit :0");
	CHECK_STR(mapping_of(profile, ids[4]), "");
	CHECK_STR(lines_of(profile, ids[5]), "in?;ner? /src/a?.h:3|[unknown] :4|main main.c:9");

	/* Both processes have the program at one address, and it is the first mapping. */
	CHECK_STR(mapping_of(profile, ids[5]), "/bin/a? abcd");
	CHECK_INT(profile->location[ids[5] - 1]->mapping_id, 1);
	CHECK_INT(offset_of(profile, ids[5]), 0x1233);
	CHECK_INT(profile->location[ids[5] - 1]->address,
		  profile->location[profile->sample[1]->location_id[2] - 1]->address);
	CHECK_STR(mapping_of(profile, profile->sample[1]->location_id[1]), "gone.so ");
	/* A claim that no file can hold. */
	CHECK_STR(mapping_of(profile, profile->sample[1]->location_id[3]), "");
	CHECK_STR(lines_of(profile, profile->sample[1]->location_id[4]), "[cut at 2 frames] :0");
	CHECK_STR(lines_of(profile, profile->sample[1]->location_id[5]), "[cut?at?1.so?+0x180] :0");
	CHECK_INT(offset_of(profile, profile->sample[1]->location_id[5]), 0x18f);
	/* Only mappings all of whose frames have names say so. */
	for (size_t i = 0; i < profile->n_mapping; i++)
		CHECK_INT(profile->mapping[i]->has_functions,
			  !strstr(string_of(profile, profile->mapping[i]->filename), ".so"));
	perftools__profiles__profile__free_unpacked(profile, NULL);
}

static const char *symbol_of(const Profile *profile, size_t function)
{
	return string_of(profile, profile->function[function]->system_name);
}

/* The same function twice, another one of its name, one without any other form; and inlined. */
static void symbols(void)
{
	static const struct sym_inlined call = {.name = "f", .symbol = "_Z1fi"};
	static struct frame_place of[] = {{0x10, 42, false, 0},
					  {0x20, 42, false, 0},
					  {0x30, 42, false, 0},
					  {0x40, 42, false, 0}};
	static struct sym_query answers[] = {
		{.address = 0x10, .name = "f", .symbol = "_Z1fi"},
		{.address = 0x20, .name = "f", .symbol = "_Z1f\x1b"},
		{.address = 0x30, .name = "f"},
		{.address = 0x40,
		 .name = "f",
		 .symbol = "_Z1fi",
		 .inlined = &call,
		 .nr_inlined = 1},
	};
	const struct frame_names all = {.places = of, .queries = answers, .nr = ARRAY_SIZE(of)};
	struct stack_counts counts = {0};
	const struct accounting accounting = {0};
	struct shown_stacks shown = shown_of(&counts, &accounting);
	Profile *profile;

	shown.names = &all;
	profile = read_back(&shown);
	if (!CHECK(profile != NULL))
		return;
	check_valid(profile);
	if (CHECK_INT(profile->n_function, 3)) {
		CHECK_STR(symbol_of(profile, 0), "_Z1fi");
		CHECK_STR(symbol_of(profile, 1), "_Z1f?");
		CHECK_STR(symbol_of(profile, 2), "f");
	}
	for (size_t i = 0; i < profile->n_function; i++)
		CHECK_STR(string_of(profile, profile->function[i]->name), "f");
	CHECK_INT(profile->location[3]->line[0]->function_id, 1);
	CHECK_INT(profile->location[3]->line[1]->function_id, 1);
	perftools__profiles__profile__free_unpacked(profile, NULL);
}

static void waits(void)
{
	struct counted_stack items[] = {
		{.key = {.tgid = 42, .tid = 44, .comm = "a"},
		 .count = 2,
		 .weight = 1499,
		 .kernel = &no_frames,
		 .user = FRAMES(0x1000)},
	};
	struct stack_counts counts = {.items = items, .nr = ARRAY_SIZE(items)};
	const struct accounting accounting = {0};
	struct shown_stacks shown = shown_of(&counts, &accounting);
	const Perftools__Profiles__Sample *sample;
	Profile *profile;

	shown.unit = "waits";
	shown.cost = "offcpu";
	shown.cost_each = 0;
	shown.threads = true;
	profile = read_back(&shown);
	if (!CHECK(profile != NULL))
		return;
	check_valid(profile);
	CHECK_STR(string_of(profile, profile->sample_type[0]->type), "waits");
	CHECK_STR(string_of(profile, profile->sample_type[1]->type), "offcpu");
	CHECK_STR(string_of(profile, profile->default_sample_type), "offcpu");
	CHECK_INT(profile->period, 1);
	sample = profile->sample[0];
	CHECK_INT(sample->value[0], 2);
	CHECK_INT(sample->value[1], 1499);
	CHECK_INT(sample->n_label, 3);
	CHECK_STR(string_of(profile, sample->label[1]->key), "tid");
	CHECK_INT(sample->label[1]->num, 44);
	perftools__profiles__profile__free_unpacked(profile, NULL);
}

/* Labels of text become series; who has none keeps the process as a function. */
static void labels(void)
{
	struct counted_stack items[] = {
		{.key = {.tgid = 42, .comm = "[other]"},
		 .count = 1,
		 .kernel = &no_frames,
		 .user = FRAMES(0x1000, 0x2000)},
	};
	struct stack_counts counts = {.items = items, .nr = ARRAY_SIZE(items)};
	const struct accounting accounting = {0};
	struct shown_stacks shown = shown_of(&counts, &accounting);
	const Perftools__Profiles__Sample *sample;
	Profile *profile;

	shown.labels = LABELS_NONE;
	profile = read_back(&shown);
	if (!CHECK(profile != NULL))
		return;
	check_valid(profile);
	sample = profile->sample[0];
	CHECK_INT(sample->n_label, 1);
	CHECK_STR(string_of(profile, sample->label[0]->key), "pid");
	CHECK_INT(sample->label[0]->num, 42);
	CHECK_INT(sample->n_location_id, 3);
	/* It does not pass for the stacks of --max-samples. */
	CHECK_STR(lines_of(profile, sample->location_id[2]), "?other] :0");
	perftools__profiles__profile__free_unpacked(profile, NULL);
}

/* No sum is lost, and the stacks that were counted most stay. */
static void rare_stacks(void)
{
	struct counted_stack items[] = {
		{.key = {.tgid = 42}, .count = 1, .kernel = &no_frames, .user = FRAMES(0x1000)},
		{.key = {.tgid = 42},
		 .count = 2,
		 .kernel = &no_frames,
		 .user = FRAMES(0x1000, 0x2000)},
		{.key = {.tgid = 42},
		 .count = 5,
		 .kernel = &no_frames,
		 .user = FRAMES(0x1000, 0x3000)},
		{.key = {.tgid = 42},
		 .count = 9,
		 .kernel = &no_frames,
		 .user = FRAMES(0x1000, 0x7f0000)},
	};
	static const struct {
		uint64_t max;
		size_t nr;
		int64_t first; /* count of the first sample, */
		size_t labels; /* and its labels */
	} cases[] = {{0, 4, 1, 2}, {4, 4, 1, 2}, {3, 3, 3, 0}, {2, 2, 8, 0}, {1, 1, 17, 0}};
	struct stack_counts counts = {.items = items, .nr = ARRAY_SIZE(items)};
	const struct accounting accounting = {0};
	struct shown_stacks shown = shown_of(&counts, &accounting);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t sum = 0, cost = 0;
		Profile *profile;

		shown.max_samples = cases[i].max;
		profile = read_back(&shown);
		if (!CHECK(profile != NULL))
			return;
		check_valid(profile);
		CHECK_INT(profile->n_sample, cases[i].nr);
		CHECK_INT(profile->sample[0]->value[0], cases[i].first);
		CHECK_INT(profile->sample[0]->n_label, cases[i].labels);
		for (size_t at = 0; at < profile->n_sample; at++) {
			sum += profile->sample[at]->value[0];
			cost += profile->sample[at]->value[1];
		}
		CHECK_INT(sum, 17);
		CHECK_INT(cost, 17000);
		if (!cases[i].labels)
			CHECK_STR(lines_of(profile, profile->sample[0]->location_id[0]),
				  "[other] :0");
		perftools__profiles__profile__free_unpacked(profile, NULL);
	}
}

static void nothing(void)
{
	struct stack_counts counts = {0};
	const struct accounting accounting = {0};
	struct shown_stacks shown = shown_of(&counts, &accounting);
	const struct frame_names none = {0};
	Profile *profile;

	shown.names = &none;
	shown.cost = NULL;
	shown.unit = "events";
	profile = read_back(&shown);
	if (!CHECK(profile != NULL))
		return;
	check_valid(profile);
	CHECK_INT(profile->n_sample_type, 1);
	CHECK_STR(string_of(profile, profile->sample_type[0]->type), "events");
	CHECK_STR(string_of(profile, profile->period_type->unit), "count");
	CHECK_INT(profile->period, 1);
	CHECK_INT(profile->n_comment, 2);
	perftools__profiles__profile__free_unpacked(profile, NULL);
}

/* The most memory that this program has had, in bytes. */
static uint64_t peak(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

#define MANY_STACKS 16384
#define MANY_FRAMES 100000
#define DEPTH	    100

/* As many stacks as there is room for by default, of 100 frames each: 16 MB besides themselves. */
static void many_stacks(void)
{
	struct frame_place *many_places = calloc(MANY_FRAMES, sizeof(*many_places));
	struct sym_query *many_queries = calloc(MANY_FRAMES, sizeof(*many_queries));
	struct counted_stack *items = calloc(MANY_STACKS, sizeof(*items));
	const struct frame_names many = {
		.places = many_places, .queries = many_queries, .nr = MANY_FRAMES};
	struct stack_counts counts = {.items = items, .nr = MANY_STACKS};
	const struct accounting accounting = {0};
	struct shown_stacks shown = shown_of(&counts, &accounting);
	FILE *out = fopen("/dev/null", "w");
	uint64_t before;

	for (size_t i = 0; i < MANY_FRAMES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "a::function::of::some<length>::number_%zu(int)", i);
		many_places[i] = (struct frame_place){
			.frame = 0x1000 + i * 16, .tgid = 42, .return_address = true};
		many_queries[i] = (struct sym_query){
			.address = many_places[i].frame,
			.return_address = true,
			.name = arena__copy_string(&arena, name, strlen(name)),
			.path = "/usr/lib/libmany.so",
			.file_offset = i * 16,
		};
	}
	for (size_t i = 0; i < MANY_STACKS; i++) {
		uint64_t addresses[DEPTH];

		for (size_t at = 0; at < DEPTH; at++)
			addresses[at] = many_places[(i * 7919 + at * 104729) % MANY_FRAMES].frame;
		/* No leaf of these is looked up as one. */
		addresses[0] = frame_mark(MARK_CUT, 1);
		items[i] = (struct counted_stack){.key.tgid = 42,
						  .count = 1,
						  .kernel = &no_frames,
						  .user = make_frames(&arena, addresses, DEPTH)};
	}
	shown.names = &many;
	before = peak();
	CHECK_INT(format_pprof.write(out, &shown), 0);
	printf("# %" PRIu64 " bytes more\n", peak() - before);
#ifndef __SANITIZE_ADDRESS__ /* which has memory of its own */
	CHECK(peak() - before < 16 * 1024 * 1024);
#endif
	fclose(out);
	free(many_places);
	free(many_queries);
	free(items);
}

static const struct tap_test tests[] = {
	{"stacks, their files, and names that a terminal would obey", stacks},
	{"16,384 stacks of 100 frames, in 16 MB", many_stacks},
	{"functions of one name are told apart by their symbols", symbols},
	{"waits: both numbers, and the thread", waits},
	{"labels of text, or none", labels},
	{"the rarest stacks become one", rare_stacks},
	{"no stacks, and events that stand for nothing else", nothing},
};

int main(void)
{
	return TAP_RUN(tests);
}
