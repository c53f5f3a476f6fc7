// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/address/jit_index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/util/array.h"

/* Sort if so many more than an eighth of the sorted entries are unsorted: seldom, in the end. */
#define UNSORTED_MAX 1024

static void forget(struct jit_index_list *list, struct jit_index *index)
{
	free(index->entries);
	list->entries -= index->nr;
	*index = (struct jit_index){
		.device = index->device, .inode = index->inode, .used = index->used};
}

void jit_index_list__release(struct jit_index_list *list)
{
	for (size_t i = 0; i < JIT_INDEX_FILES; i++)
		free(list->items[i].entries);
	*list = (struct jit_index_list){0};
}

static int compare_entries(const void *a, const void *b)
{
	const struct jit_entry *left = a, *right = b;
	int order = COMPARE(left->start, right->start);

	return order ? order : COMPARE(left->name, right->name);
}

static void sort(struct jit_index *index)
{
	uint64_t reach = 0;

	if (index->nr - index->nr_sorted <= index->nr_sorted / 8 + UNSORTED_MAX)
		return;
	array__sort(index->entries, index->nr, sizeof(*index->entries), compare_entries);
	index->nr_sorted = index->nr;
	for (size_t i = 0; i < index->nr; i++) {
		if (index->entries[i].last > reach)
			reach = index->entries[i].last;
		index->entries[i].reach = reach;
	}
}

/* The bytes before offset. False if the file has none there. */
static bool read_mark(int fd, uint64_t offset, unsigned char mark[JIT_INDEX_MARK])
{
	size_t size = offset < JIT_INDEX_MARK ? offset : JIT_INDEX_MARK;

	memset(mark, 0, JIT_INDEX_MARK);
	return pread(fd, mark, size, (off_t)(offset - size)) == (ssize_t)size;
}

static bool is_written_anew(const struct jit_index *index, int fd, const struct stat *st)
{
	unsigned char mark[JIT_INDEX_MARK];

	return (uint64_t)st->st_size < index->read || !read_mark(fd, index->read, mark) ||
	       memcmp(mark, index->mark, sizeof(mark)) != 0;
}

/* The file's own place, or the one that was used least recently. */
static struct jit_index *find_place(struct jit_index_list *list, const struct stat *st)
{
	struct jit_index *oldest = &list->items[0];

	for (size_t i = 0; i < JIT_INDEX_FILES; i++) {
		struct jit_index *index = &list->items[i];

		if (index->used && index->device == st->st_dev && index->inode == st->st_ino)
			return index;
		if (index->used < oldest->used)
			oldest = index;
	}
	forget(list, oldest);
	oldest->used = 0;
	return oldest;
}

struct jit_index *jit_index_list__get(struct jit_index_list *list, int fd)
{
	struct jit_index *index;
	struct stat st;
	bool is_new;

	if (fstat(fd, &st))
		return NULL;
	index = find_place(list, &st);
	is_new = !index->used;
	index->device = st.st_dev;
	index->inode = st.st_ino;
	index->used = ++list->uses;
	if (index->read && is_written_anew(index, fd, &st))
		forget(list, index);
	if (is_new || index->too_large)
		return NULL;
	sort(index);
	return index;
}

void jit_index__add(struct jit_index_list *list, struct jit_index *index,
		    const struct jit_entry *entry)
{
	if (index->too_large)
		return;
	if (list->entries >= JIT_INDEX_ENTRIES_MAX ||
	    ARRAY_GROW(index->entries, index->nr, index->capacity)) {
		forget(list, index);
		index->too_large = true;
		return;
	}
	index->entries[index->nr++] = *entry;
	list->entries++;
}

void jit_index__note_read(struct jit_index *index, int fd, uint64_t offset, bool in_long_line)
{
	if (index->too_large)
		return;
	index->read = offset;
	index->in_long_line = in_long_line;
	(void)read_mark(fd, offset, index->mark); /* if this fails, the next mark differs */
}

/* How many of the sorted entries begin at or before address. */
static size_t count_before(const struct jit_index *index, uint64_t address)
{
	if (address == UINT64_MAX)
		return index->nr_sorted;
	return array__lower_bound(index->entries, index->nr_sorted, sizeof(*index->entries),
				  address + 1);
}

struct jit_entry jit_index__find(const struct jit_index *index, uint64_t address, uint64_t *steps,
				 uint64_t most)
{
	struct jit_entry best = {0};

	for (size_t i = count_before(index, address); i > 0 && *steps < most; i--) {
		const struct jit_entry *entry = &index->entries[i - 1];

		if (entry->reach < address)
			break;
		(*steps)++;
		if (entry->last >= address && entry->name > best.name)
			best = *entry;
	}
	return best;
}
