// SPDX-License-Identifier: GPL-2.0-or-later
/* Entries of DWARF 4, byte by byte: above all those that no compiler makes. */
#include "sym/dwarf/data.h"

#include <dwarf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sym/dwarf/image.h"
#include "sym/dwarf/reader.h"
#include "sym/dwarf/unit.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/page.h"
#include "test/unit/section_file.h"
#include "test/unit/tap.h"

#define TEXT	  0x401000
#define TEXT_SIZE 0x1000
#define RANGES	  5000

/* The entries that there are: their numbers in the table below. */
enum entry_kind {
	UNIT = 1,    /* low and high PC */
	BARE_UNIT,   /* without */
	FUNCTION,    /* name, low and high PC */
	CALL,	     /* origin, low and high PC, file and line of the call */
	ABSTRACT,    /* name, linkage name */
	REFERENCE,   /* specification */
	LISTED_CALL, /* a list of ranges */
	TYPE,	     /* with children */
	SKELETON,    /* low and high PC, name and number of its own file */
	SPLIT_UNIT,  /* number */
};

/* Attributes that take two bytes, as they are written (LEB128). */
#define GNU_DWO_NAME 0xb0, 0x42
#define GNU_DWO_ID   0xb1, 0x42

static const unsigned char abbreviations[] = {UNIT,
					      DW_TAG_compile_unit,
					      1,
					      DW_AT_low_pc,
					      DW_FORM_addr,
					      DW_AT_high_pc,
					      DW_FORM_data4,
					      0,
					      0,
					      BARE_UNIT,
					      DW_TAG_compile_unit,
					      1,
					      0,
					      0,
					      FUNCTION,
					      DW_TAG_subprogram,
					      1,
					      DW_AT_name,
					      DW_FORM_string,
					      DW_AT_low_pc,
					      DW_FORM_addr,
					      DW_AT_high_pc,
					      DW_FORM_data4,
					      0,
					      0,
					      CALL,
					      DW_TAG_inlined_subroutine,
					      1,
					      DW_AT_abstract_origin,
					      DW_FORM_ref4,
					      DW_AT_low_pc,
					      DW_FORM_addr,
					      DW_AT_high_pc,
					      DW_FORM_data4,
					      DW_AT_call_file,
					      DW_FORM_data1,
					      DW_AT_call_line,
					      DW_FORM_data2,
					      0,
					      0,
					      ABSTRACT,
					      DW_TAG_subprogram,
					      0,
					      DW_AT_name,
					      DW_FORM_string,
					      DW_AT_linkage_name,
					      DW_FORM_string,
					      0,
					      0,
					      REFERENCE,
					      DW_TAG_subprogram,
					      0,
					      DW_AT_specification,
					      DW_FORM_ref4,
					      0,
					      0,
					      LISTED_CALL,
					      DW_TAG_inlined_subroutine,
					      1,
					      DW_AT_ranges,
					      DW_FORM_sec_offset,
					      0,
					      0,
					      TYPE,
					      DW_TAG_structure_type,
					      1,
					      0,
					      0,
					      SKELETON,
					      DW_TAG_compile_unit,
					      0,
					      DW_AT_low_pc,
					      DW_FORM_addr,
					      DW_AT_high_pc,
					      DW_FORM_data4,
					      GNU_DWO_NAME,
					      DW_FORM_string,
					      GNU_DWO_ID,
					      DW_FORM_data8,
					      0,
					      0,
					      SPLIT_UNIT,
					      DW_TAG_compile_unit,
					      1,
					      GNU_DWO_ID,
					      DW_FORM_data8,
					      0,
					      0,
					      0};

/* .debug_info as it is written. */
struct info {
	unsigned char *bytes;
	size_t size, capacity;
	size_t unit; /* where the one begins that is open */
};

static void put(struct info *info, const void *bytes, size_t size)
{
	while (info->size + size > info->capacity) {
		info->capacity = info->capacity ? 2 * info->capacity : 4096;
		info->bytes = realloc(info->bytes, info->capacity);
		if (!info->bytes)
			abort();
	}
	memcpy(info->bytes + info->size, bytes, size);
	info->size += size;
}

