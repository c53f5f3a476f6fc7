/* SPDX-License-Identifier: GPL-2.0-or-later */
/* C++ and Rust names as their programmers wrote them. */
#ifndef TRACEKIT_SYM_ELF_DEMANGLE_H
#define TRACEKIT_SYM_ELF_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* A longer form is left as it is: 336 bytes of symbol can stand for 138 MB of text. */
#define DEMANGLED_SIZE 4096

/* Hostile symbols take a second in all, at most, with so much patience to begin with. */
#define DEMANGLE_PATIENCE 50

/*
 * The demangled form of a symbol, with a NUL, into text. False if it is not
 * mangled, or its form does not fit, or is not found within 10 ms of CPU time (and
 * a tick), a hundred times what ordinary ones take; text is then undefined. Each
 * form that takes too long takes one away from *patience: at 0 none is demangled
 * any more. Rust (v0 and legacy) is tried first, then C++ (Itanium ABI). For programs
 * with one thread: it uses ITIMER_VIRTUAL, and keeps SIGVTALRM.
 */
bool demangle(const char *symbol, char text[DEMANGLED_SIZE], unsigned int *patience);

/*
 * The same, but the name alone, as one would ask for it: no parameters, no type of
 * what is returned, "std::sort<int*>". A suffix for a part or copy of a function is
 * kept as it is: "foo::bar.cold".
 */
bool demangle_name(const char *symbol, char text[DEMANGLED_SIZE], unsigned int *patience);

#endif
