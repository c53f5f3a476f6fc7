// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * FIXTURES: where the files are that CMakeLists.txt has linked; only on x86-64. ARM64_FIXTURES:
 * those for arm64, which any processor can make.
 */
#include "sym/elf/plt.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sym/elf/file.h"
#include "sym/elf/symbols.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/elf_image.h"
#include "test/unit/opened_elf.h"
#include "test/unit/tap.h"

#ifndef FIXTURES
#define FIXTURES "."
#endif
#ifndef ARM64_FIXTURES
#define ARM64_FIXTURES NULL
#endif

#define CLEANUP_IMAGE CLEANUP(elf_image__free)

/* The bytes of a fixture; none if it is not there. */
static struct elf_image read_fixture_of(const char *folder, const char *name, const char *missing)
{
	struct elf_image image = {0};
	CLEANUP_CLOSE int fd = -1;
	struct stat st;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "", name);
	fd = folder ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || fstat(fd, &st)) {
		tap_skip(missing);
		return image;
	}
	image.size = (size_t)st.st_size;
	image.bytes = malloc(image.size);
	CHECK_INT(read(fd, image.bytes, image.size), image.size);
	return image;
}

static struct elf_image read_fixture(const char *name)
{
	return read_fixture_of(FIXTURES, name, "the files to be read are made on x86-64 only");
}

/* The header of a section, or NULL; of a file that is as its linker made it. */
static Elf64_Shdr *find_section(const struct elf_image *image, const char *name)
{
	const Elf64_Ehdr *ehdr = elf_image__ehdr(image);
	const char *names =
		(const char *)image->bytes + elf_image__shdr(image, ehdr->e_shstrndx)->sh_offset;

	for (size_t i = 0; i < ehdr->e_shnum; i++)
		if (!strcmp(names + elf_image__shdr(image, i)->sh_name, name))
			return elf_image__shdr(image, i);
	return NULL;
}

/* ---- what is found ---- */

/* The name of an address and where its entry starts; NULL without one. */
static const char *name_and_start(struct opened *opened, uint64_t address, uint64_t *start)
{
	struct elf_lookup lookup = {.address = address};
	uint64_t work = ELF_SYMBOLS_WORK;

	CHECK_INT(elf_plt__find(&opened->elf, &lookup, 1, &opened->names, &work), 0);
	*start = lookup.start;
	return lookup.name;
}

static const char *name_at(struct opened *opened, uint64_t address)
{
	uint64_t start;

	return name_and_start(opened, address, &start);
}

/* All bytes of an entry have its name, which is returned, and its start. */
static const char *check_entry(struct opened *opened, uint64_t entry, size_t size)
{
	const char *name = name_at(opened, entry);

	for (uint64_t address = entry; address < entry + size; address++) {
		uint64_t start;

		CHECK_STR(name_and_start(opened, address, &start), name);
		if (name)
			CHECK_INT(start, entry);
	}
	return name;
}

/*
 * A section has entries of so many bytes each, with these names. They stand in the
 * order that the linker likes; but one that has no name, NULL, is the first one.
 */
static void check_entries(const struct elf_image *image, const char *section, size_t entry_size,
			  const char *const *names, size_t nr)
{
	CLEANUP_OPENED
	struct opened opened = open_image(image);
	const Elf64_Shdr *shdr = find_section(image, section);
	size_t found = 0;

	if (!CHECK(shdr) || !CHECK_INT(shdr->sh_size, nr * entry_size))
		return;
	if (!names[0])
		CHECK_STR(check_entry(&opened, shdr->sh_addr, entry_size), NULL);
	for (size_t i = !names[0]; i < nr; i++) {
		const char *name = check_entry(&opened, shdr->sh_addr + i * entry_size, entry_size);
		size_t n = !names[0];

		while (n < nr && (!name || strcmp(name, names[n])))
			n++;
		tap_check(n < nr, __FILE__, __LINE__, "entry %zu of %s is '%s'", i, section,
			  name ? name : "(nothing)");
		found |= (size_t)1 << n;
	}
	CHECK_INT(found | !names[0], ((size_t)1 << nr) - 1);
}

