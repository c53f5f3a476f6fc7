/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel names from the kernel, by a BPF program: see bpf/kernel_names.bpf.c. */
#ifndef TRACEKIT_CORE_NAMES_KERNEL_NAMES_H
#define TRACEKIT_CORE_NAMES_KERNEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct kernel_namer;

/* Returns 0, or a negative errno if the kernel cannot do this (before 5.14, for example). */
int kernel_namer__new(struct kernel_namer **namer);
void kernel_namer__free(struct kernel_namer *namer);
void kernel_namer__freep(struct kernel_namer **namer);

/* A sym_kernel_print whose context is a struct kernel_namer. */
int kernel_namer__print(void *namer, const uint64_t *addresses, size_t nr, const char **texts);

#endif
