// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream/writer.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/stream/event_queue.h"
#include "core/stream/names.h"
#include "core/stream/sent_stacks.h"
#include "core/trace/containers.h"
#include "sym/types.h"
#include "sym/util/clock.h"
#include "sym/util/text.h"

/* ---- frames ---- */

/* "7f0000001000 ", or "- " where only the file is known. */
static size_t text_address(const struct sym_query *query, char *text)
{
	return (size_t)(query->in_file ? sprintf(text, "- ") :
					 sprintf(text, "%" PRIx64 " ", query->address));
}

static size_t text_level(const struct stream_writer *writer, uint64_t frame,
			 const struct sym_query *query, uint32_t level, char *text)
{
	struct frame_style style = writer->style;
	size_t length = 0;

	style.folded = writer->form == STREAM_FOLDED;
	if (frame_tag(frame) != FRAME_MARK && !style.folded)
		length = text_address(query, text);
	return length + frame_text__write(&style, frame, query, level, text + length);
}

/* The file: for the kernel a name that readers know it by. */
static size_t perf_file(uint64_t frame, const struct sym_query *query, char *text)
{
	bool in_kernel = frame_tag(frame) == FRAME_KERNEL;
	const char *file = query->path ? query->path : query->module;
	size_t length = 0;

	if (!file)
		return (size_t)sprintf(text, in_kernel ? "[kernel.kallsyms]" : "[unknown]");
	if (in_kernel)
		text[length++] = '[';
	length += text__clean(file, query->path ? mapping_path__length(file) : strlen(file), false,
			      text + length, FRAME_NAME_MAX);
	strcpy(text + length, in_kernel ? "]" : "");
	return length + in_kernel;
}

/* "	ffffffff81280461 ext4_sync_fs+0x12 ([ext4])", "	     55d0c1a0 min (inlined)" */
static size_t perf_level(const struct stream_writer *writer, uint64_t frame,
			 const struct sym_query *query, uint32_t level, char *text)
{
	enum frame_kind kind = frame_text__kind(frame, query, level);
	bool has_address = frame_tag(frame) != FRAME_MARK && !query->in_file;
	size_t length = (size_t)sprintf(text, "\t%16" PRIx64 " ", has_address ? query->address : 0);

	if (kind == FRAME_IS_MARK) {
		length += frame_text__write(&writer->style, frame, query, level, text + length);
		return length + (size_t)sprintf(text + length, " ([unknown])");
	}
	if (kind == FRAME_IS_INLINED)
		frame_text__call(&query->inlined[level], text + length);
	else
		frame_text__function(query, kind == FRAME_IS_KERNEL, text + length);
	length += strlen(text + length);
	if (kind == FRAME_IS_INLINED)
		return length + (size_t)sprintf(text + length, " (inlined)");
	if (query->name || frame_text__has_start(query))
		length += (size_t)sprintf(text + length, "+0x%" PRIx64, query->offset);
	length += (size_t)sprintf(text + length, " (");
	length += perf_file(frame, query, text + length);
	return length + (size_t)sprintf(text + length, ")");
}

size_t stream_writer__level(const struct stream_writer *writer, uint64_t frame,
			    const struct sym_query *query, uint32_t number,
			    char text[STREAM_LEVEL_MAX])
{
	/* Folded lines begin with the root. */
	uint32_t last = frame_text__levels(frame, query) - 1;
	uint32_t level = writer->form == STREAM_FOLDED ? last - number : number;

	if (writer->form == STREAM_JSON)
		return frame_json__write(frame, query, level, false, text);
	return writer->form == STREAM_PERF ? perf_level(writer, frame, query, level, text) :
					     text_level(writer, frame, query, level, text);
}

char stream_writer__separator(const struct stream_writer *writer)
{
	return writer->form == STREAM_JSON ? ',' : writer->form == STREAM_FOLDED ? ';' : '\n';
}

/* ---- events ---- */

