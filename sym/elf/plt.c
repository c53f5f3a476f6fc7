// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/plt.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/elf/file.h"
#include "sym/elf/processor.h"
#include "sym/elf/symbols.h"
#include "sym/elf/work.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

#define ENTRY_SIZE	 16
#define SMALL_ENTRY_SIZE 8
#define NAME_LENGTH_MAX	 4096
/*
 * A unit of work is about a relocation; reading a few bytes of the file takes as long
 * as so many of them. One file gets the work of eight million relocations: more than
 * the largest browsers have, and below a second.
 */
#define READ_COST	   32
#define WORK_MAX	   (8 * 1024 * 1024)
#define RELOCATIONS_READ   128
#define SECTIONS_LOOKED_AT 16 /* take as long as one */

/* A lookup that lies in an entry, and the slot that the entry jumps through. */
struct plt_use {
	uint64_t slot; /* first: the key. Address of what a relocation fills */
	struct elf_lookup *lookup;
	uint64_t entry;
	uint64_t resolver; /* of an indirect function; 0: none */
};

struct plt_pass {
	const struct elf_file *elf;
	const struct processor *processor;
	struct plt_use *uses;
	size_t nr;
	struct arena *names;
	struct work work;
};

static bool is_plt(const struct elf_file *elf, const struct elf_section *section)
{
	const char *name = elf_file__section_name(elf, section);

	if (section->type != SHT_PROGBITS || !(section->flags & SHF_EXECINSTR))
		return false;
	/* .plt, .plt.sec, .plt.got; .iplt of static programs */
	return !strncmp(name, ".plt", 4) || !strcmp(name, ".iplt");
}

/* ---- entries of x86-64 ---- */

/*
 * The slot that the entry at address jumps through: 0 if it is none of the forms
 * that GNU ld, gold, lld and mold write, or the table's first entry, which enters
 * the dynamic loader.
 */
static uint64_t decode_entry(const unsigned char *code, size_t size, uint64_t address)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = 0;
	int32_t displacement;

	if (size >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		at += sizeof(endbr64);
	if (at < size && code[at] == 0xf2) /* bnd */
		at++;
	if (size >= at + 6 && code[at] == 0x41 && code[at + 1] == 0xbb) /* mov $number, %r11d */
		at += 6;
	/* jmp *displacement(%rip) */
	if (size < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	memcpy(&displacement, code + at + 2, sizeof(displacement));
	return address + at + 6 + (uint64_t)(int64_t)displacement;
}

/*
 * With IBT the entries that jump are in .plt.sec; those of .plt push the number
 * of their relocation for the dynamic loader. -1: not one of these.
 */
static int64_t decode_lazy_entry(const unsigned char *code, size_t size)
{
	static const unsigned char push[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68}; /* endbr64; push */
	uint32_t number;

	if (size < sizeof(push) + sizeof(number) || memcmp(code, push, sizeof(push)))
		return -1;
	memcpy(&number, code + sizeof(push), sizeof(number));
	return number;
}

/* The slot of a relocation of .rela.plt, the one section with slots for .plt, by number; or 0. */
static uint64_t lazy_slot(struct plt_pass *pass, int64_t number)
{
	const struct elf_file *elf = pass->elf;

	if (number >= 0)
		work__charge(&pass->work, elf->nr_sections / SECTIONS_LOOKED_AT);
	for (size_t i = 0; i < elf->nr_sections && number >= 0 && work__is_left(&pass->work); i++) {
		const struct elf_section *section = &elf->sections[i];
		Elf64_Rela rela;

		if (section->type != SHT_RELA || (uint64_t)number >= section->size / sizeof(rela))
			continue;
		work__charge(&pass->work, READ_COST);
		if (elf_file__read(elf, &rela, sizeof(rela),
				   section->offset + (uint64_t)number * sizeof(rela)) !=
		    sizeof(rela))
			continue;
		if (ELF64_R_TYPE(rela.r_info) == pass->processor->jump_slot)
			return rela.r_offset;
	}
	return 0;
}

/* Note the entry at offset of section, in which a lookup lies. False if it cannot be named. */
static bool note_entry(struct plt_pass *pass, const struct elf_section *section, uint64_t offset,
		       struct elf_lookup *lookup)
{
	uint64_t entry = section->address + offset;
	unsigned char code[ENTRY_SIZE];
	size_t got = elf_file__read(pass->elf, code, sizeof(code), section->offset + offset);
	uint64_t slot = decode_entry(code, got, entry);

	work__charge(&pass->work, READ_COST);
	if (!slot)
		slot = lazy_slot(pass, decode_lazy_entry(code, got));
	if (!slot)
		return false;
	pass->uses[pass->nr++] = (struct plt_use){.slot = slot, .lookup = lookup, .entry = entry};
	return true;
}

/*
 * Entries have 16 bytes, or 8 in .plt.got and in static programs, whose section says
 * nothing. 8 bytes behind an entry of 16 is the midst of an instruction, which does
 * not look like an entry.
 */
static void note_x86_64_use(struct plt_pass *pass, const struct elf_section *section,
			    struct elf_lookup *lookup)
{
	uint64_t offset = lookup->address - section->address;

	if (section->entry_size != ENTRY_SIZE &&
	    note_entry(pass, section, offset - offset % SMALL_ENTRY_SIZE, lookup))
		return;
	if (section->entry_size != SMALL_ENTRY_SIZE)
		note_entry(pass, section, offset - offset % ENTRY_SIZE, lookup);
}

/* ---- entries of arm64 ---- */

#define ARM64_ENTRY_WORDS 6

static uint64_t decode_arm64_page(uint32_t adrp, uint64_t address)
{
	uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);

	/* The number has 21 bits, and a sign. */
	pages = (uint64_t)((int64_t)(pages << 43) >> 43);
	return (address & ~0xfffULL) + (pages << 12);
}

