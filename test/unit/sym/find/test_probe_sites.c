// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/find/probe_sites.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sym/elf/demangle.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/page.h"
#include "test/unit/elf_image.h"
#include "test/unit/tap.h"

#define TEXT IMAGE_TEXT_ADDRESS
#define DATA IMAGE_DATA_ADDRESS

#define INDIRECT_FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC)

#define CLEANUP_IMAGE CLEANUP(elf_image__free)
#define CLEANUP_LIST  CLEANUP(probe_site_list__release)

static int open_image(const struct elf_image *image)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, image->bytes, image->size) == (ssize_t)image->size);
	return fd;
}

/* context: a pattern for names; with a provider it must match "PROVIDER:NAME". */
static bool matches(void *context, const char *provider, const char *name)
{
	char whole[16384];

	snprintf(whole, sizeof(whole), "%s%s%s", provider ? provider : "", provider ? ":" : "",
		 name);
	return !strcmp(context, whole) || fnmatch(context, whole, 0) == 0;
}

static char everything[] = "*";

static struct probe_site_list functions_of(int fd, int debug_fd, const char *pattern)
{
	struct probe_site_list list = {0};

	CHECK_INT(probe_sites__functions(&list, fd, debug_fd, PROBE_NAMES_WHOLE, matches,
					 (void *)pattern),
		  0);
	return list;
}

/* A list as text: "OFFSET NAME[ (ifunc)], ..." or "OFFSET PROVIDER:NAME[ SEMAPHORE], ..." */
static const char *text_of(const struct probe_site_list *list)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < list->nr && used < sizeof(text); i++) {
		const struct probe_site *site = &list->sites[i];
		char semaphore[32] = "";

		if (site->semaphore)
			snprintf(semaphore, sizeof(semaphore), " %lx",
				 (unsigned long)site->semaphore);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%lx %s%s%s%s%s",
					 i ? ", " : "", (unsigned long)site->offset,
					 site->provider ? site->provider : "",
					 site->provider ? ":" : "", site->name,
					 site->indirect ? " (ifunc)" : "", semaphore);
	}
	return text;
}

/* ---- functions ---- */

static struct elf_image make_image(const struct image_symbol *symbols, size_t nr, bool is_32bit)
{
	const struct image_spec spec = {.is_32bit = is_32bit,
					.tables = {{SHT_SYMTAB, symbols, nr}}};

	return elf_image__make(&spec);
}

static void check_functions(const struct elf_image *image, const char *pattern,
			    const char *expected)
{
	CLEANUP_CLOSE int fd = open_image(image);
	CLEANUP_LIST struct probe_site_list list = functions_of(fd, -1, pattern);

	CHECK_STR(text_of(&list), expected);
}

static const struct image_symbol some_symbols[] = {
	{"later", TEXT + 0x40, 0x10, GLOBAL_FUNCTION, 0},
	{"early", TEXT, 0, LOCAL_FUNCTION, 0},
	{"chosen", TEXT + 0x20, 8, INDIRECT_FUNCTION, 0},
	{"object", TEXT + 0x60, 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 0},
	{"data", DATA, 8, GLOBAL_FUNCTION, 0},
	{"nowhere", 0x10, 8, GLOBAL_FUNCTION, 0},
	{"last", TEXT + IMAGE_TEXT_SIZE - 1, 1, WEAK_FUNCTION, 0},
	{"behind", TEXT + IMAGE_TEXT_SIZE, 1, WEAK_FUNCTION, 0},
};

static void functions_are_found(void)
{
	for (int is_32bit = 0; is_32bit < 2; is_32bit++) {
		CLEANUP_IMAGE
		struct elf_image image =
			make_image(some_symbols, ARRAY_SIZE(some_symbols), is_32bit);

		check_functions(&image, "*",
				"1000 early, 1020 chosen (ifunc), 1040 later, 1fff last");
		check_functions(&image, "la*", "1040 later, 1fff last");
		check_functions(&image, "lat", "");
	}
}

