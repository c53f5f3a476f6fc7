/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables by which user stacks are walked.
 *
 * A module, which is one file for all processes, has pages of 64 KB of the file; a page has rows,
 * each of which says from which offset on which rule holds; and a rule leads to the caller.
 */
#ifndef TRACEKIT_BPF_UNWIND_TABLES_H
#define TRACEKIT_BPF_UNWIND_TABLES_H

#include <linux/types.h>

#include "abi.h"

#define UNWIND_MODULES 65536 /* of one trace */
#define UNWIND_FILES   16384 /* that are known at a time */
#define UNWIND_NEW     2048  /* files that walks have numbered, beside these */
#define UNWIND_BASES   32768
#define UNWIND_PAGES   65536
#define UNWIND_RULES   16384
#define UNWIND_RECENT  4096 /* places whose rules are remembered */

_Static_assert(UNWIND_MODULES <= 1 << (FRAME_TAG_SHIFT - FRAME_MODULE_SHIFT), "frames have them");

/* The most mappings of one process that are looked at. */
#define UNWIND_MAPPINGS_MAX 4096

/* Where a walk is. */
struct unwind_mapping {
	__u64 start, end;
	__u64 base;    /* from an offset in the file to an address in the process */
	__u32 module;  /* or one of the two below */
	__u32 unheard; /* user space may not know it yet */
};

/* There is no file, or no kind of file that can be read: callers are found by frame pointers. */
#define UNWIND_NO_MODULE ((__u32)-1)
/* The file has no number yet. */
#define UNWIND_UNKNOWN_MODULE ((__u32)-2)

/*
 * Walks number files when they come to them, so that each frame in a file says in which. Until user
 * space has heard of it, this is added to the number in unwind_files.
 */
#define UNWIND_UNHEARD UNWIND_MODULES

static inline int unwind_number__is_unheard(__u32 number)
{
	return number - UNWIND_UNHEARD < UNWIND_MODULES;
}

/*
 * Walks give NUMBERS_FIRST numbers, and one more in each step of unwind_age(), so that nobody who
 * makes files all the time soon leaves none to others. Files beyond that are numbered by user
 * space, which opens each of them before.
 */
#define UNWIND_NUMBERS_FIRST 8192

struct unwind_numbers {
	__u32 next;	     /* may be taken */
	__u32 since;	     /* the begin of the trace, by unwind_age() */
	__u32 nr_bases;	     /* in unwind_bases */
	__u32 bases_version; /* another one when they have been forgotten */
};

enum unwind_module_state {
	UNWIND_MODULE_WANTED, /* nobody has needed it yet */
	UNWIND_MODULE_LOADED,
	UNWIND_MODULE_EMPTY,   /* there is no information in it */
	UNWIND_MODULE_DELAYED, /* it could not be read, or had no room; perhaps later */
	UNWIND_MODULE_REFUSED, /* there is some, and it cannot be read */
};

struct unwind_module {
	__u32 start;	  /* the number of its first page in the file */
	__u32 first_page; /* in unwind_pages */
	__u32 nr_pages;
	__u32 claims; /* who adds the first one has the number */
	__u32 state;  /* enum unwind_module_state; written last */
	__u32 used;   /* when a walk was in it last, by unwind_age() */
};

/* The time of bpf_ktime_get_ns() in steps of 17 ms. */
static inline __u32 unwind_age(__u64 nanoseconds)
{
	return (__u32)(nanoseconds >> 24);
}

/* Steps from one such time to another; 0 if that is earlier. */
static inline __u32 unwind_age__since(__u32 then, __u32 now)
{
	__s32 passed = (__s32)(now - then);

	return passed > 0 ? (__u32)passed : 0;
}

#define UNWIND_PAGE_BITS 16
#define UNWIND_KB_BITS	 10
#define UNWIND_PAGE_KBS	 (1 << (UNWIND_PAGE_BITS - UNWIND_KB_BITS))

/*
 * Rows lie in shards, which are allocated as needed. A map has several shards: the kernel waits
 * some milliseconds for its programs whenever a map is put into a map of maps.
 */
#define UNWIND_SHARD_WORDS 65536
#define UNWIND_SHARD_MAPS  32

struct unwind_shard {
	__u32 words[UNWIND_SHARD_WORDS];
};

