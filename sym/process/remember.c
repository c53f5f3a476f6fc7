// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/remember.h"

#include <errno.h>

#include "sym/child/proc_stat.h"
#include "sym/process/image.h"
#include "sym/process/remembered.h"
#include "sym/process/supervised.h"
#include "sym/process/view.h"

/* ---- a process that is there ---- */

/* Whether the PID of a remembered process belongs to another one by now. */
static bool is_replaced(const struct remembered *known)
{
	struct proc_stat stat;

	return !proc_stat__read(known->process.pid, &stat) &&
	       (!known->process.task || stat.start_time != known->process.start_time);
}

/* Whether there is nothing to be done for it. */
static bool is_up_to_date(const struct remembered *known, const struct remember *remember)
{
	if (remember->image && remember->image->version != known->image)
		return false;
	return !is_replaced(known);
}

/* It has been read anew: another process, or the same one, which may have called exec(). */
static int add_read(struct remembered_list *list, struct remembered *known, struct process *process,
		    const struct remember *remember)
{
	uint64_t image = remember->image ? remember->image->version : 0;
	int err;

	if (!known || known->process.start_time != process->start_time)
		return remembered_list__add(list, process, remember->kept, image, NULL);
	err = remembered_list__renew(list, known, process);
	if (err)
		return err;
	known->image = image;
	known->kept |= remember->kept;
	return 0;
}

/* Whether the process still runs the program that the image, if there is one, is of. */
static bool is_of_image(const struct process *process, const struct image *image)
{
	return !image || mapping_list__shares(&process->mappings, image->mappings, image->nr);
}

static int read_process(struct remembered_list *list, const struct remember *remember,
			struct process *process)
{
	int err = remember->ended ?
			  -ESRCH :
			  supervisor__read_process(list->supervisor, process, remember->pid);

	if (err || (is_of_image(process, remember->image) &&
		    (!remember->start_time || process->start_time == remember->start_time)))
		return err;
	process__release(process);
	return -ESRCH;
}

/* ---- one that has ended ---- */

/* As it is or was; its files are held, so that its children find them. */
static int view_parent(struct remembered_list *list, pid_t pid, struct process_view *view)
{
	struct remember parent = {.pid = pid};
	bool known = remembered_list__find(list, pid);
	int err = remember__process(list, &parent);

	if (err || known)
		return err ? err : process_view__read(view, list, pid);
	/* It has just been read. */
	view->remembered = remembered__get(remembered_list__find(list, pid));
	view->process = &view->remembered->process;
	return 0;
}

static void share_root(struct remembered *remembered, const struct process *parent)
{
	if (!remembered)
		return;
	remembered->root_pid = parent->pid;
	remembered->root_task = parent->task;
	remembered->root_start = parent->start_time;
}

/*
 * had: what could be opened while it was there, or NULL; whoever calls has a reference.
 * Returns 0, -ESRCH if nothing is known of it, or -ENOMEM.
 */
static int add_image(struct remembered_list *list, const struct remember *remember,
		     const struct remembered *had)
{
	const struct image *image = remember->image;
	const struct mapping_list nothing = {0};
	struct process process = {.pid = remember->pid};
	struct process_view parent = {0};
	bool has_parent = image->parent && image->parent != remember->pid &&
			  !view_parent(list, image->parent, &parent);
	bool stands_on_parent = has_parent && !image->whole;
	int err;

	err = mapping_list__lay(&process.mappings,
				stands_on_parent ? &parent.process->mappings : &nothing,
				image->mappings, image->nr);
	if (!err && !process.mappings.nr)
		err = -ESRCH;
	if (err)
		process__release(&process);
	else
		err = remembered_list__add(list, &process, remember->kept, image->version,
					   has_parent ? parent.remembered : had);
	if (!err && has_parent && !parent.ended)
		share_root(remembered_list__find(list, remember->pid), parent.process);
	if (has_parent)
		process_view__release(&parent, list);
	return err;
}

static bool has_all_files(const struct remembered *remembered)
{
	const struct mapping_list *mappings = &remembered->process.mappings;

	for (size_t i = 0; i < mappings->nr; i++)
		if (mappings->mappings[i].inode && !remembered->files[i])
			return false;
	return true;
}

/*
 * Of what has just been read: if it has ended, or called exec(), before all its files were opened
 * its image stands in for it.
 */
static int complete(struct remembered_list *list, const struct remember *remember)
{
	struct remembered *read = remembered_list__find(list, remember->pid);
	struct process now = {0};
	int err;

	if (!read || !remember->image || has_all_files(read))
		return 0;
	err = read_process(list, remember, &now);
	process__release(&now);
	if (err != -ESRCH)
		return 0;
	remembered__get(read);
	err = add_image(list, remember, read);
	remembered_list__put(list, read);
	return err == -ESRCH ? 0 : err;
}

int remember__process(struct remembered_list *list, struct remember *remember)
{
	struct remembered *known = remembered_list__find(list, remember->pid);
	struct process process = {0};
	uint64_t began;
	bool was_read;
	int err;

	if (known && is_up_to_date(known, remember)) {
		known->kept |= remember->kept;
		remember->start_time = known->process.start_time;
		return 0;
	}
	err = read_process(list, remember, &process);
	was_read = !err;
	began = process.start_time;
	if (was_read)
		err = add_read(list, known, &process, remember);
	else if (err == -ESRCH && known && !known->process.task &&
		 (!remember->image || remember->image->version == known->image))
		err = 0; /* the same that has stood in for it before */
	else if (err == -ESRCH && remember->image)
		err = add_image(list, remember, NULL);
	if (!err)
		remember->start_time = began;
	return !err && was_read ? complete(list, remember) : err;
}
