/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A probe, as typed:
 *
 *   FUNCTION, p::FUNCTION                           a function of the kernel
 *   FILE:FUNCTION, p:FILE:FUNCTION                  a function of a program or library
 *   t:CATEGORY:EVENT                                a tracepoint of the kernel
 *   u:FILE:PROBE, u:FILE:PROVIDER:PROBE             a USDT probe
 *
 * p:, t: and u: name a kind only if another ':' follows. A FILE ends at the first ':',
 * so a FUNCTION may hold more of them (app:Foo::bar). A ':' in a set, [[:alpha:]], and one behind
 * a backslash separate nothing; the latter is how a FILE has one: /opt/a\:b/app:main.
 *
 * All parts but FILE are globs. With regex the last part is a regular expression instead: for t:
 * all text behind CATEGORY. For u: a ':' behind FILE still ends a PROVIDER: if the expression holds
 * one, write u:FILE:*:PROBE.
 */
#ifndef TRACEKIT_CORE_PROBE_PROBESPEC_H
#define TRACEKIT_CORE_PROBE_PROBESPEC_H

#include <stdbool.h>

struct error;
struct pattern;

enum probe_kind {
	PROBE_KERNEL_FUNCTION,
	PROBE_USER_FUNCTION,
	PROBE_TRACEPOINT,
	PROBE_USDT,
};

struct probespec {
	enum probe_kind kind;
	const char *text;      /* as typed; borrowed */
	char *file;	       /* of user functions and USDT probes; else NULL */
	struct pattern *group; /* CATEGORY or PROVIDER; NULL: any */
	struct pattern *name;  /* FUNCTION, EVENT or PROBE */
};

/*
 * Returns 0, -EINVAL with an error that names text and says what to write instead, or
 * -ENOMEM with error filled. Nothing is looked up: what the parts name need not exist.
 */
int probespec__parse(struct probespec *spec, const char *text, bool regex, struct error *error);
void probespec__release(struct probespec *spec);

#endif
