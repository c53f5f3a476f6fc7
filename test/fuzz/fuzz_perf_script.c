// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: the text. */
#include "core/input/perf_script.h"
#include "test/fuzz/stacks.h"

FUZZ_READER(perf_script__read)
