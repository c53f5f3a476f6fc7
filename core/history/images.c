// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/history/images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/util/array.h"

#define IMAGES_MAX 512

/* Of one image, beyond which mappings are left out: a real process has some KB. And of all. */
#define IMAGE_BYTES_MAX ((size_t)64 * 1024)
#define BYTES_MAX	((size_t)2 * 1024 * 1024)

_Static_assert(2 * IMAGE_BYTES_MAX <= BYTES_MAX && IMAGES_MAX >= 2, "a parent and its child fit");

struct image {
	pid_t pid; /* 0: none */
	struct sym_image image;
	struct sym_mapping *mappings; /* those of image; paths are allocated */
	size_t capacity;
	size_t bytes;
	uint64_t told; /* the larger, the more recently */
};

struct process_images {
	struct image items[IMAGES_MAX];
	size_t bytes; /* of all */
	uint64_t tellings;
};

int process_images__new(struct process_images **images)
{
	*images = calloc(1, sizeof(**images));
	return *images ? 0 : -ENOMEM;
}

static void clear(struct process_images *images, struct image *image)
{
	images->bytes -= image->bytes;
	for (size_t i = 0; i < image->image.nr; i++)
		free((char *)image->mappings[i].path);
	free(image->mappings);
	*image = (struct image){0};
}

void process_images__forget_all(struct process_images *images)
{
	for (size_t i = 0; i < IMAGES_MAX; i++)
		clear(images, &images->items[i]);
}

void process_images__free(struct process_images *images)
{
	if (!images)
		return;
	process_images__forget_all(images);
	free(images);
}

static struct image *find(struct process_images *images, pid_t pid)
{
	for (size_t i = 0; i < IMAGES_MAX; i++)
		if (images->items[i].pid == pid)
			return &images->items[i];
	return NULL;
}

/* One that is free, or else the one that was told of longest ago. */
static struct image *oldest(struct process_images *images)
{
	struct image *oldest = &images->items[0];

	for (size_t i = 1; i < IMAGES_MAX; i++)
		if (images->items[i].told < oldest->told)
			oldest = &images->items[i];
	return oldest;
}

/* An image without mappings, in the place of what pid had. */
static struct image *begin(struct process_images *images, pid_t pid, pid_t parent, bool whole)
{
	struct image *image = find(images, pid);

	if (!image)
		image = oldest(images);
	clear(images, image);
	image->pid = pid;
	image->image.parent = parent;
	image->image.whole = whole;
	image->told = ++images->tellings;
	return image;
}

/* The image itself is the last that goes. */
static void make_room(struct process_images *images, const struct image *image, size_t bytes)
{
	while (images->bytes + bytes > BYTES_MAX) {
		struct image *victim = NULL;

		for (size_t i = 0; i < IMAGES_MAX; i++) {
			struct image *item = &images->items[i];

			if (item != image && item->bytes && (!victim || item->told < victim->told))
				victim = item;
		}
		if (!victim)
			return;
		clear(images, victim);
	}
}

static void add(struct process_images *images, struct image *image,
		const struct sym_mapping *mapping)
{
	size_t bytes = sizeof(*mapping) + strlen(mapping->path) + 1;
	char *path;

	if (image->bytes + bytes > IMAGE_BYTES_MAX)
		return;
	make_room(images, image, bytes);
	path = strdup(mapping->path);
	if (!path || ARRAY_GROW(image->mappings, image->image.nr, image->capacity)) {
		free(path);
		clear(images, image);
		return;
	}
	image->mappings[image->image.nr] = *mapping;
	image->mappings[image->image.nr++].path = path;
	image->image.mappings = image->mappings;
	image->bytes += bytes;
	images->bytes += bytes;
}

/* The child has what its parent has, whose files serve; or it stands on what that stands on. */
void process_images__fork(struct process_images *images, pid_t pid, pid_t parent)
{
	struct image *image, *from = find(images, parent);
	bool whole = from && from->image.whole;

	if (pid == parent)
		return;
	/* All others go before the parent does, so it stays until it has been copied. */
	if (from)
		from->told = ++images->tellings;
	image = begin(images, pid, from && !whole ? from->image.parent : parent, whole);
	for (size_t i = 0; from && image->pid && i < from->image.nr; i++)
		add(images, image, &from->mappings[i]);
}

void process_images__exec(struct process_images *images, pid_t pid)
{
	begin(images, pid, 0, true);
}

void process_images__map(struct process_images *images, pid_t pid,
			 const struct sym_mapping *mapping)
{
	struct image *image = find(images, pid);

	/* One that was there before is read in /proc. */
	if (!image)
		return;
	image->told = ++images->tellings;
	add(images, image, mapping);
}

const struct sym_image *process_images__find(struct process_images *images, pid_t pid)
{
	const struct image *image = find(images, pid);

	return image ? &image->image : NULL;
}
