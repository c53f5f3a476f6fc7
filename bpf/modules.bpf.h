/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which mapping a walk is in, and which module that is of: by the kernel's mappings, when the walk
 * comes there. A slot remembers the last few, as long as the process has changed none.
 */
#ifndef TRACEKIT_BPF_MODULES_H
#define TRACEKIT_BPF_MODULES_H

#include "ask.bpf.h"
#include "common.bpf.h"
#include "compat.bpf.h"
#include "config.bpf.h"
#include "insert.bpf.h"
#include "mapping.bpf.h"
#include "scratch.bpf.h"
#include "tables.bpf.h"
#include "user_probes.bpf.h"

/* A mapping that is being changed is looked up again: it takes its thread less time. */
#define MAPPING_LOOKS 3

/*
 * A file that is written to while it is mapped is another one from then on, which no number of mm
 * tells: so it is looked up again after so many walks.
 */
#define WALKS_MOST 256

#define NUMBER_TRIES 4

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

/* True if user space has forgotten bases since the last walk: they are noted again. */
static __always_inline bool modules__have_forgotten_bases(struct walk *walk)
{
	const struct unwind_numbers *numbers;
	__u32 key = 0;
	__u64 before = walk->bases_version;

	if (!config.tell_bases)
		return false;
	numbers = bpf_map_lookup_elem(&unwind_numbers, &key);
	if (!numbers)
		return false;
	walk->bases_version = READ_ONCE(numbers->bases_version);
	return walk->bases_version != before;
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

	if (!scratch || !config.find_files)
		return 0;
	mm = current_mm();
	walk = &scratch->walk;
	scratch->search.sb = 0;
	walk->now = unwind_age(bpf_ktime_get_ns());
	if (modules__are_same(walk, mm) && !modules__have_forgotten_bases(walk))
		return 0;
	walk->mm = mm;
	walk->root = mapping__root(mm);
	walk->trampoline = user_probes__trampoline(mm);
	walk->nr_walks = walk->nr_recent = 0;
	for (int i = 0; i < RECENT_MAPPINGS; i++)
		walk->recent[i].end = walk->recent[i].start = 0;
	return 0;
}

/* Two global functions, for their stack. */
__noinline int find_vma(__u32 number, __u64 address)
{
	struct scratch *scratch = scratch__find(number);

	if (scratch && config.find_files)
		mapping__find_vma(&scratch->search, scratch->walk.root, address);
	return 0;
}

/* Returns an enum mapping_outcome. */
__noinline int find_mapping(__u32 number, __u64 address)
{
	struct scratch *scratch = scratch__find(number);

	if (!scratch || !config.find_files)
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

/*
 * A number that nobody else has, or UNWIND_UNKNOWN_MODULE. It is claimed as slots are, see
 * scratch.bpf.h: who reads 1 after an addition has it. Two that race can both go on to the next.
 */
static __always_inline __u32 modules__new_number(void)
{
	__u32 key = 0;
	struct unwind_numbers *numbers = bpf_map_lookup_elem(&unwind_numbers, &key);

	for (int i = 0; i < NUMBER_TRIES && numbers; i++) {
		__u32 number = READ_ONCE(numbers->next);
		__u32 age = unwind_age(bpf_ktime_get_ns()) - numbers->since;
		struct unwind_module *module;

		if (number >= UNWIND_NUMBERS_FIRST + age)
			break;
		module = bpf_map_lookup_elem(&unwind_modules, &number);
		if (!module)
			break;
		numbers->next = number + 1;
		__sync_fetch_and_add(&module->claims, 1);
		if (READ_ONCE(module->claims) == 1)
			return number;
	}
	return UNWIND_UNKNOWN_MODULE;
}

/*
 * Number the file that the slot has looked up last, unless it is known to be no program; a global
 * function, as those of scratch.bpf.h.
 */
__noinline int number_file(__u32 slot)
{
	struct scratch *scratch = scratch__find(slot);
	const struct mapped_file *file;
	const __u32 *known;
	__u32 number;

	if (!scratch || !config.find_files)
		return (int)UNWIND_UNKNOWN_MODULE;
	file = &scratch->search.found.file;
	mapped_file__set_at_any_time(&scratch->search.at_any_time, file);
	known = bpf_map_lookup_elem(&unwind_files, &scratch->search.at_any_time);
	if (known)
		return (int)*known;
	number = modules__new_number();
	if (number == UNWIND_UNKNOWN_MODULE)
		return (int)number;
	number += UNWIND_UNHEARD;
	if (!map_insert(&unwind_files, FILLABLE_FILES, file, &number))
		return (int)number;
	/* Another CPU was faster, or there is no room. */
	known = bpf_map_lookup_elem(&unwind_files, file);
	return known ? (int)*known : (int)UNWIND_UNKNOWN_MODULE;
}

/* Set the module of walk->mapping: the file that has been looked up last. */
static __always_inline void modules__set_module(struct walk *walk, const struct mapped_file *file)
{
	const __u32 *known = bpf_map_lookup_elem(&unwind_files, file);
	__u32 number = known ? *known : (__u32)number_file(walk->number);

	walk->mapping.unheard = !known;
	if (unwind_number__is_unheard(number)) {
		number -= UNWIND_UNHEARD;
		walk->mapping.unheard = 1;
	}
	walk->mapping.module = number;
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

/* Note where the program has its module, if that is not known; as number_file(). */
__noinline int note_base(__u32 slot)
{
	struct scratch *scratch = scratch__find(slot);
	struct unwind_numbers *numbers;
	struct base_key key = {0};
	const __u64 *known;
	__u32 first = 0;

	if (!scratch || !config.tell_bases)
		return 0;
	key.program = scratch->walk.program;
	key.tgid = scratch->walk.tgid;
	key.module = scratch->walk.mapping.module;
	known = bpf_map_lookup_elem(&unwind_bases, &key);
	if (known && *known == scratch->walk.mapping.base)
		return 0;
	if (known) {
		(void)map_update(&unwind_bases, &key, &scratch->walk.mapping.base, BPF_ANY);
		return 0;
	}
	/* Without room the address is not shown. */
	if (map_insert(&unwind_bases, FILLABLE_BASES, &key, &scratch->walk.mapping.base))
		return 0;
	numbers = bpf_map_lookup_elem(&unwind_numbers, &first);
	if (numbers)
		__sync_fetch_and_add(&numbers->nr_bases, 1);
	return 0;
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
	walk->mapping.module = UNWIND_NO_MODULE;
	walk->mapping.unheard = 0;
	if (outcome == MAPPING_OF_FILE)
		modules__set_module(walk, &found->file);
	if (walk->mapping.module == UNWIND_NO_MODULE && config.find_files) {
		ask_for_map(walk->number);
		/* It has been written to, and may have become a program. */
		if (walk->mapping.unheard)
			ask_for_tables(walk->number);
	}
	if (config.tell_bases && walk->mapping.module < UNWIND_MODULES)
		note_base(walk->number);
	/* Whoever asks has to say which file it is. */
	if (!walk->mapping.unheard)
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
	struct scratch *scratch = scratch__claim(0, 0);
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
