// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/mapped_build_id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sym/process/maps.h"
#include "sym/util/cleanup.h"

/* struct procmap_query of linux/fs.h, which the headers that we are built with may lack. */
struct query {
	uint64_t size, flags, address;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t major, minor;
	uint32_t name_size, id_size; /* in: room */
	uint64_t name, id;	     /* addresses of buffers */
};

_Static_assert(sizeof(struct query) == 104, "as the kernel has it");

#define QUERY _IOWR('f', 17, struct query)

int mapped_build_id__read(pid_t task, const struct mapping *mapping,
			  unsigned char id[ELF_BUILD_ID_MAX])
{
	struct query query = {
		.size = sizeof(query),
		.address = mapping->start,
		.id_size = ELF_BUILD_ID_MAX,
		.id = (uint64_t)(uintptr_t)id,
	};
	CLEANUP_CLOSE int maps = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", task);
	maps = open(path, O_RDONLY | O_CLOEXEC);
	if (maps < 0 || ioctl(maps, QUERY, &query))
		return -errno;
	if (query.start != mapping->start || query.inode != mapping->inode || query.id_size == 0 ||
	    query.id_size > ELF_BUILD_ID_MAX)
		return -ENOENT;
	return (int)query.id_size;
}
