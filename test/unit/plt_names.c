// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions that plt_library.c calls, for programs made of that. */

int alpha(int argument);
int beta(int argument);
int gamma_with_a_longer_name(int argument);
int taken(int argument);

int alpha(int argument)
{
	return argument;
}

int beta(int argument)
{
	return argument;
}

int gamma_with_a_longer_name(int argument)
{
	return argument;
}

int taken(int argument)
{
	return argument;
}
