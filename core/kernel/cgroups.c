// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/cgroups.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>

char *cgroups__find_mount(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	char *place = NULL;

	while (mounts && !place && (mount = getmntent(mounts)))
		if (!strcmp(mount->mnt_type, "cgroup2"))
			place = strdup(mount->mnt_dir);
	if (mounts)
		endmntent(mounts);
	return place;
}
