// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A wildcard is compared with all names of a file, in which they stand in an order of
 * the linker's own. So symbols are taken in batches, and each batch sorted by where
 * its names are: the names pass by once for a hundred thousand symbols, in a window
 * of bounded size.
 */
#include "sym/find/probe_sites.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sym/elf/demangle.h"
#include "sym/elf/file.h"
#include "sym/elf/file_window.h"
#include "sym/elf/notes.h"
#include "sym/elf/symbols.h"
#include "sym/elf/work.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/page.h"

/*
 * A unit of work is about 10 ns. The largest browsers have a million functions, whose
 * names have a hundred bytes each.
 */
#define WORK_MAX (256 * 1024 * 1024)
#define WORK_NS	 10

#define BATCH ((size_t)128 * 1024)

/* A byte that is kept counts as one unit, so that memory has a bound; to compare one costs less. */
#define BYTES_COMPARED 16

/* A site, and how good a name it has. */
struct candidate {
	struct probe_site site;
	uint8_t rank;
};

struct site_pass {
	const struct elf_file *elf; /* whose segments say where addresses lie in the file */
	struct work work;
	probe_site_wanted wanted;
	void *context;
	struct candidate *candidates;
	size_t nr, capacity;
	size_t nr_misplaced;
	struct arena names;
};

/* ---- what both kinds share ---- */

static void release_pass(struct site_pass *pass)
{
	free(pass->candidates);
	arena__release(&pass->names);
}

static const char *keep_name(struct site_pass *pass, const char *name)
{
	size_t length = strlen(name);

	work__charge(&pass->work, length + sizeof(struct candidate));
	return arena__copy_string(&pass->names, name, length);
}

/* Keep a site; its strings are copied. */
static int add_site(struct site_pass *pass, const struct probe_site *site, uint8_t rank)
{
	struct candidate *added;

	if (ARRAY_GROW(pass->candidates, pass->nr, pass->capacity))
		return -ENOMEM;
	added = &pass->candidates[pass->nr];
	*added = (struct candidate){.site = *site, .rank = rank};
	added->site.name = keep_name(pass, site->name);
	if (site->provider)
		added->site.provider = keep_name(pass, site->provider);
	if (!added->site.name || (site->provider && !added->site.provider))
		return -ENOMEM;
	pass->nr++;
	return 0;
}

/* True if two neighbours, sorted, are one site. */
static bool is_same_site(const struct probe_site *a, const struct probe_site *b)
{
	if (a->offset != b->offset)
		return false;
	return !a->provider || (!strcmp(a->provider, b->provider) && !strcmp(a->name, b->name));
}

/* 0x66, 0xf2, 0xf3, segments, address size, LOCK */
static bool is_legacy_prefix(unsigned char byte)
{
	static const unsigned char prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
						 0x66, 0x67, 0xf0, 0xf2, 0xf3};

	return memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

/* Opcodes that uprobes emulate (push, jcc, nop, call, jmp) or refuse (in, out, ins, outs). */
static bool is_special_opcode(unsigned char opcode)
{
	return (opcode >= 0x50 && opcode <= 0x57) || (opcode >= 0x6c && opcode <= 0x7f) ||
	       opcode == 0x90 || (opcode >= 0xe4 && opcode <= 0xef);
}

bool probe_instruction__is_misread(const unsigned char bytes[PROBE_INSTRUCTION_BYTES])
{
	size_t i = 0;

	while (i < PROBE_INSTRUCTION_BYTES - 4 && is_legacy_prefix(bytes[i]))
		if (bytes[i++] == 0xf0)
			return true;
	switch (bytes[i]) {
	case 0xc5: /* VEX of two bytes */
		return is_special_opcode(bytes[i + 2]);
	case 0xc4: /* VEX of three */
		return is_special_opcode(bytes[i + 3]);
	case 0x62: /* EVEX */
		return is_special_opcode(bytes[i + 4]);
	default:
		return false;
	}
}

/* Look at the instructions themselves, in an x86-64 file. */
static void mark_misread(const struct elf_file *elf, struct probe_site_list *list)
{
	for (size_t i = 0; i < list->nr && elf->machine == EM_X86_64; i++) {
		unsigned char bytes[PROBE_INSTRUCTION_BYTES] = {0};

		elf_file__read(elf, bytes, sizeof(bytes), list->sites[i].offset);
		list->sites[i].misread = probe_instruction__is_misread(bytes);
	}
}

