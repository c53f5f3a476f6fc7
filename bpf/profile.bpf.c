// SPDX-License-Identifier: GPL-2.0-or-later
/* Count where a CPU was, at each sample. */
#include "stack.bpf.h"

SEC("perf_event")
int profile_sample(void *ctx)
{
	count_current(ctx, USER_WALK_FROM_SAMPLE);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
