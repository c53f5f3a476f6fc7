/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of a pprof profile (github.com/google/pprof, proto/profile.proto), of any writer:
 * tracekit, Go, Parca, py-spy, perf_to_profile. Each inlined call is a frame. A label "comm", which
 * tracekit and Parca's agent write, is the process, below all frames.
 */
#ifndef TRACEKIT_CORE_INPUT_PPROF_STACKS_H
#define TRACEKIT_CORE_INPUT_PPROF_STACKS_H

struct input_bytes;
struct reading;

/* All of it is kept in memory: no more than BYTES_INFLATED_MAX bytes. Returns 0 or -ENOMEM. */
int pprof_stacks__read(struct reading *reading, struct input_bytes *bytes);

#endif
