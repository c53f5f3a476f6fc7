/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a frame of a user stack to its caller's: by the rule that call-frame information has for
 * its address, else by what is known of the entry of a function, else by a frame pointer, else not
 * at all.
 */
#ifndef TRACEKIT_BPF_WALK_H
#define TRACEKIT_BPF_WALK_H

#include "arch.bpf.h"
#include "common.bpf.h"
#include "config.bpf.h"
#include "modules.bpf.h"
#include "scratch.bpf.h"
#include "stack_window.bpf.h"
#include "tables.bpf.h"
#include "user_probes.bpf.h"

static __always_inline __u64 walk__stack_pointer(const struct walk *walk)
{
	return walk->registers[DWARF_STACK_POINTER];
}

/* Begin to find modules, of the running process. */
static __always_inline void walk__begin_modules(struct scratch *scratch)
{
	scratch->walk.mapping.end = 0;
	scratch->walk.mapping.module = UNWIND_NO_MODULE;
	begin_in_mappings(scratch->number);
}

#ifdef DWARF_BASE_REGISTER
#define WALK_BASE_REGISTER DWARF_BASE_REGISTER
#else
#define WALK_BASE_REGISTER DWARF_FRAME_POINTER /* there is no other that walks change */
#endif

static __always_inline void walk__note_start(struct walk *walk)
{
	walk->start.pc = walk->pc;
	walk->start.stack_pointer = walk->registers[DWARF_STACK_POINTER];
	walk->start.frame_pointer = walk->registers[DWARF_FRAME_POINTER];
	walk->start.base_register = walk->registers[WALK_BASE_REGISTER];
	walk->start.exact = walk->exact;
	walk->start.at_entry = walk->at_entry;
	walk->start.is_lost = 0;
}

/* Begin where the walk's registers, pc, exact, at_entry and start.is_called say. */
static __always_inline void walk__begin(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;

	walk__note_start(walk);
	walk->valid = -1;
	walk->assisted = walk->by_frame_pointer = 0;
	walk->instance = 0;
	walk__begin_modules(scratch);
	if (walk->trampoline)
		leave_probes(walk->number);
}

/*
 * Set the mapping and module of the walk in that slot to those of another address: an enum
 * unwind_end. A global function, as those of scratch.bpf.h.
 */
__noinline int find_module(__u32 slot, __u64 address)
{
	struct scratch *scratch = scratch__find(slot);
	struct unwind_module *module;
	__u32 number, state;
	struct walk *walk;

	if (!scratch || !config.find_files)
		return UNWIND_UNREADABLE;
	walk = &scratch->walk;
	if (!modules__is_recent(walk, address)) {
		enum unwind_end end = modules__look_up(walk, address);

		if (end != UNWIND_GOES_ON)
			return end;
	}
	number = walk->mapping.module;
	module = bpf_map_lookup_elem(&unwind_modules, &number);
	walk->module.nr_pages = 0;
	state = number == UNWIND_UNKNOWN_MODULE ? UNWIND_MODULE_WANTED : UNWIND_MODULE_EMPTY;
	if (module) {
		/*
		 * Read the state first, as it is written last (core/unwind/tables.c, with release).
		 * All that it leads to is found by what was read before: pages by the module, rows
		 * by the page, rules by the row; no processor loads from an address before it has
		 * it.
		 */
		state = READ_ONCE(module->state);
		walk->module = *(const struct unwind_module *)load_behind(state, module);
		if (module->used != walk->now)
			module->used = walk->now;
	}
	walk->module.state = state;
	return UNWIND_GOES_ON;
}

static __always_inline enum unwind_end walk__find_module(const struct walk *walk, __u64 address)
{
	if (address >= walk->mapping.start && address < walk->mapping.end)
		return UNWIND_GOES_ON;
	return find_module(walk->number, address);
}

/*
 * A frame without a module keeps its address. If that is not of user space it becomes 0, as abi.h
 * asks; a branch would double the verifier's states.
 */
static __always_inline __u64 walk__user_frame(__u64 address)
{
	return address & (__s64)((address >> FRAME_TAG_SHIFT) - 1) >> 63;
}

/* Note the place of pc in its file: the same in all processes, and when they have ended. */
static __always_inline void walk__note_frame(struct walk *walk)
{
	__u64 offset = walk->pc - walk->mapping.base;

	if (walk->mapping.module < UNWIND_MODULES && !(offset >> FRAME_MODULE_SHIFT))
		walk->frame = frame_in_module(walk->mapping.module, offset);
}

