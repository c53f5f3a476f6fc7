/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of one file, as the loader would load it, in words: for those who work on tracekit. */
#ifndef TRACEKIT_CORE_UNWIND_FILE_TABLE_H
#define TRACEKIT_CORE_UNWIND_FILE_TABLE_H

#include <stdint.h>
#include <stdio.h>

struct error;

/*
 * Have a child read the table of the file at path, and print its rows, each with its rule and the
 * offset in the file from which on it holds; or, unless offset is NULL, the row that covers that
 * offset. Returns 0 or a negative errno with error filled, also if no row covers it.
 */
int file_table__print(const char *path, const uint64_t *offset, FILE *out, struct error *error);

#endif
