// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/file_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/arena.h"
#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "sym/file_places.h"
#include "sym/maps.h"
#include "sym/sym.h"
#include "sym/user_namer.h"

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
		elf_symbols__close(&added.elf);
		return -ENOMEM;
	}
	(void)TAKE_FD(fd);
	batch->files[batch->nr_files] = added;
	*index = batch->nr_files++;
	return 0;
}

bool file_batch__address(const struct file_batch *batch, size_t file, const struct mapping *mapping,
			 uint64_t address, uint64_t *in_file)
{
	return elf_symbols__address(&batch->files[file].elf,
				    address - mapping->start + mapping->offset, in_file);
}

int file_batch__ask(struct file_batch *batch, const struct file_question *question)
{
	if (ARRAY_GROW(batch->questions, batch->nr_questions, batch->questions_capacity))
		return -ENOMEM;
	batch->questions[batch->nr_questions++] = *question;
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

/* Allocated, with the addresses of a part; NULL without memory. */
static struct elf_lookup *make_lookups(const struct part *part)
{
	struct elf_lookup *lookups = calloc(part->nr, sizeof(*lookups));

	for (size_t i = 0; i < part->nr && lookups; i++)
		lookups[i].address = part->questions[i].address;
	return lookups;
}

static int find_names(struct file_names *names, const struct sym_file *file,
		      const struct part *part)
{
	CLEANUP_FREE struct elf_lookup *lookups = make_lookups(part);
	int err = lookups ? file_names__find(names, file, lookups, part->nr) : -ENOMEM;

	for (size_t i = 0; i < part->nr && !err; i++) {
		struct sym_query *query = part->questions[i].query;

		query->name = lookups[i].name;
		if (query->name)
			query->offset = query->module_offset - lookups[i].start;
	}
	return err;
}

static int find_places(struct file_places *places, const struct sym_file *file,
		       const struct part *part)
{
	CLEANUP_FREE struct elf_lookup *lookups = make_lookups(part);
	CLEANUP_FREE struct file_place *found = calloc(part->nr, sizeof(*found));
	int err = lookups && found ? file_places__find(places, file, lookups, found, part->nr) :
				     -ENOMEM;

	for (size_t i = 0; i < part->nr && !err; i++) {
		struct sym_query *query = part->questions[i].query;

		query->source = found[i].source;
		query->inlined = found[i].inlined;
		query->nr_inlined = found[i].nr_inlined;
		/* Where there are debug data but no symbols. */
		if (!query->name && found[i].function && found[i].start) {
			query->name = found[i].function;
			query->offset = query->module_offset - found[i].start;
		}
	}
	return err;
}

/* One kind of answer for all files. */
static int answer_each(struct file_batch *batch, struct file_names *names,
		       struct file_places *places)
{
	int err = 0;

	for (size_t first = 0, end; first < batch->nr_questions && !err; first = end) {
		const struct sym_file *file = &batch->files[batch->questions[first].file];
		struct part part = {.questions = &batch->questions[first]};

		for (end = first + 1; end < batch->nr_questions; end++)
			if (batch->questions[end].file != batch->questions[first].file)
				break;
		part.nr = end - first;
		batch->caller->pause(batch->caller->context);
		err = places ? find_places(places, file, &part) : find_names(names, file, &part);
		for (size_t i = first; i < end && !err; i++)
			batch->caller->emit(batch->caller->context, batch->questions[i].query);
	}
	return err;
}

int file_batch__answer_names(struct file_batch *batch, struct file_names *names)
{
	array__sort(batch->questions, batch->nr_questions, sizeof(*batch->questions),
		    compare_questions);
	return answer_each(batch, names, NULL);
}

int file_batch__answer_places(struct file_batch *batch, struct file_places *places)
{
	return answer_each(batch, NULL, places);
}

void file_batch__clear(struct file_batch *batch)
{
	batch->nr_questions = 0;
	close_files(batch);
}
