// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * frames FILE...: the rules that sym/cfi/table.h has for each file, row by row, compared with
 * what dwarf_cfi_addrframe() of libdw says of the first and the last address of each row. Files
 * without call-frame information are left out. Prints what differs, and a line with the sums. Exit
 * status: 1 if anything differs.
 *
 * The rules of Go's functions come from Go's own table, and are compared with .debug_frame. That
 * says of each function that the stack pointer is known and the frame pointer left alone: it is
 * not asked about the frame pointer, nor where the stack is switched or ends. Stripped files have
 * no .debug_frame: only their C code is compared.
 */
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/unwind_tables.h"
#include "sym/cfi/go_unwind.h"
#include "sym/cfi/known_code.h"
#include "sym/cfi/program.h"
#include "sym/cfi/rules.h"
#include "sym/cfi/table.h"
#include "sym/elf/file.h"
#include "sym/elf/go_table.h"
#include "sym/elf/processor.h"

#define SHOWN_MAX 10 /* differences of one file */

struct sums {
	unsigned long files, with_base, rows, unsupported, lost_frame_pointers, different;
};

struct comparison {
	const char *path;
	Dwarf_CFI *cfi, *debug; /* or NULL: of .eh_frame; where that says nothing, .debug_frame */
	bool is_go;
	bool needs_base; /* a rule does: then all say where the base register is */
	const struct processor *processor;
	const struct elf_file *elf;
	struct known_code known[KNOWN_CODES_MAX];
	size_t nr_known;
	struct unwind_rules *rules; /* of all files */
	struct unwind_table table;
	struct sums *sums;
	unsigned long different; /* in this file */
};

/* ---- what libdw says, in the words of a rule ---- */