static void aliases_are_one_site(void)
{
	const struct image_symbol symbols[] = {
		{"__libc_malloc", TEXT, 8, GLOBAL_FUNCTION, 0},
		{"a_weak", TEXT, 8, WEAK_FUNCTION, 0},
		{"malloc", TEXT, 8, GLOBAL_FUNCTION, 0},
		{"a_local", TEXT, 8, LOCAL_FUNCTION, 0},
		{"pick", TEXT + 8, 8, INDIRECT_FUNCTION, 0},
		{"a_pick", TEXT + 8, 8, GLOBAL_FUNCTION, 0},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);

	check_functions(&image, "*", "1000 malloc, 1008 a_pick (ifunc)");
	check_functions(&image, "a_*", "1000 a_weak, 1008 a_pick");
	check_functions(&image, "*[!c]_malloc", "");
	check_functions(&image, "__*", "1000 __libc_malloc");
	check_functions(&image, "a_l*", "1000 a_local");
}

static void versions_are_left_out(void)
{
	const struct image_symbol symbols[] = {
		{"memcpy@@GLIBC_2.14", TEXT, 8, GLOBAL_FUNCTION, 0},
		{"memcpy@GLIBC_2.2.5", TEXT + 8, 8, GLOBAL_FUNCTION, 0},
		{"@nothing", TEXT + 16, 8, GLOBAL_FUNCTION, 0},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);

	check_functions(&image, "memcpy", "1000 memcpy, 1008 memcpy");
	check_functions(&image, "*", "1000 memcpy, 1008 memcpy");
}

static void demangled_names_are_asked_for(void)
{
	const struct image_symbol symbols[] = {
		{"_ZN3foo3barEi", TEXT, 8, GLOBAL_FUNCTION, 0},
		{"_ZN3foo3barEv.cold", TEXT + 8, 8, LOCAL_FUNCTION, 0},
		{"_RNvC7mycrate3foo", TEXT + 16, 8, LOCAL_FUNCTION, 0},
		{"_Zebra", TEXT + 24, 8, LOCAL_FUNCTION, 0},
		{"plain", TEXT + 32, 8, LOCAL_FUNCTION, 0},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);
	CLEANUP_CLOSE int fd = open_image(&image);
	CLEANUP_LIST struct probe_site_list list = {0};

	check_functions(&image, "foo::bar", "1000 foo::bar");
	check_functions(&image, "foo::*", "1000 foo::bar, 1008 foo::bar.cold");
	check_functions(&image, "_ZN3foo*", "1000 _ZN3foo3barEi, 1008 _ZN3foo3barEv.cold");
	check_functions(&image, "mycrate::*", "1010 mycrate::foo");
	check_functions(&image, "_Zebra", "1018 _Zebra");
	CHECK_INT(probe_sites__functions(&list, fd, -1, PROBE_NAMES_MANGLED, matches,
					 (char[]){"foo::*"}),
		  0);
	CHECK_INT(list.nr, 0);
}

static void versions_can_be_named(void)
{
	const struct image_symbol symbols[] = {
		{"f@@V2", TEXT, 8, GLOBAL_FUNCTION, 0},
		{"f@V1", TEXT + 8, 8, GLOBAL_FUNCTION, 0},
		{"_ZN3foo3barEi@@V2", TEXT + 16, 8, GLOBAL_FUNCTION, 0},
	};
	CLEANUP_IMAGE
	struct elf_image image = make_image(symbols, ARRAY_SIZE(symbols), false);

	check_functions(&image, "f@V1", "1008 f@V1");
	check_functions(&image, "f@@V2", "1000 f@@V2");
	check_functions(&image, "f", "1000 f, 1008 f");
	check_functions(&image, "f@V3", "");
	check_functions(&image, "foo::bar(int)@@V2", "1010 foo::bar(int)@@V2");
	check_functions(&image, "foo::bar", "1010 foo::bar");
}

