// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All entries are visited in the order in which they stand, without recursion: an entry's
 * children follow its attributes, and a null entry ends them. libdw is only asked where
 * the attributes of an entry end. Its dwarf_getscopes() would walk the tree for each
 * address, and to ask for the sibling of an entry walks all its children.
 */
#include "sym/dwarf/unit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* Entries that refer to each other in a row: there are two or three. */
#define REFERENCES_MAX 16

/* The attributes of a function or an inlined call that matter, if they are there. */
struct wanted {
	Dwarf_Attribute low, high, call_file, call_line;
	bool has_low, has_high, has_ranges, has_call_file, has_call_line;
};

static int take_attribute(Dwarf_Attribute *attribute, void *context)
{
	struct wanted *wanted = context;

	switch (dwarf_whatattr(attribute)) {
	case DW_AT_low_pc:
		wanted->low = *attribute;
		wanted->has_low = true;
		break;
	case DW_AT_high_pc:
		wanted->high = *attribute;
		wanted->has_high = true;
		break;
	case DW_AT_ranges:
		wanted->has_ranges = true;
		break;
	case DW_AT_call_file:
		wanted->call_file = *attribute;
		wanted->has_call_file = true;
		break;
	case DW_AT_call_line:
		wanted->call_line = *attribute;
		wanted->has_call_line = true;
		break;
	default:
		break;
	}
	return DWARF_CB_OK;
}

/* From low_pc and high_pc, which can be an address or, from version 4 on, a length. */
static bool range_of(struct wanted *wanted, uint64_t *start, uint64_t *end)
{
	Dwarf_Addr low, high;
	Dwarf_Word length;

	if (!wanted->has_low || !wanted->has_high || dwarf_formaddr(&wanted->low, &low))
		return false;
	if (dwarf_formaddr(&wanted->high, &high) != 0) {
		if (dwarf_formudata(&wanted->high, &length))
			return false;
		high = low + length;
	}
	*start = low;
	*end = high;
	return true;
}

static uint64_t number_of(Dwarf_Attribute *attribute, bool is_there)
{
	Dwarf_Word number;

	return is_there && dwarf_formudata(attribute, &number) == 0 ? number : 0;
}

static int each_listed_range(Dwarf_Die *die, uint64_t base, const struct work *work,
			     debug_range_visit add, void *context)
{
	Dwarf_Addr start, end, list_base = 0;
	ptrdiff_t offset = dwarf_ranges(die, 0, &list_base, &start, &end);
	int err = 0;

	/*
	 * libdw takes the base from the unit's entry, which has none in a split unit:
	 * it knows the skeleton's only if it has looked for the file itself.
	 */
	if (offset > 0 && base && list_base == 0) {
		list_base = base;
		start += base;
		end += base;
	}
	while (offset > 0 && !err) {
		if (!work__is_left(work))
			return -EFBIG;
		work__charge(work, 1);
		err = add(context, start, end);
		if (!err)
			offset = dwarf_ranges(die, offset, &list_base, &start, &end);
	}
	return err;
}

static int each_range(Dwarf_Die *die, struct wanted *wanted, uint64_t base, const struct work *work,
		      debug_range_visit add, void *context)
{
	uint64_t start, end;

	if (wanted->has_ranges)
		return each_listed_range(die, base, work, add, context);
	return range_of(wanted, &start, &end) ? add(context, start, end) : 0;
}

int debug_unit__each_range(Dwarf_Die *die, uint64_t base, const struct work *work,
			   debug_range_visit add, void *context)
{
	struct wanted wanted = {0};

	dwarf_getattrs(die, take_attribute, &wanted, 0);
	return each_range(die, &wanted, base, work, add, context);
}

/* While the entries are walked: which scope is open at which level of nesting. */
struct open_scope {
	uint32_t scope;
	uint64_t level; /* of the entry; those in it are deeper */
};

struct walk {
	struct debug_unit *unit;
	const struct work *work;
	struct open_scope *open; /* the innermost last */
	size_t nr_open, capacity;
	uint64_t level;
	bool skips_types;
};

static int add_scope_range(void *context, uint64_t start, uint64_t end)
{
	struct walk *walk = context;
	uint32_t scope = (uint32_t)walk->unit->nr_scopes - 1;

	if (!walk->unit->scopes[scope].start)
		walk->unit->scopes[scope].start = start;
	return debug_ranges__add(&walk->unit->ranges, start, end, scope);
}

static int push_scope(struct walk *walk, Dwarf_Die *die, struct wanted *wanted, bool is_inlined)
{
	struct debug_unit *unit = walk->unit;
	uint32_t parent = DEBUG_RANGES_NONE, depth = 0;
	uint64_t line = number_of(&wanted->call_line, wanted->has_call_line);

	if (is_inlined) {
		if (walk->nr_open == 0)
			return 0;
		parent = walk->open[walk->nr_open - 1].scope;
		depth = unit->scopes[parent].depth + 1;
		if (depth > DEBUG_DEPTH_MAX)
			return 0;
	}
	if (unit->nr_scopes >= DEBUG_RANGES_MAX)
		return -EFBIG;
	if (ARRAY_GROW(unit->scopes, unit->nr_scopes, unit->scopes_capacity) ||
	    ARRAY_GROW(walk->open, walk->nr_open, walk->capacity))
		return -ENOMEM;
	walk->open[walk->nr_open++] =
		(struct open_scope){.scope = (uint32_t)unit->nr_scopes, .level = walk->level};
	unit->scopes[unit->nr_scopes++] = (struct debug_scope){
		.die = die->addr,
		.parent = parent,
		.depth = depth,
		.call_line = line <= UINT32_MAX ? (uint32_t)line : 0,
		.call_file = number_of(&wanted->call_file, wanted->has_call_file),
	};
	return each_range(die, wanted, unit->base, walk->work, add_scope_range, walk);
}

