// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/naming.h"

#include <errno.h>
#include <stdlib.h>

#include "core/kernel_names.h"
#include "core/trace_options.h"
#include "core/util/error.h"
#include "sym/sym.h"

struct naming {
	struct kernel_namer *namer; /* NULL: names come from kallsyms */
	struct symbolizer *symbolizer;
};

int naming__new(struct naming **out, const struct trace_options *options, struct error *error)
{
	struct naming *naming = calloc(1, sizeof(*naming));
	const struct pid_list *pids = &options->pids;

	if (!naming)
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	/* Where the kernel cannot run it the symbolizer reads kallsyms. */
	if (!options->user_stacks_only && kernel_namer__new(&naming->namer))
		naming->namer = NULL;
	if (symbolizer__new(&naming->symbolizer, naming->namer ? kernel_namer__print : NULL,
			    naming->namer)) {
		naming__free(naming);
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	}
	/* A process that cannot be read now is read, or not, when the trace has ended. */
	for (size_t i = 0; i < pids->nr && !options->kernel_stacks_only; i++)
		(void)symbolizer__remember(naming->symbolizer, pids->pids[i]);
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