#define CHECK_ENTRIES(image, section, entry_size, ...)                                             \
	check_entries(image, section, entry_size, (const char *const[]){__VA_ARGS__},              \
		      ARRAY_SIZE(((const char *const[]){__VA_ARGS__})))

static void lazy_table(void)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_lazy");

	if (!image.size)
		return;
	CHECK_ENTRIES(&image, ".plt", 16, NULL, "alpha@plt", "beta@plt",
		      "gamma_with_a_longer_name@plt");
	CHECK_ENTRIES(&image, ".plt.got", 8, "taken@plt");
}

static void table_that_is_bound_at_start(void)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_now");

	if (!image.size)
		return;
	CHECK_ENTRIES(&image, ".plt", 16, NULL, "alpha@plt", "beta@plt",
		      "gamma_with_a_longer_name@plt");
	CHECK_ENTRIES(&image, ".plt.got", 8, "taken@plt");
}

/* Each function has an entry that jumps, and one that calls the loader the first time. */
static void tables_for_ibt(void)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_ibt");

	if (!image.size)
		return;
	CHECK_ENTRIES(&image, ".plt.sec", 16, "alpha@plt", "beta@plt",
		      "gamma_with_a_longer_name@plt");
	CHECK_ENTRIES(&image, ".plt", 16, NULL, "alpha@plt", "beta@plt",
		      "gamma_with_a_longer_name@plt");
	CHECK_ENTRIES(&image, ".plt.got", 16, "taken@plt");
}

/*
 * An entry of a static program jumps to an indirect function, and has the name of the function that
 * chooses it. The linker orders slots as it does entries.
 */
static void check_static(const char *fixture, size_t entry_size)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture(fixture);
	const Elf64_Shdr *plt, *relocations;
	uint64_t first = UINT64_MAX;
	const Elf64_Rela *rela;
	bool has_strlen = false;
	size_t nr;

	if (!image.size)
		return;
	plt = find_section(&image, ".plt");
	relocations = find_section(&image, ".rela.plt");
	if (!CHECK(plt && relocations))
		return;
	rela = (const Elf64_Rela *)(image.bytes + relocations->sh_offset);
	nr = relocations->sh_size / sizeof(*rela);
	CHECK_INT(plt->sh_size, nr * entry_size);
	for (size_t i = 0; i < nr; i++)
		first = rela[i].r_offset < first ? rela[i].r_offset : first;
	for (size_t i = 0; i < nr; i++) {
		CLEANUP_OPENED
		struct opened opened = open_image(&image);
		struct elf_lookup resolver = {.address = (uint64_t)rela[i].r_addend};
		uint64_t entry = plt->sh_addr + (rela[i].r_offset - first) / 8 * entry_size, start;
		char expected[128];

		CHECK_INT(elf_symbols__find(&opened.elf, &resolver, 1, &opened.names,
					    &(uint64_t){ELF_SYMBOLS_WORK}),
			  0);
		if (!CHECK(resolver.name))
			return;
		snprintf(expected, sizeof(expected), "%s@plt", resolver.name);
		has_strlen |= !strcmp(expected, "strlen@plt");
		for (uint64_t address = entry; address < entry + entry_size; address++) {
			CHECK_STR(name_and_start(&opened, address, &start), expected);
			CHECK_INT(start, entry);
		}
	}
	CHECK(has_strlen);
}

static void static_program_for_ibt(void)
{
	check_static("plt_static_ibt", 16);
}

/* Its entries have 8 bytes, which their section does not say. */
static void static_program(void)
{
	check_static("plt_static", 8);
}

#define ARM64_HEADER 32

