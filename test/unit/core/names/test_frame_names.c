// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/frame_names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/trace/stacks.h"
#include "core/unwind/modules.h"
#include "core/unwind/unwinding.h"
#include "sym/process/file_identity.h"
#include "sym/process/process.h"
#include "sym/sym.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "test/unit/stack_frames.h"
#include "test/unit/tap.h"

#define KERNEL(n) (0xffffffff81000000 + (n))

/* The addresses that the kernel was asked for. */
static uint64_t asked[1024];
static size_t nr_asked;

static int print_fake(void *context, const uint64_t *addresses, size_t nr, const char **texts)
{
	static char printed[SYM_KERNEL_BATCH][64];

	(void)context;
	for (size_t i = 0; i < nr; i++) {
		asked[nr_asked++ % ARRAY_SIZE(asked)] = addresses[i];
		snprintf(printed[i], sizeof(printed[i]), "k%lx+0x0/0x10",
			 (unsigned long)(addresses[i] - KERNEL(0)));
		texts[i] = printed[i];
	}
	return 0;
}

static struct symbolizer *make_symbolizer(void)
{
	struct symbolizer *symbolizer = NULL;

	nr_asked = 0;
	CHECK_INT(symbolizer__new(&symbolizer, &(struct sym_settings){0}, print_fake, NULL), 0);
	return symbolizer;
}

#define CLEANUP_SYMBOLIZER CLEANUP(symbolizer__freep)
#define CLEANUP_NAMES	   CLEANUP(frame_names__release)

static struct arena arena;
static const struct frames no_frames;

#define FRAMES(...) FRAMES_IN(&arena, __VA_ARGS__)

static struct unwind_module_list modules;

/* Who knows where program 5 has module 4, and nothing else; or NULL. */
static const struct unwinding *unwinding;

bool __wrap_unwinding__find_base(const struct unwinding *from, const struct base_key *key,
				 uint64_t *base);

bool __wrap_unwinding__find_base(const struct unwinding *from, const struct base_key *key,
				 uint64_t *base)
{
	CHECK(from == unwinding);
	CHECK_INT(key->tgid, getpid());
	if (key->program != 5 || key->module != 4)
		return false;
	*base = 0x70000000;
	return true;
}

static int find_all(struct frame_names *names, const struct stack_counts *counts,
		    struct symbolizer *symbolizer)
{
	const struct frame_sources sources = {
		.symbolizer = symbolizer, .modules = &modules, .unwinding = unwinding};

	return frame_names__find_all(names, counts, &sources);
}

static uint64_t address_of(const void *function)
{
	return (uint64_t)(uintptr_t)function;
}

static const char *name_of(const struct frame_names *names, uint64_t frame, bool return_address)
{
	const struct counted_stack own = {.key.tgid = (uint32_t)getpid()};

	return frame_names__get(names, &own, frame, return_address)->name;
}

static void kernel_and_user_frames(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_NAMES
	struct frame_names names = {0};
	struct counted_stack item = {
		.key.tgid = (uint32_t)getpid(),
		.kernel = FRAMES(KERNEL(0x10), KERNEL(0x21)),
		.user = FRAMES(address_of(getppid), address_of(make_frames) + 1),
	};
	const struct stack_counts counts = {.items = &item, .nr = 1};

	CHECK_INT(find_all(&names, &counts, symbolizer), 0);
	CHECK_INT(names.kernel_error, 0);
	CHECK_INT(names.nr, 4);
	CHECK_STR(name_of(&names, KERNEL(0x10), false), "k10");
	CHECK_STR(name_of(&names, KERNEL(0x21), true), "k20");
	CHECK_STR(name_of(&names, address_of(getppid), false), "getppid");
	CHECK_STR(name_of(&names, address_of(make_frames) + 1, true), "make_frames");
}

