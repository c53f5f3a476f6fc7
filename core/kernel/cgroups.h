/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups of version 2, where they are mounted. */
#ifndef TRACEKIT_CORE_KERNEL_CGROUPS_H
#define TRACEKIT_CORE_KERNEL_CGROUPS_H

/*
 * The folder of their hierarchy, allocated; NULL: nowhere. They are not mounted for ourselves
 * alone: in the first cgroup namespace a mount sets options for the whole machine.
 */
char *cgroups__find_mount(void);

#endif
