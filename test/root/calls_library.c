// SPDX-License-Identifier: GPL-2.0-or-later
/* The library of calls.c. */
void library_function(void);

static volatile int work;

void library_function(void)
{
	work++;
}
