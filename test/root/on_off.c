// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * on_off [pending] COMMAND...: is each moment of a thread counted once? For each thread of the
 * command, what offcputime counts as waiting and what it ran must be the time between its first and
 * its last switch, to the nanosecond.
 *
 * Both ways of walking are tried where the kernel has both: "pending" asks for the one that walks
 * at the leaving. Prints a line for each thread that is not right, and the number of those that
 * are; exit status 1 if there are such lines, or no threads.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/options/trace_options.h"
#include "core/trace/accounting.h"
#include "core/trace/epochs.h"
#include "core/trace/maps.h"
#include "core/trace/session.h"
#include "core/trace/stacks.h"
#include "core/trace/waits.h"
#include "core/trace/workload.h"
#include "core/unwind/unwinding.h"
#include "on_off.skel.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "test/root/on_off.h"

static _Noreturn void fail(const struct error *error)
{
	fprintf(stderr, "on_off: %s\n", error->text);
	exit(1);
}

/* Our programs, which call those of the same place in offcputime. */
static void use_ours(struct on_off_bpf *skeleton, bool at_return)
{
	bpf_program__set_autoload(skeleton->progs.waits_switch, false);
	bpf_program__set_autoload(skeleton->progs.waits_leave, false);
	bpf_program__set_autoload(skeleton->progs.waits_return, false);
	bpf_program__set_autoload(skeleton->progs.on_switch, !at_return);
	bpf_program__set_autoload(skeleton->progs.on_leave, at_return);
	bpf_program__set_autoload(skeleton->progs.on_return, at_return);
}

static void attach(const char *tracepoint, const struct bpf_program *program)
{
	struct error error;
	int fd = bpf_raw_tracepoint_open(tracepoint, bpf_program__fd(program));

	if (fd < 0) {
		error__set(&error, fd, "cannot attach to %s: %s", tracepoint, strerror(-fd));
		fail(&error);
	}
}

static uint64_t counted_of(const struct stack_counts *counts, uint32_t tid)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < counts->nr; i++)
		if (counts->items[i].key.tid == tid)
			sum += counts->items[i].weight;
	return sum;
}

/* Returns how many threads are right, or hard to say anything of, or -1 if one is wrong. */
static int compare(const struct on_off_bpf *skeleton, const struct stack_counts *counts)
{
	int fd = bpf_map__fd(skeleton->maps.on_times), right = 0, wrong = 0;
	uint32_t tid, *previous = NULL;

	while (bpf_map_get_next_key(fd, previous, &tid) == 0) {
		struct on_time time;
		uint64_t off;

		previous = &tid;
		if (bpf_map_lookup_elem(fd, &tid, &time))
			continue;
		off = counted_of(counts, time.tid);
		/* The kernel may have kept something from both of us. */
		if (off + time.on == time.last - time.first ||
		    (time.missed && off + time.on < time.last - time.first)) {
			right++;
			continue;
		}
		wrong++;
		printf("thread %u: %" PRIu64 " ns off + %" PRIu64 " on, but %" PRIu64
		       " in all; %" PRIu64 " switches, %" PRIu64 " missed\n",
		       time.tid, off, (uint64_t)time.on, (uint64_t)(time.last - time.first),
		       (uint64_t)time.switches, (uint64_t)time.missed);
	}
	return wrong ? -1 : right;
}

int main(int argc, char **argv)
{
	bool pending = argc > 1 && !strcmp(argv[1], "pending");
	const struct trace_options options = {.hash_storage_size = 40960,
					      .stack_storage_size = 16384,
					      .max_depth = MAX_FRAMES,
					      .unwind_memory = UNWIND_MEMORY_DEFAULT,
					      .command = argv + 1 + pending,
					      .as_root = true};
	const struct wait_settings settings = {
		.max = UINT64_MAX, .state = WAIT_ANY_STATE, .pending = pending};
	struct workload workload = {0};
	struct session *session;
	struct on_off_bpf *skeleton;
	struct trace_config *config;
	struct epochs epochs;
	struct waits waits;
	struct stack_counts counts;
	struct accounting accounting = {0};
	struct error error;
	uint32_t ended;
	int right;

	if (argc < 2 + pending)
		return 2;
	workload__keep_signals();
	if (workload__hold(&workload, options.command, true, &error) ||
	    session__open(&session, &options, &error) ||
	    session__set_workload(session, workload.pid, workload.path, &error))
		fail(&error);
	skeleton = on_off_bpf__open();
	if (!skeleton)
		return 1;
	config = (struct trace_config *)&skeleton->rodata->config;
	if (session__configure(session, skeleton->obj, config, &error))
		fail(&error);
	config->skip_idle = true;
	if (waits__configure(&waits, &settings, skeleton->obj, config, &error))
		fail(&error);
	use_ours(skeleton, waits.config.walk_at_return);
	if (session__load(session, skeleton->obj, NULL, &error) ||
	    epochs__open(&epochs, session__maps(session), &error))
		fail(&error);
	attach("sched_process_free", skeleton->progs.waits_forget);
	if (waits.config.walk_at_return)
		attach("sched_exit_tp", skeleton->progs.on_return);
	attach("sched_switch",
	       waits.config.walk_at_return ? skeleton->progs.on_leave : skeleton->progs.on_switch);
	session__await_tables(session);
	if (workload__let_go(&workload, &error))
		fail(&error);
	session__wait(session, 0);
	if (epochs__end(&epochs, &ended, &error))
		fail(&error);
	unwinding__settle(session__unwinding(session));
	if (stack_counts__read(&counts, session__maps(session), ended, &error) ||
	    accounting__read(&accounting, session__maps(session), ended, &error))
		fail(&error);
	right = accounting__lost(&accounting) ? -1 : compare(skeleton, &counts);
	printf("%s: %d threads are right, %" PRIu64 " waits\n",
	       waits.config.walk_at_return ? "walked at the return" : "walked at the leaving",
	       right, (uint64_t)accounting.events.n[EVENTS_COUNTED]);
	stack_counts__release(&counts);
	epochs__close(&epochs);
	on_off_bpf__destroy(skeleton);
	session__close(session);
	workload__end(&workload);
	return right > 0 ? 0 : 1;
}