/* walk->rule becomes the number of the rule that holds at pc. */
static __always_inline enum unwind_end walk__find_rule(struct walk *walk)
{
	__u64 address = walk->pc - !walk->exact, offset;
	enum unwind_end end = walk__find_module(walk, address);

	walk->rule = UNWIND_NONE;
	walk->frame = walk__user_frame(walk->pc);
	if (end != UNWIND_GOES_ON)
		return end;
	walk__note_frame(walk);
	if (walk->module.state == UNWIND_MODULE_EMPTY)
		return UNWIND_GOES_ON;
	if (walk->module.state != UNWIND_MODULE_LOADED)
		return UNWIND_TABLES_MISSING;
	offset = address - walk->mapping.base;
	/* Where threads are interrupted they are but once. */
	walk->rule =
		recall_rule_number(&walk->module, offset,
				   walk->exact ? 0 : unwind_place(walk->mapping.module, offset));
	return UNWIND_GOES_ON;
}

/* Read a word into window->found; not inlined, for the stack of its callers (scratch.bpf.h). */
static __noinline bool walk__read(struct stack_window *window, __u64 address)
{
	__u32 index;

	if (!stack_window__find(window, address, &index))
		return false;
	window->found = window->words[index];
	return true;
}

static __always_inline bool walk__register(const struct walk *walk, __u32 number, __u64 *value)
{
	if (number >= DWARF_REGISTERS || !(walk->valid >> number & 1))
		return false;
	*value = walk->registers[number];
	return true;
}

/* The kernel has put all registers on the stack of the handler, for the return from it. */
static __noinline enum unwind_end walk__signal(struct walk *walk, struct stack_window *window)
{
	__u64 address = walk__stack_pointer(walk);

	if (!FRAME_RECORD_ON_TOP && !(walk->valid >> DWARF_STACK_POINTER & 1))
		return UNWIND_LOST_REGISTER;
	stack_window__forget(window);
	if (!user_signal__registers(address, walk->registers, &walk->pc, window->words))
		return UNWIND_UNREADABLE;
	stack_window__forget(window);
	walk->start.is_lost = 1;
	walk->valid = -1;
	walk->exact = true;
	walk->at_entry = false;
	walk->by_frame_pointer = 0;
	return UNWIND_GOES_ON;
}

/*
 * Behind a step by a frame pointer the stack pointer is not known, where frame records are not on
 * top. But a function that has called another one, and keeps a frame pointer, has it at its own
 * record, and its rule says where that is.
 */
static __always_inline bool walk__cfa_by_record(struct walk *walk, const struct unwind_rule *rule)
{
	__u64 pointer;

	if (FRAME_RECORD_ON_TOP || rule->cfa != UNWIND_REGISTER ||
	    rule->cfa_register != DWARF_STACK_POINTER || rule->frame_pointer != UNWIND_AT_CFA ||
	    rule->return_address != UNWIND_AT_CFA ||
	    rule->return_address_offset != rule->frame_pointer_offset + (int)sizeof(__u64) ||
	    !walk__register(walk, DWARF_FRAME_POINTER, &pointer))
		return false;
	walk->cfa = pointer - rule->frame_pointer_offset;
	return walk->cfa > walk__stack_pointer(walk);
}

static __always_inline enum unwind_end walk__cfa(struct walk *walk, struct stack_window *window,
						 const struct unwind_rule *rule)
{
	__u64 base;

	if (!walk__register(walk, rule->cfa_register, &base))
		return walk__cfa_by_record(walk, rule) ? UNWIND_GOES_ON : UNWIND_LOST_REGISTER;
	base += rule->cfa_offset;
	if (rule->cfa == UNWIND_MEMORY) {
		if (!walk__read(window, base))
			return UNWIND_UNREADABLE;
		base = window->found + rule->cfa_addend;
	} else if (rule->cfa == UNWIND_PLT) {
		base += (walk->pc - !walk->exact) % 16 >= (__u64)(__u32)rule->cfa_addend ?
				sizeof(__u64) :
				0;
	}
	walk->cfa = base;
	/* A function that has taken its return address from the stack, as vfork() does. */
	if (rule->return_address == UNWIND_IN_REGISTER && base == walk__stack_pointer(walk))
		return UNWIND_GOES_ON;
	return base > walk__stack_pointer(walk) ? UNWIND_GOES_ON : UNWIND_NOT_GROWING;
}

/*
 * Find the caller's frame pointer; it is lost if it cannot be read. The lower word of a frame is
 * read first, so that the window has the rest as well.
 */
