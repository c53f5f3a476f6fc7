/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What formats say about the trace as a whole, in lines that are safe to print. */
#ifndef TRACEKIT_CORE_FORMAT_ABOUT_H
#define TRACEKIT_CORE_FORMAT_ABOUT_H

#include <stddef.h>

struct shown_stacks;

/* This program's; words that a shell would not leave as they are stand in quotes. */
void about__command_line(char *text, size_t size);

/* Host, kernel, time, how long it took, what was counted and lost. */
void about__trace(const struct shown_stacks *shown, char *text, size_t size);

#endif