/* The slot of adrp x16, PAGE; ldr x17, [x16, #OFFSET] at address; or 0. */
static uint64_t decode_arm64(const uint32_t code[2], uint64_t address)
{
	if ((code[0] & 0x9f00001f) != 0x90000010 || (code[1] & 0xffc003ff) != 0xf9400211)
		return 0;
	return decode_arm64_page(code[0], address) + (code[1] >> 10 & 0xfff) * sizeof(uint64_t);
}

/*
 * Entries have no size that holds for all: [bti c;] adrp; ldr; add; [autia1716;] br x17, and nops
 * behind them. So the last adrp up to the address is looked for, or the one behind a landing pad.
 * The table's first entry pushes two words before: its slot has no name.
 */
static void note_arm64_use(struct plt_pass *pass, const struct elf_section *section,
			   struct elf_lookup *lookup)
{
	const uint64_t word = sizeof(uint32_t), offset = lookup->address - section->address;
	uint64_t here = offset - offset % word, first = here, at;
	uint32_t code[ARM64_ENTRY_WORDS + 2] = {0};

	first -= here < (ARM64_ENTRY_WORDS - 1) * word ? here : (ARM64_ENTRY_WORDS - 1) * word;
	elf_file__read(pass->elf, code, sizeof(code), section->offset + first);
	work__charge(&pass->work, READ_COST);
	at = (here - first) / word;
	if (code[at] == ARM64_LANDING_PAD)
		at++;
	for (size_t i = at + 1; i-- > 0;) {
		uint64_t entry = section->address + first + i * word;
		uint64_t slot = decode_arm64(code + i, entry);

		if (!slot)
			continue;
		if (i > 0 && code[i - 1] == ARM64_LANDING_PAD)
			entry -= word;
		pass->uses[pass->nr++] =
			(struct plt_use){.slot = slot, .lookup = lookup, .entry = entry};
		return;
	}
}

/* ---- entries of lookups ---- */

static void note_use(struct plt_pass *pass, const struct elf_section *section,
		     struct elf_lookup *lookup)
{
	if (pass->processor->elf == EM_AARCH64)
		note_arm64_use(pass, section, lookup);
	else
		note_x86_64_use(pass, section, lookup);
}

static void note_uses(struct plt_pass *pass, struct elf_lookup *lookups, size_t nr)
{
	const struct elf_file *elf = pass->elf;

	for (size_t s = 0; s < elf->nr_sections && work__is_left(&pass->work); s++) {
		const struct elf_section *section = &elf->sections[s];
		size_t i;

		if (!is_plt(elf, section))
			continue;
		i = array__lower_bound(lookups, nr, sizeof(*lookups), section->address);
		for (; i < nr && lookups[i].address - section->address < section->size; i++) {
			work__charge(&pass->work, 1);
			/* There is no room for more, if sections of a hostile file overlap. */
			if (!lookups[i].name && pass->nr < nr && work__is_left(&pass->work))
				note_use(pass, section, &lookups[i]);
		}
	}
}

/*
 * "NAME@plt" for the lookup of a use. Uses with the same name in a row share it: *text is the last
 * one, made for this name, or NULL.
 */
static int give_name(struct plt_pass *pass, const struct plt_use *use, const char *name,
		     const char **text)
{
	char whole[NAME_LENGTH_MAX + 8];

	if (!*text) {
		int length = snprintf(whole, sizeof(whole), "%.*s@plt", NAME_LENGTH_MAX, name);

		work__charge(&pass->work, (uint64_t)length);
		*text = arena__copy_string(pass->names, whole, (size_t)length);
	}
	use->lookup->name = *text;
	use->lookup->start = use->entry;
	return *text ? 0 : -ENOMEM;
}

/* The name of symbol number of a table; false if it has none. */
static bool read_symbol_name(const struct elf_file *elf, const struct elf_section *table,
			     uint32_t number, char *name, size_t size)
{
	Elf64_Sym sym;

	if (table->link >= elf->nr_sections || number >= table->size / sizeof(sym) ||
	    elf_file__read(elf, &sym, sizeof(sym),
			   table->offset + (uint64_t)number * sizeof(sym)) != sizeof(sym))
		return false;
	return elf_file__string(elf, &elf->sections[table->link], sym.st_name, name, size) != 0;
}

