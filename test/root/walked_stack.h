/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program has found by a walk, for tests that know what it should be: frames in files become
 * addresses of the process by what that has mapped, not by how names are asked for.
 */
#ifndef TRACEKIT_TEST_WALKED_STACK_H
#define TRACEKIT_TEST_WALKED_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"

struct mapping_list;
struct unwind_module_list;

/*
 * The reason why the stack is not complete, or UNWIND_COMPLETE; *nr becomes the number of its
 * frames without the mark.
 */
enum unwind_end walked_stack__end(const __u64 *frames, uint32_t *nr);
const char *walked_stack__end_text(enum unwind_end end);

/* Frames become addresses, or 0. False if one is in no file that is mapped. */
bool walked_stack__place(__u64 *frames, uint32_t nr, const struct unwind_module_list *modules,
			 const struct mapping_list *mappings);

/* "3 not complete (2 cut, 1 no call-frame information)", by how many have ended so. */
void walked_stack__print_incomplete(const uint64_t incomplete[NR_UNWIND_ENDS]);
uint64_t walked_stack__incomplete(const uint64_t incomplete[NR_UNWIND_ENDS]);

#endif
