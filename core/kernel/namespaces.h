/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The namespaces that the kernel begins with, by their inodes (include/linux/proc_ns.h), part of
 * its ABI since 3.8 (98f842e675f9).
 */
#ifndef TRACEKIT_CORE_KERNEL_NAMESPACES_H
#define TRACEKIT_CORE_KERNEL_NAMESPACES_H

#define FIRST_USER_NAMESPACE 0xEFFFFFFDu
#define FIRST_PID_NAMESPACE  0xEFFFFFFCu

#endif
