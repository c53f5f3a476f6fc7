// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input: an ELF file, which is its own debug file, too. Wanted are most names; others
 * are wanted demangled.
 */
#include <errno.h>
#include <string.h>

#include "sym/demangle.h"
#include "sym/probe_sites.h"
#include "test/fuzz/fuzz.h"

static bool wants(void *context, const char *provider, const char *name)
{
	size_t *bytes = context;

	REQUIRE(name[0]);
	*bytes += strlen(name) + (provider ? strlen(provider) : 0);
	return name[strlen(name) - 1] & 1;
}

static void check_list(struct probe_site_list *list, bool has_providers)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct probe_site *site = &list->sites[i];

		REQUIRE(i == 0 || list->sites[i - 1].offset <= site->offset);
		REQUIRE(has_providers || i == 0 || list->sites[i - 1].offset < site->offset);
		REQUIRE(!site->provider == !has_providers);
		REQUIRE(has_providers || strlen(site->name) <= DEMANGLED_SIZE);
	}
	probe_site_list__release(list);
}

static void require_known(int err)
{
	REQUIRE(err == -ENOEXEC || err == -EFBIG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_site_list list = {0};
	int fd = open_input(data, size), err;
	size_t bytes = 0;

	err = probe_sites__functions(&list, fd, fd, true, wants, &bytes);
	if (!err)
		check_list(&list, false);
	else
		require_known(err);
	err = probe_sites__usdt(&list, fd, wants, &bytes);
	if (!err)
		check_list(&list, true);
	else
		require_known(err);
	return 0;
}
