// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/address/file_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/cfi/function_starts.h"
#include "sym/child/supervisor.h"
#include "sym/elf/demangle.h"
#include "sym/elf/go_functions.h"
#include "sym/elf/notes.h"
#include "sym/elf/plt.h"
#include "sym/elf/work.h"
#include "sym/symfile/mini_symbols.h"
#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/text.h"

int sym_file__open(struct sym_file *file)
{
	return elf_file__open(&file->elf, file->fd);
}

int sym_file__read_build_id(struct sym_file *file, struct arena *names)
{
	unsigned char id[ELF_BUILD_ID_MAX];
	char text[2 * ELF_BUILD_ID_MAX + 1];
	int size;

	if (file->build_id)
		return 0;
	size = elf_notes__build_id(&file->elf, id);
	text__hex(id, size > 0 ? (size_t)size : 0, text);
	file->build_id = arena__copy_string(names, text, strlen(text));
	return file->build_id ? 0 : -ENOMEM;
}

void sym_file__close(struct sym_file *file)
{
	elf_file__close(&file->elf);
	close(file->fd);
}

int file_names__demangle(struct file_names *names, const char *symbol, struct file_name *name)
{
	const struct work work = work__share(&names->supervisor->progress->work, UINT64_MAX);
	char text[DEMANGLED_SIZE];
	size_t length;

	*name = (struct file_name){.name = symbol};
	if (names->settings->mangled || !work__is_left(&work) ||
	    !demangle(symbol, text, &names->demangle_patience))
		return 0;
	length = strlen(text);
	work__charge(&work, length);
	name->name = arena__copy_string(names->names, text, length);
	if (names->settings->symbols)
		name->symbol = symbol;
	return name->name ? 0 : -ENOMEM;
}

/* The names of neighbours are often one string. */
static int demangle_names(struct file_names *names, struct elf_lookup *lookups, size_t nr)
{
	struct file_name name = {0};
	const char *symbol = NULL;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (!lookups[i].name)
			continue;
		if (lookups[i].name != symbol) {
			symbol = lookups[i].name;
			err = file_names__demangle(names, symbol, &name);
		}
		lookups[i].name = name.name;
		lookups[i].symbol = name.symbol;
	}
	return err;
}

/* All names that have been found and are from nowhere yet are from there. */
static void note_origin(struct elf_lookup *lookups, size_t nr, enum sym_origin origin)
{
	for (size_t i = 0; i < nr; i++)
		if (lookups[i].name && lookups[i].origin == SYM_NOWHERE)
			lookups[i].origin = origin;
}

/* Try each place where a file has names; each finder fills in what those before left out. */
static int find_names(struct file_names *names, const struct sym_file *file,
		      struct elf_lookup *lookups, size_t nr)
{
	static const struct {
		int (*find)(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
			    struct arena *names, uint64_t *work);
		enum sym_origin origin;
	} finders[] = {{elf_symbols__find, SYM_SYMBOLS},
		       {elf_plt__find, SYM_PLT},
		       {go_functions__find, SYM_GO_TABLE}};
	struct progress *progress = names->supervisor->progress;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(finders) && !err; i++) {
		err = progress__note_left_out(
			progress,
			finders[i].find(&file->elf, lookups, nr, names->names, &progress->work));
		note_origin(lookups, nr, finders[i].origin);
	}
	return err;
}

struct debug_search file_names__search(const struct file_names *names, const struct sym_file *file,
				       enum debug_content wanted)
{
	return (struct debug_search){
		.elf = &file->elf,
		.path = file->path,
		.pid = file->pid,
		.root = file->root,
		.places = DEBUG_SYMFS | DEBUG_HOST | DEBUG_TARGET | DEBUG_SERVER,
		.wanted = wanted,
		.work = &names->supervisor->progress->work,
	};
}

/* Open the file that holds the symbols of this one. A descriptor, or a negative errno. */
static int open_symbols(struct file_names *names, const struct sym_file *file,
			enum sym_origin *origin)
{
	const struct debug_search search = file_names__search(names, file, DEBUG_SYMBOLS);
	struct debug_file found;
	int err = debug_files__find(&names->debug_files, &search, &found);

	*origin = err ? SYM_GNU_DEBUGDATA : SYM_SEPARATE_FILE;
	if (!err)
		return found.fd;
	/* If a server had no time, the names may be in the file itself. */
	names->supervisor->progress->left_out |= err == -ETIME;
	return err == -ENOENT || err == -ETIME ? mini_symbols__open(&file->elf, search.work) : err;
}

/* The lookups without a name, in their order; *nr becomes their number. NULL without memory. */
static struct elf_lookup *list_unnamed(const struct elf_lookup *lookups, size_t *nr)
{
	struct elf_lookup *unnamed = calloc(*nr + 1, sizeof(*unnamed));
	size_t all = *nr;

	*nr = 0;
	for (size_t i = 0; i < all && unnamed; i++)
		if (!lookups[i].name)
			unnamed[(*nr)++] = lookups[i];
	return unnamed;
}

static int find_in_symbols(struct file_names *names, int fd, struct elf_lookup *lookups, size_t nr)
{
	CLEANUP(elf_file__close) struct elf_file symbols = {.fd = -1};
	struct progress *progress = names->supervisor->progress;
	size_t nr_unnamed = nr;
	CLEANUP_FREE struct elf_lookup *unnamed = list_unnamed(lookups, &nr_unnamed);
	int err = unnamed ? elf_file__open(&symbols, fd) : -ENOMEM;

	if (!err)
		err = progress__note_left_out(progress,
					      elf_symbols__find(&symbols, unnamed, nr_unnamed,
								names->names, &progress->work));
	for (size_t i = 0, next = 0; i < nr && !err; i++)
		if (!lookups[i].name)
			lookups[i] = unnamed[next++];
	return err == -ENOMEM ? err : 0;
}

/* False if the file has no symbols, or none that make sense. */
static bool is_left_out(int err)
{
	return err != -ENOENT && err != -EBADMSG && err != -ENOEXEC;
}

/* Find names for a file that has its symbols elsewhere. */
static int find_separate(struct file_names *names, const struct sym_file *file,
			 struct elf_lookup *lookups, size_t nr)
{
	CLEANUP_CLOSE int fd = -1;
	enum sym_origin origin;
	size_t named = 0;
	int err;

	while (named < nr && lookups[named].name)
		named++;
	if (named == nr || debug_content__is_in(&file->elf, DEBUG_SYMBOLS))
		return 0;
	fd = open_symbols(names, file, &origin);
	if (fd >= 0) {
		err = find_in_symbols(names, fd, lookups, nr);
		note_origin(lookups, nr, origin);
		return err;
	}
	names->supervisor->progress->left_out |= is_left_out(fd);
	return fd == -ENOMEM ? fd : 0;
}

/* Say where functions begin that no place has a name for. */
static int find_starts(struct file_names *names, const struct sym_file *file,
		       struct elf_lookup *lookups, size_t nr)
{
	struct progress *progress = names->supervisor->progress;

	if (!names->settings->starts)
		return 0;
	return progress__note_left_out(
		progress, function_starts__find(&file->elf, lookups, nr, &progress->work));
}

int file_names__find(struct file_names *names, const struct sym_file *file,
		     struct elf_lookup *lookups, size_t nr)
{
	int err;

	supervisor__touch(names->supervisor, file->pid, file->device, false);
	err = find_names(names, file, lookups, nr);
	if (!err)
		err = find_separate(names, file, lookups, nr);
	if (!err)
		err = find_starts(names, file, lookups, nr);
	return err ? err : demangle_names(names, lookups, nr);
}
