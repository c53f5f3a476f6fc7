/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an address of a process lies: its mapping, and which file that is of, from the kernel's own
 * tree of mappings, which is read without a lock.
 *
 * Trees: red-black before 6.1 (mm/mmap.c: find_vma()), then a maple tree, whose nodes have had the
 * same shape from 6.1 to 7.2 (include/linux/maple_tree.h). Programs run in an RCU section, so a
 * node that is replaced meanwhile keeps what it had. Under a thread that maps or unmaps, a look-up
 * can miss a mapping next to the changed one; under one that splits that very mapping, start and
 * offset can be of before and after. changing says that somebody was about to.
 *
 * Comparisons have no branches: with them the verifier does not come to an end.
 */
#ifndef TRACEKIT_BPF_MAPPING_H
#define TRACEKIT_BPF_MAPPING_H

#include "common.bpf.h"
#include "config.bpf.h"
#include "task.bpf.h"

/* A node of a maple tree, by its type; in words: its parent, pivots, slots. */
#define MAPLE_NODE_WORDS  32
#define MAPLE_LEAF	  1 /* this type, and 0, have entries in their slots */
#define MAPLE_ARANGE	  3 /* has also gaps, so fewer of the others */
#define MAPLE_PIVOTS	  15
#define MAPLE_PIVOTS_LESS 6 /* in those */

/* A tree of more levels has more mappings than the kernel allows. */
#define MAPLE_LEVELS 8
#define RB_LEVELS    40

/* What is not an address of the kernel is no node and no mapping. */
#define IS_KERNEL(address) ((__s64)(address) < 0)

_Static_assert(MAPLE_NODE_WORDS * sizeof(__u64) == MAPPING_STRUCT_BYTES, "both are read there");

/* The memory of a look-up. */
struct mapping_search {
	__u64 words[MAPLE_NODE_WORDS];
	struct found_mapping found;
	__u32 changing; /* somebody held the lock of the mappings to write */
	__u32 reserved;
};

static __always_inline __u64 mapping__word(const struct mapping_search *search, __u32 offset)
{
	return *(const __u64 *)((const char *)search->words + offset);
}

/* 1 if 0 < pivot < address, which is below 2^63. */
static __always_inline __u64 mapping__is_below(__u64 pivot, __u64 address)
{
	return ((pivot - address) & ~pivot & (pivot | -pivot)) >> 63;
}

/* The entry of the maple tree for an address: a mapping, or something that is no address. */
static __always_inline __u64 mapping__from_maple(struct mapping_search *search, __u64 root,
						 __u64 address)
{
	__u64 entry = root;

	for (int level = 0; level < MAPLE_LEVELS; level++) {
		__u64 type = entry >> 3 & 0xf, other = type ^ MAPLE_ARANGE, index = 0, less;

		if (!IS_KERNEL(entry) || bpf_probe_read_kernel(search->words, sizeof(search->words),
							       (const void *)(entry & ~0xffULL)))
			return 0;
		/* 0 for all types but one */
		less = MAPLE_PIVOTS_LESS * (1 - ((other | -other) >> 63));
		for (__u64 i = 0; i < MAPLE_PIVOTS; i++) {
			__u64 is_pivot = (i + less - MAPLE_PIVOTS) >> 63;

			index += mapping__is_below(search->words[1 + i], address) & is_pivot;
		}
		entry = search->words[(1 + MAPLE_PIVOTS - less + index) % MAPLE_NODE_WORDS];
		if (type <= MAPLE_LEAF)
			return entry;
	}
	return 0;
}

/* The mapping in the red-black tree; 0 if there is none. */
static __always_inline __u64 mapping__from_rb(struct mapping_search *search, __u64 root,
					      __u64 address)
{
	const __u32 rb = config.mapping.vma_rb;
	__u64 node = root;

	for (int level = 0; level < RB_LEVELS; level++) {
		__u64 start, end, left, right, is_left, is_right;

		/* Their fields stand close to each other in these kernels. */
		if (!IS_KERNEL(node) || rb > 64 ||
		    bpf_probe_read_kernel(search->words, 64 + 24, (const void *)(node - rb)))
			return 0;
		start = mapping__word(search, config.mapping.vma_start);
		end = mapping__word(search, config.mapping.vma_end);
		right = mapping__word(search, rb + 8);
		left = mapping__word(search, rb + 16);
		is_left = (address - start) >> 63;
		is_right = 1 - ((address - end) >> 63);
		if (!(is_left | is_right))
			return node - rb;
		node = (left & -is_left) | (right & -(is_right & ~is_left));
	}
	return 0;
}

static __always_inline bool mapping__find_file(struct mapping_search *search, __u64 file)
{
	struct mapped_file *identity = &search->found.file;
	__u64 inode = read_pointer(file + config.mapping.file_inode);

	if (bpf_probe_read_kernel(search->words, sizeof(search->words), (const void *)inode))
		return false;
	identity->inode = mapping__word(search, config.mapping.inode_ino);
	identity->size = mapping__word(search, config.mapping.inode_size);
	identity->ctime = mapping__word(search, config.mapping.inode_ctime_sec);
	/* From 6.13 on the uppermost bit says that somebody has asked for the time. */
	identity->ctime_nsec =
		(__u32)mapping__word(search, config.mapping.inode_ctime_nsec) & 0x7fffffff;
	identity->generation = read_u32(inode + config.mapping.inode_generation);
	identity->device =
		read_u32(mapping__word(search, config.mapping.inode_sb) + config.mapping.sb_dev);
	return true;
}

/* True if somebody holds the lock of the mappings to write (RWSEM_WRITER_LOCKED). */
static __always_inline __u32 mapping__is_locked(__u64 mm)
{
	return read_u32(mm + config.mapping.mm_lock) & 1;
}

static __always_inline enum mapping_outcome mapping__read(struct mapping_search *search, __u64 vma,
							  __u64 address)
{
	struct found_mapping *found = &search->found;
	__u64 file;

	if (!IS_KERNEL(vma))
		return MAPPING_NONE;
	if (bpf_probe_read_kernel(search->words, sizeof(search->words), (const void *)vma))
		return MAPPING_UNREADABLE;
	found->start = mapping__word(search, config.mapping.vma_start);
	found->end = mapping__word(search, config.mapping.vma_end);
	found->offset = mapping__word(search, config.mapping.vma_pgoff)
			<< config.mapping.page_shift;
	if (address < found->start || address >= found->end)
		return MAPPING_NONE;
	file = mapping__word(search, config.mapping.vma_file);
	if (!file)
		return MAPPING_ANONYMOUS;
	return mapping__find_file(search, file) ? MAPPING_OF_FILE : MAPPING_UNREADABLE;
}

/*
 * Find where an address of the process with this struct mm_struct lies. found is only filled as far
 * as the outcome says.
 */
static __always_inline enum mapping_outcome mapping__find(struct mapping_search *search, __u64 mm,
							  __u64 address)
{
	enum mapping_outcome outcome;
	__u64 root, vma;

	search->changing = 0;
	if (!IS_KERNEL(mm) || IS_KERNEL(address))
		return MAPPING_NONE;
	search->changing = mapping__is_locked(mm);
	root = read_pointer(mm + config.mapping.mm_tree);
	vma = config.mapping.vma_rb == NO_OFFSET ? mapping__from_maple(search, root, address) :
						   mapping__from_rb(search, root, address);
	outcome = mapping__read(search, vma, address);
	search->changing |= mapping__is_locked(mm);
	return outcome;
}

#endif