static void put_number(struct info *info, uint64_t number, size_t size)
{
	unsigned char bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[BYTE_ORDER == LITTLE_ENDIAN ? i : size - 1 - i] =
			(unsigned char)(number >> (8 * i));
	put(info, bytes, size);
}

static void begin_unit(struct info *info, enum entry_kind kind)
{
	info->unit = info->size;
	put_number(info, 0, 4);
	put_number(info, 4, 2);
	put_number(info, 0, 4);
	put_number(info, 8, 1);
	put_number(info, kind, 1);
	if (kind == UNIT) {
		put_number(info, TEXT, 8);
		put_number(info, TEXT_SIZE, 4);
	}
}

static void end_unit(struct info *info)
{
	const uint32_t length = (uint32_t)(info->size - info->unit - 4);

	memcpy(info->bytes + info->unit, &length, sizeof(length));
}

/* Where the next entry will be, as others refer to it. */
static uint32_t here(const struct info *info)
{
	return (uint32_t)(info->size - info->unit);
}

static void put_function(struct info *info, const char *name, uint64_t start, uint64_t size)
{
	put_number(info, FUNCTION, 1);
	put(info, name, strlen(name) + 1);
	put_number(info, start, 8);
	put_number(info, size, 4);
}

static void put_call(struct info *info, uint32_t origin, uint64_t start, uint64_t size,
		     uint16_t line)
{
	put_number(info, CALL, 1);
	put_number(info, origin, 4);
	put_number(info, start, 8);
	put_number(info, size, 4);
	put_number(info, 200, 1); /* no such file */
	put_number(info, line, 2);
}

static void put_abstract(struct info *info, const char *name, const char *linkage_name)
{
	put_number(info, ABSTRACT, 1);
	put(info, name, strlen(name) + 1);
	put(info, linkage_name, strlen(linkage_name) + 1);
}

static void put_reference(struct info *info, uint32_t to)
{
	put_number(info, REFERENCE, 1);
	put_number(info, to, 4);
}

static void end_children(struct info *info)
{
	put_number(info, 0, 1);
}

/* The knowledge about one address. */
struct answer {
	size_t nr;
	struct debug_frame frames[DEBUG_FRAMES_MAX];
};

/* An image of the entries, and what it takes to ask it. */
struct subject {
	struct info info;
	struct section_file file;
	struct debug_image image;
	struct debug_data *data;
	struct answer answer;
	int split, opened; /* the file of all split units, or -1; how often it was */
};

static int take_frames(void *context, size_t index, const struct debug_frame *frames, size_t nr)
{
	struct answer *answer = &((struct subject *)context)->answer;

	CHECK_INT(index, 0);
	CHECK(nr <= DEBUG_FRAMES_MAX && answer->nr == 0);
	memcpy(answer->frames, frames, nr * sizeof(*frames));
	answer->nr = nr;
	return 0;
}

static int open_file(void *context, const char *path)
{
	struct subject *subject = context;

	(void)path;
	subject->opened++;
	return subject->split < 0 ? -ENOENT : fcntl(subject->split, F_DUPFD_CLOEXEC, 0);
}

static struct subject *new_subject(void)
{
	struct subject *subject = calloc(1, sizeof(*subject));

	if (!subject)
		abort();
	subject->file.elf.fd = -1;
	subject->split = -1;
	return subject;
}

static void release(struct subject **at)
{
	struct subject *subject = *at;

	debug_data__free(subject->data);
	debug_image__release(&subject->image);
	section_file__close(&subject->file);
	free(subject->info.bytes);
	free(subject);
}

static bool load(struct subject *subject)
{
	uint64_t ranges[2 * (RANGES + 1)] = {0}, work = 1000;
	const struct file_section sections[] = {
		{".debug_info", subject->info.bytes, subject->info.size, 0},
		{".debug_abbrev", abbreviations, sizeof(abbreviations), 0},
		{".debug_ranges", ranges, sizeof(ranges), 0}};
	struct debug_plan plan;

	for (size_t i = 0; i < RANGES; i++) {
		ranges[2 * i] = TEXT + i / 2;
		ranges[2 * i + 1] = TEXT + i / 2 + 1;
	}
	section_file__make(&subject->file, sections, ARRAY_SIZE(sections));
	section_file__open(&subject->file);
	return CHECK_INT(debug_plan__make(&plan, &subject->file.elf, false), 0) &&
	       CHECK_INT(debug_image__load(&subject->image, &plan, &work), 0) &&
	       CHECK_INT(debug_data__new(&subject->data, &subject->image, NULL, NULL), 0);
}

