// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/cfi/table.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bpf/unwind_tables.h"
#include "sym/cfi/go_unwind.h"
#include "sym/cfi/known_code.h"
#include "sym/cfi/rules.h"
#include "sym/cfi/section.h"
#include "sym/elf/file.h"
#include "sym/elf/go_table.h"
#include "sym/elf/processor.h"
#include "sym/elf/section_part.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

#define PAGE_SIZE ((uint64_t)1 << UNWIND_PAGE_BITS)

/* The largest browsers have 20 MB. */
#define SECTION_MAX ((uint64_t)64 * 1024 * 1024)

/* ---- pages ---- */

/* Code of the file: an executable segment, as far as none before it has those offsets. */
struct code {
	uint64_t start, end; /* addresses */
	uint64_t offset;     /* of start */
};

struct codes {
	struct code items[UNWIND_CODES_MAX]; /* by their offsets */
	size_t nr;
};

/*
 * Rows come in the order of their addresses, all of them for each code: those that lie in it are
 * put into pages, by their offsets.
 */
struct making {
	struct unwind_table *table;
	struct unwind_rules *rules;
	const struct elf_file *elf;
	const struct processor *processor;
	bool needs_base; /* a rule does: a table that keeps no base is made once more */
	bool keeps_base;
	struct codes codes;
	struct known_code known[KNOWN_CODES_MAX];
	size_t nr_known;
	/* Addresses. */
	const struct code *code;
	bool begun;	   /* rows have come up to the code */
	uint32_t current;  /* the rule that holds, */
	uint64_t since;	   /* from that address on */
	size_t next_known; /* the first of known that has not been put */
	/* Offsets. */
	size_t page;	  /* that rows are added to */
	uint32_t written; /* the rule that holds there */
};

static int add_row(struct making *making, uint32_t row)
{
	struct unwind_table *table = making->table;

	if (table->nr_rows == UNWIND_TABLE_ROWS_MAX)
		return -EFBIG;
	if (ARRAY_GROW(table->rows, table->nr_rows, table->rows_capacity))
		return -ENOMEM;
	table->rows[table->nr_rows++] = row;
	table->pages[making->page].nr++;
	return 0;
}

/* From offset on rule holds; it replaces a rule that begins there. */
static int begin_rule(struct making *making, uint32_t rule, uint64_t offset)
{
	struct unwind_table *table = making->table;
	bool is_first = table->pages[making->page].nr == 0;
	uint32_t *last = is_first ? NULL : &table->rows[table->nr_rows - 1];
	int err = 0;

	if (last && unwind_row_low(*last) == unwind_low(offset)) {
		*last = unwind_row(rule, offset);
		return 0;
	}
	if (is_first && unwind_low(offset))
		err = add_row(making, unwind_row(UNWIND_NONE, 0));
	return err ? err : add_row(making, unwind_row(rule, offset));
}

/* Rows are added to that page from now on; up to it the rule that is written holds. */
static int go_to_page(struct making *making, size_t page)
{
	struct unwind_table *table = making->table;
	int err = 0;

	while (making->page < page && !err) {
		making->page++;
		table->pages[making->page].first = (uint32_t)table->nr_rows;
		if (making->written != UNWIND_NONE)
			err = add_row(making, unwind_row(making->written, 0));
	}
	return err;
}

/* offset is not before that of the last row. */
static int write_row(struct making *making, uint64_t offset, uint32_t rule)
{
	uint64_t page = (offset - making->table->start) >> UNWIND_PAGE_BITS;
	int err;

	if (rule == making->written)
		return 0;
	/* The last code ends with the last page. */
	if (page >= making->table->nr_pages)
		return go_to_page(making, making->table->nr_pages - 1);
	err = go_to_page(making, page);
	making->written = rule;
	return err ? err : begin_rule(making, rule, offset);
}

static uint64_t offset_of(const struct code *code, uint64_t address)
{
	return code->offset + (address - code->start);
}

static int put_row(struct making *making, uint64_t address, uint32_t rule)
{
	const struct code *code = making->code;
	int err = 0;

	if (!making->begun && address >= code->start) {
		making->begun = true;
		err = write_row(making, code->offset, making->current);
	}
	making->current = rule;
	making->since = address;
	if (err || address < code->start || address >= code->end)
		return err;
	return write_row(making, offset_of(code, address), rule);
}

/* The number of a rule, which says where the base register is only if the file needs that. */
static int number_rule(struct making *making, const struct unwind_rule *rule)
{
	struct unwind_rule kept = *rule;

	making->needs_base |= cfi__needs_base(making->processor, rule);
	if (!making->keeps_base)
		kept.base = UNWIND_BASE_LOST;
	return unwind_rules__number(making->rules, &kept);
}