static inline __u32 unwind_shard(__u32 map, __u32 index)
{
	return map << 16 | index;
}

static inline __u32 unwind_shard_map(__u32 shard)
{
	return shard >> 16;
}

static inline __u32 unwind_shard_index(__u32 shard)
{
	return shard & 0xffff;
}

/*
 * A page's words in a shard: an index of 16 bits for each KB, and one for the end, with the number
 * of the row that holds where the KB begins; then the rows.
 */
struct unwind_page {
	__u32 shard;	   /* or UNWIND_NO_SHARD: nothing is known of the whole page */
	__u16 first, last; /* of its words */
};

#define UNWIND_NO_SHARD	   ((__u32)-1)
#define UNWIND_INDEX_WORDS (UNWIND_PAGE_KBS / 2 + 1)

/* The lower bits of an offset: where it is in its page. */
static inline __u32 unwind_low(__u64 offset)
{
	return (__u32)(offset & ((1U << UNWIND_PAGE_BITS) - 1));
}

/* A row: a rule, and the lower bits of the offset from which on it holds. */
static inline __u32 unwind_row(__u32 rule, __u64 offset)
{
	return rule << UNWIND_PAGE_BITS | unwind_low(offset);
}

static inline __u32 unwind_row_rule(__u32 row)
{
	return row >> UNWIND_PAGE_BITS;
}

static inline __u32 unwind_row_low(__u32 row)
{
	return unwind_low(row);
}

/*
 * A search that is remembered, in one word, so that it is read and written at once: its place,
 * which is a module and an offset in its file; and in the lower bits the rule that was there. A
 * place of 0 cannot be remembered.
 */
#define UNWIND_OFFSET_BITS 32
#define UNWIND_RULE_BITS   14

static inline __u64 unwind_place(__u32 module, __u64 offset)
{
	return offset >> UNWIND_OFFSET_BITS ? 0 : (module + 1ULL) << UNWIND_OFFSET_BITS | offset;
}

static inline __u32 unwind_place__index(__u64 place)
{
	return (__u32)(place * 0x9e3779b97f4a7c15ULL >> 32) % UNWIND_RECENT;
}

static inline __u64 unwind_recent(__u64 place, __u32 rule)
{
	return place << UNWIND_RULE_BITS | rule;
}

static inline __u64 unwind_recent__place(__u64 recent)
{
	return recent >> UNWIND_RULE_BITS;
}

static inline __u32 unwind_recent__rule(__u64 recent)
{
	return (__u32)(recent & (UNWIND_RULES - 1));
}

/* Rows that can begin in a KB, and the one that holds there: fewer than 2 to this power. */
#define UNWIND_ROW_STEPS 11

/* Names of directories that are told, and bytes of each, with the 0 at its end. */
#define PLACE_NAMES    16
#define PLACE_NAME_MAX 64

/*
 * A walk's request to user space: it came to a file without tables; or to generated code, whose
 * names a JIT map may have.
 */
struct unwind_request {
	__u32 tgid;		 /* in the PID namespace of the caller */
	__u32 module;		 /* or UNWIND_UNKNOWN_MODULE; UNWIND_NO_MODULE: generated code */
	__u64 program;		 /* of struct stack_key, of whom generated it */
	__u64 start, end;	 /* one of its mappings there */
	__u32 unheard;		 /* there was no number, or nobody had heard of it: then also */
	__u32 nr_names;		 /* see names */
	struct mapped_file file; /* what it is, and */
	/*
	 * of its path below the root of its file system; the last one first. None: it is too long,
	 * or not known.
	 */
	char names[PLACE_NAMES][PLACE_NAME_MAX];
};

_Static_assert(sizeof(struct unwind_mapping) == 32, "no padding");
_Static_assert(sizeof(struct unwind_module) == 24, "no padding");
_Static_assert(sizeof(struct unwind_page) == 8, "no padding");
_Static_assert(UNWIND_RULES == 1 << UNWIND_RULE_BITS, "words have room for them");
_Static_assert((UNWIND_MODULES + 1ULL) << (UNWIND_OFFSET_BITS + UNWIND_RULE_BITS) < 1ULL << 63,
	       "the sign is free");
_Static_assert(sizeof(struct unwind_request) == 80 + PLACE_NAMES * PLACE_NAME_MAX, "no padding");

#endif
