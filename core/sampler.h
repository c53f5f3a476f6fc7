/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Timed samples on every CPU: a cpu-clock perf event each, with a BPF program behind it. */
#ifndef TRACEKIT_CORE_SAMPLER_H
#define TRACEKIT_CORE_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct session;

struct sampler {
	int *fds; /* one perf event for each CPU that was online */
	size_t nr;
	uint64_t period; /* nanoseconds from one sample to the next */
};

/*
 * Open, but do not start, a sampler that runs program_fd frequency times a
 * second on every online CPU. Where session has been asked to stop it ends
 * early, without error, with the CPUs that it had reached. Returns 0 or a
 * negative errno with error filled and nothing left open.
 */
int sampler__open(struct sampler *sampler, const struct session *session, int program_fd,
		  uint64_t frequency, struct error *error);
void sampler__close(struct sampler *sampler);

int sampler__start(struct sampler *sampler, struct error *error);

/*
 * After this no program runs any more. Returns how many samples were due, by
 * each event's own clock.
 */
uint64_t sampler__stop(struct sampler *sampler);

#endif
