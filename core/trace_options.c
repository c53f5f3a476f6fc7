// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace_options.h"

#include <errno.h>

#include "core/util/error.h"

const struct pid_list *trace_options__ids(const struct trace_options *options)
{
	return options->tids.nr ? &options->tids : &options->pids;
}

int trace_options__check(const struct trace_options *options, const char *program,
			 const char *for_all, struct error *error)
{
	if (options->kernel_stacks_only && options->user_stacks_only)
		return error__set(error, -EINVAL,
				  "-K and -U exclude each other: %s for all stacks; "
				  "see '%s --help'",
				  for_all, program);
	if (options->pids.nr && options->tids.nr)
		return error__set(error, -EINVAL,
				  "-p and -L exclude each other: a thread belongs to one process; "
				  "see '%s --help'",
				  program);
	return 0;
}