/* Which entries of arm64 there are: a bit for each name that all bytes of an entry have. */
static unsigned int find_arm64_entries(const struct elf_image *image, size_t entry_size)
{
	static const char *const names[] = {"alpha@plt", "beta@plt", "gamma_with_a_longer_name@plt",
					    "taken@plt"};
	CLEANUP_OPENED
	struct opened opened = open_image(image);
	const Elf64_Shdr *plt = find_section(image, ".plt");
	unsigned int found = 0;

	if (!CHECK(plt))
		return 0;
	CHECK_INT(plt->sh_size, ARM64_HEADER + entry_size * ARRAY_SIZE(names));
	for (uint64_t at = 0; at < ARM64_HEADER; at++)
		CHECK_STR(name_at(&opened, plt->sh_addr + at), NULL);
	for (uint64_t at = ARM64_HEADER; at < plt->sh_size; at += entry_size) {
		const char *name = check_entry(&opened, plt->sh_addr + at, entry_size);

		for (size_t i = 0; i < ARRAY_SIZE(names) && name; i++)
			found |= (unsigned int)!strcmp(name, names[i]) << i;
	}
	return found;
}

static void check_arm64(const char *fixture, size_t entry_size)
{
	CLEANUP_IMAGE
	struct elf_image image =
		read_fixture_of(ARM64_FIXTURES, fixture, "lld, which makes the file, is missing");

	if (image.size)
		CHECK_INT(find_arm64_entries(&image, entry_size), 0xf);
}

static void table_of_arm64(void)
{
	check_arm64("plt_arm64", 16);
}

static void table_of_arm64_for_bti(void)
{
	check_arm64("plt_arm64_bti", 24);
}

/* The start of each entry that objdump has a name for, and those names, have to be the same. */
static void check_objdump(const char *fixture, const char *lazy_section)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture(fixture);
	CLEANUP_OPENED
	struct opened opened = {.fd = -1, .elf = {.fd = -1}};
	char command[4096], line[4096];
	size_t found = 0, expected = 0;
	FILE *objdump;

	if (!image.size)
		return;
	opened = open_image(&image);
	snprintf(command, sizeof(command), "objdump -d --no-show-raw-insn '%s/%s' 2>/dev/null",
		 FIXTURES, fixture);
	objdump = popen(command, "re");
	while (objdump && fgets(line, sizeof(line), objdump)) {
		uint64_t address, start;
		char name[512];

		if (sscanf(line, "%" SCNx64 " <%511[^>]>:", &address, name) != 2 ||
		    strlen(name) < 5 || strcmp(name + strlen(name) - 4, "@plt"))
			continue;
		found++;
		CHECK_STR(name_and_start(&opened, address, &start), name);
		CHECK_INT(start, address);
	}
	if (!objdump || pclose(objdump) || found == 0) {
		tap_skip("objdump is not installed, or gives no names to entries");
		return;
	}
	/* There are no other entries, but for those that objdump does not know. */
	for (size_t i = 0; i < opened.elf.nr_sections; i++) {
		const Elf64_Shdr *shdr = elf_image__shdr(&image, i);

		if (lazy_section && shdr == find_section(&image, lazy_section))
			continue;
		for (uint64_t offset = 0; offset < shdr->sh_size; offset++) {
			uint64_t start;

			if (shdr->sh_flags & SHF_EXECINSTR &&
			    name_and_start(&opened, shdr->sh_addr + offset, &start))
				expected += start == shdr->sh_addr + offset;
		}
	}
	CHECK_INT(found, expected);
}

static void objdump_lazy(void)
{
	check_objdump("plt_lazy", NULL);
}

static void objdump_ibt(void)
{
	check_objdump("plt_ibt", ".plt");
}

static void objdump_program(void)
{
	check_objdump("plt_program", NULL);
}

/* ---- lookups ---- */

