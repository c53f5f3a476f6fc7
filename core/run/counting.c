// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run/counting.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "core/format/sink.h"
#include "core/format/spool.h"
#include "core/format/summary.h"
#include "core/kernel/kernel_time.h"
#include "core/options/trace_options.h"
#include "core/report/output.h"
#include "core/run/nothing_seen.h"
#include "core/trace/accounting.h"
#include "core/trace/sampler.h"
#include "core/trace/schedule.h"
#include "core/unwind/unwinding.h"
#include "counting.skel.h"
#include "sym/sym.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/message.h"
#include "sym/util/number.h"

TRACE_PROGRAM(counting);

static enum format_number format_of(const struct counting *counting, size_t output)
{
	return sink_options__format(counting->sink, counting->tracing.options, output);
}

/* Formats that tell containers; text does so if it is asked to. */
static bool tells_containers(const struct counting *counting, enum format_number format)
{
	return format == FORMAT_text ? counting->tracing.options->containers :
				       format == FORMAT_pprof || format == FORMAT_json;
}

/* Text shows them with -v. */
static bool shows_addresses(const struct counting *counting, enum format_number format)
{
	return format == FORMAT_text ? counting->tracing.options->verbose : format == FORMAT_json;
}

static bool tells_starts(const struct counting *counting, enum format_number format)
{
	return trace_options__tell_unnamed(counting->tracing.options, formats[format]->starts);
}

/* What is to be found out, for one of the outputs or more. */
static void wish(struct counting *counting)
{
	struct naming_wishes *wishes = &counting->tracing.wishes;
	bool containers = false;

	for (size_t i = 0; i < sink_options__nr(counting->sink); i++) {
		enum format_number format = format_of(counting, i);

		wishes->files |= formats[format]->files;
		wishes->symbols |= formats[format]->symbols;
		wishes->starts |= tells_starts(counting, format);
		wishes->addresses |= shows_addresses(counting, format);
		containers |= tells_containers(counting, format);
	}
	if (containers)
		counting->shown.containers = tracing__find_containers(&counting->tracing);
}

int counting__load(struct counting *counting, struct error *error)
{
	struct tracing *tracing = &counting->tracing;
	int err = 0;

	for (size_t i = 0; i < sink_options__nr(counting->sink) && !err; i++)
		err = sink__check_place(sink_options__path(counting->sink, i), error);
	wish(counting);
	tracing->config->key_by_thread = tracing->options->threads;
	if (!err)
		err = tracing__load(tracing, error);
	if (!err)
		err = epochs__open(&counting->epochs, session__maps(tracing->session), error);
	if (!err && counting->waits)
		counting->epochs.threads = waits__walked_before(counting->waits);
	return err;
}

int counting__start(struct counting *counting, struct error *error)
{
	if (counting->sampler)
		return sampler__start(counting->sampler, error);
	return counting->waits ? waits__attach(counting->waits, error) :
				 tracing__attach(&counting->tracing, error);
}

void counting__release(struct counting *counting)
{
	epochs__close(&counting->epochs);
	tracing__release(&counting->tracing);
}

/* Whether the kernel counted what it kept from us, and how much. */
static void note_missed(const struct counting *counting, struct accounting *accounting)
{
	uint64_t missed;

	if (counting->waits)
		accounting__set_missed(accounting, accounting->events.n[EVENTS_MISSED]);
	else if (attachment__take_missed(counting->tracing.probes.attachment, &missed))
		accounting__set_missed(accounting, missed);
}

/* No event counts in *epoch any more. */
static int end_epoch(struct counting *counting, bool last, uint32_t *epoch, struct error *error)
{
	/* It has stopped. */
	if (last && counting->sampler) {
		*epoch = counting->epochs.current;
		return 0;
	}
	return last && counting->waits ? epochs__end(&counting->epochs, epoch, error) :
					 epochs__turn(&counting->epochs, epoch, error);
}

/* How many samples were due; before the epoch ends: what comes in between is seen, and no loss. */
static bool find_expected(struct counting *counting, bool last, uint64_t *expected)
{
	if (last && counting->sampler)
		sampler__stop(counting->sampler);
	return counting->sampler && sampler__expected(counting->sampler, expected);
}

/* End an epoch, and read its report. */
static int read_report(struct counting *counting, bool last, struct report *report, uint32_t *epoch,
		       struct error *error)
{
	const struct tracing *tracing = &counting->tracing;
	uint64_t expected, end = kernel_time__now();
	bool known = find_expected(counting, last, &expected);
	int err = end_epoch(counting, last, epoch, error);

	if (!err && last && counting->waits)
		err = waits__end(counting->waits, session__maps(tracing->session), end,
				 &counting->pending, error);
	unwinding__settle(session__unwinding(tracing->session));
	if (!err)
		err = report__read(report, session__maps(tracing->session), *epoch, tracing->naming,
				   error);
	if (err)
		return err;
	event_counters__add(&report->accounting.events, &counting->pending.events);
	if (known)
		accounting__set_expected(&report->accounting, expected, &counting->past);
	if (!counting->sampler)
		note_missed(counting, &report->accounting);
	if (counting->waits ||
	    (!counting->sampler && tracing->probes.spec.kind == PROBE_TRACEPOINT))
		report__hide_tracing(report);
	return 0;
}

