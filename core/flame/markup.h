/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from anywhere in XML and HTML: as text, and between quotes. */
#ifndef TRACEKIT_CORE_FLAME_MARKUP_H
#define TRACEKIT_CORE_FLAME_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write text so that it reads as itself, whatever is in it: & < > " and ' are written as
 * references. Bytes that XML 1.0 has no character for (control characters, U+FFFE, U+FFFF,
 * invalid UTF-8) become "?".
 */
void markup__escape(FILE *out, const char *text, size_t length);

/* How many bytes that writes. */
size_t markup__length(const char *text, size_t length);

#endif
