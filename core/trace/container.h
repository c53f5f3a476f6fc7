/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroup of a container, by the ID that its runtime has put into the name of the cgroup. */
#ifndef TRACEKIT_CORE_TRACE_CONTAINER_H
#define TRACEKIT_CORE_TRACE_CONTAINER_H

#include <stddef.h>

struct error;

/*
 * The ID of a container in the name of its own cgroup. Returns its length, with *id in name, or 0
 * if the cgroup is not that of a container.
 */
size_t container__find_id(const char *name, const char **id);

/*
 * Open the cgroup of the only container whose ID begins with id, of the hierarchy of version 2.
 * Returns a descriptor, which is the caller's to close, or a negative errno with error filled.
 */
int container__open(const char *id, struct error *error);

/* The same below a folder that holds cgroups. */
int container__open_below(const char *folder, const char *id, struct error *error);

#endif