static __always_inline void walk__frame_pointer(struct walk *walk, struct stack_window *window,
						const struct unwind_rule *rule)
{
	__u64 *pointer = &walk->registers[DWARF_FRAME_POINTER], address = walk->cfa;
	bool valid = true;

	switch (rule->frame_pointer) {
	case UNWIND_SAME:
		return;
	case UNWIND_AT_REGISTER:
		valid = walk__register(walk, rule->frame_pointer_register, &address);
		/* fallthrough */
	case UNWIND_AT_CFA:
		valid = valid && walk__read(window, address + rule->frame_pointer_offset);
		*pointer = window->found;
		break;
	case UNWIND_IN_REGISTER:
		valid = walk__register(walk, rule->frame_pointer_register, pointer);
		break;
	default:
		valid = false;
	}
	if (valid)
		walk->valid |= 1ULL << DWARF_FRAME_POINTER;
	else
		walk->valid &= ~(1ULL << DWARF_FRAME_POINTER);
}

#ifdef DWARF_BASE_REGISTER

#define WALK_BASE_BIT (1ULL << DWARF_BASE_REGISTER)

/* Find the caller's base register, behind all that is found by this frame's. */
static __always_inline void walk__base_register(struct walk *walk, struct stack_window *window,
						const struct unwind_rule *rule)
{
	if (rule->base == UNWIND_BASE_SAME)
		return;
	if (rule->base != UNWIND_BASE_LOST &&
	    walk__read(window, walk->cfa - rule->base * sizeof(__u64))) {
		walk->registers[DWARF_BASE_REGISTER] = window->found;
		walk->valid |= WALK_BASE_BIT;
	} else {
		walk->valid &= ~WALK_BASE_BIT;
	}
}

#else

#define WALK_BASE_BIT 0

static __always_inline void walk__base_register(struct walk *walk, struct stack_window *window,
						const struct unwind_rule *rule)
{
	(void)walk, (void)window, (void)rule;
}

#endif

static __always_inline enum unwind_end walk__return_address(const struct walk *walk,
							    struct stack_window *window,
							    const struct unwind_rule *rule,
							    __u64 *address)
{
	__u64 place = walk->cfa;

	switch (rule->return_address) {
	case UNWIND_AT_REGISTER:
		if (!walk__register(walk, rule->return_address_register, &place))
			return UNWIND_LOST_REGISTER;
		/* fallthrough */
	case UNWIND_AT_CFA:
		if (!walk__read(window, place + rule->return_address_offset))
			return UNWIND_UNREADABLE;
		*address = window->found;
		return UNWIND_GOES_ON;
	case UNWIND_IN_REGISTER:
		return walk__register(walk, rule->return_address_register, address) ?
			       UNWIND_GOES_ON :
			       UNWIND_LOST_REGISTER;
	default:
		return UNWIND_UNKNOWN_RULE;
	}
}

static __always_inline enum unwind_end walk__complete(const struct walk *walk)
{
	return walk->assisted ? UNWIND_ASSISTED : UNWIND_COMPLETE;
}

/*
 * A return address of 0 means the outermost frame, if the frame pointer is 0 as well; else
 * something has been overwritten, or was no return address.
 */
static __always_inline enum unwind_end walk__at_zero(const struct walk *walk)
{
	__u64 pointer;

	return walk__register(walk, DWARF_FRAME_POINTER, &pointer) && !pointer ?
		       walk__complete(walk) :
		       UNWIND_NO_CODE;
}

/*
 * The walk is at pc of a caller now; only the caller's stack and frame pointer are known, and its
 * base register where rules have said where it is.
 */
static __always_inline enum unwind_end walk__to_caller(struct walk *walk, __u64 pc,
						       __u64 stack_pointer)
{
	walk->pc = user_regs__code(pc);
	walk->registers[DWARF_STACK_POINTER] = stack_pointer;
	walk->valid &= 1ULL << DWARF_FRAME_POINTER | WALK_BASE_BIT;
	walk->valid |= 1ULL << DWARF_STACK_POINTER;
	walk->exact = walk->at_entry = false;
	return walk->pc ? UNWIND_GOES_ON : walk__at_zero(walk);
}

/* By a frame pointer: the caller's stack pointer is there, or above. */
static __always_inline enum unwind_end walk__to_caller_by_record(struct walk *walk, __u64 pc,
								 __u64 stack_pointer)
{
	enum unwind_end end = walk__to_caller(walk, pc, stack_pointer);

	if (!FRAME_RECORD_ON_TOP)
		walk->valid &= ~(1ULL << DWARF_STACK_POINTER);
	return end;
}