/* As languages make them: what a frame shows of each is the pattern that finds it, and no other. */
static void names_of_frames_are_patterns(void)
{
	static const char *const names[] = {
		"_ZZ4mainENKUliE_clEi",
		"_ZN4shop4TillIiJLi1ELi2EEEltERKS1_",
		"_ZN4shop4TillIiJLi1ELi2EEEptEv",
		"_ZNK4shop4TillIiJLi1ELi2EEEcvPKiEv",
		"_ZNK4shop4TillIiJLi1ELi2EEEclEPKc",
		"_ZN12_GLOBAL__N_16hiddenEi",
		"_ZN12_GLOBAL__N_16hiddenEd",
		"_ZN3foo3barEv.cold",
		"_RINvNtCs1_4shop4till4sellhE",
		"_RNCNvCs1_4shop4main0",
		"_ZN44_$LT$shop..Till$LT$T$GT$$u20$as$u20$Sell$GT$4sell17h05af221e174051e9E",
		"main.Map[go.shape.int_0,go.shape.string_1]",
		"main.(*Till[...]).Sell",
		"main.main.func1",
		"f@V1",
	};
	struct image_symbol symbols[ARRAY_SIZE(names)];
	CLEANUP_IMAGE
	struct elf_image image = {0};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		symbols[i] = (struct image_symbol){names[i], TEXT + 16 * i, 8, GLOBAL_FUNCTION, 0};
	image = make_image(symbols, ARRAY_SIZE(symbols), false);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		unsigned int patience = DEMANGLE_PATIENCE;
		char shown[DEMANGLED_SIZE], expected[DEMANGLED_SIZE + 16];

		if (!demangle(names[i], shown, &patience))
			snprintf(shown, sizeof(shown), "%s", names[i]);
		snprintf(expected, sizeof(expected), "%zx %s", IMAGE_TEXT_OFFSET + 16 * i, shown);
		check_functions(&image, shown, expected);
	}
	/* Parameters and types that are returned do not matter to who did not name them. */
	check_functions(&image, "(anonymous namespace)::hidden",
			"1050 (anonymous namespace)::hidden, 1060 (anonymous namespace)::hidden");
}

static const struct image_symbol dynamic_symbols[] = {{"dynamic", TEXT, 8, GLOBAL_FUNCTION, 0},
						      {"shared", TEXT + 8, 8, GLOBAL_FUNCTION, 0}};
static const struct image_symbol full_symbols[] = {{"shared", TEXT + 8, 8, GLOBAL_FUNCTION, 0},
						   {"full", TEXT + 16, 8, LOCAL_FUNCTION, 0}};

static void both_tables_serve(void)
{
	const struct image_spec spec = {
		.tables = {{SHT_DYNSYM, dynamic_symbols, 2}, {SHT_SYMTAB, full_symbols, 2}}};
	CLEANUP_IMAGE
	struct elf_image image = elf_image__make(&spec);

	check_functions(&image, "*", "1000 dynamic, 1008 shared, 1010 full");
}

static void debug_file_serves(void)
{
	const struct image_spec spec = {.tables = {{SHT_DYNSYM, dynamic_symbols, 2}}};
	CLEANUP_IMAGE
	struct elf_image image = elf_image__make(&spec);
	CLEANUP_IMAGE
	struct elf_image debug = make_image(full_symbols, 2, false);
	CLEANUP_CLOSE int fd = open_image(&image);
	CLEANUP_CLOSE int debug_fd = -1;
	CLEANUP_LIST struct probe_site_list list = {0};

	/* Where its own segments lie means nothing. */
	elf_image__phdr(&debug)->p_offset = 0x7000;
	elf_image__phdr(&debug)->p_filesz = 0;
	elf_image__shdr(&debug, IMAGE_TEXT_SECTION)->sh_type = SHT_NOBITS;
	debug_fd = open_image(&debug);
	list = functions_of(fd, debug_fd, "*");
	CHECK_STR(text_of(&list), "1000 dynamic, 1008 shared, 1010 full");
}

static void failure_leaves_the_list_alone(void)
{
	CLEANUP_CLOSE int fd = memfd_create("empty", MFD_CLOEXEC);
	struct probe_site_list list = {.nr = 77};

	CHECK_INT(probe_sites__functions(&list, fd, -1, PROBE_NAMES_WHOLE, matches, everything),
		  -ENOEXEC);
	CHECK_INT(probe_sites__usdt(&list, fd, matches, everything), -ENOEXEC);
	CHECK_INT(list.nr, 77);
}

