/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of the kernel's verifier for BPF programs, the good ones too: --debug. */
#ifndef TRACEKIT_CORE_KERNEL_VERIFIER_LOG_H
#define TRACEKIT_CORE_KERNEL_VERIFIER_LOG_H

#include <stdio.h>

struct bpf_object;
struct error;
struct verifier_log;

/*
 * Between open and load: keep the log of all programs that will be loaded. Returns 0, or -ENOMEM
 * with error filled.
 */
int verifier_log__new(struct verifier_log **log, struct bpf_object *object, struct error *error);
void verifier_log__freep(struct verifier_log **log);

/* After the load, whether it succeeded or not. */
void verifier_log__print(const struct verifier_log *log, FILE *out);

#endif
