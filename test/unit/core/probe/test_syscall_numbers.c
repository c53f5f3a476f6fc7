// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/syscall_numbers.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "sym/util/cleanup.h"
#include "sym/util/kernel_fs.h"
#include "test/unit/tap.h"

static void known_names(void)
{
	CHECK_INT(syscall_number("read"), SYS_read);
	CHECK_INT(syscall_number("openat"), SYS_openat);
	CHECK_INT(syscall_number("accept"), SYS_accept);
	CHECK_INT(syscall_number("accept4"), SYS_accept4);
	CHECK_INT(syscall_number("fcntl"), SYS_fcntl);
	CHECK_INT(syscall_number("newfstatat"), SYS_newfstatat);
	CHECK_INT(syscall_number("io_uring_setup"), 425);
	CHECK_INT(syscall_number("set_mempolicy_home_node"), 450);
}

static void renamed(void)
{
	CHECK_INT(syscall_number("newuname"), SYS_uname);
	CHECK_INT(syscall_number("newfstat"), SYS_fstat);
	CHECK_INT(syscall_number("sendfile64"), SYS_sendfile);
	CHECK_INT(syscall_number("umount"), SYS_umount2);
#ifdef __x86_64__
	CHECK_INT(syscall_number("newstat"), SYS_stat);
	CHECK_INT(syscall_number("newlstat"), SYS_lstat);
	CHECK_INT(syscall_number("uretprobe"), 335);
	CHECK_INT(syscall_number("uprobe"), 336);
#endif
}

static void later_names(void)
{
	CHECK_INT(syscall_number("cachestat"), 451);
	CHECK_INT(syscall_number("mseal"), 462);
	CHECK_INT(syscall_number("listns"), 470);
	CHECK_INT(syscall_number("rseq_slice_yield"), 471);
}

static void unknown_names(void)
{
	CHECK_INT(syscall_number(""), -1);
	CHECK_INT(syscall_number("rea"), -1);
	CHECK_INT(syscall_number("readx"), -1);
	CHECK_INT(syscall_number("READ"), -1);
	CHECK_INT(syscall_number("sys_enter_read"), -1);
	CHECK_INT(syscall_number("syscalls"), -1);
	CHECK_INT(syscall_number("zzz"), -1);
}

static void names_of_this_kernel(void)
{
	static const char prefix[] = "sys_enter_";
	CLEANUP_CLOSE int tracefs = kernel_fs__open(KERNEL_FS_TRACE);
	int fd = openat(tracefs, "events/syscalls", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP_CLOSEDIR DIR *folder = fdopendir(fd);
	const struct dirent *entry;
	bool taken[1024] = {false};
	int nr = 0;

	if (!folder) {
		tap_skip("needs root");
		return;
	}
	while ((entry = readdir(folder))) {
		const char *name = entry->d_name + strlen(prefix);
		int number;

		if (strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		number = syscall_number(name);
		tap_check(number >= 0 && number < 1024 && !taken[number], __FILE__, __LINE__,
			  "%s: expected a number of its own, got %d", name, number);
		taken[number & 1023] = true;
		nr++;
	}
	CHECK(nr > 250);
}

static void names_of_tracepoints(void)
{
	bool entry = false;

	CHECK_INT(syscall_of_tracepoint("syscalls:sys_enter_read", &entry), SYS_read);
	CHECK(entry);
	CHECK_INT(syscall_of_tracepoint("syscalls:sys_exit_newuname", &entry), SYS_uname);
	CHECK(!entry);
	CHECK_INT(syscall_of_tracepoint("syscalls:sys_enter_nothing", &entry), -1);
	CHECK_INT(syscall_of_tracepoint("other:sys_enter_read", &entry), -1);
	CHECK_INT(syscall_of_tracepoint("sys_enter_read", &entry), -1);
}

static const struct tap_test tests[] = {
	{"system calls have their numbers", known_names},
	{"also those whose function has another name", renamed},
	{"and those later than the headers", later_names},
	{"other names have none", unknown_names},
	{"tracepoints of either side", names_of_tracepoints},
	{"all that this kernel traces have numbers of their own", names_of_this_kernel},
};

int main(void)
{
	return TAP_RUN(tests);
}
