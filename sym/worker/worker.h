/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child that reads what processes have mapped, and can be given up.
 *
 * A read from a file system in user space whose server does not answer cannot
 * be interrupted, not even by SIGKILL. Whoever is to go on regardless must
 * have it done by a process that nobody waits for. The parent watches the
 * child's progress; if there is none for some time, the child is killed, as far
 * as it can be, what it was touching is avoided from then on, and another child
 * starts over. The child has no descriptors but its own: no BPF program and no
 * perf event lives on with a child that does.
 *
 * Nothing here waits for the child but worker__name(), which does nothing else than to attend, and
 * worker__free(), which waits for 1.1 s at most.
 */
#ifndef TRACEKIT_SYM_WORKER_WORKER_H
#define TRACEKIT_SYM_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct arena;
struct pollfd;
struct sym_query;
struct sym_settings;
struct worker;

/* settings are copied. Returns 0 or a negative errno. */
int worker__new(struct worker **worker, const struct sym_settings *settings);
void worker__free(struct worker *worker);

/* As the functions of the symbolizer in sym/sym.h; names go into the arena. */
int worker__start(struct worker *worker);
int worker__name(struct worker *worker, struct sym_query *queries, size_t nr, struct arena *names);
int worker__ask(struct worker *worker, struct sym_query *queries, size_t nr, struct arena *names);
int worker__attend(struct worker *worker);
int worker__poll(const struct worker *worker, struct pollfd *pollfd);

/* How often a child had to be given up, or ran out of the work that it may do. */
size_t worker__unanswered(const struct worker *worker);

/* As of symbolizer__has_incomplete_debug(). */
bool worker__has_incomplete_debug(const struct worker *worker);

#endif
