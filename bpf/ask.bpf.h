/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How walks ask user space for the tables of a file. */
#ifndef TRACEKIT_BPF_ASK_H
#define TRACEKIT_BPF_ASK_H

#include "common.bpf.h"
#include "config.bpf.h"
#include "scratch.bpf.h"
#include "task.bpf.h"
#include "unwind_tables.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 128 * 1024);
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
 * Ask user space, but not for the same again within this time (ns): it has to read files. Requests
 * with one hash share this time: a request that was left out is made by a later event.
 */
#define ASK_AGAIN (20 * 1000000ULL)

/* Programs that generate code do so for long, and few have a map, or put it into a program. */
#define ASK_FOR_MAP_AGAIN (1000 * 1000000ULL)

/* True if it is time to ask, as of now on it is not. */
static __always_inline bool ask__is_due(__u32 hash, __u64 again)
{
	__u32 slot = hash % UNWIND_ASKED;
	__u64 now = bpf_ktime_get_ns(), *asked = bpf_map_lookup_elem(&unwind_asked, &slot);

	if (!asked || now - *asked < again)
		return false;
	*asked = now;
	return true;
}

/* The names of a file that is open in the kernel: its directories' up to the file system's root. */
static __always_inline void ask__put_names(struct unwind_request *request, __u64 file)
{
	__u64 dentry = file ? read_pointer(file + config.mapping.file_dentry) : 0;

	for (__u32 i = 0; i < PLACE_NAMES; i++) {
		__u64 parent = read_pointer(dentry + config.mapping.dentry_parent);
		__u64 name = read_pointer(dentry + config.mapping.dentry_name);
		long length;

		if (!parent)
			return;
		if (parent == dentry) {
			request->nr_names = i;
			return;
		}
		length = bpf_probe_read_kernel_str(request->names[i], PLACE_NAME_MAX,
						   (const void *)name);
		if (length <= 1 || length == PLACE_NAME_MAX)
			return;
		dentry = parent;
	}
}

/* For tables: of a module, of a file, or of one that was no program. */
static __always_inline bool ask__is_due_for(const struct unwind_mapping *mapping,
					    const struct mapped_file *file)
{
	if (mapping->module < UNWIND_MODULES)
		return ask__is_due(mapping->module, ASK_AGAIN);
	if (mapping->module == UNWIND_NO_MODULE)
		return ask__is_due((__u32)file->inode * 31, ASK_FOR_MAP_AGAIN);
	return ask__is_due((__u32)file->inode * 31 + (__u32)file->size, ASK_AGAIN);
}

/*
 * Ask for the tables of the file that was looked up last, or of a module, in which the walk of that
 * slot is; a global function, as those of scratch.bpf.h. Without room in the ring a later event
 * asks.
 */
__noinline int ask_for_tables(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	const struct unwind_mapping *mapping;
	struct unwind_request *request;
	const struct mapped_file *file;

	if (!scratch || !config.find_files)
		return 0;
	mapping = &scratch->walk.mapping;
	file = &scratch->search.found.file;
	if (!ask__is_due_for(mapping, file))
		return 0;
	request = bpf_ringbuf_reserve(&unwind_requests, sizeof(*request), 0);
	if (!request)
		return 0;
	request->tgid = scratch->walk.tgid;
	request->program = 0;
	request->module = mapping->module;
	request->start = mapping->start;
	request->end = mapping->end;
	request->file = *file;
	request->unheard = mapping->unheard;
	request->nr_names = 0;
	if (mapping->unheard)
		ask__put_names(request, scratch->search.opened);
	bpf_ringbuf_submit(request, 0);
	return 0;
}

/* Ask for the JIT map of the program of that slot. A global function, as above. */
__noinline int ask_for_map(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	struct unwind_request *request;

	if (!scratch || !config.find_files)
		return 0;
	if (!ask__is_due((__u32)(scratch->walk.program >> 4) * 31 + scratch->walk.tgid,
			 ASK_FOR_MAP_AGAIN))
		return 0;
	request = bpf_ringbuf_reserve(&unwind_requests, sizeof(*request), 0);
	if (!request)
		return 0;
	request->tgid = scratch->walk.tgid;
	request->module = UNWIND_NO_MODULE;
	request->program = scratch->walk.program;
	request->unheard = request->nr_names = 0;
	bpf_ringbuf_submit(request, 0);
	return 0;
}

#endif
