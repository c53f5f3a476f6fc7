/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source lines of addresses in a file, and the functions that were inlined there: from debug
 * data in the file itself or in another one.
 */
#ifndef TRACEKIT_SYM_ADDRESS_FILE_PLACES_H
#define TRACEKIT_SYM_ADDRESS_FILE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/address/file_names.h"
#include "sym/types.h"

struct elf_lookup;
struct file_names;
struct sym_file;

/* As in struct sym_query; in the arena of the names. */
struct file_place {
	bool is_found;		   /* else all is zero */
	struct file_name function; /* its name is NULL: not known, or nothing is */
	uint64_t start;		   /* of the function, in the file's own address space */
	const struct sym_inlined *inlined;
	uint32_t nr_inlined;
	struct sym_source source;
};

struct file_places;

/* names is borrowed. Returns 0 or -ENOMEM. */
int file_places__new(struct file_places **places, struct file_names *names);

/* A question begins: its searches for places have some seconds together, from the first one on. */
void file_places__begin(struct file_places *places);

/*
 * Find the places of the addresses of lookups, which are sorted. The debug data of the last few
 * files is kept for the next questions; a file that failed is tried again a few times, a minute
 * later. Returns 0 or -ENOMEM. If something could not be read, or not to its end, the progress of
 * what watches the names says so, as long as it is so.
 */
int file_places__find(struct file_places *places, const struct sym_file *file,
		      const struct elf_lookup *lookups, struct file_place *found, size_t nr);

#endif
