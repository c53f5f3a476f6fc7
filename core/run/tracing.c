// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run/tracing.h"

#include <bpf/libbpf.h>
#include <errno.h>

#include "core/kernel/bpf_error.h"
#include "core/options/trace_options.h"
#include "core/report/output.h"

int tracing__list(const struct tracing *tracing, struct error *error)
{
	int err = probes__list(tracing->probe, &tracing->options->pids, stdout, error);

	return err ? err : output__finish(stdout, error);
}

int tracing__open(struct tracing *tracing, struct error *error)
{
	int err = tracing->leaves_stdout ? 0 : output__check(stdout);

	if (err)
		return output__failed(err, error);
	err = session__open(&tracing->session, tracing->options, error);
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
	return session__configure(tracing->session, tracing->object, tracing->config, error);
}

int tracing__load(struct tracing *tracing, struct error *error)
{
	int err = tracing->probe ? probes__load(&tracing->probes, tracing->probe, tracing->session,
						tracing->object, tracing->config, error) :
				   session__load(tracing->session, tracing->object, NULL, error);

	return err ? err :
		     naming__new(&tracing->naming, tracing->session, tracing->names_files, error);
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

void tracing__release(struct tracing *tracing)
{
	probes__release(&tracing->probes);
	naming__free(tracing->naming);
	if (tracing->skeleton)
		tracing->program->destroy(tracing->skeleton);
	session__close(tracing->session);
}
