// SPDX-License-Identifier: GPL-2.0-or-later
#include "bpf/host/walker.h"

#include <string.h>

/* In the place of config.bpf.h: it is set for each walk. */
#define TRACEKIT_BPF_CONFIG_H
#include "bpf/common.bpf.h"

static struct trace_config config;

#include "bpf/unwind.bpf.h"

/* ---- a small kernel ---- */

/* Its structs lie one behind the other from there on. */
#define KERNEL_START 0xffff800000000000ULL

/* Each mapping has a file of its own, whose inode tells the module. */
struct small_mapping {
	struct {
		__u64 start, end, page, file, flags;
		__u64 parent, right, left; /* struct rb_node */
		__u64 padding[4];	   /* what is read with it */
	} vma;
	struct {
		__u64 inode;
	} file;
	struct {
		__u64 mode, sb, number, size, seconds, nanoseconds, generation;
	} inode;
};

static struct small_kernel {
	__u64 mm; /* of the only task */
	struct {
		__u64 tree, lock, vdso, start_stack;
	} task_mm;
	__u64 device;
	struct small_mapping mappings[WALKER_MAPPINGS_MAX];
} kernel;

#define KERNEL_ADDRESS(field) (KERNEL_START + offsetof(struct small_kernel, field))
#define KERNEL_OFFSET(field)  offsetof(struct small_mapping, field)

static __u64 mapping_address(size_t i)
{
	return KERNEL_ADDRESS(mappings) + i * sizeof(struct small_mapping);
}

static __u64 node_address(size_t i)
{
	return mapping_address(i) + KERNEL_OFFSET(vma.parent);
}

static void put_mapping(const struct walker_mapping *mapping, size_t i)
{
	struct small_mapping *put = &kernel.mappings[i];
	__u64 address = mapping_address(i);

	*put = (struct small_mapping){
		.vma = {.start = mapping->start,
			.end = mapping->end,
			.page = mapping->offset >> 12,
			.flags = mapping->executable ? VMA_EXEC : 0},
		.inode = {.mode = INODE_REGULAR,
			  .sb = KERNEL_ADDRESS(device),
			  .number = mapping->module + 1ULL},
	};
	if (mapping->module == UNWIND_NO_MODULE)
		return;
	put->vma.file = address + KERNEL_OFFSET(file);
	put->file.inode = address + KERNEL_OFFSET(inode);
}

/* The root of a balanced tree of the mappings from first on, up to end; 0: there is none. */
static __u64 make_tree(size_t first, size_t end)
{
	size_t middle = first + (end - first) / 2;

	if (first == end)
		return 0;
	kernel.mappings[middle].vma.left = make_tree(first, middle);
	kernel.mappings[middle].vma.right = make_tree(middle + 1, end);
	return node_address(middle);
}

static void make_kernel(const struct walker *walker)
{
	size_t nr = walker->nr_mappings < WALKER_MAPPINGS_MAX ? walker->nr_mappings :
								WALKER_MAPPINGS_MAX;

	for (size_t i = 0; i < nr; i++)
		put_mapping(&walker->mappings[i], i);
	kernel.mm = KERNEL_ADDRESS(task_mm);
	kernel.task_mm.tree = make_tree(0, nr);
	kernel.task_mm.start_stack = walker->start_stack;
}

static void configure(const struct walker *walker)
{
	config = (struct trace_config){
		.max_depth = walker->max_depth,
		.max_user_depth = walker->max_depth,
		.cpus = 1,
		.user_stacks = true,
		.unwind_tables = true,
		.frame_pointers = walker->frame_pointers,
		.find_files = true,
		.address_bits = walker->address_bits ? walker->address_bits : 48,
		.mapping =
			{
				.mm_tree = offsetof(struct small_kernel, task_mm.tree) -
					   offsetof(struct small_kernel, task_mm),
				.mm_lock = 8,
				.mm_vdso = 16,
				.mm_start_stack = 24,
				.mm_seq = NO_OFFSET,
				.vma_start = KERNEL_OFFSET(vma.start),
				.vma_end = KERNEL_OFFSET(vma.end),
				.vma_pgoff = KERNEL_OFFSET(vma.page),
				.vma_file = KERNEL_OFFSET(vma.file),
				.vma_flags = KERNEL_OFFSET(vma.flags),
				.vma_rb = KERNEL_OFFSET(vma.parent),
				.vma_bytes = KERNEL_OFFSET(vma.padding),
				.inode_bytes = sizeof(kernel.mappings[0].inode),
				.inode_sb = 8,
				.inode_ino = 16,
				.inode_size = 24,
				.inode_ctime_sec = 32,
				.inode_ctime_nsec = 40,
				.inode_generation = 48,
				.page_shift = 12,
				.mm_xol_area = NO_OFFSET,
			},
	};
}

/* ---- helpers ---- */

static const struct walker *walking;

long bpf_probe_read_user(void *to, __u32 size, const void *address)
{
	if (walking->read(walking->context, (__u64)address, to, size))
		return 0;
	memset(to, 0, size);
	return -EFAULT;
}

long bpf_probe_read_kernel(void *to, __u32 size, const void *address)
{
	__u64 offset = (__u64)address - KERNEL_START;

	if (offset < sizeof(kernel) && size <= sizeof(kernel) - offset) {
		memcpy(to, (const char *)&kernel + offset, size);
		return 0;
	}
	memset(to, 0, size);
	return -EFAULT;
}