/* Put what is known where nothing else is, from since up to next. */
static int put_known(struct making *making, uint64_t next)
{
	int err = 0;

	for (; making->next_known < making->nr_known && !err; making->next_known++) {
		const struct known_code *known = &making->known[making->next_known];
		int number;

		if (known->start >= next)
			break;
		if (making->current != UNWIND_NONE || known->start < making->since)
			continue;
		number = number_rule(making, &known->rule);
		err = number < 0 ? number : put_row(making, known->start, (uint32_t)number);
		if (!err && known->end < next)
			err = put_row(making, known->end, UNWIND_NONE);
	}
	return err;
}

static int take_row(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct making *making = context;
	int number = number_rule(making, rule);
	int err = number < 0 ? number : put_known(making, address);

	return err ? err : put_row(making, address, (uint32_t)number);
}

/* Rows come from now on, from the first to the last, of which those in that code are wanted. */
static void begin_code(struct making *making, const struct code *code)
{
	making->code = code;
	making->begun = false;
	making->current = UNWIND_NONE;
	making->since = 0;
	making->next_known = 0;
}

static int end_code(struct making *making)
{
	int err = put_known(making, UINT64_MAX);

	if (!err)
		err = put_row(making, UINT64_MAX, UNWIND_NONE);
	return err ? err :
		     write_row(making, offset_of(making->code, making->code->end), UNWIND_NONE);
}

static int compare_codes(const void *left, const void *right)
{
	const struct code *a = left, *b = right;

	return COMPARE(a->offset, b->offset);
}

/* Two segments can have the same bytes of the file: those that come later lose them. */
static void make_disjoint(struct codes *codes)
{
	uint64_t taken = 0;
	size_t kept = 0;

	for (size_t i = 0; i < codes->nr; i++) {
		struct code code = codes->items[i];
		uint64_t size = code.end - code.start, less = 0;

		if (code.offset < taken)
			less = taken - code.offset;
		if (less >= size)
			continue;
		code.start += less;
		code.offset += less;
		taken = offset_of(&code, code.end);
		codes->items[kept++] = code;
	}
	codes->nr = kept;
}

/* From the first code to the last; returns 0, -ENOENT if there is none, or -EFBIG. */
static int find_codes(struct codes *codes, const struct elf_file *elf)
{
	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];
		struct code *code = &codes->items[codes->nr];
		uint64_t end;

		if (!(segment->flags & PF_X) || !segment->size)
			continue;
		if (codes->nr == UNWIND_CODES_MAX)
			return -EFBIG;
		code->start = segment->address;
		code->offset = segment->offset;
		if (__builtin_add_overflow(segment->address, segment->size, &code->end) ||
		    __builtin_add_overflow(segment->offset, segment->size, &end))
			return -EFBIG;
		codes->nr++;
	}
	array__sort(codes->items, codes->nr, sizeof(*codes->items), compare_codes);
	make_disjoint(codes);
	return codes->nr ? 0 : -ENOENT;
}

static int make_pages(struct unwind_table *table, const struct codes *codes)
{
	const struct code *last = &codes->items[codes->nr - 1];
	uint64_t size;

	table->start = codes->items[0].offset & ~(PAGE_SIZE - 1);
	size = offset_of(last, last->end) - table->start;
	if (size > UNWIND_TABLE_PAGES_MAX * PAGE_SIZE)
		return -EFBIG;
	table->nr_pages = (size + PAGE_SIZE - 1) >> UNWIND_PAGE_BITS;
	table->pages = calloc(table->nr_pages, sizeof(*table->pages));
	return table->pages ? 0 : -ENOMEM;
}

/* ---- files ---- */

/* Where call-frame information can be; data for use at run time come first. */
static const struct {
	const char *name;
	bool is_eh_frame, is_old;
} places[] = {
	{".eh_frame", true, false}, {".debug_frame", false, false}, {".zdebug_frame", false, true}};

/*
 * Find .eh_frame of a file without section headers by PT_GNU_EH_FRAME. Its end is an entry without
 * a length; nobody says where that lies, but not behind the segment.
 */
static int find_by_header(struct section_part *part, uint64_t *address, const struct elf_file *elf)
{
	const struct elf_segment *header = &elf->eh_frame_header, *segment;
	unsigned char bytes[CFI_HEADER_SIZE];
	struct cfi_bytes read = {.bytes = bytes};
	uint64_t found, within, left;

	read.size = header->size < sizeof(bytes) ? header->size : sizeof(bytes);
	read.size = elf_file__read(elf, bytes, read.size, header->offset);
	if (!cfi_section__find(read, header->address, &found))
		return -ENOENT;
	segment = elf_file__segment(elf, found, PF_R);
	if (!segment)
		return -ENOENT;
	within = found - segment->address;
	left = segment->size - within;
	*part = (struct section_part){.offset = segment->offset + within,
				      .size = left < SECTION_MAX ? left : SECTION_MAX};
	part->inflated = part->size;
	*address = found;
	return 0;
}

