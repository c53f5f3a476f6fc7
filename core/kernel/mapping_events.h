/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all processes map, as the kernel tells it: perf events of each CPU, which count nothing.
 * Also told is when a mapping becomes read-only. See perf_event_open(2).
 */
#ifndef TRACEKIT_CORE_KERNEL_MAPPING_EVENTS_H
#define TRACEKIT_CORE_KERNEL_MAPPING_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping_event {
	pid_t pid;	       /* 0: outside of our PID namespace */
	dev_t device;	       /* of the file, as /proc/PID/maps shows it */
	ino_t inode;	       /* 0: no file */
	uint64_t offset, size; /* of what is mapped of it */
};

/* All zero is none. */
struct mapping_events {
	struct mapping_ring *rings;
	size_t nr;
	uint64_t lost; /* records that had no room */
};

/* Returns 0 or a negative errno. */
int mapping_events__open(struct mapping_events *events);
void mapping_events__close(struct mapping_events *events);

/*
 * Wait until there is something to read, or stop_fd is readable: then false.
 */
bool mapping_events__wait(struct mapping_events *events, int stop_fd);

/* Take the next event of a CPU; false if there is none now. */
bool mapping_events__take(struct mapping_events *events, struct mapping_event *event);

#endif
