// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/address/file_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/address/file_names.h"
#include "sym/child/supervisor.h"
#include "sym/dwarf/reader.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/descriptors.h"
#include "sym/util/pointer_map.h"

/*
 * Known files, so that nobody searches for their debug data again; and the readers among them, each
 * a process with debug data in its memory.
 */
#define KNOWN_MAX     64
#define READERS_MAX   8
#define READERS_BYTES ((uint64_t)512 * 1024 * 1024)

/* Time for a question, from its first debug data on: names are told by then, and others wait. */
#define QUESTION_TIME (5 * NANOSECONDS)

/*
 * A file that failed is tried again after so long, since it may have been the machine's fault; but
 * not often, since it may be the file's.
 */
#define RETRY_TIME  (60 * NANOSECONDS)
#define RETRIES_MAX 3

/*
 * Killed readers that have not ended: with AVOIDED_DEBUG_MAX of them no further reader starts, but
 * all that run then may come to wait for a file that does not answer.
 */
#define STUCK_MAX (READERS_MAX + AVOIDED_DEBUG_MAX)

struct known_file {
	struct file_places *places;
	struct file_identity identity;
	/* The root in which its debug data was looked for; open, so that it keeps its identity. */
	struct root_identity root_identity;
	int root;
	struct debug_reader *reader; /* NULL: there is no debug data, or it has failed */
	struct elf_file elf;	     /* the file, as far as a search for its other files needs it */
	pid_t pid;		     /* as in struct sym_file */
	enum debug_place place;	     /* of the debug data; 0: the file itself */
	dev_t device;		     /* of the file that the reader was given last */
	uint64_t used;		     /* the larger, the more recently; 0: free */
	uint64_t question;	     /* the last one that used it */
	uint64_t failed;	     /* time of the failure; 0: none, or it works again */
	unsigned int failures;
	bool is_old; /* the reader has been asked before */
};

/* A reader that has been killed and waits for a file on that device. */
struct stuck_reader {
	pid_t pid;
	dev_t device;
};

struct file_places {
	struct file_names *names;
	struct known_file known[KNOWN_MAX];
	struct stuck_reader stuck[STUCK_MAX];
	size_t nr_stuck;
	uint64_t uses, questions;
	uint64_t began;		      /* when the question came to debug data; 0: not yet */
	struct pointer_map strings;   /* of the reader at hand, to our copies of them */
	struct pointer_map functions; /* its names of functions, to a struct file_name */
};

int file_places__new(struct file_places **places, struct file_names *names)
{
	*places = calloc(1, sizeof(**places));
	if (!*places)
		return -ENOMEM;
	(*places)->names = names;
	return 0;
}

/* Reap readers whose file has answered after all. */
static void reap_readers(struct file_places *places)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->nr_stuck; i++)
		if (waitpid(places->stuck[i].pid, NULL, WNOHANG) == 0)
			places->stuck[kept++] = places->stuck[i];
	places->nr_stuck = kept;
}

void file_places__begin(struct file_places *places)
{
	reap_readers(places);
	places->questions++;
	places->began = 0;
}

/* ---- readers ---- */

/* True if another reader might wait there, too, or too many wait anywhere. */
static bool is_avoided(const struct file_places *places, dev_t device)
{
	for (size_t i = 0; i < places->nr_stuck; i++)
		if (places->stuck[i].device == device)
			return true;
	return places->nr_stuck >= AVOIDED_DEBUG_MAX;
}

/* For struct debug_reader_caller: open a file that the debug data names. */
static int open_split(void *context, const char *path)
{
	struct known_file *known = context;
	const struct debug_search search = {
		.elf = &known->elf, .pid = known->pid, .root = known->root};
	struct debug_file found;
	int err = debug_files__find_split(&known->places->names->debug_files, &search, known->place,
					  path, &found);

	if (err)
		return err;
	if (is_avoided(known->places, found.device)) {
		close(found.fd);
		return -ECANCELED;
	}
	known->device = found.device;
	return found.fd;
}

