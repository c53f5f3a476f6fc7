// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/child.h"

#include <signal.h>
#include <sys/prctl.h>

void child__begin(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}
