// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

/* What the callbacks of libiberty write into. */
struct output {
	char *text;
	size_t used;
	jmp_buf too_long;
};

/*
 * libiberty's printers cannot be told to stop, and would go on for the whole of a
 * form that is exponential in its symbol: this leaves them by a jump. They hold no
 * memory then but, in a Rust v0 name, the buffer of one Punycode identifier.
 */
static void append(const char *piece, size_t length, void *opaque)
{
	struct output *output = opaque;

	if (length == 0)
		return; /* an empty name of Rust: piece is NULL */
	if (length >= DEMANGLED_SIZE - output->used)
		longjmp(output->too_long, 1);
	memcpy(output->text + output->used, piece, length);
	output->used += length;
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

	if (rust_demangle_callback(symbol, options, append, output))
		return true;
	output->used = 0; /* it can fail behind the first piece */
	return cplus_demangle_v3_callback(symbol, options, append, output);
}

bool demangle(const char *symbol, char text[DEMANGLED_SIZE])
{
	struct output output = {.text = text};
	size_t length = strcspn(symbol, "@");
	char plain[DEMANGLED_SIZE];

	if (!may_be_mangled(symbol) || length >= sizeof(plain) || setjmp(output.too_long))
		return false;
	memcpy(plain, symbol, length);
	plain[length] = '\0';
	if (!demangle_plain(plain, &output) || output.used == 0)
		return false;
	append(symbol + length, strlen(symbol + length), &output);
	text[output.used] = '\0';
	return true;
}
