/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a frame is, as far as its name and its file tell. */
#ifndef TRACEKIT_CORE_INPUT_FRAME_KIND_H
#define TRACEKIT_CORE_INPUT_FRAME_KIND_H

#include "core/flame/flame_tree.h"

/*
 * The kind by the name of a frame: a mark of ours, a frame without a name (a word in brackets), or
 * otherwise. A mark of flamegraph.pl behind the name (_[k], _[i], _[j]) is cut off, and goes before
 * otherwise.
 */
enum flame_kind frame_kind__of_name(char *name, enum flame_kind otherwise);

/*
 * The kind of the outermost of several frames, which is no function where it is the name of a
 * thread: "[ET_NET 0]".
 */
enum flame_kind frame_kind__of_thread(char *name, enum flame_kind otherwise);

/*
 * The kind by its file, as perf and writers of pprof call it: "[kernel.kallsyms]", "[ext4]",
 * "/lib/modules/.../ext4.ko.xz", "/tmp/perf-42.map"; NULL: it is not known.
 */
enum flame_kind frame_kind__of_file(const char *file);

/* What stands behind the last slash of a path; "[unknown]" and "" are no file: NULL. */
const char *frame_kind__module(const char *file);

#endif
