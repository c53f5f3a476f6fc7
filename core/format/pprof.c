// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A profile as pprof reads it. Messages of a repeated field may stand anywhere in the stream, so
 * each stack is written by itself: memory is for what the stacks share, names and files.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/format/about.h"
#include "core/format/format.h"
#include "core/format/gzip.h"
#include "core/format/pprof_mappings.h"
#include "core/format/profile.pb-c.h"
#include "core/names/frame_names.h"
#include "core/trace/accounting.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/number.h"
#include "sym/util/text.h"
#include "sym/util/text_set.h"

typedef Perftools__Profiles__Profile Profile;
typedef Perftools__Profiles__ValueType ValueType;
typedef Perftools__Profiles__Sample Sample;
typedef Perftools__Profiles__Label Label;
typedef Perftools__Profiles__Mapping Mapping;
typedef Perftools__Profiles__Location Location;
typedef Perftools__Profiles__Line Line;
typedef Perftools__Profiles__Function Function;

struct pprof {
	ProtobufCBuffer base; /* where packed messages go */
	struct gzip gzip;
	const struct shown_stacks *shown;
	struct pprof_mappings mappings;
	struct text_set strings;   /* the string table */
	struct text_set functions; /* by the numbers of their strings */
	struct text_set marks;	   /* locations of no frame, behind those of frames */
	int err;		   /* 0 or -ENOMEM */
};

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *data)
{
	gzip__write(&((struct pprof *)(void *)buffer)->gzip, data, size);
}

/* Write a part of the profile. */
static void emit(struct pprof *pprof, const Profile *part)
{
	perftools__profiles__profile__pack_to_buffer(part, &pprof->base);
}

/* ---- what others refer to by number: written when it is used first ---- */

/* *number: that of a text in a set; true if it is new. */
static bool is_new(struct pprof *pprof, struct text_set *set, const char *text, uint32_t *number)
{
	size_t before = set->nr;

	*number = 0;
	if (text_set__add(set, text, number))
		pprof->err = -ENOMEM;
	return set->nr > before;
}

static int64_t string_number(struct pprof *pprof, const char *text)
{
	char *strings[] = {(char *)(uintptr_t)text};
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	uint32_t number;

	part.n_string_table = 1;
	part.string_table = strings;
	if (is_new(pprof, &pprof->strings, text, &number))
		emit(pprof, &part);
	return number;
}

static int64_t clean_string(struct pprof *pprof, const char *text)
{
	char clean[FRAME_NAME_MAX];

	text__clean(text, strlen(text), false, clean, sizeof(clean));
	return string_number(pprof, clean);
}

/*
 * symbol: as it stands in the file; NULL: the same. Readers take a name that differs from it as it
 * is; of others they try to drop parameters, and take "(anonymous namespace)" for some. It also
 * tells functions of one name apart.
 */
static uint64_t function_id(struct pprof *pprof, const char *name, const char *symbol,
			    const char *file)
{
	Function function = PERFTOOLS__PROFILES__FUNCTION__INIT, *functions[] = {&function};
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	char key[96];
	uint32_t number;

	function.name = string_number(pprof, name);
	function.system_name = symbol ? clean_string(pprof, symbol) : function.name;
	function.filename = file ? clean_string(pprof, file) : 0;
	snprintf(key, sizeof(key), "%" PRId64 " %" PRId64 " %" PRId64, function.name,
		 function.system_name, function.filename);
	part.n_function = 1;
	part.function = functions;
	if (is_new(pprof, &pprof->functions, key, &number)) {
		function.id = number + 1;
		emit(pprof, &part);
	}
	return number + 1;
}

/* ---- locations ---- */

/* The functions at an address, the innermost inlined call first. */
struct lines {
	Line lines[FRAME_INLINED_MAX + 2], *pointers[FRAME_INLINED_MAX + 2];
	size_t nr;
};

