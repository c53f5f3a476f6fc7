// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the frames of events, from a symbolizer that is played here. */
#include "core/stream/names.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/stream/event_queue.h"
#include "core/stream/processes.h"
#include "core/stream/sent_stacks.h"
#include "core/stream/writer.h"
#include "core/unwind/modules.h"
#include "sym/sym.h"
#include "test/unit/tap.h"

/*
 * ---- a symbolizer that answers at once, with the longest names; but of what is in a file nobody
 * knows more than has_file ----
 */

static pid_t has_file; /* 0: nobody has it */
static pid_t told_of;

int symbolizer__ask_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	static char name[FRAME_NAME_MAX];

	(void)symbolizer;
	memset(name, '\1', sizeof(name) - 1);
	for (size_t i = 0; i < nr; i++) {
		/* As where a file cannot be opened by now. */
		queries[i].generated = queries[i].in_file && queries[i].pid < 0;
		if (queries[i].in_file && queries[i].pid != has_file)
			continue;
		queries[i].name = queries[i].module = queries[i].in_file ? "foo" : name;
		queries[i].in_file = false;
	}
	return 0;
}

int symbolizer__remember_soon(struct symbolizer *symbolizer, pid_t pid,
			      const struct sym_image *image)
{
	(void)symbolizer;
	CHECK_STR(image->mappings[0].path, "/lib/libfoo.so (deleted)");
	told_of = pid;
	return 0;
}

int symbolizer__attend(struct symbolizer *symbolizer)
{
	(void)symbolizer;
	return 0;
}

int symbolizer__poll(const struct symbolizer *symbolizer, struct pollfd *pollfd)
{
	(void)symbolizer;
	pollfd->fd = -1;
	return -1;
}

void symbolizer__forget_names(struct symbolizer *symbolizer)
{
	(void)symbolizer;
}

int symbolizer__name_kernel(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	(void)symbolizer;
	(void)queries;
	(void)nr;
	return 0;
}

pid_t stream_processes__known_as(struct stream_processes *processes, pid_t pid, uint32_t number)
{
	(void)processes;
	(void)number;
	return pid;
}

pid_t stream_processes__module_pid(uint32_t module)
{
	return -(pid_t)module;
}

/* ---- events ---- */

#define NR_EVENTS 16

static struct sent_stack *make_stack(uint64_t first, uint32_t nr)
{
	struct sent_stack *stack = calloc(1, sizeof(*stack) + nr * sizeof(stack->frames[0]));

	stack->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		stack->frames[i] = first + i;
	return stack;
}

/* The bytes of text in all stacks that were given any. */
static size_t count_bytes(struct sent_stack *const *stacks)
{
	size_t bytes = 0;

	for (size_t i = 0; i < NR_EVENTS; i++)
		for (uint32_t k = 0; stacks[i]->shown && k < stacks[i]->nr; k++)
			bytes += stacks[i]->shown[k]->length;
	return bytes;
}

#define NR_FRAMES 128

static const struct stream_writer as_text = {.style.verbose = true, .user = true};
static const struct stream_writer as_json = {.form = STREAM_JSON, .user = true};

/* Names without end are not kept together, but each event gets its own. */
static void long_names(void)
{
	struct sent_stack *none = make_stack(0, 0), *stacks[NR_EVENTS];
	struct stream_event events[NR_EVENTS] = {0};
	struct stream_names *names = NULL;

	CHECK_INT(stream_names__new(&names, NULL, NULL, &as_json), 0);
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		stacks[i] = make_stack(0x10000 * (i + 1), NR_FRAMES);
		events[i].kernel = none;
		events[i].user = stacks[i];
		events[i].tgid = events[i].process = 1;
		CHECK_INT(stream_names__prepare(names, &events[i]), 0);
	}
	CHECK_INT(stream_names__attend(names, NULL), 0);
	/* A stack's beyond the bound at most. */
	CHECK(count_bytes(stacks) < 64 * 1024 * 1024);
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		int ready = stream_names__ready(names, &events[i]);

		if (!ready) {
			CHECK_INT(stream_names__attend(names, NULL), 0);
			ready = stream_names__ready(names, &events[i]);
		}
		if (!CHECK_INT(ready, 1))
			break;
		CHECK(stacks[i]->shown[NR_FRAMES - 1]->length > FRAME_NAME_MAX);
	}
	stream_names__free(names);
	for (uint32_t i = 0; i < NR_EVENTS; i++)
		free(stacks[i]);
	free(none);
}

/* As what a place in the file of module 7 is shown, the leaf of so many frames. */
static void check_leaf(uint32_t nr, const struct stream_writer *writer, const char *text)
{
	static struct unwind_module_list modules;
	struct sent_stack *none = make_stack(0, 0), *stack = make_stack(0x10000, nr);
	struct stream_event event = {.kernel = none, .user = stack, .tgid = 1, .process = 1};
	struct stream_names *names = NULL;

	told_of = 0;
	stack->frames[0] = frame_in_module(7, 18);
	strcpy(modules.items[7].path, "/lib/libfoo.so (deleted)");
	CHECK_INT(stream_names__new(&names, NULL, &modules, writer), 0);
	CHECK_INT(stream_names__prepare(names, &event), 0);
	CHECK_INT(stream_names__attend(names, NULL), 0);
	if (CHECK_INT(stream_names__ready(names, &event), 1))
		CHECK(CHECK_STR(stack->shown[0]->text, text) && !stack->shown[0]->generated);
	stream_names__free(names);
	free(stack);
	free(none);
}

static void process_has_the_file(void)
{
	has_file = 1;
	check_leaf(1, &as_text, "12 foo");
	CHECK_INT(told_of, 0);
}

/* The address in somebody else's mapping is not the one that the process had. */
static void somebody_has_the_file(void)
{
	has_file = -7;
	check_leaf(1, &as_text, "- foo");
	CHECK_INT(told_of, -7);
}

static void nobody_has_the_file(void)
{
	has_file = 0;
	check_leaf(1, &as_text, "- [unknown] (libfoo.so+0x12)");
	CHECK_INT(told_of, -7);
}

/* Then nobody else is asked: the answer would find no room. */
static void nobody_has_the_file_and_no_room(void)
{
	has_file = 0;
	check_leaf(NR_FRAMES, &as_json,
		   "{\"addr\":null,\"name\":null,\"module\":\"libfoo.so\",\"module_offset\":18}");
	CHECK_INT(told_of, 0);
}

static const struct tap_test tests[] = {
	{"events with the longest names get them, one after the other", long_names},
	{"a place in a file is asked of its process", process_has_the_file},
	{"then of who had the file first", somebody_has_the_file},
	{"then it is known by its module", nobody_has_the_file},
	{"so it is without room for more", nobody_has_the_file_and_no_room},
};

int main(void)
{
	return TAP_RUN(tests);
}
