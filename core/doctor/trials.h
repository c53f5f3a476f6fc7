/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trials: each does once what an applet would do, and sees whether something comes of it; an
 * attach that works is no proof. Nothing of them is left behind.
 */
#ifndef TRACEKIT_CORE_DOCTOR_TRIALS_H
#define TRACEKIT_CORE_DOCTOR_TRIALS_H

#include "core/doctor/counter.h"
#include "core/doctor/finding.h"
#include "core/doctor/privileges.h"

struct trials {
	struct privileges privileges;
	struct counter counter;
	char *pattern;	   /* of events that stacksnoop can be tried with, allocated; or NULL */
	enum answer names; /* whether kernel functions have had names in the trials so far */
};

typedef void trial(struct trials *trials, struct finding *finding);

/* In trials_system.c: the kernel and how it is set up. */
trial try_release, try_capabilities, try_user_namespace, try_pid_namespace, try_system_calls,
	try_memory_reads, try_maps, try_descriptors, try_proc, try_btf, try_kallsyms, try_tracefs,
	try_max_stack, try_cgroups, try_debug_files, try_other_users, try_map_files;

/* In trials_attach.c: each way of attaching. */
trial try_programs, try_samples, try_cycles, try_raw_tracepoints, try_tracepoints, try_kprobe_multi,
	try_kprobe, try_uprobe_multi, try_uprobe;

/* In trials_use.c: what the applets are for, by running them. */
trial use_samples, use_kernel_functions, use_tracepoints, use_user_code, use_command, use_events,
	use_waits, use_kernel_names;

/* The kernel calls itself this version, or a later one; also if it calls itself nothing. */
bool kernel_is_from(unsigned int major, unsigned int minor);

/* Start a process that ends at once, and wait for that. */
void make_exit(void);

#endif
