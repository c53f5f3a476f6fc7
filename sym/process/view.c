// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/process/view.h"

#include <errno.h>

#include "sym/child/proc_stat.h"
#include "sym/process/remembered.h"
#include "sym/process/supervised.h"

/* Whoever tells of images tells of another one after exec(), which may be under way. */
static bool is_another_program(const struct remembered *remembered, const struct process *current)
{
	const struct mapping_list *known = &remembered->process.mappings;

	return remembered->image &&
	       !mapping_list__shares(&current->mappings, known->mappings, known->nr);
}

static int view_remembered(struct process_view *view, struct remembered_list *list,
			   struct remembered *remembered)
{
	struct process current = {0};
	int err = -ESRCH;

	/* Which process an image stands in for is not known, so that none can be the same. */
	if (remembered->process.task)
		err = supervisor__read_process(list->supervisor, &current, remembered->process.pid);
	view->ended = err || current.start_time != remembered->process.start_time ||
		      is_another_program(remembered, &current);
	if (!view->ended) {
		err = remembered_list__renew(list, remembered, &current);
		if (err)
			return err;
	} else if (!err) {
		process__release(&current);
	}
	view->remembered = remembered__get(remembered);
	view->process = &remembered->process;
	return 0;
}

int process_view__read(struct process_view *view, struct remembered_list *list, pid_t pid)
{
	struct remembered *remembered = remembered_list__find(list, pid);

	if (remembered)
		return view_remembered(view, list, remembered);
	view->process = &view->current;
	return supervisor__read_process(list->supervisor, &view->current, pid);
}

pid_t process_view__root_task(const struct process_view *view)
{
	const struct remembered *remembered = view->remembered;
	struct proc_stat stat;

	if (!view->ended)
		return view->process->task;
	if (!remembered->root_pid || proc_stat__read(remembered->root_pid, &stat) ||
	    stat.start_time != remembered->root_start)
		return 0;
	return remembered->root_task;
}

void process_view__release(struct process_view *view, struct remembered_list *list)
{
	remembered_list__put(list, view->remembered);
	process__release(&view->current);
}

int process_view__open_file(const struct process_view *view, const struct remembered_list *list,
			    const struct mapping *mapping)
{
	int fd = -ENOENT;

	if (view->remembered)
		fd = remembered_list__copy_file(list, view->remembered, mapping);
	if (fd == -ENOENT && !view->ended)
		fd = supervisor__open_file(list->supervisor, view->process, mapping);
	return fd;
}
