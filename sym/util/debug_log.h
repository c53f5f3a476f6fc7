/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines on stderr that tell what tracekit does, process by process, for those who work on it or ask
 * why a name or a table is missing: TRACEKIT_DEBUG=files,tables says about what.
 *
 *     [4711 loader] tables: starts the table reader 4712
 *     [4712 table reader] files: opens /usr/lib/x86_64-linux-gnu/libc.so.6
 *
 * Children keep a descriptor for these lines, and close it when they enter the sandbox: who reads
 * what anyone may have written says nothing to a terminal, and its parent speaks for it.
 */
#ifndef TRACEKIT_SYM_UTIL_DEBUG_LOG_H
#define TRACEKIT_SYM_UTIL_DEBUG_LOG_H

#include <stdbool.h>

struct error;

/* The words of TRACEKIT_DEBUG, to be joined by |. */
enum debug_log_topic {
	DEBUG_LOG_FILES = 1, /* which files are looked for, opened, passed on; who reads mappings */
	DEBUG_LOG_NAMES = 2, /* questions about addresses, answers, and who finds them */
	DEBUG_LOG_WALK = 4,  /* what walks ask for, and stacks that are walked later */
	DEBUG_LOG_TABLES = 8, /* tables for walks: read, loaded, refused, given back */
};

/* Those that are wanted; 0 but for who works on tracekit. Written by debug_log__begin() alone. */
extern unsigned int debug_log_topics;

/*
 * To be called first, by main(): read TRACEKIT_DEBUG. A program that has more rights than its user
 * (setuid, file capabilities) does not look at it. Returns 0, -EINVAL if it has an unknown word, or
 * another negative errno, with error filled.
 */
int debug_log__begin(struct error *error);

/* What this process is from now on; borrowed. The first one is the tracer. */
void debug_log__set_role(const char *role);

/* The descriptor that the lines go to, which is never one of the first 64; -1: there is none. */
int debug_log__fd(void);

/* This process says nothing more. */
void debug_log__end(void);

static inline bool debug_log__has(enum debug_log_topic topic)
{
	return __builtin_expect(debug_log_topics & topic, 0);
}

/* A line about a topic; arguments are looked at only if that is wanted. May hold any text. */
#define debug_log__say(topic, ...)                                                                 \
	do {                                                                                       \
		if (debug_log__has(topic))                                                         \
			debug_log__print(topic, __VA_ARGS__);                                      \
	} while (0)

void debug_log__print(enum debug_log_topic topic, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

#endif
