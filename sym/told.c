// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/told.h"

#include <errno.h>
#include <stdlib.h>

#include "core/util/array.h"
#include "sym/remembered.h"
#include "sym/sym.h"

static struct told *find(const struct told_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].pid == pid)
			return &list->items[i];
	return NULL;
}

static void drop(struct told_list *list, struct told *told)
{
	*told = list->items[--list->nr];
}

/* One that is not to be kept goes, if there are as many of these as there may be. */
static void make_room(struct told_list *list)
{
	struct told *oldest = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++) {
		struct told *told = &list->items[i];

		if (told->kept)
			continue;
		nr++;
		if (!oldest || told->used < oldest->used)
			oldest = told;
	}
	if (nr >= REMEMBERED_MAX)
		drop(list, oldest);
}

struct told *told_list__add(struct told_list *list, pid_t pid, bool kept)
{
	struct told *told = find(list, pid);

	if (!told) {
		if (!kept)
			make_room(list);
		if (ARRAY_GROW(list->items, list->nr, list->capacity))
			return NULL;
		told = &list->items[list->nr++];
		*told = (struct told){.pid = pid};
	}
	told->kept |= kept;
	told->start_time = 0;
	told->request = 0;
	told->used = ++list->uses;
	return told;
}

void told_list__release(struct told_list *list)
{
	free(list->items);
	*list = (struct told_list){0};
}

void told_list__restart(struct told_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		list->items[i].request = 0;
}

static bool comes_before(const struct told *a, const struct told *b)
{
	return a->kept != b->kept ? a->kept : a->used > b->used;
}

struct told *told_list__next(const struct told_list *list, bool all)
{
	struct told *next = NULL;

	for (size_t i = 0; i < list->nr; i++) {
		struct told *told = &list->items[i];

		if (told->request || !(told->kept || all))
			continue;
		if (!next || comes_before(told, next))
			next = told;
	}
	return next;
}

struct told *told_list__find_request(const struct told_list *list, uint64_t request)
{
	for (size_t i = 0; request && i < list->nr; i++)
		if (list->items[i].request == request)
			return &list->items[i];
	return NULL;
}

void told_list__note_answer(struct told_list *list, struct told *told, int result,
			    uint64_t start_time)
{
	if (!result)
		told->start_time = start_time;
	else if (result == -ESRCH && !told->kept)
		drop(list, told);
}

void told_list__note_question(struct told_list *list, const struct sym_query *queries, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct told *told;

		if (i && queries[i].pid == queries[i - 1].pid)
			continue;
		told = find(list, queries[i].pid);
		if (told)
			told->used = ++list->uses;
	}
}