static void many_lookups(void)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_ibt");
	CLEANUP_OPENED
	struct opened opened = {.fd = -1, .elf = {.fd = -1}};
	struct elf_lookup lookups[2 * 0x80];
	uint64_t first;

	if (!image.size)
		return;
	opened = open_image(&image);
	first = find_section(&image, ".plt")->sh_addr - 8;
	/* Each address twice; some have a name already, which stays. */
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++)
		lookups[i] = (struct elf_lookup){
			.address = first + i / 2, .name = i % 32 == 5 ? "old" : NULL, .start = 7};
	CHECK_INT(elf_plt__find(&opened.elf, lookups, ARRAY_SIZE(lookups), &opened.names,
				&(uint64_t){ELF_SYMBOLS_WORK}),
		  0);
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++) {
		uint64_t start;
		const char *alone = name_and_start(&opened, lookups[i].address, &start);

		CHECK_STR(lookups[i].name, i % 32 == 5 ? "old" : alone);
		if (lookups[i].name)
			CHECK_INT(lookups[i].start, i % 32 == 5 ? 7 : start);
		if (i > 0 && i % 32 != 5 && i % 32 != 6 && alone && start == lookups[i - 1].start)
			CHECK(lookups[i].name == lookups[i - 1].name);
	}
	CHECK_INT(elf_plt__find(&opened.elf, lookups, 0, &opened.names,
				&(uint64_t){ELF_SYMBOLS_WORK}),
		  0);
}

static void addresses_outside_of_tables(void)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_lazy");
	CLEANUP_OPENED
	struct opened opened = {.fd = -1, .elf = {.fd = -1}};
	const Elf64_Shdr *text;

	if (!image.size)
		return;
	opened = open_image(&image);
	text = find_section(&image, ".text");
	for (uint64_t i = 0; i < text->sh_size; i++)
		CHECK_STR(name_at(&opened, text->sh_addr + i), NULL);
	CHECK_STR(name_at(&opened, 0), NULL);
	CHECK_STR(name_at(&opened, UINT64_MAX), NULL);
}

/* The forms are those of x86-64; other processors have others. */
static void other_machines(void)
{
	static const uint16_t others[] = {EM_AARCH64, EM_S390};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		CLEANUP_IMAGE
		struct elf_image image = read_fixture("plt_lazy");
		CLEANUP_OPENED
		struct opened opened = {.fd = -1, .elf = {.fd = -1}};

		if (!image.size)
			return;
		elf_image__ehdr(&image)->e_machine = others[i];
		opened = open_image(&image);
		CHECK_STR(name_at(&opened, find_section(&image, ".plt")->sh_addr + 16), NULL);
	}
}

static void no_table_at_all(void)
{
	const struct image_symbol symbols[] = {
		{"function", IMAGE_TEXT_ADDRESS, 8, GLOBAL_FUNCTION, 0}};
	const struct image_spec spec = {.tables = {{SHT_SYMTAB, symbols, 1}}};
	CLEANUP_IMAGE
	struct elf_image image = elf_image__make(&spec);
	CLEANUP_OPENED
	struct opened opened = open_image(&image);

	CHECK_STR(name_at(&opened, IMAGE_TEXT_ADDRESS), NULL);
}

static void work_comes_out_of_a_budget(void)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_lazy");
	CLEANUP_OPENED
	struct opened opened = {.fd = -1, .elf = {.fd = -1}};
	struct elf_lookup lookup;
	uint64_t work = 0;

	if (!image.size)
		return;
	opened = open_image(&image);
	lookup = (struct elf_lookup){.address = find_section(&image, ".plt")->sh_addr + 16};
	CHECK_INT(elf_plt__find(&opened.elf, &lookup, 1, &opened.names, &work), 0);
	CHECK_STR(lookup.name, NULL);
	CHECK_INT(work, 0);
	work = 10000;
	CHECK_INT(elf_plt__find(&opened.elf, &lookup, 1, &opened.names, &work), 0);
	CHECK(lookup.name);
	CHECK(work < 10000 && work > 5000);
	/* A lookup with a name costs no work. */
	work = 10000;
	CHECK_INT(elf_plt__find(&opened.elf, &lookup, 1, &opened.names, &work), 0);
	CHECK_INT(work, 10000);
}

