/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames as objects of JSON; what is a frame is as in core/report/frame_text.h. */
#ifndef TRACEKIT_CORE_REPORT_FRAME_JSON_H
#define TRACEKIT_CORE_REPORT_FRAME_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/report/frame_text.h"
#include "core/report/json.h"

/* One level, with a name, a module and a source file. */
#define FRAME_JSON_MAX (3 * JSON_STRING_SIZE(FRAME_NAME_MAX) + 256)

/*
 * A function without a name has "unnamed":true, and the name that tells where it begins.
 *
 * {"addr":"ffffffff81280461","name":"ext4_sync_fs","offset":18,"module":"ext4"}, with a NUL.
 * kinds: and "kind": kernel, user, inlined, generated or mark. Returns the length.
 */
size_t frame_json__write(uint64_t frame, const struct sym_query *query, uint32_t level, bool kinds,
			 char text[FRAME_JSON_MAX]);

#endif
