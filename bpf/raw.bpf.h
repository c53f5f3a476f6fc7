/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Send a stack to be walked later: its words, its registers, and the mappings that its words lead
 * to. It is paid for where tables are missing, only.
 */
#ifndef TRACEKIT_BPF_RAW_H
#define TRACEKIT_BPF_RAW_H

#include "accounting.bpf.h"
#include "arch.bpf.h"
#include "ask.bpf.h"
#include "common.bpf.h"
#include "config.bpf.h"
#include "modules.bpf.h"
#include "raw_stack.h"
#include "scratch.bpf.h"
#include "walk.bpf.h"

_Static_assert(DWARF_REGISTERS <= RAW_REGISTERS, "all of them are sent");

/* Its size, and that of the others, is set between open and load. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} raw_stacks SEC(".maps");

struct raw_buffer {
	__u64 claims;
	struct raw_stack stack; /* only the words that are sent are in their place, */
	struct raw_mapping mappings[RAW_MAPPINGS]; /* and these are put behind them */
	__u64 zeros[RAW_WORDS / 64];
	/* Of the process; the verifier allows for a page behind them. */
	__u64 words[RAW_WORDS + USER_PAGE / sizeof(__u64)];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* or RAW_BUFFERS */
	__type(key, __u32);
	__type(value, struct raw_buffer);
} raw_buffers SEC(".maps");

/* From user space, for the program that counts or sends it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct walked_stack);
} walked_stacks SEC(".maps");

static __always_inline struct raw_buffer *raw__find(__u32 buffer)
{
	return bpf_map_lookup_elem(&raw_buffers, &buffer);
}

/* The number of a buffer that is now the caller's, as claim_slot(); negative: all are in use. */
__noinline int claim_raw_buffer(__u32 number)
{
	for (__u32 i = 0; i < RAW_BUFFERS && config.walks_later; i++) {
		__u32 at = (number + i) % RAW_BUFFERS;
		struct raw_buffer *buffer = raw__find(at);

		if (!buffer)
			return -1;
		if (claim(&buffer->claims))
			return (int)at;
	}
	return -1;
}

static __always_inline void raw__release(struct raw_buffer *buffer)
{
	unclaim(&buffer->claims);
}

/* ---- words ---- */

#define RAW_BYTES (RAW_WORDS * sizeof(__u64))

/* The end of what is to be copied from start on: of a page, and not behind the mapping. */
static __always_inline __u64 raw__end(const struct scratch *scratch, __u64 start)
{
	__u64 end = scratch->search.found.end, program = scratch->walk.program;

	/* Above the place where exec() has put the stack are arguments, and no frames. */
	if (program >= start && program < end)
		end = program - program % USER_PAGE + USER_PAGE;
	if (end - start > RAW_BYTES)
		end = start + RAW_BYTES;
	return end - end % USER_PAGE;
}

/* Copy from the word nr_words on to the end of a page; 0: that is not there. A global function, as
 * those of scratch.bpf.h, as are the next. */
__noinline int copy_raw_page(__u32 buffer_number, __u64 end)
{
	struct raw_buffer *buffer = raw__find(buffer_number);
	__u64 nr, address, bytes;

	if (!buffer)
		return 0;
	nr = READ_ONCE(buffer->stack.nr_words);
	address = buffer->stack.start + nr * sizeof(__u64);
	bytes = USER_PAGE - address % USER_PAGE;
	asm volatile("" : "+r"(nr)); /* or the compiler compares something else */
	if (address >= end || nr > RAW_WORDS)
		return 0;
	if (bpf_probe_read_user(&buffer->words[nr], bytes, (const void *)address))
		return 0;
	buffer->stack.nr_words = nr + bytes / sizeof(__u64);
	return 1;
}

/* Copy the stack of a buffer, as far as it is there; 0: nothing of it is. */
__noinline int copy_raw_words(__u32 number, __u32 buffer_number)
{
	const struct scratch *scratch = scratch__find(number);
	struct raw_buffer *buffer = raw__find(buffer_number);
	struct raw_mapping *first;
	struct raw_stack *raw;
	__u64 end;

	if (!scratch || !buffer || !config.walks_later)
		return 0;
	raw = &buffer->stack;
	raw->start = raw->registers[DWARF_STACK_POINTER] & ~7ULL;
	if (find_mapping(number, raw->start) == MAPPING_NONE)
		return 0;
	end = raw__end(scratch, raw->start);
	first = &buffer->mappings[0];
	first->start = first->base = scratch->search.found.start;
	first->end = scratch->search.found.end;
	first->executable = scratch->search.found.executable != 0;
	first->is_kept = 1;
	first->module = UNWIND_NO_MODULE;
	raw->nr_mappings = 1;
	for (__u32 i = 0; i <= RAW_BYTES / USER_PAGE; i++)
		if (!copy_raw_page(buffer_number, end))
			break;
	return raw->nr_words != 0;
}

