/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the samples of a pprof profile refer to by number: texts, functions, files and places in
 * them. Samples may stand before any of it.
 */
#ifndef TRACEKIT_CORE_INPUT_PPROF_TABLES_H
#define TRACEKIT_CORE_INPUT_PPROF_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/flame/flame_tree.h"
#include "sym/util/arena.h"

struct pattern;

/* A text as it is in the file: any bytes, without a NUL behind them. */
struct pprof_text {
	const unsigned char *bytes;
	size_t size;
};

struct pprof_type {
	uint64_t type, unit; /* texts */
};

struct pprof_file {
	uint64_t id;
	uint64_t name;	    /* a text */
	const char *module; /* its last part, safe to print; NULL: not known */
	enum flame_kind kind;
};

struct pprof_function {
	uint64_t id;
	uint64_t name, system_name; /* texts */
	const char *text;	    /* safe to print; NULL: it has no name */
	enum flame_kind kind;	    /* FLAME_USER: the place says it */
};

/* What becomes of a place where a function is that the profile wants to be dropped. */
enum pprof_drop { PPROF_KEEP, PPROF_DROP_BELOW, PPROF_DROP };

struct pprof_location {
	uint64_t id;
	const struct pprof_file *file; /* or NULL */
	uint64_t file_id, address;
	size_t first, nr; /* its functions, in lines; the innermost inlined one first */
	enum pprof_drop drop;
};

#define PPROF_TABLE(type)                                                                          \
	struct {                                                                                   \
		struct type *items;                                                                \
		size_t nr, capacity;                                                               \
	}

/* All zero is empty. Functions, files and locations are sorted by their ids. */
struct pprof_tables {
	PPROF_TABLE(pprof_text) texts;
	PPROF_TABLE(pprof_type) types;
	PPROF_TABLE(pprof_file) files;
	PPROF_TABLE(pprof_function) functions;
	PPROF_TABLE(pprof_location) locations;
	/* Ids of functions, which become 1 more than their numbers; 0: there is no such one. */
	uint64_t *lines;
	size_t nr_lines, lines_capacity;
	uint64_t default_type, drop_frames, keep_frames; /* texts; 0: not given */
	bool bad_drop; /* drop_frames or keep_frames is no expression that is understood */
	struct arena arena;
};

/*
 * Read all tables of a profile. They refer to its bytes. Returns 0, -EBADMSG if these are no
 * profile, or -ENOMEM; either way pprof_tables__release() is due.
 */
int pprof_tables__read(struct pprof_tables *tables, const unsigned char *bytes, size_t size);
void pprof_tables__release(struct pprof_tables *tables);

/* An empty text if there is none of that number. */
struct pprof_text pprof_tables__text(const struct pprof_tables *tables, uint64_t number);
bool pprof_text__is(struct pprof_text text, const char *other);

/* NULL: there is none of that id. */
const struct pprof_location *pprof_tables__location(const struct pprof_tables *tables, uint64_t id);

#endif
