// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/child.h"

#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>

static void (*on_begin)(void);

void child__on_begin(void (*function)(void))
{
	on_begin = function;
}

void child__begin(void)
{
	if (on_begin)
		on_begin();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}
