/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process as it is now, or as it was remembered. */
#ifndef TRACEKIT_SYM_PROCESS_VIEW_H
#define TRACEKIT_SYM_PROCESS_VIEW_H

#include <stdbool.h>
#include <sys/types.h>

#include "sym/process/process.h"

struct remembered;
struct remembered_list;

struct process_view {
	struct process current; /* if it is not remembered */
	const struct process *process;
	struct remembered *remembered; /* with a reference; or NULL */
	bool ended;		       /* nothing of it but what is remembered can be read */
};

/*
 * The present mappings are the better ones, since libraries may have been loaded after the
 * process was remembered, and are what is remembered from then on; unless its PID has
 * become another process. *view is all zero. Returns 0 or a negative errno, with nothing
 * to be released.
 */
int process_view__read(struct process_view *view, struct remembered_list *list, pid_t pid);
/* A thread in whose root its files are; 0: in ours, as far as is known. */
pid_t process_view__root_task(const struct process_view *view);

void process_view__release(struct process_view *view, struct remembered_list *list);

/* The file of one of its mappings: a descriptor, or a negative errno. */
int process_view__open_file(const struct process_view *view, const struct remembered_list *list,
			    const struct mapping *mapping);

#endif
