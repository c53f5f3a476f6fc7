/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines for the user on stderr. Applets and main call these; for applets core/report/report.c,
 * core/probe/probes.c, core/trace/room.c and core/unwind/unwinding.c do so too. Nothing else in
 * core does, nor in sym.
 */
#ifndef TRACEKIT_SYM_UTIL_MESSAGE_H
#define TRACEKIT_SYM_UTIL_MESSAGE_H

/* The name that message() lines begin with. Kept by reference. */
void message__set_program(const char *name);

/* Print a line: the program's name, a colon, the text. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
