// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/doctor/trials.h"
#include "core/kernel/bpf_error.h"
#include "core/kernel/cgroups.h"
#include "core/kernel/namespaces.h"
#include "core/kernel/sysctl.h"
#include "core/kernel/types.h"
#include "sym/child/proc_stat.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/kernel_fs.h"

/* The oldest kernel that the programs are made for. */
enum { OLDEST_MAJOR = 5, OLDEST_MINOR = 10 };

/* About as much as the maps of a trace take that asks for nothing special. */
#define MAPS_MB 64u

/* As many as a trace may open: some for each CPU, process and file. */
#define DESCRIPTORS 1024

bool kernel_is_from(unsigned int major, unsigned int minor)
{
	struct utsname name;
	unsigned int of_kernel, minor_of_kernel;

	if (uname(&name) || sscanf(name.release, "%u.%u", &of_kernel, &minor_of_kernel) != 2)
		return true;
	return of_kernel > major || (of_kernel == major && minor_of_kernel >= minor);
}

void try_release(struct trials *trials, struct finding *finding)
{
	struct utsname name;

	(void)trials;
	if (kernel_is_from(OLDEST_MAJOR, OLDEST_MINOR))
		finding__yes(finding);
	else
		finding__no(finding, "this is Linux %.100s", uname(&name) ? "?" : name.release);
}

/* What everything takes that an ordinary user may want to trace. */
#define ALL_BUT_ADMIN                                                                              \
	(CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_SYS_PTRACE) |              \
	 CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_SYSLOG) |                                \
	 CAPABILITY(CAP_CHECKPOINT_RESTORE))

/*
 * Perf events can take CAP_SYS_ADMIN, by the setting that some distributions have, and places in
 * programs do where they are attached one by one. Maps are locked memory before Linux 5.11, of
 * which an ordinary user may have little.
 */
static uint64_t needed_here(void)
{
	long paranoid = 0;
	bool takes_admin =
		(sysctl__read("kernel/perf_event_paranoid", &paranoid) && paranoid > 2) ||
		!kernel_is_from(6, 6);

	return ALL_BUT_ADMIN | (takes_admin ? CAPABILITY(CAP_SYS_ADMIN) : 0) |
	       (kernel_is_from(5, 11) ? 0 : CAPABILITY(CAP_SYS_RESOURCE));
}

/* Capabilities of a file count for all who may run it, but not in a file system without them. */
static void say_setcap(struct finding *finding, uint64_t capabilities)
{
	char path[PATH_MAX] = "", set[192];
	struct statvfs file_system;

	capabilities__write_setcap(capabilities, set, sizeof(set));
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return;
	if (statvfs(path, &file_system) == 0 && file_system.f_flag & ST_NOSUID)
		finding__help(finding,
			      "run it as root, or: sudo install %.100s /usr/local/bin/tracekit && "
			      "sudo setcap %s /usr/local/bin/tracekit",
			      path, set);
	else
		finding__help(finding, "run it as root, or: sudo setcap %s %.200s", set, path);
}

void try_capabilities(struct trials *trials, struct finding *finding)
{
	const struct privileges *privileges = &trials->privileges;
	uint64_t needed = needed_here(), missing = privileges__missing(privileges, needed);
	char names[192];

	finding__yes(finding);
	if (privileges->in_user_namespace) {
		finding__no(finding, "the privileges of a user namespace do not count");
		finding->help = "run it outside of the user namespace";
	} else if (missing) {
		capabilities__names(missing, names, sizeof(names));
		finding__no(finding, "without %s", names);
		say_setcap(finding, needed);
	}
}

/* Of the kind that name says, in /proc/self/ns. */
static void try_namespace(struct finding *finding, const char *name, ino_t first)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (stat(path, &st))
		finding__untried(finding, "/proc does not say");
	else if (st.st_ino != first)
		finding__no(finding, "%s is another one", path);
	else
		finding__yes(finding);
}

void try_user_namespace(struct trials *trials, struct finding *finding)
{
	(void)trials;
	try_namespace(finding, "user", FIRST_USER_NAMESPACE);
}

void try_pid_namespace(struct trials *trials, struct finding *finding)
{
	(void)trials;
	try_namespace(finding, "pid", FIRST_PID_NAMESPACE);
}

