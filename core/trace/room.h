/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How large the tables of a trace are, on machines and in containers with little memory, too. */
#ifndef TRACEKIT_CORE_TRACE_ROOM_H
#define TRACEKIT_CORE_TRACE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/unwind/unwinding.h"

struct trace_options;

/* With so much memory, in bytes, tables have their usual size; below it, their share. */
#define ROOM_FOR_ALL ((uint64_t)64 * 1024 * 1024)

struct room {
	uint64_t available; /* bytes, at the start of the trace */
	uint32_t stacks;    /* options say how many, or the memory does */
	uint32_t keys;	    /* that are counted; so, too */
	struct unwind_room unwind;
	uint32_t events; /* bytes, for events of a stream: a power of two */
};

/* What can be had: of the machine's memory, of our cgroup's limit, and of those that it is in. */
uint64_t room__available(void);

/* The room of a trace with so many bytes. */
struct room room__find(const struct trace_options *options, uint64_t available);

/* Say on stderr what memory, and no option, has made smaller than usual; keys: they are counted. */
void room__say(const struct room *room, const struct trace_options *options, bool keys);

#endif
