/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which mapping a walk is in, and which module that is of: by the kernel's mappings, when the walk
 * comes there. A slot remembers the last few, as long as the process has changed none.
 */
#ifndef TRACEKIT_BPF_MODULES_H
#define TRACEKIT_BPF_MODULES_H

#include "common.bpf.h"
#include "compat.bpf.h"
#include "config.bpf.h"
#include "mapping.bpf.h"
#include "scratch.bpf.h"
#include "tables.bpf.h"

/* A mapping that is being changed is looked up again: it takes its thread less time. */
#define MAPPING_LOOKS 3

/* The struct mm_struct of the running process. */
static __always_inline __u64 current_mm(void)
{
	return read_pointer(bpf_get_current_task() + config.mapping.task_mm);
}

/*
 * A file that is written to while it is mapped is another one from then on, which no number of mm
 * tells: so it is looked up again after so many walks.
 */
#define WALKS_MOST 256

/* True if the mappings of the slot's last walk are those of the process now; notes the numbers. */
static __always_inline bool modules__are_same(struct walk *walk, __u64 mm)
{
	__u64 id = walk->mm_id;
	__u32 seq = walk->mm_seq;

	if (config.mapping.mm_seq == NO_OFFSET)
		return false;
	walk->mm_id = read_pointer(mm + config.mapping.mm_id);
	walk->mm_seq = read_u32(mm + config.mapping.mm_seq);
	return walk->mm == mm && id && walk->mm_id == id && walk->mm_seq == seq &&
	       ++walk->nr_walks < WALKS_MOST;
}

/*
 * Begin in the mappings of the running process; a global function, as those of scratch.bpf.h. These
 * are verified also where nobody calls them: what not all kernels allow stands behind a setting.
 */
__noinline int begin_in_mappings(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	struct walk *walk;
	__u64 mm;

	if (!scratch || !config.unwind_tables)
		return 0;
	mm = current_mm();
	walk = &scratch->walk;
	scratch->search.sb = 0;
	walk->now = unwind_age(bpf_ktime_get_ns());
	if (modules__are_same(walk, mm))
		return 0;
	walk->mm = mm;
	walk->root = mapping__root(mm);
	walk->nr_walks = walk->nr_recent = 0;
	for (int i = 0; i < RECENT_MAPPINGS; i++)
		walk->recent[i].end = walk->recent[i].start = 0;
	return 0;
}

/* Likewise; two, for their stack. */
__noinline int find_vma(__u32 number, __u64 address)
{
	struct scratch *scratch = scratch__find(number);

	if (scratch && config.unwind_tables)
		mapping__find_vma(&scratch->search, scratch->walk.root, address);
	return 0;
}

/* Returns an enum mapping_outcome. */
__noinline int find_mapping(__u32 number, __u64 address)
{
	struct scratch *scratch = scratch__find(number);

	if (!scratch || !config.unwind_tables)
		return MAPPING_UNREADABLE;
	find_vma(number, address);
	return mapping__find(&scratch->search, scratch->walk.mm, address);
}

/* All bits if low <= address < high; all are below 2^63. */
static __always_inline __u64 modules__is_inside(__u64 address, __u64 low, __u64 high)
{
	return (__u64)((__s64)(~(address - low) & (address - high)) >> 63);
}

/* Set walk->mapping if the walk has been in that mapping of late. */
static __always_inline bool modules__is_recent(struct walk *walk, __u64 address)
{
	__u64 found = 0, index = 0;

	for (__u64 i = 0; i < RECENT_MAPPINGS; i++) {
		__u64 inside =
			modules__is_inside(address, walk->recent[i].start, walk->recent[i].end);

		found |= inside;
		index |= inside & i;
	}
	if (!mapping__hide(found))
		return false;
	/* The verifier wants to see the limit. */
	walk->mapping = walk->recent[mapping__hide(index) % RECENT_MAPPINGS];
	return true;
}

static __always_inline __u32 modules__of_file(const struct mapped_file *file)
{
	const __u32 *module = bpf_map_lookup_elem(&unwind_files, file);

	return module ? *module : UNWIND_UNKNOWN_MODULE;
}

static __always_inline enum unwind_end modules__end(enum mapping_outcome outcome,
						    const struct mapping_search *search)
{
	switch (outcome) {
	case MAPPING_ANONYMOUS:
	case MAPPING_OF_FILE:
		return search->found.executable ? UNWIND_GOES_ON : UNWIND_NO_CODE;
	case MAPPING_NONE:
		return search->changing ? UNWIND_CHANGING : UNWIND_NO_CODE;
	default:
		return UNWIND_CHANGING;
	}
}

static __noinline void modules__note_base(const struct scratch *scratch)
{
	const struct unwind_mapping *mapping = &scratch->walk.mapping;
	struct base_key key = {.program = scratch->key.program,
			       .tgid = scratch->key.tgid,
			       .module = mapping->module};

	/* Without room the address is not shown. */
	(void)map_update(&unwind_bases, &key, &mapping->base, BPF_ANY);
}

/* Set walk->mapping. */
static __always_inline enum unwind_end modules__look_up(struct walk *walk, __u64 address)
{
	struct scratch *scratch = scratch__find(walk->number);
	const struct found_mapping *found;
	enum mapping_outcome outcome = MAPPING_NONE;
	enum unwind_end end = UNWIND_CHANGING;

	if (!scratch)
		return UNWIND_UNREADABLE;
	found = &scratch->search.found;
	for (int i = 0; i < MAPPING_LOOKS && end == UNWIND_CHANGING; i++) {
		if (i)
			walk->root = mapping__root(walk->mm);
		outcome = find_mapping(walk->number, address);
		end = modules__end(outcome, &scratch->search);
	}
	if (end != UNWIND_GOES_ON)
		return end;
	walk->mapping.start = found->start;
	walk->mapping.end = found->end;
	walk->mapping.base = found->start - found->offset;
	walk->mapping.module =
		outcome == MAPPING_OF_FILE ? modules__of_file(&found->file) : UNWIND_NO_MODULE;
	if (config.tell_bases && walk->mapping.module < UNWIND_MODULES)
		modules__note_base(scratch);
	/* What is not known now may be by the next walk. */
	if (walk->mapping.module != UNWIND_UNKNOWN_MODULE)
		walk->recent[walk->nr_recent++ % RECENT_MAPPINGS] = walk->mapping;
	return UNWIND_GOES_ON;
}

/* What identify_mapping() has found. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mapped_file);
} identified SEC(".maps");

/*
 * Which file the running process has mapped at the address that is the argument: user space runs it
 * (BPF_PROG_TEST_RUN), to tell files apart as walks do. Returns an enum mapping_outcome.
 */
SEC("?raw_tp")
int identify_mapping(struct bpf_raw_tracepoint_args *ctx)
{
	enum mapping_outcome outcome = MAPPING_UNREADABLE;
	struct scratch *scratch = scratch__claim(0);
	__u32 key = 0;

	if (!scratch)
		return outcome;
	begin_in_mappings(scratch->number);
	outcome = find_mapping(scratch->number, ctx->args[0]);
	if (outcome == MAPPING_OF_FILE)
		(void)map_update(&identified, &key, &scratch->search.found.file, BPF_ANY);
	scratch__release(scratch);
	return outcome;
}

#endif
