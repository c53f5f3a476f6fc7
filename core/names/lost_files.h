/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that frames are in, but that nobody could find or open: each counts once. */
#ifndef TRACEKIT_CORE_NAMES_LOST_FILES_H
#define TRACEKIT_CORE_NAMES_LOST_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "core/unwind/modules.h"

/* All zero is empty. */
struct lost_files {
	uint64_t modules[UNWIND_MODULES / 64]; /* a bit for each */
	size_t nr;
};

/* Note the file of a frame, as of frame_plain(), if it is lost. */
static inline void lost_files__note(struct lost_files *files, uint64_t frame,
				    const struct unwind_module_list *modules)
{
	uint32_t module = frame_module(frame);
	uint64_t bit = 1ULL << module % 64, *bits = &files->modules[module / 64];

	if (frame_tag(frame) != FRAME_MODULE || *bits & bit ||
	    unwind_module_file__is_found(&modules->items[module]))
		return;
	*bits |= bit;
	files->nr++;
}

#endif
