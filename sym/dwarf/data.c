// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/dwarf/data.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>

#include "sym/dwarf/image.h"
#include "sym/dwarf/lines.h"
#include "sym/dwarf/split.h"
#include "sym/dwarf/unit.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/*
 * Bytes kept for the next question, by the units that had it first: enough for small programs. A
 * caller that streams events asks again and again.
 */
#define KEPT_BYTES_MAX ((size_t)16 * 1024 * 1024)

/* The inside of a unit, and the image that it is in, if that is a file of its own. */
struct inside {
	struct debug_unit unit;
	struct debug_image split;
};

/* A compilation unit that has code: where its entry stands. */
struct unit {
	Dwarf_Off entry;
	uint64_t size;	       /* from there on */
	bool is_missing;       /* its own file was wanted, and could not be had */
	struct inside *inside; /* if it is kept */
};

struct debug_data {
	const struct debug_image *image;
	struct debug_package *package; /* or NULL */
	struct unit *units;
	size_t nr_units, units_capacity;
	struct debug_ranges ranges; /* owners are units; sorted */
	bool is_indexed;
	int incomplete; /* why units may be missing there, or 0 */
	size_t nr_missing, kept_bytes;
};

/* An address, in the order of units. */
struct place {
	uint32_t unit, index;
};

/* While one unit is answered for. */
struct answering {
	struct debug_data *data;
	const struct debug_data_caller *caller;
	const struct work *work;
	struct inside *inside;
	struct debug_lines lines;
	struct debug_row *rows;
	size_t nr;
};

int debug_data__new(struct debug_data **data, const struct debug_image *image,
		    const struct debug_image *alternate, struct debug_package *package)
{
	struct debug_data *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->image = image;
	made->package = package;
	if (alternate)
		dwarf_setalt(image->dwarf, alternate->dwarf);
	*data = made;
	return 0;
}

static void free_inside(struct inside *inside)
{
	if (!inside)
		return;
	debug_unit__release(&inside->unit);
	debug_image__release(&inside->split);
	free(inside);
}

void debug_data__free(struct debug_data *data)
{
	if (!data)
		return;
	for (size_t i = 0; i < data->nr_units; i++)
		free_inside(data->units[i].inside);
	free(data->units);
	debug_ranges__release(&data->ranges);
	free(data);
}

size_t debug_data__nr_missing(const struct debug_data *data)
{
	return data->nr_missing;
}

static bool unit_die(const struct debug_data *data, const struct unit *unit, Dwarf_Die *die)
{
	return dwarf_offdie(data->image->dwarf, unit->entry, die) != NULL;
}

/*
 * From the number of a unit to the owner of its ranges, and back. Units that have the same inline
 * function all claim it, although the linker has kept that of the first unit: of equal ranges the
 * last owner is found, so the numbers descend.
 */
static uint32_t owner_of(uint32_t unit)
{
	return DEBUG_RANGES_NONE - 1 - unit;
}

static int add_unit_range(void *context, uint64_t start, uint64_t end)
{
	struct debug_data *data = context;

	return debug_ranges__add(&data->ranges, start, end, owner_of((uint32_t)data->nr_units - 1));
}

/* Add the ranges inside a unit that states none itself. */
static int add_inside(struct debug_data *data, Dwarf_Die *die, uint64_t size,
		      const struct work *work)
{
	struct debug_unit inside = {.root = *die, .end = (const unsigned char *)die->addr + size};
	int err = debug_unit__read(&inside, work);

	for (size_t i = 0; i < inside.ranges.nr && !err; i++)
		err = add_unit_range(data, inside.ranges.items[i].start,
				     inside.ranges.items[i].end);
	debug_unit__release(&inside);
	return err;
}

static int add_unit(struct debug_data *data, Dwarf_Die *die, Dwarf_Off entry, uint64_t size,
		    const struct work *work)
{
	int tag = dwarf_tag(die), err;
	size_t ranges = data->ranges.nr;

	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return 0;
	if (data->nr_units >= DEBUG_RANGES_MAX)
		return -EFBIG;
	if (ARRAY_GROW(data->units, data->nr_units, data->units_capacity))
		return -ENOMEM;
	data->units[data->nr_units++] = (struct unit){.entry = entry, .size = size};
	err = debug_unit__each_range(die, 0, work, add_unit_range, data);
	if (!err && data->ranges.nr == ranges && !dwarf_hasattr(die, DW_AT_ranges) &&
	    !dwarf_hasattr(die, DW_AT_high_pc))
		err = add_inside(data, die, size, work);
	return err;
}

