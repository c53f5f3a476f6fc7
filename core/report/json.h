/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from anywhere as JSON (RFC 8259), for programs that read it and terminals that show it. */
#ifndef TRACEKIT_CORE_REPORT_JSON_H
#define TRACEKIT_CORE_REPORT_JSON_H

#include <stddef.h>

/* Room for any length bytes as a string: six for each, as in \u001b, the quotes, and a NUL. */
#define JSON_STRING_SIZE(length) (6 * (length) + 3)

/*
 * Any bytes as a JSON string with its quotes: always valid UTF-8; each byte of the text that
 * belongs to no character becomes U+FFFD. Control characters (text__is_control()) are escaped.
 * Writes at most size bytes with a NUL (size >= 3) and returns the length; text that does not fit
 * is cut between two characters, and the string still has its closing quote.
 */
size_t json__quote(const char *text, size_t length, char *quoted, size_t size);

#endif