static void names_that_never_end(void)
{
	const size_t length = 200000;
	CLEANUP_FREE char *name = malloc(length + 1);
	const struct image_symbol symbols[] = {{name, TEXT, 8, GLOBAL_FUNCTION, 0},
					       {"next", TEXT + 8, 8, GLOBAL_FUNCTION, 0}};
	CLEANUP_LIST struct probe_site_list list = {0};
	CLEANUP_IMAGE
	struct elf_image image = {0};
	CLEANUP_CLOSE int fd = -1;

	memset(name, 'n', length);
	name[length] = '\0';
	image = make_image(symbols, 2, false);
	fd = open_image(&image);
	list = functions_of(fd, -1, "n*");
	CHECK_INT(list.nr, 2);
	CHECK_INT(strlen(list.sites[0].name), 4095);
	CHECK_STR(list.sites[1].name, "next");
}

/* More names than one window, and more symbols than one batch hold, in an order of their own. */
static void many_functions(void)
{
	enum { MANY = 200000 };
	struct image_symbol *symbols = calloc(MANY, sizeof(*symbols));
	char(*names)[16] = calloc(MANY, sizeof(*names));
	const struct image_spec spec = {.tables = {{SHT_SYMTAB, symbols, MANY}}};
	CLEANUP_IMAGE
	struct elf_image image = {0};
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_LIST struct probe_site_list list = {0};
	size_t wrong = 0;

	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i * 7919 % MANY);
		symbols[i] = (struct image_symbol){names[i], TEXT + i * 7919 % MANY, 1,
						   GLOBAL_FUNCTION, 0};
	}
	image = elf_image__make(&spec);
	elf_image__phdr(&image)->p_filesz = MANY;
	fd = open_image(&image);
	list = functions_of(fd, -1, "*");
	CHECK_INT(list.nr, MANY);
	for (size_t i = 0; i < list.nr; i++) {
		char expected[24];

		snprintf(expected, sizeof(expected), "f%zu", i);
		wrong += strcmp(list.sites[i].name, expected) != 0 ||
			 list.sites[i].offset != IMAGE_TEXT_OFFSET + i;
	}
	CHECK_INT(wrong, 0);
	free(symbols);
	free(names);
}

#define SECONDS_LATE 20 /* some seconds are promised; sanitizers and busy machines take theirs */

/* A million symbols that all have one name, of 4,095 bytes: there is no memory for all of that. */
static void names_of_gigabytes_are_refused(void)
{
	const size_t nr = 1000000, length = 5000;
	CLEANUP_FREE char *name = calloc(1, length + 1);
	const struct image_symbol symbol = {name, TEXT, 8, GLOBAL_FUNCTION, 0};
	struct probe_site_list list = {.nr = 77};
	CLEANUP_IMAGE
	struct elf_image image = {0};
	CLEANUP_CLOSE int fd = -1;
	Elf64_Shdr *table;
	Elf64_Sym *symbols;
	double start = tap_cpu_seconds(), seconds;

	memset(name, 'n', length);
	image = make_image(&symbol, 1, false);
	symbols = calloc(nr, sizeof(*symbols));
	for (size_t i = 0; i < nr; i++)
		symbols[i] = (Elf64_Sym){.st_name = 1,
					 .st_value = TEXT + i % IMAGE_TEXT_SIZE,
					 .st_info = GLOBAL_FUNCTION,
					 .st_shndx = IMAGE_TEXT_SECTION};
	table = elf_image__shdr(&image, IMAGE_TABLE_SECTION(0));
	table->sh_offset = 1 << 20;
	table->sh_size = nr * sizeof(*symbols);
	fd = open_image(&image);
	CHECK_INT(pwrite(fd, symbols, nr * sizeof(*symbols), 1 << 20), nr * sizeof(*symbols));
	free(symbols);
	CHECK_INT(probe_sites__functions(&list, fd, -1, PROBE_NAMES_WHOLE, matches, everything),
		  -EFBIG);
	CHECK_INT(list.nr, 77);
	seconds = tap_cpu_seconds() - start;
	tap_check(seconds < SECONDS_LATE, __FILE__, __LINE__, "it took %.1f seconds", seconds);
}

