// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pcsp in a function's description is a list of pairs of LEB128: the change of the distance from
 * the stack pointer to the return address (the lowest bit is the sign; the distance begins at -1),
 * and the code for which it holds, in units of its smallest instruction. A change of 0 ends them.
 *
 * Where calls leave the return address in a register there is none on the stack yet while the
 * distance is 0; then it is at the bottom of the frame.
 *
 * No rule is given for the frame pointer. Go needs none: all its frames are found from the stack
 * pointer. Go saves the frame pointer at CFA-16, but assembly without a frame of its own saves it
 * elsewhere or not at all, and up to Go 1.20 it is not saved yet when the stack pointer has moved.
 * Only C code that has called Go would need it, and there the stack is switched.
 */
#include "sym/cfi/go_unwind.h"

#include <errno.h>
#include <string.h>

#include "sym/elf/byte_reader.h"
#include "sym/elf/file.h"
#include "sym/elf/go_table.h"
#include "sym/elf/processor.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"

#define RETURN_ADDRESS_BYTES 8
#define X86_STACK_POINTER    7
#define LEB_BYTES	     5 /* of 32 bits */

/* Most functions have less. */
#define DELTAS_READ 64

static const struct unwind_rule none = {.cfa = UNWIND_NONE};
static const struct unwind_rule unsupported = {.cfa = UNWIND_UNSUPPORTED};
static const struct unwind_rule end_of_stack = {.cfa = UNWIND_END};

/*
 * On x86-64; elsewhere the vDSO has this function. The registers are in the sigcontext of the frame
 * that the kernel has made, as libc says it.
 */
static const struct unwind_rule restorer = {
	.cfa = UNWIND_MEMORY,
	.cfa_register = X86_STACK_POINTER,
	.cfa_offset = 160,
	.frame_pointer = UNWIND_AT_REGISTER,
	.frame_pointer_register = X86_STACK_POINTER,
	.frame_pointer_offset = 120,
	.return_address = UNWIND_AT_REGISTER,
	.return_address_register = X86_STACK_POINTER,
	.return_address_offset = 168,
	.flags = UNWIND_SIGNAL,
};

enum special_way {
	CALLED,
	/*
	 * On x86-64 calls return to its first byte, which no call is in front of: return addresses
	 * are looked up one byte before, and so the first row begins there.
	 */
	RETURNED_TO,
	/*
	 * A signal handler makes code look as if it had called this. Where calls leave the return
	 * address in a register it has pushed what was there, INJECTED_BYTES with padding.
	 */
	INJECTED,
};

/*
 * Functions that have another rule than their deltas and flags say; NULL: what the deltas say.
 *
 * Functions that switch from a goroutine's stack to the thread's are the end of the thread's: their
 * callers are on another stack. cgocallback, which switches back, looks the same on both, and as if
 * called by systemstack_switch, which stands for the C code between. sigtramp is the top for Go,
 * but the restorer is its caller. Go 1.17 flags other functions that move the stack pointer as they
 * like; before, only their names tell them.
 */
static const struct special {
	const char *name;
	const struct unwind_rule *rule;
	enum special_way way;
} specials[] = {
	{"runtime.goexit", &end_of_stack, CALLED},
	{"runtime.mstart", &end_of_stack, CALLED},
	{"runtime.rt0_go", &end_of_stack, CALLED},
	{"runtime.mcall", &end_of_stack, CALLED},
	{"runtime.morestack", &end_of_stack, CALLED},
	{"runtime.systemstack", &end_of_stack, CALLED},
	{"runtime.asmcgocall", &end_of_stack, CALLED},
	{"runtime.cgocallback", NULL, CALLED},
	{"runtime.cgocallback_gofunc", NULL, CALLED},
	{"runtime.systemstack_switch", NULL, RETURNED_TO},
	{"runtime.sigtramp", NULL, CALLED},
	{"runtime.sigreturn", &restorer, RETURNED_TO},
	{"runtime.sigreturn__sigaction", &restorer, RETURNED_TO},
	{"runtime.callCgoMmap", &unsupported, CALLED},
	{"runtime.callCgoMunmap", &unsupported, CALLED},
	{"runtime.callCgoSigaction", &unsupported, CALLED},
	{"runtime.clone", &unsupported, CALLED},
	{"runtime.gogo", &unsupported, CALLED},
	{"runtime.jmpdefer", &unsupported, CALLED},
	{"runtime.nanotime", &unsupported, CALLED},
	{"runtime.nanotime1", &unsupported, CALLED},
	{"runtime.racecall", &unsupported, CALLED},
	{"runtime.sigfwd", &unsupported, CALLED},
	{"runtime.walltime", &unsupported, CALLED},
	{"runtime.walltime1", &unsupported, CALLED},
	{"time.now", &unsupported, CALLED},
	{"runtime.asyncPreempt", NULL, INJECTED},
	{"runtime.debugCallV2", NULL, INJECTED},
	{"runtime.sigpanic", NULL, INJECTED},
};

