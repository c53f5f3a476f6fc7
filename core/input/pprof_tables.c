// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/pprof_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/input/frame_kind.h"
#include "core/input/pprof_drop.h"
#include "core/input/pprof_wire.h"
#include "sym/util/array.h"
#include "sym/util/text.h"

struct pprof_text pprof_tables__text(const struct pprof_tables *tables, uint64_t number)
{
	return number < tables->texts.nr ? tables->texts.items[number] :
					   (struct pprof_text){(const unsigned char *)"", 0};
}

bool pprof_text__is(struct pprof_text text, const char *other)
{
	return text.size == strlen(other) && !memcmp(text.bytes, other, text.size);
}

/* ---- messages ---- */

/* Each adds one to its table, and returns 0, -EBADMSG or -ENOMEM. */

#define ADD(table, item)                                                                           \
	(ARRAY_GROW((table).items, (table).nr, (table).capacity) ?                                 \
		 -ENOMEM :                                                                         \
		 ((table).items[(table).nr++] = (item), 0))

static int add_type(struct pprof_tables *tables, struct wire message)
{
	struct pprof_type type = {0};
	struct wire_field field;

	while (wire__next(&message, &field)) {
		if (field.number == 1)
			type.type = field.value;
		else if (field.number == 2)
			type.unit = field.value;
	}
	return message.failed ? -EBADMSG : ADD(tables->types, type);
}

static int add_file(struct pprof_tables *tables, struct wire message)
{
	struct pprof_file file = {0};
	struct wire_field field;

	while (wire__next(&message, &field)) {
		if (field.number == 1)
			file.id = field.value;
		else if (field.number == 5)
			file.name = field.value;
	}
	return message.failed ? -EBADMSG : ADD(tables->files, file);
}

static int add_function(struct pprof_tables *tables, struct wire message)
{
	struct pprof_function function = {0};
	struct wire_field field;

	while (wire__next(&message, &field)) {
		if (field.number == 1)
			function.id = field.value;
		else if (field.number == 2)
			function.name = field.value;
		else if (field.number == 3)
			function.system_name = field.value;
	}
	return message.failed ? -EBADMSG : ADD(tables->functions, function);
}

static int add_line(struct pprof_tables *tables, struct wire message)
{
	struct wire_field field;
	uint64_t function = 0;

	while (wire__next(&message, &field))
		if (field.number == 1)
			function = field.value;
	if (message.failed)
		return -EBADMSG;
	if (ARRAY_GROW(tables->lines, tables->nr_lines, tables->lines_capacity))
		return -ENOMEM;
	tables->lines[tables->nr_lines++] = function;
	return 0;
}

static int add_location(struct pprof_tables *tables, struct wire message)
{
	struct pprof_location location = {.first = tables->nr_lines};
	struct wire_field field;
	int err = 0;

	while (!err && wire__next(&message, &field)) {
		if (field.number == 1)
			location.id = field.value;
		else if (field.number == 2)
			location.file_id = field.value;
		else if (field.number == 3)
			location.address = field.value;
		else if (field.number == 4)
			err = add_line(tables, field.bytes);
	}
	location.nr = tables->nr_lines - location.first;
	if (err)
		return err;
	return message.failed ? -EBADMSG : ADD(tables->locations, location);
}

static int add_text(struct pprof_tables *tables, struct wire message)
{
	const struct pprof_text text = {message.at, (size_t)(message.end - message.at)};

	return ADD(tables->texts, text);
}

static int add_field(struct pprof_tables *tables, const struct wire_field *field)
{
	if (field->number <= 6 && !field->is_message)
		return -EBADMSG;
	switch (field->number) {
	case 1:
		return add_type(tables, field->bytes);
	case 3:
		return add_file(tables, field->bytes);
	case 4:
		return add_location(tables, field->bytes);
	case 5:
		return add_function(tables, field->bytes);
	case 6:
		return add_text(tables, field->bytes);
	case 7:
		tables->drop_frames = field->value;
		return 0;
	case 8:
		tables->keep_frames = field->value;
		return 0;
	case 14:
		tables->default_type = field->value;
		return 0;
	default:
		return 0;
	}
}

/* ---- from numbers to what they mean ---- */

