// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/elf/symbols.h"

#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/*
 * Bounds on what a file can make us do. Programs have some tens of sections and
 * segments; the largest browsers about a million symbols.
 */
#define SECTIONS_MAX 4096
#define SEGMENTS_MAX 1024
#define SYMBOLS_MAX  (4 * 1024 * 1024)
/*
 * Symbols can overlap as they like: so many entries are read and comparisons
 * made, each comparison of names counting NAME_COST.
 */
#define WORK_MAX  (16 * 1024 * 1024)
#define NAME_COST 1024

/* Up to size bytes at offset; returns how many the file has there (still). */
static size_t read_some(int fd, void *buffer, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size && offset <= INT64_MAX - size) {
		ssize_t got = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* fstat() of libc is newfstatat(), which takes paths: a sandbox does not have that. */
int elf_symbols__stat(const struct elf_symbols *elf, struct stat *st)
{
	return syscall(SYS_fstat, elf->fd, st) ? -errno : 0;
}

size_t elf_symbols__read(const struct elf_symbols *elf, void *buffer, size_t size, uint64_t offset)
{
	return read_some(elf->fd, buffer, size, offset);
}

/* All size bytes at offset: 0, or -EIO. */
static int read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	return read_some(fd, buffer, size, offset) == size ? 0 : -EIO;
}

/*
 * libelf allocates by the counts that the file states, and believes them as long
 * as the file, however sparse, is long enough: look at them before it does.
 */
static int check_counts(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr ehdr32;
		Elf64_Ehdr ehdr64;
	} header = {{0}};
	int data = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	uint64_t sections, first;

	if (read_at(fd, &header, sizeof(header.ehdr32), 0) ||
	    memcmp(header.ident, ELFMAG, SELFMAG) || header.ident[EI_DATA] != data)
		return -ENOEXEC;
	if (header.ident[EI_CLASS] == ELFCLASS64) {
		if (read_at(fd, &header, sizeof(header.ehdr64), 0))
			return -ENOEXEC;
		sections = header.ehdr64.e_shnum;
		first = header.ehdr64.e_shoff;
	} else {
		sections = header.ehdr32.e_shnum;
		first = header.ehdr32.e_shoff;
	}
	/* 0 sections but a table of them: the count is in the first entry, and above 65,279. */
	return sections > SECTIONS_MAX || (sections == 0 && first != 0) ? -ENOEXEC : 0;
}

static int read_segments(struct elf_symbols *elf, Elf *file)
{
	size_t nr;

	if (elf_getphdrnum(file, &nr) || nr > SEGMENTS_MAX)
		return -ENOEXEC;
	elf->segments = calloc(nr + 1, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct elf_segment segment;
		GElf_Phdr phdr;

		if (!gelf_getphdr(file, (int)i, &phdr))
			continue;
		segment = (struct elf_segment){
			.offset = phdr.p_offset,
			.size = phdr.p_filesz,
			.address = phdr.p_vaddr,
			.memory = phdr.p_memsz,
			.flags = phdr.p_flags,
		};
		if (phdr.p_type == PT_LOAD)
			elf->segments[elf->nr_segments++] = segment;
		else if (phdr.p_type == PT_GNU_EH_FRAME)
			elf->eh_frame_header = segment;
	}
	return 0;
}

/* Use this table of symbols, which is in that section, if it is usable. */
static void offer_table(struct elf_symbols *elf, Elf *file, size_t section, const GElf_Shdr *shdr)
{
	size_t entry = elf->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t entries = shdr->sh_size / entry;
	Elf_Scn *names = elf_getscn(file, shdr->sh_link);
	GElf_Shdr names_shdr;

	if (entries == 0 || elf->nr_tables == ELF_SYMBOLS_TABLES || !names ||
	    !gelf_getshdr(names, &names_shdr) || names_shdr.sh_type != SHT_STRTAB)
		return;
	elf->tables[elf->nr_tables++] = (struct elf_symbols_table){
		.offset = shdr->sh_offset,
		.entries = entries < SYMBOLS_MAX ? entries : SYMBOLS_MAX,
		.names_offset = names_shdr.sh_offset,
		.names_size = names_shdr.sh_size,
		.section = section,
	};
}

/* .gnu.version, as the Linux Standard Base has it (Core, 10.7.2). */
static void take_versions(struct elf_symbols *elf, const struct elf_section *section)
{
	for (size_t i = 0; i < elf->nr_tables; i++)
		if (elf->tables[i].section == section->link)
			elf->tables[i].versions_offset = section->offset;
}

