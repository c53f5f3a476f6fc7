// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "sym/elf/file.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* .symtab and .dynsym: each can have what the other has not. Others are not read. */
#define TABLES_MAX 2
/* What a file can make us do is bounded. The largest browsers have about a million symbols. */
#define SYMBOLS_MAX (4 * 1024 * 1024)
/*
 * Symbols can overlap as they like: so many entries are read and comparisons
 * made, each comparison of names counting NAME_COST.
 */
#define WORK_MAX  (16 * 1024 * 1024)
#define NAME_COST 1024

/* Ranks of symbols. */
enum {
	RANK_LOCAL = 1,
	RANK_HIDDEN, /* of a version that is not the default */
	RANK_WEAK,
	RANK_GLOBAL,
};

/* Of the number of a version. */
#define VERSION_HIDDEN 0x8000

static uint8_t rank_of(unsigned int binding, uint16_t version)
{
	switch (binding) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return version & VERSION_HIDDEN ? RANK_HIDDEN : RANK_GLOBAL;
	case STB_WEAK:
		return version & VERSION_HIDDEN ? RANK_HIDDEN : RANK_WEAK;
	default:
		return RANK_LOCAL;
	}
}

enum symbol_kind { SYMBOL_OTHER, SYMBOL_FUNCTION, SYMBOL_LABEL };

static enum symbol_kind kind_of(const struct elf_file *elf, const struct elf_symbol *symbol,
				unsigned int type)
{
	if (symbol->section == SHN_UNDEF || symbol->name == 0)
		return SYMBOL_OTHER;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return SYMBOL_FUNCTION;
	return type == STT_NOTYPE && symbol->section < elf->nr_sections &&
			       elf->sections[symbol->section].flags & SHF_EXECINSTR ?
		       SYMBOL_LABEL :
		       SYMBOL_OTHER;
}

#define SYMBOLS_AT_ONCE 512

/* A part of a table, and what other sections say of its symbols. */
struct block {
	char symbols[SYMBOLS_AT_ONCE * sizeof(Elf64_Sym)];
	uint16_t versions[SYMBOLS_AT_ONCE];
	uint32_t sections[SYMBOLS_AT_ONCE];
};

/* The number of the section is beside the table if it is too large for an entry. */
static uint32_t section_of(uint16_t in_entry, uint32_t beside)
{
	if (in_entry < SHN_LORESERVE)
		return in_entry;
	return in_entry == SHN_XINDEX && beside ? beside : UINT32_MAX;
}

/* Entry i of a block of the table. */
static enum symbol_kind decode_symbol(const struct elf_file *elf, const struct block *block,
				      size_t i, struct elf_symbol *symbol)
{
	unsigned char info;

	if (elf->is_64bit) {
		Elf64_Sym sym;

		memcpy(&sym, block->symbols + i * sizeof(sym), sizeof(sym));
		info = sym.st_info;
		*symbol = (struct elf_symbol){.start = sym.st_value,
					      .size = sym.st_size,
					      .name = sym.st_name,
					      .section = sym.st_shndx};
	} else {
		Elf32_Sym sym;

		memcpy(&sym, block->symbols + i * sizeof(sym), sizeof(sym));
		info = sym.st_info;
		*symbol = (struct elf_symbol){.start = sym.st_value,
					      .size = sym.st_size,
					      .name = sym.st_name,
					      .section = sym.st_shndx};
	}
	symbol->section = section_of((uint16_t)symbol->section, block->sections[i]);
	symbol->rank = rank_of(ELF64_ST_BIND(info), block->versions[i]);
	symbol->indirect = ELF64_ST_TYPE(info) == STT_GNU_IFUNC;
	return kind_of(elf, symbol, ELF64_ST_TYPE(info));
}

/*
 * A section with a number for each symbol of a table: SHT_GNU_versym, its version (Linux Standard
 * Base, Core, 10.7.2), or SHT_SYMTAB_SHNDX, its section. NULL if the table has none.
 */
static const struct elf_section *find_numbers(const struct elf_file *elf, size_t table,
					      uint32_t type)
{
	for (size_t i = 0; i < elf->nr_sections; i++)
		if (elf->sections[i].type == type && elf->sections[i].link == table)
			return &elf->sections[i];
	return NULL;
}

/* nr numbers of that size; section may be NULL. Those that cannot be read are 0. */
static void read_numbers(const struct elf_file *elf, const struct elf_section *section,
			 uint64_t first, size_t nr, void *numbers, size_t size)
{
	size_t got = 0;

	if (section)
		got = elf_file__read(elf, numbers, nr * size, section->offset + first * size);
	got -= got % size;
	memset((char *)numbers + got, 0, nr * size - got);
}