static int ask(struct subject *subject, uint64_t address, uint64_t work)
{
	const struct debug_data_caller caller = {
		.context = subject, .emit = take_frames, .open_file = open_file};

	subject->answer.nr = 0;
	return debug_data__find(subject->data, &address, 1, &caller, &work);
}

static void check_frame(const struct subject *subject, size_t i, const char *name,
			bool is_linkage_name, uint32_t line)
{
	const struct debug_frame *frame = &subject->answer.frames[i];

	if (!CHECK(i < subject->answer.nr))
		return;
	CHECK_STR(frame->name ? frame->name : "NULL", name);
	CHECK_INT(frame->is_linkage_name, is_linkage_name);
	CHECK_INT(frame->line, line);
	CHECK(frame->file == NULL);
}

static void nested_calls(void)
{
	CLEANUP(release) struct subject *subject = new_subject();
	struct info *info = &subject->info;
	uint32_t first, second, reference;

	begin_unit(info, UNIT);
	first = here(info);
	put_abstract(info, "first", "_Z5firstv");
	second = here(info);
	put_abstract(info, "second", "");
	reference = here(info);
	put_reference(info, first);
	put_function(info, "outer", TEXT + 0x100, 0x100);
	put_call(info, second, TEXT + 0x120, 0x20, 10);
	put_call(info, reference, TEXT + 0x128, 8, 20);
	end_children(info);
	end_children(info);
	end_children(info);
	put_function(info, "next", TEXT + 0x200, 0x10);
	end_children(info);
	end_children(info);
	end_unit(info);
	if (!load(subject))
		return;
	CHECK_INT(ask(subject, TEXT + 0x128, 1000), 0);
	CHECK_INT(subject->answer.nr, 3);
	check_frame(subject, 0, "_Z5firstv", true, 0);
	check_frame(subject, 1, "second", false, 20);
	check_frame(subject, 2, "outer", false, 10);
	CHECK_INT(ask(subject, TEXT + 0x130, 1000), 0);
	CHECK_INT(subject->answer.nr, 2);
	CHECK_INT(ask(subject, TEXT + 0x140, 1000), 0);
	CHECK_INT(subject->answer.nr, 1);
	CHECK_INT(ask(subject, TEXT + 0x200, 1000), 0);
	CHECK_INT(subject->answer.nr, 1);
	check_frame(subject, 0, "next", false, 0);
	/* In the unit, but in no function. */
	CHECK_INT(ask(subject, TEXT + 0x300, 1000), 0);
	CHECK_INT(subject->answer.nr, 0);
	CHECK_INT(ask(subject, TEXT + TEXT_SIZE, 1000), 0);
	CHECK_INT(subject->answer.nr, 0);
}

/* Functions in types are those of lambdas and of other languages. */
static void unit_without_ranges(void)
{
	CLEANUP(release) struct subject *subject = new_subject();
	struct info *info = &subject->info;

	begin_unit(info, BARE_UNIT);
	put_number(info, TYPE, 1);
	put_function(info, "member", TEXT + 0x100, 0x100);
	end_children(info);
	end_children(info);
	put_call(info, 0, TEXT + 0x400, 0x100, 1); /* in no function */
	end_children(info);
	end_children(info);
	end_unit(info);
	if (!load(subject))
		return;
	CHECK_INT(ask(subject, TEXT + 0x128, 1000), 0);
	CHECK_INT(subject->answer.nr, 1);
	check_frame(subject, 0, "member", false, 0);
	CHECK_INT(ask(subject, TEXT + 0x408, 1000), 0);
	CHECK_INT(subject->answer.nr, 0);
}

