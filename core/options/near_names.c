// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/near_names.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sym/util/array.h"
#include "sym/util/text.h"

/* Names that only begin with the wanted name rank behind all that edits lead to. */
#define PREFIX_DISTANCE NEAR_NAME_SIZE
#define PREFIX_MIN	3 /* shorter ones begin too much */

/* Two edits or a quarter of the name, but never more than half of it. */
static size_t most_edits(size_t length)
{
	size_t edits = length / 4 > 2 ? length / 4 : 2;

	return edits < length / 2 ? edits : length / 2;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The distance of two prefixes, from the distances of shorter ones. */
static size_t next_distance(const char *a, const char *b, size_t i, size_t j,
			    const unsigned char rows[3][NEAR_NAME_SIZE])
{
	size_t change = a[i - 1] != b[j - 1];
	size_t distance = rows[1][j - 1] + change;

	distance = least(distance, rows[1][j] + 1);
	distance = least(distance, rows[2][j - 1] + 1);
	if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
		distance = least(distance, rows[0][j - 2] + 1);
	return distance;
}

/*
 * The number of edits that turn a into b, both shorter than NEAR_NAME_SIZE; or any number above
 * most if there are more. Optimal string alignment: dynamic programming over the prefixes of a
 * (rows) and b, limited to the band that at most so many edits can reach.
 */
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length,
			    size_t most)
{
	unsigned char rows[3][NEAR_NAME_SIZE]; /* for i - 2, i - 1 and i bytes of a */

	for (size_t j = 0; j <= b_length; j++)
		rows[2][j] = (unsigned char)j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t from = i > most ? i - most : 1, to = least(i + most, b_length);
		size_t nearest = i;

		memmove(rows[0], rows[1], 2 * sizeof(rows[0]));
		/* Cells beside the band are farther than most. */
		rows[2][from - 1] = (unsigned char)(from == 1 ? i : most + 1);
		for (size_t j = from; j <= to; j++) {
			rows[2][j] = (unsigned char)next_distance(a, b, i, j, rows);
			nearest = least(nearest, rows[2][j]);
		}
		if (to < b_length)
			rows[2][to + 1] = (unsigned char)(most + 1);
		if (nearest > most)
			return nearest;
	}
	return rows[2][b_length];
}

/* SIZE_MAX: not near. */
static size_t distance_of(const char *wanted, const char *name)
{
	size_t wanted_length = strlen(wanted), length = strnlen(name, NEAR_NAME_SIZE);
	size_t most = most_edits(wanted_length), distance = SIZE_MAX;

	if (length == NEAR_NAME_SIZE || wanted_length >= NEAR_NAME_SIZE ||
	    length + most < wanted_length)
		return SIZE_MAX;
	if (!strcasecmp(wanted, name))
		return 0;
	if (length <= wanted_length + most)
		distance = edit_distance(wanted, wanted_length, name, length, most);
	if (distance <= most)
		return distance;
	if (wanted_length >= PREFIX_MIN && !strncasecmp(wanted, name, wanted_length))
		return PREFIX_DISTANCE + length - wanted_length;
	return SIZE_MAX;
}

static int compare(size_t distance, const char *name, const struct near_name *other)
{
	int order = COMPARE(distance, other->distance);

	return order ? order : strcmp(name, other->name);
}

void near_names__offer(struct near_names *near, const char *name)
{
	size_t distance = near->wanted ? distance_of(near->wanted, name) : SIZE_MAX;
	size_t at = near->nr;

	if (distance == SIZE_MAX)
		return;
	while (at > 0 && compare(distance, name, &near->names[at - 1]) < 0)
		at--;
	if (at == NEAR_NAMES || (at > 0 && compare(distance, name, &near->names[at - 1]) == 0))
		return;
	near->nr += near->nr < NEAR_NAMES;
	memmove(&near->names[at + 1], &near->names[at],
		(near->nr - at - 1) * sizeof(near->names[0]));
	near->names[at].distance = distance;
	memcpy(near->names[at].name, name, strlen(name) + 1);
}

void near_names__text(const struct near_names *near, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < near->nr && used < size; i++) {
		const char *before = i == 0 ? " (did you mean " : i + 1 < near->nr ? ", " : " or ";
		char clean[NEAR_NAME_SIZE];

		text__clean(near->names[i].name, strlen(near->names[i].name), false, clean,
			    sizeof(clean));
		used += (size_t)snprintf(text + used, size - used, "%s'%s'%s", before, clean,
					 i + 1 == near->nr ? "?)" : "");
	}
}