#define INJECTED_BYTES 16

#define NAME_BYTES 32 /* longer than the names above */

struct function {
	uint64_t start;			/* of its rows */
	uint64_t entry;			/* its first byte */
	const struct unwind_rule *rule; /* NULL: deltas tell */
	uint32_t deltas;
	bool is_injected;
};

struct reading {
	struct go_table *table;
	const struct processor *processor;
	cfi_visit visit;
	void *context;
};

/* ---- deltas ---- */

struct deltas {
	struct go_table *table;
	uint64_t next; /* offset of the next bytes to read */
	struct byte_reader reader;
	unsigned char bytes[DELTAS_READ];
};

/* Move the bytes that are left to the front, and read as many behind them as there is room for. */
static void read_more(struct deltas *deltas)
{
	size_t left = byte_reader__left(&deltas->reader), size = sizeof(deltas->bytes) - left;
	uint64_t behind =
		deltas->next < deltas->table->size ? deltas->table->size - deltas->next : 0;

	memmove(deltas->bytes, deltas->reader.at, left);
	if (behind < size)
		size = behind;
	if (!go_table__read(deltas->table, deltas->bytes + left, size, deltas->next))
		size = 0;
	deltas->next += size;
	deltas->reader.at = deltas->bytes;
	deltas->reader.end = deltas->bytes + left + size;
}

static uint32_t next_number(struct deltas *deltas)
{
	if (byte_reader__left(&deltas->reader) < LEB_BYTES)
		read_more(deltas);
	return (uint32_t)byte_reader__uleb(&deltas->reader);
}

/* False behind the last pair. */
static bool next_pair(struct deltas *deltas, bool is_first, uint32_t *delta, uint32_t *distance)
{
	uint32_t change = next_number(deltas);

	if (change == 0 && !is_first)
		return false;
	*delta += (change >> 1) ^ -(change & 1);
	*distance = next_number(deltas);
	return !deltas->reader.failed;
}

/* pushed: bytes between the return address and the caller's frame, or the place of both. */
static struct unwind_rule rule_on_stack(const struct processor *processor, uint32_t delta,
					uint32_t pushed, uint32_t from_cfa)
{
	if (delta > INT32_MAX - pushed)
		return unsupported;
	return (struct unwind_rule){
		.cfa = UNWIND_REGISTER,
		.cfa_register = processor->stack_pointer,
		.cfa_offset = (int32_t)(delta + pushed),
		.frame_pointer = UNWIND_LOST,
		.return_address = UNWIND_AT_CFA,
		.return_address_offset = -(int32_t)from_cfa,
	};
}

static struct unwind_rule rule_of(const struct processor *processor,
				  const struct function *function, uint32_t delta)
{
	uint32_t injected = function->is_injected ? INJECTED_BYTES : 0;
	struct unwind_rule rule;

	if (!processor->has_return_register)
		return rule_on_stack(processor, delta, RETURN_ADDRESS_BYTES, RETURN_ADDRESS_BYTES);
	rule = rule_on_stack(processor, delta, injected, delta + injected);
	if (!delta) {
		rule.return_address = UNWIND_IN_REGISTER;
		rule.return_address_register = processor->return_address;
		rule.return_address_offset = 0;
	}
	return rule;
}

