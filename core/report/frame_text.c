// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/frame_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/unwind/end.h"
#include "sym/types.h"
#include "sym/util/text.h"

/* Marks of -a behind kernel and inlined functions: flamegraph.pl looks for them. */
#define KERNEL_MARK	    "_[k]"
#define INLINED_MARK_FOLDED "_[i]"
#define INLINED_MARK	    " (inlined)"

#define UNKNOWN "[unknown]"

/* What stands around the file's name where a function begins. */
#define START_ROOM sizeof("[+0x0123456789abcdef]")

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

/* So much of a name from anywhere, as it may be printed; returns where it begins. */
static char *add_clean_part(struct frame_text *frame, const char *name, size_t size)
{
	char *start = frame->text + frame->length;

	frame->length += text__clean(name, strlen(name), frame->style->folded, start, size);
	return start;
}

static char *add_clean(struct frame_text *frame, const char *name)
{
	return add_clean_part(frame, name, FRAME_NAME_MAX);
}

/* The bytes of a blank at the start of name, behind which name could be a line of ours; or 0. */
static size_t leading_blank(const char *name)
{
	size_t length = strlen(name), size;
	uint32_t code = 0;

	size = length ? text__character(name, length, &code) : 0;
	return text__is_blank(code) ? size : 0;
}

/* "[unknown]", "-", "--" and "-     comm (42)" are ours; "-[Class method]" is Objective-C's. */
static bool looks_like_ours(const char *name)
{
	return name[0] == '[' ||
	       (name[0] == '-' && (name[1] == '\0' || name[1] == '-' || leading_blank(name + 1)));
}

static bool ends_with(const char *name, const char *mark)
{
	size_t length = strlen(name), mark_length = strlen(mark);

	return length >= mark_length && !strcmp(name + length - mark_length, mark);
}

/*
 * True if name ends as add_source() ends one: " at file.c:12", or ":file.c:12". A JIT map's names
 * do end like the latter; names in files do not, whatever the language.
 */
static bool has_source(const struct frame_text *frame, const char *name, bool generated)
{
	const char *mark = frame->style->folded ? ":" : " at ", *file = strstr(name, mark);
	const char *line = strrchr(name, ':');

	if (!file || (frame->style->folded && generated))
		return false;
	return line > file + strlen(mark) && line[1] && !line[1 + strspn(line + 1, "0123456789")];
}

static void disarm_name(const struct frame_text *frame, char *name, bool in_kernel, bool generated)
{
	memset(name, '?', looks_like_ours(name) ? 1 : leading_blank(name));
	if (ends_with(name, INLINED_MARK) || ends_with(name, INLINED_MARK_FOLDED) ||
	    (!in_kernel && ends_with(name, KERNEL_MARK)) || has_source(frame, name, generated))
		name[strlen(name) - 1] = '?';
}

/* "vfs_read", with -s "vfs_read+0x9e", and with -v "ext4_sync_fs [ext4]" */
static void add_symbol(struct frame_text *frame, const struct sym_query *query, bool in_kernel)
{
	disarm_name(frame, add_clean(frame, query->name), in_kernel, query->generated);
	if (frame->style->offsets)
		add_hex(frame, "+", query->offset);
	if (in_kernel && frame->style->verbose && query->module) {
		add(frame, " [");
		add_clean(frame, query->module);
		add(frame, "]");
	}
}

bool frame_text__has_start(const struct sym_query *query)
{
	return !query->name && query->module && query->function_start;
}

/*
 * "[libfoo.so+0x1200]": a function without a name, where it begins. No symbol has a bracket there.
 * All of our marks of more than one word have blanks, which files could have in their names, too.
 */
static void add_start(struct frame_text *frame, const struct sym_query *query)
{
	char *file;

	add(frame, "[");
	file = add_clean_part(frame, query->module, FRAME_NAME_MAX - START_ROOM);
	for (char *blank = file; (blank = strchr(blank, ' ')); blank++)
		*blank = '?';
	add_hex(frame, "+", query->function_start);
	add(frame, "]");
}

/*
 * "[unknown]", or where the function begins; with -s behind that "+0xab"; and with -v
 * "[unknown] (libfoo.so+0x12ab)" where the file is known
 */
static void add_unknown(struct frame_text *frame, const struct sym_query *query)
{
	if (frame->style->unnamed_alike || !frame_text__has_start(query)) {
		add(frame, UNKNOWN);
	} else {
		add_start(frame, query);
		if (frame->style->offsets)
			add_hex(frame, "+", query->offset);
	}
	if (frame->style->verbose && query->module) {
		add(frame, " (");
		add_clean(frame, query->module);
		add_hex(frame, "+", query->module_offset);
		add(frame, ")");
	}
}

