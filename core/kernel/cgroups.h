/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups of version 2, where they are mounted. */
#ifndef TRACEKIT_CORE_KERNEL_CGROUPS_H
#define TRACEKIT_CORE_KERNEL_CGROUPS_H

#include <fts.h>

/*
 * The folder of their hierarchy, allocated; NULL: nowhere. They are not mounted for ourselves
 * alone: in the first cgroup namespace a mount sets options for the whole machine.
 */
char *cgroups__find_mount(void);

/*
 * Call visit for the folder and each cgroup below it, before those that are in it, until a call
 * returns other than 0. A cgroup that cannot be read is left out: it has gone, or is nothing for
 * us. The entry of the folder itself has the level FTS_ROOTLEVEL. Returns 0, what visit has
 * returned, or a negative errno if the folder cannot be read.
 */
int cgroups__walk(const char *folder, int (*visit)(void *context, FTSENT *entry), void *context);

#endif