#define TIME_SIZE 32

/*
 * SECONDS.NANOSECONDS, with a NUL. Without printf(), here and below: that would take more time than
 * all the rest of an event.
 */
static size_t print_time(char text[TIME_SIZE], uint64_t time)
{
	uint64_t seconds = time / NANOSECONDS, rest = time % NANOSECONDS;
	char digits[TIME_SIZE], *first = digits + sizeof(digits);
	size_t length;

	for (int i = 0; i < 9; i++, rest /= 10)
		*--first = (char)('0' + rest % 10);
	*--first = '.';
	do
		*--first = (char)('0' + seconds % 10);
	while (seconds /= 10);
	length = (size_t)(digits + sizeof(digits) - first);
	memcpy(text, first, length);
	text[length] = '\0';
	return length;
}

/* How many frames of the kernel stack are not shown. */
static uint32_t count_hidden(const struct stream_writer *writer, const struct sent_stack *kernel)
{
	uint32_t hidden = 0;

	while (writer->hides_tracing && hidden < kernel->nr && kernel->shown[hidden]->tracing)
		hidden++;
	return hidden;
}

/* Text that goes to out in one piece. */
struct piece {
	FILE *out;
	size_t length;
	char text[8 * 1024];
};

static void flush(struct piece *piece)
{
	fwrite_unlocked(piece->text, 1, piece->length, piece->out);
	piece->length = 0;
}

static void put(struct piece *piece, const char *text, size_t length)
{
	if (length > sizeof(piece->text) - piece->length)
		flush(piece);
	if (length > sizeof(piece->text)) {
		fwrite_unlocked(text, 1, length, piece->out);
		return;
	}
	memcpy(piece->text + piece->length, text, length);
	piece->length += length;
}

static void put_string(struct piece *piece, const char *text)
{
	put(piece, text, strlen(text));
}

/* Wide enough for most; the rest is cut off. */
#define COMM_COLUMN 12
#define TIME_COLUMN 18

/* The beginning of each row of an event. */
struct row_prefix {
	char text[128];
	size_t length;
};

/* NULL: in none. */
static const char *container_of(const struct stream_writer *writer,
				const struct stream_event *event)
{
	return writer->containers ? containers__find(writer->containers, event->cgroup) : NULL;
}

static void add_thread(const struct stream_event *event, struct row_prefix *prefix)
{
	char comm[COMM_COLUMN + 1];

	text__clean(event->comm, strnlen(event->comm, COMM_LEN), false, comm, sizeof(comm));
	prefix->length +=
		(size_t)sprintf(prefix->text + prefix->length, "%-*s %-6" PRIu32 " %-3" PRIu32 " ",
				COMM_COLUMN, comm, event->tgid, event->cpu);
}

/* id: NULL if it is in none. */
static void add_container(const char *id, struct row_prefix *prefix)
{
	char container[CONTAINER_SHORT + 1];

	text__clean(id ? id : "-", id ? strlen(id) : 1, false, container, sizeof(container));
	prefix->length +=
		(size_t)sprintf(prefix->text + prefix->length, "%-*s ", CONTAINER_SHORT, container);
}

static void make_prefix(const struct stream_writer *writer, const struct stream_event *event,
			struct row_prefix *prefix)
{
	prefix->length = print_time(prefix->text, event->time);
	while (prefix->length < TIME_COLUMN)
		prefix->text[prefix->length++] = ' ';
	prefix->text[prefix->length++] = ' ';
	if (writer->style.verbose)
		add_thread(event, prefix);
	if (writer->container_column)
		add_container(container_of(writer, event), prefix);
}

static void print_row(struct piece *piece, const struct row_prefix *prefix, const char *text)
{
	put(piece, prefix->text, prefix->length);
	put_string(piece, text);
}

