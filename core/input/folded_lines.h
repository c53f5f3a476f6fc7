/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, as many tools write them: a line for each stack, its frames from the root with ";"
 * between them, a space, and how often it was seen. The marks _[k] (kernel), _[i] (inlined) and
 * _[j] (made by the process), which some tools put behind names, say the kind of a frame, and so
 * does a "-" before the frames of the kernel.
 */
#ifndef TRACEKIT_CORE_INPUT_FOLDED_LINES_H
#define TRACEKIT_CORE_INPUT_FOLDED_LINES_H

struct input_bytes;
struct reading;

/* Empty lines are skipped. Returns 0 or -ENOMEM. */
int folded_lines__read(struct reading *reading, struct input_bytes *bytes);

#endif
