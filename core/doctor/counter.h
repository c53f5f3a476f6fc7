/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The smallest BPF program that shows whether it runs: it counts. */
#ifndef TRACEKIT_CORE_DOCTOR_COUNTER_H
#define TRACEKIT_CORE_DOCTOR_COUNTER_H

#include <linux/bpf.h>
#include <stdint.h>

struct counter {
	int map;	/* or the negative errno why there is none */
	uint64_t *hits; /* in the map, mapped; or NULL */
};

void counter__open(struct counter *counter);
void counter__close(struct counter *counter);

/* A program that adds to the counter. Returns its descriptor or a negative errno. */
int counter__load(const struct counter *counter, enum bpf_prog_type type,
		  enum bpf_attach_type expected);

/* The hits since it was taken last. */
uint64_t counter__take(struct counter *counter);

#endif