/* "ip: " for the leaf, then "r0: ", "r1: ", .... Returns the length. */
static size_t print_label(char label[16], uint32_t i)
{
	size_t length = 0;

	label[length++] = i ? 'r' : 'i';
	if (i == 0)
		label[length++] = 'p';
	if (i > 1000)
		label[length++] = (char)('0' + (i - 1) / 1000 % 10);
	if (i > 100)
		label[length++] = (char)('0' + (i - 1) / 100 % 10);
	if (i > 10)
		label[length++] = (char)('0' + (i - 1) / 10 % 10);
	if (i > 0)
		label[length++] = (char)('0' + (i - 1) % 10);
	label[length++] = ':';
	label[length++] = ' ';
	return length;
}

/* The rows of one frame; returns the number of the next. */
static uint32_t print_levels(struct piece *piece, const struct row_prefix *prefix,
			     const struct shown_frame *shown, uint32_t row)
{
	const char *text = shown->text, *end = text + shown->length;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *next = newline ? newline : end;
		char label[16];

		put(piece, prefix->text, prefix->length);
		put(piece, label, print_label(label, row++));
		put(piece, text, (size_t)(next - text));
		put(piece, "\n", 1);
		text = next + 1;
	}
	return row;
}

static void print_rows(struct piece *piece, const struct row_prefix *prefix,
		       const struct sent_stack *stack, uint32_t hidden)
{
	uint32_t row = 0;

	for (uint32_t i = hidden; i < stack->nr; i++)
		row = print_levels(piece, prefix, stack->shown[i], row);
}

static void print_text(const struct stream_writer *writer, const struct stream_event *event,
		       struct piece *piece)
{
	struct row_prefix prefix;

	make_prefix(writer, event, &prefix);
	print_row(piece, &prefix, "\n");
	print_rows(piece, &prefix, event->kernel, count_hidden(writer, event->kernel));
	if (writer->delimited)
		print_row(piece, &prefix, "--\n");
	print_rows(piece, &prefix, event->user, 0);
}

static void print_json_stack(struct piece *piece, const char *key, const struct sent_stack *stack,
			     uint32_t hidden)
{
	put_string(piece, key);
	for (uint32_t i = hidden; i < stack->nr; i++) {
		if (i > hidden)
			put(piece, ",", 1);
		put(piece, stack->shown[i]->text, stack->shown[i]->length);
	}
	put(piece, "]", 1);
}

static void print_json(const struct stream_writer *writer, const struct stream_event *event,
		       struct piece *piece)
{
	char time[TIME_SIZE], comm[JSON_STRING_SIZE(COMM_LEN)], start[256];
	const char *id = container_of(writer, event);
	char quoted[JSON_STRING_SIZE(NAME_MAX)];

	print_time(time, event->time);
	json__quote(event->comm, strnlen(event->comm, COMM_LEN), comm, sizeof(comm));
	snprintf(start, sizeof(start),
		 "{\"time\":\"%s\",\"comm\":%s,\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
		 ",\"cpu\":%" PRIu32,
		 time, comm, event->tgid, event->tid, event->cpu);
	put_string(piece, start);
	if (id) {
		put_string(piece, ",\"container\":");
		json__quote(id, strlen(id), quoted, sizeof(quoted));
		put_string(piece, quoted);
	}
	if (writer->kernel)
		print_json_stack(piece, ",\"kernel\":[", event->kernel,
				 count_hidden(writer, event->kernel));
	if (writer->user)
		print_json_stack(piece, ",\"user\":[", event->user, 0);
	put_string(piece, "}\n");
}

/* Root first. */
static void print_words(struct piece *piece, const struct sent_stack *stack, uint32_t hidden)
{
	for (uint32_t i = stack->nr; i-- > hidden;) {
		put(piece, ";", 1);
		put(piece, stack->shown[i]->text, stack->shown[i]->length);
	}
}

static void print_folded(const struct stream_writer *writer, const struct stream_event *event,
			 struct piece *piece)
{
	char comm[COMM_LEN + 1];

