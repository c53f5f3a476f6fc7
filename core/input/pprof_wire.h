/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fields of a message of protobuf, one behind the other, out of memory that anyone wrote
 * (protobuf.dev, "Encoding"). Nothing is copied, and nothing is looked into that is not asked for.
 */
#ifndef TRACEKIT_CORE_INPUT_PPROF_WIRE_H
#define TRACEKIT_CORE_INPUT_PPROF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message, or what is left of it. */
struct wire {
	const unsigned char *at, *end;
	bool failed; /* it is none, */
	bool cut;    /* for a field that goes on behind the end */
};

struct wire_field {
	uint32_t number;
	bool is_message; /* it has bytes: a message, a text or packed numbers */
	bool is_number;	 /* it has a value; else it is of another form, which no profile has */
	uint64_t value;
	struct wire bytes;
};

/* Take the next field. Returns false at the end, or if it has failed. */
bool wire__next(struct wire *wire, struct wire_field *field);

/* Take the next of packed numbers. Returns false at the end, or if it has failed. */
bool wire__next_number(struct wire *wire, uint64_t *number);

/*
 * True if these bytes can be the beginning of a profile of pprof, or all of one (whole): each field
 * of the outermost message has a number and a form that are its own.
 */
bool pprof_wire__is_profile(const unsigned char *bytes, size_t size, bool whole);

#endif
