// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/kernel/types.h"
#include "core/options/options.h"
#include "core/probe/links.h"
#include "core/probe/syscall_numbers.h"
#include "core/probe/targets.h"
#include "core/trace/session.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/kernel_fs.h"

/*
 * A program on every function of the kernel slows all down so much that a machine seems
 * to have stopped (an emulated one was not seen to come back).
 */
#define FUNCTIONS_MAX 10000

/*
 * Where each function is a perf event of its own, attaching to this many takes half
 * a minute, and detaching more. Who asks for more has most likely not meant it.
 */
#define ONE_BY_ONE_MAX 2000

/* As many perf events as a user would wait for in the end, each taking a tenth of a second. */
#define PERF_TRACEPOINTS_MAX 8

/* Of the kernel, which libc does not know. */
#ifndef ENOTSUPP
#define ENOTSUPP 524
#endif

/* Links that are tried to find out what in a list cannot be probed. */
#define TRIES_MAX 1000

/* The programs of bpf/probes.bpf.h. */
enum probe_program {
	KERNEL_FUNCTION,
	USER_CODE,
	RAW_TRACEPOINT,
	PERF_TRACEPOINT,
	SYS_ENTER,
	SYS_EXIT,
	PERF_SYS_ENTER,
	PERF_SYS_EXIT,
	NR_PROBE_PROGRAMS,
};

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

/* What keeps something attached. */
struct hook {
	int fd;
	bool slow;	     /* a perf event: the kernel waits for each that is closed */
	bool misses_in_link; /* some of what the program does not see is counted by the link */
};

struct attachment {
	const struct target_list *targets;
	const struct pid_list *pids;
	bool multi;	       /* functions and user code: by links of many */
	bool multi_pid;	       /* such a link can be of one process */
	int perf_type;	       /* else: of the perf events that probe */
	bool task_pt_regs;     /* programs can find the registers of user space */
	bool perf_calls;       /* system calls: by a perf event */
	bool perf_tracepoints; /* other tracepoints: by perf events, all of them */
	struct bpf_program *programs[NR_PROBE_PROGRAMS];
	size_t attached; /* targets */
	unsigned int tries;
	uint64_t missed; /* as last taken */
	struct hook *hooks;
	size_t nr_hooks, hooks_capacity;
	bool *failed; /* by target */
	struct attach_failure *failures;
	size_t nr_failures, failures_capacity;
};

static bool is_user_code(const struct target_list *list)
{
	return list->kind == PROBE_USER_FUNCTION || list->kind == PROBE_USDT;
}

/* ---- what the kernel has ---- */

/* The type of perf events that probe, or a negative errno if the kernel has none. */
static int read_perf_type(const char *kind)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64];
	int type;

	snprintf(path, sizeof(path), "bus/event_source/devices/%s/type", kind);
	file = kernel_fs__open_file(KERNEL_FS_SYS, path);
	if (!file)
		return -errno;
	return fscanf(file, "%d", &type) == 1 ? type : -EIO;
}

static int refused(const struct attachment *attachment, int code, struct error *error)
{
	switch (code) {
	case -EPERM:
	case -EACCES:
		return error__set(error, code,
				  "cannot attach: %s; run as root, or with CAP_BPF, CAP_PERFMON "
				  "and, for programs, CAP_SYS_ADMIN (kernel.perf_event_paranoid, "
				  "lockdown and seccomp can forbid it, too)",
				  strerror(-code));
	case -EMFILE:
	case -ENFILE:
		return error__set(error, code,
				  "cannot attach to more than %zu of %zu: %s; raise 'ulimit -n', "
				  "or give a narrower pattern",
				  attachment->attached, attachment->targets->nr, strerror(-code));
	default:
		return error__set(error, code, "cannot attach: %s", strerror(-code));
	}
}

static int too_many(const struct attachment *attachment, struct error *error)
{
	return error__set(error, -E2BIG,
			  "the pattern matches %zu functions; more than %d at once would slow down "
			  "the machine so much that it seems to stand still; give a narrower one",
			  attachment->targets->nr, FUNCTIONS_MAX);
}

