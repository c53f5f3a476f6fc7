/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a list of targets to running programs, by the fastest way that the kernel
 * has. What attaching and detaching cost is what the kernel makes them cost: one
 * link of many functions takes milliseconds, a perf event for each takes as long
 * for each, in series. Every way hangs on file descriptors.
 *
 *   kernel functions  one link (kprobe.multi), else a perf event for each
 *   user code         one link for each file and process (uprobe.multi), else likewise
 *   system calls      one link to sys_enter or sys_exit, with a set of numbers
 *   tracepoints       a raw tracepoint each, else a perf event
 */
#ifndef TRACEKIT_CORE_PROBE_ATTACH_H
#define TRACEKIT_CORE_PROBE_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct attachment;
struct bpf_object;
struct error;
struct pid_list;
struct session;
struct target_list;
struct trace_config;

/* A target that was left out, and the kernel's reason. */
struct attach_failure {
	const char *name; /* of the target list */
	int code;	  /* negative errno */
};

/*
 * Choose the way. targets and pids are borrowed, and must outlive the attachment.
 * Returns 0 or a negative errno with error filled.
 */
int attachment__new(struct attachment **attachment, const struct target_list *targets,
		    const struct pid_list *pids, struct error *error);
void attachment__free(struct attachment *attachment);

/*
 * Between open and load of an object with the programs of bpf/probes.bpf.h: have
 * those loaded that are needed, with what they must know. Returns 0 or a
 * negative errno with error filled.
 */
int attachment__configure(struct attachment *attachment, struct bpf_object *object,
			  struct trace_config *config, struct error *error);

/*
 * Attach all that can be; stops early, without error, where session has been asked
 * to stop. Returns 0, or a negative errno with error filled if nothing could be
 * attached.
 */
int attachment__attach(struct attachment *attachment, const struct session *session,
		       struct error *error);

/* How many of the target list's probes are attached. */
size_t attachment__attached(const struct attachment *attachment);

/* Why that is, in words. */
const char *attach_failure__reason(const struct target_list *targets, int code);

/* What could not be attached: *failures becomes an array of so many. */
size_t attachment__failures(const struct attachment *attachment,
			    const struct attach_failure **failures);

/*
 * Events that the kernel withheld from the programs since this was called before;
 * false if this kernel does not say.
 */
bool attachment__take_missed(struct attachment *attachment, uint64_t *missed);

/*
 * Begin to detach. Returns in how many nanoseconds the rest, *left perf events, will
 * be done, by how long the first took; 0 if that is next to nothing. What is left
 * goes with attachment__free().
 */
uint64_t attachment__begin_detach(struct attachment *attachment, size_t *left);

#endif
