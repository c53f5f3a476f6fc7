/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call at an address that was inlined, or the function that all of them were inlined into. */
#ifndef TRACEKIT_SYM_DWARF_FRAME_H
#define TRACEKIT_SYM_DWARF_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* Calls within calls; what is inlined deeper counts as a part of the call that it is in. */
#define DEBUG_DEPTH_MAX 255
/* The calls, and the function. */
#define DEBUG_FRAMES_MAX (DEBUG_DEPTH_MAX + 1)

struct debug_frame {
	/* The linkage name if there is one, mangled, else DW_AT_name; NULL: unknown. */
	const char *name;
	const char *file; /* with its folders, or NULL */
	uint32_t line;	  /* 0: unknown */
	uint64_t start;	  /* of its instructions; 0: unknown */
	/*
	 * If not, a symbol of the function itself says more: of a clone, or what is local in C++.
	 */
	bool is_linkage_name;
};

#endif
