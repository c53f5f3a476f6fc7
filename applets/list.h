/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All applets of this build, by name; the file that defines the list is generated. */
#ifndef TRACEKIT_APPLETS_LIST_H
#define TRACEKIT_APPLETS_LIST_H

#include "applets/applet.h"

extern const struct applet *const applet_list[]; /* ends with NULL */

#endif
