/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses to names.
 *
 * A library on its own: it knows nothing of tracing, prints nothing, and asks
 * for addresses in batches, because naming each distinct address once, file by
 * file, is what makes it fast.
 *
 * Whatever it reads of a process (mappings, files, names in them) may have been
 * made to harm it: all of that is bounded, and nothing of it is mapped.
 */
#ifndef TRACEKIT_SYM_SYM_H
#define TRACEKIT_SYM_SYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sym/types.h"

struct error;
struct pollfd;
struct symbolizer;

/*
 * Check that the folder and the servers can be asked. Returns 0 or a negative errno with error
 * filled.
 */
int sym_settings__check(const struct sym_settings *settings, struct error *error);

/*
 * Has the kernel print addresses: texts[i] becomes what "%pS" gives for
 * addresses[i], in memory that stays valid until the next call. At most
 * SYM_KERNEL_BATCH at a time. Returns 0 or a negative errno.
 */
typedef int (*sym_kernel_print)(void *context, const uint64_t *addresses, size_t nr,
				const char **texts);
#define SYM_KERNEL_BATCH 32

/*
 * settings are copied; the strings in them are borrowed. print may be NULL: then kernel
 * names come from /proc/kallsyms. Returns 0 or -ENOMEM.
 */
int symbolizer__new(struct symbolizer **symbolizer, const struct sym_settings *settings,
		    sym_kernel_print print, void *context);
void symbolizer__free(struct symbolizer *symbolizer);
void symbolizer__freep(struct symbolizer **symbolizer);

/*
 * Start what names user addresses now: it holds files and JIT maps that are passed from then on
 * (settings.passed_files). Else it starts when it is first needed. Returns 0 or a negative errno.
 */
int symbolizer__start(struct symbolizer *symbolizer);

/*
 * Name kernel addresses. Returns 0 (also when some are not found), -EACCES if
 * the kernel hides its addresses from us, or another negative errno.
 */
int symbolizer__name_kernel(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr);

/*
 * Name addresses of processes. Ask for all that are known at once: a file is
 * read once for all processes that it is mapped into (more often if a call
 * comes upon more than some hundred files). A process that has ended leaves
 * its addresses without names, unless they are in files or its JIT map was passed;
 * so does what takes too long, see symbolizer__unanswered(). Returns 0 or a negative errno.
 */
int symbolizer__name_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr);

/*
 * The same without waiting. symbolizer__ask_user() returns at once, with 0 or a
 * negative errno, -EBUSY if another question is open; until the answer the queries are
 * the symbolizer's, and symbolizer__forget_names() may not be called. What is left to do
 * is done by symbolizer__attend(), as far as it can be without waiting. It returns 1 while
 * the question is open, 0 if none is, or once, when a question has failed, the negative
 * errno that symbolizer__name_user() would have returned.
 *
 * Call it when *pollfd, filled by symbolizer__poll(), is ready, and when poll() has waited
 * for the milliseconds that symbolizer__poll() returned: what does not answer is noticed
 * by nothing else. Where nothing is open these are -1, and pollfd->fd as well, which
 * poll() does not look at.
 */
int symbolizer__ask_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr);
int symbolizer__attend(struct symbolizer *symbolizer);
int symbolizer__poll(const struct symbolizer *symbolizer, struct pollfd *pollfd);

/* Free the strings of all answers so far; the queries that they were given to are void. */
void symbolizer__forget_names(struct symbolizer *symbolizer);

/*
 * How often something that a process has mapped did not answer within a second,
 * or took more time or work to read than it may: names are missing then,
 * of hostile files as a rule, or on a very slow machine.
 */
size_t symbolizer__unanswered(const struct symbolizer *symbolizer);

/*
 * True if inlined calls or lines are missing since a file that debug data names, of split units or
 * shared by several programs, was not found or is another one.
 */
bool symbolizer__has_incomplete_debug(const struct symbolizer *symbolizer);

#endif