/* ---- hostile files ---- */

/* Any result will do; all addresses of the fixture are asked for, and some far off. */
static void survive(const unsigned char *bytes, size_t size)
{
	CLEANUP_CLOSE int fd = open_bytes(bytes, size);
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(arena__release) struct arena names = {0};
	struct elf_lookup lookups[130] = {{.address = 0}};

	if (elf_file__open(&elf, fd))
		return;
	for (size_t i = 1; i < ARRAY_SIZE(lookups); i++)
		lookups[i].address = 0x2c0 + 4 * i;
	lookups[ARRAY_SIZE(lookups) - 1].address = UINT64_MAX;
	CHECK_INT(elf_plt__find(&elf, lookups, ARRAY_SIZE(lookups), &names,
				&(uint64_t){ELF_SYMBOLS_WORK}),
		  0);
	for (size_t i = 0; i < ARRAY_SIZE(lookups); i++) {
		const struct elf_lookup *lookup = &lookups[i];

		if (lookup->name) {
			CHECK(lookup->start <= lookup->address);
			CHECK(strlen(lookup->name) > strlen("@plt"));
		}
	}
}

static const char *const small_fixtures[] = {"plt_lazy", "plt_ibt", "plt_arm64"};

static void any_truncation_is_survived(void)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_ibt");

	for (size_t size = 0; size < image.size; size += 1 + size % 7) {
		unsigned char *exact = malloc(size + !size);

		memcpy(exact, image.bytes, size);
		survive(exact, size);
		free(exact);
	}
}

static void any_spoilt_byte_is_survived(void)
{
	static const unsigned char values[] = {0x00, 0x80, 0xff};

	for (size_t f = 0; f < ARRAY_SIZE(small_fixtures); f++) {
		CLEANUP_IMAGE
		struct elf_image image = read_fixture(small_fixtures[f]);

		for (size_t i = 0; i < image.size; i++) {
			unsigned char kept = image.bytes[i];

			image.bytes[i] = values[i % ARRAY_SIZE(values)];
			survive(image.bytes, image.size);
			image.bytes[i] = kept;
		}
	}
}

/* Field number of a section header becomes value. */
static void set_field(Elf64_Shdr *shdr, size_t field, uint64_t value)
{
	switch (field) {
	case 0:
		shdr->sh_name = (uint32_t)value;
		break;
	case 1:
		shdr->sh_type = (uint32_t)value;
		break;
	case 2:
		shdr->sh_flags = value;
		break;
	case 3:
		shdr->sh_addr = value;
		break;
	case 4:
		shdr->sh_offset = value;
		break;
	case 5:
		shdr->sh_size = value;
		break;
	case 6:
		shdr->sh_link = (uint32_t)value;
		break;
	default:
		shdr->sh_entsize = value;
		break;
	}
}

static void numbers_in_section_headers(void)
{
	static const uint64_t values[] = {0,  1,	  4,	      7,	 8,	    15,
					  24, 1ULL << 24, UINT32_MAX, INT64_MAX, UINT64_MAX};

	for (size_t f = 0; f < ARRAY_SIZE(small_fixtures); f++) {
		CLEANUP_IMAGE
		struct elf_image image = read_fixture(small_fixtures[f]);
		size_t nr = image.size ? elf_image__ehdr(&image)->e_shnum : 0;

		for (size_t i = 0; i < nr * 8 * ARRAY_SIZE(values); i++) {
			Elf64_Shdr *shdr = elf_image__shdr(&image, i % nr);
			Elf64_Shdr kept = *shdr;

			set_field(shdr, i / nr % 8, values[i / nr / 8]);
			survive(image.bytes, image.size);
			*shdr = kept;
		}
	}
}

