// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/pprof_stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/input/bytes.h"
#include "core/input/pprof_tables.h"
#include "core/input/pprof_wire.h"
#include "core/input/reading.h"
#include "core/input/stack.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/text.h"

/* The locations of a sample, from the leaf, and its value. */
struct pprof_sample {
	const struct pprof_location **locations;
	size_t nr, capacity;
	bool cut;	  /* it has more than a stack may have frames */
	bool bad_message; /* it, or a message in it, is damaged */
	bool has_value;
	int64_t value;
	uint64_t nr_values;
	struct pprof_text comm;
};

struct pprof_file_reader {
	struct pprof_tables tables;
	struct pprof_sample sample;
	struct read_stack stack;
	size_t type; /* which value is drawn */
};

static void release(struct pprof_file_reader *reader)
{
	pprof_tables__release(&reader->tables);
	free(reader->sample.locations);
	read_stack__release(&reader->stack);
}

/* ---- which value ---- */

/* The last type of that name, as pprof takes it; nr: there is none. */
static size_t find_type(const struct pprof_tables *tables, const char *name)
{
	size_t nr = tables->types.nr;

	for (size_t i = nr; i-- > 0;)
		if (pprof_text__is(pprof_tables__text(tables, tables->types.items[i].type), name))
			return i;
	return nr;
}

/* "samples, cpu" */
static void list_types(const struct pprof_tables *tables, char *list, size_t size)
{
	size_t length = 0;

	list[0] = '\0';
	for (size_t i = 0; i < tables->types.nr && length + 64 < size; i++) {
		struct pprof_text text = pprof_tables__text(tables, tables->types.items[i].type);
		char clean[48];

		text__clean((const char *)text.bytes, text.size, false, clean, sizeof(clean));
		length += (size_t)snprintf(list + length, size - length, "%s%s", i ? ", " : "",
					   clean);
	}
}

static size_t default_type(const struct pprof_tables *tables)
{
	struct pprof_text name = pprof_tables__text(tables, tables->default_type);

	for (size_t i = 0; i < tables->types.nr && name.size; i++) {
		struct pprof_text text = pprof_tables__text(tables, tables->types.items[i].type);

		if (text.size == name.size && !memcmp(text.bytes, name.bytes, name.size))
			return i;
	}
	return tables->types.nr - 1;
}

/* What is counted: of "cpu" in "nanoseconds" the unit says it, of "samples" in "count" the type. */
static void set_unit(struct reading *reading, const struct pprof_tables *tables, size_t type)
{
	struct pprof_text unit = pprof_tables__text(tables, tables->types.items[type].unit);

	if (!unit.size || pprof_text__is(unit, "count"))
		unit = pprof_tables__text(tables, tables->types.items[type].type);
	text__clean((const char *)unit.bytes, unit.size, false, reading->unit,
		    sizeof(reading->unit));
}

/* Returns false if the file is refused. */
static bool choose_type(struct pprof_file_reader *reader, struct reading *reading)
{
	const struct pprof_tables *tables = &reader->tables;
	char list[256];

	if (tables->types.nr == 0) {
		reading__refuse(reading, "is a profile of pprof without values");
		return false;
	}
	reader->type = reading->sample_type ? find_type(tables, reading->sample_type) :
					      default_type(tables);
	if (reader->type == tables->types.nr) {
		list_types(tables, list, sizeof(list));
		reading__refuse(reading, "has no sample type '%.100s', but: %s",
				reading->sample_type, list);
		return false;
	}
	set_unit(reading, tables, reader->type);
	return true;
}

/* ---- one sample ---- */

static int add_location(struct pprof_file_reader *reader, uint64_t id)
{
	struct pprof_sample *sample = &reader->sample;

	sample->cut |= sample->nr == STACK_FRAMES_MAX;
	if (sample->cut)
		return 0;
	if (ARRAY_GROW(sample->locations, sample->nr, sample->capacity))
		return -ENOMEM;
	sample->locations[sample->nr++] = pprof_tables__location(&reader->tables, id);
	return 0;
}

static int add_value(struct pprof_file_reader *reader, uint64_t value)
{
	struct pprof_sample *sample = &reader->sample;

	if (sample->nr_values++ == reader->type) {
		sample->has_value = true;
		sample->value = (int64_t)value;
	}
	return 0;
}

/* A repeated number is packed, or one by itself. Returns 0 or -ENOMEM. */
static int add_numbers(struct pprof_file_reader *reader, struct wire_field *field,
		       int (*add)(struct pprof_file_reader *reader, uint64_t number))
{
	uint64_t number;

	if (!field->is_message)
		return add(reader, field->value);
	while (wire__next_number(&field->bytes, &number))
		if (add(reader, number))
			return -ENOMEM;
	reader->sample.bad_message |= field->bytes.failed;
	return 0;
}

static void take_label(struct pprof_file_reader *reader, struct wire message)
{
	uint64_t key = 0, text = 0;
	struct wire_field field;

	while (wire__next(&message, &field)) {
		if (field.number == 1)
			key = field.value;
		else if (field.number == 2)
			text = field.value;
	}
	reader->sample.bad_message |= message.failed;
	if (pprof_text__is(pprof_tables__text(&reader->tables, key), "comm"))
		reader->sample.comm = pprof_tables__text(&reader->tables, text);
}

