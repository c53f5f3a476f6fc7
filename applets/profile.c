// SPDX-License-Identifier: GPL-2.0-or-later
/* profile: where the CPUs are, sampled at a timed interval and counted by stack. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "applets/applet.h"
#include "bpf/abi.h"
#include "core/accounting.h"
#include "core/bpf_error.h"
#include "core/naming.h"
#include "core/output.h"
#include "core/report.h"
#include "core/sampler.h"
#include "core/session.h"
#include "core/trace_options.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/number.h"
#include "profile.skel.h"

struct profile_settings {
	struct trace_options trace;
	uint64_t frequency; /* Hertz */
	uint64_t duration;  /* nanoseconds; 0: until a signal */
};

static const struct profile_settings defaults = {
	.trace = TRACE_OPTIONS_DEFAULTS,
	.frequency = 49, /* not in step with what runs 50 or 100 times a second */
};

/* The timer behind cpu-clock events does not fire more often than every 10 us. */
#define FREQUENCY_MAX 100000

static const struct option_spec options[] = {
	{.letter = 'F',
	 .name = "frequency",
	 .value = "FREQUENCY",
	 .type = OPTION_NUMBER,
	 .offset = offsetof(struct profile_settings, frequency),
	 .min = 1,
	 .max = FREQUENCY_MAX,
	 .help = "samples per second and CPU (default 49)"},
	TRACE_OPTION_ROWS(struct profile_settings),
	{.value = "duration",
	 .type = OPTION_SECONDS,
	 .offset = offsetof(struct profile_settings, duration),
	 .help = "how long to sample, in seconds (default: until Ctrl-C)"},
	{0},
};

static int check(const void *settings, struct error *error)
{
	const struct profile_settings *profile = settings;

	return trace_options__check(&profile->trace, "profile", error);
}

static void print_header(const struct profile_settings *settings)
{
	const struct trace_options *trace = &settings->trace;

	printf("Sampling at %" PRIu64 " Hertz of ", settings->frequency);
	if (trace->pids.nr == 0)
		printf("all threads");
	for (size_t i = 0; i < trace->pids.nr; i++)
		printf("%s%d", i == 0 ? "PID [" : ", ", trace->pids.pids[i]);
	printf("%s by %s stack", trace->pids.nr ? "]" : "",
	       trace->kernel_stacks_only ? "kernel" :
	       trace->user_stacks_only	 ? "user" :
					   "user + kernel");
	if (settings->duration)
		printf(" for %g secs.\n", (double)settings->duration / NANOSECONDS);
	else
		printf("... Hit Ctrl-C to end.\n");
}

static void print_process(FILE *out, const char *comm, uint32_t tgid)
{
	fprintf(out, "    %-16s %s (%" PRIu32 ")\n", "-", comm, tgid);
}

static const struct stack_layout layout = {
	.frame_indent = "    ",
	.count_indent = "        ",
	.print_process = print_process,
};

/* From start to stop. *expected: how many samples were due. */
static int sample(const struct profile_settings *settings, struct session *session,
		  struct sampler *sampler, uint64_t *expected, struct error *error)
{
	int err = sampler__start(sampler, error);

	if (err)
		return err;
	if (!settings->trace.folded)
		print_header(settings);
	err = output__flush(stdout);
	if (!err && session__wait(session, settings->duration) == SESSION_OUTPUT_CLOSED)
		err = -EPIPE;
	if (err)
		return output__failed(err, error);
	*expected = sampler__stop(sampler);
	return 0;
}

static int print_report(const struct profile_settings *settings, const struct report *report,
			struct error *error)
{
	const struct stack_writer writer = {
		.out = stdout,
		.layout = &layout,
		.names = &report->names,
		.folded = settings->trace.folded,
		.delimited = settings->trace.delimited,
		.offsets = settings->trace.offsets,
	};
	int err;

	if (!settings->trace.folded)
		putchar('\n');
	stack_writer__print(&writer, &report->counts);
	err = output__flush(stdout);
	if (err)
		return output__failed(err, error);
	report__say_what_is_missing(report, settings->trace.stats);
	return 0;
}

/* Everything that the kernel holds for a trace is in here, and goes with it. */
struct profile {
	struct session *session;
	struct profile_bpf *skeleton;
	struct naming *naming;
	struct sampler sampler;
	struct report report;
};

static void profile__release(struct profile *profile)
{
	report__release(&profile->report);
	sampler__close(&profile->sampler);
	naming__free(profile->naming);
	profile_bpf__destroy(profile->skeleton);
	session__close(profile->session);
}

static int load(struct profile *profile, const struct profile_settings *settings,
		struct error *error)
{
	struct trace_config *config;
	int err = session__open(&profile->session, &settings->trace, error);

	if (err)
		return err;
	profile->skeleton = profile_bpf__open();
	if (!profile->skeleton)
		return bpf_error__load(error, -errno);
	config = (struct trace_config *)&profile->skeleton->rodata->config;
	config->skip_idle = true;
	err = session__configure(profile->session, profile->skeleton->obj, config, error);
	if (!err)
		err = session__load(profile->session, profile->skeleton->obj, error);
	if (!err)
		err = naming__new(&profile->naming, &settings->trace, error);
	return err;
}

static int run(const void *argument, struct error *error)
{
	const struct profile_settings *settings = argument;
	CLEANUP(profile__release) struct profile profile = {0};
	uint64_t expected = 0;
	int err = output__check(stdout);

	if (err)
		return output__failed(err, error);
	err = load(&profile, settings, error);
	if (!err)
		err = sampler__open(&profile.sampler, profile.session,
				    bpf_program__fd(profile.skeleton->progs.profile_sample),
				    settings->frequency, error);
	if (!err)
		err = sample(settings, profile.session, &profile.sampler, &expected, error);
	if (!err)
		err = report__read(&profile.report, profile.skeleton->obj,
				   naming__symbolizer(profile.naming), error);
	if (err)
		return err;
	accounting__set_expected(&profile.report.accounting, expected);
	return print_report(settings, &profile.report, error);
}

const struct applet applet_profile = {
	.command =
		{
			.name = "profile",
			.summary =
				"Sample the stacks of all CPUs at a timed interval and count them.",
			.options = options,
			.examples =
				"    profile             # profile all threads at 49 Hertz until Ctrl-C\n"
				"    profile -F 99       # profile at 99 Hertz\n"
				"    profile 5           # profile for 5 seconds only\n"
				"    profile -f 5        # folded output, for flame graphs\n"
				"    profile -p 185      # only the process with PID 185\n"
				"    profile -U          # only user stacks\n"
				"    profile -K          # only kernel stacks\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
