/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vDSO: code that the kernel maps into every process, and that has no file.
 *
 * All 64-bit processes have the same image, so the one that was mapped into this
 * program serves for theirs: nothing is read from a process, which could have
 * written another one over it.
 */
#ifndef TRACEKIT_SYM_PROCESS_VDSO_H
#define TRACEKIT_SYM_PROCESS_VDSO_H

#include <stdbool.h>

struct mapping;

/* True if mapping is a vDSO that the image of this program is equal to. */
bool vdso__is_ours(const struct mapping *mapping);

/* A descriptor of a copy of this program's vDSO, an ELF file; or a negative errno. */
int vdso__open(void);

#endif