static void circles(void)
{
	CLEANUP(release) struct subject *subject = new_subject();
	struct info *info = &subject->info;
	uint32_t own, other;

	begin_unit(info, UNIT);
	own = here(info);
	put_reference(info, own);
	other = here(info);
	put_reference(info, other + 5);
	put_reference(info, other);
	put_function(info, "outer", TEXT, 0x100);
	put_call(info, own, TEXT, 0x10, 1);
	end_children(info);
	put_call(info, other, TEXT + 0x10, 0x10, 1);
	end_children(info);
	put_call(info, UINT32_MAX, TEXT + 0x20, 0x10, 1);
	end_children(info);
	end_unit(info);
	if (!load(subject))
		return;
	for (uint64_t at = 0; at < 0x30; at += 0x10) {
		CHECK_INT(ask(subject, TEXT + at, 1000), 0);
		CHECK_INT(subject->answer.nr, 2);
		check_frame(subject, 0, "NULL", false, 0);
		check_frame(subject, 1, "outer", false, 1);
	}
}

#define LEVELS 100000

static void deep_trees(void)
{
	CLEANUP(release) struct subject *subject = new_subject();
	struct info *info = &subject->info;
	double start = tap_cpu_seconds();

	begin_unit(info, UNIT);
	put_function(info, "outer", TEXT, 0x100);
	for (int i = 0; i < LEVELS; i++)
		put_call(info, 0, TEXT, 0x100, 7);
	for (int i = 0; i < LEVELS / 2; i++)
		put_number(info, TYPE, 1);
	end_unit(info);
	if (!load(subject))
		return;
	CHECK_INT(ask(subject, TEXT, DEBUG_DATA_WORK), 0);
	CHECK_INT(subject->answer.nr, DEBUG_FRAMES_MAX);
	check_frame(subject, DEBUG_FRAMES_MAX - 1, "outer", false, 7);
	CHECK(tap_cpu_seconds() - start < 2);
}

/* Half a billion. */
static void put_many_ranges(struct info *info)
{
	begin_unit(info, UNIT);
	put_function(info, "outer", TEXT, TEXT_SIZE);
	for (int i = 0; i < LEVELS; i++) {
		put_number(info, LISTED_CALL, 1);
		put_number(info, 0, 4);
		end_children(info);
	}
	end_unit(info);
}

static void many_ranges(void)
{
	CLEANUP(release) struct subject *subject = new_subject();
	double start = tap_cpu_seconds();

	put_many_ranges(&subject->info);
	if (!load(subject))
		return;
	CHECK_INT(ask(subject, TEXT + 1, 1000 * 1000), -EFBIG);
	CHECK(subject->answer.nr > 0);
	CHECK(tap_cpu_seconds() - start < 5);
	CHECK_INT(ask(subject, TEXT + TEXT_SIZE - 1, 0), -EFBIG);
}

/* Unknown units stay unknown: that is said each time. */
static void many_units(void)
{
	CLEANUP(release) struct subject *subject = new_subject();
	struct info *info = &subject->info;

	begin_unit(info, UNIT);
	put_function(info, "outer", TEXT, 0x100);
	end_children(info);
	end_children(info);
	end_unit(info);
	for (int i = 0; i < 1000; i++) {
		begin_unit(info, BARE_UNIT);
		end_children(info);
		end_unit(info);
	}
	if (!load(subject))
		return;
	CHECK_INT(ask(subject, TEXT, 500), -EFBIG);
	CHECK_INT(ask(subject, TEXT, 1000000), -EFBIG);
	CHECK_INT(subject->answer.nr, 1);
	check_frame(subject, 0, "outer", false, 0);
	CHECK_INT(ask(subject, TEXT, 1000000), -EFBIG);
}

static void count_tick(void *context)
{
	++*(int *)context;
}

/* A reader of many ranges is given up, or gives up; its answers until then are taken. */
static void reader_of_many_ranges(void)
{
	CLEANUP(release) struct subject *subject = new_subject();
	int ticks = 0, err;
	const struct debug_reader_caller caller = {.context = &ticks, .tick = count_tick};
	struct debug_chain chain = {.address = TEXT + 1};
	uint64_t start = monotonic_now(), passed;
	struct debug_reader *reader;
	struct arena arena = {0};

	put_many_ranges(&subject->info);
	if (!load(subject) ||
	    !CHECK_INT(debug_reader__start(&reader, &subject->file.elf, NULL, NULL, &caller), 0))
		return;
	err = debug_reader__find(reader, &chain, 1, &arena);
	CHECK(err == -EFBIG || err == -ETIMEDOUT);
	passed = monotonic_now() - start;
	CHECK(passed < 5 * NANOSECONDS);
	CHECK(ticks > 0 || passed < NANOSECONDS / 5);
	debug_reader__stop(reader);
	arena__release(&arena);
}

