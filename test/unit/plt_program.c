// SPDX-License-Identifier: GPL-2.0-or-later
/* Linked in several ways for sym/elf/test_plt.c: a program that calls functions of libc. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	puts(argv[argc - 1]);
	return (int)strlen(argv[0]) + strcmp(argv[0], argv[argc - 1]) + getppid();
}
