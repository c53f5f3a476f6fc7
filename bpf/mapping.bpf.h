/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where an address of a process lies: its mapping, and which file that is of, from the kernel's own
 * tree of mappings, which is read without a lock.
 *
 * Trees: red-black before 6.1 (mm/mmap.c: find_vma()), then a maple tree, whose nodes have had the
 * same shape from 6.1 to 7.2 (include/linux/maple_tree.h). Programs run in an RCU section, so a
 * node that is replaced meanwhile keeps what it had. Under a thread that maps or unmaps, a look-up
 * can miss a mapping next to the changed one: changing says that somebody was about to. Under one
 * that splits that very mapping, start and offset can be of before and after. Then a second look
 * finds others, or the tree, which is changed later, has another start or end; a red-black tree has
 * none.
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

/* Bits of vm_flags (include/linux/mm.h). */
#define VMA_EXEC    4
#define VMA_HUGETLB 0x400000

/* Of i_mode (include/uapi/linux/stat.h). */
#define INODE_TYPE    0170000
#define INODE_REGULAR 0100000

_Static_assert(MAPLE_NODE_WORDS * sizeof(__u64) == MAPPING_STRUCT_BYTES, "both are read there");

/* The memory of a look-up. */
struct mapping_search {
	__u64 words[MAPLE_NODE_WORDS];
	__u64 first, last; /* the addresses of the mapping, by the tree; 0, 0: it does not tell */
	__u64 opened;	   /* the file: its struct file */
	__u64 sb;	   /* the file system of the last: its struct super_block, or 0 */
	__u64 vma;
	struct found_mapping found;
	struct mapped_file at_any_time; /* for number_file() */
	__u32 changing; /* nothing was found, and somebody holds the lock of the mappings to write
			 */
	__u32 reserved;
};

static __always_inline __u64 mapping__word(const struct mapping_search *search, __u32 offset)
{
	return *(const __u64 *)((const char *)search->words + offset);
}

static __always_inline __u32 mapping__half(const struct mapping_search *search, __u32 offset)
{
	return *(const __u32 *)((const char *)search->words + offset);
}

/* Keep the compiler from seeing what is in value: it makes branches of what it understands. */
static __always_inline __u64 mapping__hide(__u64 value)
{
	asm volatile("" : "+r"(value));
	return value;
}

/* 1 if value is not 0. */
static __always_inline __u64 mapping__is_set(__u64 value)
{
	return (value | mapping__hide(-value)) >> 63;
}

/* All bits if value is not 0. */
static __always_inline __u64 mapping__mask(__u64 value)
{
	return mapping__hide(-mapping__is_set(value));
}

/* 1 if 0 < pivot < address, which is below 2^63. */
static __always_inline __u64 mapping__is_below(__u64 pivot, __u64 address)
{
	return ((pivot - address) & ~pivot & (pivot | -pivot)) >> 63;
}

/* value if mask has all bits, else otherwise. */
static __always_inline __u64 mapping__choose(__u64 mask, __u64 value, __u64 otherwise)
{
	return (value & mask) | (otherwise & ~mask);
}

/*
 * How many of the first pivots of a node are below the address: they ascend, and behind the last
 * are zeros.
 */
static __always_inline __u64 mapping__nr_below(const struct mapping_search *search, __u64 pivots,
					       __u64 address)
{
	__u64 nr = 0;

	/* pivots is 2 to the power of 4, less 1, or less than that. */
	for (__u64 step = (MAPLE_PIVOTS + 1) / 2; step; step /= 2) {
		__u64 at = mapping__hide(nr + step), is_pivot = (at - pivots - 1) >> 63;

		nr += step &
		      -(mapping__is_below(search->words[at & MAPLE_PIVOTS], address) & is_pivot);
	}
	return nr;
}

/*
 * The entry of the maple tree for an address: a mapping, or something that is no address. A pivot
 * is the last address of the slot with its number; behind the last pivot that is not 0 all that is
 * left is one slot's.
 */
