/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes have mapped, by what the kernel says of them: for those that end before
 * anybody can read it in /proc. Known is what happens while this is told of it: a process
 * that was there before is known by those that it forks only.
 */
#ifndef TRACEKIT_CORE_HISTORY_IMAGES_H
#define TRACEKIT_CORE_HISTORY_IMAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/types.h"

struct process_images;

/* Returns 0 or -ENOMEM. */
int process_images__new(struct process_images **images);
void process_images__free(struct process_images *images);

/*
 * What a process does. Memory is bounded, in images and in their mappings: what was told
 * of longest ago goes first. Without memory a process is forgotten.
 */
void process_images__fork(struct process_images *images, pid_t pid, pid_t parent);
void process_images__exec(struct process_images *images, pid_t pid);
void process_images__map(struct process_images *images, pid_t pid,
			 const struct sym_mapping *mapping);

/* Something was not told: what is known could be wrong. */
void process_images__forget_all(struct process_images *images);

/* NULL: nothing is known. Valid until the next call. */
const struct sym_image *process_images__find(struct process_images *images, pid_t pid);

#endif
