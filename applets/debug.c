// SPDX-License-Identifier: GPL-2.0-or-later
#include "applets/debug.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "core/unwind/thread_walk.h"
#include "sym/util/error.h"
#include "sym/util/number.h"

int debug__run(int argc, char **argv, FILE *out, struct error *error)
{
	uint64_t tid;

	if (argc != 3 || strcmp(argv[1], "walk"))
		return error__set(error, -EINVAL, "debug: needs 'walk PID'");
	if (number__parse(argv[2], 1, INT_MAX, &tid))
		return error__set(error, -EINVAL, "debug walk: '%.80s' is not a PID", argv[2]);
	return thread_walk__print((pid_t)tid, out, error);
}
