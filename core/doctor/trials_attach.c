// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/doctor/own_probe.h"
#include "core/doctor/trials.h"
#include "core/kernel/links.h"
#include "core/kernel/sysctl.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/kernel_fs.h"
#include "sym/util/number.h"

#define LOADING (CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON))

/* How long a sample may take, in nanoseconds. */
#define PATIENCE (2 * NANOSECONDS)

/* All processes end in this function of the kernel, and come by this tracepoint. */
static const char exit_function[] = "do_exit";
static const char exit_tracepoint[] = "sched_process_exit";

void make_exit(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* A program that counts; or negative, with the reason found. */
static int load(struct trials *trials, struct finding *finding, enum bpf_prog_type type,
		enum bpf_attach_type expected)
{
	int program = counter__load(&trials->counter, type, expected);

	if (program < 0)
		finding__refused(finding, program, &trials->privileges, CALL_BPF, LOADING);
	return program;
}

/*
 * Yes if fire() is counted while link, which is closed then, is open; it can be a negative errno of
 * call.
 */
static void expect_hit(struct trials *trials, struct finding *finding, int link,
		       enum system_call call, void (*fire)(void))
{
	if (link < 0) {
		finding__refused(finding, link, &trials->privileges, call, LOADING);
		return;
	}
	counter__take(&trials->counter);
	fire();
	close(link);
	if (counter__take(&trials->counter))
		finding__yes(finding);
	else
		finding__no(finding, "it attaches, but the program never runs");
}

void try_programs(struct trials *trials, struct finding *finding)
{
	static const enum bpf_prog_type types[] = {BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_PERF_EVENT,
						   BPF_PROG_TYPE_TRACEPOINT,
						   BPF_PROG_TYPE_RAW_TRACEPOINT};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		CLEANUP_CLOSE int program = load(trials, finding, types[i], 0);

		if (program < 0)
			return;
	}
	finding__yes(finding);
}

/* ---- perf events ---- */

/* By this setting the kernel refuses perf events to whoever has CAP_PERFMON alone. */
static void say_if_paranoid(const struct trials *trials, struct finding *finding)
{
	const struct privileges *privileges = &trials->privileges;
	long paranoid;

	if (finding->answer != ANSWER_NO || !privileges__have(privileges, CAP_PERFMON) ||
	    privileges__have(privileges, CAP_SYS_ADMIN) ||
	    !sysctl__read("kernel/perf_event_paranoid", &paranoid) || paranoid <= 2)
		return;
	finding__no(finding, "kernel.perf_event_paranoid is %ld: only CAP_SYS_ADMIN may", paranoid);
	finding->help = "'sysctl kernel.perf_event_paranoid=2', or run it as root";
}

static struct counter *sampled;

static void burn(void)
{
	uint64_t start = monotonic_now();

	while (!__atomic_load_n(sampled->hits, __ATOMIC_RELAXED) &&
	       monotonic_now() - start < PATIENCE)
		;
}

/* pid: whose; 0: all processes, on the first CPU. */
static void try_event(struct trials *trials, struct finding *finding, struct perf_event_attr *attr,
		      pid_t pid)
{
	CLEANUP_CLOSE int program = load(trials, finding, BPF_PROG_TYPE_PERF_EVENT, 0);
	int link;

	if (program < 0)
		return;
	sampled = &trials->counter;
	link = link__perf_event(program, attr, pid);
	expect_hit(trials, finding, link, CALL_PERF_EVENT_OPEN, burn);
	if (link == -ENOENT || link == -EOPNOTSUPP)
		finding__no(finding, "the machine has no such counter, or does not show it");
	say_if_paranoid(trials, finding);
}

void try_samples(struct trials *trials, struct finding *finding)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = NANOSECONDS / 1000};

	try_event(trials, finding, &attr, 0);
}

void try_cycles(struct trials *trials, struct finding *finding)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .sample_period = 100000};

	try_event(trials, finding, &attr, getpid());
}

/* ---- tracepoints ---- */

void try_raw_tracepoints(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program = load(trials, finding, BPF_PROG_TYPE_RAW_TRACEPOINT, 0);

	if (program >= 0)
		expect_hit(trials, finding, bpf_raw_tracepoint_open(exit_tracepoint, program),
			   CALL_BPF, make_exit);
}

void try_tracepoints(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program = load(trials, finding, BPF_PROG_TYPE_TRACEPOINT, 0);
	char path[64];

	if (program < 0)
		return;
	try_tracefs(trials, finding);
	if (finding->answer != ANSWER_YES)
		return;
	snprintf(path, sizeof(path), "sched/%s", exit_tracepoint);
	expect_hit(trials, finding, link__tracepoint(program, path), CALL_PERF_EVENT_OPEN,
		   make_exit);
	say_if_paranoid(trials, finding);
}

