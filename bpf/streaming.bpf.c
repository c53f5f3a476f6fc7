// SPDX-License-Identifier: GPL-2.0-or-later
/* Send each event with its stacks. */
#include "stream.bpf.h"

static __always_inline void on_event(void *ctx, enum user_walk user_walk)
{
	send_current(ctx, user_walk);
}

#include "probes.bpf.h"

char LICENSE[] SEC("license") = "GPL";