/*
 * At its first instruction a function has not set up its frame yet: the frame pointer is still its
 * caller's, so a walk that follows it loses the caller, as the kernel's did before 6.12
 * (cfa7f3d2c526), and still does but at some first instructions. But the return address is known.
 */
static __always_inline enum unwind_end walk__from_entry(struct walk *walk)
{
	if (!dwarf__return_address(walk->registers, &walk->pc))
		return UNWIND_UNREADABLE;
	return walk__to_caller(walk, walk->pc, walk__stack_pointer(walk) + CALL_PUSHES);
}

static __always_inline enum unwind_end walk__by_rule(struct walk *walk, struct stack_window *window,
						     const struct unwind_rule *rule)
{
	enum unwind_end end;
	__u64 pc = 0;

	walk->by_frame_pointer = 0;
	if (rule->cfa == UNWIND_END)
		return walk__complete(walk);
	if (rule->flags & UNWIND_SIGNAL)
		return walk__signal(walk, window);
	end = walk__cfa(walk, window, rule);
	if (end != UNWIND_GOES_ON)
		return end;
	/* The frame pointer, about to change, may hold the return address or lead to it. */
	if (rule->return_address != UNWIND_AT_CFA) {
		end = walk__return_address(walk, window, rule, &pc);
		walk__frame_pointer(walk, window, rule);
	} else {
		walk__frame_pointer(walk, window, rule);
		end = walk__return_address(walk, window, rule, &pc);
	}
	if (end != UNWIND_GOES_ON)
		return end;
	walk__base_register(walk, window, rule);
	return walk__to_caller(walk, pc, walk->cfa);
}

/* *index: the place of the two words at the frame pointer in the window; false if there is none. */
static __always_inline bool walk__find_frame(struct walk *walk, struct stack_window *window,
					     __u32 *index)
{
	__u64 pointer;

	return walk__register(walk, DWARF_FRAME_POINTER, &pointer) &&
	       pointer >= walk__stack_pointer(walk) && pointer % sizeof(__u64) == 0 &&
	       stack_window__find(window, pointer, index);
}

/*
 * For code without information: made at run time, or of languages that keep frame pointers instead.
 * Elsewhere the frame pointer can be any number: it must lead to code, or the stack ends here. A
 * stack is complete where frames are linked and the last link is 0: one pair of words that looks
 * like the outermost frame is also in many other places.
 */
static __noinline enum unwind_end
walk__by_frame_pointer(struct walk *walk, struct stack_window *window, enum unwind_end otherwise)
{
	__u64 pointer, pc;
	__u32 index;

	if (!config.frame_pointers || !walk__register(walk, DWARF_FRAME_POINTER, &pointer))
		return otherwise;
	if (!pointer && walk->by_frame_pointer > 1)
		return walk__complete(walk);
	if (!walk__find_frame(walk, window, &index))
		return otherwise;
	pc = user_regs__code(window->words[index + 1]);
	if (!pc && (window->words[index] || !walk->by_frame_pointer))
		return otherwise;
	walk->assisted = true;
	walk->valid &= ~WALK_BASE_BIT;
	walk->by_frame_pointer = walk->by_frame_pointer ? 2 : 1;
	walk->registers[DWARF_FRAME_POINTER] = window->words[index];
	/* Nothing executable is there. */
	if (pc && pc != walk->trampoline && walk__find_module(walk, pc - 1) != UNWIND_GOES_ON)
		return UNWIND_NO_CODE;
	return walk__to_caller_by_record(walk, pc, pointer + 2 * sizeof(__u64));
}

/*
 * From one frame to the next, as the kernel does. Behind the end of a walk by tables the frame
 * pointer can be any number, or lost: it must then lead up the stack.
 */
static __always_inline bool walk__follow_frame_pointer(struct walk *walk,
						       struct stack_window *window)
{
	__u64 *pointer = &walk->registers[DWARF_FRAME_POINTER];
	__u32 index;

	if (walk->at_entry)
		return walk__from_entry(walk) == UNWIND_GOES_ON;
	if (config.unwind_tables ? !walk__find_frame(walk, window, &index) :
				   !stack_window__find(window, *pointer, &index))
		return false;
	walk->registers[DWARF_STACK_POINTER] = *pointer + 2 * sizeof(__u64);
	*pointer = window->words[index];
	walk->pc = user_regs__code(window->words[index + 1]);
	if (walk->pc == walk->trampoline)
		(void)leave_trampoline(walk->number, 0);
	return true;
}

