// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/tap.h"

/* The CPUs of a list as "0 1 2 ". */
static const char *print(const struct cpu_list *list)
{
	static char result[256];
	size_t used = 0;

	result[0] = '\0';
	for (size_t i = 0; i < list->nr && used < sizeof(result); i++)
		used += (size_t)snprintf(result + used, sizeof(result) - used, "%u ",
					 list->cpus[i]);
	return result;
}

static const char *parse(const char *text)
{
	CLEANUP(cpu_list__release) struct cpu_list list = {0};

	return cpu_list__parse(text, &list) ? "refused" : print(&list);
}

static const char *parse_proc(const char *text)
{
	CLEANUP(cpu_list__release) struct cpu_list list = {0};
	CLEANUP_FCLOSE FILE *file = fmemopen((void *)text, strlen(text), "r");

	return cpu_list__parse_proc(file, &list) ? "refused" : print(&list);
}

static void lists(void)
{
	CHECK_STR(parse("0"), "0 ");
	CHECK_STR(parse("0\n"), "0 ");
	CHECK_STR(parse("0-3"), "0 1 2 3 ");
	CHECK_STR(parse("0-1,8,10-11\n"), "0 1 8 10 11 ");
	CHECK_STR(parse("7-7"), "7 ");
	CHECK_STR(parse("65535"), "65535 ");
}

static void malformed_lists(void)
{
	static const char *const texts[] = {"",	  "\n",	 ",",	  "0,",	     ",0",   "0,,1", "-",
					    "3-", "-3",	 "3-1",	  "1-2-3",   "0 1",  " 0",   "0x1",
					    "a",  "0-a", "65536", "0-65536", "0\r\n"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		tap_check(!strcmp(parse(texts[i]), "refused"), __FILE__, __LINE__,
			  "'%s' was not refused", texts[i]);
}

static void failure_leaves_the_list_alone(void)
{
	unsigned int cpu = 5;
	struct cpu_list list = {.cpus = &cpu, .nr = 1};

	CHECK_INT(cpu_list__parse("0,1,x", &list), -EINVAL);
	CHECK(list.cpus == &cpu && list.nr == 1);
}

static void lists_of_proc(void)
{
	CHECK_STR(parse_proc("cpu  4 5 6\ncpu0 1 2 3\ncpu12 3 3 3\nintr 9 8 7\nctxt 5\n"), "0 12 ");
	CHECK_STR(parse_proc("                    CPU0       CPU1       \n"
			     "          HI:          1          0\n"),
		  "0 1 ");
	CHECK_STR(parse_proc("cpu  4 5 6\nintr 9\n"), "refused");
	CHECK_STR(parse_proc("cpu0x 1\nxcpu1 2\ncpu-2 3\ncpu70000 4\n"), "refused");
	CHECK_STR(parse_proc("\n"), "refused");
}

/* /sys and /proc list the same CPUs: the programs go on where there is no /sys. */
static void proc_and_sys(void)
{
	static const char *const paths[] = {"/proc/stat", "/proc/softirqs"};
	CLEANUP(cpu_list__release) struct cpu_list online = {0};

	CHECK_INT(cpu_list__read_online(&online), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		CLEANUP(cpu_list__release) struct cpu_list list = {0};
		CLEANUP_FCLOSE FILE *file = fopen(paths[i], "re");

		if (!CHECK(file) || !CHECK_INT(cpu_list__parse_proc(file, &list), 0))
			return;
		CHECK_INT(list.nr, i ? (size_t)cpus__count_possible() : online.nr);
	}
}

static void online_cpus(void)
{
	CLEANUP(cpu_list__release) struct cpu_list list = {0};

	CHECK_INT(cpu_list__read_online(&list), 0);
	CHECK_INT(list.nr, sysconf(_SC_NPROCESSORS_ONLN));
	for (size_t i = 1; i < list.nr; i++)
		CHECK(list.cpus[i] > list.cpus[i - 1]);
}

static const struct tap_test tests[] = {
	{"the kernel's lists are read", lists},
	{"malformed lists are refused", malformed_lists},
	{"a failure leaves the list untouched", failure_leaves_the_list_alone},
	{"/proc names them, too", lists_of_proc},
	{"/proc and /sys agree on this machine", proc_and_sys},
	{"the online CPUs are as many as libc counts, ascending", online_cpus},
};

int main(void)
{
	return TAP_RUN(tests);
}
