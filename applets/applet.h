/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An applet, as main.c sees it. */
#ifndef TRACEKIT_APPLETS_APPLET_H
#define TRACEKIT_APPLETS_APPLET_H

#include <stddef.h>

#include "core/options/options.h"

struct error;

struct applet {
	struct command command;
	const void *defaults; /* the applet's settings before the command line is parsed */
	size_t settings_size;
	/* Checks beyond the option table: 0, or -EINVAL with error filled. May be NULL. */
	int (*check)(const void *settings, struct error *error);
	/*
	 * Returns 0, or a negative errno with error filled. An empty error text is not printed: for
	 * a stdout that nobody reads any more. Or a status, as of waitpid(2), which becomes ours;
	 * that of a command that was run, with error filled if it could not be run, say.
	 */
	int (*run)(const void *settings, struct error *error);
};

/* Each applet in the build's list exports one, as applet_NAME. */

#endif
