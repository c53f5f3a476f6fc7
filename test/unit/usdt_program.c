// SPDX-License-Identifier: GPL-2.0-or-later
/* For test_probe_sites.c: "twice" has two places, "watched" a semaphore. */
#include "usdt.h"

USDT_SEMAPHORE(watched_semaphore);

int main(int argc, char **argv)
{
	(void)argv;
	USDT_PROBE("twice", "0");
	if (argc > 1)
		USDT_PROBE("twice", "0");
	USDT_PROBE("watched", "watched_semaphore");
	return watched_semaphore;
}
