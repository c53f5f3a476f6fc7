/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace has ended, and has seen nothing: why that can be, and which command says more. */
#ifndef TRACEKIT_CORE_RUN_NOTHING_SEEN_H
#define TRACEKIT_CORE_RUN_NOTHING_SEEN_H

struct accounting;
struct tracing;
struct waits;

/*
 * Say it in a line on stderr, unless options are for quiet, if nothing was counted, or shown, and
 * nothing lost in the whole trace, of which accounting has the sum: of samples, of waits (which are
 * borrowed), and of events at what a pattern matches.
 */
void nothing_seen__samples(const struct tracing *tracing, const struct accounting *accounting);
void nothing_seen__waits(const struct tracing *tracing, const struct waits *waits,
			 const struct accounting *accounting);
void nothing_seen__events(const struct tracing *tracing, const struct accounting *accounting);

#endif
