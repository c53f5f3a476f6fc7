/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of each applet around its own part: open, find, configure, load, name, attach. */
#ifndef TRACEKIT_CORE_RUN_TRACING_H
#define TRACEKIT_CORE_RUN_TRACING_H

#include "core/names/naming.h"
#include "core/probe/probes.h"
#include "core/trace/containers.h"
#include "core/trace/session.h"
#include "core/trace/workload.h"

struct bpf_object;
struct error;
struct trace_config;
struct trace_options;

/* The BPF programs of an applet, behind whatever type its skeleton has. */
struct trace_program {
	/* NULL with errno set on failure. */
	void *(*open)(struct bpf_object **object, struct trace_config **config);
	void (*destroy)(void *skeleton);
};

/* NAME_program, a trace_program, from NAME.skel.h. */
#define TRACE_PROGRAM(name)                                                                        \
	static void *name##_program__open(struct bpf_object **object,                              \
					  struct trace_config **config)                            \
	{                                                                                          \
		struct name##_bpf *skeleton = name##_bpf__open();                                  \
                                                                                                   \
		if (skeleton) {                                                                    \
			*object = skeleton->obj;                                                   \
			*config = (struct trace_config *)&skeleton->rodata->config;                \
		}                                                                                  \
		return skeleton;                                                                   \
	}                                                                                          \
                                                                                                   \
	static void name##_program__destroy(void *skeleton)                                        \
	{                                                                                          \
		name##_bpf__destroy(skeleton);                                                     \
	}                                                                                          \
                                                                                                   \
	const struct trace_program name##_program = {                                              \
		.open = name##_program__open,                                                      \
		.destroy = name##_program__destroy,                                                \
	}

/* Everything that the kernel holds for a trace is in here, and goes with it. */
struct tracing {
	/* The applet's, borrowed. */
	const struct trace_program *program;
	const struct trace_options *options;
	const struct probe_options *probe; /* NULL: no pattern says what to trace */
	bool leaves_stdout;		   /* output goes elsewhere */
	bool keeps_stdout;		   /* output goes there also where a command is run */
	struct naming_wishes wishes;

	struct workload workload; /* none if options have no command */
	struct session *session;
	struct probes probes; /* nothing if probe is NULL */
	void *skeleton;
	struct bpf_object *object;
	struct trace_config *config; /* from open to load: the applet may change it */
	struct naming *naming;
	struct containers
		containers; /* that were found, if tracing__find_containers() was called */
};

/*
 * All return 0 or a negative errno with error filled, or left empty as by output__failed(), or of
 * a command that cannot be run a status as of waitpid(2) with error filled; tracing__release() is
 * due in any case.
 */

/* -l: print what the pattern matches. */
int tracing__list(const struct tracing *tracing, struct error *error);

/* Find what to trace; then the applet can change the settings in config. */
int tracing__open(struct tracing *tracing, struct error *error);
int tracing__load(struct tracing *tracing, struct error *error);

/*
 * Between open and load: have events tell their cgroups, and find those of containers now, since
 * some will have gone. Returns them, which are part of tracing; NULL: no cgroups can be listed.
 */
struct containers *tracing__find_containers(struct tracing *tracing);

/* Between open and load: have a program loaded that is not by itself. */
void tracing__use(struct tracing *tracing, const char *name);

/* The descriptor of a program that has been loaded. */
int tracing__program_fd(const struct tracing *tracing, const char *name);

/* Attach to what the pattern matches. The first events come before this returns. */
int tracing__attach(struct tracing *tracing, struct error *error);
size_t tracing__attached(const struct tracing *tracing);

/* When all is ready: let the command go, if there is one. */
int tracing__let_go(struct tracing *tracing, struct error *error);

/*
 * When the trace is over: wait for the command, whose status as of waitpid(2) is returned; 0 if
 * there is none.
 */
int tracing__status(struct tracing *tracing);

void tracing__release(struct tracing *tracing);

#endif
