// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/schedule.h"

bool schedule__is_over(const struct schedule *schedule, uint64_t now)
{
	return schedule->duration && now - schedule->start >= schedule->duration;
}

uint64_t schedule__wait(const struct schedule *schedule, uint64_t now)
{
	uint64_t passed = now - schedule->start, left = 0, wait = 0;

	if (schedule->interval)
		wait = schedule->interval - passed % schedule->interval;
	if (schedule->duration) {
		left = passed < schedule->duration ? schedule->duration - passed : 1;
		wait = wait && wait < left ? wait : left;
	}
	return wait;
}
