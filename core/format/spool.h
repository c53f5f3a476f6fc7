/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder of reports that must not grow without end: --spool-max. */
#ifndef TRACEKIT_CORE_FORMAT_SPOOL_H
#define TRACEKIT_CORE_FORMAT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

struct error;

/*
 * Remove the oldest reports, until what is left has max bytes at most; the youngest stays. Reports
 * are the caller's own files whose names a pattern can have made (core/format/report_name.h), also
 * those of earlier traces. Returns how many were removed, or a negative errno with error filled.
 */
int spool__limit(const char *pattern, uint64_t max, struct error *error);

#endif
