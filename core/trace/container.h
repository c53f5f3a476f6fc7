/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cgroup of a container, by the ID that its runtime has put into the name of the cgroup. */
#ifndef TRACEKIT_CORE_TRACE_CONTAINER_H
#define TRACEKIT_CORE_TRACE_CONTAINER_H

struct error;

/*
 * Open the cgroup of the only container whose ID begins with id, of the hierarchy of version 2.
 * Returns a descriptor, which is the caller's to close, or a negative errno with error filled.
 */
int container__open(const char *id, struct error *error);

/* The same below a folder that holds cgroups. */
int container__open_below(const char *folder, const char *id, struct error *error);

#endif