/* walk__find_rule() for the walk in that slot, behind a function with a return probe. */
__noinline int walk_find_rule(__u32 number)
{
	struct scratch *scratch = scratch__find(number);

	if (!scratch)
		return UNWIND_UNREADABLE;
	if (scratch->walk.pc == scratch->walk.trampoline && !leave_trampoline(number, 0))
		return UNWIND_RETURN_PROBE;
	return walk__find_rule(&scratch->walk);
}

/*
 * True where exec() has put the program's stack: so nothing is above, as in _start of glibc's
 * dynamic loader, which has no information.
 */
static __always_inline bool walk__is_at_root(const struct walk *walk)
{
	return walk->program && walk__stack_pointer(walk) == walk->program;
}

/*
 * True where a function without information has only just been called, or has pushed nothing, in a
 * file that has information about others: generated code, and languages without any, keep frame
 * pointers. All registers are known there.
 */
static __always_inline bool walk__may_be_called(const struct walk *walk)
{
	return walk->valid == -1ULL && walk->rule == UNWIND_NONE &&
	       (LINK_REGISTER || walk->module.state == UNWIND_MODULE_LOADED);
}

/*
 * Where there is no information about anything, as in the vDSO of arm64, and in generated code:
 * nothing that the function has called has returned yet if the link register leads to other memory.
 * Unless it has a frame record already, which is then left as all others.
 */
static __always_inline bool walk__links_out(struct scratch *scratch)
{
	struct walk *walk = &scratch->walk;
	__u64 link = user_regs__code(walk->registers[LINK_REGISTER]);
	__u32 index;

	if ((link > walk->mapping.start && link <= walk->mapping.end) ||
	    (walk__find_frame(walk, &scratch->window, &index) &&
	     user_regs__code(scratch->window.words[index + 1]) == link))
		return false;
	return walk__find_module(walk, link - 1) == UNWIND_GOES_ON;
}

/* ... and has, by the code in front of its return address. */
static __always_inline bool walk__is_called(const struct walk *walk)
{
	__u64 address = 0;

	if (!dwarf__return_address(walk->registers, &address) || !address)
		return false;
	/* Only functions that have been called have a return probe. */
	if (address == walk->trampoline)
		return true;
	return user_call__is_of(user_regs__code(address), walk->pc) &&
	       walk__find_module(walk, user_regs__code(address) - 1) == UNWIND_GOES_ON;
}

/*
 * For the walk in that slot; noted at its start, since the code cannot be read where the
 * stack is walked later. A global function, as those of scratch.bpf.h.
 */
__noinline int is_called(__u32 number)
{
	struct scratch *scratch = scratch__find(number);
	bool is_called;

	if (!scratch)
		return 0;
	if (scratch->walk.start.is_called && !scratch->walk.start.is_lost)
		return 1;
	is_called = LINK_REGISTER && scratch->walk.module.state != UNWIND_MODULE_LOADED ?
			    walk__links_out(scratch) :
			    walk__is_called(&scratch->walk);
	scratch->walk.start.is_called = is_called;
	return is_called;
}

/* Go one frame further; UNWIND_GOES_ON if there is one. */
static __always_inline enum unwind_end walk__step(struct walk *walk, struct stack_window *window)
{
	enum unwind_end end = walk_find_rule(walk->number);
	const struct unwind_rule *rule;
	__u32 number = walk->rule;

	if (end != UNWIND_GOES_ON)
		return end;
	rule = bpf_map_lookup_elem(&unwind_rules, &number);
	if (rule && number > UNWIND_UNSUPPORTED)
		return walk__by_rule(walk, window, rule);
	if (walk__is_at_root(walk))
		return walk__complete(walk);
	if (user_signal__returns_at(walk->pc, walk->valid == -1ULL))
		return walk__signal(walk, window);
	if (walk->at_entry || (walk__may_be_called(walk) && is_called(walk->number)))
		return walk__from_entry(walk);
	return walk__by_frame_pointer(
		walk, window, number == UNWIND_NONE ? UNWIND_NO_INFORMATION : UNWIND_UNKNOWN_RULE);
}

/* From a frame to its caller's by the frame pointer, whatever the tables say; 0: there is none. */
__noinline int follow_frame_pointer(__u32 number)
{
	struct scratch *scratch = scratch__find(number);

	return scratch && walk__follow_frame_pointer(&scratch->walk, &scratch->window);
}

#endif
