// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/frame_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/util/text.h"
#include "sym/sym.h"

/* What -a puts behind kernel functions: flamegraph.pl looks for it. */
#define KERNEL_MARK "_[k]"

/* Text that grows at its end; FRAME_TEXT_MAX is room for all that comes. */
struct frame_text {
	const struct frame_style *style;
	char *text;
	size_t length;
};

static void add(struct frame_text *frame, const char *text)
{
	size_t length = strlen(text);

	memcpy(frame->text + frame->length, text, length + 1);
	frame->length += length;
}

static void add_hex(struct frame_text *frame, const char *before, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%s0x%" PRIx64, before, number);
	add(frame, text);
}

/* A name from anywhere, as it may be printed; returns where it begins. */
static char *add_clean(struct frame_text *frame, const char *name)
{
	char *start = frame->text + frame->length;

	frame->length +=
		text__clean(name, strlen(name), frame->style->folded, start, FRAME_NAME_MAX);
	return start;
}

/* "[unknown]", "-", "--" and "-     comm (42)" are ours; "-[Class method]" is Objective-C's. */
static bool looks_like_ours(const char *name)
{
	return name[0] == ' ' || name[0] == '[' ||
	       (name[0] == '-' && (name[1] == '\0' || name[1] == '-' || name[1] == ' '));
}

static void disarm_name(char *name, bool in_kernel)
{
	size_t length = strlen(name), mark = strlen(KERNEL_MARK);

	if (looks_like_ours(name))
		name[0] = '?';
	if (!in_kernel && length >= mark && !strcmp(name + length - mark, KERNEL_MARK))
		name[length - 1] = '?';
}

/* "vfs_read", with -s "vfs_read+0x9e", and with -v "ext4_sync_fs [ext4]" */
static void add_symbol(struct frame_text *frame, const struct sym_query *query, bool in_kernel)
{
	disarm_name(add_clean(frame, query->name), in_kernel);
	if (frame->style->offsets)
		add_hex(frame, "+", query->offset);
	if (in_kernel && frame->style->verbose && query->module) {
		add(frame, " [");
		add_clean(frame, query->module);
		add(frame, "]");
	}
}

/* "[unknown]", and with -v "[unknown] (libfoo.so+0x12ab)" where the file is known */
static void add_unknown(struct frame_text *frame, const struct sym_query *query)
{
	add(frame, "[unknown]");
	if (frame->style->verbose && query->module) {
		add(frame, " (");
		add_clean(frame, query->module);
		add_hex(frame, "+", query->module_offset);
		add(frame, ")");
	}
}

size_t frame_text__write(const struct frame_style *style, uint64_t address,
			 const struct sym_query *query, char text[FRAME_TEXT_MAX])
{
	struct frame_text frame = {.style = style, .text = text};
	bool in_kernel = frame_tag(address) == FRAME_KERNEL;

	if (frame_tag(address) == FRAME_MARK)
		return (size_t)snprintf(text, FRAME_TEXT_MAX, "[cut at %" PRIu32 " frames]",
					(uint32_t)address);
	if (query->name)
		add_symbol(&frame, query, in_kernel);
	else
		add_unknown(&frame, query);
	if (in_kernel && style->annotations)
		add(&frame, KERNEL_MARK);
	return frame.length;
}