/* ---- mappings ---- */

/* Programs have nothing there. */
#define RAW_LOWEST (1 << 16)

/* Send a word with the others, if keep is 1. */
static __always_inline void raw__keep_word(struct raw_stack *raw, __u64 number, __u64 word,
					   __u64 keep)
{
	__u64 nr = READ_ONCE(raw->nr_kept);

	raw->more[nr % RAW_KEPT] = raw_word((__u32)number, word);
	raw->nr_kept = nr + keep;
}

/* Keep the word if it can be used; false: it is not known where it leads. */
static __always_inline bool raw__sort_word(struct raw_buffer *buffer, __u64 number, __u64 word)
{
	__u64 known = 0, keep = 0;

	if (word >> (64 - RAW_NUMBER_BITS) || word < RAW_LOWEST) {
		buffer->zeros[number / 64 % ARRAY_SIZE(buffer->zeros)] |= (__u64)!word
									  << number % 64;
		return true;
	}
	for (__u32 i = 0; i < RAW_MAPPINGS; i++) {
		const struct raw_mapping *mapping = &buffer->mappings[i];
		/* 1 if it is; the verifier goes both ways at a mask of all bits or none. */
		__u64 inside = (~(word - mapping->start) & (word - mapping->end)) >> 63;

		known |= inside;
		keep |= inside & mapping->is_kept;
	}
	raw__keep_word(&buffer->stack, number, word, keep);
	return known;
}

/* Where the words of a stack end, and how many are looked at in one loop. */
#define RAW_END	  -1
#define RAW_TIMES 64

_Static_assert(RAW_WORDS == RAW_TIMES * RAW_TIMES, "loops go through all of them");

/*
 * The number of a word, plus 1, of which it is not known where it leads; 0: it is known; or
 * RAW_END.
 */
__noinline int sort_raw_word(__u32 buffer_number, __u32 number)
{
	struct raw_buffer *buffer = raw__find(buffer_number);
	__u64 at = number;

	asm volatile("" : "+r"(at)); /* or the compiler compares something else */
	if (!buffer || at >= RAW_WORDS || at >= READ_ONCE(buffer->stack.nr_words))
		return RAW_END;
	/* The rest is deeper than what is sent. */
	if (buffer->stack.nr_kept >= RAW_KEPT) {
		buffer->stack.nr_words = at;
		return RAW_END;
	}
	if (raw__sort_word(buffer, at, user_regs__code(buffer->words[at])) || buffer->stack.skips)
		return 0;
	return (int)number + 1;
}

/* Of the first of RAW_TIMES words for which sort_raw_word() does not give 0; 0: there is none. */
__noinline int find_unknown(__u32 buffer_number, __u32 first)
{
	for (__u64 i = 0; i < RAW_TIMES; i++) {
		int found = sort_raw_word(buffer_number, first + i);

		if (found)
			return found;
	}
	return 0;
}

__noinline int find_next_unknown(__u32 buffer_number, __u32 first)
{
	for (__u64 i = 0; i < RAW_TIMES; i++) {
		int found = find_unknown(buffer_number, first + i * RAW_TIMES);

		if (found)
			return found;
	}
	return RAW_END;
}

/* Note a mapping; false: there is no room. */
static __always_inline bool raw__add(struct raw_buffer *buffer, const struct raw_mapping *mapping)
{
	__u64 nr = READ_ONCE(buffer->stack.nr_mappings);

	asm volatile("" : "+r"(nr)); /* or the compiler compares something else */
	if (nr >= RAW_MAPPINGS)
		return false;
	buffer->mappings[nr] = *mapping;
	buffer->stack.nr_mappings = nr + 1;
	return true;
}

/* What an address is. */
enum raw_place {
	RAW_REFUSED = -1, /* the stack cannot be walked later */
	RAW_NO_CODE,
	RAW_CODE,
};