static int choose_for_kernel_functions(struct attachment *attachment, struct error *error)
{
	int multi = link__has_kernel_functions();

	if (multi < 0)
		return refused(attachment, multi, error);
	/* Without addresses, which the kernel can hide, they are known by name. */
	attachment->multi = multi && attachment->targets->targets[0].address;
	if (attachment->multi)
		return attachment->targets->nr > FUNCTIONS_MAX ? too_many(attachment, error) : 0;
	attachment->perf_type = read_perf_type("kprobe");
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

static int choose_for_user_code(struct attachment *attachment, struct error *error)
{
	size_t events = attachment->targets->nr * (attachment->pids->nr ? attachment->pids->nr : 1);
	int multi;

	if (attachment->targets->nr > FUNCTIONS_MAX)
		return too_many(attachment, error);
	multi = link__has_user_code();
	if (multi < 0)
		return refused(attachment, multi, error);
	attachment->multi = multi;
	if (attachment->multi) {
		attachment->multi_pid = attachment->pids->nr && link__has_user_pid();
		return 0;
	}
	attachment->perf_type = read_perf_type("uprobe");
	if (attachment->perf_type < 0)
		return error__set(error, -EOPNOTSUPP,
				  "cannot probe programs: this kernel is built without uprobes "
				  "(CONFIG_UPROBE_EVENTS), or /sys is not mounted");
	if (events > ONE_BY_ONE_MAX)
		return error__set(error, -E2BIG,
				  "the pattern and -p make %zu probes, and this kernel attaches "
				  "them one by one (it lacks uprobe.multi), %d at most; give a "
				  "narrower one",
				  events, ONE_BY_ONE_MAX);
	return 0;
}

/* "syscalls:sys_enter_read": the number of the call, and whether its entry is meant. */
static int system_call_of(const struct target *target, bool *entry)
{
	static const char enter[] = "syscalls:sys_enter_", leave[] = "syscalls:sys_exit_";

	*entry = !strncmp(target->name, enter, strlen(enter));
	if (*entry)
		return syscall_number(target->name + strlen(enter));
	if (!strncmp(target->name, leave, strlen(leave)))
		return syscall_number(target->name + strlen(leave));
	return -1;
}

static void choose_for_tracepoints(struct attachment *attachment)
{
	bool perf = link__raw_tracepoints_miss(), entry;
	size_t others = 0;

	for (size_t i = 0; i < attachment->targets->nr; i++)
		others += system_call_of(&attachment->targets->targets[i], &entry) < 0;
	attachment->perf_calls = perf && attachment->task_pt_regs;
	attachment->perf_tracepoints = perf && others <= PERF_TRACEPOINTS_MAX;
}

int attachment__new(struct attachment **out, const struct target_list *targets,
		    const struct pid_list *pids, struct error *error)
{
	struct attachment *attachment = calloc(1, sizeof(*attachment));
	int err = 0;

	if (attachment)
		attachment->failed = calloc(targets->nr, sizeof(*attachment->failed));
	if (!attachment || !attachment->failed) {
		attachment__free(attachment);
		return error__set(error, -ENOMEM, "cannot attach: out of memory");
	}
	attachment->targets = targets;
	attachment->pids = pids;
	attachment->task_pt_regs = !is_user_code(targets) && task_registers__can_be_had();
	if (targets->kind == PROBE_KERNEL_FUNCTION)
		err = choose_for_kernel_functions(attachment, error);
	else if (is_user_code(targets))
		err = choose_for_user_code(attachment, error);
	else
		choose_for_tracepoints(attachment);
	if (err)
		attachment__free(attachment);
	else
		*out = attachment;
	return err;
}

void attachment__free(struct attachment *attachment)
{
	if (!attachment)
		return;
	for (size_t i = 0; i < attachment->nr_hooks; i++)
		close(attachment->hooks[i].fd);
	free(attachment->hooks);
	free(attachment->failed);
	free(attachment->failures);
	free(attachment);
}

/* ---- between open and load ---- */

static void need(struct attachment *attachment, enum probe_program program)
{
	bpf_program__set_autoload(attachment->programs[program], true);
}

static enum probe_program call_program(const struct attachment *attachment, bool entry)
{
	if (attachment->perf_calls)
		return entry ? PERF_SYS_ENTER : PERF_SYS_EXIT;
	return entry ? SYS_ENTER : SYS_EXIT;
}

static void configure_tracepoints(struct attachment *attachment, struct trace_config *config)
{
	for (size_t i = 0; i < attachment->targets->nr; i++) {
		bool entry;
		int number = system_call_of(&attachment->targets->targets[i], &entry);
		struct system_call_set *set = entry ? &config->entered_calls : &config->left_calls;

		if (number >= 0) {
			need(attachment, call_program(attachment, entry));
			set->bits[number / 64] |= 1ULL << number % 64;
			continue;
		}
		/* What has a program of which type is known only when it is tried. */
		need(attachment, PERF_TRACEPOINT);
		if (attachment->targets->tracepoints.tracepoints[i].dynamic)
			need(attachment, KERNEL_FUNCTION);
		if (!attachment->perf_tracepoints)
			need(attachment, RAW_TRACEPOINT);
	}
}

int attachment__configure(struct attachment *attachment, struct bpf_object *object,
			  struct trace_config *config, struct error *error)
{
	struct bpf_map *slots = bpf_object__find_map_by_name(object, "scratch_slots");

	if (!slots)
		return error__set(error, -ENOENT, "cannot find the map of scratch slots");
	bpf_map__set_max_entries(slots, SCRATCH_SLOTS_PREEMPTED);
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

/* ---- attaching ---- */

static int program_fd(const struct attachment *attachment, enum probe_program program)
{
	return bpf_program__fd(attachment->programs[program]);
}

/* Takes over fd. Returns 0 or -ENOMEM. */
static int keep(struct attachment *attachment, int fd, struct hook hook, size_t targets)
{
	if (ARRAY_GROW(attachment->hooks, attachment->nr_hooks, attachment->hooks_capacity)) {
		close(fd);
		return -ENOMEM;
	}
	hook.fd = fd;
	attachment->hooks[attachment->nr_hooks++] = hook;
	attachment->attached += targets;
	return 0;
}

/* Each target is a failure once, for however many processes it fails. Returns 0 or -ENOMEM. */
static int fail(struct attachment *attachment, const struct target *target, int code)
{
	bool *failed = &attachment->failed[target - attachment->targets->targets];

	if (*failed)
		return 0;
	*failed = true;
	if (ARRAY_GROW(attachment->failures, attachment->nr_failures,
		       attachment->failures_capacity))
		return -ENOMEM;
	attachment->failures[attachment->nr_failures++] =
		(struct attach_failure){.name = target->name, .code = code};
	return 0;
}

/* Whether an error of the kernel is about us rather than about what we want to probe. */
static bool is_ours(int code)
{
	return code == -ENOMEM || code == -EPERM || code == -EACCES || code == -EMFILE ||
	       code == -ENFILE;
}

/* One link for targets [first, end), whose places are in addresses and semaphores. */
struct multi_request {
	const uint64_t *addresses;
	const uint64_t *semaphores; /* or NULL */
	int file_fd;		    /* of user code; -1: kernel functions */
	pid_t pid;		    /* or 0 */
	bool counts;		    /* its targets have not been counted for another process */
	bool gone;		    /* set if that process has ended */
};

static int make_multi_link(const struct attachment *attachment, const struct multi_request *request,
			   size_t first, size_t nr)
{
	if (request->file_fd < 0)
		return link__kernel_functions(program_fd(attachment, KERNEL_FUNCTION),
					      request->addresses + first, nr);
	return link__user_code(
		program_fd(attachment, USER_CODE), request->file_fd, request->addresses + first,
		request->semaphores ? request->semaphores + first : NULL, nr, request->pid);
}

/*
 * One target that cannot be probed fails a link of many: then the halves are tried,
 * until it stands alone.
 */
static int attach_multi(struct attachment *attachment, struct multi_request *request,
			const struct session *session, size_t first, size_t nr)
{
	int fd, err;

	if (nr == 0 || session__stopping(session))
		return 0;
	fd = attachment->tries++ < TRIES_MAX ? make_multi_link(attachment, request, first, nr) :
					       -E2BIG;
	if (fd >= 0)
		return keep(attachment, fd, (struct hook){.misses_in_link = request->file_fd < 0},
			    request->counts ? nr : 0);
	request->gone |= fd == -ESRCH && request->pid;
	if (is_ours(fd) || request->gone)
		return is_ours(fd) ? fd : 0;
	if (fd != -E2BIG && nr > 1) {
		err = attach_multi(attachment, request, session, first, nr / 2);
		return err ? err :
			     attach_multi(attachment, request, session, first + nr / 2,
					  nr - nr / 2);
	}
	for (size_t i = first; i < first + nr; i++) {
		err = fail(attachment, &attachment->targets->targets[i], fd);
		if (err)
			return err;
	}
	return 0;
}

/* The addresses of all targets, side by side, and their semaphores. */
struct places {
	uint64_t *addresses;
	uint64_t *semaphores;
	bool any_semaphore;
};

static void places__release(struct places *places)
{
	free(places->addresses);
	free(places->semaphores);
}

static int places__read(struct places *places, const struct target_list *list)
{
	places->addresses = calloc(list->nr + 1, sizeof(*places->addresses));
	places->semaphores = calloc(list->nr + 1, sizeof(*places->semaphores));
	if (!places->addresses || !places->semaphores)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++) {
		places->addresses[i] = list->targets[i].address;
		places->semaphores[i] = list->targets[i].semaphore;
		places->any_semaphore |= list->targets[i].semaphore != 0;
	}
	return 0;
}

static int attach_kernel_multi(struct attachment *attachment, const struct session *session)
{
	CLEANUP(places__release) struct places places = {0};
	struct multi_request request = {.file_fd = -1, .counts = true};
	int err = places__read(&places, attachment->targets);

	request.addresses = places.addresses;
	return err ? err : attach_multi(attachment, &request, session, 0, attachment->targets->nr);
}

/* The targets of one file, of all processes or of each that it was found for. */
static int attach_file_multi(struct attachment *attachment, const struct session *session,
			     struct multi_request *request, const struct target_file *file,
			     size_t first, size_t nr)
{
	size_t pids = attachment->multi_pid ? file->nr_pids : 0;
	int err = 0;

	request->file_fd = file->fd;
	request->counts = true;
	if (!pids)
		return attach_multi(attachment, request, session, first, nr);
	for (size_t i = 0; i < pids && !err; i++) {
		request->pid = file->pids[i];
		request->gone = false;
		attachment->tries = 0;
		err = attach_multi(attachment, request, session, first, nr);
		request->counts &= request->gone;
	}
	return err;
}

static int attach_user_multi(struct attachment *attachment, const struct session *session)
{
	const struct target_list *list = attachment->targets;
	CLEANUP(places__release) struct places places = {0};
	struct multi_request request = {0};
	int err = places__read(&places, list);

	request.addresses = places.addresses;
	request.semaphores = places.any_semaphore ? places.semaphores : NULL;
	for (size_t first = 0, end; first < list->nr && !err; first = end) {
		const struct target *target = &list->targets[first];

		for (end = first + 1; end < list->nr; end++)
			if (list->targets[end].file != target->file ||
			    list->targets[end].misread != target->misread)
				break;
		if (!target->misread)
			err = attach_file_multi(attachment, session, &request,
						&list->files[target->file], first, end - first);
	}
	return err;
}

/* What would break the programs that are to be watched. Returns 0 or -ENOMEM. */
static int leave_out_misread(struct attachment *attachment)
{
	const struct target_list *list = attachment->targets;
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++)
		if (list->targets[i].misread)
			err = fail(attachment, &list->targets[i], -ENOTSUPP);
	return err;
}

