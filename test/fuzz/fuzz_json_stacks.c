// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: the objects. */
#include "core/input/json_stacks.h"
#include "test/fuzz/stacks.h"

FUZZ_READER(json_stacks__read)
