/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User frames asked for by the program that they are of, while that program's process may be
 * another one by now. An address of a process that still runs it is asked for by its PID.
 * Any other is looked up here, in what was mapped; it is then an address in a part of a file,
 * and however many programs had it, it is asked for once. What nobody knows any more of a
 * program does not matter where it is known which file a frame is in.
 */
#ifndef TRACEKIT_CORE_NAMES_PROGRAM_NAMES_H
#define TRACEKIT_CORE_NAMES_PROGRAM_NAMES_H

#include <stddef.h>

struct frame_place;
struct frame_sources;
struct sym_query;

/*
 * Answer the queries, one of each place, of user frames only. sources have processes. As
 * symbolizer__name_user(), it returns 0 or a negative errno, or -ENOMEM.
 */
int program_names__find(const struct frame_sources *sources, const struct frame_place *places,
			struct sym_query *queries, size_t nr);

#endif
