// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/pointer_map.h"

#include "test/unit/tap.h"

static void keys_are_told_apart(void)
{
	static char places[3000];
	struct pointer_map map = {0};

	for (size_t i = 0; i < sizeof(places); i++) {
		uintptr_t *value = pointer_map__at(&map, &places[i]);

		CHECK(value && *value == 0);
		CHECK_INT(map.nr, i + 1);
		*value = i + 7;
	}
	for (size_t i = 0; i < sizeof(places); i++)
		CHECK_INT(*pointer_map__at(&map, &places[i]), i + 7);
	CHECK_INT(map.nr, sizeof(places));
	pointer_map__release(&map);
}

static void empty_again(void)
{
	struct pointer_map map = {0};

	*pointer_map__at(&map, &map) = 1;
	pointer_map__release(&map);
	CHECK_INT(map.nr, 0);
	CHECK_INT(*pointer_map__at(&map, &map), 0);
	pointer_map__release(&map);
	pointer_map__release(&map);
}

static const struct tap_test tests[] = {
	{"each key has its value, however many there are", keys_are_told_apart},
	{"a map that was released is empty", empty_again},
};

int main(void)
{
	return TAP_RUN(tests);
}
