// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/container.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "test/unit/tap.h"

#define DIGITS_59  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789a"
#define LONG(five) five DIGITS_59

/* Cgroups as runtimes make them, and others beside them: each behind its parent. */
static const char *const cgroups[] = {
	"system.slice",
	"system.slice/docker-" LONG("1d0c0") ".scope",
	"system.slice/cron.service",
	"docker",
	"docker/" LONG("2d0c0"),
	"docker/" LONG("2d0c0") "/init",
	"machine.slice",
	"machine.slice/libpod-" LONG("3b0d0") ".scope",
	"machine.slice/libpod-" LONG("3b0d0") ".scope/container",
	"machine.slice/libpod-conmon-" LONG("3b0d0") ".scope",
	"machine.slice/machine-web\\x2d1.scope",
	"libpod_parent",
	"libpod_parent/libpod-" LONG("4b0d0"),
	"libpod_parent/conmon",
	"quadlet.service",
	"quadlet.service/libpod-payload-" LONG("5b0d0"),
	"kubepods.slice",
	"kubepods.slice/cri-containerd-" LONG("6cccc") ".scope",
	"kubepods.slice/crio-" LONG("7cccc") ".scope",
	"kubepods.slice/crio-conmon-" LONG("7cccc") ".scope",
	"default.slice",
	"default.slice/any-prefix-" LONG("8cccc") ".scope",
	"ecs",
	"ecs/9123456789abcdef0123456789abcdef-1234567890",
	"lxc.payload.web",
	"lxc.monitor.web",
	"runc-job.scope",
	"user.slice",
	"user.slice/session-3.scope",
	"user.slice/vte-spawn-0a63fd8e-5de8-4f8b-8b5a-2f3c1f3ef3b1.scope",
};

struct place {
	char folder[64];
};

static void remove_place(struct place *place)
{
	char path[512];

	for (size_t i = ARRAY_SIZE(cgroups); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", place->folder, cgroups[i]);
		rmdir(path);
	}
	rmdir(place->folder);
}

static void make_place(struct place *place)
{
	strcpy(place->folder, "/tmp/tracekit-container-XXXXXX");
	if (!CHECK(mkdtemp(place->folder)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(cgroups); i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s", place->folder, cgroups[i]);
		CHECK_INT(mkdir(path, 0700), 0);
	}
}

/* The cgroup that was opened, below the folder; or what error says. */
static const char *found(const struct place *place, const char *id)
{
	static char text[1024];
	struct error error = {0};
	char link[64], path[512] = "";
	CLEANUP_CLOSE int fd = container__open_below(place->folder, id, &error);

	if (fd < 0)
		return strcpy(text, error.text);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	CHECK(readlink(link, path, sizeof(path) - 1) > 0);
	return strcpy(text, path + strlen(place->folder) + 1);
}

static void each_runtime(void)
{
	static const struct {
		const char *id, *cgroup;
	} cases[] = {
		{"1", "system.slice/docker-" LONG("1d0c0") ".scope"},
		{LONG("1d0c0"), "system.slice/docker-" LONG("1d0c0") ".scope"},
		{"2d0c", "docker/" LONG("2d0c0")},
		{"3b", "machine.slice/libpod-" LONG("3b0d0") ".scope"},
		{"4b", "libpod_parent/libpod-" LONG("4b0d0")},
		{"5b", "quadlet.service/libpod-payload-" LONG("5b0d0")},
		{"6", "kubepods.slice/cri-containerd-" LONG("6cccc") ".scope"},
		{"7", "kubepods.slice/crio-" LONG("7cccc") ".scope"},
		{"8", "default.slice/any-prefix-" LONG("8cccc") ".scope"},
		{"9123456789abcdef0123456789abcdef-1",
		 "ecs/9123456789abcdef0123456789abcdef-1234567890"},
		{"web\\x2d", "machine.slice/machine-web\\x2d1.scope"},
		{"job", "runc-job.scope"},
	};
	CLEANUP(remove_place) struct place place;

	make_place(&place);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_STR(found(&place, cases[i].id), cases[i].cgroup);
}

static void none_or_several(void)
{
	CLEANUP(remove_place) struct place place;
	char expected[512];

	make_place(&place);
	CHECK(!strncmp(found(&place, "web"), "--container web: is how 2 IDs begin: ", 37));
	CHECK(strstr(found(&place, "web"), "web\\x2d1") && strstr(found(&place, "web"), "web,"));
	snprintf(expected, sizeof(expected),
		 "--container 3c: no container's ID begins with that; 'ls' below %s shows "
		 "cgroups, which --cgroup takes",
		 place.folder);
	CHECK_STR(found(&place, "3c"), expected);
	/* Watchers, sessions and services are no containers. */
	CHECK(strstr(found(&place, "cron"), "no container's ID"));
	CHECK(strstr(found(&place, "conmon"), "no container's ID"));
	CHECK(strstr(found(&place, "0a63"), "no container's ID"));
	CHECK(strstr(found(&place, LONG("1d0c0") "0"), "no container's ID"));
}

static void nothing_to_search(void)
{
	struct error error = {0};

	CHECK_INT(container__open_below("/nowhere", "1", &error), -ENOENT);
	CHECK_STR(error.text, "--container 1: cannot search /nowhere: No such file or directory");
}

static const struct tap_test tests[] = {
	{"the names of cgroups that each runtime gives", each_runtime},
	{"an ID that no container has, or several", none_or_several},
	{"no such folder", nothing_to_search},
};

int main(void)
{
	return TAP_RUN(tests);
}
