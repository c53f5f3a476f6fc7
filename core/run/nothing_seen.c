// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run/nothing_seen.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/options/trace_options.h"
#include "core/run/threads_now.h"
#include "core/run/tracing.h"
#include "core/trace/accounting.h"
#include "core/trace/waits.h"
#include "sym/util/message.h"

/* More IDs are not repeated. */
#define IDS_MAX 8

/* Whom a trace is limited to, in words and as options of the next command. */
struct subject {
	char words[128];  /* "process 42", "threads 42,43", "make"; "": nobody in particular */
	char option[128]; /* "-p 42", "-- COMMAND" */
	char stacks[64];  /* where the kernel shows where they wait */
};

static void write_ids(const struct pid_list *ids, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ids->nr && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%d", i ? "," : "",
					 ids->pids[i]);
}

/* letter: of the option for threads of the next command; what that has for processes is -p. */
static struct subject subject_of(const struct trace_options *options, char threads_letter)
{
	const struct pid_list *ids = trace_options__ids(options);
	bool threads = options->tids.nr > 0;
	struct subject subject = {.words = ""};
	char list[96] = "...";

	if (options->command) {
		snprintf(subject.words, sizeof(subject.words), "%.100s", options->command[0]);
		strcpy(subject.option, "-- COMMAND");
	}
	if (!ids->nr)
		return subject;
	if (threads)
		strcpy(subject.stacks, "/proc/TID/stack");
	else
		strcpy(subject.stacks, "/proc/PID/task/*/stack");
	if (ids->nr == 1)
		snprintf(subject.stacks, sizeof(subject.stacks), "/proc/%d/%sstack", ids->pids[0],
			 threads ? "" : "task/*/");
	if (ids->nr <= IDS_MAX)
		write_ids(ids, list, sizeof(list));
	snprintf(subject.words, sizeof(subject.words), "%s%s %s", threads ? "thread" : "process",
		 ids->nr == 1 ? "" :
		 threads      ? "s" :
				"es",
		 list);
	snprintf(subject.option, sizeof(subject.option), "-%c %s", threads ? threads_letter : 'p',
		 list);
	return subject;
}

static bool is_nothing(const struct tracing *tracing, const struct accounting *accounting)
{
	return !tracing->options->quiet && !accounting->events.n[EVENTS_COUNTED] &&
	       !accounting__lost(accounting);
}

/* Options choose by more than processes and threads. */
static bool has_other_filters(const struct trace_options *options)
{
	return options->comm || options->cgroup || options->container || options->cgroupmap ||
	       options->mntnsmap;
}

/* What is known of threads that wait or compute after a trace of samples, and of waits. */
static const struct doing_words in_samples[NR_THREAD_DOINGS] = {
	[THREAD_WAITS] = {"waits", "wait"},
	[THREAD_RUNS] = {"runs, or is ready to", "run, or are ready to"},
	[THREAD_IS_STOPPED] = {"is stopped by a signal", "are stopped by a signal"},
	[THREAD_IS_TRACED] = {"is stopped by a debugger", "are stopped by a debugger"},
	[THREAD_HAS_ENDED] = {"has ended (a zombie)", "have ended (zombies)"},
};

static const struct doing_words in_waits[NR_THREAD_DOINGS] = {
	[THREAD_WAITS] = {"has waited since before the trace",
			  "have waited since before the trace"},
	[THREAD_RUNS] = {"computes", "compute"},
	[THREAD_IS_STOPPED] = {"is stopped by a signal", "are stopped by a signal"},
	[THREAD_IS_TRACED] = {"is stopped by a debugger", "are stopped by a debugger"},
	[THREAD_HAS_ENDED] = {"has ended (a zombie)", "have ended (zombies)"},
};

static void look(const struct tracing *tracing, struct threads_now *now)
{
	const struct trace_options *options = tracing->options;

	threads_now__look(now, trace_options__ids(options), options->tids.nr > 0);
}

