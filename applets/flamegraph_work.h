/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What flamegraph does in the sandbox: reads files that anyone wrote, and draws what they hold. */
#ifndef TRACEKIT_APPLETS_FLAMEGRAPH_WORK_H
#define TRACEKIT_APPLETS_FLAMEGRAPH_WORK_H

#include <stdbool.h>
#include <stdint.h>

struct error;

struct flamegraph_settings {
	const char *output; /* where the picture goes; NULL: stdout */
	const char *before; /* the file of the earlier run; NULL: there is none */
	const char *title;
	const char *unit; /* NULL: what the file says */
	const char *sample_type;
	const char *focus, *ignore; /* regular expressions, or NULL */
	const char *file;	    /* NULL or "-": stdin */
	uint64_t top;		    /* functions to print; 0: not given */
	bool normalize;
};

/* The name of a file in messages. */
const char *flamegraph__name_of(const char *path);

/* The picture is a page of HTML. */
bool flamegraph__is_page(const struct flamegraph_settings *settings);

/* A picture is wanted, not only a table. */
bool flamegraph__has_picture(const struct flamegraph_settings *settings);

/*
 * For confined__run(): the argument are settings, the inputs their files, the later run first. The
 * picture goes to the result, the table to stdout.
 */
int flamegraph__work(const void *argument, struct error *error);

#endif
