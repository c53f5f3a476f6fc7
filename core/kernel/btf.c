// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file of BTF has a header, types one behind the other, whose numbers are their places from 1
 * on, and strings. Names are found first: types refer to them by their offset. Then the types are
 * read from the first to the last. What is looked for in a type that has come by before is found
 * when they are read once more, which few fields need.
 */
#include "core/kernel/btf.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/kernel_fs.h"

/* The kernel gives a page for each read(). */
#define WINDOW 16384

/* No name that is asked for is longer. */
#define NAME_MAX_LENGTH 127

#define NAMES_MAX  (4 * BTF_FIELDS_MAX)
#define VISITS_MAX 1024

/* Bits of a filter for the numbers of types, by their lower bits; and of one for names. */
#define TYPE_BITS 65536
#define NAME_BITS 1024

/* Kinds that linux/btf.h does not have everywhere (5.16, 5.17, 6.0). */
#define KIND_DECL_TAG 17
#define KIND_TYPE_TAG 18
#define KIND_ENUM64   19

/* A name that is asked for. */
struct name {
	const char *text; /* not terminated */
	size_t length;
	uint32_t offset; /* among the strings; 0: there is none, no type has it */
};

/* A type in which a field is looked for. */
struct visit {
	uint32_t type;
	uint32_t base;	  /* where it stands in the struct that the field is of */
	uint32_t field;	  /* its number */
	const char *path; /* what is left of its path */
	bool done;
};

/* The structure of a field, by its name. */
struct root {
	uint32_t name; /* offset among the strings */
	bool found;
};

struct btf_search {
	int fd;
	uint64_t types, types_end, strings, strings_end; /* in the file */
	struct name names[NAMES_MAX];
	size_t nr_names;
	const struct btf_field *fields;
	struct root roots[BTF_FIELDS_MAX]; /* of fields */
	size_t nr_fields;
	size_t nr_roots; /* that are there and have not come by yet */
	struct visit visits[VISITS_MAX];
	size_t nr_visits, nr_done;
	uint32_t last; /* behind that type there is none that is to be visited */
	/* There are a hundred thousand of each, and hardly any is wanted. */
	uint8_t has_type[TYPE_BITS / 8], has_name[NAME_BITS / 8];
	uint64_t start; /* of the window in the file */
	size_t filled;
	char window[WINDOW];
};

int kernel_btf__open(void)
{
	CLEANUP_FCLOSE FILE *file = kernel_fs__open_file(KERNEL_FS_SYS, "kernel/btf/vmlinux");

	return file ? dup(fileno(file)) : -1;
}

/* size bytes of the file, valid until the next call; NULL if it ends before. size: to WINDOW. */
static const void *peek(struct btf_search *search, uint64_t offset, size_t size)
{
	ssize_t got = 1;

	if (offset >= search->start && offset + size <= search->start + search->filled)
		return search->window + (offset - search->start);
	search->start = offset;
	search->filled = 0;
	while (search->filled < WINDOW && got > 0) {
		got = pread(search->fd, search->window + search->filled, WINDOW - search->filled,
			    (off_t)(offset + search->filled));
		if (got > 0)
			search->filled += (size_t)got;
	}
	return size <= search->filled ? search->window : NULL;
}

/* Copied: in a file that is not sound they can stand anywhere. */
static bool copy(struct btf_search *search, uint64_t offset, void *to, size_t size)
{
	const void *bytes = peek(search, offset, size);

	if (bytes)
		memcpy(to, bytes, size);
	return bytes;
}

static int read_header(struct btf_search *search)
{
	struct btf_header header;

	if (!copy(search, 0, &header, sizeof(header)) || header.magic != BTF_MAGIC ||
	    header.version != BTF_VERSION)
		return -EBADMSG;
	search->types = (uint64_t)header.hdr_len + header.type_off;
	search->types_end = search->types + header.type_len;
	search->strings = (uint64_t)header.hdr_len + header.str_off;
	search->strings_end = search->strings + header.str_len;
	return 0;
}

/* ---- names ---- */

/* The first part of a path, up to its dot or end. */
static size_t first_length(const char *path)
{
	return strcspn(path, ".");
}

static uint32_t name_bit(const char *text, size_t length)
{
	uint32_t bit = (uint32_t)length;

	if (length)
		bit += 31U * (unsigned char)text[0] + 7U * (unsigned char)text[length - 1];
	return bit % NAME_BITS;
}

static struct name *find_name(struct btf_search *search, const char *text, size_t length)
{
	uint32_t bit = name_bit(text, length);

	if (!(search->has_name[bit / 8] >> bit % 8 & 1))
		return NULL;
	for (size_t i = 0; i < search->nr_names; i++)
		if (search->names[i].length == length &&
		    !memcmp(search->names[i].text, text, length))
			return &search->names[i];
	return NULL;
}

