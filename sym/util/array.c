// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int array__grow(void **items, size_t nr, size_t *capacity, size_t item_size)
{
	size_t wanted = *capacity ? *capacity * 2 : 16;
	void *grown;

	if (nr < *capacity)
		return 0;
	grown = reallocarray(*items, wanted, item_size);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*capacity = wanted;
	return 0;
}

void array__sort(void *items, size_t nr, size_t item_size,
		 int (*compare)(const void *, const void *))
{
	if (nr > 1)
		qsort(items, nr, item_size, compare);
}

size_t array__lower_bound(const void *items, size_t nr, size_t item_size, uint64_t key)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint64_t found;

		memcpy(&found, (const char *)items + middle * item_size, sizeof(found));
		if (found < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