/* Entries beneath one that is no scope, as a block of a function, are in the scope around it. */
static int visit(struct walk *walk, Dwarf_Die *die, int tag)
{
	struct wanted wanted = {0};

	while (walk->nr_open && walk->open[walk->nr_open - 1].level >= walk->level)
		walk->nr_open--;
	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return 0;
	dwarf_getattrs(die, take_attribute, &wanted, 0);
	if (!wanted.has_ranges && !(wanted.has_low && wanted.has_high))
		return 0;
	return push_scope(walk, die, &wanted, tag == DW_TAG_inlined_subroutine);
}

static bool is_type(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

/*
 * Where the entry behind die begins, or NULL at the end. An entry that may have children
 * is left to the walk to go through, unless it is a type without code in it.
 */
static const unsigned char *next_entry(struct walk *walk, Dwarf_Die *die, int tag)
{
	const bool skips = walk->skips_types && is_type(tag);
	Dwarf_Die next = {0};

	if (!skips && dwarf_haschildren(die) > 0 && dwarf_child(die, &next) == 0) {
		walk->level++;
		return next.addr;
	}
	/* At the end of the siblings this leads to the null entry there. */
	return dwarf_siblingof(die, &next) < 0 ? NULL : next.addr;
}

static int walk_entries(struct walk *walk)
{
	const unsigned char *at = walk->unit->root.addr, *end = walk->unit->end, *next;
	int err = 0;

	while (at && at < end && !err) {
		Dwarf_Die die = {.addr = (void *)(uintptr_t)at, .cu = walk->unit->root.cu};
		int tag;

		if (!work__is_left(walk->work))
			return -EFBIG;
		work__charge(walk->work, 1);
		if (*at == 0) { /* a null entry */
			if (walk->level == 0)
				break;
			walk->level--;
			at++;
			continue;
		}
		tag = dwarf_tag(&die);
		if (tag == DW_TAG_invalid)
			break;
		err = visit(walk, &die, tag);
		next = next_entry(walk, &die, tag);
		/* Never backwards, whatever a sibling is said to be. */
		at = next > at ? next : NULL;
	}
	return err;
}

/* No type of C has code among its members; those of other languages may, lambdas of C++ do. */
static bool is_c(Dwarf_Die *root)
{
	switch (dwarf_srclang(root)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return true;
	default:
		return false;
	}
}

int debug_unit__read(struct debug_unit *unit, const struct work *work)
{
	struct walk walk = {.unit = unit, .work = work, .skips_types = is_c(&unit->root)};
	int err = walk_entries(&walk);

	free(walk.open);
	debug_ranges__sort(&unit->ranges);
	return err;
}

void debug_unit__release(struct debug_unit *unit)
{
	free(unit->scopes);
	debug_ranges__release(&unit->ranges);
	debug_strings__release(&unit->strings);
	*unit = (struct debug_unit){0};
}

/* The names of a function in an entry, and a reference to an entry that says more. */
struct naming {
	struct debug_strings *strings;
	const struct work *work;
	const char *name, *linkage_name;
	Dwarf_Attribute reference;
	bool has_reference;
};

static int take_name(Dwarf_Attribute *attribute, void *context)
{
	struct naming *naming = context;

	switch (dwarf_whatattr(attribute)) {
	case DW_AT_name:
		if (!naming->name)
			naming->name = debug_strings__get(naming->strings, attribute, naming->work);
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		naming->linkage_name = debug_strings__get(naming->strings, attribute, naming->work);
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		naming->reference = *attribute;
		naming->has_reference = true;
		break;
	default:
		break;
	}
	return DWARF_CB_OK;
}

static void look_up_name(struct debug_unit *unit, struct debug_scope *scope,
			 const struct work *work)
{
	Dwarf_Die die = {.addr = (void *)(uintptr_t)scope->die, .cu = unit->root.cu};
	struct naming naming = {.strings = &unit->strings, .work = work};

	for (int i = 0; i < REFERENCES_MAX; i++) {
		naming.has_reference = false;
		work__charge(work, 1);
		dwarf_getattrs(&die, take_name, &naming, 0);
		if (naming.linkage_name && *naming.linkage_name) {
			scope->name = naming.linkage_name;
			scope->is_linkage_name = true;
			return;
		}
		if (!naming.has_reference || !dwarf_formref_die(&naming.reference, &die))
			break;
	}
	scope->name = naming.name && *naming.name ? naming.name : NULL;
}

const struct debug_scope *debug_unit__name(struct debug_unit *unit, uint32_t number,
					   const struct work *work)
{
	struct debug_scope *scope = &unit->scopes[number];

	if (!scope->is_named) {
		look_up_name(unit, scope, work);
		scope->is_named = true;
	}
	return scope;
}