/* A register and an offset, or the word there and an addend; false: neither. */
static bool is_plain(const Dwarf_Op *ops, size_t nr, struct unwind_rule *rule)
{
	int64_t *sum, offset, addend = 0;
	size_t i = 1;

	if (nr < 1 || !((ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) ||
			ops[0].atom == DW_OP_bregx))
		return false;
	offset = (int64_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
	rule->cfa = UNWIND_REGISTER;
	rule->cfa_register =
		(uint8_t)(ops[0].atom == DW_OP_bregx ? ops[0].number :
						       (Dwarf_Word)ops[0].atom - DW_OP_breg0);
	sum = &offset;
	for (; i < nr; i++) {
		if (ops[i].atom == DW_OP_deref && rule->cfa == UNWIND_REGISTER) {
			rule->cfa = UNWIND_MEMORY;
			sum = &addend;
		} else if (ops[i].atom == DW_OP_plus_uconst) {
			*sum += (int64_t)ops[i].number;
		} else if (i + 1 < nr && ops[i].atom >= DW_OP_lit0 && ops[i].atom <= DW_OP_lit31 &&
			   (ops[i + 1].atom == DW_OP_minus || ops[i + 1].atom == DW_OP_plus)) {
			int64_t number = ops[i].atom - DW_OP_lit0;

			*sum += ops[++i].atom == DW_OP_plus ? number : -number;
		} else {
			return false;
		}
	}
	rule->cfa_offset = (int32_t)offset;
	rule->cfa_addend = (int32_t)addend;
	return rule->cfa_offset == offset && rule->cfa_addend == addend;
}

static bool is_plt(const Dwarf_Op *ops, size_t nr, struct unwind_rule *rule)
{
	static const uint8_t atoms[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	DW_OP_plus};

	if (nr != sizeof(atoms))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (ops[i].atom != atoms[i] && atoms[i])
			return false;
	rule->cfa = UNWIND_PLT;
	rule->cfa_register = 7;
	rule->cfa_offset = (int32_t)ops[0].number;
	rule->cfa_addend = ops[4].atom - DW_OP_lit0;
	return true;
}

/* An answer of dwarf_frame_register(); false: a shape that rules do not have. */
static bool is_saved(const Dwarf_Op *ops, size_t nr, const Dwarf_Op *memory, uint8_t *kind,
		     uint8_t *reg, int32_t *offset)
{
	struct unwind_rule at;

	*reg = 0;
	*offset = 0;
	if (nr == 0) {
		*kind = ops == memory ? UNWIND_LOST : UNWIND_SAME;
		return true;
	}
	if (nr == 1 && ops[0].atom == DW_OP_regx) {
		*kind = UNWIND_IN_REGISTER;
		*reg = (uint8_t)ops[0].number;
		return true;
	}
	if (nr == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst) {
		*kind = UNWIND_AT_CFA;
		*offset = (int32_t)ops[1].number;
		return *offset == (int64_t)ops[1].number;
	}
	if (nr == 1 && ops[0].atom == DW_OP_call_frame_cfa) {
		*kind = UNWIND_AT_CFA;
		return true;
	}
	/* An expression is behind the CFA, which is on the stack in front of it. */
	if (nr > 1 && ops[0].atom == DW_OP_call_frame_cfa) {
		ops++;
		nr--;
	}
	memset(&at, 0, sizeof(at));
	if (!is_plain(ops, nr, &at) || at.cfa != UNWIND_REGISTER)
		return false;
	*kind = UNWIND_AT_REGISTER;
	*reg = at.cfa_register;
	*offset = at.cfa_offset;
	return true;
}

/* True if the caller's stack pointer is the CFA, as rules have it. */
static bool is_cfa(const Dwarf_Op *ops, size_t nr, const Dwarf_Op *memory,
		   const struct unwind_rule *rule)
{
	uint8_t kind, reg;
	int32_t offset;

	if (nr == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_stack_value)
		return true;
	if (!is_saved(ops, nr, memory, &kind, &reg, &offset))
		return false;
	return kind == UNWIND_SAME ||
	       (kind == UNWIND_AT_REGISTER && rule->cfa == UNWIND_MEMORY && !rule->cfa_addend &&
		reg == rule->cfa_register && offset == rule->cfa_offset);
}

/*
 * Where the base register is, as enum unwind_base has it. Where nobody names it libdw 0.188 says
 * that it is lost: it takes column 0 for %rbx, and column 3 for one that callees need not keep.
 */
static uint8_t base_of_frame(const struct processor *processor, Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops;
	uint8_t kind, reg;
	int32_t offset;
	size_t nr;

	if (processor->base == NO_REGISTER ||
	    dwarf_frame_register(frame, processor->base, memory, &ops, &nr) ||
	    !is_saved(ops, nr, memory, &kind, &reg, &offset))
		return UNWIND_BASE_LOST;
	if (kind == UNWIND_SAME || kind == UNWIND_LOST)
		return UNWIND_BASE_SAME;
	if (kind == UNWIND_AT_CFA && offset % 8 == 0 && offset <= -16 && offset >= -255 * 8)
		return (uint8_t)(-offset / 8);
	return UNWIND_BASE_LOST;
}

static void rule_of_frame(const struct processor *processor, Dwarf_Frame *frame,
			  struct unwind_rule *rule)
{
	static const struct unwind_rule unsupported = {.cfa = UNWIND_UNSUPPORTED};
	Dwarf_Op memory[3], *ops;
	bool is_signal = false;
	Dwarf_Addr start, end;
	int column;
	size_t nr;

	memset(rule, 0, sizeof(*rule));
	column = dwarf_frame_info(frame, &start, &end, &is_signal);
	if (dwarf_frame_register(frame, column, memory, &ops, &nr) ||
	    !is_saved(ops, nr, memory, &rule->return_address, &rule->return_address_register,
		      &rule->return_address_offset)) {
		*rule = unsupported;
		return;
	}
	if (rule->return_address == UNWIND_LOST) {
		*rule = (struct unwind_rule){.cfa = UNWIND_END};
		return;
	}
	if (dwarf_frame_cfa(frame, &ops, &nr) ||
	    (!is_plain(ops, nr, rule) && !is_plt(ops, nr, rule))) {
		*rule = unsupported;
		return;
	}
	if (dwarf_frame_register(frame, processor->stack_pointer, memory, &ops, &nr) ||
	    !is_cfa(ops, nr, memory, rule)) {
		*rule = unsupported;
		return;
	}
	if (dwarf_frame_register(frame, processor->frame_pointer, memory, &ops, &nr) ||
	    !is_saved(ops, nr, memory, &rule->frame_pointer, &rule->frame_pointer_register,
		      &rule->frame_pointer_offset)) {
		rule->frame_pointer = UNWIND_LOST;
		rule->frame_pointer_register = 0;
		rule->frame_pointer_offset = 0;
	}
	rule->flags = is_signal ? UNWIND_SIGNAL : 0;
	rule->base = base_of_frame(processor, frame);
}

/* ---- comparing ---- */

static void show(const char *who, const struct unwind_rule *rule)
{
	printf("  %-8s cfa %u r%u%+d %+d, fp %u r%u%+d, ra %u r%u%+d, base %u, flags %u\n", who,
	       rule->cfa, rule->cfa_register, rule->cfa_offset, rule->cfa_addend,
	       rule->frame_pointer, rule->frame_pointer_register, rule->frame_pointer_offset,
	       rule->return_address, rule->return_address_register, rule->return_address_offset,
	       rule->base, rule->flags);
}

/* False: it says nothing of that address. */
static bool find_rule(const struct comparison *comparison, Dwarf_CFI *cfi, uint64_t address,
		      struct unwind_rule *rule)
{
	Dwarf_Frame *frame = NULL;

	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame))
		return false;
	rule_of_frame(comparison->processor, frame, rule);
	if (!comparison->needs_base)
		rule->base = UNWIND_BASE_LOST;
	free(frame);
	return true;
}

