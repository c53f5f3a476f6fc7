/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks are stored in parts, which are named by their contents. */
#ifndef TRACEKIT_BPF_PARTS_H
#define TRACEKIT_BPF_PARTS_H

#include "common.bpf.h"
#include "config.bpf.h"
#include "scratch.bpf.h"
#include "siphash.bpf.h"

/*
 * Make the part of the stack that begins with frame first, and the part's id. Its next part is the
 * one made before. The id covers the frames and the next part's id, so equal parts are one.
 */
__noinline int make_part(__u32 number, __u32 first)
{
	struct scratch *scratch = scratch__find(number);
	struct siphash hash = siphash__init(config.hash_seed[0], config.hash_seed[1]);
	struct stack_part *part;
	__u32 nr = 0;

	if (!scratch || first > STACK_SLOTS - PART_FRAMES)
		return 0;
	part = &scratch->record.part;
	part->next = scratch->record.id;
	siphash__add(&hash, part->next.lo);
	siphash__add(&hash, part->next.hi);
	for (__u32 i = 0; i < PART_FRAMES; i++) {
		__u64 at = first + i, frame;

		/* at is below STACK_SLOTS; the compiler knows that, the verifier has to be told. */
		asm volatile("" : "+r"(at));
		/* Read anew, so that the verifier does not tell the ways out apart. */
		if (at >= STACK_SLOTS || at >= READ_ONCE(scratch->stack.nr))
			break;
		frame = scratch->stack.frames[at];
		part->frames[i] = frame;
		siphash__add(&hash, frame);
		nr = i + 1;
	}
	part->nr = nr;
	siphash__finish(&hash, nr + 2, &scratch->record.id.lo, &scratch->record.id.hi);
	scratch->record.id.lo = (scratch->record.id.lo & ~1ULL) | scratch->epoch % NR_EPOCHS;
	return 0;
}

#endif
