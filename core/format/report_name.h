/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the files that reports go to, from a pattern: %n is the number of the report, %t the
 * time at which it was made, %% a percent sign.
 */
#ifndef TRACEKIT_CORE_FORMAT_REPORT_NAME_H
#define TRACEKIT_CORE_FORMAT_REPORT_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* False if a '%' begins none of these. *has_number, *has_time: what is in it. */
bool report_name__check(const char *pattern, bool *has_number, bool *has_time);

/*
 * The name of report number (from 1) of that time, allocated; NULL: out of memory. A time can be
 * that of an earlier report: again, from 1 on, tells their names apart.
 */
char *report_name__make(const char *pattern, uint64_t number, time_t now, unsigned int again);

/* True if report_name__make() can have made the name. */
bool report_name__matches(const char *pattern, const char *name);

#endif