static int add_name(struct btf_search *search, const char *text, size_t length)
{
	if (find_name(search, text, length))
		return 0;
	if (search->nr_names == NAMES_MAX || length > NAME_MAX_LENGTH)
		return -E2BIG;
	search->names[search->nr_names++] = (struct name){.text = text, .length = length};
	search->has_name[name_bit(text, length) / 8] |= 1 << name_bit(text, length) % 8;
	return 0;
}

static int add_names(struct btf_search *search, const struct btf_field *field)
{
	int err = add_name(search, field->structure, strlen(field->structure));
	const char *path = field->path;

	while (!err && path && *path) {
		size_t length = first_length(path);

		err = add_name(search, path, length);
		path += length + (path[length] == '.');
	}
	return err;
}

/* Find where the names stand among the strings, each of which is there once. */
static int find_names(struct btf_search *search)
{
	bool inside = false; /* in one that is longer than any name */

	for (uint64_t at = search->strings; at < search->strings_end;) {
		uint64_t left = search->strings_end - at;
		size_t most = left < NAME_MAX_LENGTH + 1 ? left : NAME_MAX_LENGTH + 1;
		const char *text = peek(search, at, most);
		struct name *name = NULL;
		size_t length;

		if (!text)
			return -EBADMSG;
		length = strnlen(text, most);
		if (!inside && length < most)
			name = find_name(search, text, length);
		if (name && !name->offset)
			name->offset = (uint32_t)(at - search->strings);
		inside = length == most;
		at += length + !inside;
	}
	return 0;
}

/* 0: no type has that name. */
static uint32_t name_offset(struct btf_search *search, const char *text, size_t length)
{
	const struct name *name = find_name(search, text, length);

	return name ? name->offset : 0;
}

/* ---- types ---- */

/* The bytes behind a type's first three words; -1 for a kind that we do not know. */
static int64_t rest_of(const struct btf_type *type)
{
	uint32_t nr = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (int64_t)nr * (int64_t)sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return (int64_t)nr * (int64_t)sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return (int64_t)nr * (int64_t)sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return (int64_t)nr * (int64_t)sizeof(struct btf_var_secinfo);
	case KIND_ENUM64:
		return (int64_t)nr * 3 * (int64_t)sizeof(uint32_t);
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case KIND_TYPE_TAG:
		return 0;
	default:
		return -1;
	}
}

/* Without room a field stays missing. */
static void add_visit(struct btf_search *search, const struct visit *from, uint32_t type,
		      uint32_t base, const char *path)
{
	if (search->nr_visits == VISITS_MAX)
		return;
	search->visits[search->nr_visits++] =
		(struct visit){.type = type, .base = base, .field = from->field, .path = path};
	search->last = type > search->last ? type : search->last;
	search->has_type[type % TYPE_BITS / 8] |= 1 << type % 8;
}

static uint32_t *offset_of(const struct btf_search *search, const struct visit *visit)
{
	return search->fields[visit->field].offset;
}

static void look_at_member(struct btf_search *search, const struct visit *visit,
			   const struct btf_member *member, bool bitfields)
{
	uint32_t bits = bitfields ? BTF_MEMBER_BIT_OFFSET(member->offset) : member->offset;
	uint32_t at = visit->base + bits / 8;
	size_t length = first_length(visit->path);

	if (!member->name_off)
		add_visit(search, visit, member->type, at, visit->path);
	else if (member->name_off != name_offset(search, visit->path, length))
		return;
	else if (visit->path[length])
		add_visit(search, visit, member->type, at, visit->path + length + 1);
	else
		*offset_of(search, visit) = at;
}

/* type stands at that place of the file; the window can move on. */
static int look_at_type(struct btf_search *search, struct btf_type type, uint64_t at,
			const struct visit *visit)
{
	uint32_t kind = BTF_INFO_KIND(type.info);
	bool bitfields = BTF_INFO_KFLAG(type.info);

	if (kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_CONST || kind == BTF_KIND_VOLATILE ||
	    kind == KIND_TYPE_TAG)
		add_visit(search, visit, type.type, visit->base, visit->path);
	if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION)
		return 0;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(type.info); i++) {
		struct btf_member member;

		if (!copy(search, at + sizeof(type) + i * sizeof(member), &member, sizeof(member)))
			return -EBADMSG;
		if (*offset_of(search, visit) == BTF_MISSING)
			look_at_member(search, visit, &member, bitfields);
	}
	return 0;
}

