// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/tracepoints.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/probe/probespec.h"
#include "core/probe/syscall_numbers.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/kernel_fs.h"
#include "test/unit/tap.h"

/* A folder that looks like tracefs. */
static char root[] = "/tmp/tracepoints-XXXXXX";
static int root_fd;

static void path_of(char path[256], const char *name)
{
	snprintf(path, 256, "%s/%s", root, name);
}

static void make_folder(const char *name)
{
	char path[256];

	path_of(path, name);
	CHECK_INT(mkdir(path, 0755), 0);
}

static void make_file(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	path_of(path, name);
	file = fopen(path, "w");
	if (!CHECK(file))
		return;
	fputs(text, file);
	fclose(file);
}

static void make_event(const char *events, const char *name, const char *id)
{
	static const char *const files[] = {"enable", "filter", "format"};
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", events, name);
	make_folder(path);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", events, name, files[i]);
		make_file(path, "0\n");
	}
	snprintf(path, sizeof(path), "%s/%s/id", events, name);
	make_file(path, id);
}

static void make_tracefs(void)
{
	char path[256];

	make_folder("events");
	make_file("events/enable", "0\n");
	make_file("events/header_page", "");
	make_folder("events/sched");
	make_file("events/sched/enable", "0\n");
	make_event("events/sched", "sched_wakeup", "301\n");
	make_event("events/sched", "sched_switch", "302\n");
	make_event("events/sched", "sched_broken", "none\n");
	make_folder("events/schedule");
	make_event("events/schedule", "sched_switch", "7\n");
	make_folder("events/empty");
	make_folder("events/ftrace");
	make_folder("events/ftrace/function");
	make_file("events/ftrace/function/id", "1\n");
	path_of(path, "events/link");
	CHECK_INT(symlink("sched", path), 0);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* The matches of text in tracefs, as "sched:sched_switch ", or the error. */
static const char *find_in(int tracefs, const char *text, bool regex)
{
	CLEANUP(tracepoint_list__release) struct tracepoint_list list = {.events = -1};
	CLEANUP(probespec__release) struct probespec spec = {0};
	static struct error result;
	size_t used = 0;

	CHECK_INT(probespec__parse(&spec, text, regex, &result), 0);
	if (tracepoint_list__find(&list, &spec, tracefs, &result))
		return result.text;
	result.text[0] = '\0';
	for (size_t i = 0; i < list.nr && used < sizeof(result.text); i++)
		used += (size_t)snprintf(result.text + used, sizeof(result.text) - used, "%s:%s ",
					 list.tracepoints[i].category, list.tracepoints[i].name);
	return result.text;
}

static const char *find(const char *text)
{
	return find_in(root_fd, text, false);
}

static void literals(void)
{
	CHECK_STR(find("t:sched:sched_switch"), "sched:sched_switch ");
	CHECK_STR(find("t:schedule:sched_switch"), "schedule:sched_switch ");
}

static void globs(void)
{
	CHECK_STR(find("t:sched:*"), "sched:sched_broken sched:sched_switch sched:sched_wakeup ");
	CHECK_STR(find("t:sched*:sched_switch"), "sched:sched_switch schedule:sched_switch ");
	CHECK_STR(find("t:*:*"), "sched:sched_broken sched:sched_switch sched:sched_wakeup "
				 "schedule:sched_switch ");
	CHECK_STR(find("t:s[[:alpha:]]*:*_wake??"), "sched:sched_wakeup ");
	CHECK_STR(find_in(root_fd, "t:sched:switch|broken$", true),
		  "sched:sched_broken sched:sched_switch ");
}

static void nothing_matches(void)
{
	CHECK_STR(find("t:shced:sched_switch"),
		  "'t:shced:sched_switch': no category of tracepoints matches 'shced' (did you "
		  "mean 'sched'?)");
	CHECK_STR(find("t:sched:sched_swich"),
		  "'t:sched:sched_swich': no tracepoint matches 'sched_swich' (did you mean "
		  "'sched_switch'?)");
	CHECK_STR(find("t:sch*:sched_swich"),
		  "'t:sch*:sched_swich': no tracepoint matches 'sched_swich' (did you mean "
		  "'sched_switch'?)");
	CHECK_STR(find("t:x*:sched_switch"),
		  "'t:x*:sched_switch': no category of tracepoints matches 'x*'");
	CHECK_STR(find("t:sched:x*"), "'t:sched:x*': no tracepoint matches 'x*'");
	CHECK_STR(find("t:empty:*"), "'t:empty:*': no tracepoint matches '*'");
	CHECK_STR(find_in(root_fd, "t:sched:^switch", true),
		  "'t:sched:^switch': no tracepoint matches '^switch'");
}

static void what_is_no_tracepoint(void)
{
	CHECK_STR(find("t:ftrace:function"),
		  "'t:ftrace:function': the events of ftrace are no tracepoints");
	CHECK_STR(find("t:ftrac?:*"), "'t:ftrac?:*': no category of tracepoints matches 'ftrac?'");
	CHECK_STR(find("t:enable:*"), "'t:enable:*': no category of tracepoints matches 'enable'");
	CHECK_STR(find("t:sched:enable"), "'t:sched:enable': no tracepoint matches 'enable'");
	CHECK_STR(find("t:link:sched_switch"),
		  "'t:link:sched_switch': no category of tracepoints matches 'link'");
}

static void names_stay_in_the_folder(void)
{
	CHECK_STR(find("t:..:events"), "'t:..:events': no category of tracepoints matches '..'");
	CHECK_STR(find("t:.:sched"), "'t:.:sched': no category of tracepoints matches '.'");
	CHECK_STR(find("t:sched/:sched_switch"),
		  "'t:sched/:sched_switch': no category of tracepoints matches 'sched/' (did you "
		  "mean 'sched'?)");
	CHECK_STR(find("t:sched:../sched/sched_switch"),
		  "'t:sched:../sched/sched_switch': no tracepoint matches "
		  "'../sched/sched_switch'");
	CHECK_STR(find("t:empty:."), "'t:empty:.': no tracepoint matches '.'");
	CHECK_STR(find("t:sched:..."), "'t:sched:...': no tracepoint matches '...'");
}

static void long_names(void)
{
	char text[1100] = "t:sched:";
	const char *error;

	memset(text + strlen(text), 'x', 1000);
	error = find(text);
	CHECK(strstr(error, ": no tracepoint matches 'xxx"));
	memset(text + 2, 'x', 500);
	text[502] = ':';
	error = find(text);
	CHECK(strstr(error, ": no category of tracepoints matches 'xxx"));
}

static void ids(void)
{
	CLEANUP(tracepoint_list__release) struct tracepoint_list list = {.events = -1};
	CLEANUP(probespec__release) struct probespec spec = {0};
	struct tracepoint gone = {.category = "sched", .name = "gone"};
	struct error error;
	uint64_t id = 77;

	CHECK_INT(probespec__parse(&spec, "t:sched:*", false, &error), 0);
	CHECK_INT(tracepoint_list__find(&list, &spec, root_fd, &error), 0);
	if (!CHECK_INT(list.nr, 3))
		return;
	CHECK_INT(tracepoint_list__read_id(&list, &list.tracepoints[1], &id, &error), 0);
	CHECK_INT(id, 302);
	CHECK_INT(tracepoint_list__read_id(&list, &list.tracepoints[0], &id, &error), -EINVAL);
	CHECK_STR(error.text,
		  "cannot read the id of tracepoint sched:sched_broken: Invalid argument");
	CHECK_INT(tracepoint_list__read_id(&list, &gone, &id, &error), -ENOENT);
	CHECK_INT(id, 302);
}

static void not_mounted(void)
{
	CHECK_STR(find_in(-ENOENT, "t:sched:sched_switch", false),
		  "cannot list tracepoints: tracefs is not mounted; run as root, or 'mount -t "
		  "tracefs nodev /sys/kernel/tracing'");
	CHECK_STR(find_in(-ENODEV, "t:sched:sched_switch", false),
		  "cannot list tracepoints: this kernel has no tracefs (CONFIG_TRACING)");
}

static void by_name_alone(void)
{
	CLEANUP(tracepoint_list__release) struct tracepoint_list list = {.events = -1};
	CLEANUP(probespec__release) struct probespec spec = {0};
	struct error error;

	CHECK_INT(probespec__parse(&spec, "t:sched:nothing_such", false, &error), 0);
	CHECK_INT(tracepoint_list__name(&list, &spec, &error), 0);
	CHECK(list.events < 0);
	if (!CHECK_INT(list.nr, 1))
		return;
	CHECK_STR(list.tracepoints[0].category, "sched");
	CHECK_STR(list.tracepoints[0].name, "nothing_such");
	CHECK(!list.tracepoints[0].dynamic);
}

static void not_permitted(void)
{
	static const char expected[] = "cannot list tracepoints: not permitted; run as root, or "
				       "with CAP_DAC_READ_SEARCH";
	bool is_root = geteuid() == 0;
	char path[256];

	CHECK_INT(chmod(root, 0755), 0);
	path_of(path, "events");
	CHECK_INT(chmod(path, 0), 0);
	if (is_root)
		CHECK_INT(seteuid(65534), 0);
	CHECK_STR(find("t:sched:sched_switch"), expected);
	if (is_root)
		CHECK_INT(seteuid(0), 0);
	CHECK_INT(chmod(path, 0755), 0);
	path_of(path, "events/sched");
	CHECK_INT(chmod(path, 0), 0);
	if (is_root)
		CHECK_INT(seteuid(65534), 0);
	CHECK_STR(find("t:sched:sched_switch"), expected);
	CHECK_STR(find("t:s*:*"), expected);
	if (is_root)
		CHECK_INT(seteuid(0), 0);
	CHECK_INT(chmod(path, 0755), 0);
}

/* List what this kernel has; returns the seconds that it takes, -1 if it cannot be read. */
static double list_real(const char *text, struct tracepoint_list *list)
{
	CLEANUP(probespec__release) struct probespec spec = {0};
	CLEANUP_CLOSE int fd = kernel_fs__open(KERNEL_FS_TRACE);
	double start = tap_cpu_seconds();
	struct error error;

	CHECK_INT(probespec__parse(&spec, text, false, &error), 0);
	if (tracepoint_list__find(list, &spec, fd, &error))
		return -1;
	return tap_cpu_seconds() - start;
}

static void this_kernel(void)
{
	CLEANUP(tracepoint_list__release) struct tracepoint_list one = {.events = -1};
	CLEANUP(tracepoint_list__release) struct tracepoint_list calls = {.events = -1};
	CLEANUP(tracepoint_list__release) struct tracepoint_list all = {.events = -1};
	struct error error;
	uint64_t id = 0;

	if (list_real("t:sched:sched_switch", &one) < 0) {
		tap_skip("needs root");
		return;
	}
	CHECK_INT(one.nr, 1);
	CHECK_INT(tracepoint_list__read_id(&one, &one.tracepoints[0], &id, &error), 0);
	CHECK(id > 0);
	/* About 1 ms. */
	CHECK(list_real("t:syscalls:sys_enter_*", &calls) < 0.1);
	CHECK(calls.nr > 250);
	for (size_t i = 0; i < calls.nr; i++)
		CHECK(syscall_number(calls.tracepoints[i].name + strlen("sys_enter_")) >= 0);
	CHECK(list_real("t:*:*", &all) >= 0);
	CHECK(all.nr > 2 * calls.nr);
	for (size_t i = 1; i < all.nr; i++) {
		int order = strcmp(all.tracepoints[i - 1].category, all.tracepoints[i].category);

		CHECK(order < 0 || (order == 0 && strcmp(all.tracepoints[i - 1].name,
							 all.tracepoints[i].name) < 0));
		CHECK(strcmp(all.tracepoints[i].category, "ftrace"));
	}
}

static const struct tap_test tests[] = {
	{"one tracepoint is found", literals},
	{"patterns match in both parts, and the result is sorted", globs},
	{"that nothing matches is said, with what is near", nothing_matches},
	{"files, links and ftrace are left out", what_is_no_tracepoint},
	{"no name leads out of the folder", names_stay_in_the_folder},
	{"names that no file can have", long_names},
	{"IDs are read", ids},
	{"there is no tracefs", not_mounted},
	{"one is taken by its name", by_name_alone},
	{"tracefs may not be read", not_permitted},
	{"the tracepoints of this kernel", this_kernel},
};

int main(void)
{
	int status;

	if (!mkdtemp(root))
		return 1;
	make_tracefs();
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	status = TAP_RUN(tests);
	close(root_fd);
	nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}
