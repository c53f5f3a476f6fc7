/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes become while a trace counts stacks, so that these can be named at its end:
 * by then a process can have ended, called exec() or loaded another library, and another
 * process can have its PID.
 *
 * What there was before is remembered by the symbolizer at the start. What happens from then on
 * the kernel says; files that are mapped for the first time are opened at once, since some are
 * deleted as soon as they have run.
 */
#ifndef TRACEKIT_CORE_NAMES_TRACE_PROCESSES_H
#define TRACEKIT_CORE_NAMES_TRACE_PROCESSES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/options/pid_list.h"
#include "core/trace/session.h"

struct error;
struct process_history;
struct stack_counts;
struct symbolizer;
struct trace_processes;

/*
 * From now on. pids: only these; empty: all. symbolizer and pids are borrowed. Returns 0 or
 * a negative errno with error filled.
 */
int trace_processes__new(struct trace_processes **processes, struct symbolizer *symbolizer,
			 const struct pid_list *pids, struct error *error);
void trace_processes__free(struct trace_processes *processes);

/* As session__wait(), looking after what happens to processes. */
enum session_end trace_processes__wait(struct trace_processes *processes, struct session *session,
				       uint64_t timeout);

/* Take all that has happened by now. Returns 0 or -ENOMEM. */
int trace_processes__settle(struct trace_processes *processes);

/*
 * When the process of each counted stack with user frames became what it was, as of
 * process_history__since(): their field since. Returns how many are of programs that have been
 * forgotten.
 */
size_t trace_processes__date(const struct trace_processes *processes, struct stack_counts *counts);

/* Valid until the next call of another function here. */
const struct process_history *trace_processes__history(const struct trace_processes *processes);

/* By which PID, of no process, the symbolizer is asked for these. 0: it is not to be asked. */
pid_t trace_processes__part_pid(uint32_t part);
pid_t trace_processes__module_pid(uint32_t module);
pid_t trace_processes__snapshot_pid(const struct trace_processes *processes, uint32_t snapshot);

#endif
