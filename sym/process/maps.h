/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The executable mappings of a process, as /proc/PID/maps shows them (proc(5)). */
#ifndef TRACEKIT_SYM_PROCESS_MAPS_H
#define TRACEKIT_SYM_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "sym/util/arena.h"

struct mapping {
	uint64_t start, end; /* addresses; end is behind the last byte */
	uint64_t offset;     /* of start in the file */
	dev_t device;
	ino_t inode;	   /* 0: no file */
	uint64_t modified; /* as of struct sym_mapping */
	const char *path;  /* as the kernel prints it, "[vdso]" and " (deleted)" included; or "" */
};

struct mapping_list {
	struct mapping *mappings; /* ascending and disjoint, as the kernel prints them */
	size_t nr;
	struct arena paths;
};

/*
 * Read a file of the format of /proc/PID/maps; what is not executable, and
 * lines that are no mapping, are left out. Text that was copied to huge pages is
 * shown as what it was. A process can have any number of
 * mappings, with paths of any length: what is beyond fixed limits is left out,
 * too. Returns 0, -ENOMEM, or -ESRCH if the file could not be read to its end;
 * *list is untouched on failure.
 */
int mapping_list__read(struct mapping_list *list, FILE *file);
void mapping_list__release(struct mapping_list *list);

/*
 * Lay mappings, one after the other and in any place, on top of those of base: each cuts or removes
 * what it overlaps. Mappings without a byte are left out; of base only the mappings are
 * looked at. *list owns all that it holds. Returns 0 or -ENOMEM.
 */
int mapping_list__lay(struct mapping_list *list, const struct mapping_list *base,
		      const struct mapping *mappings, size_t nr);

/*
 * True if one of the nr told mappings of a file is in the list, at its address: if not, they are
 * not of one program. True if none of them is of a file.
 */
bool mapping_list__shares(const struct mapping_list *list, const struct mapping *told, size_t nr);

/* The mapping that address lies in, or NULL. */
const struct mapping *mapping_list__find(const struct mapping_list *list, uint64_t address);

struct sym_file_id;
struct indexed_mapping;

/* The mappings of files, and the vDSO, of a list, which must stay as it is. All zero is empty. */
struct mapping_index {
	struct indexed_mapping *items; /* NULL: it was not made */
	size_t nr;
};

/* Returns 0 or -ENOMEM. */
int mapping_index__make(struct mapping_index *index, const struct mapping_list *list);
void mapping_index__release(struct mapping_index *index);

/* Files that have one device and inode, as those of two subvolumes of btrfs can. */
#define MAPPING_FILES_MAX 8

/*
 * The mappings that have that offset of the file, by device and inode: of each path one, if it
 * is among the first ones. Returns how many.
 */
size_t mapping_index__find(const struct mapping_index *index, const struct sym_file_id *file,
			   uint64_t offset, const struct mapping *found[MAPPING_FILES_MAX]);

#endif
