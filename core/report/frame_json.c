// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/frame_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "sym/types.h"

/* A string that is cut here is longer than any name that sym/ gives. */
static size_t json_string(const char *string, char *text)
{
	return json__quote(string, strnlen(string, FRAME_NAME_MAX), text,
			   JSON_STRING_SIZE(FRAME_NAME_MAX));
}

static size_t json_name(const char *name, char *text)
{
	return name ? json_string(name, text) : (size_t)sprintf(text, "null");
}

/* ,"file":"/src/fs/super.c","line":12 */
static size_t json_source(const struct sym_source *source, char *text)
{
	size_t length;

	if (!source->file || !source->line)
		return 0;
	length = (size_t)sprintf(text, ",\"file\":");
	length += json_string(source->file, text + length);
	return length + (size_t)sprintf(text + length, ",\"line\":%" PRIu32, source->line);
}

/* "name":"min","inlined":true */
static size_t json_inlined(const struct sym_inlined *inlined, char *text)
{
	size_t length = json_name(inlined->name, text);

	length += (size_t)sprintf(text + length, ",\"inlined\":true");
	return length + json_source(&inlined->source, text + length);
}

/* "name":"[libfoo.so+0x1200]","unnamed":true */
static size_t json_start(const struct sym_query *query, char *text)
{
	char name[FRAME_NAME_MAX];
	size_t length;

	frame_text__function(query, false, name);
	length = json_string(name, text);
	return length + (size_t)sprintf(text + length, ",\"unnamed\":true");
}

/* "name":"ext4_sync_fs","offset":18,"module":"ext4" */
static size_t json_function(const struct sym_query *query, bool in_kernel, char *text)
{
	bool has_start = frame_text__has_start(query);
	size_t length = has_start ? json_start(query, text) : json_name(query->name, text);

	if (query->name || has_start)
		length += (size_t)sprintf(text + length, ",\"offset\":%" PRIu64, query->offset);
	if (query->module) {
		length += (size_t)sprintf(text + length, ",\"module\":");
		length += json_string(query->module, text + length);
	}
	if (query->module && !in_kernel)
		length += (size_t)sprintf(text + length, ",\"module_offset\":%" PRIu64,
					  query->module_offset);
	return length + json_source(&query->source, text + length);
}

static size_t json_address(const struct sym_query *query, char *text)
{
	return (size_t)(query->in_file ? sprintf(text, "null") :
					 sprintf(text, "\"%" PRIx64 "\"", query->address));
}

size_t frame_json__write(uint64_t frame, const struct sym_query *query, uint32_t level, bool kinds,
			 char text[FRAME_JSON_MAX])
{
	static const char *const words[] = {
		[FRAME_IS_MARK] = "mark",     [FRAME_IS_INLINED] = "inlined",
		[FRAME_IS_KERNEL] = "kernel", [FRAME_IS_GENERATED] = "generated",
		[FRAME_IS_USER] = "user",
	};
	enum frame_kind kind = frame_text__kind(frame, query, level);
	size_t length;

	if (kind == FRAME_IS_MARK) {
		const struct frame_style plain = {0};
		char mark[FRAME_TEXT_MAX];

		frame_text__write(&plain, frame, query, level, mark);
		return (size_t)sprintf(text, "{\"addr\":null,\"name\":\"%s\"%s}", mark,
				       kinds ? ",\"kind\":\"mark\"" : "");
	}
	length = (size_t)sprintf(text, "{\"addr\":");
	length += json_address(query, text + length);
	length += (size_t)sprintf(text + length, ",\"name\":");
	if (kind == FRAME_IS_INLINED)
		length += json_inlined(&query->inlined[level], text + length);
	else
		length += json_function(query, kind == FRAME_IS_KERNEL, text + length);
	if (kinds)
		length += (size_t)sprintf(text + length, ",\"kind\":\"%s\"", words[kind]);
	text[length++] = '}';
	text[length] = '\0';
	return length;
}
