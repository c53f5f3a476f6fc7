/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of every CPU: a perf event each, with a BPF program behind it. */
#ifndef TRACEKIT_CORE_TRACE_SAMPLER_H
#define TRACEKIT_CORE_TRACE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/kernel/cpus.h"

struct error;
struct session;
struct trace_maps;

enum sampler_event {
	SAMPLER_CPU_CLOCK, /* a timer of the kernel, in nanoseconds */
	SAMPLER_CYCLES,	   /* a counter of the CPU's own, where it has one */
};

/* The kernel's timer behind cpu-clock does not fire more often, whatever it is asked for. */
#define SAMPLER_CLOCK_PERIOD_MIN 10000

#define SAMPLER_ALL_CPUS EVERY_CPU

struct sampler_settings {
	enum sampler_event event;
	uint64_t frequency; /* Hertz; 0: by period */
	uint64_t period;    /* events from one sample to the next; 0: by frequency */
	uint64_t cpu;	    /* or SAMPLER_ALL_CPUS */
};

struct sampled_cpu;

struct sampler {
	struct sampler_settings settings;
	int program_fd;
	struct sampled_cpu *cpus; /* each has a perf event */
	size_t nr, capacity;
	uint64_t period; /* events from one sample to the next; 0: the kernel varies it */
	uint64_t due;	 /* samples, by the counts of events that have ended */
	bool failed;	 /* on a CPU that has come online, and that was said */
};

/*
 * Open, but do not start, a sampler that runs program_fd on every online CPU, or
 * on the one of the settings. Where session has been asked to stop it ends
 * early, without error, with the CPUs that it had reached. Returns 0 or a
 * negative errno with error filled and nothing left open.
 */
int sampler__open(struct sampler *sampler, const struct sampler_settings *settings,
		  const struct session *session, int program_fd, struct error *error);
void sampler__close(struct sampler *sampler);

int sampler__start(struct sampler *sampler, struct error *error);

/* How often sampler__look() is wanted, in nanoseconds. */
uint64_t sampler__look_every(const struct sampler *sampler);

/*
 * In the current epoch: sample CPUs that have come online since. A CPU that was offline, as all but
 * one are while the machine is suspended, has lost its event: it gets another one.
 */
void sampler__look(struct sampler *sampler, const struct trace_maps *maps, uint32_t epoch);

/* An epoch has ended, and its counters are to be cleared; those of the next count on. */
void sampler__note_end(struct sampler *sampler, const struct trace_maps *maps, uint32_t epoch);

/* After this no program runs any more. */
void sampler__stop(struct sampler *sampler);

/*
 * The number of samples that were due since the start, by each event's own count. False if that is
 * not known: the kernel adapts the period to a frequency, except a clock's.
 */
bool sampler__expected(const struct sampler *sampler, uint64_t *expected);

#endif
