/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of JSON (RFC 8259), one behind the other, out of a file that anyone wrote. The caller asks
 * for what it wants, and skips the rest. After a fault everything fails until it is cleared.
 */
#ifndef TRACEKIT_CORE_INPUT_JSON_READER_H
#define TRACEKIT_CORE_INPUT_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input_bytes;

/* Arrays and objects inside each other. */
#define JSON_DEPTH_MAX 64

/* Bytes of a string. */
#define JSON_TEXT_MAX (1024 * 1024)

struct json_reader {
	struct input_bytes *bytes;
	uint64_t line;	   /* where it is, from 1 */
	const char *fault; /* why it is no JSON, or more than is read; NULL: nothing is wrong */
	char *text;	   /* the last string, as UTF-8; it can have bytes of zero */
	size_t length, capacity;
	bool no_memory; /* with a fault */
};

void json_reader__init(struct json_reader *reader, struct input_bytes *bytes);
void json_reader__release(struct json_reader *reader);

/* The first byte of the next value or sign, which is not taken; EOF: there is none. */
int json_reader__next(struct json_reader *reader);

/* Take that sign: one of { } [ ] , : */
bool json_reader__take(struct json_reader *reader, char sign);

/* Take a string into text. */
bool json_reader__string(struct json_reader *reader);

/* Take a whole number that is not negative. */
bool json_reader__number(struct json_reader *reader, uint64_t *number);

/* Take any value. */
bool json_reader__skip(struct json_reader *reader);

/*
 * In an object, whose { has been taken: take the name of its next member, into text, and the colon.
 * *first is true at the beginning. Returns false behind the last, which takes the }.
 */
bool json_reader__member(struct json_reader *reader, bool *first);

/* In an array, whose [ has been taken: true if there is one more element; else ] is taken. */
bool json_reader__element(struct json_reader *reader, bool *first);

/* Forget the fault, and what is left of the line. */
void json_reader__skip_line(struct json_reader *reader);

#endif
