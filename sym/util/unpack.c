// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_initStaticDCtx() */
#include <zstd.h>

#include "sym/util/unpack.h"

/* What zstd needs besides, so that it asks for no memory: 95,968 bytes in its version 1.5. */
#define WORKSPACE (192 * 1024)

const void *unpack(const void *packed, size_t packed_size, void *object, size_t size)
{
	static _Alignas(8) char workspace[WORKSPACE];
	ZSTD_DCtx *context = ZSTD_initStaticDCtx(workspace, sizeof(workspace));

	/* Only another version of zstd, or a build that went wrong. */
	if (!context || ZSTD_decompressDCtx(context, object, size, packed, packed_size) != size)
		abort();
	return object;
}
