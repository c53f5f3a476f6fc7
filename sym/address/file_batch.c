// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/address/file_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/address/file_places.h"
#include "sym/address/user_namer.h"
#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

static void close_files(struct file_batch *batch)
{
	for (size_t i = 0; i < batch->nr_files; i++)
		sym_file__close(&batch->files[i]);
	batch->nr_files = 0;
}

void file_batch__release(struct file_batch *batch)
{
	close_files(batch);
	for (size_t i = 0; i < batch->nr_roots; i++)
		cleanup__close(&batch->roots[i].fd);
	free(batch->roots);
	free(batch->files);
	free(batch->questions);
}

int file_batch__root(struct file_batch *batch, pid_t task, struct batch_root *root)
{
	struct root_identity identity;
	CLEANUP_CLOSE int fd = rooted__root_of(task, &identity);

	if (rooted__is_error(fd))
		return fd;
	for (size_t i = 0; i < batch->nr_roots; i++) {
		if (root_identity__equal(&batch->roots[i].identity, &identity)) {
			*root = batch->roots[i];
			return 0;
		}
	}
	if (ARRAY_GROW(batch->roots, batch->nr_roots, batch->roots_capacity))
		return -ENOMEM;
	*root = (struct batch_root){.identity = identity, .fd = fd};
	(void)TAKE_FD(fd);
	batch->roots[batch->nr_roots++] = *root;
	return 0;
}

int file_batch__add(struct file_batch *batch, const struct sym_file *file, struct arena *paths,
		    size_t *index)
{
	CLEANUP_CLOSE int fd = file->fd;
	struct sym_file added = *file;
	int err = file_identity__read(&added.identity, fd);

	if (err)
		return err;
	for (size_t i = 0; i < batch->nr_files; i++) {
		if (file_identity__equal(&batch->files[i].identity, &added.identity) &&
		    root_identity__equal(&batch->files[i].root_identity, &added.root_identity)) {
			*index = i;
			return 0;
		}
	}
	if (ARRAY_GROW(batch->files, batch->nr_files, batch->files_capacity))
		return -ENOMEM;
	err = sym_file__open(&added);
	if (err)
		return err;
	added.path = arena__copy_string(paths, file->path, strlen(file->path));
	if (!added.path) {
		elf_file__close(&added.elf);
		return -ENOMEM;
	}
	(void)TAKE_FD(fd);
	batch->files[batch->nr_files] = added;
	*index = batch->nr_files++;
	return 0;
}

static void emit(const struct file_batch *batch, const struct sym_query *query)
{
	batch->caller->emit(batch->caller->context, query);
}

int file_batch__ask(struct file_batch *batch, size_t file, uint64_t shift, struct sym_query *query)
{
	uint64_t lookup = sym_query__lookup_address(query);
	uint64_t address;

	if (!elf_file__address(&batch->files[file].elf, lookup + shift, &address)) {
		emit(batch, query);
		return 0;
	}
	query->module_offset = address + (query->address - lookup);
	if (ARRAY_GROW(batch->questions, batch->nr_questions, batch->questions_capacity))
		return -ENOMEM;
	batch->questions[batch->nr_questions++] =
		(struct file_question){.file = file, .address = address, .query = query};
	return 0;
}

static int compare_questions(const void *a, const void *b)
{
	const struct file_question *left = a, *right = b;
	int order = COMPARE(left->file, right->file);

	return order ? order : COMPARE(left->address, right->address);
}

/* The questions about one file, sorted by address. */
struct part {
	const struct file_question *questions;
	size_t nr;
};

/* Make *part the next one; it begins as {0}. False behind the last. */
static bool next_part(const struct file_batch *batch, struct part *part)
{
	const struct file_question *end = batch->questions + batch->nr_questions;

	part->questions = part->questions ? part->questions + part->nr : batch->questions;
	part->nr = 0;
	while (part->questions + part->nr < end &&
	       part->questions[part->nr].file == part->questions->file)
		part->nr++;
	if (part->nr)
		batch->caller->pause(batch->caller->context);
	return part->nr;
}

/* Lookups for the addresses of a part, allocated; NULL without memory. */
static struct elf_lookup *make_lookups(const struct part *part)
{
	struct elf_lookup *lookups = calloc(part->nr, sizeof(*lookups));

	for (size_t i = 0; i < part->nr && lookups; i++)
		lookups[i].address = part->questions[i].address;
	return lookups;
}

static int find_names(const struct file_batch *batch, struct file_names *names,
		      const struct part *part)
{
	CLEANUP_FREE struct elf_lookup *lookups = make_lookups(part);
	const struct sym_file *file = &batch->files[part->questions->file];
	int err = lookups ? file_names__find(names, file, lookups, part->nr) : -ENOMEM;

	for (size_t i = 0; i < part->nr && !err; i++) {
		struct sym_query *query = part->questions[i].query;

		query->name = lookups[i].name;
		query->origin = lookups[i].origin;
		query->symbol = lookups[i].symbol;
		if (!query->name && names->settings->starts)
			query->function_start = lookups[i].start;
		if (query->name || query->function_start)
			query->offset = query->module_offset - lookups[i].start;
		emit(batch, query);
	}
	return err;
}

/* Without a place there is nothing more to tell about the query. */
static void take_place(const struct file_batch *batch, const struct file_place *place,
		       struct sym_query *query)
{
	if (!place->is_found)
		return;
	query->source = place->source;
	query->inlined = place->inlined;
	query->nr_inlined = place->nr_inlined;
	/* The file has debug data but no symbols. */
	if (!query->name && place->function.name && place->start) {
		query->name = place->function.name;
		query->symbol = place->function.symbol;
		query->origin = SYM_DWARF;
		query->offset = query->module_offset - place->start;
	}
	emit(batch, query);
}

static int find_places(const struct file_batch *batch, struct file_places *places,
		       const struct part *part)
{
	CLEANUP_FREE struct elf_lookup *lookups = make_lookups(part);
	CLEANUP_FREE struct file_place *found = calloc(part->nr, sizeof(*found));
	const struct sym_file *file = &batch->files[part->questions->file];
	int err = lookups && found ? file_places__find(places, file, lookups, found, part->nr) :
				     -ENOMEM;

	for (size_t i = 0; i < part->nr && !err; i++)
		take_place(batch, &found[i], part->questions[i].query);
	return err;
}

int file_batch__answer_names(struct file_batch *batch, struct file_names *names)
{
	struct part part = {0};
	int err = 0;

	array__sort(batch->questions, batch->nr_questions, sizeof(*batch->questions),
		    compare_questions);
	while (!err && next_part(batch, &part))
		err = find_names(batch, names, &part);
	return err;
}

int file_batch__answer_places(struct file_batch *batch, struct file_places *places)
{
	struct part part = {0};
	int err = 0;

	while (!err && next_part(batch, &part))
		err = find_places(batch, places, &part);
	return err;
}

void file_batch__clear(struct file_batch *batch, const struct batch_root *kept)
{
	size_t nr = 0;

	batch->nr_questions = 0;
	close_files(batch);
	for (size_t i = 0; i < batch->nr_roots; i++) {
		if (root_identity__equal(&batch->roots[i].identity, &kept->identity))
			batch->roots[nr++] = batch->roots[i];
		else
			cleanup__close(&batch->roots[i].fd);
	}
	batch->nr_roots = nr;
}