/* A perf event's fd, or why there is none. */
static int keep_event(struct attachment *attachment, const struct target *target, int fd,
		      bool counts)
{
	if (fd >= 0)
		return keep(attachment, fd,
			    (struct hook){.slow = true,
					  .misses_in_link = !is_user_code(attachment->targets)},
			    counts);
	if (is_ours(fd))
		return fd;
	return fail(attachment, target, fd);
}

static int attach_kernel_one(struct attachment *attachment, const struct target *target)
{
	struct perf_event_attr attr = {.type = (uint32_t)attachment->perf_type};

	if (target->address)
		attr.kprobe_addr = target->address;
	else
		attr.kprobe_func = (uintptr_t)target->name;
	return keep_event(attachment, target,
			  link__perf_event(program_fd(attachment, KERNEL_FUNCTION), &attr, 0),
			  true);
}

/* The upper half of a uprobe's config is the place of its semaphore (4.20, a6ca88b241d5). */
#define SEMAPHORE_SHIFT 32

static int attach_user_one(struct attachment *attachment, const struct target *target)
{
	struct perf_event_attr attr = {.type = (uint32_t)attachment->perf_type};
	const struct target_file *file = &attachment->targets->files[target->file];
	bool counts = true;
	char path[64];
	int err = 0;

	if (target->misread)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	attr.config = target->semaphore << SEMAPHORE_SHIFT;
	attr.uprobe_path = (uintptr_t)path;
	attr.probe_offset = target->address;
	for (size_t i = 0; i < (file->nr_pids ? file->nr_pids : 1) && !err; i++) {
		int fd = link__perf_event(program_fd(attachment, USER_CODE), &attr,
					  file->nr_pids ? file->pids[i] : 0);

		if (fd == -ESRCH)
			continue; /* it has ended */
		err = keep_event(attachment, target, fd, counts);
		counts = false;
	}
	return err;
}

