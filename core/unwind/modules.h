/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that user frames are in, by the numbers of their modules, for whoever names frames. The
 * process that loads tables fills the list (core/unwind/loader.h), in shared memory, when it hears
 * of a file, and once more when it has found it; then the entry stays. With it stands how the
 * loader does.
 */
#ifndef TRACEKIT_CORE_UNWIND_MODULES_H
#define TRACEKIT_CORE_UNWIND_MODULES_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/abi.h"
#include "bpf/unwind_tables.h"
#include "sym/cfi/reader.h"
#include "sym/types.h"
#include "sym/util/arena.h"

struct unwind_module_file {
	/* The last that is written. Until then only path can be known, below a root of some file
	 * system. */
	uint32_t found;
	uint32_t missed; /* somebody has looked for it, in vain */
	pid_t pid;	 /* has it, or had */
	struct sym_file_id id;
	char path[UNWIND_PATH_MAX]; /* as of struct unwind_mapped */
};

struct unwind_module_list {
	struct unwind_module_file items[UNWIND_MODULES];
};

/* The state of the loader, as it reports it. */
struct unwind_status {
	uint32_t nr_loaded;	/* files that have tables now */
	uint32_t nr_given_back; /* tables that were given back for others */
	uint32_t nr_refused;	/* files that did not answer, or could not be read */
	uint32_t out_of_memory; /* files for which no memory was left */
	uint32_t no_modules;	/* files for which no module number was left */
	uint32_t nr_late;	/* of the first files: not loaded when their time was over */
	uint32_t starved;	/* why files could not be read: EAGAIN, EMFILE or ENOMEM; or 0 */
	uint32_t failed;	/* why it could not begin: an errno, or 0 */
	uint64_t memory;	/* bytes of tables */
};

/* Shared memory that the loader writes, and others only read. */
struct unwind_told {
	volatile struct unwind_status status;
	struct unwind_module_list modules;
};

static inline bool unwind_module_file__is_found(const struct unwind_module_file *file)
{
	return __atomic_load_n(&file->found, __ATOMIC_ACQUIRE);
}

/* True if it is worth waiting for. */
static inline bool unwind_module_file__may_be_found(const struct unwind_module_file *file)
{
	return !__atomic_load_n(&file->missed, __ATOMIC_ACQUIRE);
}

/* A copy of an entry: its writer is not trusted to leave it as it is. */
static inline struct unwind_module_file
unwind_module_file__copy(const struct unwind_module_file *shared)
{
	struct unwind_module_file file = *shared;

	file.path[sizeof(file.path) - 1] = '\0';
	return file;
}

/* The question for a frame, which is as of frame_plain(), without the file. */
static inline struct sym_query frame__query(uint64_t frame, pid_t pid, bool return_address)
{
	bool in_file = frame_tag(frame) == FRAME_MODULE;

	return (struct sym_query){.pid = pid,
				  .address = in_file ? frame_offset(frame) : frame,
				  .return_address = return_address,
				  .in_file = in_file};
}

/*
 * If an answer does not say which file its frame is in, take the file of the frame's module. The
 * module's name is allocated from names. Returns 0 or -ENOMEM.
 */
static inline int frame__add_module(uint64_t frame, const struct unwind_module_list *modules,
				    struct arena *names, struct sym_query *query)
{
	struct unwind_module_file file;
	const char *name;
	size_t length;

	if (frame_tag(frame) != FRAME_MODULE || query->module)
		return 0;
	file = unwind_module_file__copy(&modules->items[frame_module(frame)]);
	name = sym_module__name(file.path, &length);
	/* A stand-in for a path that was too long is no name. */
	if (!length || file.path[0] == '#')
		return 0;
	query->module = arena__copy_string(names, name, length);
	query->module_offset = frame_offset(frame);
	return query->module ? 0 : -ENOMEM;
}

#endif
