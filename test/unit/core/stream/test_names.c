// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the frames of events, from a symbolizer that is played here. */
#include "core/stream/names.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/names/frame_names.h"
#include "core/stream/event_queue.h"
#include "core/stream/sent_stacks.h"
#include "core/stream/writer.h"
#include "core/unwind/modules.h"
#include "core/unwind/unwinding.h"
#include "sym/sym.h"
#include "sym/util/clock.h"
#include "test/unit/tap.h"

/* ---- a symbolizer that answers at once, with the longest names; but of what is in a file ---- */

static bool has_file; /* it can be opened */
static pid_t told_of; /* by which the file was asked for */
static uint64_t asked_program;

int symbolizer__ask_user(struct symbolizer *symbolizer, struct sym_query *queries, size_t nr)
{
	static char name[FRAME_NAME_MAX];

	(void)symbolizer;
	memset(name, '\1', sizeof(name) - 1);
	for (size_t i = 0; i < nr; i++) {
		asked_program = queries[i].program;
		if (queries[i].in_file && !has_file)
			continue;
		queries[i].name = queries[i].module = queries[i].in_file ? "foo" : name;
		if (queries[i].in_file) {
			CHECK_STR(queries[i].file->path, "/lib/libfoo.so (deleted)");
			told_of = queries[i].file->pid;
		}
	}
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

/* ---- where programs have the file ---- */

bool unwinding__find_base(const struct unwinding *unwinding, const struct base_key *key,
			  uint64_t *base)
{
	(void)unwinding;
	*base = 0x10000000;
	return key->program == 32 && key->tgid == 1 && key->module == 7;
}

void unwinding__make_room_for_bases(const struct unwinding *unwinding)
{
	(void)unwinding;
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
	const struct frame_sources sources = {0};
	struct stream_names *names = NULL;

	CHECK_INT(stream_names__new(&names, &sources, &as_json), 0);
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		stacks[i] = make_stack(0x10000 * (i + 1), NR_FRAMES);
		events[i].kernel = none;
		events[i].user = stacks[i];
		events[i].tgid = 1;
		events[i].program = 16;
		CHECK_INT(stream_names__prepare(names, &events[i]), 0);
	}
	CHECK_INT(stream_names__attend(names), 0);
	/* A stack's beyond the bound at most. */
	CHECK(count_bytes(stacks) < 64 * 1024 * 1024);
	for (uint32_t i = 0; i < NR_EVENTS; i++) {
		int ready = stream_names__ready(names, &events[i]);

		if (!ready) {
			CHECK_INT(stream_names__attend(names), 0);
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

static struct unwind_module_list modules;

/* With addresses. */
static struct stream_names *make_names(const struct stream_writer *writer)
{
	const struct frame_sources sources = {.modules = &modules,
					      .unwinding = (const struct unwinding *)&modules};
	struct stream_names *names = NULL;

	strcpy(modules.items[7].path, "/lib/libfoo.so (deleted)");
	modules.items[7].pid = 700;
	CHECK_INT(stream_names__new(&names, &sources, writer), 0);
	return names;
}

/* As what a place in the file of module 7 is shown. */
static void check_leaf(uint64_t program, const struct stream_writer *writer, const char *text)
{
	struct sent_stack *none = make_stack(0, 0), *stack = make_stack(frame_in_module(7, 18), 1);
	struct stream_event event = {.kernel = none, .user = stack, .tgid = 1, .program = program};
	struct stream_names *names = make_names(writer);

	modules.items[7].found = true;
	CHECK_INT(stream_names__prepare(names, &event), 0);
	CHECK_INT(stream_names__attend(names), 0);
	if (CHECK_INT(stream_names__ready(names, &event), 1))
		CHECK(CHECK_STR(stack->shown[0]->text, text) && !stack->shown[0]->generated);
	CHECK_INT(told_of, 700);
	CHECK_INT(asked_program, 0);
	stream_names__free(names);
	free(stack);
	free(none);
}

/* Each program shows it at its own address, if the walk has noted that. */
static void frame_in_a_file(void)
{
	has_file = true;
	check_leaf(32, &as_text, "10000012 foo");
	check_leaf(16, &as_text, "- foo");
	has_file = false;
	check_leaf(16, &as_text, "- [unknown] (libfoo.so+0x12)");
	check_leaf(32, &as_json,
		   "{\"addr\":\"10000012\",\"name\":null,\"module\":\"libfoo.so\","
		   "\"module_offset\":18}");
}

static bool is_ready(struct stream_names *names, const struct stream_event *event)
{
	CHECK_INT(stream_names__attend(names), 0);
	return stream_names__ready(names, event) == 1;
}

/* An event waits a moment for a file to be found. */
static void file_that_is_found_later(void)
{
	struct sent_stack *none = make_stack(0, 0), *stack = make_stack(frame_in_module(7, 18), 1);
	struct stream_event event = {.kernel = none, .user = stack, .tgid = 1, .program = 32};
	struct stream_names *names = make_names(&as_text);
	struct pollfd polled;

	has_file = true;
	modules.items[7].found = false;
	CHECK_INT(stream_names__prepare(names, &event), 0);
	CHECK(!is_ready(names, &event));
	CHECK(stream_names__poll(names, &polled) > 0);
	modules.items[7].found = true;
	CHECK(is_ready(names, &event));
	CHECK_INT(stream_names__poll(names, &polled), -1);
	CHECK_STR(stack->shown[0]->text, "10000012 foo");
	stream_names__free(names);

	/* But not for one that was not found; and that is asked for when it comes again. */
	names = make_names(&as_text);
	stack->shown_version = 0;
	modules.items[7].found = false;
	CHECK_INT(stream_names__prepare(names, &event), 0);
	CHECK(!is_ready(names, &event));
	modules.items[7].missed = true;
	CHECK(is_ready(names, &event));
	CHECK_STR(stack->shown[0]->text, "10000012 [unknown] (libfoo.so+0x12)");
	CHECK(stack->shown[0]->generated);
	modules.items[7].found = true;
	event.arrived = stack->shown[0]->due;
	CHECK_INT(stream_names__prepare(names, &event), 0);
	CHECK(is_ready(names, &event));
	CHECK_STR(stack->shown[0]->text, "10000012 foo");
	stream_names__free(names);
	free(stack);
	free(none);
}

/* An address is its program's, of two that one process has been. */
static void addresses_of_two_programs(void)
{
	struct sent_stack *none = make_stack(0, 0), *stack = make_stack(0x5000, 1);
	struct stream_event event = {.kernel = none, .user = stack, .tgid = 1, .program = 16};
	struct stream_names *names = make_names(&as_text);
	const struct shown_frame *first;

	CHECK_INT(stream_names__prepare(names, &event), 0);
	CHECK(is_ready(names, &event));
	CHECK_INT(asked_program, 16);
	first = stack->shown[0];
	event.program = 32;
	CHECK_INT(stream_names__prepare(names, &event), 0);
	CHECK(is_ready(names, &event));
	CHECK_INT(asked_program, 32);
	CHECK(stack->shown[0] != first);
	stream_names__free(names);
	free(stack);
	free(none);
}

static const struct tap_test tests[] = {
	{"events with the longest names get them, one after the other", long_names},
	{"a place in a file is asked of the file", frame_in_a_file},
	{"an event waits a moment for a file", file_that_is_found_later},
	{"an address is asked of its program", addresses_of_two_programs},
};

int main(void)
{
	return TAP_RUN(tests);
}
