/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the user stacks of a trace are walked: switch on what that needs, and keep it going. */
#ifndef TRACEKIT_CORE_UNWIND_UNWINDING_H
#define TRACEKIT_CORE_UNWIND_UNWINDING_H

#include <stdbool.h>
#include <stdint.h>

struct base_key;
struct bpf_object;
struct error;
struct event_counters;
struct trace_config;
struct trace_options;
struct unwind_module_list;
struct unwinding;

/* In bytes. */
struct unwind_room {
	uint64_t tables;   /* call-frame information that may be loaded */
	uint32_t raw_ring; /* for stacks that are walked later: a power of two */
};

/*
 * Between open and load of object: write to config how user stacks are walked, and switch off what
 * that does not need. Returns 0 or a negative
 * errno with error filled.
 */
int unwinding__configure(struct unwinding **unwinding, const struct trace_options *options,
			 const struct unwind_room *room, struct bpf_object *object,
			 struct trace_config *config, struct error *error);
/* NULL is allowed. */
void unwinding__free(struct unwinding *unwinding);

/*
 * After the load of object, if it is known in which files frames are: load what walks need of the
 * processes that options name; else, for half a second at most, of what runs now. Does not wait for
 * them any longer once stop_fd is readable. Of a command that is held, program is the path: then
 * this does not wait, and unwinding__await() is due before the command runs. Returns as above.
 */
int unwinding__start(struct unwinding *unwinding, const char *program, int stop_fd,
		     struct error *error);

/*
 * Wait for what unwinding__start() has begun to load: for a second after that at most, of a
 * command, and then say what is missing.
 */
void unwinding__await(const struct unwinding *unwinding, int stop_fd);

/*
 * The modules that user frames can have, once it has been started; they stay as long as it does.
 * NULL: there are none.
 */
const struct unwind_module_list *unwinding__modules(const struct unwinding *unwinding);

/*
 * Before a report: wait a moment until the modules are known that walks have come to, and stacks
 * are walked that were to be walked later.
 */
void unwinding__settle(const struct unwinding *unwinding);

/* Between configure and load: have programs note where they have their modules. */
void unwinding__tell_bases(struct unwinding *unwinding, struct trace_config *config);
/* *base becomes where a program has a module; false if that is not known. */
bool unwinding__find_base(const struct unwinding *unwinding, const struct base_key *key,
			  uint64_t *base);
/* Now and then: see unwind_bases__make_room(). */
void unwinding__make_room_for_bases(const struct unwinding *unwinding);

/*
 * Where files come that walks have come to, to be held for names (sym/process/passed_file.h), once
 * it has been started; it stays as long as it does. 0: none.
 */
int unwinding__passed_files(const struct unwinding *unwinding);

/* Say on stderr what is missing; with stats also how stacks are walked, and how the walks ended. */
void unwinding__say(const struct unwinding *unwinding, const struct event_counters *counters,
		    bool stats);

#endif
