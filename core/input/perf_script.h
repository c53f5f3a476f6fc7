/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What "perf script" prints, and "stacksnoop --format perf": a line for each sample, a line for
 * each of its frames from the leaf on, and an empty line.
 *
 *	perf  1234/1235 [001] 5.678901:     250000 cycles:u:
 *		ffffffff8168a1a5 memcg1_commit_charge+0x85 ([kernel.kallsyms])
 *		           98109 _int_malloc+0xda9 (/usr/lib/x86_64-linux-gnu/libc.so.6)
 *
 * -F leaves parts out of both, but no frame is without its address. Without call chains the only
 * frame stands in the line of its sample.
 */
#ifndef TRACEKIT_CORE_INPUT_PERF_SCRIPT_H
#define TRACEKIT_CORE_INPUT_PERF_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

struct input_bytes;
struct reading;

/* Text that begins with these bytes is output of perf script. */
bool perf_script__is_one(const char *text, size_t size);

/*
 * Each sample counts 1. Those of another event than the first one are left out, and that is said:
 * events of two kinds have no sum. Returns 0 or -ENOMEM.
 */
int perf_script__read(struct reading *reading, struct input_bytes *bytes);

#endif
