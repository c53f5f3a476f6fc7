// SPDX-License-Identifier: GPL-2.0-or-later
/* Count each event by its stacks. */
#include "stack.bpf.h"

static __always_inline void on_event(void *ctx, enum user_walk user_walk)
{
	count_current(ctx, user_walk);
}

#include "probes.bpf.h"

char LICENSE[] SEC("license") = "GPL";