/* The first entry of a site is the best, and stands for all. */
static int take_sites(struct site_pass *pass, struct probe_site_list *list)
{
	struct probe_site *sites;
	size_t nr = 0;

	if (!work__is_left(&pass->work))
		return -EFBIG;
	sites = calloc(pass->nr + 1, sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < pass->nr; i++) {
		const struct probe_site *site = &pass->candidates[i].site;

		if (nr > 0 && is_same_site(&sites[nr - 1], site))
			sites[nr - 1].indirect |= site->indirect;
		else
			sites[nr++] = *site;
	}
	*list = (struct probe_site_list){
		.sites = sites, .nr = nr, .nr_misplaced = pass->nr_misplaced, .names = pass->names};
	pass->names = (struct arena){0};
	mark_misread(pass->elf, list);
	return 0;
}

/* ---- functions ---- */

struct function_pass {
	struct site_pass sites;
	const struct elf_file *symbols; /* the file whose symbols pass */
	struct elf_symbol *batch;	/* at most BATCH; start is the offset in the file */
	size_t nr_batch, batch_capacity;
	enum probe_names names;
	unsigned int patience; /* 0: names stay as they are */
	struct file_window window;
};

static int compare_names(const void *a, const void *b)
{
	const struct elf_symbol *sa = a, *sb = b;

	if (sa->table != sb->table)
		return COMPARE(sa->table, sb->table);
	return COMPARE(sa->name, sb->name);
}

/* A symbol's name with its version, if that is there, and a NUL; false if it has none. */
static bool read_name(struct function_pass *pass, const struct elf_symbol *symbol,
		      char name[ELF_SYMBOLS_NAME_MAX + 1])
{
	const struct elf_section *names = elf_symbols__names(pass->symbols, symbol);
	size_t size = ELF_SYMBOLS_NAME_MAX;
	const char *bytes;

	if (symbol->name >= names->size)
		return false;
	if (size > names->size - symbol->name)
		size = names->size - symbol->name;
	bytes = file_window__at(&pass->window, names->offset + symbol->name, size, &size);
	size = strnlen(bytes, size);
	memcpy(name, bytes, size);
	name[size] = '\0';
	work__charge(&pass->sites.work, 1 + size / BYTES_COMPARED);
	return name[0] != '\0' && name[0] != '@';
}

static uint64_t cpu_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

typedef bool (*demangle_function)(const char *symbol, char text[DEMANGLED_SIZE],
				  unsigned int *patience);

