// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/worker/told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/process/image.h"
#include "sym/process/maps.h"
#include "sym/process/remembered.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/worker/protocol.h"

static struct told *find(const struct told_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].pid == pid)
			return &list->items[i];
	return NULL;
}

static void drop_image(struct told_list *list, struct told *told)
{
	list->image_bytes -= told->image_bytes;
	free(told->image);
	told->image = NULL;
	told->image_bytes = 0;
	told->sent = 0;
}

static void drop(struct told_list *list, struct told *told)
{
	drop_image(list, told);
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

/* Images of those that were used least recently go, until there is no more than there may be. */
static void make_room_for_images(struct told_list *list)
{
	while (list->image_bytes > IMAGES_BYTES_MAX) {
		struct told *oldest = NULL;

		for (size_t i = 0; i < list->nr; i++) {
			struct told *told = &list->items[i];

			if (told->image && (!oldest || told->used < oldest->used))
				oldest = told;
		}
		drop_image(list, oldest);
	}
}

static int set_image(struct told_list *list, struct told *told, const struct sym_image *original)
{
	struct image *image;
	size_t bytes;

	if (!original || (told->image && image__is_copy(told->image, original)))
		return 0;
	image = image__copy(original, list->images + 1, &bytes);
	if (!image)
		return -ENOMEM;
	drop_image(list, told);
	list->images++;
	told->image = image;
	told->image_bytes = bytes;
	list->image_bytes += bytes;
	return 0;
}

struct told *told_list__add(struct told_list *list, pid_t pid, bool kept,
			    const struct sym_image *image)
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
	told->ended = false;
	told->asked = false;
	told->start_time = 0;
	told->request = 0;
	told->sent = 0;
	told->used = ++list->uses;
	if (set_image(list, told, image))
		return NULL;
	make_room_for_images(list);
	return told;
}

void told_list__release(struct told_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].image);
	free(list->items);
	*list = (struct told_list){0};
}

void told_list__restart(struct told_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		list->items[i].request = list->items[i].sent = 0;
}

/* Whatever runs under the PID of one that has ended is another process. */
static bool is_waiting(const struct told *told)
{
	return !told->request && (told->image || !told->ended);
}

/* One that the child has been told of in part. */
static struct told *find_begun(const struct told_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].sent && is_waiting(&list->items[i]))
			return &list->items[i];
	return NULL;
}

/* What stands on the mappings of its parent comes behind it. Parents can form a circle. */
struct told *told_list__first(const struct told_list *list, struct told *told)
{
	struct told *begun = find_begun(list);

	for (size_t i = 0; i < list->nr && !begun && told->image; i++) {
		struct told *parent = told->image->parent ? find(list, told->image->parent) : NULL;

		if (!parent || !is_waiting(parent))
			break;
		told = parent;
	}
	return begun ? begun : told;
}

static bool comes_before(const struct told *a, const struct told *b)
{
	return a->kept != b->kept ? a->kept : a->used > b->used;
}

static bool comes_before_questions(const struct told *told)
{
	return told->kept || told->ended || told->asked || told->sent;
}

struct told *told_list__next(const struct told_list *list, bool all)
{
	struct told *next = NULL;

	for (size_t i = 0; i < list->nr; i++) {
		struct told *told = &list->items[i];

		if (!is_waiting(told) || !(all || comes_before_questions(told)))
			continue;
		if (!next || comes_before(told, next))
			next = told;
	}
	return next ? told_list__first(list, next) : NULL;
}

static void fill_mapping(const struct mapping *mapping, uint32_t index, struct message *message)
{
	struct sent_mapping *sent = &message->mapping;

	message->request = (struct request){.kind = REQUEST_MAPPING};
	sent->index = index;
	sent->start = mapping->start;
	sent->end = mapping->end;
	sent->offset = mapping->offset;
	sent->device = mapping->device;
	sent->inode = mapping->inode;
	sent->modified = mapping->modified;
	strcpy(sent->path, mapping->path); /* image__copy() has looked at its length */
}

bool told__fill(const struct told *told, uint64_t number, struct message *message)
{
	const struct image *image = told->image;

	if (image && told->sent < image->nr) {
		fill_mapping(&image->mappings[told->sent], told->sent, message);
		return false;
	}
	message->request = (struct request){.kind = REQUEST_REMEMBER,
					    .number = number,
					    .pid = told->pid,
					    .kept = told->kept,
					    .ended = told->ended,
					    .start_time = told->start_time};
	if (image) {
		message->request.image = image->version;
		message->request.parent = image->parent;
		message->request.whole = image->whole;
		message->request.mappings = (uint32_t)image->nr;
	}
	return true;
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
	if (!result) {
		told->start_time = start_time;
		told->ended = told->image && !start_time;
	} else if (result == -ESRCH && !told->kept) {
		drop(list, told);
	}
}

void told_list__note_question(struct told_list *list, const struct sym_query *queries, size_t nr)
{
	for (size_t i = 0; i < list->nr; i++)
		list->items[i].asked = false;
	for (size_t i = 0; i < nr; i++) {
		struct told *told;

		if (i && queries[i].pid == queries[i - 1].pid)
			continue;
		told = find(list, queries[i].pid);
		if (!told)
			continue;
		told->asked = true;
		told->used = ++list->uses;
	}
}
