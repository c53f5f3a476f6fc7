/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places to probe in an ELF file: its functions and its USDT probes, as offsets
 * in the file, which is how uprobes are told their place.
 *
 * The file is anyone's: what it can make us do is bounded, and nothing of it is
 * mapped. USDT probes are notes as SystemTap's <sys/sdt.h> writes them
 * (sourceware.org/systemtap/wiki/UserSpaceProbeImplementation).
 */
#ifndef TRACEKIT_SYM_FIND_PROBE_SITES_H
#define TRACEKIT_SYM_FIND_PROBE_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/util/arena.h"

struct probe_site {
	uint64_t offset;  /* first: the key. In the file: where the breakpoint goes */
	const char *name; /* of the function or USDT probe; unchecked bytes, in the list's arena */
	const char *provider; /* of a USDT probe; NULL: a function */
	uint64_t semaphore;   /* in the file: counts who watches a USDT probe; 0: it has none */
	/*
	 * The page of the semaphore lies in two segments that are writable at first, by so many
	 * bytes apart; 0: in one. See sym/process/file_words.h.
	 */
	uint64_t semaphore_shift;
	/* In so many segments that are not writable its page lies: each gets the breakpoint. */
	uint32_t breakpoints;
	bool indirect; /* an IFUNC: the resolver lies there, not the function */
	bool misread;  /* a breakpoint there would break the program: see below */
};

/*
 * True if Linux takes the instruction that begins with these bytes for another one. Its uprobes
 * carry out some instructions of x86-64 themselves and look only at the opcode for that: a vector
 * instruction (VEX, EVEX) with the opcode of a jump, call or push is then carried out as such (seen
 * on 6.18: a breakpoint on __strchrnul_evex, vpbroadcastb, opcode 0x7a, which is jp, and printf()
 * fails). Uprobes refuse others by such a mistake, and instructions with a LOCK prefix always:
 * these are true here, too.
 */
#define PROBE_INSTRUCTION_BYTES 16
bool probe_instruction__is_misread(const unsigned char bytes[PROBE_INSTRUCTION_BYTES]);

struct probe_site_list {
	struct probe_site *sites; /* by offset */
	size_t nr;
	/* USDT probes that were wanted, but have no place, or no semaphore, in the file. */
	size_t nr_misplaced;
	struct arena names;
};

/* True if the caller wants this name; provider is NULL for functions. */
typedef bool (*probe_site_wanted)(void *context, const char *provider, const char *name);

/* The names that functions of C++ and Rust are offered by. */
enum probe_names {
	PROBE_NAMES_MANGLED,   /* their symbols alone */
	PROBE_NAMES_DEMANGLED, /* also without parameters, as "std::sort<int*>" */
	PROBE_NAMES_WHOLE,     /* also as frames show them: "shop::sell(int) const" */
};

/*
 * The functions of the file at fd that are wanted, one site for each address:
 * elf_symbols__find() says which of several aliases names it. They have the name that was
 * wanted; of those with a version that is "f", or else "f@V1", as frames show it. debug_fd: a
 * file with further symbols of it, which binary__open_debug() finds, or -1.
 * Returns 0, -ENOEXEC if it is no ELF file that this machine could run, -EFBIG if it
 * asks for far more work than any program, or another negative errno. *list, whatever
 * it was, is filled only if 0 is returned.
 */
int probe_sites__functions(struct probe_site_list *list, int fd, int debug_fd,
			   enum probe_names names, probe_site_wanted wanted, void *context);

/*
 * The USDT probes that are wanted: a name has as many sites as the compiler made.
 * Returns the same.
 */
int probe_sites__usdt(struct probe_site_list *list, int fd, probe_site_wanted wanted,
		      void *context);

void probe_site_list__release(struct probe_site_list *list);

#endif
