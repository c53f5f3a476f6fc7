/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined calls and source lines of one file, read by a child process that can do no harm:
 * DWARF is complex, files are anyone's, and libdw can neither be interrupted nor be
 * trusted with them. The child has no privileges (sym/child/sandbox.h), and whatever it does, the
 * parent goes on in time: it costs the names of this file at most.
 */
#ifndef TRACEKIT_SYM_DWARF_READER_H
#define TRACEKIT_SYM_DWARF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/dwarf/frame.h"
#include "sym/util/arena.h"

struct debug_reader;
struct elf_file;

struct debug_reader_caller {
	void *context;
	/*
	 * Open the file of a split unit, at a path that the reader's file names: the caller decides
	 * which paths to follow. Returns a descriptor, or a negative errno. May be NULL.
	 */
	int (*open_file)(void *context, const char *path);
	/* Called every 100 ms at least: whatever the child does, it does not last long. May be
	 * NULL. */
	void (*tick)(void *context);
	unsigned int cpu_seconds; /* that the child may use in its life; 0: a minute */
};

/* Seconds without a question after which a reader ends; the next one finds it dead. */
#define DEBUG_READER_IDLE 60

/* Files of split units that one reader is given for a question. */
#define DEBUG_READER_FILES_MAX 4096

struct debug_chain {
	uint64_t address;		  /* first: the key */
	const struct debug_frame *frames; /* the innermost first; NULL: nothing is known */
	size_t nr;
};

/*
 * Start a child for the file of elf, whose part common to several files is in alternate, and whose
 * split units are in package, if these are not NULL. All are needed, with their descriptors, only
 * during this call.
 * Returns 0, -ENOENT if the file has no such data, -EPERM if there can be no sandbox (known
 * at the first question), -EFBIG also if there is too little memory for what is to be read, or
 * another negative errno, as those of debug_plan__make().
 */
int debug_reader__start(struct debug_reader **reader, const struct elf_file *elf,
			const struct elf_file *alternate, const struct elf_file *package,
			const struct debug_reader_caller *caller);

/*
 * Fill in the frames of chains, which are sorted by address, as far as they are found: frames go
 * into the arena, strings stay valid until the reader is stopped. It takes 4 seconds at most for
 * each 2^20 addresses. Returns 0, -EFBIG if the file would cost more work or memory, -ETIMEDOUT if
 * it took too long, -EPIPE if the child has died, -EPROTO if it sent nonsense, or another negative
 * errno. What was found by then is there all the same. After other than 0 and -EFBIG the child has
 * been killed: from then on nothing is found, and 0 is returned, so that each reader fails once.
 */
int debug_reader__find(struct debug_reader *reader, struct debug_chain *chains, size_t nr,
		       struct arena *arena);

/* Units whose own file could not be had, so far: only their lines are known. */
size_t debug_reader__nr_missing(const struct debug_reader *reader);

/*
 * True if the child has used half of its CPU time: before it has used all of it and is ended,
 * another reader should take its place. False after it has failed.
 */
bool debug_reader__is_near_cpu_limit(const struct debug_reader *reader);

/*
 * Bytes that the reader costs: the child's memory when it answered last, at least the images of its
 * files, and the strings that it sent. 0 after it has failed.
 */
uint64_t debug_reader__size(const struct debug_reader *reader);

/*
 * End the child, and forget all strings. Returns 0, or the PID of the child if it has not ended
 * soon, as when it waits for a file that does not answer: the caller is to wait for it later. NULL
 * is allowed.
 */
pid_t debug_reader__stop(struct debug_reader *reader);

#endif