static size_t symbol_size(const struct elf_file *elf)
{
	return elf->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

static uint64_t nr_symbols(const struct elf_file *elf, const struct elf_section *table)
{
	uint64_t nr = table->size / symbol_size(elf);

	return nr < SYMBOLS_MAX ? nr : SYMBOLS_MAX;
}

/* label may be NULL. */
static int each_symbol_of(const struct elf_file *elf, size_t number, const struct work *work,
			  elf_symbols_visit function, elf_symbols_visit label, void *context)
{
	const struct elf_section *table = &elf->sections[number];
	const struct elf_section *versions = find_numbers(elf, number, SHT_GNU_versym);
	const struct elf_section *sections = find_numbers(elf, number, SHT_SYMTAB_SHNDX);
	size_t entry = symbol_size(elf);
	uint64_t entries = nr_symbols(elf, table);
	struct block block;
	int err = 0;

	for (uint64_t done = 0; done < entries && work__is_left(work) && !err;) {
		uint64_t left = entries - done;
		size_t nr = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;

		nr = elf_file__read(elf, block.symbols, nr * entry, table->offset + done * entry) /
		     entry;
		if (nr == 0)
			break;
		work__charge(work, nr);
		read_numbers(elf, versions, done, nr, block.versions, sizeof(*block.versions));
		read_numbers(elf, sections, done, nr, block.sections, sizeof(*block.sections));
		for (size_t i = 0; i < nr && !err; i++) {
			struct elf_symbol symbol;
			enum symbol_kind kind = decode_symbol(elf, &block, i, &symbol);

			symbol.table = (uint32_t)number;
			if (kind == SYMBOL_FUNCTION)
				err = function(context, &symbol);
			else if (kind == SYMBOL_LABEL && label)
				err = label(context, &symbol);
		}
		done += nr;
	}
	return err;
}

static bool is_symbol_table(const struct elf_file *elf, const struct elf_section *section)
{
	return (section->type == SHT_SYMTAB || section->type == SHT_DYNSYM) &&
	       nr_symbols(elf, section) && section->link < elf->nr_sections &&
	       elf->sections[section->link].type == SHT_STRTAB;
}

static int each_symbol(const struct elf_file *elf, const struct work *work,
		       elf_symbols_visit function, elf_symbols_visit label, void *context)
{
	int err = 0, tables = 0;

	for (size_t i = 0; i < elf->nr_sections && tables < TABLES_MAX && !err; i++) {
		if (!is_symbol_table(elf, &elf->sections[i]))
			continue;
		err = each_symbol_of(elf, i, work, function, label, context);
		tables++;
	}
	return err;
}

int elf_symbols__each_function(const struct elf_file *elf, const struct work *work,
			       elf_symbols_visit visit, void *context)
{
	return each_symbol(elf, work, visit, NULL, context);
}

/* The symbols for a lookup while the table passes by. */
struct candidate {
	struct elf_symbol covering; /* the best whose size covers the address; rank 0: none */
	struct elf_symbol nearest;  /* the last one that starts at or before it, in any case */
	struct elf_symbol label;    /* the last one without a type */
};

struct pass {
	const struct elf_file *elf;
	struct elf_lookup *lookups;
	struct candidate *candidates;
	size_t nr;
	struct work work;
};

const struct elf_section *elf_symbols__names(const struct elf_file *elf,
					     const struct elf_symbol *symbol)
{
	return &elf->sections[elf->sections[symbol->table].link];
}

/* Into size bytes at name, with a NUL; cut if longer. The length, or -EIO if it has no name. */
static ssize_t read_name(const struct elf_file *elf, const struct elf_symbol *symbol, char *name,
			 size_t size)
{
	size_t length =
		elf_file__string(elf, elf_symbols__names(elf, symbol), symbol->name, name, size);

	return length ? (ssize_t)length : -EIO;
}

bool elf_symbols__is_better_name(const char *a, const char *b)
{
	size_t dashes_a = strspn(a, "_"), dashes_b = strspn(b, "_");
	bool has_version_a = strchr(a, '@'), has_version_b = strchr(b, '@');

	/* "cfree@GLIBC_2.2.5", in a table that is not for linking */
	if (has_version_a != has_version_b)
		return has_version_b;
	if (dashes_a != dashes_b)
		return dashes_a < dashes_b;
	return strcmp(a, b) < 0;
}

/* For symbols that differ in nothing else. */
static bool better_name(struct pass *pass, const struct elf_symbol *a, const struct elf_symbol *b)
{
	char name_a[256], name_b[256];

	work__charge(&pass->work, NAME_COST);
	if (read_name(pass->elf, a, name_a, sizeof(name_a)) < 0)
		return false;
	if (read_name(pass->elf, b, name_b, sizeof(name_b)) < 0)
		return true;
	return elf_symbols__is_better_name(name_a, name_b);
}

static bool same_name(const struct elf_symbol *a, const struct elf_symbol *b)
{
	return a->name == b->name && a->table == b->table;
}

/* True if symbol a names an address better than b; both hold it. */
static bool better(struct pass *pass, const struct elf_symbol *a, const struct elf_symbol *b)
{
	if (b->rank == 0)
		return true;
	if (a->start != b->start)
		return a->start > b->start;
	if (a->rank != b->rank)
		return a->rank > b->rank;
	return !same_name(a, b) && better_name(pass, a, b);
}

static int offer_symbol(void *context, const struct elf_symbol *symbol)
{
	struct pass *pass = context;
	size_t first =
		array__lower_bound(pass->lookups, pass->nr, sizeof(*pass->lookups), symbol->start);

	if (first == pass->nr)
		return 0;
	/* It counts for the lookups behind as well: take_nearest() carries it on. */
	if (better(pass, symbol, &pass->candidates[first].nearest))
		pass->candidates[first].nearest = *symbol;
	for (size_t i = first; i < pass->nr && work__is_left(&pass->work); i++) {
		if (pass->lookups[i].address - symbol->start >= symbol->size)
			break;
		work__charge(&pass->work, 1);
		if (better(pass, symbol, &pass->candidates[i].covering))
			pass->candidates[i].covering = *symbol;
	}
	return 0;
}

/* Labels that tell code from data on some processors (ELF for the Arm 64-bit Architecture, 5.5). */
static bool is_mapping_symbol(const struct elf_file *elf, const struct elf_symbol *symbol)
{
	char name[2];

	return read_name(elf, symbol, name, sizeof(name)) == 1 && name[0] == '$';
}

static int offer_label(void *context, const struct elf_symbol *symbol)
{
	struct pass *pass = context;
	size_t first =
		array__lower_bound(pass->lookups, pass->nr, sizeof(*pass->lookups), symbol->start);

	if (first == pass->nr || !better(pass, symbol, &pass->candidates[first].label))
		return 0;
	work__charge(&pass->work, NAME_COST);
	if (!is_mapping_symbol(pass->elf, symbol))
		pass->candidates[first].label = *symbol;
	return 0;
}

static bool is_in_section_of(const struct pass *pass, const struct elf_symbol *symbol,
			     uint64_t address)
{
	return symbol->section < pass->elf->nr_sections &&
	       address - pass->elf->sections[symbol->section].address <
		       pass->elf->sections[symbol->section].size;
}

/*
 * A symbol without a size names what follows it in its section, up to the next symbol. So does a
 * label, but not one within a function, as of loops in code that was written by hand.
 */
static void take_nearest(struct pass *pass)
{
	struct elf_symbol nearest = {0}, label = {0};

	for (size_t i = 0; i < pass->nr; i++) {
		struct candidate *candidate = &pass->candidates[i];
		uint64_t address = pass->lookups[i].address;

		if (candidate->nearest.rank && better(pass, &candidate->nearest, &nearest))
			nearest = candidate->nearest;
		if (candidate->label.rank && better(pass, &candidate->label, &label))
			label = candidate->label;
		if (candidate->covering.rank)
			continue;
		if (label.rank && is_in_section_of(pass, &label, address) &&
		    (!nearest.rank ||
		     (label.start > nearest.start && label.start - nearest.start >= nearest.size)))
			candidate->covering = label;
		else if (nearest.rank && !nearest.size && is_in_section_of(pass, &nearest, address))
			candidate->covering = nearest;
	}
}

/* Lookups side by side that lie in one function share its name. */
static int take_names(struct pass *pass, struct arena *names)
{
	CLEANUP_FREE char *name = malloc(ELF_SYMBOLS_NAME_MAX + 1);
	size_t previous = 0; /* the last lookup that got a name */

	if (!name)
		return -ENOMEM;
	for (size_t i = 0; i < pass->nr; i++)
		pass->lookups[i].name = NULL;
	for (size_t i = 0; i < pass->nr && work__is_left_for_all(&pass->work); i++) {
		const struct elf_symbol *symbol = &pass->candidates[i].covering;
		struct elf_lookup *lookup = &pass->lookups[i];
		ssize_t length;

		if (!symbol->rank)
			continue;
		lookup->start = symbol->start;
		if (pass->lookups[previous].name &&
		    same_name(&pass->candidates[previous].covering, symbol)) {
			lookup->name = pass->lookups[previous].name;
			continue;
		}
		length = read_name(pass->elf, symbol, name, ELF_SYMBOLS_NAME_MAX + 1);
		/* So that names have a bound, too. */
		work__charge(&pass->work, length < 0 ? 1 : (uint64_t)length);
		if (length < 0)
			continue;
		lookup->name = arena__copy_string(names, name, (size_t)length);
		if (!lookup->name)
			return -ENOMEM;
		previous = i;
	}
	return 0;
}

int elf_symbols__find(const struct elf_file *elf, struct elf_lookup *lookups, size_t nr,
		      struct arena *names, uint64_t *work)
{
	CLEANUP_FREE struct candidate *candidates = calloc(nr + 1, sizeof(*candidates));
	struct pass pass = {
		.elf = elf,
		.lookups = lookups,
		.candidates = candidates,
		.nr = nr,
		.work = work__share(work, WORK_MAX),
	};

	if (!candidates)
		return -ENOMEM;
	each_symbol(elf, &pass.work, offer_symbol, offer_label, &pass);
	take_nearest(&pass);
	if (take_names(&pass, names))
		return -ENOMEM;
	return work__is_left(&pass.work) ? 0 : -EFBIG;
}
