/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_TEST_ROOT_MAPPED_H
#define TRACEKIT_TEST_ROOT_MAPPED_H

#include "bpf/abi.h"

/* Addresses that are asked about at once. */
#define ADDRESSES 256

struct answer {
	struct found_mapping found;
	__u32 outcome;
	__u32 changing;
};

#endif
