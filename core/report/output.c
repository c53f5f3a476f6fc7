// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "core/names/frame_names.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/error.h"
#include "sym/util/text.h"

int output__check(FILE *out)
{
	int flags = fcntl(fileno(out), F_GETFL);

	return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
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

int output__finish(FILE *out, struct error *error)
{
	int err = output__flush(out);

	return err ? output__failed(err, error) : 0;
}

/* The answer for frame i; NULL for a mark. */
static const struct sym_query *answer_for(const struct stack_writer *writer,
					  const struct counted_stack *item,
					  const struct frames *frames, uint32_t i)
{
	uint64_t frame = frames->frames[i];

	if (frame_tag(frame) == FRAME_MARK)
		return NULL;
	return frame_names__get(writer->names, item, frame, frame__is_return_address(frame, i));
}

static void print_level(const struct stack_writer *writer, uint64_t frame,
			const struct sym_query *query, uint32_t level)
{
	char text[FRAME_TEXT_MAX];

	frame_text__write(&writer->style, frame, query, level, text);
	fputs(text, writer->out);
}

static void clean_comm(const struct counted_stack *item, bool folded, char clean[COMM_LEN + 1])
{
	size_t length = strnlen(item->key.comm, COMM_LEN);

	/* A thread can call itself nothing, but a folded line has to begin with something. */
	if (!text__clean(item->key.comm, length, folded, clean, COMM_LEN + 1))
		strcpy(clean, "?");
}

static bool wants_delimiter(const struct stack_writer *writer, const struct counted_stack *item)
{
	return writer->delimited &&
	       (writer->layout->delimits_always || (item->kernel->nr && item->user->nr));
}

/* A mark has no address, nor has what only its file is known of; names stay in their column. */
static void print_address(FILE *out, const struct sym_query *query)
{
	if (query && !query->in_file)
		fprintf(out, "%-16" PRIx64 " ", query->address);
	else
		fprintf(out, "%-16s ", "-");
}

/* A line for each function that the address is in. */
static void print_frame(const struct stack_writer *writer, uint64_t frame,
			const struct sym_query *query)
{
	for (uint32_t level = 0; level < frame_text__levels(frame, query); level++) {
		fputs(writer->layout->frame_indent, writer->out);
		if (writer->style.verbose)
			print_address(writer->out, query);
		print_level(writer, frame, query, level);
		fputc('\n', writer->out);
	}
}

static void print_lines(const struct stack_writer *writer, const struct counted_stack *item,
			const struct frames *frames, uint32_t hidden)
{
	for (uint32_t i = hidden; i < frames->nr; i++)
		print_frame(writer, frames->frames[i], answer_for(writer, item, frames, i));
}

static void print_text(const struct stack_writer *writer, const struct counted_stack *item)
{
	char comm[COMM_LEN + 1];

	print_lines(writer, item, item->kernel, item->hidden);
	if (wants_delimiter(writer, item))
		fputs("    --\n", writer->out);
	print_lines(writer, item, item->user, 0);
	if (writer->processes) {
		clean_comm(item, false, comm);
		writer->layout->print_process(writer->out, comm, item->key.tgid);
	}
	fprintf(writer->out, "%s%" PRIu64 "\n\n", writer->layout->count_indent, item->count);
}

/* What comes in front of the next word of a folded line; "" before the first. */
static void print_separator(const struct stack_writer *writer, bool *first)
{
	if (!*first)
		fputc(';', writer->out);
	*first = false;
}

/* Root first. */
static void print_folded_frames(const struct stack_writer *writer, const struct counted_stack *item,
				const struct frames *frames, uint32_t hidden, bool *first)
{
	for (uint32_t i = frames->nr; i-- > hidden;) {
		const struct sym_query *query = answer_for(writer, item, frames, i);

		for (uint32_t level = frame_text__levels(frames->frames[i], query); level-- > 0;) {
			print_separator(writer, first);
			print_level(writer, frames->frames[i], query, level);
		}
	}
}

static void print_folded(const struct stack_writer *writer, const struct counted_stack *item)
{
	char comm[COMM_LEN + 1];
	bool first = true;

	if (writer->comms) {
		clean_comm(item, true, comm);
		print_separator(writer, &first);
		fputs(comm, writer->out);
	}
	print_folded_frames(writer, item, item->user, 0, &first);
	if (wants_delimiter(writer, item)) {
		print_separator(writer, &first);
		fputc('-', writer->out);
	}
	print_folded_frames(writer, item, item->kernel, item->hidden, &first);
	if (first)
		fputs("[unknown]", writer->out); /* nothing is known but that it was */
	fprintf(writer->out, " %" PRIu64 "\n", item->count);
}

void stack_writer__print(const struct stack_writer *writer, const struct stack_counts *counts)
{
	for (size_t i = 0; i < counts->nr; i++) {
		if (writer->style.folded)
			print_folded(writer, &counts->items[i]);
		else
			print_text(writer, &counts->items[i]);
	}
}