void try_system_calls(struct trials *trials, struct finding *finding)
{
	static const char *const names[] = {
		[CALL_BPF] = "bpf", [CALL_PERF_EVENT_OPEN] = "perf_event_open"};
	const struct privileges *privileges = &trials->privileges;
	bool may_load = privileges__have(privileges, CAP_BPF) ||
			privileges__have(privileges, CAP_SYS_ADMIN);

	finding__yes(finding);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (privileges->filters[i] == FILTER_KILLS)
			finding__no(finding, "%s() ends whoever calls it", names[i]);
		else if (privileges->filters[i] == FILTER_NOTHING)
			continue;
		else if (i == CALL_BPF && !may_load)
			finding__untried(finding, "without CAP_BPF bpf() is refused in any case");
		else
			finding__no(finding, "%s() is refused whatever it is asked", names[i]);
		return;
	}
}

void try_memory_reads(struct trials *trials, struct finding *finding)
{
	int err = kernel_memory__try();

	if (!err) {
		finding__yes(finding);
	} else if (err == -EINVAL) {
		finding__no(finding, "%s%s", strerror(-err),
			    bpf_error__is_locked_down() ? ": lockdown=confidentiality" : "");
	} else {
		finding__refused(finding, err, &trials->privileges, CALL_BPF,
				 CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON));
	}
}

/* So much memory is free; UINT64_MAX if nobody says. */
static uint64_t read_free_mb(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/meminfo", "re");
	uint64_t kib;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			return kib / 1024;
	return UINT64_MAX;
}

void try_maps(struct trials *trials, struct finding *finding)
{
	uint64_t free_mb = read_free_mb();
	CLEANUP_CLOSE int map = -1;

	if (free_mb < MAPS_MB) {
		finding__no(finding, "%" PRIu64 " MB of memory are free", free_mb);
		return;
	}
	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, sizeof(uint32_t), 1 << 20, MAPS_MB, NULL);
	if (map >= 0) {
		finding__yes(finding);
		return;
	}
	finding__refused(finding, map, &trials->privileges, CALL_BPF, CAPABILITY(CAP_BPF));
	if (map == -EPERM && !finding->help)
		finding->help = "'ulimit -l unlimited' (before Linux 5.11)";
	else if (map == -ENOMEM)
		finding->help =
			"a larger memory.max of the cgroup, or smaller --stack-storage-size "
			"and --unwind-memory";
}

void try_descriptors(struct trials *trials, struct finding *finding)
{
	struct rlimit limit;

	(void)trials;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max >= DESCRIPTORS)
		finding__yes(finding);
	else
		finding__no(finding, "the limit is %ju", (uintmax_t)limit.rlim_max);
}

void try_proc(struct trials *trials, struct finding *finding)
{
	char self[16] = "";

	(void)trials;
	if (readlink("/proc/self", self, sizeof(self) - 1) < 0)
		finding__no(finding, "/proc/self: %s", strerror(errno));
	else if (atoi(self) != getpid())
		finding__no(finding, "it is that of another PID namespace");
	else
		finding__yes(finding);
}

void try_btf(struct trials *trials, struct finding *finding)
{
	CLEANUP_FCLOSE FILE *file = kernel_fs__open_file(KERNEL_FS_SYS, "kernel/btf/vmlinux");
	uint16_t magic = 0;

	(void)trials;
	if (!file)
		finding__no(finding, "/sys/kernel/btf/vmlinux: %s", strerror(errno));
	else if (fread(&magic, sizeof(magic), 1, file) != 1 || magic != 0xEB9F)
		finding__no(finding, "/sys/kernel/btf/vmlinux is not in its format");
	else
		finding__yes(finding);
}

void try_kallsyms(struct trials *trials, struct finding *finding)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/kallsyms", "re");
	uint64_t address = 0;
	long restricted = 0;
	char line[1024];

	if (!file) {
		finding__no(finding, "/proc/kallsyms: %s", strerror(errno));
		return;
	}
	/* On x86-64 the first ones are offsets in the data of a CPU, and begin at 0. */
	while (!address && fgets(line, sizeof(line), file))
		address = strtoull(line, NULL, 16);
	if (address) {
		finding__yes(finding);
		return;
	}
	sysctl__read("kernel/kptr_restrict", &restricted);
	finding__no(finding, "/proc/kallsyms has none: %s",
		    restricted >= 2 ? "kernel.kptr_restrict is 2" :
		    privileges__have(&trials->privileges, CAP_SYSLOG) ? "the kernel hides them" :
									"without CAP_SYSLOG");
	finding->help = restricted >= 2 ? "'sysctl kernel.kptr_restrict=1'" :
					  "run it as root, or with CAP_SYSLOG";
}

