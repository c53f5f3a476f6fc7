// SPDX-License-Identifier: GPL-2.0-or-later
/* A library of 256 functions, each of which the dynamic linker looks up when it is called first. */

#define FOUR(of, n)    of(n##0) of(n##1) of(n##2) of(n##3)
#define SIXTEEN(of, n) FOUR(of, n##0) FOUR(of, n##1) FOUR(of, n##2) FOUR(of, n##3)
#define SIXTY_4(of, n) SIXTEEN(of, n##0) SIXTEEN(of, n##1) SIXTEEN(of, n##2) SIXTEEN(of, n##3)
#define EACH_OF(of, n) SIXTY_4(of, n##0) SIXTY_4(of, n##1) SIXTY_4(of, n##2) SIXTY_4(of, n##3)

#define DECLARE(name) int name(void);
#define CALL(name)    sum += name();
#define DEFINE(name)                                                                               \
	int name(void)                                                                             \
	{                                                                                          \
		return sizeof(#name);                                                              \
	}

EACH_OF(DECLARE, first_)
int call_all(void);
int call_some(void);

int call_all(void)
{
	int sum = 0;

	EACH_OF(CALL, first_)
	return sum;
}

int call_some(void)
{
	int sum = 0;

	SIXTEEN(CALL, first_00)
	return sum;
}

EACH_OF(DEFINE, first_)
