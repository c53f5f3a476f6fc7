// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/end.h"

#include <stddef.h>

#include "bpf/abi.h"
#include "sym/util/array.h"

const char *unwind_end__text(uint32_t end)
{
	/* Stacks show them as "[unwind stopped: tables not loaded]". */
	static const char *const texts[] = {
		[UNWIND_COMPLETE] = "complete",
		[UNWIND_ASSISTED] = "complete, by frame pointers too",
		[UNWIND_CUT] = "too deep",
		[UNWIND_TABLES_MISSING] = "tables not loaded",
		[UNWIND_NO_CODE] = "no code there",
		[UNWIND_NO_INFORMATION] = "no call-frame information",
		[UNWIND_UNKNOWN_RULE] = "unsupported rule",
		[UNWIND_LOST_REGISTER] = "a register is not known",
		[UNWIND_UNREADABLE] = "stack not in memory",
		[UNWIND_NOT_GROWING] = "stack overwritten",
		[UNWIND_CHANGING] = "mappings were changing",
		[UNWIND_RETURN_PROBE] = "a return probe",
		[UNWIND_NOT_COPIED] = "deeper than what was copied",
		[UNWIND_32BIT] = "a 32-bit process",
		[UNWIND_IN_KERNEL] = "registers not known in the kernel",
	};

	return end < ARRAY_SIZE(texts) && texts[end] ? texts[end] : "unknown reason";
}
