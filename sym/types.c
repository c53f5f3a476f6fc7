// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/types.h"

#include <string.h>

size_t mapping_path__length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t length = strlen(path), mark = strlen(deleted);

	return length > mark && !strcmp(path + length - mark, deleted) ? length - mark : length;
}

const char *sym_module__name(const char *path, size_t *length)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;

	*length = mapping_path__length(file);
	return file;
}
