// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/mounts.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

#define CLEANUP_MOUNTS CLEANUP(mounts__release)

static void add(struct mounts *mounts, const char *line)
{
	CHECK_INT(mounts__add_line(mounts, makedev(8, 1), line), 0);
}

static void lines(void)
{
	CLEANUP_MOUNTS struct mounts mounts = {0};

	add(&mounts, "24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n");
	add(&mounts, "25 24 0:22 / /proc rw - proc proc rw\n");
	add(&mounts,
	    "26 24 8:1 /var/lib/a\\040b /mnt/tab\\011and\\134slash rw - ext4 /dev/sda1 rw\n");
	add(&mounts, "27 24 8:17 / /other rw - ext4 /dev/sdb1 rw\n");
	add(&mounts, "28 24 0:33 / /merged rw - overlay overlay rw,lowerdir=/lower\n");
	if (!CHECK_INT(mounts.nr, 3))
		return;
	CHECK_STR(mounts.items[2].point, "/merged");
	CHECK_STR(mounts.items[0].root, "/");
	CHECK_STR(mounts.items[0].point, "/");
	CHECK_STR(mounts.items[1].root, "/var/lib/a b");
	CHECK_STR(mounts.items[1].point, "/mnt/tab\tand\\slash");
}

/* A namespace is mounted as net:[4026531840], which is no directory. */
static void odd_lines(void)
{
	static const char *const odd[] = {
		"",
		"\n",
		"24",
		"24 1 8:1",
		"24 1 8:1 /",
		"24 1 8:1 net:[4026531840] /run/netns/a rw - nsfs nsfs rw\n",
		"24 1 8:1 / unreachable rw - ext4 /dev/sda1 rw\n",
		"24 1 8.1 / / rw - ext4 /dev/sda1 rw\n",
	};
	CLEANUP_MOUNTS struct mounts mounts = {0};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		add(&mounts, odd[i]);
	CHECK_INT(mounts.nr, 0);
	/* No digits, too few, or a 0, which would end it. */
	add(&mounts, "24 1 8:1 / /a\\x\\04b\\000c\\ rw - ext4 /dev/sda1 rw\n");
	if (CHECK_INT(mounts.nr, 1))
		CHECK_STR(mounts.items[0].point, "/a\\x\\04b\\000c\\");
}

/* After chroot() there is no line of our root, which can be anywhere in its file system. */
static void roots(void)
{
	CLEANUP_MOUNTS struct mounts rooted = {0};
	CLEANUP_MOUNTS struct mounts chrooted = {0};

	add(&rooted, "24 1 8:17 / / rw - ext4 /dev/sdb1 rw\n");
	CHECK_INT(mounts__end(&rooted), 0);
	CHECK_INT(rooted.nr, 0);
	add(&chrooted, "24 1 8:1 / /mnt rw - ext4 /dev/sda1 rw\n");
	CHECK_INT(mounts__end(&chrooted), 0);
	if (!CHECK_INT(chrooted.nr, 2))
		return;
	CHECK(!chrooted.items[0].is_deeper);
	CHECK_STR(chrooted.items[1].root, "/");
	CHECK_STR(chrooted.items[1].point, "/");
	CHECK(chrooted.items[1].is_deeper);
}

static void paths(void)
{
	static const struct {
		const char *root, *point, *place, *path;
	} cases[] = {
		{"/", "/", "/usr/bin/true", "/usr/bin/true"},
		{"/", "/mnt", "/usr/bin/true", "/mnt/usr/bin/true"},
		{"/usr", "/", "/usr/bin/true", "/bin/true"},
		{"/usr", "/mnt", "/usr/bin/true", "/mnt/bin/true"},
		{"/us", "/mnt", "/usr/bin/true", NULL},
		{"/usr/bin/true", "/mnt", "/usr/bin", NULL},
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct mount mount = {.root = (char *)cases[i].root,
					    .point = (char *)cases[i].point};
		bool found = mount__path(&mount, cases[i].place, path);

		CHECK_INT(found, cases[i].path != NULL);
		if (found && cases[i].path)
			CHECK_STR(path, cases[i].path);
	}
}

static void long_path(void)
{
	const struct mount mount = {.root = (char *)"/", .point = (char *)"/mnt"};
	char place[PATH_MAX], path[PATH_MAX];

	memset(place, 'a', sizeof(place));
	place[0] = '/';
	place[PATH_MAX - 1] = '\0';
	CHECK(!mount__path(&mount, place, path));
	place[PATH_MAX - 5] = '\0';
	CHECK(mount__path(&mount, place, path));
	CHECK_INT(strlen(path), PATH_MAX - 1);
}

static void own_root(void)
{
	CLEANUP_MOUNTS struct mounts mounts = {0};
	struct stat st;

	if (!CHECK_INT(stat("/proc/self", &st), 0) ||
	    !CHECK_INT(mounts__read(&mounts, st.st_dev), 0))
		return;
	CHECK(mounts.nr > 0);
	if (mounts.nr)
		CHECK_STR(mounts.items[0].root, "/");
}

static const struct tap_test tests[] = {
	{"mounts of one file system", lines},
	{"lines that are none", odd_lines},
	{"after chroot() our root is somewhere in its file system", roots},
	{"where a file is, by where it is in its file system", paths},
	{"a path that is too long", long_path},
	{"where /proc is mounted", own_root},
};

int main(void)
{
	return TAP_RUN(tests);
}