static __always_inline __u64 mapping__from_maple(struct mapping_search *search, __u64 root,
						 __u64 address)
{
	__u64 entry = root;

	search->first = 0;
	search->last = -1;
	for (int level = 0; level < MAPLE_LEVELS; level++) {
		__u64 type = entry >> 3 & 0xf, index, pivots, has_pivot, pivot;

		if (!IS_KERNEL(entry) || bpf_probe_read_kernel(search->words, sizeof(search->words),
							       (const void *)(entry & ~0xffULL)))
			return 0;
		/* The same for all types but one */
		pivots = MAPLE_PIVOTS - MAPLE_PIVOTS_LESS +
			 MAPLE_PIVOTS_LESS * mapping__is_set(type ^ MAPLE_ARANGE);
		index = mapping__hide(mapping__nr_below(search, pivots, address)) & MAPLE_PIVOTS;
		search->first = mapping__choose(mapping__mask(index), search->words[index] + 1,
						search->first);
		pivot = search->words[1 + index];
		has_pivot = -(mapping__hide(index - pivots) >> 63) & mapping__mask(pivot);
		search->last = mapping__choose(has_pivot, pivot, search->last);
		entry = search->words[mapping__hide(1 + pivots + index) % MAPLE_NODE_WORDS];
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

	search->first = search->last = 0;
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

/* bytes: a setting, which the verifier knows. */
static __always_inline bool mapping__read_struct(struct mapping_search *search, __u64 address,
						 __u32 bytes)
{
	return bytes <= sizeof(search->words) &&
	       !bpf_probe_read_kernel(search->words, bytes, (const void *)address);
}

/* What is no regular file, as /dev/zero, is no program. */
static __always_inline enum mapping_outcome mapping__find_file(struct mapping_search *search,
							       __u64 file)
{
	struct mapped_file *identity = &search->found.file;
	__u64 inode = read_pointer(file + config.mapping.file_inode), sb;

	search->opened = file;
	if (!mapping__read_struct(search, inode + config.mapping.inode_first,
				  config.mapping.inode_bytes))
		return MAPPING_UNREADABLE;
	if ((mapping__word(search, config.mapping.inode_mode) & INODE_TYPE) != INODE_REGULAR)
		return MAPPING_ANONYMOUS;
	identity->inode = mapping__word(search, config.mapping.inode_ino);
	identity->size = mapping__word(search, config.mapping.inode_size);
	identity->ctime = mapping__word(search, config.mapping.inode_ctime_sec);
	/* From 6.13 on the uppermost bit says that somebody has asked for the time. */
	identity->ctime_nsec =
		(__u32)mapping__word(search, config.mapping.inode_ctime_nsec) & 0x7fffffff;
	if (config.mapping.inode_generation < config.mapping.inode_bytes)
		identity->generation = mapping__half(search, config.mapping.inode_generation);
	else
		identity->generation = read_u32(inode + (__u32)(config.mapping.inode_first +
								config.mapping.inode_generation));
	sb = mapping__word(search, config.mapping.inode_sb);
	if (sb != search->sb)
		identity->device = read_u32(sb + config.mapping.sb_dev);
	search->sb = sb;
	return MAPPING_OF_FILE;
}

/* True if somebody holds the lock of the mappings to write (RWSEM_WRITER_LOCKED). */
static __always_inline __u32 mapping__is_locked(__u64 mm)
{
	return read_u32(mm + config.mapping.mm_lock) & 1;
}

/*
 * True if what has been read of a mapping may be of before and after a change: the kernel also uses
 * the memory of one that is gone for another one at once (from 6.15 on).
 */
static __always_inline bool mapping__is_torn(const struct mapping_search *search, __u64 vma)
{
	const struct found_mapping *found = &search->found;

	if (search->last && (found->start != search->first || found->end != search->last + 1))
		return true;
	return read_pointer(vma + config.mapping.vma_start) != found->start ||
	       read_pointer(vma + config.mapping.vma_pgoff) << config.mapping.page_shift !=
		       found->offset;
}

static __always_inline enum mapping_outcome mapping__read(struct mapping_search *search, __u64 mm,
							  __u64 address)
{
	struct found_mapping *found = &search->found;
	__u64 vma = search->vma, file, flags;

	if (!IS_KERNEL(vma))
		return MAPPING_NONE;
	if (!mapping__read_struct(search, vma, config.mapping.vma_bytes))
		return MAPPING_UNREADABLE;
	found->start = mapping__word(search, config.mapping.vma_start);
	found->end = mapping__word(search, config.mapping.vma_end);
	found->offset = mapping__word(search, config.mapping.vma_pgoff)
			<< config.mapping.page_shift;
	flags = mapping__word(search, config.mapping.vma_flags);
	found->executable = flags & VMA_EXEC;
	/* Huge pages, not of THP, have a file always; but nobody can write a program to it. */
	file = flags & VMA_HUGETLB ? 0 : mapping__word(search, config.mapping.vma_file);
	if (mapping__is_torn(search, vma))
		return MAPPING_TORN;
	if (address < found->start || address >= found->end)
		return MAPPING_NONE;
	if (file)
		return mapping__find_file(search, file);
	/* The vDSO has no file, but one image for all processes; 32-bit ones have another one. */
	if (found->start != read_pointer(mm + config.mapping.mm_vdso) || found->start >> 32 == 0)
		return MAPPING_ANONYMOUS;
	found->offset = 0;
	search->opened = 0;
	search->sb = 0;
	__builtin_memset(&found->file, 0, sizeof(found->file));
	return MAPPING_OF_FILE;
}

/* Of the process with this struct mm_struct; a walk reads it once. */
static __always_inline __u64 mapping__root(__u64 mm)
{
	return read_pointer(mm + config.mapping.mm_tree);
}

/* Set search->vma to the mapping of an address, by the root of all; 0: there is none. */
static __always_inline void mapping__find_vma(struct mapping_search *search, __u64 root,
					      __u64 address)
{
	if (IS_KERNEL(address))
		search->vma = 0;
	else if (config.mapping.vma_rb == NO_OFFSET)
		search->vma = mapping__from_maple(search, root, address);
	else
		search->vma = mapping__from_rb(search, root, address);
}

/*
 * Behind that: read where the address of the process with this struct mm_struct lies. found is only
 * filled as far as the outcome says.
 */
static __always_inline enum mapping_outcome mapping__find(struct mapping_search *search, __u64 mm,
							  __u64 address)
{
	enum mapping_outcome outcome = mapping__read(search, mm, address);

	search->changing = outcome == MAPPING_NONE && IS_KERNEL(mm) && mapping__is_locked(mm);
	return outcome;
}

#endif
