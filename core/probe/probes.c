// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/probes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/options/near_names.h"
#include "core/options/pid_list.h"
#include "core/options/trace_options.h"
#include "core/probe/attach.h"
#include "core/probe/other_syntax.h"
#include "core/probe/semaphores.h"
#include "core/trace/session.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/limits.h"
#include "sym/util/message.h"
#include "sym/util/text.h"

int probe_options__check(const struct probe_options *options, const struct trace_options *trace,
			 struct error *error)
{
	CLEANUP(probespec__release) struct probespec spec = {0};

	if (options->list && trace->command)
		return error__set(error, -EINVAL, "-l runs no COMMAND");
	return probespec__parse(&spec, options->pattern, options->regexp, error);
}

/* Nothing matches the pattern: perhaps it is one of another tool. */
static void add_hint(const struct probe_options *options, const struct pid_list *pids,
		     struct error *error)
{
	size_t length = strlen(error->text);
	char hint[NEAR_NAMES_TEXT_SIZE];

	if (options->regexp)
		return;
	other_syntax__hint(options->pattern, pids, hint, sizeof(hint));
	snprintf(error->text + length, sizeof(error->text) - length, "%s", hint);
}

static int find(struct probes *probes, const struct probe_options *options,
		const struct pid_list *pids, struct error *error)
{
	int err = probespec__parse(&probes->spec, options->pattern, options->regexp, error);

	if (err)
		return err;
	err = target_list__find(&probes->targets, &probes->spec, pids, error);
	if (err == -ENOENT)
		add_hint(options, pids, error);
	return err;
}

int probes__find(struct probes *probes, const struct probe_options *options,
		 const struct pid_list *pids, bool children, struct error *error)
{
	/* The kernel attaches by process, and not to what that forks. */
	static const struct pid_list all;
	int err = find(probes, options, pids, error);

	return err ? err :
		     attachment__new(&probes->attachment, &probes->targets, children ? &all : pids,
				     error);
}

int probes__load(struct probes *probes, const struct probe_options *options,
		 struct session *session, struct bpf_object *object, struct trace_config *config,
		 struct error *error)
{
	int err = attachment__configure(probes->attachment, object, config, error);

	return err ? err : session__load(session, object, options->debug ? stderr : NULL, error);
}

int probes__list(const struct probe_options *options, const struct pid_list *pids, FILE *out,
		 struct error *error)
{
	CLEANUP(probes__release) struct probes probes = {0};
	int err = find(&probes, options, pids, error);

	if (!err)
		target_list__print(&probes.targets, out);
	return err;
}

void probes__release(struct probes *probes)
{
	attachment__free(probes->attachment);
	target_list__release(&probes->targets);
	probespec__release(&probes->spec);
}

static void say_failures(const struct probes *probes, bool verbose)
{
	const struct attach_failure *failures;
	size_t nr = attachment__failures(probes->attachment, &failures);

	if (!nr || !attachment__attached(probes->attachment))
		return;
	message("attached %zu of %zu functions; %zu cannot be probed%s",
		attachment__attached(probes->attachment), probes->targets.nr, nr,
		verbose ? ":" : " (-v lists them)");
	for (size_t i = 0; i < nr && verbose; i++) {
		char name[256];

		text__clean(failures[i].name, strlen(failures[i].name), false, name, sizeof(name));
		fprintf(stderr, "  %s: %s\n", name,
			attach_failure__reason(&probes->targets, failures[i].code));
	}
}

void probes__say_what_is_left_out(const struct probes *probes, bool verbose)
{
	const struct target_list *targets = &probes->targets;

	say_failures(probes, verbose);
	if (targets->kind == PROBE_TRACEPOINT && targets->tracepoints.events < 0)
		message("tracefs is closed to us: the tracepoint was taken by its name, whatever "
			"its category is");
	if (targets->without_place)
		message("%zu USDT probes are left out: what their notes say is in no place of the "
			"file",
			targets->without_place);
	if (targets->indirect)
		message("%zu of the functions %s indirect (IFUNC): what is seen is how an "
			"implementation is chosen, not each call; implementations have names of "
			"their own, like __strlen_avx2, if the file's debug symbols are installed",
			targets->indirect, targets->indirect == 1 ? "is" : "are");
}

void probes__say_what_was_not_watched(const struct probes *probes)
{
	struct semaphores_missed missed;
	char hint[LIMIT_HINT_SIZE];
	int err = attachment__end_semaphores(probes->attachment, &missed);

	if (!err)
		err = missed.err;
	if (err)
		message("semaphores of USDT probes could not be counted up in processes that began "
			"during the trace: %s; probes there were not seen%s",
			strerror(-err),
			err == -EACCES || err == -EPERM ? "; run as root, or with CAP_SYS_PTRACE" :
							  limit__hint(err, hint));
	if (missed.gone)
		message("%zu process%s ended before semaphores of USDT probes could be counted up "
			"there; probes in %s were not seen",
			missed.gone, missed.gone == 1 ? "" : "es",
			missed.gone == 1 ? "it" : "them");
	if (missed.lost)
		message("%" PRIu64 " mappings were not heard of: USDT probes with semaphores may "
			"not have been seen in processes that began during the trace",
			missed.lost);
}