/* Read the ranges of all units that can be read. */
static int index_units(struct debug_data *data, const struct work *work)
{
	Dwarf *dwarf = data->image->dwarf;
	Dwarf_Off offset = 0, next;
	size_t header;
	int err = 0;

	for (; !err; offset = next) {
		Dwarf_Die die;

		if (!work__is_left(work))
			return -EFBIG;
		work__charge(work, 1);
		if (dwarf_next_unit(dwarf, offset, &next, &header, NULL, NULL, NULL, NULL, NULL,
				    NULL))
			break;
		if (next <= offset + header || !dwarf_offdie(dwarf, offset + header, &die))
			continue;
		err = add_unit(data, &die, offset + header, next - offset - header, work);
	}
	return err;
}

/* By unit, and then in the order of the addresses. */
static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->unit != y->unit ? COMPARE(x->unit, y->unit) : COMPARE(x->index, y->index);
}

static int find_places(const struct debug_data *data, const uint64_t *addresses, size_t nr,
		       struct place *places, size_t *nr_places)
{
	CLEANUP(debug_sweep__release) struct debug_sweep sweep = {0};

	if (debug_sweep__begin(&sweep, &data->ranges))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		uint32_t owner = debug_sweep__find(&sweep, addresses[i]);

		if (owner != DEBUG_RANGES_NONE)
			places[(*nr_places)++] =
				(struct place){.unit = owner_of(owner), .index = (uint32_t)i};
	}
	array__sort(places, *nr_places, sizeof(*places), compare_places);
	return 0;
}

static void read_lines(struct answering *answering, Dwarf_Die *die)
{
	Dwarf_Attribute table, folder;
	Dwarf_Word offset;
	uint8_t address_size = 8;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_stmt_list, &table), &offset))
		return;
	dwarf_cu_info(die->cu, NULL, NULL, NULL, NULL, NULL, &address_size, NULL);
	if (debug_lines__open(&answering->lines, answering->data->image, offset, address_size,
			      dwarf_formstring(dwarf_attr(die, DW_AT_comp_dir, &folder)),
			      answering->work) == 0)
		debug_lines__find(&answering->lines, answering->rows, answering->nr,
				  answering->work);
}

/* The package goes first: if the build has one, its files may be left from a build before. */
static int load_split(struct answering *answering, const struct debug_split *split)
{
	const struct debug_data_caller *caller = answering->caller;
	struct inside *inside = answering->inside;
	CLEANUP_CLOSE int fd = -1;
	int err = -ENOENT;

	if (answering->data->package)
		err = debug_split__load_packed(split, answering->data->package, &inside->split,
					       &inside->unit, answering->work->left);
	if (!err || err == -ENOMEM)
		return err;
	fd = caller->open_file(caller->context, split->path);
	return fd < 0 ? fd :
			debug_split__load(split, fd, &inside->split, &inside->unit,
					  answering->work->left);
}

/* Returns 0, also if the file could not be had, or -ENOMEM if more memory can be had. */
static int open_split(struct answering *answering, struct unit *unit,
		      const struct debug_split *split)
{
	int err;

	if (unit->is_missing)
		return 0;
	err = load_split(answering, split);
	if (!err || (err == -ENOMEM && answering->data->kept_bytes))
		return err;
	unit->is_missing = true;
	answering->data->nr_missing++;
	return 0;
}

static int read_inside(struct answering *answering, struct unit *unit, Dwarf_Die *die)
{
	CLEANUP_FREE struct debug_split *split = malloc(sizeof(*split));
	int err = 0;

	answering->inside = calloc(1, sizeof(*answering->inside));
	if (!split || !answering->inside)
		return -ENOMEM;
	answering->inside->unit = (struct debug_unit){
		.root = *die, .end = (const unsigned char *)die->addr + unit->size};
	if (debug_split__of(split, die, answering->data->image) == 0)
		err = open_split(answering, unit, split);
	return err ? err : debug_unit__read(&answering->inside->unit, answering->work);
}

static size_t size_of(const struct inside *inside)
{
	return sizeof(*inside) + inside->split.size + inside->unit.strings.size +
	       inside->unit.nr_scopes * sizeof(inside->unit.scopes[0]) +
	       inside->unit.ranges.nr * sizeof(inside->unit.ranges.items[0]);
}

/* Make room: the question at hand comes first. Returns whether anything was kept. */
static bool drop_kept(struct debug_data *data)
{
	bool any = data->kept_bytes > 0;

	for (size_t i = 0; any && i < data->nr_units; i++) {
		free_inside(data->units[i].inside);
		data->units[i].inside = NULL;
	}
	data->kept_bytes = 0;
	return any;
}

/* Take what was kept, or read it now; in part if that fails other than by -ENOMEM. */
static int take_inside(struct answering *answering, struct unit *unit, Dwarf_Die *die)
{
	int err;

	answering->inside = unit->inside;
	unit->inside = NULL;
	if (answering->inside) {
		answering->data->kept_bytes -= size_of(answering->inside);
		return 0;
	}
	err = read_inside(answering, unit, die);
	if (err == -ENOMEM && drop_kept(answering->data)) {
		free_inside(answering->inside);
		err = read_inside(answering, unit, die);
	}
	return err;
}