static void marks_are_not_asked_for(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_NAMES
	struct frame_names names = {0};
	struct counted_stack item = {
		.kernel = FRAMES(KERNEL(0x10), frame_mark(MARK_CUT, 1)),
		.user = FRAMES(frame_mark(MARK_CUT, 0)),
	};
	const struct stack_counts counts = {.items = &item, .nr = 1};

	CHECK_INT(find_all(&names, &counts, symbolizer), 0);
	CHECK_INT(names.nr, 1);
	CHECK_INT(nr_asked, 1);
}

static void leaf_and_return_address_are_two(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_NAMES
	struct frame_names names = {0};
	struct counted_stack item = {
		.kernel = FRAMES(KERNEL(0x10), KERNEL(0x10), KERNEL(0x10)),
		.user = &no_frames,
	};
	const struct stack_counts counts = {.items = &item, .nr = 1};

	CHECK_INT(find_all(&names, &counts, symbolizer), 0);
	CHECK_INT(names.nr, 2);
	CHECK_STR(name_of(&names, KERNEL(0x10), false), "k10");
	CHECK_STR(name_of(&names, KERNEL(0x10), true), "kf");
}

static void kernel_frames_of_all_processes_are_one(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_NAMES
	struct frame_names names = {0};
	const struct frames *kernel = FRAMES(KERNEL(0x10));
	struct counted_stack items[] = {
		{.key.tgid = 1, .kernel = kernel, .user = &no_frames},
		{.key.tgid = 2, .kernel = kernel, .user = &no_frames},
	};
	const struct stack_counts counts = {.items = items, .nr = 2};

	CHECK_INT(find_all(&names, &counts, symbolizer), 0);
	CHECK_INT(names.nr, 1);
	CHECK_INT(nr_asked, 1);
	CHECK(frame_names__get(&names, &items[0], KERNEL(0x10), false) ==
	      frame_names__get(&names, &items[1], KERNEL(0x10), false));
}

static void the_same_address_in_two_processes(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_NAMES
	struct frame_names names = {0};
	const struct frames *user = FRAMES(address_of(getppid));
	/* No process has this number. */
	struct counted_stack items[] = {
		{.key.tgid = (uint32_t)getpid(), .kernel = &no_frames, .user = user},
		{.key.tgid = 0x7fffffff, .kernel = &no_frames, .user = user},
	};
	const struct stack_counts counts = {.items = items, .nr = 2};

	CHECK_INT(find_all(&names, &counts, symbolizer), 0);
	CHECK_INT(names.nr, 2);
	CHECK_STR(name_of(&names, address_of(getppid), false), "getppid");
	CHECK_STR(frame_names__get(&names, &items[1], address_of(getppid), false)->name, NULL);
}

#define MANY_STACKS 5000
#define NR_DISTINCT 500

/* More frames than are held before repetitions are dropped. */
static void many_stacks_share_few_frames(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_NAMES
	struct frame_names names = {0};
	CLEANUP_FREE struct counted_stack *items = calloc(MANY_STACKS, sizeof(*items));
	const struct stack_counts counts = {.items = items, .nr = MANY_STACKS};

	for (uint64_t i = 0; i < MANY_STACKS; i++)
		items[i] = (struct counted_stack){
			.kernel = FRAMES(KERNEL(i * 7 % NR_DISTINCT), KERNEL(i % NR_DISTINCT)),
			.user = &no_frames,
		};
	CHECK_INT(find_all(&names, &counts, symbolizer), 0);
	CHECK_INT(names.nr, 2 * NR_DISTINCT);
	CHECK_INT(nr_asked, 2 * NR_DISTINCT);
	for (uint64_t i = 0; i < NR_DISTINCT; i++) {
		char expected[32];

		snprintf(expected, sizeof(expected), "k%lx", (unsigned long)i);
		CHECK_STR(name_of(&names, KERNEL(i), false), expected);
	}
}