/* The parts of a unit that it keeps for the next question count. */
static void reader_that_grows(void)
{
	static const struct debug_reader_caller caller = {0};
	CLEANUP(release) struct subject *subject = new_subject();
	CLEANUP(arena__release) struct arena arena = {0};
	struct debug_chain chain = {.address = TEXT};
	struct info *info = &subject->info;
	struct debug_reader *reader;
	uint64_t size;

	begin_unit(info, UNIT);
	for (int i = 0; i < LEVELS; i++) {
		put_function(info, "many", TEXT, 0x100);
		end_children(info);
	}
	end_unit(info);
	if (!load(subject))
		return;
	/* The child would use memory that is free here, and not grow. */
	malloc_trim(0);
	if (!CHECK_INT(debug_reader__start(&reader, &subject->file.elf, NULL, NULL, &caller), 0))
		return;
	size = debug_reader__size(reader);
	CHECK(size >= info->size);
	CHECK_INT(debug_reader__find(reader, &chain, 1, &arena), 0);
	CHECK(debug_reader__size(reader) > size + LEVELS * sizeof(struct debug_scope));
	CHECK_INT(debug_reader__stop(reader), 0);
}

/* More than half of what is kept. */
#define SPLIT_SIZE ((size_t)10 * 1024 * 1024)
#define SPLITS	   2

static void put_skeletons(struct info *info)
{
	for (int i = 0; i < SPLITS; i++) {
		begin_unit(info, SKELETON);
		put_number(info, TEXT + i * TEXT_SIZE, 8);
		put_number(info, TEXT_SIZE, 4);
		put(info, "its.dwo", sizeof("its.dwo"));
		put_number(info, (uint64_t)i + 1, 8);
		end_unit(info);
	}
}

/* A file has the units of all skeletons, and much else. */
static void make_split(struct section_file *file)
{
	CLEANUP_FREE void *strings = calloc(1, SPLIT_SIZE);
	struct info info = {0};

	for (int i = 0; i < SPLITS; i++) {
		begin_unit(&info, SPLIT_UNIT);
		put_number(&info, (uint64_t)i + 1, 8);
		put_function(&info, "split", TEXT + i * TEXT_SIZE, TEXT_SIZE);
		end_children(&info);
		end_children(&info);
		end_unit(&info);
	}
	const struct file_section sections[] = {
		{".debug_info.dwo", info.bytes, info.size, 0},
		{".debug_abbrev.dwo", abbreviations, sizeof(abbreviations), 0},
		{".debug_str.dwo", strings, SPLIT_SIZE, 0}};

	section_file__make(file, sections, ARRAY_SIZE(sections));
	section_file__open(file);
	free(info.bytes);
}

/* A subject whose split units are all in that file. */
static bool load_skeletons(struct subject *subject, struct section_file *split)
{
	make_split(split);
	subject->split = split->elf.fd;
	put_skeletons(&subject->info);
	return load(subject);
}

static void check_split(struct subject *subject, uint64_t unit, int opened)
{
	CHECK_INT(ask(subject, TEXT + unit * TEXT_SIZE, 1000), 0);
	/* Without its file nothing is known. The name may have gone with it. */
	CHECK_INT(subject->answer.nr, 1);
	CHECK_INT(subject->opened, opened);
}

static void large_split_units(void)
{
	CLEANUP(section_file__close) struct section_file split = {.elf.fd = -1};
	CLEANUP(release) struct subject *subject = new_subject();

	if (!load_skeletons(subject, &split))
		return;
	check_split(subject, 0, 1);
	check_split(subject, 1, 2);
	check_split(subject, 0, 2);
	check_split(subject, 1, 3);
	CHECK_INT(debug_data__nr_missing(subject->data), 0);
}

#ifndef __SANITIZE_ADDRESS__
static rlim_t mapped_bytes(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	CHECK(file && fscanf(file, "%lu", &pages) == 1);
	return pages * page_size();
}

