/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build ID of what a process has mapped, which the kernel knows without a path. */
#ifndef TRACEKIT_SYM_PROCESS_MAPPED_BUILD_ID_H
#define TRACEKIT_SYM_PROCESS_MAPPED_BUILD_ID_H

#include <sys/types.h>

#include "sym/elf/notes.h"

struct mapping;

/*
 * Linux 6.11 tells it to whoever may read /proc/PID/maps. Returns its size, or a negative
 * errno: -ENOENT if there is none, or the mapping is not there any more.
 */
int mapped_build_id__read(pid_t task, const struct mapping *mapping,
			  unsigned char id[ELF_BUILD_ID_MAX]);

#endif
