/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRACEKIT_APPLETS_INSTALL_H
#define TRACEKIT_APPLETS_INSTALL_H

#include <stdbool.h>

struct applet;
struct error;

/*
 * Link every applet's name in directory to the running program: hard links, or symbolic ones to its
 * full path. A name that is such a link already is left alone; anything else is an error and stays
 * untouched. Returns 0 or a negative errno with error filled; earlier links then exist.
 */
int install__links(const char *directory, bool symbolic, const struct applet *const *applets,
		   struct error *error);

#endif
