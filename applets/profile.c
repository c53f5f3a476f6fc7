// SPDX-License-Identifier: GPL-2.0-or-later
/* profile: where the CPUs are, sampled at a timed interval and counted by stack. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "applets/applet.h"
#include "core/options/trace_options.h"
#include "core/run/counting.h"
#include "core/trace/sampler.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"

struct profile_settings {
	struct trace_options trace;
	struct sink_options sink;
	size_t event;	    /* enum sampler_event */
	uint64_t frequency; /* Hertz; 0: not given */
	uint64_t count;	    /* events; 0: not given */
	uint64_t cpu;	    /* or SAMPLER_ALL_CPUS */
	bool include_idle;
	bool annotations;
};

static const struct profile_settings defaults = {
	.trace = TRACE_OPTIONS_DEFAULTS,
	.sink = SINK_OPTIONS_DEFAULTS,
	.event = SAMPLER_CPU_CLOCK,
	.cpu = SAMPLER_ALL_CPUS,
};

#define FREQUENCY_DEFAULT 49 /* not in step with what runs 50 or 100 times a second */
#define FREQUENCY_MAX	  (NANOSECONDS / SAMPLER_CLOCK_PERIOD_MIN)

static const char *const event_names[] = {
	[SAMPLER_CPU_CLOCK] = "cpu-clock", [SAMPLER_CYCLES] = "cycles", NULL};

#define OFFSET(field) offsetof(struct profile_settings, field)
/* clang-format off */
static const struct option_spec options[] = {
	SINK_OPTION_ROWS(struct profile_settings),
	TRACE_OPTION_ROWS(struct profile_settings, DELIMITED_HELP, VERBOSE_HELP),
	{.letter = 'L', .name = "tid", .value = "TID[,TID...]", .type = OPTION_PIDS,
	 .group = GROUP_TRACED, .offset = OFFSET(trace.tids),
	 .help = "only these threads; the trace ends when all of them have ended"},
	{.letter = 'F', .name = "frequency", .value = "FREQUENCY", .type = OPTION_NUMBER,
	 .group = GROUP_TRACED, .offset = OFFSET(frequency), .min = 1, .max = FREQUENCY_MAX,
	 .help = "samples per second and CPU (default 49)"},
	{.letter = 'c', .name = "count", .value = "COUNT", .type = OPTION_NUMBER,
	 .group = GROUP_TRACED, .offset = OFFSET(count), .min = 1, .max = INT64_MAX,
	 .help = "sample every COUNT events instead: of cpu-clock these are nanoseconds"},
	{.name = "event", .value = "EVENT", .type = OPTION_CHOICE,
	 .group = GROUP_TRACED, .offset = OFFSET(event), .choices = event_names,
	 .help = "what is counted: cpu-clock (default), or cycles where the CPU counts them"},
	{.letter = 'C', .name = "cpu", .value = "CPU", .type = OPTION_NUMBER,
	 .group = GROUP_TRACED, .offset = OFFSET(cpu), .min = 0, .max = UINT16_MAX,
	 .help = "only this CPU"},
	INTERVAL_OPTION_ROW(struct profile_settings),
	{.letter = 'I', .name = "include-idle", .type = OPTION_FLAG,
	 .group = GROUP_TRACED, .offset = OFFSET(include_idle),
	 .help = "include the stacks of idle CPUs (PID 0)"},
	{.letter = 'a', .name = "annotations", .type = OPTION_FLAG,
	 .group = GROUP_SHOWN, .offset = OFFSET(annotations),
	 .help = "put _[k] behind the names of kernel functions"},
	TABLE_OPTION_ROWS(struct profile_settings),
	{.value = "duration", .type = OPTION_SECONDS,
	 .offset = OFFSET(trace.duration), .bare_offset = OFFSET(trace.bare_duration),
	 .help = "how long to sample, in seconds (default: until Ctrl-C)"},
	{0},
};
/* clang-format on */

static int check(const void *settings, struct error *error)
{
	const struct profile_settings *profile = settings;

	if (profile->frequency && profile->count)
		return error__set(error, -EINVAL,
				  "-F and -c exclude each other: a sample is taken by time or by "
				  "count");
	if (profile->count && profile->event == SAMPLER_CPU_CLOCK &&
	    profile->count < SAMPLER_CLOCK_PERIOD_MIN)
		return error__set(error, -EINVAL,
				  "-c %" PRIu64
				  ": of cpu-clock these are nanoseconds, and the kernel "
				  "samples every %d at most",
				  profile->count, SAMPLER_CLOCK_PERIOD_MIN);
	if (trace_options__check(&profile->trace, "leave both out", error) ||
	    trace_options__check_duration(&profile->trace, error))
		return -EINVAL;
	return sink_options__check(&profile->sink, &profile->trace, error);
}

static struct sampler_settings sampler_settings(const struct profile_settings *settings)
{
	struct sampler_settings sampler = {
		.event = (enum sampler_event)settings->event,
		.frequency = settings->frequency,
		.period = settings->count,
		.cpu = settings->cpu,
	};

