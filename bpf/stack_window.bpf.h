/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A part of a user stack that was read at once: a helper call for each frame would
 * take longer than all the rest of an event, 0.1 us each.
 */
#ifndef TRACEKIT_BPF_STACK_WINDOW_H
#define TRACEKIT_BPF_STACK_WINDOW_H

#include "common.bpf.h"
#include "scratch.bpf.h"

/* The words that were read before are of another stack, or have been overwritten. */
static __always_inline void stack_window__forget(struct stack_window *window)
{
	window->places = 0;
}

/* Read from address on, to the end of its page at most: the next page may not be mapped. */
static __always_inline bool stack_window__read(struct stack_window *window, __u64 address)
{
	__u32 bytes = USER_PAGE - address % USER_PAGE;

	if (bytes > WINDOW_WORDS * sizeof(__u64))
		bytes = WINDOW_WORDS * sizeof(__u64);
	if (bytes < 2 * sizeof(__u64))
		bytes = 2 * sizeof(__u64);
	if (bpf_probe_read_user(window->words, bytes, (const void *)address)) {
		/* The words are 0 now: neighbours of address are not to be found in them. */
		stack_window__forget(window);
		return false;
	}
	window->start = address;
	window->places = bytes - 2 * sizeof(__u64) + 1;
	return true;
}

/* stack_window__read() for the window in that slot; verified once instead of for each frame. */
__noinline int read_stack_window(__u32 number, __u64 address)
{
	struct scratch *scratch = scratch__find(number);

	return scratch && stack_window__read(&scratch->window, address);
}

/* The window then has the two words at address; their place in it goes into *index. */
static __always_inline bool stack_window__find(struct stack_window *window, __u64 address,
					       __u32 *index)
{
	__u64 offset = address - window->start;

	if (offset >= window->places || offset % sizeof(__u64)) {
		if (!read_stack_window(window->number, address))
			return false;
		offset = 0;
	}
	/* The index is below WINDOW_WORDS; the mask is for the verifier. */
	*index = offset / sizeof(__u64) & (WINDOW_WORDS - 1);
	return true;
}

#endif
