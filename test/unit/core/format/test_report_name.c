// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/report_name.h"

#include <stdlib.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define TIME 1795000000 /* 2026-11-18 11:06:40 UTC */

static void check_name(const char *pattern, unsigned int again, const char *expected)
{
	CLEANUP_FREE char *name = report_name__make(pattern, 7, TIME, again);

	CHECK_STR(name, expected);
	CHECK(report_name__matches(pattern, name));
}

static void names(void)
{
	check_name("a", 1, "a");
	check_name("%n.svg", 1, "7.svg");
	check_name("%t.svg", 1, "20261118-110640.svg");
	check_name("%t.svg", 12, "20261118-110640-12.svg");
	check_name("x%n-%t-%%%n%%", 3, "x7-20261118-110640-3-%7%");
	check_name("%t%n", 2, "20261118-110640-27");
}

static void others(void)
{
	static const char *const pairs[][2] = {
		{"%n.svg", ".svg"},
		{"%n.svg", "7.svgz"},
		{"%n.svg", "7x.svg"},
		{"%n.svg", "-7.svg"},
		{"%n.svg", "x7.svg"},
		{"%t.svg", "20261118-11064.svg"},
		{"%t.svg", "2026111-110640.svg"},
		{"%t.svg", "20261118-110640-.svg"},
		{"%t.svg", "20261118-1106400.svg"},
		{"%t.svg", "20261118 110640.svg"},
		{"%t.svg", "%t.svg"},
		{"a%%", "a%%"},
		{"a%%", "a"},
		{"a", ""},
		{"", "a"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (!CHECK(!report_name__matches(pairs[i][0], pairs[i][1])))
			CHECK_STR(pairs[i][1], pairs[i][0]);
}

static void signs(void)
{
	bool number, time;

	CHECK(report_name__check("a%%n", &number, &time));
	CHECK(!number && !time);
	CHECK(report_name__check("%n", &number, &time));
	CHECK(number && !time);
	CHECK(report_name__check("%t%%", &number, &time));
	CHECK(!number && time);
	CHECK(!report_name__check("%", &number, &time));
	CHECK(!report_name__check("a%d", &number, &time));
	CHECK(!report_name__check("%%%", &number, &time));
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"names of reports", names},
		{"names that are of no report", others},
		{"what a sign of per cent may begin", signs},
	};

	setenv("TZ", "UTC", 1);
	return TAP_RUN(tests);
}