/* Where this program has a function of its own, as an offset in its file. */
static uint64_t offset_of(const void *function, struct unwind_module_file *file)
{
	CLEANUP(process__release) struct process process = {0};
	const struct mapping *mapping;
	struct stat st;

	if (!CHECK_INT(process__read(&process, getpid()), 0) ||
	    !CHECK_INT(stat("/proc/self/exe", &st), 0))
		return 0;
	mapping = mapping_list__find(&process.mappings, address_of(function));
	if (!CHECK(mapping != NULL))
		return 0;
	*file = (struct unwind_module_file){.id = {.device = mapping->device,
						   .inode = mapping->inode,
						   .size = (uint64_t)st.st_size,
						   .modified = file_time(&st.st_mtim)},
					    .found = true,
					    .pid = getpid()};
	snprintf(file->path, sizeof(file->path), "%s", mapping->path);
	return address_of(function) - mapping->start + mapping->offset;
}

static void places_in_files(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_NAMES
	struct frame_names names = {0};
	const uint64_t in_2 = offset_of(places_in_files, &modules.items[2]),
		       in_3 = offset_of(places_in_files, &modules.items[3]);
	const uint64_t here = frame_in_module(2, in_2), changed = frame_in_module(3, in_3),
		       interrupted = here | (uint64_t)FRAME_INTERRUPTED << FRAME_TAG_SHIFT,
		       elsewhere = frame_in_module(4, in_2);
	/* Its number was given, but it has not been found: it is not the vDSO, whose id is 0. */
	const uint64_t unheard = frame_in_module(6, 0x123);
	struct counted_stack item = {
		.key.tgid = (uint32_t)getpid(),
		.kernel = &no_frames,
		.user = FRAMES(here, interrupted, changed, elsewhere, unheard)};
	const struct stack_counts counts = {.items = &item, .nr = 1};
	const struct sym_query *query;

	modules.items[4].found = true;
	strcpy(modules.items[6].path, "/a.out");
	modules.items[3].id.modified++;
	modules.items[4].id = (struct sym_file_id){.device = 1, .inode = 1};
	strcpy(modules.items[4].path, "/lib/libfoo.so (deleted)");
	CHECK_INT(find_all(&names, &counts, symbolizer), 0);
	CHECK_INT(names.nr, 4);
	query = frame_names__get(&names, &item, here, false);
	CHECK_STR(query->name, "places_in_files");
	CHECK_INT(query->address, in_2);
	CHECK(frame_names__get(&names, &item, interrupted, false) == query);
	/* Another file by now. */
	query = frame_names__get(&names, &item, changed, true);
	CHECK(!query->name && query->in_file);
	CHECK_STR(query->module, "test_core_names_frame_names");
	CHECK_INT(query->address, in_3);
	/* Not mapped: what is known is the file. */
	query = frame_names__get(&names, &item, elsewhere, true);
	CHECK(!query->name && query->in_file);
	CHECK_STR(query->module, "libfoo.so");
	CHECK_INT(query->module_offset, in_2);
	query = frame_names__get(&names, &item, unheard, true);
	CHECK(!query->name && query->in_file);
	CHECK_STR(query->module, "a.out");
}

/* The module of a frame, by its path alone. */
static const char *module_of(const char *path, size_t length)
{
	static struct sym_query query;

	query = (struct sym_query){0};
	memset(modules.items[5].path, 'x', sizeof(modules.items[5].path));
	memcpy(modules.items[5].path, path, length);
	CHECK_INT(frame__add_module(frame_in_module(5, 16), &modules, &arena, &query), 0);
	CHECK_INT(query.module_offset, query.module ? 16 : 0);
	return query.module;
}