/* A descriptor, or a negative errno. */
static int open_perf_tracepoint(const struct attachment *attachment,
				const struct tracepoint *tracepoint, enum probe_program program)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT};
	struct error error;
	uint64_t id = 0;
	int err = tracepoint_list__read_id(&attachment->targets->tracepoints, tracepoint, &id,
					   &error);

	attr.config = id;
	return err ? err : link__perf_event(program_fd(attachment, program), &attr, 0);
}

/* Some events have no tracepoint of their name in the code: new system calls, dynamic ones. */
static int attach_tracepoint(struct attachment *attachment, const struct target *target)
{
	const struct target_list *list = attachment->targets;
	const struct tracepoint *tracepoint =
		&list->tracepoints.tracepoints[target - list->targets];
	int fd = -ENOENT;
	bool entry;

	if (system_call_of(target, &entry) >= 0) {
		attachment->attached++; /* by attach_system_calls() */
		return 0;
	}
	if (!attachment->perf_tracepoints && !tracepoint->dynamic)
		fd = bpf_raw_tracepoint_open(tracepoint->name,
					     program_fd(attachment, RAW_TRACEPOINT));
	if (fd >= 0)
		return keep(attachment, fd, (struct hook){0}, 1);
	if (is_ours(fd))
		return fd;
	fd = open_perf_tracepoint(attachment, tracepoint, PERF_TRACEPOINT);
	if (fd == -EINVAL && tracepoint->dynamic)
		/* Those that are kprobes or uprobes run programs of that type. */
		fd = open_perf_tracepoint(attachment, tracepoint, KERNEL_FUNCTION);
	return keep_event(attachment, target, fd, true);
}

