/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How walks of user stacks have ended, in words. */
#ifndef TRACEKIT_CORE_UNWIND_END_H
#define TRACEKIT_CORE_UNWIND_END_H

#include <stdint.h>

/* What a walk with this enum unwind_end (bpf/abi.h) is; also takes any other number. */
const char *unwind_end__text(uint32_t end);

#endif
