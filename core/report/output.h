/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors of writing: where they come to light, and what they mean to the user. */
#ifndef TRACEKIT_CORE_REPORT_OUTPUT_H
#define TRACEKIT_CORE_REPORT_OUTPUT_H

#include <stdio.h>

struct error;

/* 0, or -EBADF if out was never open for writing: the shell's >&- */
int output__check(FILE *out);

/* Write out what is buffered; 0, or the negative errno of this or an earlier write. */
int output__flush(FILE *out);

/*
 * Fill error for a failure of output__flush(): a full disk is reported; a reader that has gone
 * (-EPIPE, or -EBADF for a stdout that was never open) is not: then error is left empty. Returns
 * code.
 */
int output__failed(int code, struct error *error);

/* output__flush() and, if it fails, output__failed(). Returns 0 or a negative errno. */
int output__finish(FILE *out, struct error *error);

#endif
