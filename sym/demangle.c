// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* What the callbacks of libiberty write into. */
struct output {
	char *text;
	size_t used;
	bool is_rust;
	bool too_long; /* what comes is no longer wanted */
	jmp_buf give_up;
};

/* Non-ASCII comes from the buffer of a Punycode identifier: all else in Rust symbols is ASCII. */
static bool is_punycode(const struct output *output, const char *piece, size_t length)
{
	for (size_t i = 0; output->is_rust && i < length; i++)
		if (piece[i] & 0x80)
			return true;
	return false;
}

/*
 * libiberty's printers cannot be told to stop, and would go on for the whole of a
 * form that is exponential in its symbol: this leaves them by a jump. They hold no
 * memory then but, in a Rust v0 name, the buffer of one Punycode identifier, while
 * they print it: they are left behind that.
 */
static void append(const char *piece, size_t length, void *opaque)
{
	struct output *output = opaque;

	if (length == 0)
		return; /* an empty name of Rust: piece is NULL */
	output->too_long |= length >= DEMANGLED_SIZE - output->used;
	if (!output->too_long) {
		memcpy(output->text + output->used, piece, length);
		output->used += length;
	} else if (!is_punycode(output, piece, length)) {
		longjmp(output->give_up, 1);
	}
}

static bool may_be_mangled(const char *symbol)
{
	return !strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2) ||
	       !strncmp(symbol, "_GLOBAL_", 8);
}

/* The symbol alone, without a version or "@plt" behind it. */
static bool demangle_plain(const char *symbol, struct output *output)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	output->is_rust = true;
	if (rust_demangle_callback(symbol, options, append, output))
		return !output->too_long;
	/* It can fail behind the first piece. */
	output->is_rust = output->too_long = false;
	output->used = 0;
	return cplus_demangle_v3_callback(symbol, options, append, output);
}

bool demangle(const char *symbol, char text[DEMANGLED_SIZE])
{
	struct output output = {.text = text};
	size_t length = strcspn(symbol, "@");
	char plain[DEMANGLED_SIZE];

	if (!may_be_mangled(symbol) || length >= sizeof(plain) || setjmp(output.give_up))
		return false;
	memcpy(plain, symbol, length);
	plain[length] = '\0';
	if (!demangle_plain(plain, &output) || output.used == 0)
		return false;
	append(symbol + length, strlen(symbol + length), &output);
	text[output.used] = '\0';
	return true;
}
