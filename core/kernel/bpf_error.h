/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of libbpf, in words for users. */
#ifndef TRACEKIT_CORE_KERNEL_BPF_ERROR_H
#define TRACEKIT_CORE_KERNEL_BPF_ERROR_H

#include <stdbool.h>

struct error;

/*
 * Keep libbpf from printing; remember its first warning since the last call
 * instead, as the likely cause of the next failure.
 */
void bpf_error__capture(void);

/* True if the kernel forbids programs to read memory: lockdown=confidentiality. */
bool bpf_error__is_locked_down(void);

/* Fill error for a failure to open or load BPF programs with code (negative); returns code. */
int bpf_error__load(struct error *error, int code);

#endif
