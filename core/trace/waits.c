// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/hash_map.h"
#include "core/kernel/links.h"
#include "core/kernel/types.h"
#include "core/trace/maps.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

/* What a program is attached to; each is there in all kernels but the last. */
static const struct hook_point {
	const char *program, *tracepoint;
} at_leaving[] = {{"waits_switch", "sched_switch"}, {"waits_forget", "sched_process_free"}},
  at_return[] = {{"waits_leave", "sched_switch"},
		 {"waits_return", "sched_exit_tp"},
		 {"waits_forget", "sched_process_free"}};

static const struct hook_point *points(const struct waits *waits, size_t *nr)
{
	*nr = waits->config.walk_at_return ? ARRAY_SIZE(at_return) : ARRAY_SIZE(at_leaving);
	return waits->config.walk_at_return ? at_return : at_leaving;
}

/* The place of sched_switch among whose arguments the state of the leaving thread stands (5.18). */
#define ARGUMENT_STATE 3

/* Where state and kind of a thread stand. */
static int find_fields(struct wait_config *config, struct error *error)
{
	bool in_argument = link__raw_tracepoint_has("sched_switch", ARGUMENT_STATE);
	struct thread_fields fields;
	int err;

	config->state_source = in_argument ? STATE_IN_ARGUMENT : STATE_NOT_TOLD;
	if (in_argument && config->threads == THREADS_OF_ALL)
		return 0;
	err = thread_fields__read(&fields);
	if (err && config->threads != THREADS_OF_ALL)
		return error__set(error, err,
				  "-u and -k: the kernel tells which threads are its own only with "
				  "CONFIG_DEBUG_INFO_BTF");
	if (err && !in_argument && !config->any_state)
		return error__set(error, err,
				  "--state: before Linux 5.18 the kernel tells states only with "
				  "CONFIG_DEBUG_INFO_BTF");
	if (err)
		return 0;
	if (!in_argument)
		config->state_source = STATE_IN_TASK;
	config->task_state = fields.state;
	config->task_flags = fields.flags;
	return 0;
}

/* Room for twice the threads that there are, of which the end of /proc/loadavg knows: "2/345 678".
 */
static uint32_t expected_threads(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/loadavg", "re");
	uint32_t threads = 0;

	if (!file || fscanf(file, "%*s %*s %*s %*[0-9]/%u", &threads) != 1 || threads < 2048)
		threads = 2048;
	return 2 * (threads < UINT32_MAX / 4 ? threads : UINT32_MAX / 4);
}

int waits__configure(struct waits *waits, const struct wait_settings *settings,
		     struct bpf_object *object, struct trace_config *config, struct error *error)
{
	bool any_state = settings->state == WAIT_ANY_STATE;
	const struct hook_point *hooks;
	size_t nr;
	int err;

	*waits = (struct waits){
		.object = object,
		.threads = bpf_object__find_map_by_name(object, "off_threads"),
		.pending = settings->pending,
	};
	if (!waits->threads)
		return error__set(error, -ENOENT, "cannot find the map of threads");
	waits->config = (struct wait_config){
		.min = settings->min,
		.max = settings->max,
		.state = any_state ? 0 : (uint32_t)settings->state,
		.any_state = any_state,
		.threads = (uint8_t)settings->threads,
		/* Threads that have not come back can only be walked when they leave. */
		.walk_at_return =
			!settings->pending && link__raw_tracepoint_has("sched_exit_tp", 0),
	};
	err = find_fields(&waits->config, error);
	if (err)
		return err;
	config->waits = waits->config;
	/* What a thread is counted by must be known while it waits. */
	if (!waits->config.walk_at_return)
		config->walks_later = false;
	bpf_map__set_autocreate(waits->threads, true);
	bpf_map__set_max_entries(waits->threads, expected_threads());
	hooks = points(waits, &nr);
	for (size_t i = 0; i < nr; i++)
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(object, hooks[i].program), true);
	return 0;
}

const struct bpf_map *waits__walked_before(const struct waits *waits)
{
	return waits->config.walk_at_return ? NULL : waits->threads;
}

int waits__attach(struct waits *waits, struct error *error)
{
	size_t nr;
	const struct hook_point *hooks = points(waits, &nr);

	/* The last first: nothing may be left of a thread that ends. */
	while (nr-- > 0) {
		const struct bpf_program *program =
			bpf_object__find_program_by_name(waits->object, hooks[nr].program);
		int fd = bpf_raw_tracepoint_open(hooks[nr].tracepoint, bpf_program__fd(program));

		if (fd < 0)
			return error__set(
				error, fd,
				"cannot trace waits: the tracepoint %s: %s; see 'tracekit "
				"doctor'",
				hooks[nr].tracepoint, strerror(-fd));
		waits->hooks[waits->nr_hooks++] = fd;
	}
	return 0;
}

/* Returns an enum event_counter, or a negative errno. */
static int add_pending(int counts_fd, const struct off_thread *thread, uint64_t waited)
{
	struct stack_key key = thread->key;
	struct stack_count count = thread->first;
	int err;

	if (thread->outcome != EVENTS_COUNTED)
		return (int)thread->outcome;
	key.lasts = true;
	count.count = 1;
	count.weight = waited;
	err = bpf_map_update_elem(counts_fd, &key, &count, BPF_NOEXIST);
	if (err == -E2BIG)
		return EVENTS_LOST_KEYS_FULL;
	return err ? err : EVENTS_COUNTED;
}

static void detach(struct waits *waits)
{
	while (waits->nr_hooks > 0)
		close(waits->hooks[--waits->nr_hooks]);
}

/* Threads that wait when the trace ends. */
struct ending {
	const struct waits *waits;
	int counts_fd;
	uint64_t end;
	struct pending_waits *pending;
};

static int take_thread(void *context, const void *key __attribute__((unused)), const void *value)
{
	const struct ending *ending = context;
	const struct off_thread *thread = value;
	struct pending_waits *pending = ending->pending;
	int outcome = EVENTS_FILTERED;
	uint64_t waited;

	if (!thread->since)
		return 0;
	waited = ending->end > thread->since ? ending->end - thread->since : 0;
	if (wait_config__wants(&ending->waits->config, thread->state, waited)) {
		pending->nr++;
		pending->time += waited;
		if (ending->waits->pending)
			outcome = add_pending(ending->counts_fd, thread, waited);
	}
	if (outcome < 0)
		return outcome;
	pending->events.n[EVENTS_SEEN]++;
	pending->events.n[outcome]++;
	if (outcome != EVENTS_COUNTED && outcome != EVENTS_FILTERED)
		pending->events.lost_weight += waited;
	return 0;
}

int waits__end(struct waits *waits, const struct trace_maps *maps, uint64_t end,
	       struct pending_waits *pending, struct error *error)
{
	struct ending ending = {.waits = waits,
				.counts_fd = bpf_map__fd(maps->counts),
				.end = end,
				.pending = pending};
	int err;

	detach(waits);
	*pending = (struct pending_waits){0};
	err = hash_map__read(waits->threads, take_thread, &ending);
	return err ? error__set(error, err, "cannot read the table of threads: %s",
				strerror(-err)) :
		     0;
}

void waits__release(struct waits *waits)
{
	detach(waits);
	*waits = (struct waits){0};
}
