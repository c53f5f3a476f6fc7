// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: the text of a /tmp/perf-PID.map. */
#include <string.h>

#include "sym/address/jit_index.h"
#include "sym/address/jit_map.h"
#include "sym/util/array.h"
#include "test/fuzz/fuzz.h"

#define WORK ((uint64_t)1024 * 1024)

static void check_lookup(int fd, const struct jit_lookup *lookup, const uint8_t *data, size_t size)
{
	struct jit_lookup alone = {.address = lookup->address};
	struct arena names = {0};

	REQUIRE(!lookup->name || lookup->start <= lookup->address);
	REQUIRE(!lookup->name || (lookup->name[0] && strlen(lookup->name) <= 1024));
	REQUIRE(!lookup->name || memmem(data, size, lookup->name, strlen(lookup->name)));
	REQUIRE(!lookup->name || !strchr(lookup->name, '\n'));
	REQUIRE(jit_map__find(NULL, fd, &alone, 1, &names, &(uint64_t){WORK}) == 0);
	REQUIRE(!alone.name == !lookup->name);
	REQUIRE(!alone.name || alone.start == lookup->start);
	REQUIRE(!alone.name || !strcmp(alone.name, lookup->name));
	arena__release(&names);
}

/* An index that was kept while the map grew makes no difference. */
static void check_kept(int fd, const struct jit_lookup *lookups, size_t nr, const uint8_t *data,
		       size_t size)
{
	struct jit_index_list list = {0};
	struct arena names = {0};
	struct jit_lookup kept[16];

	REQUIRE(nr <= ARRAY_SIZE(kept));
	memcpy(kept, lookups, nr * sizeof(*kept));
	for (size_t part = 0; part <= 3; part++) {
		REQUIRE(ftruncate(fd, (off_t)(size * part / 3)) == 0);
		REQUIRE(pwrite(fd, data, size * part / 3, 0) == (ssize_t)(size * part / 3));
		REQUIRE(jit_map__find(&list, fd, kept, nr, &names, &(uint64_t){WORK}) == 0);
	}
	for (size_t i = 0; i < nr; i++) {
		REQUIRE(!kept[i].name == !lookups[i].name);
		REQUIRE(!kept[i].name || kept[i].start == lookups[i].start);
		REQUIRE(!kept[i].name || !strcmp(kept[i].name, lookups[i].name));
	}
	jit_index_list__release(&list);
	arena__release(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = {
		0,
		0x10,
		0x1000,
		0x1000,
		0x1008,
		0x2000,
		0xabcd,
		0xffff,
		0x7f0000001000,
		0x7fffffffffffffff,
		0xffffffffffffff00,
		UINT64_MAX,
	};
	struct jit_lookup lookups[ARRAY_SIZE(addresses)];
	int fd = open_input(data, size);
	struct arena names = {0};
	uint64_t work = WORK;

	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
		lookups[i] = (struct jit_lookup){.address = addresses[i]};
	REQUIRE(jit_map__find(NULL, fd, lookups, ARRAY_SIZE(lookups), &names, &work) == 0);
	REQUIRE(work < WORK || size == 0);
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
		check_lookup(fd, &lookups[i], data, size);
	check_kept(fd, lookups, ARRAY_SIZE(lookups), data, size);
	arena__release(&names);
	return 0;
}
