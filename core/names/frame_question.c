// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/frame_question.h"

#include "bpf/abi.h"
#include "core/unwind/modules.h"
#include "core/unwind/unwinding.h"
#include "sym/sym.h"

/* The symbolizer knows a file as a process with a PID that there is not. */
static pid_t file_pid(uint64_t frame)
{
	return -(pid_t)(frame_module(frame) + 1);
}

struct sym_query frame_place__query(const struct frame_place *place,
				    const struct unwind_module_list *modules)
{
	return frame__query(place->frame, (pid_t)place->tgid, place->return_address, modules);
}

void frame_place__find_address(const struct frame_place *place, const struct unwinding *unwinding,
			       struct sym_query *answer)
{
	struct base_key key = {.program = place->program, .tgid = place->tgid};
	uint64_t base;

	if (!unwinding || frame_tag(place->frame) != FRAME_MODULE)
		return;
	key.module = frame_module(place->frame);
	if (!unwinding__find_base(unwinding, &key, &base))
		return;
	answer->address = base + frame_offset(place->frame);
	answer->in_file = false;
}

bool frame_question__make(struct sym_query *question, const struct frame_place *place,
			  const struct unwind_module_list *modules)
{
	*question = frame_place__query(place, modules);
	question->program = place->program;
	if (frame_tag(place->frame) != FRAME_MODULE)
		return true;
	question->pid = file_pid(place->frame);
	question->program = 0;
	return unwind_module_file__is_found(&modules->items[frame_module(place->frame)]);
}

void frame_question__tell_file(struct symbolizer *symbolizer, uint64_t frame,
			       const struct unwind_module_list *modules)
{
	struct unwind_module_file file;
	struct sym_mapping mapping;
	struct sym_image image;

	if (frame_tag(frame) != FRAME_MODULE)
		return;
	file = unwind_module_file__copy(&modules->items[frame_module(frame)]);
	image = unwind_module_file__image(&file, &mapping);
	(void)symbolizer__remember_soon(symbolizer, file_pid(frame), &image);
}

void frame_question__take(struct sym_query *query, const struct sym_query *answer)
{
	const struct sym_query asked = *query;

	*query = *answer;
	query->pid = asked.pid;
	query->address = asked.address;
	query->in_file = asked.in_file;
}
