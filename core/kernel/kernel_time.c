// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/kernel_time.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/number.h"

/* What our namespace adds, in nanoseconds; 0 in the initial one, and before Linux 5.6. */
static int64_t read_offset(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/self/timens_offsets", "re");
	int64_t seconds, nanoseconds;

	if (!file || fscanf(file, "monotonic %" SCNd64 " %" SCNd64, &seconds, &nanoseconds) != 2)
		return 0;
	return seconds * NANOSECONDS + nanoseconds;
}

uint64_t kernel_time__now(void)
{
	static bool known;
	static int64_t offset;

	if (!known)
		offset = read_offset();
	known = true;
	return monotonic_now() - (uint64_t)offset;
}
