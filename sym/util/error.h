/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A failure, in the words that the user will read.
 *
 * Libraries return 0 or a negative errno and, where the caller cannot know the
 * circumstances, fill a struct error; only the top prints it.
 */
#ifndef TRACEKIT_SYM_UTIL_ERROR_H
#define TRACEKIT_SYM_UTIL_ERROR_H

struct error {
	char text[512]; /* "what failed: why; what to do", without the program's name */
};

/* Writes the text (cut to fit) and returns code, so that it can be returned at once. */
int error__set(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
