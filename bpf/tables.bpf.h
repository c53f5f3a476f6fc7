/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables by which user stacks are walked, and how they are searched; unwind_tables.h says
 * what is in them. User space fills them (core/unwind/tables.h), also while programs read them:
 * an element is there before another refers to it, and stays as long as a program can see it.
 */
#ifndef TRACEKIT_BPF_TABLES_H
#define TRACEKIT_BPF_TABLES_H

#include "common.bpf.h"
#include "compat.bpf.h"
#include "filter.bpf.h"
#include "unwind_rule.h"
#include "unwind_search.h"

/* Sizes are set between open and load, to 1 where nothing is walked by tables. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_PROCESSES);
	__type(key, __u32);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

/* The time when a process became another program. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, UNWIND_PROCESSES);
	__type(key, __u32);
	__type(value, __u64);
} unwind_replaced SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_MAPPINGS);
	__type(key, __u32);
	__type(value, struct unwind_mapping);
} unwind_mappings SEC(".maps");

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

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} unwind_requests SEC(".maps");

/* The time of the last request, by a hash of the request. */
#define UNWIND_ASKED 1024

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_ASKED);
	__type(key, __u32);
	__type(value, __u64);
} unwind_asked SEC(".maps");

/*
 * Find the mappings of a process; false if they are not known. User space hears later than we do
 * that the process is another program. A deleted element can be another process's by the time it is
 * read: its tgid says whose it is.
 */
static __always_inline bool find_process(__u32 tgid, struct unwind_process *process)
{
	const struct unwind_process *found = bpf_map_lookup_elem(&unwind_processes, &tgid);
	const __u64 *replaced;

	if (!found)
		return false;
	process->first = READ_ONCE(found->first);
	process->nr = READ_ONCE(found->nr);
	process->since = READ_ONCE(found->since);
	if (READ_ONCE(found->tgid) != tgid)
		return false;
	replaced = bpf_map_lookup_elem(&unwind_replaced, &tgid);
	return !replaced || *replaced < process->since;
}

static __always_inline const struct unwind_mapping *mapping_at(__u32 number)
{
	return bpf_map_lookup_elem(&unwind_mappings, &number);
}

static __always_inline const struct unwind_mapping *
find_mapping(const struct unwind_process *process, __u64 address)
{
	return search_mapping(process, address, mapping_at);
}

/* The number of the rule at an offset in the file of a module that is loaded. */
static __always_inline __u32 find_rule_number(const struct unwind_module *module, __u64 offset)
{
	__u64 page_number = (offset - module->start) >> UNWIND_PAGE_BITS;
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

/*
 * The process is another program from now on: the old program's mappings must not be taken for the
 * new one's, neither those known now nor those that user space, which hears of the exec later, is
 * about to write. A process that ends keeps its mappings: it runs in them to its end.
 */
SEC("?raw_tp/sched_process_exec")
int forget_on_exec(void *ctx __attribute__((unused)))
{
	__u64 now = bpf_ktime_get_ns();
	__u32 tgid, tid;

	if (!current_ids(&tgid, &tid))
		return 0;
	/* A full map forgets the oldest exec, which user space has long known. */
	(void)map_update(&unwind_replaced, &tgid, &now, BPF_ANY);
	bpf_map_delete_elem(&unwind_processes, &tgid);
	return 0;
}

/*
 * Ask user space, but not for the same again within this time (ns): it has to read files. Requests
 * with one hash share this time: a request that was left out is made by a later event.
 */
#define ASK_AGAIN (20 * 1000000ULL)

static __always_inline void ask_for_tables(__u32 tgid, __u32 module)
{
	const struct unwind_request request = {.tgid = tgid, .module = module};
	__u32 slot = (tgid * 31 + module) % UNWIND_ASKED;
	__u64 now = bpf_ktime_get_ns(), *asked = bpf_map_lookup_elem(&unwind_asked, &slot);

	if (!asked || now - *asked < ASK_AGAIN)
		return;
	/* Without room the next event asks. */
	if (!bpf_ringbuf_output(&unwind_requests, (void *)&request, sizeof(request), 0))
		*asked = now;
}

#endif
