// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run/tracing.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "core/kernel/bpf_error.h"
#include "core/options/trace_options.h"
#include "core/report/output.h"
#include "core/trace/maps.h"
#include "core/trace/room.h"
#include "core/unwind/unwinding.h"

int tracing__list(const struct tracing *tracing, struct error *error)
{
	int err = probes__list(tracing->probe, &tracing->options->pids, stdout, error);

	return err ? err : output__finish(stdout, error);
}

/* Its stdout is its own: what we say goes to stderr. */
static int hold_workload(struct tracing *tracing, struct error *error)
{
	const struct trace_options *options = tracing->options;
	int err = workload__hold(&tracing->workload, options->command, options->as_root, error);

	if (err || tracing->leaves_stdout || tracing->keeps_stdout)
		return err;
	return dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? output__failed(-errno, error) : 0;
}

int tracing__open(struct tracing *tracing, struct error *error)
{
	int err = tracing->options->command ? hold_workload(tracing, error) : 0;

	if (err)
		return err;
	err = tracing->leaves_stdout ? 0 : output__check(stdout);
	if (err)
		return output__failed(err, error);
	err = session__open(&tracing->session, tracing->options, error);
	if (!err && tracing->workload.pid)
		err = session__set_workload(tracing->session, tracing->workload.pid,
					    tracing->workload.path, error);
	if (!err && tracing->leaves_stdout)
		session__ignore_stdout(tracing->session);
	if (!err && tracing->probe)
		err = probes__find(&tracing->probes, tracing->probe, &tracing->options->pids,
				   tracing->options->children, error);
	if (err)
		return err;
	tracing->skeleton = tracing->program->open(&tracing->object, &tracing->config);
	if (!tracing->skeleton)
		return bpf_error__load(error, -errno);
	err = session__configure(tracing->session, tracing->object, tracing->config, error);
	if (!err)
		room__say(session__room(tracing->session), tracing->options,
			  session__maps(tracing->session)->counts != NULL);
	return err;
}

struct containers *tracing__find_containers(struct tracing *tracing)
{
	if (containers__read(&tracing->containers))
		return NULL;
	tracing->config->tell_cgroups = true;
	return &tracing->containers;
}

int tracing__load(struct tracing *tracing, struct error *error)
{
	int err;

	if (tracing->wishes.addresses)
		unwinding__tell_bases(session__unwinding(tracing->session), tracing->config);
	err = tracing->probe ? probes__load(&tracing->probes, tracing->probe, tracing->session,
					    tracing->object, tracing->config, error) :
			       session__load(tracing->session, tracing->object, NULL, error);
	return err ? err : naming__new(&tracing->naming, tracing->session, &tracing->wishes, error);
}

void tracing__use(struct tracing *tracing, const char *name)
{
	bpf_program__set_autoload(bpf_object__find_program_by_name(tracing->object, name), true);
}

int tracing__program_fd(const struct tracing *tracing, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(tracing->object, name));
}

int tracing__attach(struct tracing *tracing, struct error *error)
{
	return attachment__attach(tracing->probes.attachment, tracing->session, error);
}

size_t tracing__attached(const struct tracing *tracing)
{
	return attachment__attached(tracing->probes.attachment);
}

int tracing__let_go(struct tracing *tracing, struct error *error)
{
	int err;

	if (!tracing->workload.pid)
		return 0;
	session__await_tables(tracing->session);
	if (session__stopping(tracing->session))
		return 0;
	session__pass_signals(tracing->session);
	err = workload__let_go(&tracing->workload, error);
	if (!err)
		session__workload_runs(tracing->session);
	return err;
}

int tracing__status(struct tracing *tracing)
{
	/* Signals are passed on meanwhile. */
	workload__wait(&tracing->workload);
	if (tracing->session)
		session__workload_ended(tracing->session);
	return workload__end(&tracing->workload);
}

void tracing__release(struct tracing *tracing)
{
	tracing__status(tracing);
	probes__release(&tracing->probes);
	naming__free(tracing->naming);
	if (tracing->skeleton)
		tracing->program->destroy(tracing->skeleton);
	session__close(tracing->session);
	containers__release(&tracing->containers);
}