void try_tracefs(struct trials *trials, struct finding *finding)
{
	CLEANUP_FCLOSE FILE *file =
		kernel_fs__open_file(KERNEL_FS_TRACE, "events/sched/sched_process_exit/id");
	int code = file ? 0 : -errno;

	if (file) {
		finding__yes(finding);
	} else if (code == -ENOENT && !privileges__have(&trials->privileges, CAP_SYS_ADMIN)) {
		finding__no(finding, "tracefs is not mounted, and only CAP_SYS_ADMIN may mount it");
		finding->help = "run it as root, or 'mount -t tracefs nodev /sys/kernel/tracing'";
	} else {
		finding__refused(finding, code, &trials->privileges, CALL_OTHER,
				 CAPABILITY(CAP_DAC_READ_SEARCH));
	}
}

void try_max_stack(struct trials *trials, struct finding *finding)
{
	long frames;

	(void)trials;
	if (!sysctl__read("kernel/perf_event_max_stack", &frames))
		finding__untried(finding, "/proc does not say");
	else if (frames < SYSCTL_MAX_STACK)
		finding__no(finding, "kernel.perf_event_max_stack is %ld", frames);
	else
		finding__yes(finding);
}

void try_cgroups(struct trials *trials, struct finding *finding)
{
	CLEANUP_FREE char *place = cgroups__find_mount();

	(void)trials;
	if (place)
		finding__yes(finding);
	else
		finding__no(finding, "cgroups of version 2 are not mounted");
}

void try_debug_files(struct trials *trials, struct finding *finding)
{
	(void)trials;
	if (access("/usr/lib/debug/.build-id", R_OK | X_OK))
		finding__no(finding, "/usr/lib/debug/.build-id: %s", strerror(errno));
	else
		finding__yes(finding);
}

/* ---- programs of other users ---- */

static bool has_program(pid_t pid)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64];

	/* The kernel's own threads have no command line. */
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	return file && fgetc(file) != EOF;
}

/* Open one file that the process has mapped, by its place in memory. 0 or a negative errno. */
static int open_mapped(pid_t pid)
{
	CLEANUP_CLOSEDIR DIR *directory = NULL;
	const struct dirent *entry;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/map_files", pid);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		CLEANUP_CLOSE int fd = -1;

		if (entry->d_name[0] == '.')
			continue;
		fd = openat(dirfd(directory), entry->d_name, O_PATH | O_CLOEXEC);
		return fd < 0 ? -errno : 0;
	}
	return directory ? -ENOENT : -errno;
}

static int read_other(pid_t pid)
{
	CLEANUP_CLOSE int maps = -1, root = -1;
	char path[64], byte;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = open(path, O_RDONLY | O_CLOEXEC);
	if (maps < 0 || read(maps, &byte, 1) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -errno : 0;
}

/* Some processes are guarded more than others: one that lets us is enough. */
static void try_on_others(struct trials *trials, struct finding *finding, int (*try)(pid_t pid),
			  uint64_t needs)
{
	CLEANUP_CLOSEDIR DIR *directory = opendir("/proc");
	struct stat st;
	pid_t pid;

	if (!directory) {
		finding__no(finding, "/proc: %s", strerror(errno));
		return;
	}
	/* Each PID namespace has a process of this number. */
	if (fstatat(dirfd(directory), "1", &st, 0))
		finding__no(finding, "/proc hides other users' processes (hidepid), or is not "
				     "mounted");
	else
		finding__untried(finding, "no process of another user is running");
	while (finding->answer != ANSWER_YES && (pid = proc_directory__next(directory))) {
		char name[16];
		int err;

		snprintf(name, sizeof(name), "%d", pid);
		if (fstatat(dirfd(directory), name, &st, 0) || st.st_uid == geteuid() ||
		    !has_program(pid))
			continue;
		err = try(pid);
		if (!err)
			finding__yes(finding);
		else if (err != -ENOENT && err != -ESRCH)
			finding__refused(finding, err, &trials->privileges, CALL_OTHER, needs);
	}
}

void try_other_users(struct trials *trials, struct finding *finding)
{
	try_on_others(trials, finding, read_other, CAPABILITY(CAP_SYS_PTRACE));
}

void try_map_files(struct trials *trials, struct finding *finding)
{
	try_on_others(trials, finding, open_mapped,
		      CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_DAC_READ_SEARCH) |
			      CAPABILITY(CAP_CHECKPOINT_RESTORE));
}
