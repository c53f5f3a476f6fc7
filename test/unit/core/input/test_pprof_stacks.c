// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/pprof_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/read_stacks.h"
#include "test/unit/tap.h"

/* ---- profiles ---- */

struct message {
	unsigned char bytes[8192];
	size_t nr;
};

static void put(struct message *message, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		message->bytes[message->nr++] = (unsigned char)(number | 0x80);
	message->bytes[message->nr++] = (unsigned char)number;
}

static void number(struct message *message, unsigned int field, uint64_t value)
{
	put(message, field << 3);
	put(message, value);
}

static void bytes(struct message *message, unsigned int field, const void *from, size_t size)
{
	put(message, field << 3 | 2);
	put(message, size);
	memcpy(message->bytes + message->nr, from, size);
	message->nr += size;
}

static void inner(struct message *message, unsigned int field, const struct message *from)
{
	bytes(message, field, from->bytes, from->nr);
}

/* The texts of all profiles here, by these numbers. */
enum {
	NONE,
	SAMPLES,
	COUNT,
	CPU,
	NANOSECONDS,
	MAIN,
	WORK,
	INLINED,
	VMLINUX,
	LIBRARY,
	COMM,
	BASH,
	MARK,
	MALLOC,
	DROP,
	KEEP,
	BAD_RE,
	OPERATOR,
};