/* We wait for the reader, but not for ever. */
static void tick(void *context)
{
	const struct known_file *known = context;

	supervisor__tick(known->places->names->supervisor);
}

/* Take a further file that was found (err is 0) for the reader. Returns 0 or a negative errno. */
static int take_file(struct known_file *known, int err, struct debug_file *found,
		     struct elf_file *elf)
{
	if (!err && is_avoided(known->places, found->device))
		err = -ECANCELED;
	if (!err)
		err = elf_file__open(elf, found->fd);
	if (!err)
		known->device = found->device;
	return err;
}

/* Start a reader of the debug data in search->elf, or of its part that no other file shares. */
static int start(struct known_file *known, const struct debug_search *search)
{
	const struct debug_reader_caller caller = {
		.context = known, .open_file = open_split, .tick = tick};
	CLEANUP(elf_file__close) struct elf_file alternate = {.fd = -1};
	CLEANUP(elf_file__close) struct elf_file package = {.fd = -1};
	struct debug_files *files = &known->places->names->debug_files;
	struct progress *progress = known->places->names->supervisor->progress;
	struct debug_file found = {.fd = -1}, found_package = {.fd = -1};
	int no_alternate, no_package, err;

	if (is_avoided(known->places, known->device))
		return -ECANCELED;
	no_alternate = debug_files__find_alternate(files, search, known->place, &found);
	progress->left_out |= no_alternate == -ETIME;
	no_alternate = take_file(known, no_alternate, &found, &alternate);
	progress->incomplete_debug |= no_alternate < 0;
	/* Where there is none, the program may have no split units, or these have files. */
	no_package = debug_files__find_package(files, search, known->place, &found_package);
	no_package = take_file(known, no_package, &found_package, &package);
	err = debug_reader__start(&known->reader, search->elf, no_alternate ? NULL : &alternate,
				  no_package ? NULL : &package, &caller);
	cleanup__close(&found.fd);
	cleanup__close(&found_package.fd);
	return err;
}

/* For debug data in a file of its own. */
static int start_separate(struct known_file *known, const struct debug_search *search)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	const struct supervisor *supervisor = known->places->names->supervisor;
	struct debug_search of_found = *search;
	struct debug_file found = {.fd = -1};
	int err = debug_files__find(&known->places->names->debug_files, search, &found);

	if (err)
		return err;
	supervisor__touch_debug(supervisor, found.place == DEBUG_TARGET ? search->pid : 0,
				found.device);
	err = elf_file__open(&elf, found.fd);
	if (!err) {
		of_found.elf = &elf;
		known->place = found.place;
		known->device = found.device;
		err = start(known, &of_found);
	}
	cleanup__close(&found.fd);
	return err;
}

static void stop(struct known_file *known)
{
	struct file_places *places = known->places;
	pid_t child = debug_reader__stop(known->reader);

	known->reader = NULL;
	if (child && places->nr_stuck < STUCK_MAX)
		places->stuck[places->nr_stuck++] =
			(struct stuck_reader){.pid = child, .device = known->device};
}

static void forget(struct known_file *known)
{
	if (!known->used)
		return;
	stop(known);
	cleanup__close(&known->elf.fd);
	cleanup__close(&known->root);
	*known = (struct known_file){0};
}

static bool is_of(const struct known_file *known, const struct sym_file *file)
{
	return known->used && file_identity__equal(&known->identity, &file->identity) &&
	       root_identity__equal(&known->root_identity, &file->root_identity);
}

/* -ECANCELED: other readers wait there, but this file has not failed itself. */
static void note_failure(struct known_file *known, int err)
{
	known->failed = monotonic_now();
	known->failures += err != -ECANCELED;
}

/* Keep file and root open as long as the file is known. Returns 0 or -EMFILE. */
static int hold(struct known_file *known, const struct sym_file *file)
{
	known->root = file->root < 0 ? file->root : descriptor__copy(file->root);
	known->elf.fd = descriptor__copy(file->fd);
	return known->elf.fd < 0 || (file->root >= 0 && known->root < 0) ? -EMFILE : 0;
}

