// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/vdso.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/process/maps.h"
#include "sym/util/cleanup.h"

bool vdso__is_ours(const struct mapping *mapping)
{
	/* The image for 32-bit processes is another one, and lies where they reach it. */
	return mapping->inode == 0 && !strcmp(mapping->path, "[vdso]") &&
	       (mapping->start > UINT32_MAX) == (sizeof(void *) == 8);
}

int vdso__open(void)
{
	const ElfW(Ehdr) *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	CLEANUP_CLOSE int fd = -1;
	size_t size;

	if (!image)
		return -ENOENT;
	/* Its section headers are the last thing in it; from the kernel, so it is as it says. */
	size = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pwrite(fd, image, size, 0) != (ssize_t)size)
		return -EIO;
	return TAKE_FD(fd);
}