/* True if .debug_frame does not have such a rule for Go. */
static bool is_beyond(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_UNSUPPORTED || rule->cfa == UNWIND_END ||
	       rule->flags & UNWIND_SIGNAL;
}

/* True if nobody has information about that code, but it is known. */
static bool is_known(const struct comparison *comparison, uint64_t address)
{
	for (size_t i = 0; i < comparison->nr_known; i++)
		if (address >= comparison->known[i].start && address < comparison->known[i].end)
			return true;
	return false;
}

/* Where code at that offset of the file is; false: there is none. */
static bool address_of(const struct elf_file *elf, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		*address = offset - segment->offset + segment->address;
		if (segment->flags & PF_X && offset - segment->offset < segment->size)
			return true;
	}
	return false;
}

static void compare_at(struct comparison *comparison, uint64_t offset)
{
	uint32_t number = unwind_table__find(&comparison->table, offset);
	const struct unwind_rule *ours = &comparison->rules->items[number];
	struct unwind_rule theirs = {.cfa = UNWIND_NONE};
	uint64_t address;
	bool found;

	if (!address_of(comparison->elf, offset, &address))
		return;
	found = find_rule(comparison, comparison->cfi, address, &theirs);
	if (!found && !comparison->is_go)
		found = find_rule(comparison, comparison->debug, address, &theirs);
	if (!found && ours->cfa >= UNWIND_END && is_known(comparison, address))
		return;
	if (!found && comparison->is_go) {
		if (!comparison->debug || is_beyond(ours))
			return;
		/* Code that is returned to, not called, has rows from one byte before. */
		if (find_rule(comparison, comparison->debug, address, &theirs) ||
		    (ours->cfa != UNWIND_NONE &&
		     find_rule(comparison, comparison->debug, address + 1, &theirs)))
			theirs.frame_pointer = UNWIND_LOST;
	}
	if (!memcmp(&theirs, ours, sizeof(theirs)) || comparison->different++ >= SHOWN_MAX)
		return;
	printf("%s: 0x%" PRIx64 "\n", comparison->path, address);
	show("libdw", &theirs);
	show("tracekit", ours);
}