/* The structs that fields are of; the first of each name counts. */
static int look_for_roots(struct btf_search *search, struct btf_type type, uint64_t at)
{
	int err = 0;

	if (BTF_INFO_KIND(type.info) != BTF_KIND_STRUCT || !type.name_off)
		return 0;
	for (uint32_t i = 0; i < search->nr_fields && !err; i++) {
		const struct btf_field *field = &search->fields[i];
		const struct visit root = {.field = i, .path = field->path};

		if (search->roots[i].found || search->roots[i].name != type.name_off)
			continue;
		search->roots[i].found = true;
		search->nr_roots--;
		if (field->path)
			err = look_at_type(search, type, at, &root);
		else
			*field->offset = type.size;
	}
	return err;
}

static int look_at_visits(struct btf_search *search, struct btf_type type, uint64_t at,
			  uint32_t number)
{
	int err = 0;

	if (!(search->has_type[number % TYPE_BITS / 8] >> number % 8 & 1))
		return 0;
	/* New ones come behind. */
	for (size_t i = 0; i < search->nr_visits && !err; i++) {
		struct visit *visit = &search->visits[i];

		if (visit->done || visit->type != number)
			continue;
		visit->done = true;
		search->nr_done++;
		if (*offset_of(search, visit) == BTF_MISSING)
			err = look_at_type(search, type, at, visit);
	}
	return err;
}

/* Call look() for each type, until it does not return 0. Returns what it returns, or -EBADMSG. */
static int read_types(struct btf_search *search,
		      int (*look)(struct btf_search *search, struct btf_type type, uint64_t at,
				  uint32_t number, void *argument),
		      void *argument)
{
	uint32_t number = 1;
	int err = 0;

	for (uint64_t at = search->types; at < search->types_end && !err; number++) {
		struct btf_type type;
		int64_t rest = copy(search, at, &type, sizeof(type)) ? rest_of(&type) : -1;

		if (rest < 0)
			return -EBADMSG;
		err = look(search, type, at, number, argument);
		at += sizeof(type) + (uint64_t)rest;
	}
	return err;
}

static int look_at(struct btf_search *search, struct btf_type type, uint64_t at, uint32_t number,
		   void *unused)
{
	int err = look_for_roots(search, type, at);

	(void)unused;
	if (!err)
		err = look_at_visits(search, type, at, number);
	return err ? err : !search->nr_roots && number >= search->last;
}

static int begin(struct btf_search *search, int fd)
{
	*search = (struct btf_search){.fd = fd};
	return read_header(search);
}

static uint32_t last_to_visit(const struct btf_search *search)
{
	uint32_t last = 0;

	for (size_t i = 0; i < search->nr_visits; i++)
		if (!search->visits[i].done && search->visits[i].type > last)
			last = search->visits[i].type;
	return last;
}

static int find_fields(struct btf_search *search, const struct btf_field *fields, size_t nr)
{
	size_t done, visits;
	int err = 0;

	search->fields = fields;
	search->nr_fields = nr;
	for (size_t i = 0; i < nr && !err; i++)
		err = add_names(search, &fields[i]);
	if (!err)
		err = find_names(search);
	for (size_t i = 0; i < nr; i++) {
		search->roots[i].name =
			name_offset(search, fields[i].structure, strlen(fields[i].structure));
		search->nr_roots += search->roots[i].name != 0;
	}
	do {
		done = search->nr_done;
		visits = search->nr_visits;
		search->last = last_to_visit(search);
		if (!err)
			err = read_types(search, look_at, NULL);
		if (err > 0)
			err = 0;
	} while (!err && search->nr_done < search->nr_visits &&
		 (search->nr_done > done || search->nr_visits > visits));
	return err;
}

int btf__find_fields(int fd, const struct btf_field *fields, size_t nr)
{
	CLEANUP_FREE struct btf_search *search = malloc(sizeof(*search));
	int err;

	for (size_t i = 0; i < nr; i++)
		*fields[i].offset = BTF_MISSING;
	if (nr > BTF_FIELDS_MAX)
		return -E2BIG;
	if (!search)
		return -ENOMEM;
	err = begin(search, fd);
	return err ? err : find_fields(search, fields, nr);
}

static int look_for_typedef(struct btf_search *search, struct btf_type type, uint64_t at,
			    uint32_t number, void *found)
{
	(void)at;
	(void)number;
	*(bool *)found = BTF_INFO_KIND(type.info) == BTF_KIND_TYPEDEF &&
			 type.name_off == search->names[0].offset;
	return *(bool *)found;
}

bool btf__has_typedef(int fd, const char *name)
{
	CLEANUP_FREE struct btf_search *search = malloc(sizeof(*search));
	bool found = false;

	if (!search || begin(search, fd) || add_name(search, name, strlen(name)) ||
	    find_names(search) || !search->names[0].offset)
		return false;
	return read_types(search, look_for_typedef, &found) > 0;
}
