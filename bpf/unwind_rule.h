/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to get from a frame to its caller's, in the few shapes that compilers, assembly by hand
 * and the kernel use: they cover all but some hundred of 33.5 million rows of call-frame
 * information in 2,783 files.
 */
#ifndef TRACEKIT_BPF_UNWIND_RULE_H
#define TRACEKIT_BPF_UNWIND_RULE_H

#include <linux/types.h>

/* The canonical frame address (CFA): the stack pointer of the caller, behind the call. */
enum unwind_cfa {
	UNWIND_NONE,	    /* nothing is known here */
	UNWIND_UNSUPPORTED, /* a rule is known, but of another shape */
	UNWIND_END,	    /* the outermost frame: it has no caller */
	UNWIND_REGISTER,    /* cfa_register + cfa_offset */
	UNWIND_MEMORY,	    /* the word at cfa_register + cfa_offset, + cfa_addend */
	/*
	 * In a table of stubs of 16 bytes, each of which pushes a word before its byte
	 * cfa_addend: stack pointer + cfa_offset, and 8 more from that byte on.
	 */
	UNWIND_PLT,
};

/* Where a register of the caller is. */
enum unwind_saved {
	UNWIND_SAME,	    /* it has been left alone */
	UNWIND_LOST,	    /* nowhere, or nobody can tell where */
	UNWIND_AT_CFA,	    /* at CFA + offset */
	UNWIND_AT_REGISTER, /* at register + offset, of this frame */
	UNWIND_IN_REGISTER, /* in another register of this frame */
};

/*
 * Where the caller's base register is (DWARF_BASE_REGISTER of arch.bpf.h): one of these, or, from 2
 * on, the word at CFA - 8 * so many. Some code, as that of glibc which looks up a function when it
 * is called first, reaches its frame by it. Only files with such code say where it is: elsewhere
 * there would be more rules for nothing.
 */
enum unwind_base {
	UNWIND_BASE_LOST,
	UNWIND_BASE_SAME,
	UNWIND_BASE_AT_CFA,
};

enum unwind_flag {
	/* The frame is a signal handler's caller: its own caller was interrupted. */
	UNWIND_SIGNAL = 1,
};

/* Registers have their DWARF numbers. There is no padding: rules are compared by bytes. */
struct unwind_rule {
	__u8 cfa; /* enum unwind_cfa: the rest is 0 unless one of the last three */
	__u8 cfa_register;
	__u8 frame_pointer; /* enum unwind_saved, as return_address */
	__u8 frame_pointer_register;
	__u8 return_address;
	__u8 return_address_register;
	__u8 flags;
	__u8 base; /* enum unwind_base */
	__s32 cfa_offset, cfa_addend;
	__s32 frame_pointer_offset, return_address_offset;
};

_Static_assert(sizeof(struct unwind_rule) == 24, "no padding");

#endif
