/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks as "profile -o FILE.json", "stackcount" and "offcputime" write them, an object for each
 * (core/format/json.c), and events of "stacksnoop --json", which count 1 each. Members of other
 * names are skipped.
 */
#ifndef TRACEKIT_CORE_INPUT_JSON_STACKS_H
#define TRACEKIT_CORE_INPUT_JSON_STACKS_H

struct input_bytes;
struct reading;

/* The weight is "nanoseconds", if there is that, else "count". Returns 0 or -ENOMEM. */
int json_stacks__read(struct reading *reading, struct input_bytes *bytes);

#endif