static void texts(struct message *profile)
{
	static const char *const all[] = {
		[NONE] = "",
		[SAMPLES] = "samples",
		[COUNT] = "count",
		[CPU] = "cpu",
		[NANOSECONDS] = "nanoseconds",
		[MAIN] = "main",
		[WORK] = "work",
		[INLINED] = "inl\x1bined",
		[VMLINUX] = "[kernel.kallsyms]",
		[LIBRARY] = "/lib/libc.so.6",
		[COMM] = "comm",
		[BASH] = "bash",
		[MARK] = "[cut at 3 frames]",
		[MALLOC] = "malloc(unsigned long)",
		[DROP] = "malloc|operator new",
		[KEEP] = "operator.*",
		[BAD_RE] = "(a{99}){99}",
		[OPERATOR] = "operator new(unsigned long)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		bytes(profile, 6, all[i], strlen(all[i]));
}

static void pair(struct message *profile, unsigned int field, uint64_t first, uint64_t second)
{
	struct message message = {.nr = 0};

	number(&message, 1, first);
	number(&message, 2, second);
	inner(profile, field, &message);
}

static void function(struct message *profile, uint64_t id, uint64_t name, uint64_t system_name)
{
	struct message message = {.nr = 0};

	number(&message, 1, id);
	number(&message, 2, name);
	number(&message, 3, system_name);
	inner(profile, 5, &message);
}

static void mapping(struct message *profile, uint64_t id, uint64_t name)
{
	struct message message = {.nr = 0};

	number(&message, 1, id);
	number(&message, 5, name);
	inner(profile, 3, &message);
}

/* The functions at an address, the innermost first; 0 ends them. */
static void location(struct message *profile, uint64_t id, uint64_t file, uint64_t address,
		     const uint64_t *functions)
{
	struct message message = {.nr = 0};

	number(&message, 1, id);
	number(&message, 2, file);
	number(&message, 3, address);
	for (; *functions; functions++) {
		struct message line = {.nr = 0};

		number(&line, 1, *functions);
		number(&line, 2, 12);
		inner(&message, 4, &line);
	}
	inner(profile, 4, &message);
}

#define LOCATION(profile, id, file, address, ...)                                                  \
	location(profile, id, file, address, (const uint64_t[]){__VA_ARGS__ __VA_OPT__(, ) 0})

/* Locations from the leaf; packed, or each by itself. */
static void sample(struct message *profile, const char *locations, bool packed, uint64_t samples,
		   uint64_t cpu, uint64_t comm)
{
	struct message message = {.nr = 0};
	const uint64_t values[] = {samples, cpu};
	struct message numbers = {.nr = 0};

	if (packed) {
		bytes(&message, 1, locations, strlen(locations));
		put(&numbers, samples);
		put(&numbers, cpu);
		inner(&message, 2, &numbers);
	} else {
		for (; *locations; locations++)
			number(&message, 1, (unsigned char)*locations);
		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			number(&message, 2, values[i]);
	}
	if (comm)
		pair(&message, 3, COMM, comm);
	inner(profile, 2, &message);
}

static void types(struct message *profile)
{
	pair(profile, 1, SAMPLES, COUNT);
	pair(profile, 1, CPU, NANOSECONDS);
}

/* What is needed to know it, in the order of Go: texts at the end. */
static void go_profile(struct message *profile)
{
	types(profile);
	sample(profile, "\1\2\3", true, 2, 20, BASH);
	sample(profile, "\4\3", false, 3, 30, 0);
	mapping(profile, 7, VMLINUX);
	mapping(profile, 3, LIBRARY);
	LOCATION(profile, 3, 3, 0x1000, 9);
	LOCATION(profile, 1, 7, 0xffffffff81000000, 4);
	LOCATION(profile, 2, 3, 0x2000, 8, 9);
	LOCATION(profile, 4, 3, 0x3000);
	function(profile, 4, 0, WORK);
	function(profile, 8, INLINED, 0);
	function(profile, 9, MAIN, WORK);
	texts(profile);
}

static struct reading read_message(struct flame_tree *tree, const struct message *message,
				   const char *type)
{
	struct reading reading = {.tree = tree, .sample_type = type};

	read_bytes(&reading, message->bytes, message->nr);
	return reading;
}

/* ---- tests ---- */

static void stacks(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct message profile = {.nr = 0};
	struct reading reading;

	go_profile(&profile);
	reading = read_message(&tree, &profile, NULL);
	CHECK_STR(reading.refused, "");
	CHECK_STR(reading.unit, "nanoseconds");
	CHECK_INT(reading.bad, 0);
	CHECK_STR(in_order(&tree),
		  "1 bash p 0, 2 main u 0, 3 main u 0, 4 inl?ined i 0, 5 work k 20, "
		  "1 main u 0, 2 [unknown] (libc.so.6) x 30");
	CHECK_STR(tree.nodes[2].module, "libc.so.6");
}

static void values(void)
{
	static const struct {
		const char *type;
		uint64_t default_type, total;
		const char *unit, *refused;
	} cases[] = {
		{NULL, 0, 50, "nanoseconds", ""},
		{NULL, SAMPLES, 5, "samples", ""},
		{NULL, MAIN, 50, "nanoseconds", ""},
		{"samples", CPU, 5, "samples", ""},
		{"cpu", SAMPLES, 50, "nanoseconds", ""},
		{"space", 0, 0, "", "has no sample type 'space', but: samples, cpu"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		struct message profile = {.nr = 0};
		struct reading reading;

		go_profile(&profile);
		number(&profile, 14, cases[i].default_type);
		reading = read_message(&tree, &profile, cases[i].type);
		CHECK_STR(reading.refused, cases[i].refused);
		CHECK_STR(reading.unit, cases[i].unit);
		CHECK_INT(tree.nr ? tree.nodes[0].total : 0, cases[i].total);
	}
}

/* References to what is not there, and ids that are not in order. */
static void strange_profiles(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct message profile = {.nr = 0};
	struct reading reading;

	types(&profile);
	texts(&profile);
	function(&profile, UINT64_MAX, MAIN, 0);
	function(&profile, 5, 12345, UINT64_MAX);
	function(&profile, 3, MARK, 0);
	LOCATION(&profile, 9, 77, 0, UINT64_MAX);
	LOCATION(&profile, 5, 0, UINT64_MAX, 5);
	LOCATION(&profile, 4, 0, UINT64_MAX, UINT64_MAX);
	LOCATION(&profile, 4, 0, UINT64_MAX, UINT64_MAX);
	LOCATION(&profile, 2, 0, 0, 44);
	LOCATION(&profile, 3, 0, 0, 3);
	sample(&profile, "\2\5\11\1\3", true, 1, 1, 0);
	sample(&profile, "\4", true, 1, 1, 0);
	sample(&profile, "", true, 1, 1, 12345);
	reading = read_message(&tree, &profile, NULL);
	CHECK_STR(reading.refused, "");
	CHECK_INT(reading.stacks, 3);
	CHECK_STR(in_order(&tree), "1 [cut at 3 frames] m 0, 2 [unknown] x 0, 3 main u 0, "
				   "4 [unknown] x 0, 5 [unknown] x 1, 1 main k 1");
	CHECK_INT(tree.nodes[0].self, 1);
}

static void bad_samples(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct message profile = {.nr = 0}, damaged = {.nr = 0}, few = {.nr = 0};
	struct reading reading;

	types(&profile);
	texts(&profile);
	bytes(&damaged, 2, "\1\x80", 2);
	number(&few, 2, 1);
	sample(&profile, "", true, 1, 1, 0);
	sample(&profile, "", true, 1, (uint64_t)-1, 0);
	sample(&profile, "", true, 1, INT64_MAX, 0);
	inner(&profile, 2, &damaged);
	inner(&profile, 2, &few);
	reading = read_message(&tree, &profile, NULL);
	CHECK_INT(reading.stacks, 1);
	CHECK_INT(reading.bad, 4);
	CHECK_STR(reading.part, "sample");
	CHECK_INT(reading.first_bad[0].number, 2);
	CHECK_STR(reading.first_bad[0].reason, "its value is negative");
	CHECK_STR(reading.first_bad[1].reason, "its count makes the sum too large");
	CHECK_STR(reading.first_bad[2].reason, "it is damaged");
	CHECK_STR(reading.first_bad[3].reason, "it has too few values");
}

/* Cut off in the last fields, and inside of one. */
static void damaged(void)
{
	struct message profile = {.nr = 0};

	go_profile(&profile);
	for (size_t nr = profile.nr - 20; nr < profile.nr; nr++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		struct reading reading = {.tree = &tree};

		read_bytes(&reading, profile.bytes, nr);
		CHECK_STR(reading.refused, "is a profile of pprof that is damaged");
	}
	for (int field = 1; field <= 5; field++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		struct message bad = {.nr = 0};

		if (field == 2)
			continue;
		types(&bad);
		bytes(&bad, (unsigned int)field, "\x10", 1);
		CHECK_STR(read_message(&tree, &bad, NULL).refused,
			  "is a profile of pprof that is damaged");
	}
}

static void no_types(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct message profile = {.nr = 0};

	texts(&profile);
	CHECK_STR(read_message(&tree, &profile, NULL).refused,
		  "is a profile of pprof without values");
}

/* malloc() and what it calls is dropped, but not below the first frame, nor what is kept. */
static void dropped(void)
{
	static const struct {
		uint64_t drop, keep;
		const char *stacks;
		unsigned int notes;
	} cases[] = {
		{0, 0, "1 main u 0, 2 malloc(unsigned long) u 0, 3 work i 0, 4 work u 1", 0},
		{DROP, 0, "1 main u 1", 0},
		{DROP, WORK, "1 main u 1", 0},
		{BAD_RE, 0, "1 main u 0, 2 malloc(unsigned long) u 0, 3 work i 0, 4 work u 1", 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(flame_tree__release) struct flame_tree tree = {0};
		struct message profile = {.nr = 0};
		struct reading reading;

		types(&profile);
		texts(&profile);
		function(&profile, 1, MAIN, 0);
		function(&profile, 2, MALLOC, 0);
		function(&profile, 3, WORK, 0);
		LOCATION(&profile, 1, 0, 0, 1);
		LOCATION(&profile, 2, 0, 0, 3, 2);
		LOCATION(&profile, 3, 0, 0, 3);
		sample(&profile, "\3\2\1", true, 1, 1, 0);
		number(&profile, 7, cases[i].drop);
		number(&profile, 8, cases[i].keep);
		reading = read_message(&tree, &profile, NULL);
		CHECK_STR(in_order(&tree), cases[i].stacks);
		CHECK_INT(reading.nr_notes, cases[i].notes);
	}
}

/* A location with 300 inlined calls, in samples that have it 1,900 and 3,600 times. */
static void bounds(void)
{
	CLEANUP(flame_tree__release) struct flame_tree tree = {0};
	struct message profile = {.nr = 0}, place = {.nr = 0};
	struct reading reading;
	char locations[3601];

	types(&profile);
	function(&profile, 1, MAIN, 0);
	texts(&profile);
	number(&place, 1, 1);
	for (size_t i = 0; i < 300; i++)
		bytes(&place, 4, "\x8\1", 2);
	inner(&profile, 4, &place);
	memset(locations, 1, sizeof(locations));
	locations[1900] = '\0';
	sample(&profile, locations, true, 1, 1, 0);
	reading = read_message(&tree, &profile, NULL);
	CHECK_INT(reading.stacks, 1);
	CHECK_INT(tree.nr, 300 * 1900 + 1);
	locations[1900] = 1;
	locations[3600] = '\0';
	sample(&profile, locations, true, 1, 1, 0);
	reading = read_message(&tree, &profile, NULL);
	CHECK_INT(reading.bad, 1);
	CHECK_STR(reading.first_bad[0].reason, "longer than 1 MB");
}

static const struct tap_test tests[] = {
	{"stacks, with all kinds of frames", stacks},
	{"which value is drawn", values},
	{"references to what is not there", strange_profiles},
	{"samples that are left out, and told", bad_samples},
	{"profiles that are cut off or damaged", damaged},
	{"a profile without types of values", no_types},
	{"frames that the profile wants to be dropped", dropped},
	{"many inlined calls in many frames", bounds},
};

int main(void)
{
	return TAP_RUN(tests);
}