static void numbers_in_relocations(void)
{
	static const uint64_t values[] = {0, 1, 0x300, 0x3fd8, UINT32_MAX, INT64_MAX, UINT64_MAX};
	static const uint32_t types[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE};
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_lazy");
	const Elf64_Shdr *section;
	Elf64_Rela *relas;

	if (!image.size)
		return;
	section = find_section(&image, ".rela.plt");
	relas = (Elf64_Rela *)(image.bytes + section->sh_offset);
	for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
		for (size_t i = 0; i < section->sh_size / sizeof(*relas); i++) {
			Elf64_Rela kept = relas[i];

			for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
				relas[i].r_info = ELF64_R_INFO(values[v] & UINT32_MAX, types[t]);
				relas[i].r_addend = (int64_t)values[v];
				survive(image.bytes, image.size);
			}
			relas[i].r_offset = values[v];
			survive(image.bytes, image.size);
			relas[i] = kept;
		}
	}
}

/* A symbol's name: outside of the table, at its last byte, without an end, or empty. */
static void names_of_symbols(void)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_lazy");
	Elf64_Shdr *symbols, *names;
	Elf64_Sym *table;
	uint64_t entry;
	size_t nr;

	if (!image.size)
		return;
	symbols = find_section(&image, ".dynsym");
	names = find_section(&image, ".dynstr");
	entry = find_section(&image, ".plt")->sh_addr + 16;
	table = (Elf64_Sym *)(image.bytes + symbols->sh_offset);
	nr = symbols->sh_size / sizeof(*table);
	for (int round = 0; round < 4; round++) {
		const uint64_t offsets[] = {UINT32_MAX, names->sh_size, names->sh_size - 1, 0};

		for (size_t i = 0; i < nr; i++)
			table[i].st_name = (uint32_t)offsets[round];
		{
			CLEANUP_OPENED
			struct opened opened = open_image(&image);

			CHECK_STR(name_at(&opened, entry), NULL);
		}
	}
	/* All of the file behind it is letters. */
	memset(image.bytes + names->sh_offset, 'n', names->sh_size);
	names->sh_size = 3;
	{
		CLEANUP_OPENED
		struct opened opened = open_image(&image);

		CHECK_STR(name_at(&opened, entry), "nnn@plt");
	}
}

static void name_that_never_ends_is_bounded(void)
{
	const size_t length = 100000;
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_lazy");
	Elf64_Shdr *names;
	uint64_t entry;

	if (!image.size)
		return;
	image.bytes = realloc(image.bytes, image.size + length);
	memset(image.bytes + image.size, 'n', length);
	names = find_section(&image, ".dynstr");
	entry = find_section(&image, ".plt")->sh_addr + 16;
	names->sh_offset = image.size;
	names->sh_size = length;
	image.size += length;
	{
		CLEANUP_OPENED
		struct opened opened = open_image(&image);
		const char *name = name_at(&opened, entry);

		CHECK(name && strlen(name) <= 4096 + strlen("@plt"));
		CHECK(name && strlen(name) > 4000);
		CHECK_STR(name ? name + strspn(name, "n") : NULL, "@plt");
	}
}

static void file_may_shrink_after_it_was_opened(void)
{
	CLEANUP_IMAGE
	struct elf_image image = read_fixture("plt_ibt");
	CLEANUP_OPENED
	struct opened opened = {.fd = -1, .elf = {.fd = -1}};
	uint64_t plt;

	if (!image.size)
		return;
	opened = open_image(&image);
	plt = find_section(&image, ".plt")->sh_addr;
	for (size_t size = image.size; size > 16; size -= 16) {
		if (!CHECK_INT(ftruncate(opened.fd, (off_t)size), 0))
			return;
		name_at(&opened, plt + 16);
		name_at(&opened, plt + 0x60);
	}
}

/* ---- files that are made to take long ---- */