static void sparse_table_of_terabytes(void)
{
	CLEANUP_IMAGE
	struct elf_image image = make_image(some_symbols, ARRAY_SIZE(some_symbols), false);
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_LIST struct probe_site_list list = {0};
	double start = tap_cpu_seconds(), seconds;

	elf_image__shdr(&image, IMAGE_TABLE_SECTION(0))->sh_size = 1ULL << 40;
	fd = open_image(&image);
	CHECK_INT(ftruncate(fd, 1LL << 41), 0);
	list = functions_of(fd, -1, "later");
	CHECK_STR(text_of(&list), "1040 later");
	seconds = tap_cpu_seconds() - start;
	tap_check(seconds < SECONDS_LATE, __FILE__, __LINE__, "it took %.1f seconds", seconds);
}

/* ---- USDT probes ---- */

#define STAPSDT_BASE 0x402000

/* The notes of one image, as they are appended. */
struct notes {
	unsigned char bytes[4096];
	size_t size;
	bool is_32bit;
};

#define USDT(notes, text, ...)                                                                     \
	((notes)->size =                                                                           \
		 image_note__append_usdt((notes)->bytes, (notes)->size, (notes)->is_32bit,         \
					 (const uint64_t[3]){__VA_ARGS__}, text, sizeof(text)))

static struct elf_image make_usdt_image(const struct notes *notes, uint64_t base)
{
	const struct image_spec spec = {.is_32bit = notes->is_32bit,
					.notes = notes->bytes,
					.notes_size = notes->size,
					.stapsdt_base = base};

	return elf_image__make(&spec);
}

static void check_usdt(const struct notes *notes, uint64_t base, const char *pattern,
		       const char *expected, size_t misplaced)
{
	CLEANUP_IMAGE
	struct elf_image image = make_usdt_image(notes, base);
	CLEANUP_CLOSE int fd = open_image(&image);
	CLEANUP_LIST struct probe_site_list list = {0};

	CHECK_INT(probe_sites__usdt(&list, fd, matches, (void *)pattern), 0);
	CHECK_STR(text_of(&list), expected);
	CHECK_INT(list.nr_misplaced, misplaced);
}

static void usdt_probes_are_found(void)
{
	for (int is_32bit = 0; is_32bit < 2; is_32bit++) {
		struct notes notes = {.is_32bit = is_32bit};

		USDT(&notes, "p\0twice\0", TEXT + 0x20, STAPSDT_BASE, 0);
		USDT(&notes, "p\0once\0-4@%edi", TEXT + 0x10, STAPSDT_BASE, DATA + 2);
		notes.size = image_note__append(notes.bytes, notes.size, 1, "GNU", "abcd", 4);
		USDT(&notes, "p\0twice\0odd", TEXT + 0x30, STAPSDT_BASE, 0);
		USDT(&notes, "q\0once\0", TEXT + 0x10, STAPSDT_BASE, 0);
		check_usdt(&notes, STAPSDT_BASE, "*",
			   "1010 p:once 3002, 1010 q:once, 1020 p:twice, 1030 p:twice", 0);
		check_usdt(&notes, STAPSDT_BASE, "*:t*", "1020 p:twice, 1030 p:twice", 0);
		check_usdt(&notes, STAPSDT_BASE, "q:*", "1010 q:once", 0);
		check_usdt(&notes, STAPSDT_BASE, "once", "", 0);
	}
}

static void same_probe_twice_is_one_site(void)
{
	struct notes notes = {.size = 0};

	USDT(&notes, "p\0a\0", TEXT, 0, 0);
	USDT(&notes, "p\0a\0", TEXT, 0, 0);
	check_usdt(&notes, 0, "*", "1000 p:a", 0);
}

/* As prelink moves a file. */
static void moved_files(void)
{
	for (int is_32bit = 0; is_32bit < 2; is_32bit++) {
		struct notes notes = {.is_32bit = is_32bit};

		USDT(&notes, "p\0a\0", 0x1010, STAPSDT_BASE - 0x400000, 0x4004);
		check_usdt(&notes, STAPSDT_BASE, "*", "1010 p:a 3004", 0);
		/* Without a base nothing can be known. */
		check_usdt(&notes, 0, "*", "", 1);
	}
}

