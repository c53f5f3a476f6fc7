/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One frame as every applet shows it: its name, safe to print, and what options add to that. */
#ifndef TRACEKIT_CORE_FRAME_TEXT_H
#define TRACEKIT_CORE_FRAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sym_query;

struct frame_style {
	bool folded;	  /* the text goes into a folded line */
	bool offsets;	  /* "vfs_read+0x9e" */
	bool verbose;	  /* modules of kernel functions, files of what has no name */
	bool annotations; /* "_[k]" behind kernel frames */
};

/* A longer name is cut: the demangled names of real programs reach a few KB. */
#define FRAME_NAME_MAX 4096

/* A name and a module, and what is put around them. */
#define FRAME_TEXT_MAX (2 * FRAME_NAME_MAX + 64)

/*
 * Write the text of a frame, with a NUL. query is its answer; not looked at for a mark.
 * No symbol passes for a line of another kind, for a mark of ours, or for the kernel's.
 * Returns the length.
 */
size_t frame_text__write(const struct frame_style *style, uint64_t frame,
			 const struct sym_query *query, char text[FRAME_TEXT_MAX]);

#endif
