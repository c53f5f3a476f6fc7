/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a list of targets to running programs, by the fastest way that the kernel has. The kernel
 * sets the cost of attaching and detaching: one link of many functions takes milliseconds; perf
 * events take as long for each function, one after the other. Every way hangs on file descriptors.
 *
 *   kernel functions  one link (kprobe.multi), else a perf event for each
 *   user code         one link for each file and process, or for each file if the processes are
 *                     many (uprobe.multi), else a perf event for each
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
struct semaphores_missed;
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
 * Between open and load of an object with the programs of bpf/probes.bpf.h: choose the programs
 * that will be loaded, and fill in their settings. Returns 0 or a negative errno with error filled.
 */
int attachment__configure(struct attachment *attachment, struct bpf_object *object,
			  struct trace_config *config, struct error *error);

/*
 * Attach all targets that can be attached; stop early, without error, if session has been asked to
 * stop. Returns 0, or a negative errno with error filled: nothing could be attached, or we lack
 * memory, permission or descriptors.
 */
int attachment__attach(struct attachment *attachment, const struct session *session,
		       struct error *error);

/* The number of targets that are attached. */
size_t attachment__attached(const struct attachment *attachment);

/*
 * No longer count up semaphores that the kernel counts wrong in processes that begin; *missed
 * becomes where that was not done. Returns 0, or the negative errno why it was done nowhere.
 */
int attachment__end_semaphores(struct attachment *attachment, struct semaphores_missed *missed);

/* The reason for the code of a failure, in words. */
const char *attach_failure__reason(const struct target_list *targets, int code);

/* The number of targets that could not be attached; *failures becomes their array, borrowed. */
size_t attachment__failures(const struct attachment *attachment,
			    const struct attach_failure **failures);

/*
 * *missed becomes the number of events that the kernel withheld from the programs since the last
 * call; false if this kernel does not count them.
 */
bool attachment__take_missed(struct attachment *attachment, uint64_t *missed);

/*
 * Begin to detach: close one perf event. Returns for how many nanoseconds the kernel will need to
 * close the other *left, by how long the first took; 0 without any. attachment__free() detaches the
 * rest.
 */
uint64_t attachment__begin_detach(struct attachment *attachment, size_t *left);

#endif
