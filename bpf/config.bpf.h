/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The settings of a tracing program; user space writes them before it loads. */
#ifndef TRACEKIT_BPF_CONFIG_H
#define TRACEKIT_BPF_CONFIG_H

#include "common.bpf.h"

const volatile struct trace_config config = {};

#endif
