// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Losses that no trace produces on purpose: the programs are the real ones, but
 * their tables are made to fail.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/options/trace_options.h"
#include "core/trace/accounting.h"
#include "core/trace/sampler.h"
#include "core/trace/session.h"
#include "core/trace/waits.h"
#include "counting.skel.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"
#include "test/unit/tap.h"

static const struct trace_options options = TRACE_OPTIONS_DEFAULTS;

struct trace {
	struct session *session;
	struct counting_bpf *skeleton;
	struct sampler sampler;
	pid_t child; /* calls the kernel without end, so that samples have both stacks */
};

static void trace__release(struct trace *trace)
{
	sampler__close(&trace->sampler);
	counting_bpf__destroy(trace->skeleton);
	session__close(trace->session);
	if (trace->child > 0) {
		kill(trace->child, SIGKILL);
		waitpid(trace->child, NULL, 0);
	}
}

/* Open, but do not load. */
static bool trace__open(struct trace *trace)
{
	struct error error;
	struct trace_config *config;

	trace->child = fork();
	if (trace->child == 0)
		for (;;)
			syscall(SYS_getppid);
	if (!CHECK(trace->child > 0) ||
	    !CHECK_INT(session__open(&trace->session, &options, &error), 0))
		return false;
	trace->skeleton = counting_bpf__open();
	if (!CHECK(trace->skeleton))
		return false;
	config = (struct trace_config *)&trace->skeleton->rodata->config;
	config->skip_idle = true;
	bpf_program__set_autoload(trace->skeleton->progs.profile_sample, true);
	return CHECK_INT(session__configure(trace->session, trace->skeleton->obj, config, &error),
			 0);
}

static bool trace__run(struct trace *trace, uint64_t nanoseconds, struct accounting *accounting)
{
	const struct sampler_settings settings = {.frequency = 999, .cpu = SAMPLER_ALL_CPUS};
	int program = bpf_program__fd(trace->skeleton->progs.profile_sample);
	struct error error;
	uint64_t expected;

	if (!CHECK_INT(sampler__open(&trace->sampler, &settings, trace->session, program, &error),
		       0) ||
	    !CHECK_INT(sampler__start(&trace->sampler, &error), 0))
		return false;
	session__wait(trace->session, nanoseconds);
	sampler__stop(&trace->sampler);
	CHECK(sampler__expected(&trace->sampler, &expected));
	sampler__close(&trace->sampler);
	return CHECK_INT(accounting__read(accounting, session__maps(trace->session), 0, &error), 0);
}

static void check_balance(const struct accounting *accounting)
{
	CHECK(accounting->events.n[EVENTS_SEEN] > 0);
	CHECK_INT(accounting->events.n[EVENTS_SEEN], accounting->events.n[EVENTS_COUNTED] +
							     accounting__filtered(accounting) +
							     accounting__lost(accounting));
}

/* Claim each scratch slot, as an interrupted program would; or release them. */
static bool occupy_slots(const struct trace *trace, bool occupied)
{
	const struct bpf_map *map = trace->skeleton->maps.scratch_slots;
	CLEANUP_FREE uint64_t *values = calloc(1, bpf_map__value_size(map));

	if (!CHECK(values))
		return false;
	/* The claims are the first thing in a slot. */
	values[0] = occupied;
	for (uint32_t slot = 0; slot < bpf_map__max_entries(map); slot++)
		if (!CHECK_INT(bpf_map_update_elem(bpf_map__fd(map), &slot, values, BPF_ANY), 0))
			return false;
	return true;
}

