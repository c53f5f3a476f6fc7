// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/types.h"

#include <string.h>

#include "sym/util/array.h"

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

const char *sym_origin__text(enum sym_origin origin)
{
	static const char *const texts[] = {
		[SYM_NOWHERE] = "nowhere",
		[SYM_SYMBOLS] = "the symbol tables of the file",
		[SYM_PLT] = "the procedure linkage table of the file",
		[SYM_GO_TABLE] = "the table of Go functions of the file",
		[SYM_SEPARATE_FILE] = "a separate file of symbols",
		[SYM_GNU_DEBUGDATA] = ".gnu_debugdata of the file",
		[SYM_DWARF] = "the debug data of the file",
		[SYM_JIT_MAP] = "the JIT map of the process",
	};

	_Static_assert(ARRAY_SIZE(texts) == NR_SYM_ORIGINS, "each has a text");
	return texts[origin];
}
