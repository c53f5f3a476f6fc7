// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/number.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads the digits at *text and moves it behind them. */
static int parse_digits(const char **text, uint64_t *number)
{
	uint64_t value = 0;
	bool overflow = false;

	if (!is_digit(**text))
		return -EINVAL;
	for (; is_digit(**text); (*text)++) {
		overflow |= __builtin_mul_overflow(value, 10, &value);
		overflow |= __builtin_add_overflow(value, **text - '0', &value);
	}
	*number = value;
	return overflow ? -ERANGE : 0;
}

int number__parse(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	uint64_t value;
	int err = parse_digits(&text, &value);

	if (*text)
		return -EINVAL;
	if (err)
		return err;
	if (value < min || value > max)
		return -ERANGE;
	*number = value;
	return 0;
}

/* Moves *text behind a unit, if one is there, and returns how many bytes that is. */
static uint64_t parse_unit(const char **text)
{
	static const char letters[] = "KMG";
	uint64_t unit = 1024;

	for (size_t i = 0; letters[i]; i++, unit *= 1024) {
		if (**text == letters[i]) {
			*text += (*text)[1] == 'B' ? 2 : 1;
			return unit;
		}
	}
	return 1;
}

int number__parse_size(const char *text, uint64_t min, uint64_t max, uint64_t *bytes)
{
	uint64_t value;
	int err = parse_digits(&text, &value);
	uint64_t unit = parse_unit(&text);

	if (err == -EINVAL || *text)
		return -EINVAL;
	if (err || __builtin_mul_overflow(value, unit, &value) || value < min || value > max)
		return -ERANGE;
	*bytes = value;
	return 0;
}

/* Of times, and what they are in nanoseconds; "ms" comes before "m". */
static const struct {
	const char *name;
	uint64_t nanoseconds;
} units[] = {
	{"", NANOSECONDS},
	{"s", NANOSECONDS},
	{"ms", 1000000},
	{"us", 1000},
	{"m", 60 * NANOSECONDS},
	{"h", 3600 * NANOSECONDS},
	{"d", 86400 * NANOSECONDS},
};

/* The unit that text is; 0: it is none. */
static uint64_t time_unit(const char *text)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(text, units[i].name))
			return units[i].nanoseconds;
	return 0;
}

int number__parse_seconds(const char *text, uint64_t *nanoseconds)
{
	uint64_t whole, unit, time, fraction = 0, part = NANOSECONDS / 10;
	int err = parse_digits(&text, &whole);

	if (err == -EINVAL)
		return err;
	if (*text == '.') {
		text++;
		if (!is_digit(*text))
			return -EINVAL;
		for (; is_digit(*text); text++, part /= 10)
			fraction += (uint64_t)(*text - '0') * part;
	}
	unit = time_unit(text);
	if (!unit)
		return -EINVAL;
	if (err || whole > SECONDS_MAX * NANOSECONDS / unit)
		return -ERANGE;
	/* Of a second there are as many parts as nanoseconds. */
	time = whole * unit + (unit < NANOSECONDS ? fraction / (NANOSECONDS / unit) :
						    fraction * (unit / NANOSECONDS));
	if (!time || time > SECONDS_MAX * NANOSECONDS)
		return -ERANGE;
	*nanoseconds = time;
	return 0;
}
