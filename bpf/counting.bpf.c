// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs of all applets that count by stacks; each has those loaded that it needs. */
#include "stack.bpf.h"

/* stackcount: each event. */
static __always_inline void on_event(void *ctx, enum user_walk user_walk)
{
	count_current(ctx, user_walk);
}

#include "probes.bpf.h"
#include "waits.bpf.h"

/* profile: where a CPU is, at each sample. */
SEC("?perf_event")
int profile_sample(void *ctx)
{
	count_current(ctx, USER_WALK_FROM_SAMPLE);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
