/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames as every applet shows them: names, safe to print, with the additions of options. An
 * address can be in several functions, of which all but the last were inlined: each is shown as a
 * frame of its own.
 */
#ifndef TRACEKIT_CORE_REPORT_FRAME_TEXT_H
#define TRACEKIT_CORE_REPORT_FRAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sym_inlined;
struct sym_query;

struct frame_style {
	bool folded;	    /* the text goes into a folded line */
	bool offsets;	    /* "vfs_read+0x9e" */
	bool verbose;	    /* modules of kernel functions, files of what has no name, folders */
	bool unnamed_alike; /* functions without a name are not told apart */
	bool annotations;   /* "_[k]" behind kernel frames; "_[i]" behind inlined ones, if folded */
};

/* A longer name is cut: the demangled names of real programs reach a few KB. */
#define FRAME_NAME_MAX 4096

/* A name, a module and a source file, and what is put around them. */
#define FRAME_TEXT_MAX (3 * FRAME_NAME_MAX + 128)

/*
 * The most inlined calls that are shown of an address, from the innermost on, and the most bytes of
 * their names and files; a mark stands in place of the rest, as one more frame. Compilers stop at
 * some tens, but debug data can claim anything of every address.
 */
#define FRAME_INLINED_MAX   62
#define FRAME_INLINED_BYTES ((size_t)4 * FRAME_NAME_MAX)

/* The number of frames to show. query is the answer for frame; it is not read for a mark. */
uint32_t frame_text__levels(uint64_t frame, const struct sym_query *query);

/* How many of them are inlined calls; these come first, then the mark, if there are more calls. */
uint32_t frame_text__inlined(const struct sym_query *query);

/*
 * Write the text of one of them, with a NUL: level 0 is the innermost. No symbol can pass for a
 * line of another kind, for a mark of ours, for a function without a symbol, for a kernel function,
 * or for a function with a source line. The exception: names of generated code in folded lines,
 * which do end with ":file.js:12". Returns the length.
 */
size_t frame_text__write(const struct frame_style *style, uint64_t frame,
			 const struct sym_query *query, uint32_t level, char text[FRAME_TEXT_MAX]);

/* What a level is. */
enum frame_kind {
	FRAME_IS_MARK, /* no function, but a word about the stack */
	FRAME_IS_INLINED,
	FRAME_IS_KERNEL,
	FRAME_IS_GENERATED,
	FRAME_IS_USER,
};

enum frame_kind frame_text__kind(uint64_t frame, const struct sym_query *query, uint32_t level);

/*
 * The names of a function and of an inlined call alone, with a NUL, as safe as that: for formats
 * that have places of their own for all else. Without a name it is "[unknown]", or where the
 * function begins: "[libfoo.so+0x1200]".
 */
void frame_text__function(const struct sym_query *query, bool in_kernel, char text[FRAME_NAME_MAX]);
void frame_text__call(const struct sym_inlined *inlined, char text[FRAME_NAME_MAX]);

/* True if the query has no name, but tells where the function begins. */
bool frame_text__has_start(const struct sym_query *query);

/* As frame_text__write(), to out. */
void frame_text__print(FILE *out, const struct frame_style *style, uint64_t frame,
		       const struct sym_query *query, uint32_t level);

#endif