static int attach_system_calls(struct attachment *attachment)
{
	static const struct tracepoint sides[] = {
		{.category = "raw_syscalls", .name = "sys_exit"},
		{.category = "raw_syscalls", .name = "sys_enter"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		enum probe_program program = call_program(attachment, i == 1);
		int fd = program_fd(attachment, program), err;

		if (fd < 0)
			continue; /* not needed, not loaded */
		fd = attachment->perf_calls ? open_perf_tracepoint(attachment, &sides[i], program) :
					      bpf_raw_tracepoint_open(sides[i].name, fd);
		if (fd < 0)
			return fd;
		err = keep(attachment, fd,
			   (struct hook){.slow = attachment->perf_calls,
					 .misses_in_link = attachment->perf_calls},
			   0);
		if (err)
			return err;
	}
	return 0;
}

static int attach_each(struct attachment *attachment, const struct session *session,
		       int (*attach)(struct attachment *attachment, const struct target *target))
{
	int err = 0;

	for (size_t i = 0; i < attachment->targets->nr && !err; i++) {
		if (session__stopping(session))
			break;
		err = attach(attachment, &attachment->targets->targets[i]);
	}
	return err;
}

static int attach_all(struct attachment *attachment, const struct session *session)
{
	int err;

	switch (attachment->targets->kind) {
	case PROBE_KERNEL_FUNCTION:
		return attachment->multi ? attach_kernel_multi(attachment, session) :
					   attach_each(attachment, session, attach_kernel_one);
	case PROBE_TRACEPOINT:
		err = attach_system_calls(attachment);
		return err ? err : attach_each(attachment, session, attach_tracepoint);
	default:
		err = leave_out_misread(attachment);
		if (err)
			return err;
		return attachment->multi ? attach_user_multi(attachment, session) :
					   attach_each(attachment, session, attach_user_one);
	}
}

int attachment__attach(struct attachment *attachment, const struct session *session,
		       struct error *error)
{
	int err = attach_all(attachment, session);

	if (err)
		return refused(attachment, err, error);
	if (attachment->attached || session__stopping(session))
		return 0;
	if (!attachment->nr_failures)
		return error__set(error, -ESRCH, "cannot attach: the process has ended");
	return error__set(
		error, attachment->failures[0].code, "cannot probe %s: %s",
		attachment->failures[0].name,
		attach_failure__reason(attachment->targets, attachment->failures[0].code));
}

const char *attach_failure__reason(const struct target_list *targets, int code)
{
	if (code == -ENOTSUPP)
		return "the kernel cannot execute its first instruction with a breakpoint";
	if (code == -E2BIG)
		return "not tried: too many of the others cannot be probed";
	if (code == -EINVAL && targets->kind == PROBE_KERNEL_FUNCTION)
		return "the kernel refuses what its own tracing uses, and code that is marked as "
		       "not to be traced";
	return strerror(-code);
}

size_t attachment__attached(const struct attachment *attachment)
{
	return attachment->attached;
}

size_t attachment__failures(const struct attachment *attachment,
			    const struct attach_failure **failures)
{
	*failures = attachment->failures;
	return attachment->nr_failures;
}

/* ---- while it runs, and the end ---- */

/* Of events that came while a program was running on their CPU (5.12+). */
static uint64_t recursion_misses(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.recursion_misses;
}

bool attachment__take_missed(struct attachment *attachment, uint64_t *missed)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < NR_PROBE_PROGRAMS; i++)
		sum += recursion_misses(attachment->programs[i]);
	for (size_t i = 0; i < attachment->nr_hooks; i++) {
		const struct hook *hook = &attachment->hooks[i];
		uint64_t of_link = 0;

		if (hook->misses_in_link && !link__missed(hook->fd, &of_link))
			return false;
		sum += of_link;
	}
	*missed = sum - attachment->missed;
	attachment->missed = sum;
	return true;
}

uint64_t attachment__begin_detach(struct attachment *attachment, size_t *left)
{
	uint64_t start = monotonic_now();
	struct hook *first = NULL;

	*left = 0;
	for (size_t i = 0; i < attachment->nr_hooks; i++) {
		if (!attachment->hooks[i].slow)
			continue;
		*left += first != NULL;
		first = first ? first : &attachment->hooks[i];
	}
	if (!first)
		return 0;
	close(first->fd);
	*first = attachment->hooks[--attachment->nr_hooks];
	return (monotonic_now() - start) * *left;
}