static void probes_without_a_place(void)
{
	struct notes notes = {.size = 0};

	USDT(&notes, "p\0good\0", TEXT, 0, 0);
	USDT(&notes, "p\0data\0", DATA, 0, 0);
	USDT(&notes, "p\0nowhere\0", 16, 0, 0);
	USDT(&notes, "p\0bss\0", TEXT, 0, DATA + IMAGE_DATA_SIZE);
	USDT(&notes, "p\0code\0", TEXT, 0, TEXT + 2);
	USDT(&notes, "p\0last\0", TEXT + 1, 0, DATA + IMAGE_DATA_SIZE - 1);
	check_usdt(&notes, 0, "*", "1000 p:good, 1001 p:last 3fff", 4);
	check_usdt(&notes, 0, "*:[gb]*", "1000 p:good", 1);
}

/* The only probe of an image whose first segment is as given, and the second begins at DATA. */
static struct probe_site site_with(uint32_t flags, uint64_t size)
{
	struct notes notes = {.size = 0};
	CLEANUP_IMAGE
	struct elf_image image;
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_LIST struct probe_site_list list = {0};

	USDT(&notes, "p\0a\0", TEXT, 0, DATA + 8);
	image = make_usdt_image(&notes, 0);
	elf_image__phdr(&image)->p_flags = flags;
	elf_image__phdr(&image)->p_filesz = elf_image__phdr(&image)->p_memsz = size;
	fd = open_image(&image);
	CHECK_INT(probe_sites__usdt(&list, fd, matches, (void *)"*"), 0);
	CHECK_INT(list.nr, 1);
	return list.nr ? list.sites[0] : (struct probe_site){0};
}

/* As lld links: the first page of the data lies in the segment before, too. */
static void semaphores_in_two_segments(void)
{
	const uint32_t written = PF_R | PF_W | PF_X;

	if (page_size() != 0x1000) {
		tap_skip("pages have another size here");
		return;
	}
	CHECK_INT(site_with(written, 0x2001).semaphore_shift, 0x1000);
	CHECK_INT(site_with(written, 0x2000).semaphore_shift, 0);
	CHECK_INT(site_with(PF_R | PF_X, 0x2001).semaphore_shift, 0);
	CHECK_INT(site_with(PF_R | PF_X, 0x2001).breakpoints, 1);
	CHECK_INT(site_with(written, 0x2001).breakpoints, 0);
}

static void notes_that_are_damaged(void)
{
	struct notes notes = {.size = 0};
	size_t whole;

	/* Too short, without names, without an end. */
	notes.size = image_note__append(notes.bytes, notes.size, 3, "stapsdt", "abcd", 4);
	notes.size = image_note__append(notes.bytes, notes.size, 3, "stapsdt", (char[24]){0}, 24);
	notes.size = image_note__append(notes.bytes, notes.size, 3, "stapsdt",
					"000000001111111122222222pppp", 28);
	notes.size = image_note__append(notes.bytes, notes.size, 3, "stapsdt",
					"000000001111111122222222p\0nn", 28);
	notes.size = image_note__append(notes.bytes, notes.size, 3, "stapsdT",
					"000000001111111122222222p\0n", 28);
	notes.size = image_note__append(notes.bytes, notes.size, 4, "stapsdt",
					"000000001111111122222222p\0n", 28);
	USDT(&notes, "p\0\0", TEXT, 0, 0);
	USDT(&notes, "\0no_provider\0", TEXT, 0, 0);
	check_usdt(&notes, 0, "*", "1000 :no_provider", 0);
	whole = notes.size;
	USDT(&notes, "p\0cut\0", TEXT, 0, 0);
	for (size_t size = whole; size < notes.size - 3; size++) {
		struct notes cut = notes;

		cut.size = size;
		check_usdt(&cut, 0, "*", "1000 :no_provider", 0);
	}
	/* A size that would wrap. */
	memset(notes.bytes + whole, 0xff, 8);
	check_usdt(&notes, 0, "*", "1000 :no_provider", 0);
}

