// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/address/jit_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/address/jit_index.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

#define BLOCK_SIZE	((size_t)64 * 1024)
#define NAME_LENGTH_MAX 1024 /* longer names are cut: some are whole scripts */

/*
 * A unit of work is about an entry of a symbol table, 24 bytes of it. Comparing
 * with lookups costs one each.
 */
#define BYTES_PER_WORK 24

struct jit_pass {
	int fd;
	struct jit_lookup *lookups;
	struct jit_entry *candidates; /* the newest one for each lookup so far */
	size_t nr;
	struct work work;
	struct jit_index_list *list; /* NULL: nothing is kept */
	struct jit_index *index;     /* NULL: nothing of this file is kept */
	bool in_long_line;	     /* which began in an earlier block, and is passed over */
};

/* A hexadecimal number at *text, and the one space behind it; *text moves behind both. */
static bool parse_hex(const char **text, const char *end, uint64_t *number)
{
	const char *at = *text;
	uint64_t value = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (; at < end && *at != ' '; at++) {
		unsigned char digit = (unsigned char)*at;

		if (value >> 60)
			return false;
		if (digit >= '0' && digit <= '9')
			digit -= '0';
		else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
			digit = (digit | 0x20) - 'a' + 10;
		else
			return false;
		value = value << 4 | digit;
	}
	if (at == *text || at == end)
		return false;
	*text = at + 1;
	*number = value;
	return true;
}

/* Offer an entry that is newer than all candidates. */
static void offer_entry(struct jit_pass *pass, const struct jit_entry *entry)
{
	size_t i =
		array__lower_bound(pass->lookups, pass->nr, sizeof(*pass->lookups), entry->start);

	for (; i < pass->nr && pass->lookups[i].address <= entry->last; i++) {
		work__charge(&pass->work, 1);
		pass->candidates[i] = *entry;
	}
}

/* Offer a line, whose first byte is at offset in the file. */
static void offer_line(struct jit_pass *pass, const char *line, const char *end, uint64_t offset)
{
	const char *name = line;
	struct jit_entry entry;
	uint64_t start, size;

	if (!parse_hex(&name, end, &start) || !parse_hex(&name, end, &size) || name == end ||
	    size == 0)
		return;
	entry = (struct jit_entry){
		.start = start,
		.last = size - 1 > UINT64_MAX - start ? UINT64_MAX : start + (size - 1),
		.name = offset + (uint64_t)(name - line),
	};
	offer_entry(pass, &entry);
	if (pass->index)
		jit_index__add(pass->list, pass->index, &entry);
}

/* Offer the entries that are known already. */
static void offer_index(struct jit_pass *pass)
{
	const struct jit_index *index = pass->index;

	for (size_t i = 0; i < pass->nr && work__is_left(&pass->work); i++) {
		uint64_t steps = 0;

		pass->candidates[i] =
			jit_index__find(index, pass->lookups[i].address, &steps, *pass->work.left);
		work__charge(&pass->work, steps);
	}
	for (size_t i = index->nr_sorted; i < index->nr && work__is_left(&pass->work); i++) {
		work__charge(&pass->work, 1);
		offer_entry(pass, &index->entries[i]);
	}
}

/* How many bytes of a block belong to a line that is passed over. */
static size_t skip_long_line(struct jit_pass *pass, const char *block, size_t size)
{
	const char *end;

	if (!pass->in_long_line)
		return 0;
	end = memchr(block, '\n', size);
	pass->in_long_line = !end;
	return end ? (size_t)(end + 1 - block) : size;
}

/* Offer all whole lines of a block; returns how many bytes it is done with. */
static size_t offer_block(struct jit_pass *pass, const char *block, size_t size, uint64_t offset)
{
	size_t done = skip_long_line(pass, block, size);
	const char *end;

	while (work__is_left(&pass->work) && (end = memchr(block + done, '\n', size - done))) {
		offer_line(pass, block + done, end, offset + done);
		done = (size_t)(end - block) + 1;
	}
	if (done == 0 && size == BLOCK_SIZE) {
		pass->in_long_line = true;
		return size;
	}
	return done;
}

static int read_map(struct jit_pass *pass)
{
	CLEANUP_FREE char *block = malloc(BLOCK_SIZE);
	uint64_t offset = pass->index ? pass->index->read : 0; /* of block in the file */
	size_t filled = 0;

	if (!block)
		return -ENOMEM;
	while (offset < JIT_MAP_BYTES_MAX && work__is_left(&pass->work)) {
		ssize_t got = pread(pass->fd, block + filled, BLOCK_SIZE - filled,
				    (off_t)(offset + filled));
		size_t done;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break; /* a last line without its end is still being written */
		work__charge(&pass->work, (uint64_t)got / BYTES_PER_WORK + 1);
		filled += (size_t)got;
		done = offer_block(pass, block, filled, offset);
		memmove(block, block + done, filled - done);
		filled -= done;
		offset += done;
	}
	if (pass->index)
		jit_index__note_read(pass->index, pass->fd, offset, pass->in_long_line);
	return offset < JIT_MAP_BYTES_MAX ? 0 : -EFBIG;
}

/* Read the name from the line at offset on. Returns its length; 0: it has none any more. */
static size_t read_name(int fd, uint64_t offset, char name[NAME_LENGTH_MAX])
{
	ssize_t got = pread(fd, name, NAME_LENGTH_MAX, (off_t)offset);
	const char *end = got > 0 ? memchr(name, '\n', (size_t)got) : NULL;

	if (got <= 0 || name[0] == '\0')
		return 0;
	return end ? (size_t)(end - name) : (size_t)got;
}

/* Neighbours that lie in one function share its name. */
static int take_names(struct jit_pass *pass, struct arena *names)
{
	size_t previous = 0; /* the last lookup that got a name */

	for (size_t i = 0; i < pass->nr && work__is_left_for_all(&pass->work); i++) {
		const struct jit_entry *candidate = &pass->candidates[i];
		struct jit_lookup *lookup = &pass->lookups[i];
		char name[NAME_LENGTH_MAX];
		size_t length;

		if (!candidate->name)
			continue;
		lookup->start = candidate->start;
		if (pass->lookups[previous].name &&
		    pass->candidates[previous].name == candidate->name) {
			lookup->name = pass->lookups[previous].name;
			continue;
		}
		length = read_name(pass->fd, candidate->name, name);
		if (length == 0)
			continue;
		work__charge(&pass->work, length);
		lookup->name = arena__copy_string(names, name, length);
		if (!lookup->name)
			return -ENOMEM;
		previous = i;
	}
	return 0;
}

int jit_map__find(struct jit_index_list *list, int fd, struct jit_lookup *lookups, size_t nr,
		  struct arena *names, uint64_t *work)
{
	CLEANUP_FREE struct jit_entry *candidates = calloc(nr + 1, sizeof(*candidates));
	struct jit_pass pass = {.fd = fd,
				.lookups = lookups,
				.candidates = candidates,
				.nr = nr,
				.work = work__share(work, UINT64_MAX),
				.list = list,
				.index = list ? jit_index_list__get(list, fd) : NULL};
	int err;

	if (!candidates)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		lookups[i].name = NULL;
	if (pass.index) {
		pass.in_long_line = pass.index->in_long_line;
		offer_index(&pass);
	}
	err = read_map(&pass);
	if (err == -ENOMEM || take_names(&pass, names))
		return -ENOMEM;
	return err;
}
