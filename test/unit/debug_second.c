// SPDX-License-Identifier: GPL-2.0-or-later
/* The other unit of debug_program.cc, in C. */
int second_unit(int x);

int second_unit(int x)
{
	return x * 11; /* line 7 */
}
