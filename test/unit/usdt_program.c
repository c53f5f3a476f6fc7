// SPDX-License-Identifier: GPL-2.0-or-later
/* For test_probe_sites.c: "twice" has two places, "watched" a semaphore. */
#include "../../core/doctor/usdt.h"

USDT_SEMAPHORE(watched_semaphore);

int main(int argc, char **argv)
{
	(void)argv;
	USDT_PROBE("tracekit_test", "twice", "0");
	if (argc > 1)
		USDT_PROBE("tracekit_test", "twice", "0");
	USDT_PROBE("tracekit_test", "watched", "watched_semaphore");
	return watched_semaphore;
}
