/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes and their files, read under the eyes of a parent that can give up
 * (sym/worker/worker.h): what is touched next is said before, and what did not answer
 * earlier is left alone.
 */
#ifndef TRACEKIT_SYM_CHILD_SUPERVISOR_H
#define TRACEKIT_SYM_CHILD_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Seen by whoever watches: as long as steps or work change, there is progress. */
struct progress {
	uint64_t steps;
	pid_t pid;     /* whose mappings or files are touched */
	dev_t device;  /* of the file; 0: not known, or the mappings are read */
	bool jit;      /* it is a JIT map */
	bool debug;    /* debug files are looked for: those that pid leads to; 0: the host's */
	uint64_t work; /* left for this call: see elf_symbols__find() */
	bool left_out; /* something was too large to be read to its end, or not opened */
	bool incomplete_debug; /* a file with a part of the debug data was not had, in this run */
	/* How long a server has been waited for in this run (sym/symfile/debuginfod.h). Never goes
	 * back. */
	uint64_t server_ms;
};

/*
 * These did not answer, and are not asked again. JIT maps are avoided as a kind when the second one
 * has not answered: they come last, and are worth no more time. So are the debug files that
 * processes lead to; the host's are avoided at the first.
 */
#define AVOIDED_MAX	  8
#define AVOIDED_JIT_MAX	  2
#define AVOIDED_DEBUG_MAX 2

struct avoid_list {
	struct {
		pid_t pid;
		dev_t device; /* whoever has mapped its files; 0: the process as a whole */
		bool jit;     /* only the JIT map of the process */
		bool debug;   /* only the debug files that it leads to; pid 0: the host's */
	} items[AVOIDED_MAX];
	size_t nr;
};

/*
 * Note -EFBIG, too large to be read to the end, and -EMFILE or -ENFILE, no descriptor left for it:
 * names are missing then, but it is no failure. Returns 0 for these, or else err.
 */
int progress__note_left_out(struct progress *progress, int err);

/* Both are borrowed. */
struct supervisor {
	const struct avoid_list *avoided;
	struct progress *progress;
};

/* Say what is touched next, so that whoever watches knows what does not answer. */
void supervisor__touch(const struct supervisor *supervisor, pid_t pid, dev_t device, bool jit);

/*
 * The same while debug files are looked for, and while one on device is read. pid: 0 for
 * those of the host.
 */
void supervisor__touch_debug(const struct supervisor *supervisor, pid_t pid, dev_t device);
bool supervisor__avoids_debug(const struct supervisor *supervisor, pid_t pid);

/* A server is waited for, by now for so long: that is progress. */
void supervisor__note_server(const struct supervisor *supervisor, uint64_t milliseconds);

/* The work on what was touched last gets on. */
void supervisor__tick(const struct supervisor *supervisor);

/* device: 0 for what has none of its own, as the mappings. */
bool supervisor__avoids(const struct supervisor *supervisor, pid_t pid, dev_t device);
bool supervisor__avoids_jit_map(const struct supervisor *supervisor, pid_t pid);

#endif