/* One of sym/elf/demangle.h, but it takes from work: hostile symbols can keep it busy. */
static bool demangle_for_work(struct function_pass *pass, demangle_function by, const char *name,
			      char text[DEMANGLED_SIZE])
{
	uint64_t start;
	bool done;

	if (pass->patience == 0 || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return false;
	start = cpu_time();
	done = by(name, text, &pass->patience);
	work__charge(&pass->sites.work, (cpu_time() - start) / WORK_NS);
	return done;
}

static bool is_wanted(struct function_pass *pass, const char *name)
{
	return pass->sites.wanted(pass->sites.context, NULL, name);
}

/* By its demangled names, of which the last one has the version; NULL: none is wanted. */
static const char *find_demangled(struct function_pass *pass, const char *name, const char *version,
				  char text[DEMANGLED_SIZE])
{
	size_t length;

	if (demangle_for_work(pass, demangle_name, name, text) && is_wanted(pass, text))
		return text;
	if (pass->names != PROBE_NAMES_WHOLE || !demangle_for_work(pass, demangle, name, text))
		return NULL;
	if (is_wanted(pass, text))
		return text;
	length = strlen(text);
	if (!version[0] || length + strlen(version) >= DEMANGLED_SIZE)
		return NULL;
	strcpy(text + length, version);
	return is_wanted(pass, text) ? text : NULL;
}

/* The first of the symbol's names that is wanted, in name or in demangled; NULL: none is. */
static const char *find_wanted(struct function_pass *pass, char *name,
			       char demangled[DEMANGLED_SIZE])
{
	char version[ELF_SYMBOLS_NAME_MAX + 1];
	size_t length = strcspn(name, "@");

	strcpy(version, name + length);
	/* A pattern means all versions, unless it names one. */
	name[length] = '\0';
	if (is_wanted(pass, name))
		return name;
	if (version[0]) {
		name[length] = '@';
		if (is_wanted(pass, name))
			return name;
		name[length] = '\0';
	}
	return find_demangled(pass, name, version, demangled);
}

static int offer_function(struct function_pass *pass, const struct elf_symbol *symbol)
{
	char name[ELF_SYMBOLS_NAME_MAX + 1], demangled[DEMANGLED_SIZE];
	struct probe_site site = {.offset = symbol->start, .indirect = symbol->indirect};

	if (!read_name(pass, symbol, name))
		return 0;
	site.name = find_wanted(pass, name, demangled);
	return site.name ? add_site(&pass->sites, &site, symbol->rank) : 0;
}

static int offer_batch(struct function_pass *pass)
{
	int err = 0;

	array__sort(pass->batch, pass->nr_batch, sizeof(*pass->batch), compare_names);
	for (size_t i = 0; i < pass->nr_batch && !err && work__is_left(&pass->sites.work); i++)
		err = offer_function(pass, &pass->batch[i]);
	pass->nr_batch = 0;
	return err;
}

static int note_function(void *context, const struct elf_symbol *symbol)
{
	struct function_pass *pass = context;
	uint64_t offset;

	if (!elf_file__offset(pass->sites.elf, symbol->start, PF_X, &offset))
		return 0;
	if (ARRAY_GROW(pass->batch, pass->nr_batch, pass->batch_capacity))
		return -ENOMEM;
	pass->batch[pass->nr_batch] = *symbol;
	pass->batch[pass->nr_batch++].start = offset;
	return pass->nr_batch == BATCH ? offer_batch(pass) : 0;
}

/* The symbols of one file, which can be the one that the sites are in or its debug file. */
static int pass_symbols(struct function_pass *pass, const struct elf_file *symbols)
{
	int err;

	pass->symbols = symbols;
	pass->window.elf = symbols;
	pass->window.size = 0;
	err = elf_symbols__each_function(symbols, &pass->sites.work, note_function, pass);
	return err ? err : offer_batch(pass);
}

/* By offset; of one offset the best name first. */
static int compare_functions(const void *a, const void *b)
{
	const struct candidate *ca = a, *cb = b;

	if (ca->site.offset != cb->site.offset)
		return COMPARE(ca->site.offset, cb->site.offset);
	if (ca->rank != cb->rank)
		return COMPARE(cb->rank, ca->rank);
	return elf_symbols__is_better_name(cb->site.name, ca->site.name) -
	       elf_symbols__is_better_name(ca->site.name, cb->site.name);
}

static int find_functions(struct function_pass *pass, const struct elf_file *elf, int debug_fd,
			  struct probe_site_list *list)
{
	CLEANUP(elf_file__close) struct elf_file debug = {.fd = -1};
	int err = pass_symbols(pass, elf);

	if (!err && debug_fd >= 0) {
		err = elf_file__open(&debug, debug_fd);
		if (!err)
			err = pass_symbols(pass, &debug);
	}
	if (err)
		return err;
	array__sort(pass->sites.candidates, pass->sites.nr, sizeof(*pass->sites.candidates),
		    compare_functions);
	return take_sites(&pass->sites, list);
}

int probe_sites__functions(struct probe_site_list *list, int fd, int debug_fd,
			   enum probe_names names, probe_site_wanted wanted, void *context)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP_FREE struct function_pass *pass = NULL;
	uint64_t left = WORK_MAX;
	int err = elf_file__open(&elf, fd);

	if (err)
		return err;
	pass = calloc(1, sizeof(*pass));
	if (!pass)
		return -ENOMEM;
	pass->sites = (struct site_pass){
		.elf = &elf,
		.work = work__share(&left, WORK_MAX),
		.wanted = wanted,
		.context = context,
	};
	pass->names = names;
	pass->patience = names == PROBE_NAMES_MANGLED ? 0 : DEMANGLE_PATIENCE;
	pass->window.work = &pass->sites.work;
	err = find_functions(pass, &elf, debug_fd, list);
	free(pass->batch);
	release_pass(&pass->sites);
	return err;
}

/* ---- USDT probes ---- */

#define STAPSDT_TYPE  3
#define STAPSDT_OWNER "stapsdt"
#define STAPSDT_BASE  ".stapsdt.base"

struct usdt_pass {
	struct site_pass sites;
	const struct elf_section *base; /* where .stapsdt.base lies; NULL: there is none */
};

/* The text of a note: three addresses, three strings. Provider and name are within the note. */
struct usdt_note {
	uint64_t pc, base, semaphore;
	const char *provider, *name;
};

/* The string at *text, which moves behind it; NULL if it does not end before end. */
static const char *next_string(const char **text, const char *end)
{
	const char *string = *text, *nul = memchr(string, '\0', (size_t)(end - string));

	if (!nul)
		return NULL;
	*text = nul + 1;
	return string;
}

static bool decode_note(const struct elf_note *note, bool is_64bit, struct usdt_note *usdt)
{
	uint64_t wide[3];
	uint32_t narrow[3];
	size_t size = is_64bit ? sizeof(wide) : sizeof(narrow);
	const char *text = note->data + size, *end = note->data + note->size;

	if (!elf_note__is(note, STAPSDT_TYPE, STAPSDT_OWNER) || note->size < size)
		return false;
	if (is_64bit)
		memcpy(wide, note->data, sizeof(wide));
	else
		memcpy(narrow, note->data, sizeof(narrow));
	usdt->pc = is_64bit ? wide[0] : narrow[0];
	usdt->base = is_64bit ? wide[1] : narrow[1];
	usdt->semaphore = is_64bit ? wide[2] : narrow[2];
	usdt->provider = next_string(&text, end);
	usdt->name = usdt->provider ? next_string(&text, end) : NULL;
	return usdt->name && usdt->name[0];
}

