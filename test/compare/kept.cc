// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compiled twice: both units have kept(), at other lines, and the data of both says that it is
 * where the linker put the one that it kept.
 */
#ifdef FIRST
#define FUNCTION first_unit
inline __attribute__((noinline)) int kept(int volatile *sink)
{
	return *sink = *sink * 3 + 1;
}
#else
#define FUNCTION second_unit
inline __attribute__((noinline)) int kept(int volatile *sink)
{
	return *sink = *sink * 3 + 1;
}
#endif

int first_unit(int x);
int second_unit(int x);

int FUNCTION(int x)
{
	int volatile sink = x;

	return kept(&sink) + kept(&sink);
}

#ifdef FIRST
int main(int argc, char **)
{
	return first_unit(argc) + second_unit(argc);
}
#endif