static void notes_of_terabytes(void)
{
	struct notes notes = {.size = 0};
	CLEANUP_IMAGE
	struct elf_image image = {0};
	struct probe_site_list list = {.nr = 77};
	double start = tap_cpu_seconds(), seconds;
	CLEANUP_CLOSE int fd = -1;
	int err;

	USDT(&notes, "p\0a\0", TEXT, 0, 0);
	image = make_usdt_image(&notes, 0);
	/* Where nothing is: notes without an owner and without data, of twelve bytes each. */
	elf_image__shdr(&image, 2)->sh_offset = 1 << 20;
	elf_image__shdr(&image, 2)->sh_size = 1ULL << 40;
	fd = open_image(&image);
	CHECK_INT(ftruncate(fd, 1LL << 41), 0);
	err = probe_sites__usdt(&list, fd, matches, everything);
	CHECK_INT(err, -EFBIG);
	CHECK_INT(list.nr, 77);
	seconds = tap_cpu_seconds() - start;
	tap_check(seconds < SECONDS_LATE, __FILE__, __LINE__, "it took %.1f seconds", seconds);
}

/* ---- anything at all ---- */

static bool wants_all(void *context, const char *provider, const char *name)
{
	size_t *length = context;

	*length += strlen(name) + (provider ? strlen(provider) : 0);
	return true;
}

static void survive(int fd, const unsigned char *bytes, size_t size)
{
	CLEANUP_LIST struct probe_site_list functions = {0};
	CLEANUP_LIST struct probe_site_list usdt = {0};
	size_t length = 0;
	int err;

	CHECK(pwrite(fd, bytes, size, 0) == (ssize_t)size && ftruncate(fd, (off_t)size) == 0);
	err = probe_sites__functions(&functions, fd, fd, PROBE_NAMES_WHOLE, wants_all, &length);
	CHECK(err == 0 || err == -ENOEXEC);
	err = probe_sites__usdt(&usdt, fd, wants_all, &length);
	CHECK(err == 0 || err == -ENOEXEC);
}

static struct elf_image make_mixed(bool is_32bit)
{
	struct notes notes = {.is_32bit = is_32bit};
	const struct image_spec spec = {
		.is_32bit = is_32bit,
		.tables = {{SHT_DYNSYM, dynamic_symbols, 2},
			   {SHT_SYMTAB, some_symbols, ARRAY_SIZE(some_symbols)}},
		.notes = notes.bytes,
		.notes_size = USDT(&notes, "p\0a\0", TEXT, STAPSDT_BASE, DATA),
		.stapsdt_base = STAPSDT_BASE,
	};

	return elf_image__make(&spec);
}

static void any_truncation_is_survived(void)
{
	CLEANUP_CLOSE int fd = memfd_create("image", MFD_CLOEXEC);

	for (int is_32bit = 0; is_32bit < 2; is_32bit++) {
		CLEANUP_IMAGE
		struct elf_image image = make_mixed(is_32bit);

		for (size_t size = 0; size <= image.size; size++)
			survive(fd, image.bytes, size);
	}
}

static void any_spoilt_byte_is_survived(void)
{
	static const unsigned char values[] = {0x00, 0x80, 0xff};
	CLEANUP_CLOSE int fd = memfd_create("image", MFD_CLOEXEC);

	for (int is_32bit = 0; is_32bit < 2; is_32bit++) {
		CLEANUP_IMAGE
		struct elf_image image = make_mixed(is_32bit);

		for (size_t i = 0; i < image.size; i++) {
			unsigned char kept = image.bytes[i];

			for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
				image.bytes[i] = values[v];
				survive(fd, image.bytes, image.size);
			}
			image.bytes[i] = kept;
		}
	}
}

/* ---- real programs ---- */

static void program_with_usdt_probes(void)
{
	CLEANUP_CLOSE int fd = open(FIXTURES "/usdt_program", O_RDONLY | O_CLOEXEC);
	CLEANUP_LIST struct probe_site_list main_function = functions_of(fd, -1, "main");
	CLEANUP_LIST struct probe_site_list list = {0};

	CHECK_INT(probe_sites__usdt(&list, fd, matches, (char[]){"tracekit_test:*"}), 0);
	if (!CHECK_INT(list.nr, 3) || !CHECK_INT(main_function.nr, 1))
		return;
	CHECK_INT(list.nr_misplaced, 0);
	for (size_t i = 0; i < list.nr; i++) {
		const struct probe_site *site = &list.sites[i];
		unsigned char byte = 0;

		CHECK_STR(site->name, site->semaphore ? "watched" : "twice");
		CHECK(site->offset >= main_function.sites[0].offset &&
		      site->offset < main_function.sites[0].offset + 256);
		CHECK_INT(pread(fd, &byte, 1, (off_t)site->offset), 1);
#ifdef __x86_64__
		CHECK_INT(byte, 0x90);
#endif
	}
	CHECK(!!list.sites[0].semaphore + !!list.sites[1].semaphore + !!list.sites[2].semaphore ==
	      1);
}

