/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that user frames are in, by the numbers of their modules: what somebody who names
 * frames has to know. Who walks by tables fills it (core/unwind_loader.h), in memory that
 * processes share; a frame has the number of a module when that is there, and it stays.
 */
#ifndef TRACEKIT_CORE_UNWIND_MODULES_H
#define TRACEKIT_CORE_UNWIND_MODULES_H

#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "sym/sym.h"
#include "sym/unwind_reader.h"

struct unwind_module_file {
	struct sym_file_id id;
	uint64_t start, offset; /* one of the places where pid has it, or had */
	pid_t pid;
	char path[UNWIND_PATH_MAX]; /* as of struct unwind_mapped */
};

struct unwind_module_list {
	struct unwind_module_file items[UNWIND_MODULES];
};

/* A copy of one of them: whoever writes them is not believed to leave them as they are. */
static inline struct unwind_module_file
unwind_module_file__copy(const struct unwind_module_file *shared)
{
	struct unwind_module_file file = *shared;

	file.path[sizeof(file.path) - 1] = '\0';
	return file;
}

/*
 * The question for a frame, which is as of frame_plain(). modules: of which frames can be; NULL if
 * there are none.
 */
static inline struct sym_query frame__query(uint64_t frame, pid_t pid, bool return_address,
					    const struct unwind_module_list *modules)
{
	struct sym_query query = {.pid = pid, .address = frame, .return_address = return_address};

	if (frame_tag(frame) == FRAME_MODULE) {
		query.address = frame_offset(frame);
		query.in_file = true;
		query.file = modules->items[frame_module(frame)].id;
	}
	return query;
}

#endif
