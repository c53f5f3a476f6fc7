// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/file_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "core/util/pointer_map.h"
#include "sym/debug_reader.h"
#include "sym/file_names.h"
#include "sym/watched.h"

/* Readers that are kept: each is a process, with the debug data of a file in its memory. */
#define READERS_MAX 4

struct places_reader {
	struct file_places *places;
	struct file_identity identity; /* of the file, */
	struct root_identity root;     /* in which root it has been looked for */
	struct debug_reader *reader;   /* NULL: there is no debug data */
	struct elf_symbols elf;	       /* the file, as far as it is asked what files belong to it */
	struct process process;	       /* as in struct sym_file */
	enum debug_place place;	       /* of the debug data; 0: the file itself */
	uint64_t used;		       /* the larger, the more recently; 0: free */
};

struct file_places {
	struct file_names *names;
	struct places_reader readers[READERS_MAX];
	uint64_t uses;
	struct pointer_map strings; /* of the reader at hand, to what they became */
};

int file_places__new(struct file_places **places, struct file_names *names)
{
	*places = calloc(1, sizeof(**places));
	if (!*places)
		return -ENOMEM;
	(*places)->names = names;
	return 0;
}

/* ---- readers ---- */

/* Of struct debug_reader_caller: a file that the debug data names. */
static int open_split(void *context, const char *path)
{
	struct places_reader *reader = context;
	struct file_names *names = reader->places->names;
	const struct debug_search search = {.elf = &reader->elf, .process = &reader->process};
	struct debug_file found;
	int err =
		debug_files__find_split(&names->debug_files, &search, reader->place, path, &found);

	return err ? err : found.fd;
}

/* Likewise: it is at work. */
static void tick(void *context)
{
	const struct places_reader *reader = context;

	watched__tick(reader->places->names->watched);
}

/* Start it for elf, which holds the debug data, or its part that no other file shares. */
static int start(struct places_reader *reader, const struct debug_search *search)
{
	const struct debug_reader_caller caller = {
		.context = reader, .open_file = open_split, .tick = tick};
	CLEANUP(elf_symbols__close) struct elf_symbols alternate = {.fd = -1};
	struct debug_files *files = &reader->places->names->debug_files;
	struct debug_file found = {.fd = -1};
	bool has_alternate = !debug_files__find_alternate(files, search, reader->place, &found) &&
			     !elf_symbols__open(&alternate, found.fd);
	int err = debug_reader__start(&reader->reader, search->elf,
				      has_alternate ? &alternate : NULL, &caller);

	cleanup__close(&found.fd);
	return err;
}

/* For debug data in a file of its own. */
static int start_separate(struct places_reader *reader, const struct debug_search *search)
{
	CLEANUP(elf_symbols__close) struct elf_symbols elf = {.fd = -1};
	struct debug_search of_found = *search;
	struct debug_file found = {.fd = -1};
	int err = debug_files__find(&reader->places->names->debug_files, search, &found);

	if (!err)
		err = elf_symbols__open(&elf, found.fd);
	if (!err) {
		of_found.elf = &elf;
		reader->place = found.place;
		err = start(reader, &of_found);
	}
	cleanup__close(&found.fd);
	return err;
}

/* Find the debug data of a file. It may have none: that is remembered as well. */
static int begin_reader(struct places_reader *reader, struct file_places *places,
			const struct sym_file *file)
{
	const struct debug_search search = {
		.elf = &file->elf,
		.path = file->path,
		.process = &file->process,
		.places = DEBUG_SYMFS | DEBUG_HOST | DEBUG_TARGET | DEBUG_SERVER,
		.wanted = DEBUG_DWARF,
		.work = &places->names->watched->progress->work,
	};
	int err;

	if (reader->used) {
		debug_reader__stop(reader->reader);
		cleanup__close(&reader->elf.fd);
	}
	*reader = (struct places_reader){.places = places,
					 .identity = file->identity,
					 .root = file->root,
					 .elf = {.fd = watched__copy_fd(file->fd),
						 .machine = file->elf.machine,
						 .is_64bit = file->elf.is_64bit},
					 .process = file->process};
	if (debug_content__is_in(&file->elf, DEBUG_DWARF))
		err = start(reader, &search);
	else
		err = start_separate(reader, &search);
	return err;
}