bool counting__talks(const struct counting *counting)
{
	for (size_t i = 0; i < sink_options__nr(counting->sink); i++)
		if (sink__is_stdout(sink_options__path(counting->sink, i)))
			return format_of(counting, i) == FORMAT_text;
	return false;
}

/* Text has more than stacks, and an empty line is between reports that are all in stdout. */
static void print_above(const struct counting *counting, enum format_number format, FILE *out)
{
	bool text = format == FORMAT_text;

	if (text && out != stdout)
		counting->print_header(out, counting);
	if (text || (out == stdout && counting->reports > 1))
		fputc('\n', out);
	if (text && counting->print_head)
		counting->print_head(out, counting);
}

static void limit_spool(struct counting *counting, const char *path)
{
	struct unkept_reports *unkept = &counting->unkept;
	struct error error;
	int removed = spool__limit(path, counting->sink->spool_max, &error);

	if (removed >= 0)
		unkept->removed += (uint64_t)removed;
	else if (!unkept->stuck)
		message("%s", error.text);
	unkept->stuck |= removed < 0;
}

/* What a file has got. */
static void say_written(const struct sink *sink, const struct shown_stacks *shown)
{
	char text[512];

	if (sink->out == stdout)
		return;
	shown_stacks__describe(shown, text, sizeof(text));
	message("%.400s: %s", sink->path, text);
}

/* Returns as sink__finish(). */
static int write_output(struct counting *counting, size_t output, struct shown_stacks shown,
			struct error *error)
{
	CLEANUP(sink__release) struct sink sink = {0};
	const char *path = sink_options__path(counting->sink, output);
	enum format_number format = format_of(counting, output);
	int err = sink__open_report(&sink, path, counting->reports, shown.now, error);

	if (err)
		return err;
	if (!tells_containers(counting, format))
		shown.containers = NULL;
	shown.style.unnamed_alike = !tells_starts(counting, format);
	print_above(counting, format, sink.out);
	if (formats[format]->write(sink.out, &shown))
		return error__set(error, -ENOMEM, "cannot write the output: out of memory");
	err = sink__finish(&sink, error);
	if (!err && counting->sink->spool_max && !sink__is_stdout(path))
		limit_spool(counting, path);
	if (!err && !counting->tracing.options->quiet)
		say_written(&sink, &shown);
	return err;
}

/*
 * At intervals a file that cannot be written is no reason to end: a full disk, or a folder that has
 * gone, can be mended. Its events are counted as not written. Returns 0 if the trace goes on.
 */
static int go_on_without(struct counting *counting, const char *path, const struct report *report,
			 int err, struct error *error)
{
	struct unkept_reports *unkept = &counting->unkept;

	if (!counting->tracing.options->interval || sink__is_stdout(path) || err == -ENOMEM)
		return err;
	if (unkept->last != err)
		message("%s; the trace goes on", error->text);
	unkept->last = err;
	unkept->nr++;
	unkept->events += report->accounting.events.n[EVENTS_COUNTED];
	/* Older reports than we want can be what fills the disk. */
	if (counting->sink->spool_max)
		limit_spool(counting, path);
	return 0;
}

static int print_report(struct counting *counting, const struct report *report, uint64_t end,
			struct error *error)
{
	const struct trace_options *options = counting->tracing.options;
	struct shown_stacks shown = counting->shown;
	int err = 0;

	counting->reports++;
	shown.samples = counting->sampler != NULL;
	shown.counts = &report->counts;
	shown.names = &report->names;
	shown.merged = counting->sink->merge;
	shown.labels = (enum text_labels)counting->sink->labels;
	shown.max_samples = counting->sink->max_samples;
	shown.threads |= options->threads;
	shown.thread_ids = options->threads;
	shown.shares = options->shares;
	shown.delimited =
		options->delimited && !options->kernel_stacks_only && !options->user_stacks_only;
	shown.style.offsets = options->offsets;
	shown.style.verbose = options->verbose;
	shown.accounting = &report->accounting;
	shown.nanoseconds = end - counting->since;
	shown.now = time(NULL);
	for (size_t i = 0; i < sink_options__nr(counting->sink) && !err; i++) {
		err = write_output(counting, i, shown, error);
		if (err)
			err = go_on_without(counting, sink_options__path(counting->sink, i), report,
					    err, error);
	}
	return err;
}

/* Returns 0, or -EIO with error filled: what the trace was for is missing. */
static int say_unkept(const struct counting *counting, struct error *error)
{
	const struct unkept_reports *unkept = &counting->unkept;

	if (unkept->removed)
		message("%" PRIu64 " of the oldest reports were removed: --spool-max",
			unkept->removed);
	if (!unkept->nr)
		return 0;
	return error__set(error, -EIO,
			  "%" PRIu64 " reports could not be written: %" PRIu64 " %s are in none",
			  unkept->nr, unkept->events, counting->shown.unit);
}