static void add_line(struct pprof *pprof, struct lines *lines, const char *name, const char *symbol,
		     const struct sym_source *source)
{
	Line *line = &lines->lines[lines->nr];

	perftools__profiles__line__init(line);
	line->function_id = function_id(pprof, name, symbol, source ? source->file : NULL);
	line->line = source ? source->line : 0;
	lines->pointers[lines->nr++] = line;
}

static void emit_location(struct pprof *pprof, uint64_t id, const struct pprof_frame *frame,
			  struct lines *lines)
{
	Location location = PERFTOOLS__PROFILES__LOCATION__INIT, *locations[] = {&location};
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

	location.id = id;
	location.mapping_id = frame ? frame->mapping : 0;
	location.address = frame ? frame->address : 0;
	location.n_line = lines->nr;
	location.line = lines->pointers;
	part.n_location = 1;
	part.location = locations;
	emit(pprof, &part);
}

/*
 * A frame without a name has an address alone, which readers may know more about, or the function
 * that begins there.
 */
static void add_lines(struct pprof *pprof, struct lines *lines, uint64_t frame,
		      const struct sym_query *query)
{
	bool in_kernel = frame_tag(frame) == FRAME_KERNEL;
	uint32_t inlined = frame_text__inlined(query);
	char name[FRAME_NAME_MAX], text[FRAME_TEXT_MAX];

	for (uint32_t i = 0; i < inlined; i++) {
		frame_text__call(&query->inlined[i], name);
		add_line(pprof, lines, name, query->inlined[i].symbol, &query->inlined[i].source);
	}
	if (inlined < query->nr_inlined) {
		frame_text__write(&pprof->shown->style, frame, query, inlined, text);
		add_line(pprof, lines, text, NULL, NULL);
	}
	if (query->name || frame_text__has_start(query)) {
		frame_text__function(query, in_kernel, name);
		add_line(pprof, lines, name, query->symbol, &query->source);
	}
}

/* The frames of the report, in their order: frame i has the id i + 1. */
static void emit_frames(struct pprof *pprof)
{
	const struct frame_names *names = pprof->shown->names;

	for (size_t i = 0; i < names->nr; i++) {
		struct lines lines = {.nr = 0};

		add_lines(pprof, &lines, names->places[i].frame, &names->queries[i]);
		emit_location(pprof, i + 1, &pprof->mappings.frames[i], &lines);
	}
}

/* A function without an address. */
static uint64_t text_id(struct pprof *pprof, const char *text)
{
	struct lines lines = {.nr = 0};
	uint32_t number;
	uint64_t id;
	bool new;

	new = is_new(pprof, &pprof->marks, text, &number);
	id = pprof->shown->names->nr + number + 1;
	if (new) {
		add_line(pprof, &lines, text, NULL, NULL);
		emit_location(pprof, id, NULL, &lines);
	}
	return id;
}

/* "[cut at 127 frames]" */
static uint64_t mark_id(struct pprof *pprof, uint64_t frame)
{
	char text[FRAME_TEXT_MAX];

	frame_text__write(&pprof->shown->style, frame, NULL, 0, text);
	return text_id(pprof, text);
}

static void emit_mappings(struct pprof *pprof)
{
	for (size_t i = 0; i < pprof->mappings.nr; i++) {
		const struct pprof_mapping *from = &pprof->mappings.items[i];
		Mapping mapping = PERFTOOLS__PROFILES__MAPPING__INIT, *mappings[] = {&mapping};
		Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;

		mapping.id = i + 1;
		mapping.memory_start = from->start;
		mapping.memory_limit = from->start + from->size;
		mapping.file_offset = from->kernel ? 0 : from->offset;
		mapping.filename = string_number(pprof, from->path);
		mapping.build_id = string_number(pprof, from->build_id);
		mapping.has_functions = from->has_names;
		mapping.has_filenames = from->has_files;
		mapping.has_line_numbers = from->has_lines;
		mapping.has_inline_frames = from->has_inlined;
		part.n_mapping = 1;
		part.mapping = mappings;
		emit(pprof, &part);
	}
}