static int read_sections(struct elf_symbols *elf, Elf *file)
{
	size_t nr;

	if (elf_getshdrnum(file, &nr) || nr > SECTIONS_MAX)
		return -ENOEXEC;
	elf->sections = calloc(nr + 1, sizeof(*elf->sections));
	if (!elf->sections)
		return -ENOMEM;
	if (elf_getshdrstrndx(file, &elf->section_names))
		elf->section_names = nr;
	elf->nr_sections = nr;
	for (size_t i = 0; i < nr; i++) {
		Elf_Scn *section = elf_getscn(file, i);
		GElf_Shdr shdr;

		if (!section || !gelf_getshdr(section, &shdr))
			continue;
		elf->sections[i] = (struct elf_section){
			.address = shdr.sh_addr,
			.offset = shdr.sh_offset,
			.size = shdr.sh_size,
			.entry_size = shdr.sh_entsize,
			.flags = shdr.sh_flags,
			.type = shdr.sh_type,
			.link = shdr.sh_link,
			.name = shdr.sh_name,
		};
		if (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM)
			offer_table(elf, file, i, &shdr);
	}
	for (size_t i = 0; i < nr; i++)
		if (elf->sections[i].type == SHT_GNU_versym)
			take_versions(elf, &elf->sections[i]);
	return 0;
}

int elf_symbols__open(struct elf_symbols *elf, int fd)
{
	struct elf_symbols opened = {.fd = fd};
	GElf_Ehdr ehdr;
	Elf *file;
	int err = check_counts(fd);

	if (err)
		return err;
	elf_version(EV_CURRENT);
	/* Not ELF_C_READ_MMAP: a file that is cut short meanwhile must not kill us. */
	file = elf_begin(fd, ELF_C_READ, NULL);
	if (!file || elf_kind(file) != ELF_K_ELF)
		err = -ENOEXEC;
	opened.is_64bit = !err && gelf_getclass(file) == ELFCLASS64;
	if (!err && gelf_getehdr(file, &ehdr)) {
		opened.machine = ehdr.e_machine;
		opened.entry = ehdr.e_entry;
	}
	if (!err)
		err = read_segments(&opened, file);
	if (!err)
		err = read_sections(&opened, file);
	elf_end(file);
	if (err) {
		elf_symbols__close(&opened);
		return err;
	}
	*elf = opened;
	return 0;
}

void elf_symbols__close(struct elf_symbols *elf)
{
	free(elf->segments);
	free(elf->sections);
	*elf = (struct elf_symbols){.fd = -1};
}

bool elf_symbols__address(const struct elf_symbols *elf, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->size) {
			*address = offset - segment->offset + segment->address;
			return true;
		}
	}
	return false;
}

const struct elf_segment *elf_symbols__segment(const struct elf_symbols *elf, uint64_t address,
					       uint32_t flags)
{
	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct elf_segment *segment = &elf->segments[i];

		if ((segment->flags & flags) == flags && address >= segment->address &&
		    address - segment->address < segment->size)
			return segment;
	}
	return NULL;
}

bool elf_symbols__offset(const struct elf_symbols *elf, uint64_t address, uint32_t flags,
			 uint64_t *offset)
{
	const struct elf_segment *segment = elf_symbols__segment(elf, address, flags);

	if (!segment)
		return false;
	*offset = address - segment->address + segment->offset;
	return true;
}

void elf_symbols__section_name(const struct elf_symbols *elf, const struct elf_section *section,
			       char *name, size_t size)
{
	const struct elf_section *names;
	size_t room = 0;

	if (elf->section_names < elf->nr_sections) {
		names = &elf->sections[elf->section_names];
		if (section->name < names->size)
			room = names->size - section->name < size - 1 ?
				       names->size - section->name :
				       size - 1;
		room = read_some(elf->fd, name, room, names->offset + section->name);
	}
	name[room] = '\0';
}

/* Outside of memory, tables and notes are passed over: a name costs a system call. */
const struct elf_section *elf_symbols__find_section(const struct elf_symbols *elf, const char *name,
						    bool in_memory)
{
	for (size_t i = 0; i < elf->nr_sections; i++) {
		const struct elf_section *section = &elf->sections[i];
		char found[32];

		if (((section->flags & SHF_ALLOC) != 0) != in_memory ||
		    (!in_memory && section->type != SHT_PROGBITS))
			continue;
		elf_symbols__section_name(elf, section, found, sizeof(found));
		if (!strcmp(found, name))
			return section;
	}
	return NULL;
}

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

