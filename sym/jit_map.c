// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/jit_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/util/array.h"
#include "core/util/cleanup.h"
#include "sym/work.h"

#define BLOCK_SIZE	((size_t)64 * 1024)
#define NAME_LENGTH_MAX 1024 /* what is longer is cut; generated names can be whole scripts */

/*
 * A unit of work is about an entry of a symbol table, 24 bytes of it. Comparing
 * with lookups costs one each.
 */
#define BYTES_PER_WORK 24

/* The best entry for a lookup so far. Its name is kept only at the end. */
struct candidate {
	uint64_t start;
	uint64_t name_offset; /* in the file */
	size_t name_length;   /* 0: none yet */
};

struct jit_pass {
	int fd;
	struct jit_lookup *lookups;
	struct candidate *candidates;
	size_t nr;
	struct work work;
	bool in_long_line; /* that began in an earlier block, and is none of ours */
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

/* One line, of which the first byte is at offset in the file. */
static void offer_line(struct jit_pass *pass, const char *line, const char *end, uint64_t offset)
{
	const char *name = line;
	uint64_t start, size;
	size_t i;

	if (!parse_hex(&name, end, &start) || !parse_hex(&name, end, &size) || name == end)
		return;
	i = array__lower_bound(pass->lookups, pass->nr, sizeof(*pass->lookups), start);
	for (; i < pass->nr && pass->lookups[i].address - start < size; i++) {
		work__charge(&pass->work, 1);
		pass->candidates[i] = (struct candidate){
			.start = start,
			.name_offset = offset + (uint64_t)(name - line),
			.name_length = (size_t)(end - name) < NAME_LENGTH_MAX ?
					       (size_t)(end - name) :
					       NAME_LENGTH_MAX,
		};
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

/* All whole lines of a block; returns how many bytes it is done with. */
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
	uint64_t offset = 0; /* of block in the file */
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
	return offset < JIT_MAP_BYTES_MAX ? 0 : -EFBIG;
}

/* Neighbours that lie in one function share its name. */
static int take_names(struct jit_pass *pass, struct arena *names)
{
	size_t previous = 0; /* the last lookup that got a name */

	for (size_t i = 0; i < pass->nr && work__is_left_for_all(&pass->work); i++) {
		const struct candidate *candidate = &pass->candidates[i];
		struct jit_lookup *lookup = &pass->lookups[i];
		char name[NAME_LENGTH_MAX];
		ssize_t got;

		if (!candidate->name_length)
			continue;
		lookup->start = candidate->start;
		if (pass->lookups[previous].name &&
		    pass->candidates[previous].name_offset == candidate->name_offset) {
			lookup->name = pass->lookups[previous].name;
			continue;
		}
		got = pread(pass->fd, name, candidate->name_length, (off_t)candidate->name_offset);
		if (got <= 0 || name[0] == '\0')
			continue;
		work__charge(&pass->work, (uint64_t)got);
		lookup->name = arena__copy_string(names, name, (size_t)got);
		if (!lookup->name)
			return -ENOMEM;
		previous = i;
	}
	return 0;
}

int jit_map__find(int fd, struct jit_lookup *lookups, size_t nr, struct arena *names,
		  uint64_t *work)
{
	CLEANUP_FREE struct candidate *candidates = calloc(nr + 1, sizeof(*candidates));
	struct jit_pass pass = {.fd = fd,
				.lookups = lookups,
				.candidates = candidates,
				.nr = nr,
				.work = work__share(work, UINT64_MAX)};
	int err;

	if (!candidates)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		lookups[i].name = NULL;
	err = read_map(&pass);
	if (err == -ENOMEM || take_names(&pass, names))
		return -ENOMEM;
	return err;
}