/* Segments are mapped with whole pages of the file. */
static bool maps_page(const struct elf_segment *segment, uint64_t offset)
{
	uint64_t page = page_size();

	return segment->size && offset / page >= segment->offset / page &&
	       offset / page <= (segment->offset + segment->size - 1) / page;
}

/*
 * They are mapped in the order of their addresses. How far before own the first writable one has
 * offset, which is in own; 0 if none has.
 */
static uint64_t find_shift(const struct elf_file *elf, const struct elf_segment *own,
			   uint64_t offset)
{
	for (size_t i = 0; i < elf->nr_segments; i++) {
		const struct elf_segment *other = &elf->segments[i];
		uint64_t shift = own->address - own->offset - (other->address - other->offset);

		if (other->flags & PF_W && other->address < own->address && shift >= page_size() &&
		    shift % page_size() == 0 && maps_page(other, offset))
			return shift;
	}
	return 0;
}

static uint32_t count_breakpoints(const struct elf_file *elf, uint64_t offset)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < elf->nr_segments; i++)
		nr += !(elf->segments[i].flags & PF_W) && maps_page(&elf->segments[i], offset);
	return nr;
}

static bool place_semaphore(const struct elf_file *elf, uint64_t address, struct probe_site *site)
{
	const struct elf_segment *own = elf_file__segment(elf, address, PF_W);

	if (!own)
		return false;
	site->semaphore = address - own->address + own->offset;
	site->semaphore_shift = find_shift(elf, own, site->semaphore);
	site->breakpoints = count_breakpoints(elf, site->offset);
	return true;
}

/*
 * Where a probe lies in the file, false if nowhere. The kernel finds a semaphore by
 * its place in the file, too: one in .bss cannot be counted up. Prelink moves a file
 * and leaves its notes as they are: .stapsdt.base moves with it, and shows how far.
 */
static bool place_usdt(const struct usdt_pass *pass, const struct usdt_note *usdt,
		       struct probe_site *site)
{
	const struct elf_file *elf = pass->sites.elf;
	uint64_t moved = pass->base && usdt->base ? pass->base->address - usdt->base : 0;

	if (!elf_file__offset(elf, usdt->pc + moved, PF_X, &site->offset))
		return false;
	return !usdt->semaphore || place_semaphore(elf, usdt->semaphore + moved, site);
}

static int offer_usdt(void *context, const struct elf_note *note)
{
	struct usdt_pass *pass = context;
	struct site_pass *sites = &pass->sites;
	struct probe_site site = {0};
	struct usdt_note usdt;

	if (!decode_note(note, sites->elf->is_64bit, &usdt))
		return 0;
	work__charge(&sites->work, 1 + note->size / BYTES_COMPARED);
	if (!sites->wanted(sites->context, usdt.provider, usdt.name))
		return 0;
	if (!place_usdt(pass, &usdt, &site)) {
		sites->nr_misplaced++;
		return 0;
	}
	site.provider = usdt.provider;
	site.name = usdt.name;
	return add_site(sites, &site, 0);
}

static int compare_usdt(const void *a, const void *b)
{
	const struct probe_site *sa = &((const struct candidate *)a)->site;
	const struct probe_site *sb = &((const struct candidate *)b)->site;
	int order;

	if (sa->offset != sb->offset)
		return COMPARE(sa->offset, sb->offset);
	order = strcmp(sa->provider, sb->provider);
	return order ? order : strcmp(sa->name, sb->name);
}

int probe_sites__usdt(struct probe_site_list *list, int fd, probe_site_wanted wanted, void *context)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	uint64_t left = WORK_MAX;
	struct usdt_pass pass = {
		.sites = {.elf = &elf,
			  .work = work__share(&left, WORK_MAX),
			  .wanted = wanted,
			  .context = context},
	};
	int err = elf_file__open(&elf, fd);

	if (err)
		return err;
	pass.base = elf_file__find_section(&elf, STAPSDT_BASE, true);
	err = elf_notes__each(&elf, &pass.sites.work, offer_usdt, &pass);
	if (!err) {
		array__sort(pass.sites.candidates, pass.sites.nr, sizeof(*pass.sites.candidates),
			    compare_usdt);
		err = take_sites(&pass.sites, list);
	}
	release_pass(&pass.sites);
	return err;
}

void probe_site_list__release(struct probe_site_list *list)
{
	free(list->sites);
	arena__release(&list->names);
	*list = (struct probe_site_list){0};
}
