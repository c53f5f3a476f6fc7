// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/memory.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "sym/util/cleanup.h"

/* Where /proc does not say. */
#define ASSUMED ((uint64_t)512 * 1024 * 1024)

/* The number behind a word at the beginning of a line, or otherwise. */
static uint64_t read_number(const char *path, const char *word, uint64_t otherwise)
{
	CLEANUP_FCLOSE FILE *file = fopen(path, "re");
	uint64_t number;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, word, strlen(word)) &&
		    sscanf(line + strlen(word), "%" SCNu64, &number) == 1)
			return number;
	return otherwise;
}

static uint64_t read_in(const char *folder, const char *name, const char *word, uint64_t otherwise)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return otherwise;
	return read_number(path, word, otherwise);
}

uint64_t memory__available(void)
{
	return read_number("/proc/meminfo", "MemAvailable:", ASSUMED / 1024) * 1024;
}

uint64_t memory__left_in_cgroup(const char *folder)
{
	/* "max" is no number. */
	uint64_t limit = read_in(folder, "memory.max", "", UINT64_MAX);
	uint64_t used = read_in(folder, "memory.current", "", 0);
	/* The kernel takes back pages of files that nobody has used of late. */
	uint64_t cached = read_in(folder, "memory.stat", "inactive_file ", 0);

	used = used > cached ? used - cached : 0;
	if (limit == UINT64_MAX)
		return UINT64_MAX;
	return limit > used ? limit - used : 0;
}
