// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/stream_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/event_queue.h"
#include "core/sent_stacks.h"
#include "core/stream_names.h"
#include "core/util/clock.h"
#include "core/util/text.h"
#include "sym/sym.h"

/* ---- frames ---- */

static size_t text_frame(const struct stream_writer *writer, uint64_t frame,
			 const struct sym_query *query, char text[STREAM_FRAME_MAX])
{
	size_t length = 0;

	if (frame_tag(frame) != FRAME_MARK && !writer->style.folded)
		length = (size_t)sprintf(text, "%" PRIx64 " ", frame);
	return length + frame_text__write(&writer->style, frame, query, text + length);
}

/* What is cut off here is longer than any name that sym/ gives. */
static size_t json_string(const char *string, char *text)
{
	return json__quote(string, strnlen(string, FRAME_NAME_MAX), text,
			   JSON_STRING_SIZE(FRAME_NAME_MAX));
}

/* {"addr":"ffffffff81280461","name":"ext4_sync_fs","offset":18,"module":"ext4"} */
static size_t json_frame(const struct stream_writer *writer, uint64_t frame,
			 const struct sym_query *query, char *text)
{
	size_t length;

	if (frame_tag(frame) == FRAME_MARK) {
		char mark[FRAME_TEXT_MAX];

		frame_text__write(&writer->style, frame, NULL, mark);
		return (size_t)sprintf(text, "{\"addr\":null,\"name\":\"%s\"}", mark);
	}
	length = (size_t)sprintf(text, "{\"addr\":\"%" PRIx64 "\",\"name\":", frame);
	if (query->name) {
		length += json_string(query->name, text + length);
		length += (size_t)sprintf(text + length, ",\"offset\":%" PRIu64, query->offset);
	} else {
		length += (size_t)sprintf(text + length, "null");
	}
	if (query->module) {
		length += (size_t)sprintf(text + length, ",\"module\":");
		length += json_string(query->module, text + length);
	}
	if (query->module && frame_tag(frame) == FRAME_USER)
		length += (size_t)sprintf(text + length, ",\"module_offset\":%" PRIu64,
					  query->module_offset);
	text[length++] = '}';
	text[length] = '\0';
	return length;
}

size_t stream_writer__frame(const struct stream_writer *writer, uint64_t frame,
			    const struct sym_query *query, char text[STREAM_FRAME_MAX])
{
	return writer->json ? json_frame(writer, frame, query, text) :
			      text_frame(writer, frame, query, text);
}

/* ---- events ---- */

/* SECONDS.NANOSECONDS */
static size_t print_time(char *text, uint64_t time)
{
	uint64_t seconds = time / NANOSECONDS, rest = time % NANOSECONDS;

	return (size_t)sprintf(text, "%" PRIu64 ".%09" PRIu64, seconds, rest);
}

/* How many frames of the kernel stack are not shown. */
static uint32_t count_hidden(const struct stream_writer *writer, const struct sent_stack *kernel)
{
	uint32_t hidden = 0;

	while (writer->hides_tracing && hidden < kernel->nr && kernel->shown[hidden]->tracing)
		hidden++;
	return hidden;
}

static void put(FILE *out, const char *text, size_t length)
{
	fwrite_unlocked(text, 1, length, out);
}

/* Wide enough for most; the rest is cut off. */
#define COMM_COLUMN 12

/* What each row of an event begins with. */
struct row_prefix {
	char text[128];
	size_t length;
};

static void make_prefix(const struct stream_writer *writer, const struct stream_event *event,
			struct row_prefix *prefix)
{
	char time[48], comm[COMM_COLUMN + 1];

	print_time(time, event->time);
	prefix->length = (size_t)sprintf(prefix->text, "%-18s ", time);
	if (!writer->style.verbose)
		return;
	text__clean(event->comm, strnlen(event->comm, COMM_LEN), false, comm, sizeof(comm));
	prefix->length +=
		(size_t)sprintf(prefix->text + prefix->length, "%-*s %-6" PRIu32 " %-3" PRIu32 " ",
				COMM_COLUMN, comm, event->tgid, event->cpu);
}

static void print_row(FILE *out, const struct row_prefix *prefix, const char *text, size_t length)
{
	put(out, prefix->text, prefix->length);
	put(out, text, length);
	putc_unlocked('\n', out);
}

