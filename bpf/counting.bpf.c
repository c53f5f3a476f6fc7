// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs of all applets that count by stacks; each has those loaded that it needs. */
#include "stack.bpf.h"

/* An event: its slot, if it is to be counted by its stacks; NULL: it is done with. */
static __noinline struct scratch *begin_event(void)
{
	__u32 in_epoch = current_epoch();
	enum event_counter outcome;
	struct scratch *scratch;
	__u32 tgid, tid;

	count_event(in_epoch, EVENTS_SEEN);
	outcome = filter_current(&tgid, &tid);
	if (outcome == EVENTS_SEEN) {
		scratch = claim_key(in_epoch, tgid);
		if (scratch)
			return scratch;
		outcome = EVENTS_LOST_BUSY;
	}
	count_event(in_epoch, outcome);
	return NULL;
}

/* Count the event that has begun. walked: the result of unwind_kernel(). */
static __always_inline void end_event(void *ctx, enum user_walk user_walk, struct scratch *scratch,
				      bool walked)
{
	enum event_counter outcome = store_stacks(ctx, user_walk, scratch, walked);

	if (outcome == EVENTS_COUNTED)
		outcome = count_key(&scratch->key, &scratch->first, 0);
	count_event(scratch->epoch, outcome);
	scratch__release(scratch);
}

#include "probes.bpf.h"
#include "waits.bpf.h"

/* profile: where a CPU is, at each sample. */
SEC("?perf_event")
int profile_sample(void *ctx)
{
	on_event(ctx, USER_WALK_FROM_SAMPLE);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