/* ---- samples ---- */

static size_t add_frames(struct pprof *pprof, const struct counted_stack *item,
			 const struct frames *frames, uint32_t hidden, uint64_t *ids)
{
	size_t nr = 0;

	for (uint32_t i = hidden; i < frames->nr; i++) {
		const struct sym_query *query = shown_stacks__answer(pprof->shown, item, frames, i);

		ids[nr++] = query ? (uint64_t)(query - pprof->shown->names->queries) + 1 :
				    mark_id(pprof, frames->frames[i]);
	}
	return nr;
}

static int64_t limited(uint64_t number)
{
	return number > INT64_MAX ? INT64_MAX : (int64_t)number;
}

/* A process that has no label is the outermost function. */
static bool labels_comm(const struct shown_stacks *shown)
{
	return shown->labels == LABELS_COMM || shown->labels == LABELS_COMM_CONTAINER;
}

static bool labels_container(const struct shown_stacks *shown)
{
	return shown->labels == LABELS_CONTAINER || shown->labels == LABELS_COMM_CONTAINER;
}

/* Its name must not pass for one of ours, as a function's. */
static uint64_t process_id(struct pprof *pprof, const char *comm)
{
	const struct sym_inlined process = {.name = comm};
	char text[FRAME_NAME_MAX];

	frame_text__call(&process, text);
	return text_id(pprof, text);
}

static void emit_sample(struct pprof *pprof, const struct counted_stack *item)
{
	uint64_t ids[2 * STACK_SLOTS + 1];
	int64_t values[] = {limited(item->count), limited(shown_stacks__cost(pprof->shown, item))};
	Label pid = PERFTOOLS__PROFILES__LABEL__INIT, tid = pid, comm = pid, container = pid,
	      *labels[4];
	Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *samples[] = {&sample};
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	const char *id = labels_container(pprof->shown) ?
				 counted_stack__container(pprof->shown, item) :
				 NULL;
	char name[COMM_LEN + 1];

	sample.n_location_id = add_frames(pprof, item, item->kernel, item->hidden, ids);
	sample.n_location_id += add_frames(pprof, item, item->user, 0, ids + sample.n_location_id);
	sample.location_id = ids;
	sample.n_value = pprof->shown->cost ? 2 : 1;
	sample.value = values;
	sample.label = labels;
	if (item->key.tgid) {
		pid.key = string_number(pprof, "pid");
		pid.num = item->key.tgid;
		labels[sample.n_label++] = &pid;
	}
	if (pprof->shown->threads) {
		tid.key = string_number(pprof, "tid");
		tid.num = item->key.tid;
		labels[sample.n_label++] = &tid;
	}
	counted_stack__comm(item, false, name);
	if (pprof->shown->comms && !labels_comm(pprof->shown)) {
		ids[sample.n_location_id++] = process_id(pprof, name);
	} else if (pprof->shown->comms) {
		comm.key = string_number(pprof, "comm");
		comm.str = string_number(pprof, name);
		labels[sample.n_label++] = &comm;
	}
	if (id) {
		container.key = string_number(pprof, "container");
		container.str = clean_string(pprof, id);
		labels[sample.n_label++] = &container;
	}
	part.n_sample = 1;
	part.sample = samples;
	emit(pprof, &part);
}

/* The stacks that were counted least stand first. How many of them are one sample together? */
static size_t count_folded(const struct shown_stacks *shown)
{
	size_t nr = shown->counts->nr;

	return shown->max_samples && nr > shown->max_samples ? nr - shown->max_samples + 1 : 0;
}

