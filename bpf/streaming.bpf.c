// SPDX-License-Identifier: GPL-2.0-or-later
/* Send each event with its stacks. */
#include "stream.bpf.h"

/* Send the event that has begun. */
static __always_inline void end_event(void *ctx, enum user_walk user_walk, struct scratch *scratch,
				      bool walked)
{
	enum event_counter outcome = send_slot(ctx, user_walk, scratch, walked);

	if (outcome != EVENTS_COUNTED)
		count_lost(scratch->epoch);
	count_event(scratch->epoch, outcome);
	scratch__release(scratch);
}

#include "probes.bpf.h"

char LICENSE[] SEC("license") = "GPL";