/* Keep it if it is whole, and there is room. */
static void leave_inside(struct answering *answering, struct unit *unit, bool is_whole)
{
	struct debug_data *data = answering->data;
	size_t size = is_whole ? size_of(answering->inside) : 0;

	if (is_whole && size <= KEPT_BYTES_MAX - data->kept_bytes) {
		unit->inside = answering->inside;
		data->kept_bytes += size;
	} else {
		free_inside(answering->inside);
	}
	answering->inside = NULL;
}

/* The frames of a scope, the innermost first: each is at the line of the call below it. */
static size_t fill_frames(struct answering *answering, const struct debug_row *row, uint32_t scope,
			  struct debug_frame *frames)
{
	struct debug_unit *inside = &answering->inside->unit;
	struct debug_lines *lines = &answering->lines;
	size_t nr = 0;

	if (row->found)
		frames[0] = (struct debug_frame){.file = debug_lines__path(lines, row->file),
						 .line = row->line};
	else
		frames[0] = (struct debug_frame){0};
	if (scope == DEBUG_RANGES_NONE)
		return row->found;
	for (;;) {
		const struct debug_scope *call = debug_unit__name(inside, scope, answering->work);

		frames[nr].name = call->name;
		frames[nr].start = call->start;
		frames[nr++].is_linkage_name = call->is_linkage_name;
		if (call->parent == DEBUG_RANGES_NONE || nr == DEBUG_FRAMES_MAX)
			return nr;
		frames[nr] = (struct debug_frame){.file = debug_lines__path(lines, call->call_file),
						  .line = call->call_line};
		scope = call->parent;
	}
}

static int emit_all(struct answering *answering, const struct place *places)
{
	const struct debug_data_caller *caller = answering->caller;
	CLEANUP(debug_sweep__release) struct debug_sweep sweep = {0};
	struct debug_frame frames[DEBUG_FRAMES_MAX];
	int err = 0;

	if (debug_sweep__begin(&sweep, &answering->inside->unit.ranges))
		return -ENOMEM;
	for (size_t i = 0; i < answering->nr && !err; i++) {
		const struct debug_row *row = &answering->rows[i];
		uint32_t scope = debug_sweep__find(&sweep, row->address);
		size_t nr = fill_frames(answering, row, scope, frames);

		if (nr)
			err = caller->emit(caller->context, places[i].index, frames, nr);
	}
	return err;
}

static int answer_unit(struct answering *answering, struct unit *unit, const struct place *places,
		       const uint64_t *addresses)
{
	Dwarf_Die die;
	int err, emitted;

	if (!unit_die(answering->data, unit, &die))
		return 0;
	for (size_t i = 0; i < answering->nr; i++)
		answering->rows[i] = (struct debug_row){.address = addresses[places[i].index]};
	err = take_inside(answering, unit, &die);
	emitted = err;
	/* Without its split file a line can be of an inlined call, which nobody would know. */
	if (answering->inside && !unit->is_missing) {
		read_lines(answering, &die);
		emitted = emit_all(answering, places);
	}
	leave_inside(answering, unit, err == 0);
	debug_lines__release(&answering->lines);
	return emitted ? emitted : err;
}

static int answer_places(struct debug_data *data, const uint64_t *addresses,
			 const struct place *places, size_t nr,
			 const struct debug_data_caller *caller, const struct work *work)
{
	CLEANUP_FREE struct debug_row *rows = calloc(nr + 1, sizeof(*rows));
	struct answering answering = {.data = data, .caller = caller, .work = work, .rows = rows};
	int err = rows ? 0 : -ENOMEM;

	for (size_t first = 0, last; first < nr && !err; first = last) {
		for (last = first; last < nr && places[last].unit == places[first].unit;)
			last++;
		answering.nr = last - first;
		err = answer_unit(&answering, &data->units[places[first].unit], &places[first],
				  addresses);
	}
	return err;
}

int debug_data__find(struct debug_data *data, const uint64_t *addresses, size_t nr,
		     const struct debug_data_caller *caller, uint64_t *left)
{
	CLEANUP_FREE struct place *places = calloc(nr + 1, sizeof(*places));
	const struct work work = work__share(left, DEBUG_DATA_WORK);
	size_t nr_places = 0;
	int err;

	if (!places)
		return -ENOMEM;
	if (!data->is_indexed) {
		data->incomplete = index_units(data, &work);
		debug_ranges__sort(&data->ranges);
		data->is_indexed = true;
	}
	err = find_places(data, addresses, nr, places, &nr_places);
	if (!err)
		err = answer_places(data, addresses, places, nr_places, caller, &work);
	return err ? err : data->incomplete;
}