/* With memory for one of them: the other's is taken for it, and nothing is missing from then on. */
static void split_units_without_memory(void)
{
	CLEANUP(section_file__close) struct section_file split = {.elf.fd = -1};
	CLEANUP(release) struct subject *subject = new_subject();
	struct rlimit before, few;

	if (!load_skeletons(subject, &split))
		return;
	check_split(subject, 0, 1);
	getrlimit(RLIMIT_AS, &before);
	few = (struct rlimit){.rlim_cur = mapped_bytes() + SPLIT_SIZE / 2,
			      .rlim_max = before.rlim_max};
	setrlimit(RLIMIT_AS, &few);
	check_split(subject, 1, 3);
	check_split(subject, 0, 5);
	setrlimit(RLIMIT_AS, &before);
	CHECK_INT(debug_data__nr_missing(subject->data), 0);
}
#else
static void split_units_without_memory(void)
{
	tap_skip("the sanitizer maps what it likes");
}
#endif

#define ASKED 10000

/* As many frames as there can be for each address. */
static void reader_of_many_frames(void)
{
	static const struct debug_reader_caller caller = {0};
	CLEANUP(release) struct subject *subject = new_subject();
	CLEANUP_FREE struct debug_chain *chains = calloc(ASKED, sizeof(*chains));
	CLEANUP(arena__release) struct arena arena = {0};
	struct info *info = &subject->info;
	struct debug_reader *reader;
	size_t found = 0;

	begin_unit(info, UNIT);
	put_function(info, "outer", TEXT, TEXT_SIZE);
	for (int i = 0; i < DEBUG_FRAMES_MAX; i++)
		put_call(info, 0, TEXT, TEXT_SIZE, 7);
	end_unit(info);
	for (size_t i = 0; i < ASKED; i++)
		chains[i].address = TEXT + i * TEXT_SIZE / ASKED;
	if (!load(subject) ||
	    !CHECK_INT(debug_reader__start(&reader, &subject->file.elf, NULL, NULL, &caller), 0))
		return;
	CHECK_INT(debug_reader__find(reader, chains, ASKED, &arena), -EFBIG);
	for (size_t i = 0; i < ASKED; i++)
		found += chains[i].nr;
	CHECK(found > 1000000 && found * sizeof(struct debug_frame) <= 64 * 1024 * 1024);
	/* There is a next answer. */
	CHECK_INT(debug_reader__find(reader, chains, 10, &arena), 0);
	CHECK_INT(chains[9].nr, DEBUG_FRAMES_MAX);
	debug_reader__stop(reader);
}

/* Entries end, wherever they are cut off, and whatever a byte is. */
static void spoilt_entries(void)
{
	CLEANUP(release) struct subject *good = new_subject();
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};

	begin_unit(&good->info, UNIT);
	put_abstract(&good->info, "first", "_Z5firstv");
	put_function(&good->info, "outer", TEXT, 0x100);
	put_call(&good->info, 25, TEXT, 0x20, 10);
	end_children(&good->info);
	end_children(&good->info);
	end_children(&good->info);
	end_unit(&good->info);
	for (size_t i = 0; i < good->info.size * (ARRAY_SIZE(values) + 1); i++) {
		CLEANUP(release) struct subject *bad = new_subject();

		put(&bad->info, good->info.bytes, good->info.size);
		if (i < good->info.size * ARRAY_SIZE(values))
			bad->info.bytes[i / ARRAY_SIZE(values)] = values[i % ARRAY_SIZE(values)];
		else
			bad->info.size = i % good->info.size + 1;
		if (!load(bad))
			return;
		ask(bad, TEXT + 1, 1000);
	}
	if (load(good)) {
		CHECK_INT(ask(good, TEXT + 1, 1000), 0);
		CHECK_INT(good->answer.nr, 2);
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"calls within calls", nested_calls},
		{"a unit that states no ranges", unit_without_ranges},
		{"references in a circle", circles},
		{"entries 100,000 levels deep", deep_trees},
		{"ranges without end", many_ranges},
		{"units without end", many_units},
		{"a reader of ranges without end", reader_of_many_ranges},
		{"a reader of frames without end", reader_of_many_frames},
		{"a reader grows with what it keeps", reader_that_grows},
		{"large split units are not all kept", large_split_units},
		{"kept split units make room for others", split_units_without_memory},
		{"entries that are spoilt", spoilt_entries},
	};

	return TAP_RUN(tests);
}
