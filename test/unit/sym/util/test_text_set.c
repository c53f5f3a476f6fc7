// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/text_set.h"

#include <stdio.h>

#include "sym/util/cleanup.h"
#include "sym/util/text.h"
#include "test/unit/tap.h"

static void hashes(void)
{
	/* From the test vectors of the authors. */
	CHECK(text__hash("") == 0xcbf29ce484222325);
	CHECK(text__hash("a") == 0xaf63dc4c8601ec8c);
	CHECK(text__hash("foobar") == 0x85944171f73967e8);
}

static void numbers(void)
{
	CLEANUP(text_set__release) struct text_set set = {0};
	uint32_t number;
	char text[32];

	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), i ? "text %u" : "", i);
			CHECK_INT(text_set__add(&set, text, &number), 0);
			CHECK_INT(number, i);
		}
	}
	CHECK_INT(set.nr, 5000);
	CHECK_STR(set.texts[0], "");
	CHECK_STR(set.texts[4999], "text 4999");
}

static const struct tap_test tests[] = {
	{"texts have the hash of FNV-1a", hashes},
	{"each text has a number of its own, and keeps it", numbers},
};

int main(void)
{
	return TAP_RUN(tests);
}
