/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C++ and Rust names as their programmers wrote them. */
#ifndef TRACEKIT_SYM_DEMANGLE_H
#define TRACEKIT_SYM_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* A longer form is left as it is: 336 bytes of symbol can stand for 138 MB of text. */
#define DEMANGLED_SIZE 4096

/*
 * The demangled form of a symbol, with a NUL, into text. False if it is not
 * mangled, or its form does not fit; text is then undefined. Rust (v0 and
 * legacy) is tried first, then C++ (Itanium ABI). For one thread at a time.
 */
bool demangle(const char *symbol, char text[DEMANGLED_SIZE]);

#endif