static void modules_by_their_paths(void)
{
	struct sym_query query = {.module = "libc.so", .module_offset = 7};

	CHECK_STR(module_of("/lib/libfoo.so", 15), "libfoo.so");
	CHECK_STR(module_of("[vdso]", 7), "[vdso]");
	CHECK_STR(module_of("/memfd:#1 (deleted)", 20), "memfd:#1");
	CHECK_STR(module_of("#0123456789abcdef", 18), NULL);
	CHECK_STR(module_of("", 1), NULL);
	CHECK_STR(module_of("/lib/", 6), NULL);
	/* Without an end, as the loader never leaves it. */
	CHECK_INT(strlen(module_of("/", 1)), UNWIND_PATH_MAX - 2);
	/* A query whose module is known; and an address in no module. */
	CHECK_INT(frame__add_module(frame_in_module(5, 16), &modules, &arena, &query), 0);
	CHECK_STR(query.module, "libc.so");
	CHECK_INT(query.module_offset, 7);
	query = (struct sym_query){0};
	CHECK_INT(frame__add_module(0x1000, NULL, &arena, &query), 0);
	CHECK_STR(query.module, NULL);
}

static void no_stacks(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_NAMES
	struct frame_names names = {0};
	const struct stack_counts none = {0};
	struct counted_stack item = {.kernel = &no_frames, .user = &no_frames};
	const struct stack_counts empty = {.items = &item, .nr = 1};

	CHECK_INT(find_all(&names, &none, symbolizer), 0);
	CHECK_INT(names.nr, 0);
	frame_names__release(&names);
	CHECK_INT(find_all(&names, &empty, symbolizer), 0);
	CHECK_INT(names.nr, 0);
	CHECK_INT(nr_asked, 0);
}

/* Whatever has become of the process. */
static void addresses_that_walks_have_noted(void)
{
	CLEANUP_SYMBOLIZER
	struct symbolizer *symbolizer = make_symbolizer();
	CLEANUP_NAMES
	struct frame_names names = {0};
	const uint64_t frame = frame_in_module(4, 0x123), unknown = frame_in_module(5, 0x123);
	struct counted_stack items[2] = {
		{.key = {.tgid = (uint32_t)getpid(), .program = 5},
		 .kernel = &no_frames,
		 .user = FRAMES(frame, unknown)},
		{.key = {.tgid = (uint32_t)getpid(), .program = 6},
		 .kernel = &no_frames,
		 .user = FRAMES(frame)},
	};
	const struct stack_counts counts = {.items = items, .nr = 2};
	const struct sym_query *query;

	modules.items[4].id = modules.items[5].id = (struct sym_file_id){.device = 1, .inode = 1};
	unwinding = (const struct unwinding *)&modules;
	CHECK_INT(find_all(&names, &counts, symbolizer), 0);
	unwinding = NULL;
	CHECK_INT(names.nr, 3);
	query = frame_names__get(&names, &items[0], frame, false);
	CHECK_INT(query->address, 0x70000123);
	CHECK(!query->in_file);
	query = frame_names__get(&names, &items[0], unknown, true);
	CHECK_INT(query->address, 0x123);
	CHECK(query->in_file);
	query = frame_names__get(&names, &items[1], frame, false);
	CHECK_INT(query->address, 0x123);
	CHECK(query->in_file);
}

static const struct tap_test tests[] = {
	{"addresses are those that walks have noted", addresses_that_walks_have_noted},
	{"frames of the kernel and of a process have their names", kernel_and_user_frames},
	{"marks are not asked for", marks_are_not_asked_for},
	{"an address as a leaf and as a return address is two questions",
	 leaf_and_return_address_are_two},
	{"a kernel frame of several processes is one question",
	 kernel_frames_of_all_processes_are_one},
	{"the same address in two processes is two questions", the_same_address_in_two_processes},
	{"many stacks that share frames ask for each once", many_stacks_share_few_frames},
	{"places in files", places_in_files},
	{"a module that no answer has is known by its path", modules_by_their_paths},
	{"no stacks, and stacks without frames, are no failure", no_stacks},
};

int main(void)
{
	int status = TAP_RUN(tests);

	arena__release(&arena);
	return status;
}
