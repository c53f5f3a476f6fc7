// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose how to attach to targets, and the programs for that. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/kernel/links.h"
#include "core/kernel/own_processor.h"
#include "core/kernel/types.h"
#include "core/options/pid_list.h"
#include "core/probe/attachment.h"
#include "core/probe/syscall_numbers.h"
#include "core/probe/targets.h"
#include "sym/util/array.h"
#include "sym/util/error.h"

/*
 * A program on every kernel function slows the machine down so much that it seems to have stopped
 * (an emulated one was not seen to come back).
 */
#define FUNCTIONS_MAX 10000

/*
 * With a perf event for each function, attaching to this many takes half a minute, and detaching
 * takes longer. Users who ask for more have most likely not meant it.
 */
#define ONE_BY_ONE_MAX 2000

/* As many perf events as a user will wait for at the end: each takes a tenth of a second. */
#define PERF_EVENTS_MAX 8

/*
 * With a link for each process, the kernel asks every link at each event of any of these processes:
 * an event costs twice as much with 32 links, six times with 100, and to close 1,000 takes 7 s even
 * together (test/bench/many-pids). One link for all costs the same whatever their number, but then
 * other processes that execute such code pay for it, too.
 */
#define PROCESS_LINKS_MAX 32

/* Of so few tracepoints BTF is asked. */
#define ASKED_MAX 2

static const char *const program_names[NR_PROBE_PROGRAMS] = {
	[KERNEL_FUNCTION] = "probe_kernel_function",
	[USER_CODE] = "probe_user_code",
	[RAW_TRACEPOINT] = "probe_raw_tracepoint",
	[PERF_TRACEPOINT] = "probe_perf_tracepoint",
	[SYS_ENTER] = "probe_sys_enter",
	[SYS_EXIT] = "probe_sys_exit",
	[PERF_SYS_ENTER] = "probe_perf_sys_enter",
	[PERF_SYS_EXIT] = "probe_perf_sys_exit",
};

static int too_many(const struct attachment *attachment, struct error *error)
{
	return error__set(error, -E2BIG,
			  "the pattern matches %zu functions; more than %d at once would slow down "
			  "the machine so much that it seems to stand still; give a narrower one",
			  attachment->targets->nr, FUNCTIONS_MAX);
}

static int choose_for_kernel_functions(struct attachment *attachment, struct error *error)
{
	int multi;

	if (link__kernel_functions_off())
		return error__set(error, -EOPNOTSUPP,
				  "cannot probe kernel functions: kernel.ftrace_enabled is 0; "
				  "'sysctl kernel.ftrace_enabled=1' switches them on");
	multi = link__has_kernel_functions();
	if (multi < 0)
		return attachment__refused(attachment, multi, error);
	attachment->multi = multi;
	if (attachment->multi)
		return attachment->targets->nr > FUNCTIONS_MAX ? too_many(attachment, error) : 0;
	attachment->perf_type = link__perf_type("kprobe");
	if (attachment->perf_type < 0)
		return error__set(error, -EOPNOTSUPP,
				  "cannot probe kernel functions: this kernel is built without "
				  "kprobes (CONFIG_KPROBES), or /sys is not mounted; tracepoints "
				  "may do: -l 't:*:*' lists them");
	if (attachment->targets->nr > ONE_BY_ONE_MAX)
		return error__set(error, -E2BIG,
				  "the pattern matches %zu functions, and this kernel attaches to "
				  "them one by one (it lacks kprobe.multi), to %d at most; give a "
				  "narrower one",
				  attachment->targets->nr, ONE_BY_ONE_MAX);
	return 0;
}

size_t attachment__one_by_one(const struct attachment *attachment, const struct target_file *file)
{
	size_t nr = attachment->pids->nr ? file->nr_pids : 0;

	if (attachment->multi)
		return attachment->multi_pid && nr <= PROCESS_LINKS_MAX ? nr : 0;
	return nr == 1 || attachment->targets->nr * nr <= PERF_EVENTS_MAX ? nr : 0;
}

static size_t count_perf_events(const struct attachment *attachment)
{
	const struct target_list *list = attachment->targets;
	size_t events = 0, pids;

	for (size_t i = 0; i < list->nr; i++) {
		pids = attachment__one_by_one(attachment, &list->files[list->targets[i].file]);
		events += pids ? pids : 1;
	}
	return events;
}

static int choose_for_user_code(struct attachment *attachment, struct error *error)
{
	size_t events;
	int multi;

	if (attachment->targets->nr > FUNCTIONS_MAX)
		return too_many(attachment, error);
	multi = link__has_user_code();
	if (multi < 0)
		return attachment__refused(attachment, multi, error);
	attachment->multi = multi;
	if (attachment->multi) {
		attachment->multi_pid = attachment->pids->nr && link__has_user_pid();
		return 0;
	}
	attachment->perf_type = link__perf_type("uprobe");
	if (attachment->perf_type < 0)
		return error__set(error, -EOPNOTSUPP,
				  "cannot probe programs: this kernel is built without uprobes "
				  "(CONFIG_UPROBE_EVENTS), or /sys is not mounted");
	events = count_perf_events(attachment);
	if (events > ONE_BY_ONE_MAX)
		return error__set(error, -E2BIG,
				  "the pattern and -p make %zu probes, and this kernel attaches "
				  "them one by one (it lacks uprobe.multi), %d at most; give a "
				  "narrower one",
				  events, ONE_BY_ONE_MAX);
	return 0;
}

/*
 * True if the kernel is not preempted where the tracepoint is. Then a raw one sees everything on
 * all kernels, and perf events do not: they are withheld while a map is being changed on their CPU,
 * by a thread that may have been preempted meanwhile.
 */
