// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/sysctl.h"

#include <stdio.h>

#include "sym/util/cleanup.h"

bool sysctl__read(const char *name, long *value)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	file = fopen(path, "re");
	return file && fscanf(file, "%ld", value) == 1;
}