static void say_what_lasts(const struct counting *counting)
{
	const struct pending_waits *pending = &counting->pending;

	if (pending->nr && !counting->waits->pending)
		message("%" PRIu64
			" thread%s still waited when the trace ended, for %.3f s together, "
			"which is not shown; see --pending",
			pending->nr, pending->nr == 1 ? "" : "s",
			(double)pending->time / NANOSECONDS);
}

static int report_epoch(struct counting *counting, bool last, struct error *error)
{
	CLEANUP(report__release) struct report report = {0};
	const struct tracing *tracing = &counting->tracing;
	uint64_t end = monotonic_now();
	uint32_t epoch;
	int err = read_report(counting, last, &report, &epoch, error);

	if (!err)
		err = print_report(counting, &report, end, error);
	if (err)
		return err;
	say_what_lasts(counting);
	report__say_what_is_missing(&report, tracing->session, &counting->said);
	if (counting->sampler && !tracing->options->quiet)
		report__say_scripts(&report, &counting->said);
	event_counters__add(&counting->all.events, &report.accounting.events);
	symbolizer__forget_names(naming__symbolizer(tracing->naming));
	unwinding__make_room_for_bases(session__unwinding(tracing->session));
	counting->since = end;
	if (counting->sampler && !last)
		sampler__note_end(counting->sampler, session__maps(tracing->session), epoch);
	return last ? 0 : epochs__clear(&counting->epochs, epoch, error);
}

/* A status that cannot be read is not shown: the report will say why. */
static void draw_status(struct counting *counting, uint64_t now)
{
	struct accounting accounting = {0};
	struct error ignored;

	if (!accounting__read(&accounting, session__maps(counting->tracing.session),
			      counting->epochs.current, &ignored))
		status__draw(&counting->status, now, &accounting);
}

/* The nearer one of two times to wait; 0 is for ever. */
static uint64_t nearer(uint64_t a, uint64_t b)
{
	return a && (!b || a < b) ? a : b;
}

/* Until the time of a report, or the end of the trace. */
static enum session_end wait_for_report(struct counting *counting, const struct schedule *schedule)
{
	const struct tracing *tracing = &counting->tracing;
	uint64_t every = counting->sampler ? sampler__look_every(counting->sampler) : 0;
	uint64_t now = monotonic_now(), planned = schedule__wait(schedule, now);
	uint64_t report = now + planned, look = now + every;

	for (;;) {
		uint64_t left = planned ? (now < report ? report - now : 1) : 0;
		uint64_t draw = status__wait(&counting->status, now);
		uint64_t until_look = every ? (now < look ? look - now : 1) : 0;
		uint64_t wait = nearer(left, nearer(draw, until_look));
		enum session_end end = session__wait(tracing->session, wait);

		if (end != SESSION_TIMEOUT || (left && wait == left))
			return end;
		now = monotonic_now();
		if (draw && wait == draw)
			draw_status(counting, now);
		if (every && now >= look) {
			sampler__look(counting->sampler, session__maps(tracing->session),
				      counting->epochs.current);
			look = now + every;
		}
	}
}

static void say_if_nothing_was_seen(const struct counting *counting)
{
	const struct tracing *tracing = &counting->tracing;

	if (tracing->probe)
		probes__say_what_was_not_watched(&tracing->probes);
	if (counting->sampler)
		nothing_seen__samples(tracing, &counting->all);
	else if (!counting->waits)
		nothing_seen__events(tracing, &counting->all);
	else if (!counting->pending.nr) /* which has been said */
		nothing_seen__waits(tracing, counting->waits, &counting->all);
}

int counting__run(struct counting *counting, struct error *error)
{
	const struct tracing *tracing = &counting->tracing;
	const struct schedule schedule = {
		.start = monotonic_now(),
		.interval = tracing->options->interval,
		.duration = tracing->options->duration,
	};
	bool last = false;
	int err = 0;

	counting->since = schedule.start;
	if (counting__talks(counting)) {
		counting->print_header(stdout, counting);
		err = output__finish(stdout, error);
	}
	if (tracing->probe)
		probes__say_what_is_left_out(&tracing->probes, tracing->options->verbose);
	/* Where a command is run the terminal is its own. */
	status__begin(&counting->status, !tracing->options->quiet && !tracing->options->command,
		      schedule.start, schedule.duration, counting->shown.unit);
	if (!err)
		err = tracing__let_go(&counting->tracing, error);
	while (!last && !err) {
		enum session_end end = wait_for_report(counting, &schedule);

		status__clear(&counting->status);
		if (end == SESSION_OUTPUT_CLOSED)
			return output__failed(-EPIPE, error);
		last = end != SESSION_TIMEOUT || schedule__is_over(&schedule, monotonic_now());
		err = report_epoch(counting, last, error);
	}
	if (!err)
		say_if_nothing_was_seen(counting);
	return err ? err : say_unkept(counting, error);
}
