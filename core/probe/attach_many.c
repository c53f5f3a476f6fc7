// SPDX-License-Identifier: GPL-2.0-or-later
/* Links of many: to functions of the kernel, and to places in files. */
#include <errno.h>
#include <stdlib.h>

#include "core/kernel/links.h"
#include "core/probe/attachment.h"
#include "core/probe/targets.h"
#include "core/trace/session.h"
#include "sym/util/cleanup.h"

/* The most links that are tried to find targets that cannot be probed. */
#define TRIES_MAX 1000

/* A link for targets [first, end), whose places are in addresses and semaphores. */
struct multi_request {
	const uint64_t *addresses;
	const char *const *names;   /* of kernel functions whose addresses are hidden; or NULL */
	const uint64_t *semaphores; /* or NULL */
	int file_fd;		    /* of user code; -1: kernel functions */
	pid_t pid;		    /* or 0 */
	bool counts;		    /* its targets have not been counted for another process */
	bool gone;		    /* set if the process pid has ended */
};

static int make_multi_link(const struct attachment *attachment, const struct multi_request *request,
			   size_t first, size_t nr)
{
	int program = attachment__program_fd(attachment, KERNEL_FUNCTION);

	if (request->names)
		return link__kernel_names(program, request->names + first, nr);
	if (request->file_fd < 0)
		return link__kernel_functions(program, request->addresses + first, nr);
	return link__user_code(attachment__program_fd(attachment, USER_CODE), request->file_fd,
			       request->addresses + first,
			       request->semaphores ? request->semaphores + first : NULL, nr,
			       request->pid);
}

/*
 * A single target that cannot be probed fails a link of many: then try its halves, until the target
 * stands alone.
 */
static int attach_many(struct attachment *attachment, struct multi_request *request,
		       const struct session *session, size_t first, size_t nr)
{
	int fd, err;

	if (nr == 0 || session__stopping(session))
		return 0;
	fd = attachment->tries++ < TRIES_MAX ? make_multi_link(attachment, request, first, nr) :
					       -E2BIG;
	if (fd >= 0)
		return attachment__keep(attachment, fd,
					(struct hook){.misses_in_link = request->file_fd < 0},
					request->counts ? nr : 0);
	request->gone |= fd == -ESRCH && request->pid;
	if (attach_error__is_ours(fd) || request->gone)
		return attach_error__is_ours(fd) ? fd : 0;
	if (fd != -E2BIG && nr > 1) {
		err = attach_many(attachment, request, session, first, nr / 2);
		return err ? err :
			     attach_many(attachment, request, session, first + nr / 2, nr - nr / 2);
	}
	for (size_t i = first; i < first + nr; i++) {
		err = attachment__fail(attachment, &attachment->targets->targets[i], fd);
		if (err)
			return err;
	}
	return 0;
}

/* The addresses of all targets, side by side, and their semaphores. */
struct places {
	uint64_t *addresses;
	uint64_t *semaphores;
	bool any_semaphore;
};

static void places__release(struct places *places)
{
	free(places->addresses);
	free(places->semaphores);
}

static int places__read(struct places *places, const struct target_list *list)
{
	places->addresses = calloc(list->nr + 1, sizeof(*places->addresses));
	places->semaphores = calloc(list->nr + 1, sizeof(*places->semaphores));
	if (!places->addresses || !places->semaphores)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++) {
		places->addresses[i] = list->targets[i].address;
		places->semaphores[i] = list->targets[i].semaphore;
		places->any_semaphore |= list->targets[i].semaphore != 0;
	}
	return 0;
}

/* The kernel can hide addresses; then functions are known by name, if that is theirs alone. */
static int attach_by_name(struct attachment *attachment, const struct session *session)
{
	const struct target_list *list = attachment->targets;
	CLEANUP_FREE const char **names = calloc(list->nr, sizeof(*names));
	struct multi_request request = {.names = names, .file_fd = -1, .counts = true};
	size_t nr = 0;
	int err = 0;

	if (!names)
		return -ENOMEM;
	for (; nr < list->nr && !list->targets[nr].ambiguous; nr++)
		names[nr] = list->targets[nr].name;
	for (size_t i = nr; i < list->nr && !err; i++)
		err = attachment__fail(attachment, &list->targets[i], -EADDRNOTAVAIL);
	return err ? err : attach_many(attachment, &request, session, 0, nr);
}

int attachment__attach_kernel_many(struct attachment *attachment, const struct session *session)
{
	CLEANUP(places__release) struct places places = {0};
	struct multi_request request = {.file_fd = -1, .counts = true};
	int err;

	if (!attachment->targets->targets[0].address)
		return attach_by_name(attachment, session);
	err = places__read(&places, attachment->targets);
	request.addresses = places.addresses;
	return err ? err : attach_many(attachment, &request, session, 0, attachment->targets->nr);
}

/* Attach the targets of one file, for all processes or for each that it was found for. */
static int attach_file_multi(struct attachment *attachment, const struct session *session,
			     struct multi_request *request, const struct target_file *file,
			     size_t first, size_t nr)
{
	size_t pids = attachment__one_by_one(attachment, file);
	int err = 0;

	request->file_fd = file->fd;
	request->counts = true;
	if (!pids)
		return attach_many(attachment, request, session, first, nr);
	for (size_t i = 0; i < pids && !err; i++) {
		request->pid = file->pids[i];
		request->gone = false;
		attachment->tries = 0;
		err = attach_many(attachment, request, session, first, nr);
		request->counts &= request->gone;
	}
	return err;
}

int attachment__attach_user_many(struct attachment *attachment, const struct session *session)
{
	const struct target_list *list = attachment->targets;
	CLEANUP(places__release) struct places places = {0};
	struct multi_request request = {0};
	int err = places__read(&places, list);

	request.addresses = places.addresses;
	request.semaphores = places.any_semaphore ? places.semaphores : NULL;
	for (size_t first = 0, end; first < list->nr && !err; first = end) {
		const struct target *target = &list->targets[first];

		for (end = first + 1; end < list->nr; end++)
			if (list->targets[end].file != target->file ||
			    list->targets[end].misread != target->misread)
				break;
		if (!target->misread)
			err = attach_file_multi(attachment, session, &request,
						&list->files[target->file], first, end - first);
	}
	return err;
}