static void no_free_slot(void)
{
	CLEANUP(trace__release) struct trace trace = {0};
	struct accounting before, after;
	struct error error;
	char line[256];

	if (geteuid() != 0) {
		tap_skip("needs root");
		return;
	}
	if (!trace__open(&trace) ||
	    !CHECK_INT(session__load(trace.session, trace.skeleton->obj, NULL, &error), 0) ||
	    !occupy_slots(&trace, true) || !trace__run(&trace, NANOSECONDS / 2, &before))
		return;
	check_balance(&before);
	CHECK(before.events.n[EVENTS_LOST_BUSY] > 0);
	CHECK_INT(before.events.n[EVENTS_COUNTED], 0);
	accounting__format_loss(&before, line, sizeof(line));
	CHECK(strstr(line, " busy"));
	/* The slots are claimed and released again, so those that were not free are as before. */
	if (!occupy_slots(&trace, false) || !trace__run(&trace, NANOSECONDS / 2, &after))
		return;
	check_balance(&after);
	CHECK_INT(after.events.n[EVENTS_LOST_BUSY], before.events.n[EVENTS_LOST_BUSY]);
	CHECK(after.events.n[EVENTS_COUNTED] > 0);
}

/* False if it could not be tried; a message has then said so. */
static bool run_without_preallocation(struct accounting *accounting)
{
	CLEANUP(trace__release) struct trace trace = {0};
	struct error error;

	if (!trace__open(&trace) ||
	    !CHECK_INT(bpf_map__set_map_flags(trace.skeleton->maps.stacks, BPF_F_NO_PREALLOC), 0))
		return false;
	if (session__load(trace.session, trace.skeleton->obj, NULL, &error)) {
		tap_skip("before 6.1 samples need preallocated tables");
		return false;
	}
	return trace__run(&trace, NANOSECONDS / 10, accounting);
}

/*
 * Without preallocation each CPU begins with one free element, and gets more only a moment later:
 * if the first sample has two stacks, the second stack finds no element. A first sample between two
 * calls has one stack: so it is tried again.
 */
static void refused_update(void)
{
	struct accounting accounting = {0};
	char line[256];

	if (geteuid() != 0) {
		tap_skip("needs root");
		return;
	}
	for (int i = 0; i < 50 && accounting.events.n[EVENTS_LOST_REFUSED] == 0; i++) {
		if (!run_without_preallocation(&accounting))
			return;
		check_balance(&accounting);
	}
	CHECK(accounting.events.n[EVENTS_LOST_REFUSED] > 0);
	accounting__format_loss(&accounting, line, sizeof(line));
	CHECK(strstr(line, " table update refused"));
}

/* Only one thread has room: what others wait cannot even be measured. */
static void no_room_for_threads(void)
{
	const struct wait_settings settings = {.max = UINT64_MAX, .state = WAIT_ANY_STATE};
	CLEANUP(trace__release) struct trace trace = {0};
	CLEANUP(waits__release) struct waits waits = {0};
	struct accounting accounting;
	struct trace_config *config;
	struct error error;
	char line[256];

	if (geteuid() != 0) {
		tap_skip("needs root");
		return;
	}
	if (!trace__open(&trace))
		return;
	config = (struct trace_config *)&trace.skeleton->rodata->config;
	if (!CHECK_INT(waits__configure(&waits, &settings, trace.skeleton->obj, config, &error),
		       0) ||
	    !CHECK_INT(bpf_map__set_max_entries(trace.skeleton->maps.off_threads, 1), 0) ||
	    !CHECK_INT(session__load(trace.session, trace.skeleton->obj, NULL, &error), 0) ||
	    !CHECK_INT(waits__attach(&waits, &error), 0))
		return;
	session__wait(trace.session, NANOSECONDS / 2);
	waits__release(&waits);
	if (!CHECK_INT(accounting__read(&accounting, session__maps(trace.session), 0, &error), 0))
		return;
	CHECK(accounting.events.n[EVENTS_LOST_THREADS_FULL] > 0);
	accounting__format_loss(&accounting, line, sizeof(line));
	CHECK(strstr(line, " no room for their thread"));
}

static const struct tap_test tests[] = {
	{"an event that finds all scratch slots in use is lost as busy", no_free_slot},
	{"an event whose stack the kernel refuses to store is lost as refused", refused_update},
	{"a wait of a thread that there is no room for is lost", no_room_for_threads},
};

int main(void)
{
	return TAP_RUN(tests);
}
