// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/number.h"

#include <errno.h>

#include "sym/util/array.h"
#include "test/unit/tap.h"

#define UNTOUCHED 77

static void check_refused(const char *text, uint64_t min, uint64_t max, int code)
{
	uint64_t number = UNTOUCHED;
	int err = number__parse(text, min, max, &number);

	tap_check(err == code && number == UNTOUCHED, __FILE__, __LINE__,
		  "'%s': expected %d, got %d and %ju", text, code, err, (uintmax_t)number);
}

static void check_number(const char *text, uint64_t expected)
{
	uint64_t number = UNTOUCHED;

	CHECK_INT(number__parse(text, 0, UINT64_MAX, &number), 0);
	CHECK_INT(number, expected);
}

static void whole_numbers(void)
{
	check_number("0", 0);
	check_number("49", 49);
	check_number("0049", 49);
	check_number("18446744073709551615", UINT64_MAX);
	check_number("00000000000000000000018446744073709551615", UINT64_MAX);
}

static void no_numbers(void)
{
	static const char *const texts[] = {"",
					    " ",
					    " 1",
					    "1 ",
					    "+1",
					    "-1",
					    "-0",
					    "0x10",
					    "1e3",
					    "1.0",
					    "1,2",
					    "1\n",
					    "a",
					    "1a",
					    "1_000",
					    "\xd9\xa1",
					    "99999999999999999999x"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_refused(texts[i], 0, UINT64_MAX, -EINVAL);
}

static void ranges(void)
{
	uint64_t number;

	CHECK_INT(number__parse("5", 5, 5, &number), 0);
	check_refused("4", 5, 10, -ERANGE);
	check_refused("11", 5, 10, -ERANGE);
	check_refused("18446744073709551616", 0, UINT64_MAX, -ERANGE);
	check_refused("18446744073709551620", 0, UINT64_MAX, -ERANGE);
	check_refused("99999999999999999999999999999999", 0, UINT64_MAX, -ERANGE);
}

static void check_size(const char *text, uint64_t expected)
{
	uint64_t bytes = UNTOUCHED;

	CHECK_INT(number__parse_size(text, 0, UINT64_MAX, &bytes), 0);
	CHECK_INT(bytes, expected);
}

static void sizes(void)
{
	check_size("0", 0);
	check_size("4096", 4096);
	check_size("18446744073709551615", UINT64_MAX);
	check_size("0K", 0);
	check_size("4K", 4096);
	check_size("4KB", 4096);
	check_size("0010M", 10 << 20);
	check_size("64MB", 64 << 20);
	check_size("1G", 1 << 30);
	check_size("3GB", 3ULL << 30);
	check_size("17179869183G", 17179869183ULL << 30);
}

static void check_size_refused(const char *text, uint64_t min, uint64_t max, int code)
{
	uint64_t bytes = UNTOUCHED;
	int err = number__parse_size(text, min, max, &bytes);

	tap_check(err == code && bytes == UNTOUCHED, __FILE__, __LINE__,
		  "'%s': expected %d, got %d and %ju", text, code, err, (uintmax_t)bytes);
}

static void no_sizes(void)
{
	static const char *const texts[] = {
		"",    " ",   "K",   "MB",  "4 K", "4K ", " 4K",  "-4K",  "+4K",
		"4k",  "4m",  "4Kb", "4B",  "4KK", "4BK", "4KBB", "4T",	  "4.5M",
		"4MK", "4e3", "0x4", "4,0", "K4",  "4\n", "4K\n", "4KiB", "99999999999999999999x"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_size_refused(texts[i], 0, UINT64_MAX, -EINVAL);
}

static void sizes_out_of_range(void)
{
	uint64_t bytes;

	CHECK_INT(number__parse_size("4K", 4096, 4096, &bytes), 0);
	check_size_refused("4095", 4096, 1 << 20, -ERANGE);
	check_size_refused("3K", 4096, 1 << 20, -ERANGE);
	check_size_refused("2M", 4096, 1 << 20, -ERANGE);
	check_size_refused("1048577", 4096, 1 << 20, -ERANGE);
	check_size_refused("18446744073709551616", 0, UINT64_MAX, -ERANGE);
	check_size_refused("99999999999999999999G", 0, UINT64_MAX, -ERANGE);
	/* Products that would be in range again behind 2^64. */
	check_size_refused("17179869184G", 0, UINT64_MAX, -ERANGE);
	check_size_refused("17179869188GB", 0, UINT64_MAX, -ERANGE);
	check_size_refused("18014398509481985K", 0, UINT64_MAX, -ERANGE);
}

static void check_seconds(const char *text, uint64_t expected)
{
	uint64_t nanoseconds = UNTOUCHED;

	CHECK_INT(number__parse_seconds(text, &nanoseconds), 0);
	CHECK_INT(nanoseconds, expected);
}

static void seconds_and_fractions(void)
{
	check_seconds("5", 5 * NANOSECONDS);
	check_seconds("0.25", NANOSECONDS / 4);
	check_seconds("1.5", 3 * NANOSECONDS / 2);
	check_seconds("0.000000001", 1);
	check_seconds("0.123456789", 123456789);
	check_seconds("0.9999999999999999999999", 999999999);
	check_seconds("1.0000000009", NANOSECONDS);
	check_seconds("007.50", 15 * NANOSECONDS / 2);
	check_seconds("3162240000", SECONDS_MAX * NANOSECONDS);
	check_seconds("5s", 5 * NANOSECONDS);
	check_seconds("1.5m", 90 * NANOSECONDS);
	check_seconds("2h", 7200 * NANOSECONDS);
	check_seconds("0.5d", 43200 * NANOSECONDS);
	check_seconds("0.999999999d", 86399999913600ULL);
	check_seconds("250ms", NANOSECONDS / 4);
	check_seconds("0.5ms", 500000);
	check_seconds("1.5us", 1500);
	check_seconds("36600d", SECONDS_MAX * NANOSECONDS);
}

static void check_seconds_refused(const char *text, int code)
{
	uint64_t nanoseconds = UNTOUCHED;
	int err = number__parse_seconds(text, &nanoseconds);

	tap_check(err == code && nanoseconds == UNTOUCHED, __FILE__, __LINE__,
		  "'%s': expected %d, got %d and %ju", text, code, err, (uintmax_t)nanoseconds);
}

static void no_seconds(void)
{
	static const char *const texts[] = {"",	    ".",
					    ".5",   "5.",
					    "5.x",  "-1",
					    "+1",   "1 ",
					    "1e3",  "1,5",
					    "1.5.", "5 s",
					    "5S",   "5M",
					    "5sec", "5mm",
					    "5w",   "s",
					    ".5s",  "inf",
					    "nan",  "99999999999999999999.x"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		check_seconds_refused(texts[i], -EINVAL);
}

static void seconds_out_of_range(void)
{
	check_seconds_refused("0", -ERANGE);
	check_seconds_refused("0.0", -ERANGE);
	check_seconds_refused("0.0000000001", -ERANGE);
	check_seconds_refused("3162240001", -ERANGE);
	check_seconds_refused("18446744073709551616", -ERANGE);
	check_seconds_refused("99999999999999999999.5", -ERANGE);
	check_seconds_refused("0ms", -ERANGE);
	check_seconds_refused("0.0009us", -ERANGE);
	check_seconds_refused("36601d", -ERANGE);
	check_seconds_refused("36600.1d", -ERANGE);
	check_seconds_refused("9999999999999999999h", -ERANGE);
}

static void fraction_above_the_most(void)
{
	check_seconds_refused("3162240000.000000001", -ERANGE);
}

static const struct tap_test tests[] = {
	{"whole decimal numbers are read", whole_numbers},
	{"what is no number is refused, the result untouched", no_numbers},
	{"numbers out of their range are refused", ranges},
	{"sizes are read with their units", sizes},
	{"what is no size is refused, the result untouched", no_sizes},
	{"sizes out of their range, and above all numbers, are refused", sizes_out_of_range},
	{"seconds are read with their fractions", seconds_and_fractions},
	{"what is no number of seconds is refused", no_seconds},
	{"0 seconds, and too many, are refused", seconds_out_of_range},
	{"a fraction above the most seconds is refused", fraction_above_the_most},
};

int main(void)
{
	return TAP_RUN(tests);
}
