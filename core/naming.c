// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/naming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/kernel_names.h"
#include "core/trace_options.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "sym/sym.h"

struct naming {
	struct kernel_namer *namer; /* NULL: names come from kallsyms */
	struct symbolizer *symbolizer;
};

/* The process that a thread belongs to; a process's own PID is that of its first thread. */
static pid_t process_of(pid_t tid)
{
	CLEANUP_FCLOSE FILE *file = NULL;
	char path[64], line[256];
	pid_t pid = tid;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	return pid;
}

int naming__new(struct naming **out, const struct trace_options *options, struct error *error)
{
	struct naming *naming;
	const struct pid_list *ids = trace_options__ids(options);
	int err = sym_settings__check(&options->names, error);

	if (err)
		return err;
	naming = calloc(1, sizeof(*naming));
	if (!naming)
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	/* Where the kernel cannot run it the symbolizer reads kallsyms. */
	if (!options->user_stacks_only && kernel_namer__new(&naming->namer))
		naming->namer = NULL;
	if (symbolizer__new(&naming->symbolizer, &options->names,
			    naming->namer ? kernel_namer__print : NULL, naming->namer)) {
		naming__free(naming);
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	}
	/* A process that cannot be read now is read, or not, when the trace has ended. */
	for (size_t i = 0; i < ids->nr && !options->kernel_stacks_only; i++)
		(void)symbolizer__remember(naming->symbolizer, process_of(ids->pids[i]));
	*out = naming;
	return 0;
}

void naming__free(struct naming *naming)
{
	if (!naming)
		return;
	symbolizer__free(naming->symbolizer);
	kernel_namer__free(naming->namer);
	free(naming);
}

struct symbolizer *naming__symbolizer(struct naming *naming)
{
	return naming->symbolizer;
}