/* The part of the file that is places[place], and its address; or -ENOENT. */
static int find_place(struct section_part *part, uint64_t *address, const struct elf_file *elf,
		      size_t place)
{
	bool is_eh_frame = places[place].is_eh_frame;
	const struct elf_section *section =
		elf_file__find_section(elf, places[place].name, is_eh_frame);

	if (!section)
		return is_eh_frame ? find_by_header(part, address, elf) : -ENOENT;
	if (section->type == SHT_NOBITS)
		return -ENOENT;
	*address = is_eh_frame ? section->address : 0;
	return section_part__find(part, elf, section, places[place].is_old);
}

/* The bytes of a section, allocated. They are 0 where the file has become shorter. */
static int read_section(const struct elf_file *elf, const struct section_part *part,
			const struct work *work, unsigned char **bytes)
{
	struct stat st;
	int err = elf_file__stat(elf, &st);

	if (err)
		return err;
	if (part->inflated > SECTION_MAX)
		return -EFBIG;
	if (!section_part__fits(part, (uint64_t)st.st_size))
		return -EBADMSG;
	*bytes = calloc(1, part->inflated + 1);
	if (!*bytes)
		return -ENOMEM;
	err = section_part__read(part, elf, *bytes, work);
	return err == -EIO ? 0 : err;
}

/* ---- sources of rows ---- */

/* Go's table, or what has been read of a place; bytes are the caller's to free. */
struct source {
	struct go_table go;
	struct cfi_section cfi;
	unsigned char *bytes;
	const struct work *work;
	bool is_go;
};

static void source__release(struct source *source)
{
	free(source->bytes);
}

/* -ENOENT if the file does not have places[place]. */
static int source__open(struct source *source, const struct making *making, size_t place,
			const struct work *work)
{
	struct section_part part;
	uint64_t address;
	int err = find_place(&part, &address, making->elf, place);

	if (!err)
		err = read_section(making->elf, &part, work, &source->bytes);
	if (err)
		return err;
	source->work = work;
	source->cfi = (struct cfi_section){
		.processor = making->processor,
		.bytes = {.bytes = source->bytes, .size = part.inflated},
		.address = address,
		.is_eh_frame = places[place].is_eh_frame,
	};
	return 0;
}

static int source__each_row(struct source *source, cfi_visit visit, void *context)
{
	return source->is_go ? go_unwind__each_row(&source->go, visit, context) :
			       cfi_section__each_row(&source->cfi, source->work, visit, context);
}

/* ---- two of them ---- */

/* More than any program has beside .eh_frame or Go's table: all of libLLVM are 0.9 million. */
#define MERGED_MAX ((size_t)4 * 1024 * 1024)

struct merged_row {
	uint64_t address;
	uint32_t rule;
};

/* Rows of the second source hold where the first has none. */
struct merging {
	struct making *making;
	struct source *first;
	struct merged_row *rows; /* of the second */
	size_t nr, capacity;
	size_t next;	/* the first one that has not been merged */
	uint32_t below; /* the rule of the one before it */
	bool is_first;	/* a rule of the first holds */
};

static int keep_row(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct merging *merging = context;
	int number = number_rule(merging->making, rule);

	if (number < 0)
		return number;
	if (merging->nr == MERGED_MAX)
		return -EFBIG;
	if (ARRAY_GROW(merging->rows, merging->nr, merging->capacity))
		return -ENOMEM;
	merging->rows[merging->nr++] =
		(struct merged_row){.address = address, .rule = (uint32_t)number};
	return 0;
}

/* Take a copy: take_row() can move the rules. */
static int take_below(struct merging *merging, uint64_t address)
{
	const struct unwind_rule rule = merging->making->rules->items[merging->below];

	return take_row(merging->making, address, &rule);
}

/* Pass the rows of the second up to address, where a row of the first is. */
static int pass_rows(struct merging *merging, uint64_t address)
{
	int err = 0;

	while (merging->next < merging->nr && !err) {
		const struct merged_row *row = &merging->rows[merging->next];

		if (row->address > address)
			break;
		merging->below = row->rule;
		merging->next++;
		if (!merging->is_first && row->address < address)
			err = take_below(merging, row->address);
	}
	return err;
}

static int merge_row(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct merging *merging = context;
	int err = pass_rows(merging, address);

	if (err)
		return err;
	merging->is_first = rule->cfa != UNWIND_NONE;
	return merging->is_first ? take_row(merging->making, address, rule) :
				   take_below(merging, address);
}