__u64 bpf_get_current_task(void)
{
	return KERNEL_ADDRESS(mm);
}

__u64 bpf_ktime_get_ns(void)
{
	return 0;
}

static struct scratch slot;
static struct event_counters counters;

/* What stands for the map of shards with that number. */
static char shard_maps[UNWIND_SHARD_MAPS];

static void *look_up_shard(const char *map, __u32 index)
{
	if (index > 0xffff)
		return NULL;
	return (void *)walking->shard(walking->shards,
				      unwind_shard((__u32)(map - shard_maps), index));
}

static void *look_up_file(const struct mapped_file *file)
{
	static __u32 module;

	module = (__u32)(file->inode - 1);
	return file->at_any_time ? NULL : &module;
}

/* A copy: walks note in it when they have used it. */
static void *look_up_module(__u32 number)
{
	static struct unwind_module module;

	if (number >= walking->nr_modules)
		return NULL;
	module = walking->modules[number];
	return &module;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	__u32 number = *(const __u32 *)key;

	if (map == &scratch_slots)
		return number ? NULL : &slot;
	if (map == &event_counters)
		return &counters;
	if (map == &unwind_files)
		return look_up_file(key);
	if (map == &unwind_modules)
		return look_up_module(number);
	if (map == &unwind_pages)
		return number < walking->nr_pages ? (void *)&walking->pages[number] : NULL;
	if (map == &unwind_rules)
		return number < walking->nr_rules ? (void *)&walking->rules[number] : NULL;
	if (map == &unwind_shards)
		return number < UNWIND_SHARD_MAPS ? &shard_maps[number] : NULL;
	if ((char *)map >= shard_maps && (char *)map < shard_maps + UNWIND_SHARD_MAPS)
		return look_up_shard(map, number);
	return NULL;
}

/* ---- a walk ---- */

static enum unwind_end end_of_walk(void)
{
	enum unwind_end end = UNWIND_GOES_ON;

	for (__u32 i = 0; i < NR_UNWIND_ENDS; i++)
		if (counters.walks[i])
			end = (enum unwind_end)i;
	return end;
}

static enum walker_way way_of(const struct walk *walk, enum unwind_end end)
{
	if (walk->rule > UNWIND_UNSUPPORTED)
		return WALKER_BY_RULE;
	if (end != UNWIND_GOES_ON)
		return WALKER_AT_ROOT;
	if (walk->by_frame_pointer)
		return WALKER_BY_FRAME_POINTER;
	return walk->exact ? WALKER_BY_SIGNAL : WALKER_BY_CALL;
}

static void tell_step(const struct walker *walker, uint64_t pc, __u32 i, enum unwind_end end)
{
	const struct walk *walk = &slot.walk;
	struct walker_step step = {
		.pc = pc,
		.frame = slot.stack.frames[i - 1],
		.way = way_of(walk, end),
		.end = end,
		.stack_pointer = walk->registers[DWARF_STACK_POINTER],
		.frame_pointer = walk->registers[DWARF_FRAME_POINTER],
		.knows_frame_pointer = walk->valid >> DWARF_FRAME_POINTER & 1,
	};

	if (step.way == WALKER_BY_RULE && walk->rule < walker->nr_rules)
		step.rule = &walker->rules[walk->rule];
	walker->take_step(walker->context, &step);
}

/* walk_stack(), one step at a time. */
static void walk_stepwise(const struct walker *walker)
{
	enum unwind_end end = UNWIND_GOES_ON;

	unwind__begin(&slot);
	for (__u32 i = 1; i < STACK_SLOTS && end == UNWIND_GOES_ON; i++) {
		uint64_t pc = slot.walk.pc;

		end = (enum unwind_end)walk_step(slot.number, i);
		tell_step(walker, pc, i, end);
	}
	end_walk(slot.number, end);
}

_Static_assert(DWARF_REGISTERS <= WALKER_REGISTERS, "there is room for all of them");

struct walker_start walker__start(const walker_regs *regs)
{
	struct walker_start start = {.pc = user_regs__pc(regs),
				     .exact = !user_regs__in_system_call(regs, NULL)};

	user_regs__to_dwarf(regs, (__u64 *)start.registers);
	return start;
}

enum unwind_end walker__walk(const struct walker *walker, const struct walker_start *start,
			     uint64_t frames[STACK_SLOTS], uint32_t *nr)
{
	walking = walker;
	configure(walker);
	make_kernel(walker);
	memset(&slot, 0, sizeof(slot));
	memset(&counters, 0, sizeof(counters));
	slot.walk.program = walker->start_stack;
	memcpy(slot.walk.registers, start->registers, sizeof(slot.walk.registers));
	slot.walk.pc = start->pc;
	slot.walk.exact = start->exact;
	slot.walk.at_entry = start->at_entry;
	slot.walk.start.is_called = start->is_called;
	if (walker->take_step)
		walk_stepwise(walker);
	else
		unwind__from_registers(&slot);
	*nr = slot.stack.nr;
	memcpy(frames, slot.stack.frames, *nr * sizeof(*frames));
	return end_of_walk();
}
