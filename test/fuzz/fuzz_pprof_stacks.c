// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: the profile, not compressed. */
#include "core/input/pprof_stacks.h"
#include "test/fuzz/stacks.h"

FUZZ_READER(pprof_stacks__read)