/* A row from that offset to the end, as the next one has it. */
static void compare_row(struct comparison *comparison, uint64_t offset, uint64_t end,
			uint32_t number)
{
	const struct unwind_rule *rule = &comparison->rules->items[number];

	comparison->sums->rows++;
	comparison->sums->unsupported += rule->cfa == UNWIND_UNSUPPORTED;
	comparison->sums->lost_frame_pointers +=
		rule->cfa > UNWIND_END && rule->frame_pointer == UNWIND_LOST;
	compare_at(comparison, offset);
	if (end > offset + 1)
		compare_at(comparison, end - 1);
}

static bool needs_base(const struct comparison *comparison)
{
	const struct unwind_table *table = &comparison->table;

	for (size_t i = 0; i < table->nr_rows; i++)
		if (cfi__needs_base(comparison->processor,
				    &comparison->rules->items[unwind_row_rule(table->rows[i])]))
			return true;
	return false;
}

static void compare_table(struct comparison *comparison)
{
	const struct unwind_table *table = &comparison->table;
	const uint64_t size = (uint64_t)1 << UNWIND_PAGE_BITS;

	comparison->needs_base = needs_base(comparison);
	comparison->sums->with_base += comparison->needs_base;

	for (size_t page = 0; page < table->nr_pages; page++) {
		const uint32_t *rows = table->rows + table->pages[page].first;
		uint64_t start = table->start + page * size;
		uint32_t nr = table->pages[page].nr;

		for (uint32_t i = 0; i < nr; i++)
			compare_row(comparison, start + unwind_row_low(rows[i]),
				    start + (i + 1 < nr ? unwind_row_low(rows[i + 1]) : size),
				    unwind_row_rule(rows[i]));
	}
	comparison->sums->files++;
	comparison->sums->different += comparison->different;
}

/* Open the sections that the table was made of, and a debugger's of Go. */
static void open_cfi(struct comparison *comparison, Elf *libelf, Dwarf *dwarf,
		     const struct elf_file *elf)
{
	uint64_t work = UINT64_MAX;
	struct go_table table;

	if (elf_file__find_section(elf, ".eh_frame", true))
		comparison->cfi = dwarf_getcfi_elf(libelf);
	comparison->is_go = go_unwind__open(&table, elf, work__share(&work, UINT64_MAX));
	comparison->debug = dwarf_getcfi(dwarf);
}

static void compare_elf(struct comparison *comparison, const struct elf_file *elf)
{
	Elf *libelf = elf_begin(elf->fd, ELF_C_READ, NULL);
	Dwarf *dwarf = dwarf_begin_elf(libelf, DWARF_C_READ, NULL);
	uint64_t work = UINT64_MAX;

	comparison->processor = processor__of(elf->machine);
	comparison->nr_known = known_code__find(comparison->known, elf);
	comparison->elf = elf;
	if (libelf && unwind_table__read(&comparison->table, comparison->rules, elf, &work) == 0)
		open_cfi(comparison, libelf, dwarf, elf);
	if (comparison->cfi || comparison->debug)
		compare_table(comparison);
	if (comparison->cfi)
		dwarf_cfi_end(comparison->cfi);
	unwind_table__release(&comparison->table);
	dwarf_end(dwarf);
	elf_end(libelf);
}

static void compare_path(const char *path, struct unwind_rules *rules, struct sums *sums)
{
	struct comparison comparison = {.path = path, .rules = rules, .sums = sums};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_file elf;

	if (fd >= 0 && elf_file__open(&elf, fd) == 0) {
		compare_elf(&comparison, &elf);
		elf_file__close(&elf);
	}
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct unwind_rules rules;
	struct sums sums = {0};

	elf_version(EV_CURRENT);
	if (unwind_rules__init(&rules))
		return 2;
	for (int i = 1; i < argc; i++)
		compare_path(argv[i], &rules, &sums);
	printf("%lu files, %lu rows: %lu of no known shape, %lu lose the frame pointer; %lu differ; "
	       "%lu files with base registers\n",
	       sums.files, sums.rows, sums.unsupported, sums.lost_frame_pointers, sums.different,
	       sums.with_base);
	unwind_rules__release(&rules);
	return sums.different != 0;
}
