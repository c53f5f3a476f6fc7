// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/comm_glob.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bpf/abi.h"

/* What one character of a glob takes. */
struct taken {
	bool bytes[256];
};

/* A set, behind its "["; *pattern moves behind its "]". Returns 0 or -EINVAL. */
static int take_set(const unsigned char **pattern, struct taken *taken)
{
	const unsigned char *at = *pattern;
	bool others = *at == '!' || *at == '^';
	const unsigned char *first = at += others;

	/* A "]" in the first place is a member. */
	for (; *at && (*at != ']' || at == first); at++) {
		unsigned char from = *at, to = from;

		if (at[1] == '-' && at[2] && at[2] != ']') {
			to = at[2];
			at += 2;
		}
		for (unsigned int byte = from; byte <= to; byte++)
			taken->bytes[byte] = true;
	}
	if (!*at)
		return -EINVAL;
	for (unsigned int byte = 0; byte < 256; byte++)
		taken->bytes[byte] ^= others;
	*pattern = at + 1;
	return 0;
}

/* One character that is not "*"; *pattern moves behind it. */
static int take(const unsigned char **pattern, struct taken *taken)
{
	unsigned char byte = *(*pattern)++;

	if (byte == '[')
		return take_set(pattern, taken);
	if (byte == '?') {
		memset(taken->bytes, true, sizeof(taken->bytes));
		return 0;
	}
	if (byte == '\\')
		byte = *(*pattern)++;
	taken->bytes[byte] = true;
	return byte ? 0 : -EINVAL;
}

int comm_glob__compile(struct comm_glob *glob, const char *pattern)
{
	const unsigned char *at = (const unsigned char *)pattern;
	unsigned int state = 0;

	memset(glob, 0, sizeof(*glob));
	while (*at) {
		struct taken taken = {{0}};
		int err;

		if (*at == '*') {
			glob->stays |= 1U << state;
			at++;
			continue;
		}
		err = take(&at, &taken);
		if (err)
			return err;
		if (++state >= COMM_LEN)
			return -E2BIG;
		for (unsigned int byte = 1; byte < 256; byte++)
			glob->accepts[byte] |= (uint32_t)taken.bytes[byte] << state;
	}
	glob->end = 1U << state;
	return 0;
}