/* Find the debug data of a file. It may have none: that is known from then on as well. */
static int learn(struct known_file *known, struct file_places *places, const struct sym_file *file)
{
	const struct supervisor *supervisor = places->names->supervisor;
	const struct debug_search search = file_names__search(places->names, file, DEBUG_DWARF);
	unsigned int failures = is_of(known, file) ? known->failures : 0;
	int err;

	forget(known);
	*known = (struct known_file){
		.places = places,
		.identity = file->identity,
		.root_identity = file->root_identity,
		.elf = {.machine = file->elf.machine, .is_64bit = file->elf.is_64bit},
		.pid = file->pid,
		.device = file->identity.device,
		.used = ++places->uses,
		.question = places->questions,
		.failures = failures,
	};
	supervisor__touch(supervisor, file->pid, file->device, false);
	err = hold(known, file);
	if (!err)
		err = debug_content__is_in(&file->elf, DEBUG_DWARF) ?
			      start(known, &search) :
			      start_separate(known, &search);
	if (err && err != -ENOENT)
		note_failure(known, err);
	return err;
}

/* The place of the file, or else a place for it: the one that was used longest ago. */
static struct known_file *find_known(struct file_places *places, const struct sym_file *file)
{
	struct known_file *oldest = &places->known[0];

	for (size_t i = 0; i < KNOWN_MAX; i++) {
		struct known_file *known = &places->known[i];

		if (is_of(known, file))
			return known;
		if (known->used < oldest->used)
			oldest = known;
	}
	return oldest;
}

/*
 * The reader that goes first: the one that was used longest ago; or, if the question at hand has
 * used all of them, the last one: the next question begins with those before.
 */
static struct known_file *victim(struct file_places *places, const struct known_file *added)
{
	struct known_file *oldest = NULL, *newest = NULL;

	for (size_t i = 0; i < KNOWN_MAX; i++) {
		struct known_file *known = &places->known[i];

		if (!known->reader || known == added)
			continue;
		if (known->question != places->questions && (!oldest || known->used < oldest->used))
			oldest = known;
		if (!newest || known->used > newest->used)
			newest = known;
	}
	return oldest ? oldest : newest;
}

/* Make room for the reader that was added, or has grown; it stays in any case. */
static void make_room(struct file_places *places, const struct known_file *added)
{
	for (;;) {
		size_t readers = 0;
		uint64_t bytes = 0;

		for (size_t i = 0; i < KNOWN_MAX; i++) {
			if (!places->known[i].reader)
				continue;
			readers++;
			bytes += debug_reader__size(places->known[i].reader);
		}
		if (readers <= 1 || (readers <= READERS_MAX && bytes <= READERS_BYTES))
			return;
		forget(victim(places, added));
	}
}

/* A reader is near the end of what it may use, or it is time to try again what has failed. */
static bool is_outdated(const struct known_file *known)
{
	if (known->failed)
		return known->failures <= RETRIES_MAX &&
		       monotonic_now() - known->failed >= RETRY_TIME;
	return known->reader && debug_reader__is_near_cpu_limit(known->reader);
}

/* Returns 0 or -ENOMEM; known->reader is NULL if there is no debug data, or if it failed. */
static int renew(struct known_file *known, struct file_places *places, const struct sym_file *file)
{
	int err = learn(known, places, file);

	make_room(places, known);
	return err == -ENOMEM ? err : 0;
}

/* Returns the same, with the file in *found. */
static int use_known(struct file_places *places, const struct sym_file *file,
		     struct known_file **found)
{
	struct known_file *known = find_known(places, file);
	int err = 0;

	if (!is_of(known, file) || is_outdated(known))
		err = renew(known, places, file);
	known->used = ++places->uses;
	known->question = places->questions;
	*found = known;
	return err;
}

