// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libiberty cannot be told to stop, and some symbols of a few bytes keep it busy
 * for years: their forms double with each level, in print or in a walk that
 * prints nothing, or it parses each level twice, or counts to 2^62 in silence. So
 * it is left by a jump, from its callback as soon as the form is too long, or from
 * a timer.
 *
 * A jump could leave memory behind, or an allocator that is at work. libiberty's printers
 * allocate none but, in a Rust v0 name, the buffer of one Punycode identifier while they decode and
 * print it. No jump leaves them in print then; and where a name can have such identifiers, the
 * first tick of the timer is only noted, for the callback. Each of them is so short that it is
 * printed long before the next tick: when that comes, nothing has been printed meanwhile, nor
 * allocated.
 */
#include "sym/elf/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

/* CPU time, in microseconds. The longest of ordinary names take a tenth of one millisecond. */
#define TIME_MAX 10000

/* Decoding takes time by the square of the length. Identifiers in earnest have some ten bytes. */
#define PUNYCODE_LENGTH_MAX 255

/* The output of libiberty's callbacks. */
struct output {
	char *text;
	size_t used;
	int options; /* of libiberty */
	bool is_rust;
	bool allocates;		    /* libiberty may be at work in the allocator */
	volatile sig_atomic_t late; /* the time is over, as a tick of the timer has noted */
	bool too_long;		    /* no further text is wanted */
	sigjmp_buf give_up;
};

/* Non-ASCII comes from the buffer of a Punycode identifier: all else in Rust symbols is ASCII. */
static bool is_punycode(const struct output *output, const char *piece, size_t length)
{
	for (size_t i = 0; output->is_rust && i < length; i++)
		if (piece[i] & 0x80)
			return true;
	return false;
}

static void append(const char *piece, size_t length, void *opaque)
{
	struct output *output = opaque;

	if (length == 0)
		return; /* an empty name of Rust: piece is NULL */
	output->too_long |= length >= DEMANGLED_SIZE - output->used;
	if ((output->too_long || output->late) && !is_punycode(output, piece, length))
		siglongjmp(output->give_up, 1);
	if (!output->too_long) {
		memcpy(output->text + output->used, piece, length);
		output->used += length;
	}
}

/* The output that is being written to, if any. */
static struct output *volatile active;

static void out_of_time(int signal)
{
	(void)signal;
	if (!active)
		return;
	if (!active->allocates || active->late)
		siglongjmp(active->give_up, 1);
	active->late = true;
}

static void start_timer(struct output *output)
{
	/* Not blocked while it is handled: a jump does not unblock it. */
	const struct sigaction action = {.sa_handler = out_of_time,
					 .sa_flags = SA_NODEFER | SA_RESTART};
	const struct itimerval time = {.it_value = {.tv_usec = TIME_MAX},
				       .it_interval = {.tv_usec = TIME_MAX}};
	static bool handled;

	if (!handled)
		handled = sigaction(SIGVTALRM, &action, NULL) == 0;
	active = output;
	setitimer(ITIMER_VIRTUAL, &time, NULL);
}

static void stop_timer(void)
{
	const struct itimerval never = {.it_value = {0}};

	setitimer(ITIMER_VIRTUAL, &never, NULL);
	active = NULL;
}

static bool may_be_mangled(const char *symbol)
{
	return !strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2) ||
	       !strncmp(symbol, "_GLOBAL_", 8);
}

/* The length of the longest identifier in Punycode, "u1234_...", that a symbol could hold; or 0. */
static size_t longest_punycode(const char *symbol)
{
	size_t longest = 0;

	while ((symbol = strchr(symbol, 'u'))) {
		size_t length = 0;

		/* It can overflow, to the same value as in libiberty. */
		for (symbol++; *symbol >= '0' && *symbol <= '9'; symbol++)
			length = length * 10 + (size_t)(*symbol - '0');
		if (length > longest && length <= strlen(symbol))
			longest = length;
	}
	return longest;
}

/* The symbol alone, without a version or "@plt" behind it. */
static bool demangle_plain(const char *symbol, struct output *output)
{
	size_t punycode = symbol[1] == 'R' ? longest_punycode(symbol) : 0;

	if (punycode > PUNYCODE_LENGTH_MAX)
		return false;
	output->allocates = punycode;
	output->is_rust = true;
	if (rust_demangle_callback(symbol, output->options, append, output))
		return !output->too_long;
	/* It can fail behind the first piece. */
	output->is_rust = output->too_long = false;
	output->used = 0;
	/*
	 * With its limit on recursion no C++ symbol above 1,024 bytes has a form. Without it the
	 * deepest ones of DEMANGLED_SIZE take 1 MB of stack. Rust's back references need the limit.
	 */
	return cplus_demangle_v3_callback(symbol, output->options | DMGL_NO_RECURSE_LIMIT, append,
					  output);
}

/* As demangle(), without a NUL. */
static bool demangle_in_time(const char *symbol, struct output *output, unsigned int *patience)
{
	bool done;

	if (sigsetjmp(output->give_up, 0)) {
		stop_timer();
		*patience -= !output->too_long;
		return false;
	}
	start_timer(output);
	done = demangle_plain(symbol, output);
	stop_timer();
	return done && output->used;
}

/* Rust's legacy names can have dots within; a hash ends them. */
static bool may_be_rust(const char *symbol)
{
	return !strncmp(symbol, "_R", 2) || strstr(symbol, "17h");
}

/* The end behind the mangled name: a version, "@plt", or if wanted ".cold" and the like. */
static const char *find_suffix(const char *symbol, const struct output *output)
{
	bool has_dots = output->options & DMGL_PARAMS || may_be_rust(symbol);

	return symbol + strcspn(symbol, has_dots ? "@" : "@.");
}

static bool demangle_with(const char *symbol, struct output *output, unsigned int *patience)
{
	const char *suffix = find_suffix(symbol, output);
	size_t length = (size_t)(suffix - symbol), suffix_length = strlen(suffix);
	char plain[DEMANGLED_SIZE];

	if (!may_be_mangled(symbol) || length >= sizeof(plain) || *patience == 0)
		return false;
	memcpy(plain, symbol, length);
	plain[length] = '\0';
	if (!demangle_in_time(plain, output, patience) ||
	    suffix_length >= DEMANGLED_SIZE - output->used)
		return false;
	memcpy(output->text + output->used, suffix, suffix_length + 1);
	return true;
}

bool demangle(const char *symbol, char text[DEMANGLED_SIZE], unsigned int *patience)
{
	struct output output = {.text = text, .options = DMGL_PARAMS | DMGL_ANSI};

	return demangle_with(symbol, &output, patience);
}

bool demangle_name(const char *symbol, char text[DEMANGLED_SIZE], unsigned int *patience)
{
	struct output output = {.text = text, .options = DMGL_ANSI};

	return demangle_with(symbol, &output, patience);
}
