// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/doctor/own_probe.h"
#include "core/doctor/trials.h"
#include "core/history/records.h"
#include "core/kernel/links.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/number.h"

#define LOADING (CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON))
#define ALWAYS	CAPABILITY(CAP_SYS_ADMIN)

/* How long a sample may take, in nanoseconds. */
#define PATIENCE (2 * NANOSECONDS)

/* All processes end in this function of the kernel. */
static const char exit_function[] = "do_exit";

void make_exit(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* A program that counts, or a negative errno. */
static int load(const struct trials *trials, enum bpf_prog_type type, enum bpf_attach_type expected)
{
	return trials->counter.map < 0 ? trials->counter.map :
					 counter__load(&trials->counter, type, expected);
}

/* Yes if fire() is counted while link, a descriptor or a negative errno, is open. Closes it. */
static void expect_hit(struct trials *trials, struct finding *finding, int link, void (*fire)(void),
		       uint64_t needs)
{
	if (link < 0) {
		finding__refused(finding, link, &trials->privileges, needs);
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
		int program = load(trials, types[i], 0);

		if (program < 0) {
			finding__refused(finding, program, &trials->privileges, LOADING);
			return;
		}
		close(program);
	}
	finding__yes(finding);
}

/* ---- samples ---- */

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
	CLEANUP_CLOSE int program = load(trials, BPF_PROG_TYPE_PERF_EVENT, 0);

	sampled = &trials->counter;
	expect_hit(trials, finding, program < 0 ? program : link__perf_event(program, attr, pid),
		   burn, LOADING);
}

/* The kernel refuses perf events by this setting whoever has CAP_PERFMON alone. */
static void say_if_paranoid(const struct trials *trials, struct finding *finding)
{
	long paranoid;

	if (finding->answer != ANSWER_NO || privileges__have(&trials->privileges, CAP_SYS_ADMIN) ||
	    !sysctl__read("kernel/perf_event_paranoid", &paranoid) || paranoid <= 2)
		return;
	finding__no(finding, "kernel.perf_event_paranoid is %ld: only CAP_SYS_ADMIN may", paranoid);
	finding->help = "'sysctl kernel.perf_event_paranoid=2', or run it as root";
}

void try_samples(struct trials *trials, struct finding *finding)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_period = NANOSECONDS / 1000};

	try_event(trials, finding, &attr, 0);
	say_if_paranoid(trials, finding);
}

void try_cycles(struct trials *trials, struct finding *finding)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .sample_period = 100000};

	try_event(trials, finding, &attr, getpid());
}

void try_records(struct trials *trials, struct finding *finding)
{
	struct process_records *records;
	struct error error;
	int err = process_records__open(&records, PROCESS_RECORDS_START, &error);
	bool any = false;

	if (err) {
		finding__refused(finding, err, &trials->privileges, CAPABILITY(CAP_PERFMON));
		say_if_paranoid(trials, finding);
		return;
	}
	make_exit();
	err = process_records__read(records);
	while (!err && !any) {
		const struct process_record *record = process_records__next(records, UINT64_MAX);

		if (!record)
			break;
		any = record->deed == PROCESS_FORKED;
	}
	process_records__close(records);
	if (any)
		finding__yes(finding);
	else
		finding__no(finding, "a process was started, and nothing tells of it");
}

/* ---- tracepoints ---- */

void try_raw_tracepoints(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program = load(trials, BPF_PROG_TYPE_RAW_TRACEPOINT, 0);

	expect_hit(trials, finding,
		   program < 0 ? program : bpf_raw_tracepoint_open("sched_process_exit", program),
		   make_exit, LOADING);
}

void try_tracepoints(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program = load(trials, BPF_PROG_TYPE_TRACEPOINT, 0);

	expect_hit(trials, finding,
		   program < 0 ? program : link__tracepoint(program, "sched/sched_process_exit"),
		   make_exit, LOADING);
	say_if_paranoid(trials, finding);
}

/* ---- functions ---- */

/* What keeps probes that are attached from being hit. */
static void say_why_not_hit(struct finding *finding)
{
	long enabled;

	if (finding->answer != ANSWER_NO || !sysctl__read("kernel/ftrace_enabled", &enabled) ||
	    enabled)
		return;
	finding__no(finding, "it attaches, but never runs: kernel.ftrace_enabled is 0");
	finding->help = "'sysctl kernel.ftrace_enabled=1'";
}

void try_kprobe_multi(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program = load(trials, BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI);
	const char *name = exit_function;
	int has = link__has_kernel_functions();

	if (!has) {
		finding__no(finding, "the kernel has no such links (they came with Linux 5.18, "
				     "and need CONFIG_FPROBE)");
		return;
	}
	expect_hit(trials, finding, program < 0 ? program : link__kernel_names(program, &name, 1),
		   make_exit, LOADING);
	say_why_not_hit(finding);
}

/* The type of perf events that probe; says why there is none. */
static bool find_type(struct finding *finding, const char *kind, const char *config,
		      struct perf_event_attr *attr)
{
	int type = link__perf_type(kind);

	if (type < 0)
		finding__no(finding, "the kernel is built without %s, or there is no /sys", config);
	attr->type = (uint32_t)type;
	return type >= 0;
}

void try_kprobe(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program = load(trials, BPF_PROG_TYPE_KPROBE, 0);
	struct perf_event_attr attr = {.kprobe_func = (uintptr_t)exit_function};

	if (!find_type(finding, "kprobe", "CONFIG_KPROBE_EVENTS", &attr))
		return;
	expect_hit(trials, finding, program < 0 ? program : link__perf_event(program, &attr, 0),
		   make_exit, LOADING);
	say_why_not_hit(finding);
	say_if_paranoid(trials, finding);
}

void try_uprobe_multi(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program =
		load(trials, BPF_PROG_TYPE_KPROBE, (enum bpf_attach_type)ATTACH_TYPE_UPROBE_MULTI);
	CLEANUP_CLOSE int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t offset = own_probe__offset();

	if (!link__has_user_code()) {
		finding__no(finding, "the kernel has no such links (they came with Linux 6.6)");
		return;
	}
	expect_hit(trials, finding,
		   program < 0 ? program : link__user_code(program, file, &offset, NULL, 1, 0),
		   own_probe__fire, LOADING);
}

void try_uprobe(struct trials *trials, struct finding *finding)
{
	CLEANUP_CLOSE int program = load(trials, BPF_PROG_TYPE_KPROBE, 0);
	struct perf_event_attr attr = {.uprobe_path = (uintptr_t) "/proc/self/exe",
				       .probe_offset = own_probe__offset()};

	if (!find_type(finding, "uprobe", "CONFIG_UPROBE_EVENTS", &attr))
		return;
	expect_hit(trials, finding, program < 0 ? program : link__perf_event(program, &attr, 0),
		   own_probe__fire, LOADING | ALWAYS);
}