static struct places_reader *find_reader(struct file_places *places, const struct sym_file *file)
{
	struct places_reader *oldest = &places->readers[0];

	for (size_t i = 0; i < READERS_MAX; i++) {
		struct places_reader *reader = &places->readers[i];

		if (reader->used && file_identity__equal(&reader->identity, &file->identity) &&
		    root_identity__equal(&reader->root, &file->root))
			return reader;
		if (reader->used < oldest->used)
			oldest = reader;
	}
	return oldest;
}

/* Returns 0, with *found->reader NULL if there is no debug data, or -ENOMEM. */
static int use_reader(struct file_places *places, const struct sym_file *file,
		      struct places_reader **found)
{
	struct places_reader *reader = find_reader(places, file);
	bool is_new = !reader->used || !file_identity__equal(&reader->identity, &file->identity) ||
		      !root_identity__equal(&reader->root, &file->root);
	int err = is_new ? begin_reader(reader, places, file) : 0;

	reader->used = ++places->uses;
	*found = reader;
	if (err && err != -ENOMEM && err != -ENOENT)
		places->names->watched->progress->left_out = true;
	return err == -ENOMEM ? err : 0;
}

/* ---- what they say ---- */

static int take_string(struct file_places *places, const char *string, bool is_name,
		       const char **taken)
{
	uintptr_t *copy = string ? pointer_map__at(&places->strings, string) : NULL;

	*taken = NULL;
	if (!string)
		return 0;
	if (!copy)
		return -ENOMEM;
	if (!*copy) {
		const char *kept = arena__copy_string(places->names->names, string, strlen(string));

		if (kept && is_name)
			kept = file_names__demangle(places->names, kept);
		if (!kept)
			return -ENOMEM;
		*copy = (uintptr_t)kept;
	}
	*taken = (const char *)*copy;
	return 0;
}

static int take_frame(struct file_places *places, const struct debug_frame *frame,
		      struct sym_inlined *taken)
{
	const struct sym_settings *settings = places->names->settings;

	*taken = (struct sym_inlined){0};
	if (take_string(places, frame->name, true, &taken->name))
		return -ENOMEM;
	if (!settings->lines)
		return 0;
	taken->source.line = frame->line;
	return take_string(places, frame->file, false, &taken->source.file);
}

static int take_chain(struct file_places *places, const struct debug_chain *chain,
		      struct file_place *place)
{
	const struct debug_frame *frames = chain->frames;
	size_t nr_inlined = places->names->settings->inlined ? chain->nr - 1 : 0;
	struct sym_inlined function, *inlined = NULL;
	int err;

	if (nr_inlined) {
		inlined = arena__alloc(places->names->names, nr_inlined * sizeof(*inlined));
		if (!inlined)
			return -ENOMEM;
	}
	err = take_frame(places, &frames[chain->nr - 1], &function);
	for (size_t i = 0; i < nr_inlined && !err; i++)
		err = take_frame(places, &frames[i], &inlined[i]);
	*place = (struct file_place){.function = function.name,
				     .start = frames[chain->nr - 1].start,
				     .inlined = inlined,
				     .nr_inlined = (uint32_t)nr_inlined,
				     .source = function.source};
	return err;
}

static int take_chains(struct file_places *places, const struct debug_chain *chains,
		       struct file_place *found, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		if (chains[i].nr)
			err = take_chain(places, &chains[i], &found[i]);
	/* A string of another reader can come to lie in the same place. */
	pointer_map__release(&places->strings);
	return err;
}

int file_places__find(struct file_places *places, const struct sym_file *file,
		      const struct elf_lookup *lookups, struct file_place *found, size_t nr)
{
	CLEANUP_FREE struct debug_chain *chains = calloc(nr + 1, sizeof(*chains));
	CLEANUP(arena__release) struct arena frames = {0};
	struct places_reader *reader;
	int err;

	memset(found, 0, nr * sizeof(*found));
	if (!chains)
		return -ENOMEM;
	err = use_reader(places, file, &reader);
	if (err || !reader->reader)
		return err;
	for (size_t i = 0; i < nr; i++)
		chains[i].address = lookups[i].address;
	if (debug_reader__find(reader->reader, chains, nr, &frames))
		places->names->watched->progress->left_out = true;
	return take_chains(places, chains, found, nr);
}
