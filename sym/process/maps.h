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
	ino_t inode;	  /* 0: no file */
	const char *path; /* as the kernel prints it, "[vdso]" and " (deleted)" included; or "" */
};

/* As "r-xp", with its end. */
#define MAPPING_PERMISSIONS 5

/*
 * A line of a file of that format. The path lies in line, which is ended behind it. False if the
 * line is no mapping.
 */
bool mapping__parse(char *line, struct mapping *mapping, char permissions[MAPPING_PERMISSIONS]);

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

/* The mapping that address lies in, or NULL. */
const struct mapping *mapping_list__find(const struct mapping_list *list, uint64_t address);

#endif
