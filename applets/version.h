/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_APPLETS_VERSION_H
#define TRACEKIT_APPLETS_VERSION_H

#include <stdio.h>

/* One line each for tracekit, the libraries that are in it, and the compiler. */
void version__print(FILE *out);

#endif