static int compare_ids(const void *left, const void *right)
{
	uint64_t a, b;

	memcpy(&a, left, sizeof(a));
	memcpy(&b, right, sizeof(b));
	return COMPARE(a, b);
}

/* Each item begins with its id. Most writers number them in order. */
static void sort(void *items, size_t nr, size_t size)
{
	const char *bytes = items;

	for (size_t i = 1; i < nr; i++) {
		if (compare_ids(bytes + (i - 1) * size, bytes + i * size) > 0) {
			array__sort(items, nr, size, compare_ids);
			return;
		}
	}
}

/* The number of the item with that id; nr: there is none. */
static size_t find(const void *items, size_t nr, size_t size, uint64_t id)
{
	size_t at;

	/* So most writers give ids: from 1 on. */
	if (id - 1 < nr && !compare_ids((const char *)items + (id - 1) * size, &id))
		return id - 1;
	at = array__lower_bound(items, nr, size, id);
	return at < nr && !compare_ids((const char *)items + at * size, &id) ? at : nr;
}

#define SORT(table)	sort((table).items, (table).nr, sizeof((table).items[0]))
#define FIND(table, id) find((table).items, (table).nr, sizeof((table).items[0]), id)

/* *clean: a copy, safe to print. Returns 0 or -ENOMEM. */
static int clean_text(struct pprof_tables *tables, uint64_t number, char **clean)
{
	struct pprof_text text = pprof_tables__text(tables, number);

	*clean = arena__alloc(&tables->arena, text.size + 1);
	if (!*clean)
		return -ENOMEM;
	text__clean((const char *)text.bytes, text.size, false, *clean, text.size + 1);
	return 0;
}

static int name_files(struct pprof_tables *tables)
{
	for (size_t i = 0; i < tables->files.nr; i++) {
		struct pprof_file *file = &tables->files.items[i];
		char *name;

		if (clean_text(tables, file->name, &name))
			return -ENOMEM;
		file->module = frame_kind__module(name);
		file->kind = frame_kind__of_file(name);
	}
	return 0;
}

static int name_functions(struct pprof_tables *tables)
{
	for (size_t i = 0; i < tables->functions.nr; i++) {
		struct pprof_function *function = &tables->functions.items[i];
		char *name;

		if (!pprof_tables__text(tables, function->name).size)
			function->name = function->system_name;
		if (clean_text(tables, function->name, &name))
			return -ENOMEM;
		function->kind = frame_kind__of_name(name, FLAME_USER);
		function->text = name[0] ? name : NULL;
	}
	return 0;
}

static void connect(struct pprof_tables *tables)
{
	for (size_t i = 0; i < tables->nr_lines; i++) {
		size_t number = FIND(tables->functions, tables->lines[i]);

		tables->lines[i] = number < tables->functions.nr ? number + 1 : 0;
	}
	for (size_t i = 0; i < tables->locations.nr; i++) {
		struct pprof_location *location = &tables->locations.items[i];
		size_t number = FIND(tables->files, location->file_id);

		location->file = number < tables->files.nr ? &tables->files.items[number] : NULL;
	}
}

/* ---- the whole ---- */

int pprof_tables__read(struct pprof_tables *tables, const unsigned char *bytes, size_t size)
{
	struct wire profile = {.at = bytes, .end = bytes + size};
	struct wire_field field;
	int err = 0;

	while (!err && wire__next(&profile, &field))
		err = add_field(tables, &field);
	if (!err && profile.failed)
		err = -EBADMSG;
	if (err)
		return err;
	SORT(tables->files);
	SORT(tables->functions);
	SORT(tables->locations);
	err = name_files(tables);
	if (!err)
		err = name_functions(tables);
	if (err)
		return err;
	connect(tables);
	return pprof_drop__mark(tables);
}

const struct pprof_location *pprof_tables__location(const struct pprof_tables *tables, uint64_t id)
{
	size_t number = FIND(tables->locations, id);

	return number < tables->locations.nr ? &tables->locations.items[number] : NULL;
}

void pprof_tables__release(struct pprof_tables *tables)
{
	free(tables->texts.items);
	free(tables->types.items);
	free(tables->files.items);
	free(tables->functions.items);
	free(tables->locations.items);
	free(tables->lines);
	arena__release(&tables->arena);
	*tables = (struct pprof_tables){0};
}