	if (!sampler.frequency && !sampler.period)
		sampler.frequency = FREQUENCY_DEFAULT;
	return sampler;
}

/* What a sample stands for: time, or cycles. */
static const char *const cost_names[] = {[SAMPLER_CPU_CLOCK] = "cpu", [SAMPLER_CYCLES] = "cycles"};
static const char *const cost_units[] = {
	[SAMPLER_CPU_CLOCK] = "nanoseconds", [SAMPLER_CYCLES] = "count"};

/* How much of it; 0: that varies, since the kernel adapts the cycles to a frequency. */
static uint64_t cost_of(const struct sampler_settings *sampler)
{
	if (sampler->period)
		return sampler->period;
	return sampler->event == SAMPLER_CPU_CLOCK ? NANOSECONDS / sampler->frequency : 0;
}

static void print_header(FILE *out, const struct counting *counting)
{
	const struct profile_settings *settings = counting->settings;
	const struct sampler_settings sampler = sampler_settings(settings);
	const struct trace_options *trace = &settings->trace;
	static const struct id_style style = {"PID [", "TID [", ", ", "]"};

	if (sampler.frequency)
		fprintf(out, "Sampling at %" PRIu64 " Hertz of ", sampler.frequency);
	else
		fprintf(out, "Sampling at every %" PRIu64 " events of ", sampler.period);
	trace_options__print_whose(trace, "all threads", &style, out);
	if (settings->cpu != SAMPLER_ALL_CPUS)
		fprintf(out, " on CPU#%" PRIu64, settings->cpu);
	trace_options__print_duration(trace, out);
}

static void print_process(FILE *out, const char *comm, const char *id)
{
	fprintf(out, "    %-16s %s (%s)", "-", comm, id);
}

static const struct stack_layout layout = {
	.frame_indent = "    ",
	.count_indent = "        ",
	.print_process = print_process,
};

static int run(const void *argument, struct error *error)
{
	const struct profile_settings *settings = argument;
	const struct sampler_settings wanted = sampler_settings(settings);
	CLEANUP(counting__release)
	struct counting counting = {
		.tracing.program = &counting_program,
		.tracing.options = &settings->trace,
		.tracing.leaves_stdout = !sink_options__have_stdout(&settings->sink),
		.tracing.keeps_stdout = settings->sink.paths.nr > 0,
		.sink = &settings->sink,
		.settings = settings,
		.print_header = print_header,
		.shown.layout = &layout,
		.shown.unit = "samples",
		.shown.cost = cost_of(&wanted) ? cost_names[wanted.event] : NULL,
		.shown.cost_unit = cost_units[wanted.event],
		.shown.cost_each = cost_of(&wanted),
		.shown.comms = true,
		.shown.processes = true,
		.shown.style.annotations = settings->annotations,
	};
	CLEANUP(sampler__close) struct sampler sampler = {0};
	struct tracing *tracing = &counting.tracing;
	int err = tracing__open(tracing, error);

	if (err)
		return err;
	counting.sampler = &sampler;
	tracing->config->skip_idle = !settings->include_idle;
	tracing__use(tracing, "profile_sample");
	err = counting__load(&counting, error);
	if (!err)
		err = sampler__open(&sampler, &wanted, tracing->session,
				    tracing__program_fd(tracing, "profile_sample"), error);
	if (!err)
		err = counting__start(&counting, error);
	if (!err)
		err = counting__run(&counting, error);
	return err ? err : tracing__status(tracing);
}

const struct applet applet_profile = {
	.command =
		{
			.name = "profile",
			.summary =
				"Sample the stacks of all CPUs at a timed interval and count them.",
			.options = options,
			.run_offset = OFFSET(trace.command),
			.examples =
				"    profile             # profile all threads at 49 Hertz until Ctrl-C\n"
				"    profile -F 99       # profile at 99 Hertz\n"
				"    profile -c 1000000  # a sample every millisecond of a CPU's time\n"
				"    profile 5           # profile for 5 seconds only\n"
				"    profile -o p.svg 5  # a flame graph; p.html: with a table\n"
				"    profile -f 5        # folded output: a line for each stack\n"
				"    profile -- make     # run make, and profile it with all that it starts\n"
				"    profile -o p.svg -- make    # a flame graph of that\n"
				"    profile -p 185      # only the process with PID 185\n"
				"    profile -L 186      # only the thread with TID 186\n"
				"    profile -C 7 2      # only CPU 7, for 2 seconds\n"
				"    profile --cgroup /sys/fs/cgroup/system.slice   # only what runs there\n"
				"    profile --cgroupmap /sys/fs/bpf/groups         # only cgroups in this map\n"
				"    profile -U          # only user stacks\n"
				"    profile -K          # only kernel stacks\n"
				"    profile --shares 5  # how large a part each stack is\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