static int merge_rows(struct merging *merging)
{
	int err;

	if (!merging->nr)
		return source__each_row(merging->first, take_row, merging->making);
	merging->next = 0;
	merging->below = UNWIND_NONE;
	merging->is_first = false;
	err = source__each_row(merging->first, merge_row, merging);
	return err ? err : pass_rows(merging, UINT64_MAX);
}

/* Have the rows of each code made. */
static int make_rows(struct making *making, struct merging *merging)
{
	int err = 0;

	for (size_t i = 0; i < making->codes.nr && !err; i++) {
		begin_code(making, &making->codes.items[i]);
		err = merge_rows(merging);
		if (!err)
			err = end_code(making);
	}
	return err;
}

/* Keep the rows of the second. What is wrong with it does not take away the first: -ENOMEM or 0. */
static int keep_rows(struct merging *merging, struct source *second)
{
	int err = source__each_row(second, keep_row, merging);

	if (err)
		merging->nr = 0;
	return err == -ENOMEM ? err : 0;
}

/* Open the next place that the file has; *place becomes the one behind it. Or -ENOENT. */
static int open_next(struct source *source, const struct making *making, size_t *place, size_t end,
		     const struct work *work)
{
	int err = -ENOENT;

	while (err == -ENOENT && *place < end)
		err = source__open(source, making, (*place)++, work);
	return err;
}

/*
 * The first place that the file has counts, and the next one where that says nothing: any program
 * is linked with files of the C library that bring .eh_frame, while its own functions can have
 * .debug_frame alone. C code that is linked with Go has .eh_frame; Go's data for debuggers are not
 * needed.
 */
static int make(struct making *making, const struct work *work)
{
	CLEANUP(source__release) struct source first = {0}, second = {0};
	struct merging merging = {.making = making, .first = &first};
	size_t place = 0, end = ARRAY_SIZE(places);
	struct work half;
	int err = 0;

	first.is_go = go_unwind__open(&first.go, making->elf, *work);
	if (first.is_go)
		end = 1;
	else
		err = open_next(&first, making, &place, end, work);
	if (err)
		return err;
	/* The second is read before, and leaves as much work for the first. */
	half = work__share(work->left, *work->left / 2);
	err = open_next(&second, making, &place, end, &half);
	if (!err)
		err = keep_rows(&merging, &second);
	if (err != -ENOMEM)
		err = make_rows(making, &merging);
	free(merging.rows);
	return err;
}

/* keeps_base: rules say where the base register is; *needs_base: they have to. */
static int make_table(struct unwind_table *out, struct unwind_rules *rules,
		      const struct elf_file *elf, const struct work *work, bool keeps_base,
		      bool *needs_base)
{
	CLEANUP(unwind_table__release) struct unwind_table table = {0};
	struct making making = {.table = &table,
				.rules = rules,
				.elf = elf,
				.processor = processor__of(elf->machine),
				.keeps_base = keeps_base};
	int err;

	if (!elf->is_64bit || !making.processor)
		return -ENOTSUP;
	making.nr_known = known_code__find(making.known, elf);
	err = find_codes(&making.codes, elf);
	if (!err)
		err = make_pages(&table, &making.codes);
	if (!err)
		err = make(&making, work);
	if (err)
		return err;
	*needs_base = making.needs_base;
	*out = table;
	table = (struct unwind_table){0};
	return 0;
}

/* Hardly any file needs the base register. */
int unwind_table__read(struct unwind_table *out, struct unwind_rules *rules,
		       const struct elf_file *elf, uint64_t *work)
{
	const struct work all = work__share(work, UINT64_MAX);
	struct unwind_table table;
	bool needs_base;
	int err = make_table(&table, rules, elf, &all, false, &needs_base);

	if (!err && needs_base) {
		unwind_table__release(&table);
		err = make_table(&table, rules, elf, &all, true, &needs_base);
	}
	if (!err)
		*out = table;
	return err;
}

void unwind_table__release(struct unwind_table *table)
{
	free(table->pages);
	free(table->rows);
	*table = (struct unwind_table){0};
}

uint32_t unwind_table__find(const struct unwind_table *table, uint64_t offset)
{
	uint64_t number = (offset - table->start) >> UNWIND_PAGE_BITS;
	uint32_t low = unwind_low(offset), first, nr;

	if (offset < table->start || number >= table->nr_pages || !table->pages[number].nr)
		return UNWIND_NONE;
	first = table->pages[number].first;
	for (nr = table->pages[number].nr; nr > 1;) {
		uint32_t half = nr / 2;

		if (unwind_row_low(table->rows[first + half]) <= low)
			first += half;
		nr -= half;
	}
	return unwind_row_rule(table->rows[first]);
}
