/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables by which user stacks are walked, and how they are searched; unwind_tables.h says
 * what is in them. User space fills them (core/unwind/tables.h), also while programs read them:
 * an element is there before another refers to it, and stays as long as a program can see it.
 */
#ifndef TRACEKIT_BPF_TABLES_H
#define TRACEKIT_BPF_TABLES_H

#include "common.bpf.h"
#include "unwind_rule.h"
#include "unwind_search.h"

/* Sizes are set between open and load, to 1 where nothing is walked by tables. */

/*
 * The number of the module of a file, or UNWIND_NO_MODULE. Not one that forgets by itself: walks
 * write it, and may be interrupted anywhere. User space forgets files that no walk is in.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_FILES + UNWIND_NEW);
	__type(key, struct mapped_file);
	__type(value, __u32);
} unwind_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_numbers);
} unwind_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_MODULES);
	__type(key, __u32);
	__type(value, struct unwind_module);
} unwind_modules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_PAGES);
	__type(key, __u32);
	__type(value, struct unwind_page);
} unwind_pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_RULES);
	__type(key, __u32);
	__type(value, struct unwind_rule);
} unwind_rules SEC(".maps");

/*
 * Rules that were found of late, by unwind_place__index(): most frames are callers, and many stacks
 * have the same ones. User space forgets all before a module gets another table.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_RECENT);
	__type(key, __u32);
	__type(value, __u64);
} unwind_recent_rules SEC(".maps");

/* Where programs have their modules, if that is told. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* or UNWIND_BASES */
	__type(key, struct base_key);
	__type(value, __u64);
} unwind_bases SEC(".maps");

/* Each has some struct unwind_shard: see unwind_shard_map(). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_SHARD_MAPS);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(struct unwind_shard));
		});
} unwind_shards SEC(".maps");

/* The number of the rule at an offset in the file of a module that is loaded. */
static __always_inline __u32 find_rule_number(const struct unwind_module *module, __u64 offset)
{
	__u64 page_number = (offset >> UNWIND_PAGE_BITS) - module->start;
	__u32 key = module->first_page + (__u32)page_number;
	const struct unwind_shard *shard;
	const struct unwind_page *page;
	void *map;

	if (page_number >= module->nr_pages)
		return UNWIND_NONE;
	page = bpf_map_lookup_elem(&unwind_pages, &key);
	if (!page)
		return UNWIND_NONE;
	key = unwind_shard_map(page->shard);
	map = bpf_map_lookup_elem(&unwind_shards, &key);
	if (!map)
		return UNWIND_NONE;
	key = unwind_shard_index(page->shard);
	shard = bpf_map_lookup_elem(map, &key);
	if (!shard)
		return UNWIND_NONE;
	return page_rule(shard, page, unwind_low(offset));
}

/* The same number; place: of the offset, where it is remembered, or 0. */
static __always_inline __u32 recall_rule_number(const struct unwind_module *module, __u64 offset,
						__u64 place)
{
	__u32 index = unwind_place__index(place), rule;
	__u64 *recent = bpf_map_lookup_elem(&unwind_recent_rules, &index);
	__u64 known = recent ? READ_ONCE(*recent) : 0;

	if (known && unwind_recent__place(known) == place)
		return unwind_recent__rule(known);
	rule = find_rule_number(module, offset);
	if (recent && place)
		WRITE_ONCE(*recent, unwind_recent(place, rule));
	return rule;
}

#endif
