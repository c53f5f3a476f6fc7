// SPDX-License-Identifier: GPL-2.0-or-later
/* One sample of a CPU: where it was, counted. */
#include "accounting.bpf.h"
#include "common.bpf.h"
#include "filter.bpf.h"
#include "stack.bpf.h"

SEC("perf_event")
int profile_sample(void *ctx)
{
	struct stack_key key = {};
	enum event_counter outcome;

	count_event(EVENTS_SEEN);
	outcome = filter_current(&key.tgid);
	if (outcome == EVENTS_SEEN) {
		bpf_get_current_comm(key.comm, sizeof(key.comm));
		outcome = count_stacks(ctx, &key);
	}
	count_event(outcome);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
