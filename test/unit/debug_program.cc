// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program that sym/dwarf/test_reader.c looks up: the test knows these lines. Calls that are
 * inlined into a function, a lambda, a call that does not return, and a second unit.
 */
#define INLINED	 static inline __attribute__((always_inline))
#define FUNCTION __attribute__((noinline))

extern "C" FUNCTION int second_unit(int x);
extern "C" FUNCTION int plain_function(int x);
extern "C" FUNCTION int outer_function(int x, volatile int *sink);
extern "C" FUNCTION int lambda_function(int x, volatile int *sink);
extern "C" FUNCTION void leave(int x) __attribute__((noreturn));
extern "C" FUNCTION void last_call(int x);

struct counter {
	volatile int *sink;
	__attribute__((always_inline)) int innermost(int x) const
	{
		*sink = x; /* line 20 */
		return *sink;
	}
};

INLINED int middle(const struct counter &counter, int x)
{
	return counter.innermost(x + 1) * 3; /* line 27 */
}

int outer_function(int x, volatile int *sink)
{
	struct counter counter = {sink};

	return middle(counter, x) + 1; /* line 34 */
}

int lambda_function(int x, volatile int *sink)
{
	struct counter counter = {sink};
	auto lambda = [&](int y) __attribute__((always_inline))
	{
		return counter.innermost(y); /* line 42 */
	};

	return lambda(x + 5); /* line 45 */
}

int plain_function(int x)
{
	return x * 7; /* line 50 */
}

void leave(int x)
{
	for (;;)
		*(volatile int *)&x = 1;
}

void last_call(int x)
{
	leave(x + 1); /* line 61: the return address is behind this function */
}

int main(int argc, char **)
{
	int sink;

	if (argc > 5)
		last_call(argc);
	return second_unit(outer_function(argc, &sink) + plain_function(argc) +
			   lambda_function(argc, &sink));
}