static enum symbol_kind kind_of(const struct elf_symbols *elf, const struct elf_symbol *symbol,
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

/* Entry i of a block of the table. */
static enum symbol_kind decode_symbol(const struct elf_symbols *elf, const void *block, size_t i,
				      uint16_t version, struct elf_symbol *symbol)
{
	unsigned char info;

	if (elf->is_64bit) {
		Elf64_Sym sym;

		memcpy(&sym, (const char *)block + i * sizeof(sym), sizeof(sym));
		info = sym.st_info;
		*symbol = (struct elf_symbol){.start = sym.st_value,
					      .size = sym.st_size,
					      .name = sym.st_name,
					      .section = sym.st_shndx};
	} else {
		Elf32_Sym sym;

		memcpy(&sym, (const char *)block + i * sizeof(sym), sizeof(sym));
		info = sym.st_info;
		*symbol = (struct elf_symbol){.start = sym.st_value,
					      .size = sym.st_size,
					      .name = sym.st_name,
					      .section = sym.st_shndx};
	}
	symbol->rank = rank_of(ELF64_ST_BIND(info), version);
	symbol->indirect = ELF64_ST_TYPE(info) == STT_GNU_IFUNC;
	return kind_of(elf, symbol, ELF64_ST_TYPE(info));
}

#define SYMBOLS_AT_ONCE 512

/* Numbers that cannot be read are 0. */
static void read_versions(const struct elf_symbols *elf, const struct elf_symbols_table *table,
			  uint64_t first, size_t nr, uint16_t versions[SYMBOLS_AT_ONCE])
{
	size_t got = 0;

	if (table->versions_offset)
		got = read_some(elf->fd, versions, nr * sizeof(*versions),
				table->versions_offset + first * sizeof(*versions));
	got /= sizeof(*versions);
	memset(versions + got, 0, (nr - got) * sizeof(*versions));
}

/* label may be NULL. */
static int each_symbol_of(const struct elf_symbols *elf, uint8_t number, const struct work *work,
			  elf_symbols_visit function, elf_symbols_visit label, void *context)
{
	const struct elf_symbols_table *table = &elf->tables[number];
	size_t entry = elf->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	char block[SYMBOLS_AT_ONCE * sizeof(Elf64_Sym)];
	uint16_t versions[SYMBOLS_AT_ONCE];
	int err = 0;

	for (uint64_t done = 0; done < table->entries && work__is_left(work) && !err;) {
		uint64_t left = table->entries - done;
		size_t nr = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;

		nr = read_some(elf->fd, block, nr * entry, table->offset + done * entry) / entry;
		if (nr == 0)
			break;
		work__charge(work, nr);
		read_versions(elf, table, done, nr, versions);
		for (size_t i = 0; i < nr && !err; i++) {
			struct elf_symbol symbol;
			enum symbol_kind kind = decode_symbol(elf, block, i, versions[i], &symbol);

			symbol.table = number;
			if (kind == SYMBOL_FUNCTION)
				err = function(context, &symbol);
			else if (kind == SYMBOL_LABEL && label)
				err = label(context, &symbol);
		}
		done += nr;
	}
	return err;
}

static int each_symbol(const struct elf_symbols *elf, const struct work *work,
		       elf_symbols_visit function, elf_symbols_visit label, void *context)
{
	int err = 0;

	for (size_t i = 0; i < elf->nr_tables && !err; i++)
		err = each_symbol_of(elf, (uint8_t)i, work, function, label, context);
	return err;
}

int elf_symbols__each_function(const struct elf_symbols *elf, const struct work *work,
			       elf_symbols_visit visit, void *context)
{
	return each_symbol(elf, work, visit, NULL, context);
}

/* The symbols for a lookup while the table passes by. */
struct candidate {
	struct elf_symbol covering; /* the best whose size covers the address; rank 0: none */
	struct elf_symbol nearest;  /* the last one that starts at or before it, in any case */
	struct elf_symbol label;    /* likewise, of those without a type */
};

struct pass {
	const struct elf_symbols *elf;
	struct elf_lookup *lookups;
	struct candidate *candidates;
	size_t nr;
	struct work work;
};

/* Into size bytes at name, with a NUL; cut if longer. The length, or -EIO if it has no name. */
static ssize_t read_name(const struct elf_symbols *elf, const struct elf_symbol *symbol, char *name,
			 size_t size)
{
	const struct elf_symbols_table *table = &elf->tables[symbol->table];
	size_t length = 0, chunk = 128; /* most names are shorter */

	for (; length < size - 1; chunk = size) {
		uint64_t at = (uint64_t)symbol->name + length;
		size_t room = size - 1 - length;
		size_t got, end;

		if (at >= table->names_size)
			break;
		if (room > chunk)
			room = chunk;
		if (room > table->names_size - at)
			room = table->names_size - at;
		got = read_some(elf->fd, name + length, room, table->names_offset + at);
		end = strnlen(name + length, got);
		length += end;
		if (end < room)
			break; /* its NUL, or the end of the file */
	}
	name[length] = '\0';
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
static bool is_mapping_symbol(const struct elf_symbols *elf, const struct elf_symbol *symbol)
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

int elf_symbols__find(const struct elf_symbols *elf, struct elf_lookup *lookups, size_t nr,
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
