// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sudo leaves the numbers of the user in the environment, but not the groups. Its own processes
 * have those of root; the first ancestor that is all the user's has them.
 */
#include "sym/util/invoker.h"

#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/util/cleanup.h"
#include "sym/util/number.h"

/* So many generations are looked at: a terminal, shells, sudo and make are some ten. */
#define ANCESTORS_MAX 100

static bool read_number(const char *variable, uint64_t *number)
{
	const char *text = getenv(variable);

	return text && number__parse(text, 0, UINT32_MAX - 1, number) == 0;
}

struct status {
	pid_t parent;
	uid_t uids[4];
	gid_t groups[INVOKER_GROUPS_MAX];
	size_t nr_groups;
};

static void parse_groups(const char *text, struct status *status)
{
	char *end;

	status->nr_groups = 0;
	while (status->nr_groups < INVOKER_GROUPS_MAX) {
		unsigned long group = strtoul(text, &end, 10);

		if (end == text)
			return;
		status->groups[status->nr_groups++] = (gid_t)group;
		text = end;
	}
}

static bool read_status(pid_t pid, struct status *status)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;
	char path[32];
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0) {
		uid_t *uids = status->uids;

		found += sscanf(line, "PPid: %d", &status->parent) == 1;
		found += sscanf(line, "Uid: %u %u %u %u", &uids[0], &uids[1], &uids[2], &uids[3]) ==
			 4;
		if (!strncmp(line, "Groups:", 7)) {
			parse_groups(line + 7, status);
			found++;
		}
	}
	return found == 3;
}

static bool is_all_of(const struct status *status, uid_t uid)
{
	for (size_t i = 0; i < 4; i++)
		if (status->uids[i] != uid)
			return false;
	return true;
}

static void find_groups(struct invoker *invoker)
{
	struct status status = {.parent = getppid()};

	for (int i = 0; i < ANCESTORS_MAX && status.parent > 0; i++) {
		if (!read_status(status.parent, &status))
			break;
		if (!is_all_of(&status, invoker->uid))
			continue;
		memcpy(invoker->groups, status.groups, sizeof(status.groups));
		invoker->nr_groups = status.nr_groups;
		return;
	}
	invoker->groups[0] = invoker->gid;
	invoker->nr_groups = 1;
}

/* Not by getpwuid(), which a static program cannot have. */
static void find_home(struct invoker *invoker)
{
	CLEANUP_FCLOSE FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *entry;

	while (file && (entry = fgetpwent(file)))
		if (entry->pw_uid == invoker->uid) {
			snprintf(invoker->name, sizeof(invoker->name), "%s", entry->pw_name);
			snprintf(invoker->home, sizeof(invoker->home), "%s", entry->pw_dir);
			return;
		}
}

bool invoker__find(struct invoker *invoker)
{
	uint64_t uid, gid;

	if (geteuid() != 0 || !read_number("SUDO_UID", &uid) || uid == 0 ||
	    !read_number("SUDO_GID", &gid))
		return false;
	*invoker = (struct invoker){.uid = (uid_t)uid, .gid = (gid_t)gid};
	find_groups(invoker);
	find_home(invoker);
	return true;
}

int invoker__become(const struct invoker *invoker)
{
	if (setgroups(invoker->nr_groups, invoker->groups) ||
	    setresgid(invoker->gid, invoker->gid, invoker->gid) ||
	    setresuid(invoker->uid, invoker->uid, invoker->uid))
		return -1;
	if (invoker->home[0] && setenv("HOME", invoker->home, true))
		return -1;
	return invoker->name[0] && (setenv("USER", invoker->name, true) ||
				    setenv("LOGNAME", invoker->name, true)) ?
		       -1 :
		       0;
}