static int take_relocation(struct plt_pass *pass, const struct elf_section *symbols,
			   const Elf64_Rela *rela)
{
	size_t i = array__lower_bound(pass->uses, pass->nr, sizeof(*pass->uses), rela->r_offset);
	char name[NAME_LENGTH_MAX];
	const char *text = NULL;
	bool named = false;
	int err = 0;

	if (i == pass->nr || pass->uses[i].slot != rela->r_offset)
		return 0;
	work__charge(&pass->work, NAME_LENGTH_MAX / 16);
	if (ELF64_R_TYPE(rela->r_info) == pass->processor->jump_slot ||
	    ELF64_R_TYPE(rela->r_info) == pass->processor->glob_dat)
		named = read_symbol_name(pass->elf, symbols, ELF64_R_SYM(rela->r_info), name,
					 sizeof(name));
	for (; i < pass->nr && pass->uses[i].slot == rela->r_offset && !err; i++) {
		work__charge(&pass->work, 1);
		if (named && !pass->uses[i].lookup->name)
			err = give_name(pass, &pass->uses[i], name, &text);
		else if (ELF64_R_TYPE(rela->r_info) == pass->processor->irelative)
			pass->uses[i].resolver = (uint64_t)rela->r_addend;
	}
	return err;
}

static int pass_relocations(struct plt_pass *pass, const struct elf_section *section)
{
	const struct elf_section *symbols = section->link < pass->elf->nr_sections ?
						    &pass->elf->sections[section->link] :
						    &pass->elf->sections[0];
	Elf64_Rela block[RELOCATIONS_READ];
	uint64_t left = section->size / sizeof(block[0]), offset = section->offset;

	while (left && work__is_left(&pass->work)) {
		size_t nr = left < RELOCATIONS_READ ? left : RELOCATIONS_READ;

		nr = elf_file__read(pass->elf, block, nr * sizeof(block[0]), offset) /
		     sizeof(block[0]);
		if (nr == 0)
			break;
		work__charge(&pass->work, nr);
		for (size_t i = 0; i < nr && work__is_left(&pass->work); i++) {
			int err = take_relocation(pass, symbols, &block[i]);

			if (err)
				return err;
		}
		left -= nr;
		offset += nr * sizeof(block[0]);
	}
	return 0;
}

static int compare_slots(const void *a, const void *b)
{
	return COMPARE(((const struct plt_use *)a)->slot, ((const struct plt_use *)b)->slot);
}

static int compare_resolvers(const void *a, const void *b)
{
	return COMPARE(((const struct plt_use *)a)->resolver,
		       ((const struct plt_use *)b)->resolver);
}

/* An indirect function has a relocation without a symbol: it is named after its resolver. */
static int name_by_resolvers(struct plt_pass *pass)
{
	CLEANUP_FREE struct elf_lookup *resolvers = calloc(pass->nr + 1, sizeof(*resolvers));
	const char *name = NULL, *text = NULL;
	int err;

	if (!resolvers)
		return -ENOMEM;
	array__sort(pass->uses, pass->nr, sizeof(*pass->uses), compare_resolvers);
	for (size_t i = 0; i < pass->nr; i++)
		resolvers[i].address = pass->uses[i].resolver;
	err = elf_symbols__find(pass->elf, resolvers, pass->nr, pass->names, pass->work.left);
	if (err == -EFBIG)
		err = 0; /* said already of the symbols themselves */
	for (size_t i = 0; i < pass->nr && !err; i++) {
		if (!pass->uses[i].resolver || !resolvers[i].name || pass->uses[i].lookup->name)
			continue;
		if (resolvers[i].name != name)
			text = NULL;
		name = resolvers[i].name;
		err = give_name(pass, &pass->uses[i], name, &text);
	}
	return err;
}

static bool all_named(const struct elf_lookup *lookups, size_t nr)
{
	size_t named = 0;

	while (named < nr && lookups[named].name)
		named++;
	return named == nr;
}

static bool has_resolvers(const struct plt_pass *pass)
{
	for (size_t i = 0; i < pass->nr; i++)
		if (pass->uses[i].resolver)
			return true;
	return false;
}

int elf_plt__find(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
		  struct arena *names, uint64_t *work)
{
	CLEANUP_FREE struct plt_use *uses = NULL;
	struct plt_pass pass = {
		.elf = elf,
		.processor = processor__of(elf->machine),
		.names = names,
		.work = work__share(work, WORK_MAX),
	};
	int err = 0;

	if (!pass.processor || !elf->is_64bit || all_named(lookups, nr))
		return 0;
	pass.uses = uses = calloc(nr, sizeof(*uses));
	if (!uses)
		return -ENOMEM;
	note_uses(&pass, lookups, nr);
	if (pass.nr == 0)
		return 0;
	array__sort(uses, pass.nr, sizeof(*uses), compare_slots);
	for (size_t i = 0; i < elf->nr_sections && !err; i++)
		if (elf->sections[i].type == SHT_RELA)
			err = pass_relocations(&pass, &elf->sections[i]);
	if (!err && has_resolvers(&pass))
		err = name_by_resolvers(&pass);
	return err || work__is_left(&pass.work) ? err : -EFBIG;
}
