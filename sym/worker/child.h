/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The child of sym/worker/worker.h. */
#ifndef TRACEKIT_SYM_WORKER_CHILD_H
#define TRACEKIT_SYM_WORKER_CHILD_H

#include <stdbool.h>

struct avoid_list;
struct child_role;
struct progress;
struct sym_settings;

extern const struct child_role worker_child_role;

/*
 * Serve the requests that come through the socket, until the parent has gone. To be
 * called in a process that is made for it, whose other descriptors are closed.
 */
_Noreturn void worker_child__run(int socket, const struct avoid_list *avoided,
				 struct progress *progress, const struct sym_settings *settings);

#endif
