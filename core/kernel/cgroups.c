// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/cgroups.h"

#include <errno.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

/* Another mount can cover it. */
static bool is_there(const char *folder)
{
	struct statfs found;

	return statfs(folder, &found) == 0 && found.f_type == CGROUP2_SUPER_MAGIC;
}

char *cgroups__find_mount(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	char *place = NULL;

	while (mounts && !place && (mount = getmntent(mounts)))
		if (!strcmp(mount->mnt_type, "cgroup2") && is_there(mount->mnt_dir))
			place = strdup(mount->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return place;
}

int cgroups__walk(const char *folder, int (*visit)(void *context, FTSENT *entry), void *context)
{
	char *const roots[] = {(char *)(uintptr_t)folder, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	int err = walk ? 0 : -errno;
	FTSENT *entry;

	while (!err && (entry = fts_read(walk))) {
		if (entry->fts_info == FTS_D)
			err = visit(context, entry);
		else if (entry->fts_level == FTS_ROOTLEVEL)
			err = -entry->fts_errno;
	}
	if (walk)
		fts_close(walk);
	return err;
}
