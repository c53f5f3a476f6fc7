// SPDX-License-Identifier: GPL-2.0-or-later
/* Linked in several ways for sym/elf/test_plt.c: a library that calls functions of others. */

int alpha(int argument);
int beta(int argument);
int gamma_with_a_longer_name(int argument);
int taken(int argument);
int call_all(int argument);
void *address_of_taken(void);

int call_all(int argument)
{
	return alpha(argument) + beta(argument) + gamma_with_a_longer_name(argument) +
	       taken(argument);
}

/* The GOT has its address already, so calls to it get by with an entry in .plt.got. */
void *address_of_taken(void)
{
	return (void *)taken;
}