	/* A thread can call itself nothing, but a line has to begin with something. */
	if (!text__clean(event->comm, strnlen(event->comm, COMM_LEN), true, comm, sizeof(comm)))
		strcpy(comm, "?");
	put_string(piece, comm);
	print_words(piece, event->user, 0);
	if (writer->delimited)
		put_string(piece, ";-");
	print_words(piece, event->kernel, count_hidden(writer, event->kernel));
	put_string(piece, " 1\n");
}

void stream_writer__set_event(struct stream_writer *writer, const char *pattern)
{
	const char *slash = strrchr(pattern, '/');

	/* As perf calls tracepoints; and of a file its name is enough. */
	if (slash)
		pattern = slash + 1;
	else if (!strncmp(pattern, "t:", 2))
		pattern += 2;
	text__clean(pattern, strlen(pattern), false, writer->event, sizeof(writer->event));
	for (char *at = writer->event; (at = strpbrk(at, " ")); at++)
		*at = '?';
}

static void print_perf_stack(struct piece *piece, const struct sent_stack *stack, uint32_t hidden)
{
	for (uint32_t i = hidden; i < stack->nr; i++) {
		put(piece, stack->shown[i]->text, stack->shown[i]->length);
		put(piece, "\n", 1);
	}
}

/* A line for the event, one for each frame, and an empty one. */
static void print_perf(const struct stream_writer *writer, const struct stream_event *event,
		       struct piece *piece)
{
	char time[TIME_SIZE], comm[COMM_LEN + 1], start[512];

	print_time(time, event->time);
	/* A reader takes a blank at the start for that of a frame. */
	if (!text__clean(event->comm, strnlen(event->comm, COMM_LEN), false, comm, sizeof(comm)))
		strcpy(comm, "?");
	comm[0] = comm[0] == ' ' ? '?' : comm[0];
	snprintf(start, sizeof(start), "%s %" PRIu32 "/%" PRIu32 " [%03" PRIu32 "] %s: 1 %s: \n",
		 comm, event->tgid, event->tid, event->cpu, time, writer->event);
	put_string(piece, start);
	print_perf_stack(piece, event->kernel, count_hidden(writer, event->kernel));
	print_perf_stack(piece, event->user, 0);
	put(piece, "\n", 1);
}

/* Folded lines, and those of perf, have no place for a gap: stderr has the sum. */
static void print_gap(const struct stream_writer *writer, const struct stream_event *gap)
{
	char time[TIME_SIZE];

	print_time(time, gap->time);
	if (writer->form == STREAM_JSON)
		fprintf(writer->out, "{\"lost\":%" PRIu64 ",\"time\":\"%s\"}\n", gap->lost, time);
	else if (writer->form == STREAM_TEXT)
		fprintf(writer->out, "lost %" PRIu64 " events\n", gap->lost);
}

void stream_writer__print_header(const struct stream_writer *writer)
{
	if (writer->form != STREAM_TEXT)
		return;
	fprintf(writer->out, "%-18s ", "TIME(s)");
	if (writer->style.verbose)
		fprintf(writer->out, "%-*s %-6s %-3s ", COMM_COLUMN, "COMM", "PID", "CPU");
	if (writer->container_column)
		fprintf(writer->out, "%-*s ", CONTAINER_SHORT, "CONTAINER");
	fputs("STACK\n", writer->out);
}

static void (*const printers[])(const struct stream_writer *writer,
				const struct stream_event *event, struct piece *piece) = {
	[STREAM_TEXT] = print_text,
	[STREAM_FOLDED] = print_folded,
	[STREAM_JSON] = print_json,
	[STREAM_PERF] = print_perf,
};

void stream_writer__print(const struct stream_writer *writer, const struct stream_event *event)
{
	struct piece piece;

	piece.out = writer->out;
	piece.length = 0;
	if (event->lost)
		print_gap(writer, event);
	else
		printers[writer->form](writer, event, &piece);
	flush(&piece);
}
