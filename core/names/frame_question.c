// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/frame_question.h"

#include <errno.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/unwind/modules.h"
#include "core/unwind/unwinding.h"
#include "sym/types.h"

struct sym_query frame_place__query(const struct frame_place *place)
{
	return frame__query(place->frame, (pid_t)place->tgid, place->return_address);
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

/* A copy of the file that a module is; NULL without memory. */
static const struct sym_mapped_file *copy_file(const struct unwind_module_file *shared,
					       struct arena *arena)
{
	const struct unwind_module_file module = unwind_module_file__copy(shared);
	/* A stand-in for a path that was too long is none. */
	const char *path = module.path[0] == '#' ? "" : module.path;
	struct sym_mapped_file *file = arena__alloc(arena, sizeof(*file));

	if (!file)
		return NULL;
	*file = (struct sym_mapped_file){.id = module.id, .pid = module.pid};
	file->path = arena__copy_string(arena, path, strlen(path));
	return file->path ? file : NULL;
}

int frame_question__make(struct sym_query *question, const struct frame_place *place,
			 const struct unwind_module_list *modules, struct asked_files *files)
{
	const struct unwind_module_file *module;
	uintptr_t *file;

	*question = frame_place__query(place);
	question->program = place->program;
	if (!question->in_file)
		return 1;
	module = &modules->items[frame_module(place->frame)];
	question->pid = 0;
	question->program = 0;
	if (!unwind_module_file__is_found(module))
		return 0;
	file = pointer_map__at(&files->of_modules, module);
	if (file && !*file)
		*file = (uintptr_t)copy_file(module, &files->arena);
	if (!file || !*file)
		return -ENOMEM;
	question->file = (const struct sym_mapped_file *)*file;
	return 1;
}

void asked_files__release(struct asked_files *files)
{
	arena__release(&files->arena);
	pointer_map__release(&files->of_modules);
}

void frame_question__take(struct sym_query *query, const struct sym_query *answer)
{
	const pid_t pid = query->pid;

	*query = *answer;
	query->pid = pid;
	query->file = NULL;
}
