/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Semaphores of USDT probes that the kernel counts up at the wrong place in processes that begin
 * during the trace (sym/process/file_words.h). A thread hears what processes map, and counts the
 * right ones up. It is a thread, and no child, so that what is attached stays so until it has
 * ended, also when the tracer is killed: whatever it has counted up, the kernel counts down.
 */
#ifndef TRACEKIT_CORE_PROBE_SEMAPHORES_H
#define TRACEKIT_CORE_PROBE_SEMAPHORES_H

#include <stddef.h>
#include <stdint.h>

struct attachment;
struct target_list;
struct semaphores;

/* Where semaphores have not been counted up. */
struct semaphores_missed {
	size_t gone;   /* so many processes had ended before */
	int err;       /* why it could not be done in the last of others; or 0 */
	uint64_t lost; /* mappings, of whatever, that were not heard of */
};

/*
 * Before anything is attached: begin to hear. *semaphores becomes NULL if no target needs it.
 * Returns 0 or a negative errno.
 */
int semaphores__open(struct semaphores **semaphores, const struct target_list *targets);

/* When all is attached that can be. Returns 0 or a negative errno. */
int semaphores__start(struct semaphores *semaphores, const struct attachment *attachment);

/* Before anything is detached. */
void semaphores__stop(struct semaphores *semaphores);

/* When it has been stopped; NULL has missed none. */
struct semaphores_missed semaphores__missed(const struct semaphores *semaphores);

/* Stops, too. */
void semaphores__free(struct semaphores *semaphores);

#endif