/* " at file.c:12", in folded lines ":file.c:12"; "" where it is not known. */
static void add_source(struct frame_text *frame, const struct sym_source *source)
{
	const char *name = source->file;
	char line[16];

	if (!name || !source->line)
		return;
	if (!frame->style->verbose && strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	add(frame, frame->style->folded ? ":" : " at ");
	add_clean(frame, name);
	snprintf(line, sizeof(line), ":%" PRIu32, source->line);
	add(frame, line);
}

static void write_inlined(struct frame_text *frame, const struct sym_inlined *inlined)
{
	if (inlined->name)
		disarm_name(frame, add_clean(frame, inlined->name), false, false);
	else
		add(frame, UNKNOWN);
	if (!frame->style->folded)
		add(frame, INLINED_MARK);
	else if (frame->style->annotations)
		add(frame, INLINED_MARK_FOLDED);
	add_source(frame, &inlined->source);
}

static void write_function(struct frame_text *frame, const struct sym_query *query, bool in_kernel)
{
	if (query->name)
		add_symbol(frame, query, in_kernel);
	else
		add_unknown(frame, query);
	if (in_kernel && frame->style->annotations)
		add(frame, KERNEL_MARK);
	add_source(frame, &query->source);
}

static size_t length_of(const char *name)
{
	return name ? strnlen(name, FRAME_NAME_MAX) : 0;
}

uint32_t frame_text__inlined(const struct sym_query *query)
{
	size_t bytes = 0;
	uint32_t nr;

	for (nr = 0; nr < query->nr_inlined && nr < FRAME_INLINED_MAX; nr++) {
		const struct sym_inlined *inlined = &query->inlined[nr];

		bytes += length_of(inlined->name) + length_of(inlined->source.file);
		if (bytes > FRAME_INLINED_BYTES)
			break;
	}
	return nr;
}

uint32_t frame_text__levels(uint64_t frame, const struct sym_query *query)
{
	uint32_t inlined;

	if (frame_tag(frame) == FRAME_MARK)
		return 1;
	inlined = frame_text__inlined(query);
	return inlined + (inlined < query->nr_inlined) + 1;
}

enum frame_kind frame_text__kind(uint64_t frame, const struct sym_query *query, uint32_t level)
{
	uint32_t inlined;

	if (frame_tag(frame) == FRAME_MARK)
		return FRAME_IS_MARK;
	inlined = frame_text__inlined(query);
	if (level < inlined)
		return FRAME_IS_INLINED;
	if (level == inlined && inlined < query->nr_inlined)
		return FRAME_IS_MARK;
	if (frame_tag(frame) == FRAME_KERNEL)
		return FRAME_IS_KERNEL;
	return query->generated ? FRAME_IS_GENERATED : FRAME_IS_USER;
}

static size_t write_mark(uint64_t mark, char text[FRAME_TEXT_MAX])
{
	uint32_t argument = (uint32_t)mark;

	if (frame_mark_kind(mark) == MARK_STOPPED)
		return (size_t)snprintf(text, FRAME_TEXT_MAX, "[unwind stopped: %s]",
					unwind_end__text(argument));
	if (frame_mark_kind(mark) == MARK_LASTS)
		return (size_t)snprintf(text, FRAME_TEXT_MAX, "[still waiting]");
	return (size_t)snprintf(text, FRAME_TEXT_MAX, "[cut at %" PRIu32 " frames]", argument);
}

size_t frame_text__write(const struct frame_style *style, uint64_t address,
			 const struct sym_query *query, uint32_t level, char text[FRAME_TEXT_MAX])
{
	struct frame_text frame = {.style = style, .text = text};
	enum frame_kind kind = frame_text__kind(address, query, level);

	if (frame_tag(address) == FRAME_MARK)
		return write_mark(address, text);
	if (kind == FRAME_IS_MARK)
		return (size_t)snprintf(text, FRAME_TEXT_MAX, "[cut at %" PRIu32 " inlined calls]",
					level);
	if (kind == FRAME_IS_INLINED)
		write_inlined(&frame, &query->inlined[level]);
	else
		write_function(&frame, query, kind == FRAME_IS_KERNEL);
	return frame.length;
}

static void write_name(const char *name, bool in_kernel, bool generated, char text[FRAME_NAME_MAX])
{
	const struct frame_style plain = {0};
	struct frame_text frame = {.style = &plain, .text = text};

	if (name)
		disarm_name(&frame, add_clean(&frame, name), in_kernel, generated);
	else
		add(&frame, UNKNOWN);
}

void frame_text__function(const struct sym_query *query, bool in_kernel, char text[FRAME_NAME_MAX])
{
	const struct frame_style plain = {0};
	struct frame_text frame = {.style = &plain, .text = text};

	if (frame_text__has_start(query))
		add_start(&frame, query);
	else
		write_name(query->name, in_kernel, query->generated, text);
}

void frame_text__call(const struct sym_inlined *inlined, char text[FRAME_NAME_MAX])
{
	write_name(inlined->name, false, false, text);
}

void frame_text__print(FILE *out, const struct frame_style *style, uint64_t frame,
		       const struct sym_query *query, uint32_t level)
{
	char text[FRAME_TEXT_MAX];

	frame_text__write(style, frame, query, level, text);
	fputs(text, out);
}
