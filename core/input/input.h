/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of stacks, whatever wrote them: folded lines, JSON, profiles of pprof, output of perf
 * script; each also compressed by gzip. What a file is, its content says.
 */
#ifndef TRACEKIT_CORE_INPUT_INPUT_H
#define TRACEKIT_CORE_INPUT_INPUT_H

#include "core/input/reading.h"

/*
 * Read all stacks of a file, which is closed. The caller has set the first part of reading; the
 * rest, as it is here, says what was read. Returns 0, -ENOMEM or the negative errno of reading.
 */
int input__read(struct reading *reading, int fd);

#endif
