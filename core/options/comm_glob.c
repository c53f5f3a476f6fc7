// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/options/comm_glob.h"

#include <errno.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/options/glob.h"

/* One element; *pattern moves behind it. Returns 0 or -EINVAL. */
static int take(const char **pattern, struct glob_element *element)
{
	const char *at = *pattern;

	if (*at == '[' && !glob__skip_set(at, false))
		return -EINVAL;
	if (*at != '\\') {
		*pattern = glob__take(element, at);
		return 0;
	}
	if (!at[1])
		return -EINVAL;
	*element = (struct glob_element){.is_star = false};
	byte_set__add(&element->set, (unsigned char)at[1]);
	*pattern = at + 2;
	return 0;
}

int comm_glob__compile(struct comm_glob *glob, const char *pattern)
{
	struct glob_element element;
	unsigned int state = 0;

	memset(glob, 0, sizeof(*glob));
	while (*pattern) {
		if (take(&pattern, &element))
			return -EINVAL;
		if (element.is_star) {
			glob->stays |= 1U << state;
			continue;
		}
		if (++state >= COMM_LEN)
			return -E2BIG;
		for (unsigned int byte = 1; byte < 256; byte++)
			glob->accepts[byte] |=
				(__u32)byte_set__has(&element.set, (unsigned char)byte) << state;
	}
	glob->end = 1U << state;
	return 0;
}