/* A function without deltas is not of Go: the first deltas are at 1. */
static int visit_deltas(struct reading *reading, const struct function *function, uint64_t end)
{
	struct deltas deltas = {.table = reading->table,
				.next = reading->table->deltas + function->deltas,
				.reader = {.at = deltas.bytes, .end = deltas.bytes}};
	uint64_t address = function->start, behind = function->entry;
	uint32_t delta = UINT32_MAX, distance;
	bool is_first = true;
	int err = 0;

	while (function->deltas && address < end && !err &&
	       next_pair(&deltas, is_first, &delta, &distance)) {
		struct unwind_rule rule = rule_of(reading->processor, function, delta);
		uint64_t bytes = (uint64_t)distance * reading->table->quantum;

		is_first = false;
		if (distance == 0)
			continue;
		err = reading->visit(reading->context, address, &rule);
		behind = bytes < end - behind ? behind + bytes : end;
		address = behind;
	}
	return err || address == end ? err : reading->visit(reading->context, address, &none);
}

/* ---- functions ---- */

static const struct special *find_special(struct go_table *table, uint32_t name)
{
	char bytes[NAME_BYTES] = {0};

	(void)go_table__read_name(table, name, bytes, sizeof(bytes) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(specials); i++)
		if (!strcmp(bytes, specials[i].name))
			return &specials[i];
	return NULL;
}

static struct function read_function(const struct reading *reading, const struct go_block *block,
				     uint64_t i)
{
	struct go_table *table = reading->table;
	uint64_t entry = go_table__start(table, block, i);
	struct function function = {.start = entry, .entry = entry};
	const struct special *special = NULL;
	struct go_description description;

	if (!go_table__describe(table, block, i, &description))
		return function;
	function.deltas = description.deltas;
	if (!description.is_plain)
		special = find_special(table, description.name);
	function.is_injected = special && special->way == INJECTED;
	if (special)
		function.rule = special->rule;
	else if (description.flags & GO_TOP_FRAME)
		function.rule = &end_of_stack;
	else if (description.flags & GO_WRITES_STACK_POINTER)
		function.rule = &unsupported;
	if (special && special->way == RETURNED_TO && function.start &&
	    !reading->processor->has_return_register)
		function.start--;
	return function;
}

static int visit_function(struct reading *reading, const struct function *function, uint64_t end)
{
	if (function->start >= end)
		return 0;
	if (function->rule)
		return reading->visit(reading->context, function->start, function->rule);
	return visit_deltas(reading, function, end);
}

/* A function goes as far as the next one begins: it is visited when that is known. */
static int visit_functions(struct reading *reading)
{
	struct go_table *table = reading->table;
	struct function previous = {.start = 0, .rule = &none};
	struct go_block block = {.nr = 0};
	uint64_t end = 0;
	int err = 0;

	for (uint64_t i = 0; i < table->nr && !err && work__is_left(&table->work); i++) {
		struct function function;

		if (i % GO_BLOCK_FUNCTIONS == 0 &&
		    !go_table__read_block(table, &block, i, GO_BLOCK_FUNCTIONS))
			break;
		function = read_function(reading, &block, i - block.first);
		end = go_table__start(table, &block, i - block.first + 1);
		if (function.start < previous.start)
			continue;
		if (i)
			err = visit_function(reading, &previous, function.start);
		previous = function;
	}
	if (!err && !work__is_left(&table->work))
		return -EFBIG;
	if (end < previous.start)
		end = previous.start;
	err = err ? err : visit_function(reading, &previous, end);
	return err ? err : reading->visit(reading->context, end, &none);
}

bool go_unwind__open(struct go_table *table, const struct elf_file *elf, struct work work)
{
	return processor__of(elf->machine) && elf->is_64bit && go_table__open(table, elf, work);
}

int go_unwind__each_row(struct go_table *table, cfi_visit visit, void *context)
{
	struct reading reading = {.table = table,
				  .processor = processor__of(table->elf->machine),
				  .visit = visit,
				  .context = context};

	return visit_functions(&reading);
}
