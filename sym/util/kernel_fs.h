/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own file systems, also where nobody has mounted them: a container made from
 * one binary has no /sys, and few hosts have tracefs mounted.
 *
 * Where the usual places do not have one, it is mounted without a place (fsmount(2), Linux
 * 5.2): only who holds a descriptor of it can see it, it stands in no list of mounts, and it
 * goes with the last descriptor, however the process ends.
 */
#ifndef TRACEKIT_SYM_UTIL_KERNEL_FS_H
#define TRACEKIT_SYM_UTIL_KERNEL_FS_H

#include <stdio.h>

enum kernel_fs {
	KERNEL_FS_SYS,	    /* sysfs, as at /sys */
	KERNEL_FS_TRACE,    /* tracefs, as at /sys/kernel/tracing */
	KERNEL_FS_DEBUG,    /* debugfs, as at /sys/kernel/debug */
	KERNEL_FS_SECURITY, /* securityfs, as at /sys/kernel/security */
	NR_KERNEL_FS,
};

/*
 * Open the root folder of fs, for openat(). Returns a descriptor, which is the caller's to
 * close, or a negative errno: -ENOENT: it is not mounted, and we may not mount it (that takes
 * CAP_SYS_ADMIN); -ENODEV: the kernel does not have it; else why it cannot be opened or mounted.
 */
int kernel_fs__open(enum kernel_fs fs);

/*
 * Open a file of fs for reading; path begins below its root. Returns a stream, which is the
 * caller's to close, or NULL with errno as above, or that of openat(2).
 */
FILE *kernel_fs__open_file(enum kernel_fs fs, const char *path);

#endif