/* "ip: " for the leaf, then "r0: ", "r1: ", ...: by hand, since most rows have little more. */
static size_t print_label(char label[16], uint32_t i)
{
	size_t length = 0;

	label[length++] = i ? 'r' : 'i';
	if (i == 0)
		label[length++] = 'p';
	if (i > 100)
		label[length++] = (char)('0' + (i - 1) / 100);
	if (i > 10)
		label[length++] = (char)('0' + (i - 1) / 10 % 10);
	if (i > 0)
		label[length++] = (char)('0' + (i - 1) % 10);
	label[length++] = ':';
	label[length++] = ' ';
	return length;
}

static void print_rows(FILE *out, const struct row_prefix *prefix, const struct sent_stack *stack,
		       uint32_t hidden)
{
	for (uint32_t i = hidden; i < stack->nr; i++) {
		char label[16];

		put(out, prefix->text, prefix->length);
		put(out, label, print_label(label, i - hidden));
		put(out, stack->shown[i]->text, stack->shown[i]->length);
		putc_unlocked('\n', out);
	}
}

static void print_text(const struct stream_writer *writer, const struct stream_event *event)
{
	struct row_prefix prefix;

	make_prefix(writer, event, &prefix);
	print_row(writer->out, &prefix, "", 0);
	print_rows(writer->out, &prefix, event->kernel, count_hidden(writer, event->kernel));
	if (writer->delimited)
		print_row(writer->out, &prefix, "--", 2);
	print_rows(writer->out, &prefix, event->user, 0);
}

static void print_json_stack(FILE *out, const char *key, const struct sent_stack *stack,
			     uint32_t hidden)
{
	fputs_unlocked(key, out);
	for (uint32_t i = hidden; i < stack->nr; i++) {
		if (i > hidden)
			putc_unlocked(',', out);
		put(out, stack->shown[i]->text, stack->shown[i]->length);
	}
	putc_unlocked(']', out);
}

static void print_json(const struct stream_writer *writer, const struct stream_event *event)
{
	char time[48], comm[JSON_STRING_SIZE(COMM_LEN)];

	print_time(time, event->time);
	json__quote(event->comm, strnlen(event->comm, COMM_LEN), comm, sizeof(comm));
	fprintf(writer->out,
		"{\"time\":\"%s\",\"comm\":%s,\"pid\":%" PRIu32 ",\"tid\":%" PRIu32
		",\"cpu\":%" PRIu32,
		time, comm, event->tgid, event->tid, event->cpu);
	if (writer->kernel)
		print_json_stack(writer->out, ",\"kernel\":[", event->kernel,
				 count_hidden(writer, event->kernel));
	if (writer->user)
		print_json_stack(writer->out, ",\"user\":[", event->user, 0);
	fputs_unlocked("}\n", writer->out);
}

/* Root first. */
static void print_words(FILE *out, const struct sent_stack *stack, uint32_t hidden)
{
	for (uint32_t i = stack->nr; i-- > hidden;) {
		putc_unlocked(';', out);
		put(out, stack->shown[i]->text, stack->shown[i]->length);
	}
}

static void print_folded(const struct stream_writer *writer, const struct stream_event *event)
{
	char comm[COMM_LEN + 1];

	/* A thread can call itself nothing, but a line has to begin with something. */
	if (!text__clean(event->comm, strnlen(event->comm, COMM_LEN), true, comm, sizeof(comm)))
		strcpy(comm, "?");
	fputs_unlocked(comm, writer->out);
	print_words(writer->out, event->user, 0);
	if (writer->delimited)
		fputs_unlocked(";-", writer->out);
	print_words(writer->out, event->kernel, count_hidden(writer, event->kernel));
	fputs_unlocked(" 1\n", writer->out);
}

/* In folded lines there is no place for it: stderr has the sum. */
static void print_gap(const struct stream_writer *writer, const struct stream_event *gap)
{
	char time[48];

	print_time(time, gap->time);
	if (writer->json)
		fprintf(writer->out, "{\"lost\":%" PRIu64 ",\"time\":\"%s\"}\n", gap->lost, time);
	else if (!writer->style.folded)
		fprintf(writer->out, "lost %" PRIu64 " events\n", gap->lost);
}

void stream_writer__print_header(const struct stream_writer *writer)
{
	if (writer->json || writer->style.folded)
		return;
	fprintf(writer->out, "%-18s ", "TIME(s)");
	if (writer->style.verbose)
		fprintf(writer->out, "%-*s %-6s %-3s ", COMM_COLUMN, "COMM", "PID", "CPU");
	fputs("STACK\n", writer->out);
}

void stream_writer__print(const struct stream_writer *writer, const struct stream_event *event)
{
	if (event->lost)
		print_gap(writer, event);
	else if (writer->json)
		print_json(writer, event);
	else if (writer->style.folded)
		print_folded(writer, event);
	else
		print_text(writer, event);
}