/* Note where an address of the program leads, if that is mapped, and ask for its tables. */
__noinline int note_raw_mapping(__u32 number, __u32 buffer_number, __u64 address)
{
	struct scratch *scratch = scratch__find(number);
	struct raw_buffer *buffer = raw__find(buffer_number);
	struct raw_mapping mapping = {.module = UNWIND_NO_MODULE};
	const struct mapping_search *search;
	const struct found_mapping *found;
	const struct walk *walk;

	if (!scratch || !buffer)
		return RAW_REFUSED;
	walk = &scratch->walk;
	/* The kernel tells where such a function returns to, as long as the process is there. */
	if (walk->trampoline && address - walk->trampoline < USER_PAGE)
		return RAW_REFUSED;
	search = &scratch->search;
	found = &search->found;
	if (find_module(number, address) == UNWIND_GOES_ON) {
		mapping.start = walk->mapping.start;
		mapping.end = walk->mapping.end;
		mapping.base = walk->mapping.base;
		mapping.module = walk->mapping.module;
		mapping.executable = mapping.is_kept = 1;
		if (walk->module.state == UNWIND_MODULE_WANTED)
			ask_for_tables(number);
	} else if (address - search->first <= search->last - search->first && search->last) {
		/* A mapping, or what is free: most words that are no addresses lead there. */
		mapping.start = search->first;
		mapping.end = search->last + 1;
	} else if (address - found->start < found->end - found->start) {
		mapping.start = found->start;
		mapping.end = found->end;
	} else {
		return RAW_NO_CODE;
	}
	if (!raw__add(buffer, &mapping))
		buffer->stack.skips = 1;
	return mapping.executable ? RAW_CODE : RAW_NO_CODE;
}

/* From the word first on; the number of the word behind, or 0 at the end, or RAW_REFUSED. */
static __always_inline int raw__note_next(__u32 number, __u32 buffer_number, __u32 first)
{
	int place = find_next_unknown(buffer_number, first);
	struct raw_buffer *buffer;
	__u64 at = (__u32)place - 1, word;

	if (place == RAW_END)
		return 0;
	buffer = raw__find(buffer_number);
	asm volatile("" : "+r"(at)); /* or the compiler compares something else */
	if (!buffer || at >= RAW_WORDS)
		return RAW_REFUSED;
	word = user_regs__code(buffer->words[at]);
	place = note_raw_mapping(number, buffer_number, word);
	if (place == RAW_REFUSED)
		return RAW_REFUSED;
	raw__keep_word(&buffer->stack, at, word, place == RAW_CODE);
	return (int)at + 1;
}

/* Words that are looked up at most: the product of these. */
#define RAW_LOOKS	8
#define RAW_LOOKS_TIMES 16

/* Note those of the next few words. A global function, as those of scratch.bpf.h. */
__noinline int note_next_mappings(__u32 number, __u32 buffer_number, __u32 first)
{
	int next = (int)first;

	for (__u32 i = 0; i < RAW_LOOKS && next >= 0; i++) {
		next = raw__note_next(number, buffer_number, (__u32)next);
		if (!next)
			break;
	}
	return next;
}

/*
 * Note the mappings that the words of a buffer lead to. False: the stack cannot be walked later.
 * Inlined: calls can be eight deep.
 */
static __always_inline bool raw__note_mappings(__u32 number, struct raw_buffer *buffer,
					       __u32 buffer_number)
{
	int next = 0;

	for (__u32 i = 0; i < RAW_LOOKS_TIMES; i++) {
		next = note_next_mappings(number, buffer_number, (__u32)next);
		if (next <= 0)
			return next == 0;
	}
	/* Of the rest, words in mappings that are known by now. */
	buffer->stack.skips = 1;
	find_next_unknown(buffer_number, (__u32)next);
	return true;
}

/* ---- all of it ---- */

/* Fill a buffer from its slot. False: the stack cannot be walked later. */
static __always_inline bool raw__fill(struct scratch *scratch, struct raw_buffer *buffer,
				      __u32 buffer_number)
{
	struct raw_stack *raw = &buffer->stack;

	__builtin_memset(buffer->zeros, 0, sizeof(buffer->zeros));
	for (__u32 i = 0; i < RAW_MAPPINGS; i++)
		buffer->mappings[i].start = buffer->mappings[i].end = 0;
	raw->nr_words = raw->nr_kept = 0;
	raw->skips = 0;
	for (__u32 i = 0; i < DWARF_REGISTERS; i++)
		raw->registers[i] = scratch->walk.registers[i];
	raw->registers[WALK_BASE_REGISTER] = scratch->walk.start.base_register;
	raw->registers[DWARF_STACK_POINTER] = scratch->walk.start.stack_pointer;
	raw->registers[DWARF_FRAME_POINTER] = scratch->walk.start.frame_pointer;
	raw->pc = scratch->walk.start.pc;
	raw->exact = scratch->walk.start.exact;
	raw->at_entry = scratch->walk.start.at_entry;
	raw->is_called = scratch->walk.start.is_called;
	raw->program = scratch->walk.program;
	raw->tgid = scratch->walk.tgid;
	return copy_raw_words(scratch->number, buffer_number) &&
	       note_raw_mapping(scratch->number, buffer_number, raw->pc) == RAW_CODE &&
	       raw__note_mappings(scratch->number, buffer, buffer_number);
}

