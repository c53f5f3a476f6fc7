/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The messages between sym/dwarf/reader.h and its child, over a socket. The parent sends a
 * question: how many addresses, then the addresses. The child sends replies until one of
 * kind REPLY_DONE; to REPLY_OPEN the parent sends one byte, with a descriptor or without.
 */
#ifndef TRACEKIT_SYM_DWARF_PROTOCOL_H
#define TRACEKIT_SYM_DWARF_PROTOCOL_H

#include <stdint.h>

/* Longer strings are cut. */
#define DEBUG_STRING_MAX 4095
/* How many addresses one question has. */
#define DEBUG_ADDRESSES_MAX (1024 * 1024)

/* The status with which the child ends if it could not enter the sandbox. */
#define DEBUG_NO_SANDBOX 100

enum reply_kind {
	REPLY_STRING = 1, /* value: its length; its bytes follow. The next number is its own */
	REPLY_FRAMES,	  /* value: the index of the address; nr struct sent_frame follow */
	REPLY_OPEN,	  /* value: the length of a path; its bytes follow */
	REPLY_DONE,	  /* value: units without their file; result */
};

struct reply {
	uint32_t kind;
	uint32_t value;
	uint32_t nr;
	int32_t result; /* 0 or a negative errno */
};

/* Strings by number, from 1 on in the order in which they were sent; 0: none. */
struct sent_frame {
	uint64_t start;
	uint32_t name, file, line;
	uint32_t is_linkage_name;
};

#endif
