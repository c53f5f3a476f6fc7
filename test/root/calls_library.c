// SPDX-License-Identifier: GPL-2.0-or-later
/* The library of calls.c, and another, which differs in the name of one function. */
#include <sys/syscall.h>
#include <unistd.h>

#ifndef IN_LIBRARY
#define IN_LIBRARY in_one_library
#endif

void library_function(void);
void call_in_library(void);
void IN_LIBRARY(void);

static volatile int work;

void library_function(void)
{
	work++;
}

void IN_LIBRARY(void)
{
	syscall(SYS_getppid);
	work++;
}

void call_in_library(void)
{
	IN_LIBRARY();
	work++;
}