#define SECONDS_LATE   10 /* a second is promised; sanitizers and busy machines take their share */
#define MANY	       20000
#define NAMES_OFFSET   0x1000
#define CODE_OFFSET    0x2000
#define SECTIONS_START 0x800000
#define CODE_ADDRESS   0x10000

/* A sparse file with so many sections, which its callers fill. */
static int make_sparse(const Elf64_Shdr *sections, size_t nr)
{
	static const char names[] = "\0.plt\0";
	const Elf64_Ehdr ehdr = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = SECTIONS_START,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)nr,
		.e_shstrndx = 1,
	};
	int fd = memfd_create("sparse", MFD_CLOEXEC);

	CHECK_INT(pwrite(fd, &ehdr, sizeof(ehdr), 0), sizeof(ehdr));
	CHECK_INT(pwrite(fd, names, sizeof(names), NAMES_OFFSET), sizeof(names));
	CHECK_INT(pwrite(fd, sections, nr * sizeof(*sections), SECTIONS_START),
		  nr * sizeof(*sections));
	CHECK_INT(ftruncate(fd, 1LL << 40), 0);
	return fd;
}

static const Elf64_Shdr names_section = {
	.sh_type = SHT_STRTAB, .sh_offset = NAMES_OFFSET, .sh_size = 16};
static const Elf64_Shdr code_section = {.sh_type = SHT_PROGBITS,
					.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					.sh_name = 1,
					.sh_addr = CODE_ADDRESS,
					.sh_offset = CODE_OFFSET,
					.sh_size = 16 * MANY,
					.sh_entsize = 16};
static const Elf64_Shdr relocations_section = {
	.sh_type = SHT_RELA, .sh_offset = 1ULL << 32, .sh_size = 1ULL << 36};

#define SECTIONS 60000

/* Bytes at the start of each entry of .plt: all entries are the same. */
static void write_entries(int fd, const void *code, size_t size)
{
	CLEANUP_FREE unsigned char *entries = calloc(MANY, 16);

	for (size_t i = 0; i < MANY; i++)
		memcpy(entries + 16 * i, code, size);
	CHECK_INT(pwrite(fd, entries, 16 * MANY, CODE_OFFSET), 16 * MANY);
}

/* Look all entries up: it takes seconds at most, leaves work for others, and says if it gave up. */
static void check_time(int fd, int expected)
{
	CLEANUP(elf_file__close) struct elf_file elf = {.fd = -1};
	CLEANUP(arena__release) struct arena names = {0};
	CLEANUP_FREE struct elf_lookup *lookups = calloc(MANY, sizeof(*lookups));
	uint64_t work = ELF_SYMBOLS_WORK;
	double start, seconds;

	for (size_t i = 0; i < MANY; i++)
		lookups[i].address = CODE_ADDRESS + 16 * i;
	CHECK_INT(elf_file__open(&elf, fd), 0);
	start = tap_cpu_seconds();
	CHECK_INT(elf_plt__find(&elf, lookups, MANY, &names, &work), expected);
	seconds = tap_cpu_seconds() - start;
	tap_check(seconds < SECONDS_LATE, __FILE__, __LINE__, "it took %.1f seconds", seconds);
	CHECK(work >= ELF_SYMBOLS_WORK / 2);
}

/* Entries for IBT: each has to be looked for in all sections with relocations. */
static void relocations_that_are_nowhere(void)
{
	static const unsigned char lazy[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0, 0};
	Elf64_Shdr sections[SECTIONS] = {{0}, names_section, code_section};
	CLEANUP_CLOSE int fd = -1;

	for (size_t i = 3; i < SECTIONS; i++)
		sections[i] = relocations_section;
	fd = make_sparse(sections, SECTIONS);
	write_entries(fd, lazy, sizeof(lazy));
	check_time(fd, 0);
}