static void this_program(void)
{
	CLEANUP_CLOSE int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CLEANUP_LIST struct probe_site_list list = functions_of(fd, -1, "probe_sites__functions");

	CHECK_INT(list.nr, 1);
}

static void check_instruction(const char *bytes, bool misread)
{
	unsigned char padded[PROBE_INSTRUCTION_BYTES] = {0};

	memcpy(padded, bytes, strnlen(bytes, sizeof(padded)));
	tap_check(probe_instruction__is_misread(padded) == misread, __FILE__, __LINE__,
		  "%02x %02x %02x %02x %02x is%s misread", padded[0], padded[1], padded[2],
		  padded[3], padded[4], misread ? " not" : "");
}

static void instructions_that_are_misread(void)
{
	check_instruction("\x62\xe2\x7d\x28\x7a\xc6", true); /* vpbroadcastb %esi,%ymm16 */
	check_instruction("\xc5\xf8\x57\xc0", true);	     /* vxorps %xmm0,%xmm0,%xmm0 */
	check_instruction("\xc5\xf9\x6e\xc6", true);	     /* vmovd %esi,%xmm0 */
	check_instruction("\xc4\xe2\x7d\x78\xc0", true);     /* vpbroadcastb %xmm0,%ymm0 */
	check_instruction("\xf0\xff\x0f", true);	     /* lock decl (%rdi) */
	check_instruction("\x66\xf0\xff\x0f", true);	     /* lock decw (%rdi) */
	check_instruction("\x55", false);		     /* push %rbp */
	check_instruction("\xf3\x0f\x1e\xfa", false);	     /* endbr64 */
	check_instruction("\x7a\x10", false);		     /* jp */
	check_instruction("\xc5\xf8\x28\xc1", false);	     /* vmovaps %xmm1,%xmm0 */
	check_instruction("\x66\x0f\x6e\xc6", false);	     /* movd %esi,%xmm0 */
	check_instruction("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\xf0",
			  false); /* longer than any */
}

static const struct tap_test tests[] = {
	{"functions that are defined and lie in code are found", functions_are_found},
	{"aliases are one site, under the best name that is wanted", aliases_are_one_site},
	{"versions are no part of names", versions_are_left_out},
	{"unless a pattern names one", versions_can_be_named},
	{"what a frame shows is a pattern that finds it", names_of_frames_are_patterns},
	{"a demangled name without parameters is asked for, and shown",
	 demangled_names_are_asked_for},
	{".symtab and .dynsym both serve", both_tables_serve},
	{"a debug file serves, but for its offsets", debug_file_serves},
	{"a failure leaves the list untouched", failure_leaves_the_list_alone},
	{"a name without an end is cut", names_that_never_end},
	{"more functions than are taken at once", many_functions},
	{"names of gigabytes are refused", names_of_gigabytes_are_refused},
	{"a sparse symbol table of a terabyte costs seconds at most", sparse_table_of_terabytes},
	{"USDT probes are found, with all their places", usdt_probes_are_found},
	{"a probe that is there twice is one", same_probe_twice_is_one_site},
	{"USDT probes move with their file", moved_files},
	{"USDT probes that lie nowhere, or whose semaphore does, are counted",
	 probes_without_a_place},
	{"a semaphore whose page lies in two segments is known", semaphores_in_two_segments},
	{"notes that are damaged are left out", notes_that_are_damaged},
	{"sparse notes of a terabyte cost seconds at most", notes_of_terabytes},
	{"a file that is cut anywhere is survived", any_truncation_is_survived},
	{"a file with any byte spoilt is survived", any_spoilt_byte_is_survived},
	{"the probes of a program", program_with_usdt_probes},
	{"a function of this program", this_program},
	{"instructions that uprobes take for others are known", instructions_that_are_misread},
};

int main(void)
{
	return TAP_RUN(tests);
}
