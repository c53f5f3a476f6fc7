// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/output.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/frame_names.h"
#include "core/stacks.h"
#include "core/util/error.h"
#include "sym/sym.h"

/* A longer name is cut: the demangled names of real programs reach a few KB. */
#define NAME_MAX_PRINTED 4096

/*
 * The length of the UTF-8 character at text (Unicode 15, table 3-7), 0 if there
 * is none in the first length bytes. C1 control characters do not count: some
 * terminals obey them.
 */
static size_t utf8_character(const unsigned char *text, size_t length)
{
	unsigned char low = 0x80, high = 0xBF;
	size_t size;

	if (text[0] >= 0xC2 && text[0] <= 0xDF)
		size = 2;
	else if (text[0] >= 0xE0 && text[0] <= 0xEF)
		size = 3;
	else if (text[0] >= 0xF0 && text[0] <= 0xF4)
		size = 4;
	else
		return 0;
	if (size > length)
		return 0;
	if (text[0] == 0xC2 || text[0] == 0xE0)
		low = 0xA0; /* C1; overlong */
	else if (text[0] == 0xED)
		high = 0x9F; /* surrogates */
	else if (text[0] == 0xF0)
		low = 0x90; /* overlong */
	else if (text[0] == 0xF4)
		high = 0x8F; /* above U+10FFFF */
	if (text[1] < low || text[1] > high)
		return 0;
	for (size_t i = 2; i < size; i++)
		if (text[i] < 0x80 || text[i] > 0xBF)
			return 0;
	return size;
}

size_t output__clean_name(const char *name, size_t length, bool folded, char *clean, size_t size)
{
	const unsigned char *text = (const unsigned char *)name;
	size_t used = 0;

	for (size_t i = 0, step; i < length; i += step) {
		const char *piece = name + i;

		step = 1;
		if (text[i] >= 0x80) {
			step = utf8_character(text + i, length - i);
			if (!step) {
				step = 1;
				piece = "?";
			}
		} else if (text[i] < ' ' || text[i] == 0x7F) {
			piece = "?";
		} else if (folded && text[i] == ';') {
			piece = ":";
		}
		if (used + step >= size)
			break;
		memcpy(clean + used, piece, step);
		used += step;
	}
	clean[used] = '\0';
	return used;
}

int output__flush(FILE *out)
{
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}

int output__failed(int code, struct error *error)
{
	if (code == -EPIPE || code == -EBADF)
		error->text[0] = '\0';
	else
		error__set(error, code, "cannot write the output: %s", strerror(-code));
	return code;
}

static void print_mark(FILE *out, uint64_t mark)
{
	fprintf(out, "[cut at %" PRIu32 " frames]", (uint32_t)mark);
}

/* The name of frame i, without what surrounds it. */
static void print_frame(const struct stack_writer *writer, const struct frames *frames, uint32_t i,
			uint32_t tgid)
{
	uint64_t frame = frames->frames[i];
	const struct sym_query *query;
	char clean[NAME_MAX_PRINTED];

	if (frame_tag(frame) == FRAME_MARK) {
		print_mark(writer->out, frame);
		return;
	}
	query = frame_names__get(writer->names, frame, tgid, frames__return_address(i));
	if (!query->name) {
		fputs("[unknown]", writer->out);
		return;
	}
	output__clean_name(query->name, strlen(query->name), writer->folded, clean, sizeof(clean));
	fputs(clean, writer->out);
	if (writer->offsets)
		fprintf(writer->out, "+0x%" PRIx64, query->offset);
}

static void clean_comm(const struct counted_stack *item, bool folded, char clean[COMM_LEN + 1])
{
	size_t length = strnlen(item->key.comm, COMM_LEN);

	output__clean_name(item->key.comm, length, folded, clean, COMM_LEN + 1);
}

static bool wants_delimiter(const struct stack_writer *writer, const struct counted_stack *item)
{
	return writer->delimited && item->kernel->nr && item->user->nr;
}

static void print_lines(const struct stack_writer *writer, const struct frames *frames,
			uint32_t tgid)
{
	for (uint32_t i = 0; i < frames->nr; i++) {
		fputs(writer->layout->frame_indent, writer->out);
		print_frame(writer, frames, i, tgid);
		fputc('\n', writer->out);
	}
}

static void print_text(const struct stack_writer *writer, const struct counted_stack *item)
{
	char comm[COMM_LEN + 1];

	print_lines(writer, item->kernel, item->key.tgid);
	if (wants_delimiter(writer, item))
		fputs("    --\n", writer->out);
	print_lines(writer, item->user, item->key.tgid);
	clean_comm(item, false, comm);
	writer->layout->print_process(writer->out, comm, item->key.tgid);
	fprintf(writer->out, "%s%" PRIu64 "\n\n", writer->layout->count_indent, item->count);
}

/* Root first, each behind a semicolon. */
static void print_folded_frames(const struct stack_writer *writer, const struct frames *frames,
				uint32_t tgid)
{
	for (uint32_t i = frames->nr; i-- > 0;) {
		fputc(';', writer->out);
		print_frame(writer, frames, i, tgid);
	}
}

static void print_folded(const struct stack_writer *writer, const struct counted_stack *item)
{
	char comm[COMM_LEN + 1];

	clean_comm(item, true, comm);
	fputs(comm, writer->out);
	print_folded_frames(writer, item->user, item->key.tgid);
	if (wants_delimiter(writer, item))
		fputs(";-", writer->out);
	print_folded_frames(writer, item->kernel, item->key.tgid);
	fprintf(writer->out, " %" PRIu64 "\n", item->count);
}

void stack_writer__print(const struct stack_writer *writer, const struct stack_counts *counts)
{
	for (size_t i = 0; i < counts->nr; i++) {
		if (writer->folded)
			print_folded(writer, &counts->items[i]);
		else
			print_text(writer, &counts->items[i]);
	}
}