/*
 * True if a walk that has come to a file without a table can be done later: the table will come,
 * and it is known where the walk began. A global function, as those of scratch.bpf.h.
 */
__noinline int is_walked_later(__u32 number)
{
	const struct scratch *scratch = scratch__find(number);

	if (!scratch || !config.walks_later || scratch->walk.start.is_lost ||
	    scratch->walk.module.state != UNWIND_MODULE_WANTED ||
	    scratch->walk.mapping.module >= UNWIND_MODULES)
		return 0;
	/* Whether it has a rule for the first frame will be known then. */
	if (READ_ONCE(scratch->stack.nr) == 1)
		is_called(number);
	return 1;
}

/* Keep the stack that was walked in a buffer. False: it is counted as it is. */
static __always_inline bool raw__keep(struct scratch *scratch)
{
	struct raw_buffer *buffer;
	int number;

	number = claim_raw_buffer(scratch->number);
	buffer = number < 0 ? NULL : raw__find((__u32)number);
	if (!buffer)
		return false;
	if (!raw__fill(scratch, buffer, (__u32)number)) {
		raw__release(buffer);
		return false;
	}
	scratch->raw = (__u32)number + 1;
	return true;
}

/* ---- what has been walked ---- */

static __always_inline const struct walked_stack *raw__find_walked(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&walked_stacks, &key);
}

/* A slot with the walked stack, whose end is counted; NULL: all slots are in use. */
static __always_inline struct scratch *raw__claim_walked(const struct walked_stack *walked)
{
	struct scratch *scratch = scratch__claim(walked->key.epoch % NR_EPOCHS, 0);
	__u32 nr = walked->nr;

	if (!scratch)
		return NULL;
	if (nr > STACK_SLOTS)
		nr = STACK_SLOTS;
	(void)bpf_probe_read_kernel(scratch->stack.frames, nr * sizeof(__u64), walked->frames);
	scratch->stack.nr = nr;
	count_walk(scratch->epoch, walked->end);
	return scratch;
}

/* ---- what is sent ---- */

/* The id of the stack that is kept. */
static __always_inline struct stack_id raw__id(const struct scratch *scratch)
{
	return raw_id(scratch->raw - 1, bpf_ktime_get_ns(), scratch->epoch);
}

/* Put mappings and zeros in their places. The size of it all, or 0. */
static __always_inline __u32 raw__close(struct raw_buffer *buffer)
{
	__u64 nr = READ_ONCE(buffer->stack.nr_kept),
	      mappings = READ_ONCE(buffer->stack.nr_mappings);
	__u64 zeros = (READ_ONCE(buffer->stack.nr_words) + 63) / 64;

	/* The compiler would compare something else. */
	asm volatile("" : "+r"(nr), "+r"(mappings), "+r"(zeros));
	if (nr > RAW_KEPT || mappings > RAW_MAPPINGS || zeros > ARRAY_SIZE(buffer->zeros))
		return 0;
	(void)bpf_probe_read_kernel(&buffer->stack.more[nr], mappings * sizeof(struct raw_mapping),
				    buffer->mappings);
	nr += mappings * RAW_MAPPING_WORDS;
	(void)bpf_probe_read_kernel(&buffer->stack.more[nr], zeros * sizeof(__u64), buffer->zeros);
	return offsetof(struct raw_stack, more) + (nr + zeros) * sizeof(__u64);
}

/*
 * Send the stack that the slot keeps, with what has been filled into its buffer. False: there is no
 * room, and it is counted with its mark.
 */
static __always_inline bool raw__send(struct scratch *scratch, struct raw_buffer *buffer)
{
	__u32 size = raw__close(buffer);
	bool sent = size && !bpf_ringbuf_output(&raw_stacks, &buffer->stack, size, 0);

	raw__release(buffer);
	scratch->raw = 0;
	if (!sent)
		count_walk(scratch->epoch, UNWIND_TABLES_MISSING);
	return sent;
}

#endif
