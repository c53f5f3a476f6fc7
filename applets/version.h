/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_APPLETS_VERSION_H
#define TRACEKIT_APPLETS_VERSION_H

#include <stdio.h>

/* Print a line each for tracekit, its libraries and the compiler. */
void version__print(FILE *out);

#endif
