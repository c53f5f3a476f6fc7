/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns for names: globs, or POSIX extended regular expressions.
 *
 * Names can come from anyone's files, and are matched by the ten thousand, so no
 * name may cost more than its length warrants:
 * - a glob takes at most (length of the name) * (length of the pattern) steps;
 * - an expression is searched for in one pass over the name. libc remembers states
 *   from name to name, at worst a new one for each byte; we have it forget them
 *   every so many bytes, which bounds what hostile names can make it hold.
 *   Only back references would take exponential time: they are refused.
 * Longer names than PATTERN_NAME_MAX match nothing. The cost to compile an expression is not
 * bounded: whoever types (a{99}){99} pays for it.
 */
#ifndef TRACEKIT_CORE_PROBE_PATTERN_H
#define TRACEKIT_CORE_PROBE_PATTERN_H

#include <stdbool.h>

struct error;
struct pattern;

#define PATTERN_NAME_MAX 4096

/*
 * A glob (core/options/glob.h) matches whole names, and the name that is its text: those of Go and
 * Rust can have brackets, "main.Map[go.shape.int_0]".
 * A regex is matched anywhere in the name, unless anchored.
 * Returns 0, or -EINVAL (no regular expression, or text is longer than PATTERN_NAME_MAX)
 * or -ENOMEM with error filled.
 */
int pattern__new(struct pattern **out, const char *text, bool regex, struct error *error);
void pattern__free(struct pattern *pattern);
void pattern__freep(struct pattern **pattern);

/* A pattern is used by one thread at a time. */
bool pattern__matches(const struct pattern *pattern, const char *name);

/* True for a glob that matches only the name that is its text. */
bool pattern__is_literal(const struct pattern *pattern);

/*
 * True if it has a '(' to compare with, as in "shop::sell(int)". Functions of C++ then are compared
 * with their parameters as well; else "*int*" would mean all that have a parameter of that type.
 */
bool pattern__has_parameters(const struct pattern *pattern);

/* The text as given to pattern__new(). */
const char *pattern__text(const struct pattern *pattern);

#endif
