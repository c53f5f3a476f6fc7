// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/file_names.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "core/util/arena.h"
#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "sym/demangle.h"
#include "sym/elf_plt.h"
#include "sym/go_functions.h"
#include "sym/sym.h"
#include "sym/watched.h"
#include "sym/work.h"

int sym_file__open(struct sym_file *file, int owned_fd, dev_t device)
{
	CLEANUP_CLOSE int fd = owned_fd;
	struct sym_file opened = {.device = device};
	int err = file_identity__read(&opened.identity, fd);

	if (!err)
		err = elf_symbols__open(&opened.elf, fd);
	if (err)
		return err;
	opened.fd = TAKE_FD(fd);
	*file = opened;
	return 0;
}

void sym_file__close(struct sym_file *file)
{
	elf_symbols__close(&file->elf);
	close(file->fd);
}

/* The form of a symbol, or the symbol itself; NULL without memory. */
static const char *demangled(struct file_names *names, const char *symbol)
{
	const struct work work = work__share(&names->watched->progress->work, UINT64_MAX);
	char text[DEMANGLED_SIZE];
	size_t length;

	if (!work__is_left(&work) || !demangle(symbol, text, &names->demangle_patience))
		return symbol;
	length = strlen(text);
	work__charge(&work, length);
	return arena__copy_string(names->names, text, length);
}

/* The names of neighbours are often one string. */
static int demangle_names(struct file_names *names, struct elf_lookup *lookups, size_t nr)
{
	const char *symbol = NULL, *name = NULL;

	for (size_t i = 0; i < nr; i++) {
		if (!lookups[i].name)
			continue;
		if (lookups[i].name != symbol) {
			symbol = lookups[i].name;
			name = demangled(names, symbol);
			if (!name)
				return -ENOMEM;
		}
		lookups[i].name = name;
	}
	return 0;
}

/* One place after the other where a file has names; each fills in what those before left out. */
static int find_names(struct file_names *names, const struct sym_file *file,
		      struct elf_lookup *lookups, size_t nr)
{
	static int (*const finders[])(const struct elf_symbols *elf, struct elf_lookup *lookups,
				      size_t nr, struct arena *names, uint64_t *work) = {
		elf_symbols__find, elf_plt__find, go_functions__find};
	struct progress *progress = names->watched->progress;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(finders) && !err; i++)
		err = progress__note_left_out(progress, finders[i](&file->elf, lookups, nr,
								   names->names, &progress->work));
	return err;
}

int file_names__find(struct file_names *names, const struct sym_file *file, pid_t pid,
		     struct elf_lookup *lookups, size_t nr)
{
	int err;

	watched__touch(names->watched, pid, file->device, false);
	err = find_names(names, file, lookups, nr);
	if (!err && !names->settings->mangled)
		err = demangle_names(names, lookups, nr);
	return err;
}
