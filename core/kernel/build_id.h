/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build IDs of the kernel and its modules, from sysfs. */
#ifndef TRACEKIT_CORE_KERNEL_BUILD_ID_H
#define TRACEKIT_CORE_KERNEL_BUILD_ID_H

#define KERNEL_BUILD_ID_MAX 129 /* hexadecimal, with its NUL */

/* module: NULL is the kernel itself. text becomes "" where the build ID is not known. */
void kernel_build_id__read(const char *module, char text[KERNEL_BUILD_ID_MAX]);

#endif
