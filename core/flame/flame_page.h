/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page of HTML: a flame graph, and a table of its functions beside it. */
#ifndef TRACEKIT_CORE_FLAME_FLAME_PAGE_H
#define TRACEKIT_CORE_FLAME_FLAME_PAGE_H

#include <stdio.h>

struct flame_picture;

/* Returns 0 or -ENOMEM; errors of writing stay in the FILE. */
int flame_page__write(FILE *out, const struct flame_picture *picture);

#endif