/* Tables that lie over each other, of entries that are none. */
static void tables_that_overlap(void)
{
	Elf64_Shdr sections[SECTIONS] = {{0}, names_section};
	CLEANUP_CLOSE int fd = -1;

	for (size_t i = 2; i < SECTIONS; i++)
		sections[i] = code_section;
	fd = make_sparse(sections, SECTIONS);
	check_time(fd, 0);
}

/* Relocations of one slot, which all entries jump through, and none of them gives a name. */
static void relocations_of_one_slot(void)
{
	const size_t nr = 100000;
	const Elf64_Shdr sections[] = {{0}, names_section, code_section, relocations_section};
	CLEANUP_CLOSE int fd = make_sparse(sections, ARRAY_SIZE(sections));
	CLEANUP_FREE unsigned char *entries = calloc(MANY, 16);
	CLEANUP_FREE Elf64_Rela *relas = calloc(nr, sizeof(*relas));

	for (size_t i = 0; i < MANY; i++) {
		int32_t displacement = (int32_t)(0x1000000 - (CODE_ADDRESS + 16 * i + 6));

		memcpy(entries + 16 * i, "\xff\x25", 2);
		memcpy(entries + 16 * i + 2, &displacement, sizeof(displacement));
	}
	CHECK_INT(pwrite(fd, entries, 16 * MANY, CODE_OFFSET), 16 * MANY);
	for (size_t i = 0; i < nr; i++)
		relas[i] = (Elf64_Rela){.r_offset = 0x1000000,
					.r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE)};
	CHECK_INT(pwrite(fd, relas, nr * sizeof(*relas), 1LL << 32), nr * sizeof(*relas));
	check_time(fd, -EFBIG);
}

/* Relocations without an end. */
static void relocations_of_terabytes(void)
{
	static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0};
	Elf64_Shdr sections[SECTIONS] = {{0}, names_section, code_section};
	CLEANUP_CLOSE int fd = -1;

	for (size_t i = 3; i < SECTIONS; i++)
		sections[i] = relocations_section;
	fd = make_sparse(sections, SECTIONS);
	write_entries(fd, jump, sizeof(jump));
	check_time(fd, -EFBIG);
}

static const struct tap_test tests[] = {
	{"entries of lazy tables have the names of what they call", lazy_table},
	{"so have those that are bound at start", table_that_is_bound_at_start},
	{"so have those for IBT, the second ones and the lazy ones", tables_for_ibt},
	{"a static program: named after what chooses the function", static_program},
	{"a static program for IBT: named after what chooses the function", static_program_for_ibt},
	{"entries of arm64, on any processor", table_of_arm64},
	{"entries of arm64 with landing pads and authentication", table_of_arm64_for_bti},
	{"objdump has the same names: lazy", objdump_lazy},
	{"objdump has the same names: IBT", objdump_ibt},
	{"objdump has the same names: a program", objdump_program},
	{"lookups in one call find what each would find alone", many_lookups},
	{"addresses outside of the tables have no names", addresses_outside_of_tables},
	{"files of other machines have no names", other_machines},
	{"a file without such a table has no names", no_table_at_all},
	{"work comes out of a budget, and ends with it", work_comes_out_of_a_budget},
	{"a file that is cut anywhere is survived", any_truncation_is_survived},
	{"a file with any byte spoilt is survived", any_spoilt_byte_is_survived},
	{"any numbers in section headers are survived", numbers_in_section_headers},
	{"any numbers in relocations are survived", numbers_in_relocations},
	{"names outside of their table, and empty ones, are none", names_of_symbols},
	{"a name without an end is cut", name_that_never_ends_is_bounded},
	{"a file that shrinks after it was opened is survived",
	 file_may_shrink_after_it_was_opened},
	{"relocations that have to be looked for in thousands of sections",
	 relocations_that_are_nowhere},
	{"thousands of tables that lie over each other", tables_that_overlap},
	{"relocations that are all of one slot", relocations_of_one_slot},
	{"relocations of terabytes", relocations_of_terabytes},
};

int main(void)
{
	return TAP_RUN(tests);
}