/* Waits that end, or begin, can be traced; those that last can only be looked at. */
static void say_no_sample(const struct tracing *tracing, const struct subject *who)
{
	struct threads_now now;
	char does[512];

	look(tracing, &now);
	threads_now__write(&now, in_samples, does, sizeof(does));
	if (!does[0])
		message("no sample: %s used no CPU, or hardly any, and has ended", who->words);
	else if (now.nr[THREAD_WAITS])
		message("no sample: %s used no CPU, or hardly any: %s; where in the kernel: cat "
			"%s; waits that begin during a trace: tracekit offcputime --pending %s",
			who->words, does, who->stacks, who->option);
	else
		message("no sample: %s used no CPU, or hardly any: %s", who->words, does);
}

static void say_no_wait(const struct tracing *tracing, const struct subject *who)
{
	struct threads_now now;
	char does[512], what[192] = "", where[128] = "";

	look(tracing, &now);
	threads_now__write(&now, in_waits, does, sizeof(does));
	if (now.nr[THREAD_RUNS])
		snprintf(what, sizeof(what), "; what: tracekit profile %s", who->option);
	if (now.nr[THREAD_WAITS])
		snprintf(where, sizeof(where), "; where in the kernel: cat %s", who->stacks);
	if (does[0])
		message("no wait: %s: %s%s%s", who->words, does, what, where);
	else
		message("no wait: %s has ended; until then it computed, or had waited since "
			"before the trace",
			who->words);
}

void nothing_seen__samples(const struct tracing *tracing, const struct accounting *accounting)
{
	struct subject who = subject_of(tracing->options, 't');

	bool none_taken = !accounting->events.n[EVENTS_SEEN];

	/* Who stops it at once knows why. */
	if (!is_nothing(tracing, accounting) || (none_taken && session__stopping(tracing->session)))
		return;
	if (none_taken)
		message("no sample: the trace was too short for one, or no CPU was busy");
	else if (!who.words[0] || has_other_filters(tracing->options))
		message("no sample: the CPUs were idle (-I shows that), or busy with what the "
			"options leave out");
	else if (tracing->options->command)
		message("no sample: %s used no CPU, or hardly any; where it waits: tracekit "
			"offcputime --pending %s",
			who.words, who.option);
	else
		say_no_sample(tracing, &who);
}

void nothing_seen__waits(const struct tracing *tracing, const struct waits *waits,
			 const struct accounting *accounting)
{
	struct subject who = subject_of(tracing->options, 'L');

	if (!is_nothing(tracing, accounting))
		return;
	if (!who.words[0] || has_other_filters(tracing->options) || waits__are_limited(waits))
		message("no wait: none that has ended was as the options want it");
	else if (tracing->options->command)
		message("no wait: %s never left its CPU; what it does there: tracekit profile %s",
			who.words, who.option);
	else
		say_no_wait(tracing, &who);
}

void nothing_seen__events(const struct tracing *tracing, const struct accounting *accounting)
{
	struct subject who = subject_of(tracing->options, 'L');
	uint64_t filtered = accounting__filtered(accounting);
	const char *pattern = tracing->probe->pattern;
	size_t places = tracing__attached(tracing);
	const char *plural = places == 1 ? "" : "s";

	/* 0: it was stopped before it had begun. */
	if (!is_nothing(tracing, accounting) || !places)
		return;
	if (filtered)
		message("no event: '%.200s' is attached at %zu place%s, and was reached %" PRIu64
			" times, but only by what the options leave out",
			pattern, places, plural, filtered);
	else if (who.words[0])
		message("no event: '%.200s' is attached at %zu place%s, but %s did not come "
			"there; who does: tracekit stackcount%s '%.200s'",
			pattern, places, plural, who.words, tracing->probe->regexp ? " -r" : "",
			pattern);
	else
		message("no event: '%.200s' is attached at %zu place%s, but nobody came there; "
			"what it matches: -l",
			pattern, places, plural);
}
