/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process is known to have mapped (struct sym_image), on its way to the child of
 * sym/worker/worker.h.
 */
#ifndef TRACEKIT_SYM_PROCESS_IMAGE_H
#define TRACEKIT_SYM_PROCESS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping;
struct sym_image;

/* Mappings of an image that are kept: the last ones, which hide those before. */
#define IMAGE_MAPPINGS_MAX 1000

struct image {
	uint64_t version; /* not 0; of two images of a process that differ it does, too */
	pid_t parent;
	bool whole;
	const struct mapping *mappings; /* in the order in which they were made */
	size_t nr;
};

/* A copy, in one piece of *bytes that the caller frees; NULL without memory. */
struct image *image__copy(const struct sym_image *original, uint64_t version, size_t *bytes);

/* Whether image__copy() of original would be equal to image. */
bool image__is_copy(const struct image *image, const struct sym_image *original);

#endif
