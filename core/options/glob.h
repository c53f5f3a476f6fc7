/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The elements of globs: '*' stands for any bytes, '?' for one, '[...]' for one of a set with
 * ranges and classes as in [a-z_[:digit:]], '[!...]' and '[^...]' for one that is not in it. All
 * else stands for itself: also a backslash, and a '[' that is never closed.
 */
#ifndef TRACEKIT_CORE_OPTIONS_GLOB_H
#define TRACEKIT_CORE_OPTIONS_GLOB_H

#include <stdbool.h>
#include <stdint.h>

/* Any of the 256 bytes. */
struct byte_set {
	uint64_t words[4];
};

void byte_set__add(struct byte_set *set, unsigned int byte);
bool byte_set__has(const struct byte_set *set, unsigned char byte);

/* The part of a glob that matches one byte; or '*'. */
struct glob_element {
	bool is_star;
	struct byte_set set;
};

/* Parse the element that begins at text, which is not empty. Returns the text behind it. */
const char *glob__take(struct glob_element *element, const char *text);

/*
 * The text behind the set, as in [a-z], that begins at text; NULL if none begins there. regex: a
 * set of a regular expression.
 */
const char *glob__skip_set(const char *text, bool regex);

#endif
