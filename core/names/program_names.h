/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of user frames. A frame in a file is asked for by file and offset, once for all
 * programs, whatever has become of them. Any other frame is an address of a program, which is asked
 * as long as it runs; afterwards its JIT map has the names, if it was passed on in time.
 */
#ifndef TRACEKIT_CORE_NAMES_PROGRAM_NAMES_H
#define TRACEKIT_CORE_NAMES_PROGRAM_NAMES_H

#include <stddef.h>

struct frame_place;
struct frame_sources;
struct sym_query;

/*
 * Answer the queries, one of each place, of user frames only. As symbolizer__name_user(), it
 * returns 0 or a negative errno, or -ENOMEM.
 */
int program_names__find(const struct frame_sources *sources, const struct frame_place *places,
			struct sym_query *queries, size_t nr);

#endif
