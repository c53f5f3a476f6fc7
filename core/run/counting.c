// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run/counting.h"

#include <errno.h>

#include "core/options/trace_options.h"
#include "core/trace/accounting.h"
#include "core/trace/sampler.h"
#include "core/trace/schedule.h"
#include "sym/sym.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"

int counting__load(struct counting *counting, struct error *error)
{
	struct tracing *tracing = &counting->tracing;
	int err = tracing__load(tracing, error);

	if (!err && !counting->sampler)
		err = epochs__open(&counting->epochs, session__maps(tracing->session), error);
	if (!err)
		report__watch_processes(tracing->naming);
	return err;
}

void counting__release(struct counting *counting)
{
	epochs__close(&counting->epochs);
	tracing__release(&counting->tracing);
}

/* End an epoch, and read what came of it. A sampler ends with its only one. */
static int read_report(struct counting *counting, struct report *report, uint32_t *epoch,
		       struct error *error)
{
	const struct tracing *tracing = &counting->tracing;
	uint64_t number; /* of events */
	bool known = counting->sampler && sampler__stop(counting->sampler, &number);
	int err = 0;

	*epoch = 0;
	if (!counting->sampler)
		err = epochs__turn(&counting->epochs, epoch, error);
	if (!err)
		err = report__read(report, session__maps(tracing->session), *epoch, tracing->naming,
				   error);
	if (err)
		return err;
	if (known)
		accounting__set_expected(&report->accounting, number);
	if (!counting->sampler && attachment__take_missed(tracing->probes.attachment, &number))
		accounting__set_missed(&report->accounting, number);
	if (!counting->sampler && tracing->probes.spec.kind == PROBE_TRACEPOINT)
		report__hide_tracing(report);
	return 0;
}

static int print_report(const struct counting *counting, const struct report *report, bool first,
			struct error *error)
{
	const struct trace_options *options = counting->tracing.options;
	struct stack_writer writer = counting->writer;

	writer.out = stdout;
	writer.names = &report->names;
	writer.delimited =
		options->delimited && !options->kernel_stacks_only && !options->user_stacks_only;
	writer.style.folded = options->folded;
	writer.style.offsets = options->offsets;
	writer.style.verbose = options->verbose;
	if (!options->folded || !first)
		putchar('\n');
	if (counting->print_head)
		counting->print_head();
	stack_writer__print(&writer, &report->counts);
	return output__finish(stdout, error);
}

static int report_epoch(struct counting *counting, bool first, bool last, struct error *error)
{
	CLEANUP(report__release) struct report report = {0};
	const struct tracing *tracing = &counting->tracing;
	uint32_t epoch;
	int err = read_report(counting, &report, &epoch, error);

	if (!err)
		err = print_report(counting, &report, first, error);
	if (err)
		return err;
	report__say_what_is_missing(&report, tracing->session, &counting->said);
	symbolizer__forget_names(naming__symbolizer(tracing->naming));
	return last ? 0 : epochs__clear(&counting->epochs, epoch, error);
}

int counting__run(struct counting *counting, struct error *error)
{
	const struct tracing *tracing = &counting->tracing;
	const struct schedule schedule = {
		.start = monotonic_now(),
		.interval = tracing->options->interval,
		.duration = tracing->options->duration,
	};
	bool first = true, last = false;
	int err = output__finish(stdout, error);

	if (tracing->probe)
		probes__say_what_is_left_out(&tracing->probes, tracing->options->verbose);
	while (!last && !err) {
		enum session_end end = naming__wait(tracing->naming, tracing->session,
						    schedule__wait(&schedule, monotonic_now()));

		if (end == SESSION_OUTPUT_CLOSED)
			return output__failed(-EPIPE, error);
		last = end != SESSION_TIMEOUT || schedule__is_over(&schedule, monotonic_now());
		err = report_epoch(counting, first, last, error);
		first = false;
	}
	return err;
}
