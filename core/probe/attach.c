// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/kernel/links.h"
#include "core/options/pid_list.h"
#include "core/probe/attachment.h"
#include "core/probe/semaphores.h"
#include "core/probe/targets.h"
#include "core/trace/session.h"
#include "sym/util/array.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"

int attachment__new(struct attachment **out, const struct target_list *targets,
		    const struct pid_list *pids, struct error *error)
{
	struct attachment *attachment = calloc(1, sizeof(*attachment));
	int err = 0;

	if (attachment)
		attachment->failed = calloc(targets->nr, sizeof(*attachment->failed));
	if (!attachment || !attachment->failed) {
		attachment__free(attachment);
		return error__set(error, -ENOMEM, "cannot attach: out of memory");
	}
	attachment->targets = targets;
	attachment->pids = pids;
	err = attachment__choose(attachment, error);
	if (err)
		attachment__free(attachment);
	else
		*out = attachment;
	return err;
}

void attachment__free(struct attachment *attachment)
{
	if (!attachment)
		return;
	semaphores__free(attachment->semaphores);
	links__close(attachment->fds, attachment->nr_hooks);
	free(attachment->fds);
	free(attachment->hooks);
	free(attachment->failed);
	free(attachment->failures);
	free(attachment);
}

/* ---- attaching ---- */

int attachment__refused(const struct attachment *attachment, int code, struct error *error)
{
	switch (code) {
	case -EPERM:
	case -EACCES:
		return error__set(error, code,
				  "cannot attach: %s; run as root, or with CAP_BPF, CAP_PERFMON "
				  "and, for programs, CAP_SYS_ADMIN; see 'tracekit doctor'",
				  strerror(-code));
	case -EMFILE:
	case -ENFILE:
		return error__set(error, code,
				  "cannot attach to more than %zu of %zu: %s; give a narrower "
				  "pattern",
				  attachment->attached, attachment->targets->nr, strerror(-code));
	default:
		return error__set(error, code, "cannot attach: %s", strerror(-code));
	}
}

bool target_list__is_user_code(const struct target_list *list)
{
	return list->kind == PROBE_USER_FUNCTION || list->kind == PROBE_USDT;
}

int attachment__program_fd(const struct attachment *attachment, enum probe_program program)
{
	return bpf_program__fd(attachment->programs[program]);
}

int attachment__keep(struct attachment *attachment, int fd, struct hook hook, size_t targets)
{
	if (ARRAY_GROW(attachment->hooks, attachment->nr_hooks, attachment->hooks_capacity) ||
	    ARRAY_GROW(attachment->fds, attachment->nr_hooks, attachment->fds_capacity)) {
		close(fd);
		return -ENOMEM;
	}
	attachment->fds[attachment->nr_hooks] = fd;
	attachment->hooks[attachment->nr_hooks++] = hook;
	attachment->attached += targets;
	return 0;
}

int attachment__fail(struct attachment *attachment, const struct target *target, int code)
{
	bool *failed = &attachment->failed[target - attachment->targets->targets];

	if (*failed)
		return 0;
	*failed = true;
	if (ARRAY_GROW(attachment->failures, attachment->nr_failures,
		       attachment->failures_capacity))
		return -ENOMEM;
	attachment->failures[attachment->nr_failures++] =
		(struct attach_failure){.name = target->name, .code = code};
	return 0;
}

bool attach_error__is_ours(int code)
{
	return code == -ENOMEM || code == -EPERM || code == -EACCES || code == -EMFILE ||
	       code == -ENFILE;
}

/* Leave out targets whose breakpoint would break the program. Returns 0 or -ENOMEM. */
static int leave_out_misread(struct attachment *attachment)
{
	const struct target_list *list = attachment->targets;
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++)
		if (list->targets[i].misread)
			err = attachment__fail(attachment, &list->targets[i], -ENOTSUPP);
	return err;
}