static void emit_other(struct pprof *pprof, size_t nr)
{
	int64_t values[2] = {0, 0};
	Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *samples[] = {&sample};
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	uint64_t id = text_id(pprof, "[other]");
	struct counted_stack sum = {0};

	for (size_t i = 0; i < nr; i++) {
		sum.count += pprof->shown->counts->items[i].count;
		sum.weight += pprof->shown->counts->items[i].weight;
	}
	values[0] = limited(sum.count);
	values[1] = limited(shown_stacks__cost(pprof->shown, &sum));
	sample.n_location_id = 1;
	sample.location_id = &id;
	sample.n_value = pprof->shown->cost ? 2 : 1;
	sample.value = values;
	part.n_sample = 1;
	part.sample = samples;
	emit(pprof, &part);
}

/* ---- the whole ---- */

static void set_type(struct pprof *pprof, ValueType *type, const char *what, const char *unit)
{
	perftools__profiles__value_type__init(type);
	type->type = string_number(pprof, what);
	type->unit = string_number(pprof, unit);
}

static void emit_about(struct pprof *pprof)
{
	const struct shown_stacks *shown = pprof->shown;
	ValueType counts, costs, *types[] = {&counts, &costs};
	Profile part = PERFTOOLS__PROFILES__PROFILE__INIT;
	int64_t comments[4];
	size_t folded = count_folded(shown);
	char text[1024];

	set_type(pprof, &counts, shown->unit, "count");
	set_type(pprof, &costs, shown->cost ? shown->cost : shown->unit,
		 shown->cost ? shown->cost_unit : "count");
	part.n_sample_type = shown->cost ? 2 : 1;
	part.sample_type = types;
	part.default_sample_type = costs.type;
	part.period_type = &costs;
	part.period = shown->cost && shown->cost_each ? limited(shown->cost_each) : 1;
	part.time_nanos =
		(int64_t)(uint64_t)shown->now * (int64_t)NANOSECONDS - limited(shown->nanoseconds);
	part.duration_nanos = limited(shown->nanoseconds);
	about__command_line(text, sizeof(text));
	comments[part.n_comment++] = string_number(pprof, text);
	about__trace(shown, text, sizeof(text));
	comments[part.n_comment++] = string_number(pprof, text);
	if (accounting__lost(shown->accounting)) {
		accounting__format_loss(shown->accounting, text, sizeof(text));
		comments[part.n_comment++] = string_number(pprof, text);
	}
	if (folded) {
		snprintf(text, sizeof(text), "[other] is the %zu stacks that were counted least",
			 folded);
		comments[part.n_comment++] = string_number(pprof, text);
	}
	part.comment = comments;
	emit(pprof, &part);
}

static void release(struct pprof *pprof)
{
	pprof_mappings__release(&pprof->mappings);
	text_set__release(&pprof->strings);
	text_set__release(&pprof->functions);
	text_set__release(&pprof->marks);
	gzip__release(&pprof->gzip);
}

static int write_pprof(FILE *out, const struct shown_stacks *shown)
{
	CLEANUP_FREE struct pprof *pprof = calloc(1, sizeof(*pprof));
	size_t first;

	if (!pprof || gzip__open(&pprof->gzip, out))
		return -ENOMEM;
	pprof->base.append = append;
	pprof->shown = shown;
	pprof->err = pprof_mappings__collect(&pprof->mappings, shown);
	if (!pprof->err) {
		string_number(pprof, "");
		emit_about(pprof);
		emit_mappings(pprof);
		emit_frames(pprof);
	}
	first = count_folded(shown);
	if (first && !pprof->err)
		emit_other(pprof, first);
	for (size_t i = first; i < shown->counts->nr && !pprof->err; i++)
		emit_sample(pprof, &shown->counts->items[i]);
	gzip__finish(&pprof->gzip);
	release(pprof);
	return pprof->err;
}

const struct format format_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.whole = true,
	.binary = true,
	.files = true,
	.symbols = true,
	.starts = true,
	.write = write_pprof,
};
