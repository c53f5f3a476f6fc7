/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kind a file is, by what stands at its beginning: its name says nothing. */
#ifndef TRACEKIT_CORE_INPUT_KIND_H
#define TRACEKIT_CORE_INPUT_KIND_H

#include <stdbool.h>
#include <stddef.h>

enum input_kind {
	INPUT_FOLDED, /* also all that is not recognised: its lines are told then */
	INPUT_JSON,
	INPUT_PPROF,
	INPUT_PERF_SCRIPT,
	INPUT_FOREIGN, /* it is known what it is, but it is not read */
};

/* So much of a file is enough to know it. */
#define INPUT_KIND_BYTES 4096

/*
 * whole: these bytes are all of the file. *foreign, of a file that is not read: what it is, and
 * what to do, as text behind its name.
 */
enum input_kind input_kind__recognise(const unsigned char *bytes, size_t size, bool whole,
				      const char **foreign);

#endif