/* ---- functions of the kernel ---- */

/* What is attached while they are off can break them until the next boot: it is not tried. */
static bool are_off(struct finding *finding)
{
	if (!link__kernel_functions_off())
		return false;
	finding__no(finding, "kernel.ftrace_enabled is 0");
	finding->help = "'sysctl kernel.ftrace_enabled=1'";
	return true;
}

void try_kprobe_multi(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int simple = load(trials, finding, BPF_PROG_TYPE_KPROBE, 0);
	CLEANUP_CLOSE int program = -1;
	const char *name = exit_function;

	if (simple < 0 || are_off(finding))
		return;
	if (!link__has_kernel_functions()) {
		if (kernel_is_from(5, 18)) {
			finding__no(finding, "the kernel is built without CONFIG_FPROBE");
			finding->help = "a kernel that is built with CONFIG_FPROBE";
		} else
			finding__no(finding, "the kernel has no such links: they came with Linux "
					     "5.18");
		return;
	}
	program = load(trials, finding, BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI);
	if (program < 0)
		return;
	expect_hit(trials, finding, link__kernel_names(program, &name, 1), CALL_BPF, make_exit);
}

static bool has_sysfs(void)
{
	CLEANUP_CLOSE int folder = kernel_fs__open(KERNEL_FS_SYS);

	return folder >= 0;
}

/* The type of perf events that probe; says why there is none. */
static bool find_type(struct finding *finding, const char *kind, const char *option,
		      struct perf_event_attr *attr)
{
	int type = link__perf_type(kind);

	if (type == -ENOENT && !has_sysfs()) {
		finding__no(finding, "sysfs is not mounted");
		finding->help = "'mount -t sysfs none /sys'";
	} else if (type == -ENOENT)
		finding__no(finding, "the kernel is built without %s", option);
	else if (type < 0)
		finding__no(finding, "cannot read the type of %ss: %s", kind, strerror(-type));
	attr->type = (uint32_t)type;
	return type >= 0;
}

void try_kprobe(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program = load(trials, finding, BPF_PROG_TYPE_KPROBE, 0);
	struct perf_event_attr attr = {.kprobe_func = (uintptr_t)exit_function};

	if (program < 0 || are_off(finding) ||
	    !find_type(finding, "kprobe", "CONFIG_KPROBE_EVENTS", &attr))
		return;
	expect_hit(trials, finding, link__perf_event(program, &attr, 0), CALL_PERF_EVENT_OPEN,
		   make_exit);
	say_if_paranoid(trials, finding);
}

/* ---- user code ---- */

/* Where the probe is in our own file: *fd is a descriptor of it, the caller's to close. */
static bool find_own_code(struct finding *finding, uint64_t *offset, int *fd)
{
	*offset = own_probe__offset();
	if (!*offset) {
		finding__untried(finding, "we do not know where our own code is");
		return false;
	}
	*fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		finding__untried(finding, "/proc/self/exe cannot be opened");
	return *fd >= 0;
}

void try_uprobe_multi(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int simple = load(trials, finding, BPF_PROG_TYPE_KPROBE, 0);
	CLEANUP_CLOSE int program = -1, file = -1;
	uint64_t offset;

	if (simple < 0 || !find_own_code(finding, &offset, &file))
		return;
	if (!link__has_user_code()) {
		finding__no(finding, "the kernel has no such links: they came with Linux 6.6");
		return;
	}
	program = load(trials, finding, BPF_PROG_TYPE_KPROBE,
		       (enum bpf_attach_type)ATTACH_TYPE_UPROBE_MULTI);
	if (program >= 0)
		expect_hit(trials, finding, link__user_code(program, file, &offset, NULL, 1, 0),
			   CALL_BPF, own_probe__fire);
}

void try_uprobe(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program = load(trials, finding, BPF_PROG_TYPE_KPROBE, 0);
	struct perf_event_attr attr = {.uprobe_path = (uintptr_t) "/proc/self/exe"};
	CLEANUP_CLOSE int file = -1;
	uint64_t offset;
	int link;

	if (program < 0 || !find_own_code(finding, &offset, &file) ||
	    !find_type(finding, "uprobe", "CONFIG_UPROBE_EVENTS", &attr))
		return;
	attr.probe_offset = offset;
	link = link__perf_event(program, &attr, 0);
	expect_hit(trials, finding, link, CALL_PERF_EVENT_OPEN, own_probe__fire);
	/* From Linux 6.1 on this takes more than others. */
	if (link == -EPERM || link == -EACCES)
		finding__refused(finding, link, &trials->privileges, CALL_PERF_EVENT_OPEN,
				 CAPABILITY(CAP_SYS_ADMIN));
}
