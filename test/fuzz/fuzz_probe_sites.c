// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input: an ELF file, which is its own debug file, too. Wanted are some names; others are wanted
 * demangled. Such files are also asked for their build IDs and needed libraries.
 */
#include <errno.h>
#include <string.h>

#include "sym/elf/demangle.h"
#include "sym/elf/file.h"
#include "sym/elf/needed.h"
#include "sym/elf/notes.h"
#include "sym/find/probe_sites.h"
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

static bool is_long(const char *soname, const char *name)
{
	return strlen(soname) > strlen(name);
}

static void check_rest(int fd)
{
	unsigned char id[ELF_BUILD_ID_MAX];
	struct elf_file elf;
	int size;

	if (elf_file__open(&elf, fd))
		return;
	size = elf_notes__build_id(&elf, id);
	REQUIRE(size == -ENOENT || (size > 0 && size <= ELF_BUILD_ID_MAX));
	elf_needed__any(&elf, is_long, "libc.so.6.6.6");
	elf_file__close(&elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_site_list list = {0};
	int fd = open_input(data, size), err;
	size_t bytes = 0;

	err = probe_sites__functions(&list, fd, fd, PROBE_NAMES_WHOLE, wants, &bytes);
	if (!err)
		check_list(&list, false);
	else
		require_known(err);
	err = probe_sites__usdt(&list, fd, wants, &bytes);
	if (!err)
		check_list(&list, true);
	else
		require_known(err);
	check_rest(fd);
	return 0;
}