/* Returns 0 or -ENOMEM. */
static int read_sample(struct pprof_file_reader *reader, struct wire message)
{
	struct pprof_sample *sample = &reader->sample;
	struct wire_field field;
	int err = 0;

	*sample =
		(struct pprof_sample){.locations = sample->locations, .capacity = sample->capacity};
	while (!err && wire__next(&message, &field)) {
		if (field.number == 1)
			err = add_numbers(reader, &field, add_location);
		else if (field.number == 2)
			err = add_numbers(reader, &field, add_value);
		else if (field.number == 3)
			take_label(reader, field.bytes);
	}
	sample->bad_message |= message.failed;
	return err;
}

/*
 * The first location, from the leaf, that stays. What a dropped function has called is dropped as
 * well, but not what stands before the first frame that is none of them: threads begin so.
 */
static size_t first_kept(const struct pprof_sample *sample)
{
	bool others = false;

	for (size_t i = sample->nr; i-- > 0;) {
		const struct pprof_location *location = sample->locations[i];

		if (!location || location->drop == PPROF_KEEP)
			others = true;
		else if (others)
			return location->drop == PPROF_DROP ? i + 1 : i;
	}
	return 0;
}

/* ---- its frames ---- */

/* The kernel's addresses are the upper half, on all machines of 64 bits. */
static enum flame_kind kind_of_place(const struct pprof_location *location)
{
	if (location->file)
		return location->file->kind;
	return location->address >> 63 ? FLAME_KERNEL : FLAME_USER;
}

static int add_line(struct pprof_file_reader *reader, const struct pprof_location *location,
		    size_t line)
{
	const char *module = location->file ? location->file->module : NULL;
	uint64_t number = reader->tables.lines[location->first + line];
	const struct pprof_function *function =
		number ? &reader->tables.functions.items[number - 1] : NULL;
	enum flame_kind kind = line + 1 < location->nr ? FLAME_INLINED : kind_of_place(location);

	if (!function || !function->text)
		return read_stack__add_unknown(&reader->stack, module);
	return read_stack__add(&reader->stack, function->text, module,
			       function->kind == FLAME_USER ? kind : function->kind);
}

static int add_lines(struct pprof_file_reader *reader, const struct pprof_location *location)
{
	int err = 0;

	if (!location)
		return read_stack__add_unknown(&reader->stack, NULL);
	if (location->nr == 0)
		return read_stack__add_unknown(&reader->stack,
					       location->file ? location->file->module : NULL);
	for (size_t i = 0; i < location->nr && !err; i++)
		err = add_line(reader, location, i);
	return err;
}

/* Returns 0 or -ENOMEM. */
static int make_stack(struct pprof_file_reader *reader)
{
	const struct pprof_sample *sample = &reader->sample;
	struct read_stack *stack = &reader->stack;
	int err = 0;

	read_stack__clear(stack);
	stack->cut = sample->cut;
	for (size_t i = first_kept(sample); i < sample->nr && !err && !stack->cut; i++)
		err = add_lines(reader, sample->locations[i]);
	if (!err && sample->comm.size)
		err = read_stack__add(stack,
				      read_stack__text(stack, (const char *)sample->comm.bytes,
						       sample->comm.size),
				      NULL, FLAME_PROCESS);
	read_stack__reverse(stack, 0);
	return err;
}

/* ---- the whole ---- */

/* Returns 0 or -ENOMEM. */
static int add_sample(struct pprof_file_reader *reader, struct reading *reading,
		      struct wire message, uint64_t number)
{
	const struct pprof_sample *sample = &reader->sample;
	const char *reason;

	if (read_sample(reader, message))
		return -ENOMEM;
	reason = sample->bad_message ? "it is damaged" :
		 !sample->has_value  ? "it has too few values" :
		 sample->value < 0   ? "its value is negative" :
				       NULL;
	if (reason) {
		reading__set_bad(reading, number, reason);
		return 0;
	}
	if (make_stack(reader))
		return -ENOMEM;
	return reading__add(reading, &reader->stack, (uint64_t)sample->value, number);
}

static int add_samples(struct pprof_file_reader *reader, struct reading *reading,
		       const unsigned char *bytes, size_t size)
{
	struct wire profile = {.at = bytes, .end = bytes + size};
	struct wire_field field;
	uint64_t number = 0;
	int err = 0;

	while (!err && wire__next(&profile, &field))
		if (field.number == 2)
			err = add_sample(reader, reading, field.bytes, ++number);
	return err;
}

static int read_profile(struct pprof_file_reader *reader, struct reading *reading,
			const unsigned char *bytes, size_t size)
{
	int err = pprof_tables__read(&reader->tables, bytes, size);

	if (err == -EBADMSG) {
		reading__refuse(reading, "is a profile of pprof that is damaged");
		return 0;
	}
	if (err || !choose_type(reader, reading))
		return err;
	if (reader->tables.bad_drop)
		reading__note(reading, "its drop_frames are no regular expression that is "
				       "understood: no frames are dropped");
	return add_samples(reader, reading, bytes, size);
}

int pprof_stacks__read(struct reading *reading, struct input_bytes *bytes)
{
	CLEANUP(release) struct pprof_file_reader reader = {0};
	CLEANUP_FREE unsigned char *all = NULL;
	size_t size;
	int err = input_bytes__all(bytes, BYTES_INFLATED_MAX, &all, &size);

	reading->part = "sample";
	if (err == -EFBIG && !bytes->err)
		reading__refuse(reading, "is a profile of pprof of more than 1 GB");
	if (err)
		return err == -ENOMEM ? err : 0; /* bytes->err says the others */
	if (read_stack__init(&reader.stack))
		return -ENOMEM;
	return read_profile(&reader, reading, all, size);
}
