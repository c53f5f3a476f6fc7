// SPDX-License-Identifier: GPL-2.0-or-later
/* Send each event with its stacks. */
#include "stream.bpf.h"

/* An event: its slot, if it is to be sent; NULL: it is done with. */
static __noinline struct scratch *begin_event(void)
{
	__u32 in_epoch = current_epoch();
	enum event_counter outcome;
	struct scratch *scratch;
	__u32 tgid, tid;

	count_event(in_epoch, EVENTS_SEEN);
	outcome = filter_current(&tgid, &tid);
	if (outcome == EVENTS_SEEN) {
		scratch = claim_event(in_epoch, tgid, tid);
		if (scratch)
			return scratch;
		outcome = EVENTS_LOST_BUSY;
		count_lost(in_epoch);
	}
	count_event(in_epoch, outcome);
	return NULL;
}

/* Send the event that has begun. walked: the result of unwind_kernel(). */
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