/* ---- what they say ---- */

static int take_string(struct file_places *places, const char *string, const char **taken)
{
	uintptr_t *copy = string ? pointer_map__at(&places->strings, string) : NULL;

	*taken = NULL;
	if (!string)
		return 0;
	if (!copy)
		return -ENOMEM;
	if (!*copy) {
		*copy = (uintptr_t)arena__copy_string(places->names->names, string, strlen(string));
		if (!*copy)
			return -ENOMEM;
	}
	*taken = (const char *)*copy;
	return 0;
}

static int take_name(struct file_places *places, const char *string, struct sym_inlined *taken)
{
	uintptr_t *known = string ? pointer_map__at(&places->functions, string) : NULL;
	struct file_name *name;
	const char *symbol;

	if (!string)
		return 0;
	if (!known)
		return -ENOMEM;
	name = (struct file_name *)*known;
	if (!name) {
		name = arena__alloc(places->names->names, sizeof(*name));
		if (!name || take_string(places, string, &symbol) ||
		    file_names__demangle(places->names, symbol, name))
			return -ENOMEM;
		*known = (uintptr_t)name;
	}
	taken->name = name->name;
	taken->symbol = name->symbol;
	return 0;
}

static int take_frame(struct file_places *places, const struct debug_frame *frame,
		      struct sym_inlined *taken)
{
	const struct sym_settings *settings = places->names->settings;

	*taken = (struct sym_inlined){0};
	if (take_name(places, frame->name, taken))
		return -ENOMEM;
	if (!settings->lines)
		return 0;
	taken->source.line = frame->line;
	return take_string(places, frame->file, &taken->source.file);
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
	*place = (struct file_place){.is_found = true,
				     .function = {function.name, function.symbol},
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
	pointer_map__release(&places->functions);
	return err;
}

/* A reader ends if it is not asked for long: then another one takes its place. */
static int ask(struct known_file *known, const struct sym_file *file, struct debug_chain *chains,
	       size_t nr, struct arena *frames)
{
	bool is_old = known->is_old;
	int err = debug_reader__find(known->reader, chains, nr, frames);

	known->is_old = true;
	if (err != -EPIPE || !is_old)
		return err;
	err = renew(known, known->places, file);
	return err || !known->reader ? err : debug_reader__find(known->reader, chains, nr, frames);
}

static int answer(struct known_file *known, const struct sym_file *file,
		  const struct elf_lookup *lookups, struct file_place *found, size_t nr)
{
	CLEANUP_FREE struct debug_chain *chains = calloc(nr + 1, sizeof(*chains));
	CLEANUP(arena__release) struct arena frames = {0};
	struct progress *progress = known->places->names->supervisor->progress;
	int err;

	if (!chains)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		chains[i].address = lookups[i].address;
	err = ask(known, file, chains, nr, &frames);
	if (err)
		progress->left_out = true;
	/* Its answers have gone with it. */
	if (!known->reader)
		return 0;
	progress->incomplete_debug |= debug_reader__nr_missing(known->reader) != 0;
	/* A reader that had too much to do can be asked again. */
	if (err && err != -EFBIG)
		note_failure(known, err);
	err = take_chains(known->places, chains, found, nr);
	if (known->failed)
		stop(known);
	else
		make_room(known->places, known);
	return err;
}

int file_places__find(struct file_places *places, const struct sym_file *file,
		      const struct elf_lookup *lookups, struct file_place *found, size_t nr)
{
	struct progress *progress = places->names->supervisor->progress;
	struct known_file *known;
	int err;

	memset(found, 0, nr * sizeof(*found));
	if (!places->began)
		places->began = monotonic_now();
	if (monotonic_now() - places->began > QUESTION_TIME) {
		progress->left_out = true;
		return 0;
	}
	err = use_known(places, file, &known);
	if (!err && known->reader)
		err = answer(known, file, lookups, found, nr);
	progress->left_out |= known->failed != 0;
	return err;
}
