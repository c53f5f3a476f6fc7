/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a stream. Each has a number while it runs one program: a PID can
 * become another process, and a process another program, and what was known of the one
 * does not hold for the other.
 *
 * At its first event the symbolizer is asked to read what it has mapped. Some end before
 * that can be done: what they mapped the kernel has said while they started.
 */
#ifndef TRACEKIT_CORE_STREAM_PROCESSES_H
#define TRACEKIT_CORE_STREAM_PROCESSES_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct stream_processes;
struct symbolizer;

/* symbolizer is borrowed. Returns 0 or -ENOMEM. */
int stream_processes__new(struct stream_processes **processes, struct symbolizer *symbolizer);
void stream_processes__free(struct stream_processes *processes);

/*
 * Have the kernel say what processes map from now on. Without it those that end soon have no
 * names. Returns 0 or a negative errno with error filled.
 */
int stream_processes__watch(struct stream_processes *processes, struct error *error);

/*
 * Take what the kernel has said by now: before events are met that had happened by then.
 * settled: all events that had happened at the call before this have been met. Returns 0 or
 * -ENOMEM.
 */
int stream_processes__read(struct stream_processes *processes, bool settled);

/* An event of process pid at that time. Its number, from 1 on. */
uint32_t stream_processes__meet(struct stream_processes *processes, pid_t pid, uint64_t time);

/*
 * To be called when it is going to be asked for, and no question is open:
 * by which PID the symbolizer knows the process with that number, which was met as pid: this,
 * or another one, of no process, since pid is another program by now.
 */
pid_t stream_processes__known_as(struct stream_processes *processes, pid_t pid, uint32_t number);

/* By which PID, of no process, the symbolizer can know the file of a module. */
pid_t stream_processes__module_pid(uint32_t module);

/* Ready when stream_processes__read() is due, even if no events come. */
struct pollfd stream_processes__poll(const struct stream_processes *processes);

#endif