static int attach_all(struct attachment *attachment, const struct session *session)
{
	enum probe_kind kind = attachment->targets->kind;
	int err =
		target_list__is_user_code(attachment->targets) ? leave_out_misread(attachment) : 0;

	if (err || !attachment->multi)
		return err ? err : attachment__attach_each(attachment, session);
	return kind == PROBE_KERNEL_FUNCTION ? attachment__attach_kernel_many(attachment, session) :
					       attachment__attach_user_many(attachment, session);
}

int attachment__attach(struct attachment *attachment, const struct session *session,
		       struct error *error)
{
	int semaphores = semaphores__open(&attachment->semaphores, attachment->targets);
	int err = attach_all(attachment, session);

	if (err)
		return attachment__refused(attachment, err, error);
	if (attachment->semaphores && !session__stopping(session))
		semaphores = semaphores__start(attachment->semaphores, attachment);
	attachment->semaphores_error = semaphores;
	if (attachment->attached || session__stopping(session))
		return 0;
	if (!attachment->nr_failures)
		return error__set(error, -ESRCH, "cannot attach: the process has ended");
	return error__set(
		error, attachment->failures[0].code, "cannot probe %s: %s",
		attachment->failures[0].name,
		attach_failure__reason(attachment->targets, attachment->failures[0].code));
}

const char *attach_failure__reason(const struct target_list *targets, int code)
{
	if (code == -ENOTSUPP)
		return "the kernel cannot execute its first instruction with a breakpoint";
	if (code == -EADDRNOTAVAIL)
		return "several functions have this name, and the kernel hides their addresses";
	if (code == -ESRCH && targets->kind == PROBE_KERNEL_FUNCTION)
		return "the kernel does not find it by its name, and hides its address";
	if (code == -E2BIG)
		return "not tried: too many of the others cannot be probed";
	if (code == -EINVAL && targets->kind == PROBE_KERNEL_FUNCTION)
		return "the kernel refuses what its own tracing uses, and code that is marked as "
		       "not to be traced";
	return strerror(-code);
}

int attachment__end_semaphores(struct attachment *attachment, struct semaphores_missed *missed)
{
	semaphores__stop(attachment->semaphores);
	*missed = semaphores__missed(attachment->semaphores);
	return attachment->semaphores_error;
}

size_t attachment__attached(const struct attachment *attachment)
{
	return attachment->attached;
}

size_t attachment__failures(const struct attachment *attachment,
			    const struct attach_failure **failures)
{
	*failures = attachment->failures;
	return attachment->nr_failures;
}

/* ---- while it runs, and the end ---- */

/* Events missed because a program was already running on their CPU (5.12+). */
static uint64_t recursion_misses(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.recursion_misses;
}

bool attachment__take_missed(struct attachment *attachment, uint64_t *missed)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < NR_PROBE_PROGRAMS; i++)
		sum += recursion_misses(attachment->programs[i]);
	for (size_t i = 0; i < attachment->nr_hooks; i++) {
		uint64_t of_link = 0;

		if (attachment->hooks[i].misses_in_link &&
		    !link__missed(attachment->fds[i], &of_link))
			return false;
		sum += of_link;
	}
	*missed = sum - attachment->missed;
	attachment->missed = sum;
	return true;
}

uint64_t attachment__begin_detach(struct attachment *attachment, size_t *left)
{
	uint64_t start = monotonic_now();
	size_t nr = attachment->nr_hooks, first = nr, last = nr - 1;

	*left = 0;
	for (size_t i = 0; i < nr; i++) {
		if (!attachment->hooks[i].slow)
			continue;
		*left += first < nr;
		first = first < nr ? first : i;
	}
	semaphores__stop(attachment->semaphores);
	if (first == nr)
		return 0;
	close(attachment->fds[first]);
	attachment->fds[first] = attachment->fds[last];
	attachment->hooks[first] = attachment->hooks[last];
	attachment->nr_hooks--;
	return (monotonic_now() - start) * *left;
}
