// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/hash.h"

#include "test/unit/tap.h"

static void texts(void)
{
	/* From the test vectors of the authors. */
	CHECK(hash__text("") == 0xcbf29ce484222325);
	CHECK(hash__text("a") == 0xaf63dc4c8601ec8c);
	CHECK(hash__text("foobar") == 0x85944171f73967e8);
}

static const struct tap_test tests[] = {
	{"texts have the hash of FNV-1a", texts},
};

int main(void)
{
	return TAP_RUN(tests);
}
