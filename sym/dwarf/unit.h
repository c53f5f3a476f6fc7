/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of a compilation unit: its functions, and the calls that were inlined into
 * them, as scopes with ranges of addresses.
 */
#ifndef TRACEKIT_SYM_DWARF_UNIT_H
#define TRACEKIT_SYM_DWARF_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/dwarf/frame.h"
#include "sym/dwarf/package.h"
#include "sym/dwarf/ranges.h"

struct work;

struct debug_scope {
	const void *die; /* where it stands */
	uint32_t
		parent; /* the scope that it is inlined into; DEBUG_RANGES_NONE: it is a function */
	uint32_t depth;
	uint64_t start;	    /* of its first range; 0: it has none */
	uint32_t call_line; /* 0: unknown */
	uint64_t call_file;
	bool is_named; /* the name has been looked up */
	bool is_linkage_name;
	const char *name;
};

/* Begins with nothing but its first members. */
struct debug_unit {
	Dwarf_Die root;		  /* the unit's own entry */
	const unsigned char *end; /* behind its last entry */
	uint64_t base;		  /* what range lists are relative to, where libdw cannot know */
	struct debug_strings strings; /* of a unit in a package */
	struct debug_scope *scopes;
	size_t nr_scopes, scopes_capacity;
	struct debug_ranges ranges; /* owners are scopes; sorted */
};

/*
 * Call add for each range of addresses of an entry, until it returns other than 0, which is
 * returned. Returns 0 otherwise, also if the ranges cannot be read, or -EFBIG without work.
 */
typedef int (*debug_range_visit)(void *context, uint64_t start, uint64_t end);
int debug_unit__each_range(Dwarf_Die *die, uint64_t base, const struct work *work,
			   debug_range_visit add, void *context);

/*
 * Fill in the scopes and their ranges. Returns 0, -EFBIG if there was no work left, or
 * -ENOMEM; what has been read is there all the same.
 */
int debug_unit__read(struct debug_unit *unit, const struct work *work);
void debug_unit__release(struct debug_unit *unit);

/* A scope, with the name of its function: see struct debug_frame. It is in the image or the unit.
 */
const struct debug_scope *debug_unit__name(struct debug_unit *unit, uint32_t scope,
					   const struct work *work);

#endif