static bool is_never_preempted(const struct tracepoint *tracepoint)
{
	static const char *const names[] = {"sched_switch", "sched_waking", "sched_wakeup",
					    "sched_wakeup_new", "sched_migrate_task"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(tracepoint->category, "sched") && !strcmp(tracepoint->name, names[i]))
			return true;
	return false;
}

bool attachment__takes_raw(const struct attachment *attachment, const struct tracepoint *tracepoint)
{
	return !tracepoint->dynamic &&
	       (!attachment->perf_tracepoints || is_never_preempted(tracepoint));
}

static void choose_for_tracepoints(struct attachment *attachment)
{
	/* Perf events need a number from tracefs. */
	bool perf = link__raw_tracepoints_miss() && attachment->targets->tracepoints.events >= 0;
	size_t others = 0;
	bool entry;

	for (size_t i = 0; i < attachment->targets->nr; i++)
		others += syscall_of_tracepoint(attachment->targets->targets[i].name, &entry) < 0;
	attachment->perf_calls = perf && attachment->task_pt_regs;
	attachment->perf_tracepoints = perf && others <= PERF_EVENTS_MAX;
}

int attachment__choose(struct attachment *attachment, struct error *error)
{
	const struct target_list *targets = attachment->targets;

	attachment->task_pt_regs =
		!target_list__is_user_code(targets) && task_registers__can_be_had();
	if (targets->kind == PROBE_KERNEL_FUNCTION)
		return choose_for_kernel_functions(attachment, error);
	if (target_list__is_user_code(targets))
		return choose_for_user_code(attachment, error);
	choose_for_tracepoints(attachment);
	return 0;
}

enum probe_program attachment__call_program(const struct attachment *attachment, bool entry)
{
	if (attachment->perf_calls)
		return entry ? PERF_SYS_ENTER : PERF_SYS_EXIT;
	return entry ? SYS_ENTER : SYS_EXIT;
}

/*
 * False if there are no perf events, or a raw tracepoint is certain; else only a try shows which an
 * event takes. To ask BTF takes some milliseconds for each, to load a program in vain some twenty.
 */
static bool may_take_perf_event(const struct attachment *attachment,
				const struct tracepoint *tracepoint)
{
	const struct target_list *targets = attachment->targets;

	if (targets->tracepoints.events < 0)
		return false;
	return targets->nr > ASKED_MAX || !attachment__takes_raw(attachment, tracepoint) ||
	       !kernel_types__have_tracepoint(tracepoint->name);
}

static void need(struct attachment *attachment, enum probe_program program)
{
	bpf_program__set_autoload(attachment->programs[program], true);
}

static void configure_tracepoints(struct attachment *attachment, struct trace_config *config)
{
	for (size_t i = 0; i < attachment->targets->nr; i++) {
		const struct tracepoint *tracepoint =
			&attachment->targets->tracepoints.tracepoints[i];
		bool entry;
		int number = syscall_of_tracepoint(attachment->targets->targets[i].name, &entry);
		struct system_call_set *set = entry ? &config->entered_calls : &config->left_calls;

		if (number >= 0) {
			need(attachment, attachment__call_program(attachment, entry));
			set->bits[number / 64] |= 1ULL << number % 64;
			continue;
		}
		if (may_take_perf_event(attachment, tracepoint))
			need(attachment, PERF_TRACEPOINT);
		if (tracepoint->dynamic)
			need(attachment, KERNEL_FUNCTION);
		if (attachment__takes_raw(attachment, tracepoint))
			need(attachment, RAW_TRACEPOINT);
	}
}

int attachment__configure(struct attachment *attachment, struct bpf_object *object,
			  struct trace_config *config, struct error *error)
{
	struct bpf_map *slots = bpf_object__find_map_by_name(object, "scratch_slots");

	if (!slots)
		return error__set(error, -ENOENT, "cannot find the map of scratch slots");
	if (own_processor.orders_additions)
		config->shared_slots = config->cpus * SCRATCH_SLOTS_TRIED;
	if (config->shared_slots > SCRATCH_SLOTS_SHARED)
		config->shared_slots = SCRATCH_SLOTS_SHARED;
	bpf_map__set_max_entries(slots, bpf_map__max_entries(slots) + config->shared_slots);
	config->has_task_pt_regs |= attachment->task_pt_regs;
	for (size_t i = 0; i < NR_PROBE_PROGRAMS; i++) {
		attachment->programs[i] =
			bpf_object__find_program_by_name(object, program_names[i]);
		if (!attachment->programs[i])
			return error__set(error, -ENOENT, "cannot find the BPF program %s",
					  program_names[i]);
	}
	switch (attachment->targets->kind) {
	case PROBE_KERNEL_FUNCTION:
		need(attachment, KERNEL_FUNCTION);
		if (attachment->multi)
			bpf_program__set_expected_attach_type(
				attachment->programs[KERNEL_FUNCTION],
				(enum bpf_attach_type)ATTACH_TYPE_KPROBE_MULTI);
		config->adds_caller = !own_processor.has_kernel_caller;
		break;
	case PROBE_USER_FUNCTION:
	case PROBE_USDT:
		need(attachment, USER_CODE);
		config->at_function_entry = attachment->targets->kind == PROBE_USER_FUNCTION;
		config->kernel_stacks = false; /* there is none: the thread is in user space */
		if (attachment->multi)
			bpf_program__set_expected_attach_type(
				attachment->programs[USER_CODE],
				(enum bpf_attach_type)ATTACH_TYPE_UPROBE_MULTI);
		break;
	case PROBE_TRACEPOINT:
		configure_tracepoints(attachment, config);
		break;
	}
	return 0;
}
