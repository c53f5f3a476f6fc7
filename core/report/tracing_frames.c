// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/tracing_frames.h"

#include <stddef.h>

#include "sym/util/array.h"
#include "sym/util/text.h"

bool tracing_frame__is(const char *name)
{
	static const char *const beginnings[] = {"bpf_prog_", "bpf_trace_run", "__bpf_trace_",
						 "__traceiter_"};

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (text__begins(name, beginnings[i]))
			return true;
	return false;
}
