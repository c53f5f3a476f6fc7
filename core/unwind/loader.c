// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/loader.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/unwind/tables.h"
#include "sym/util/array.h"
#include "sym/util/child.h"
#include "sym/util/clock.h"
#include "sym/util/descriptors.h"

#define NICE (-10)

static const struct child_role role = {"loader", DEBUG_LOG_TABLES};

struct unwind_loader {
	pid_t child;
	int fd;		     /* the child ends when nobody has it open any more */
	unsigned char asked; /* what was sent last */
	struct unwind_told *told;
};

/* Programs and events of the parent must not live on in a child, which needs none of them. */
static int keep_maps(const struct unwind_maps *maps, const struct unwind_identifier *identifier,
		     const struct later_setup *later, int socket, int files)
{
	int kept[] = {STDERR_FILENO,
		      socket,
		      files,
		      identifier->fds[0],
		      identifier->fds[1],
		      bpf_map__fd(maps->files),
		      bpf_map__fd(maps->numbers),
		      bpf_map__fd(maps->modules),
		      bpf_map__fd(maps->pages),
		      bpf_map__fd(maps->rules),
		      bpf_map__fd(maps->recent),
		      bpf_map__fd(maps->shards),
		      bpf_map__fd(maps->requests),
		      bpf_map__fd(later->raw_stacks),
		      bpf_map__fd(later->walked),
		      later->take};
	/* Without that program one less is kept. */
	size_t nr = ARRAY_SIZE(kept) - (later->take < 0);

	return descriptors__close_others(kept, nr);
}

_Noreturn static void be_child(const struct unwind_maps *maps,
			       const struct unwind_identifier *identifier,
			       const struct unwind_first *first, const struct later_setup *later,
			       uint64_t memory, int socket, int files, struct unwind_told *told)
{
	int err;

	child__begin(&role);
	signal(SIGCHLD, SIG_DFL); /* it has children of its own, and waits for them */
	/* Its work is short, but is missing while the machine is busy; if refused, later. */
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	/* Children that read untrusted files must not write what others trust. */
	err = madvise(told, sizeof(*told), MADV_DONTFORK) ? -errno : 0;
	if (!err)
		err = keep_maps(maps, identifier, later, socket, files);
	if (!err)
		err = unwind_loading__run(maps, identifier, first, later, memory, socket, files,
					  told);
	told->status.failed = (uint32_t)-err;
	_exit(err != 0);
}

int unwind_loader__start(struct unwind_loader **out, const struct unwind_maps *maps,
			 const struct unwind_identifier *identifier,
			 const struct unwind_first *first, const struct later_setup *later,
			 uint64_t memory, int files)
{
	struct unwind_loader *loader = calloc(1, sizeof(*loader));
	int sockets[2];
	void *shared;

	if (!loader)
		return -ENOMEM;
	shared = mmap(NULL, sizeof(*loader->told), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
		int err = -errno;

		if (shared != MAP_FAILED)
			munmap(shared, sizeof(*loader->told));
		free(loader);
		return err;
	}
	loader->told = shared;
	loader->fd = sockets[0];
	loader->child = fork();
	if (loader->child == 0)
		be_child(maps, identifier, first, later, memory, sockets[1], files, loader->told);
	child__note_start(&role, loader->child);
	close(sockets[1]);
	/* Neither this process nor its other children may write it. */
	(void)mprotect(shared, sizeof(*loader->told), PROT_READ);
	(void)madvise(shared, sizeof(*loader->told), MADV_DONTFORK);
	if (loader->child < 0) {
		int err = -errno;

		unwind_loader__stop(loader);
		return err;
	}
	*out = loader;
	return 0;
}

/* True if there is something to receive, or it has ended. A signal does not end the wait. */
static bool wait_until(const struct unwind_loader *loader, uint64_t until)
{
	struct pollfd polled = {.fd = loader->fd, .events = POLLIN};
	int ready;

	do {
		uint64_t now = monotonic_now();
		uint64_t left = now < until ? until - now : 0;

		ready = poll(&polled, 1, (int)((left + MILLISECONDS - 1) / MILLISECONDS));
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

bool unwind_loader__await(const struct unwind_loader *loader, uint64_t nanoseconds)
{
	return wait_until(loader, monotonic_now() + nanoseconds);
}

/* Answers to what was asked before, and waited for in vain, may come first. */
void unwind_loader__settle(struct unwind_loader *loader, uint64_t nanoseconds)
{
	uint64_t until = monotonic_now() + nanoseconds;
	unsigned char asked = ++loader->asked, answered;

	if (send(loader->fd, &asked, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return;
	while (wait_until(loader, until) && recv(loader->fd, &answered, 1, MSG_DONTWAIT) == 1 &&
	       answered != asked)
		;
}

struct unwind_status unwind_loader__status(const struct unwind_loader *loader)
{
	return loader->told->status;
}

const struct unwind_module_list *unwind_loader__modules(const struct unwind_loader *loader)
{
	return &loader->told->modules;
}

bool unwind_loader__has_ended(struct unwind_loader *loader)
{
	if (loader->child > 0 && waitpid(loader->child, NULL, WNOHANG) == loader->child) {
		child__note_end(&role, loader->child, -EPIPE);
		loader->child = 0;
	}
	return !loader->child;
}

/* The child waits for nothing but the kernel and its own children. */
void unwind_loader__stop(struct unwind_loader *loader)
{
	if (!loader)
		return;
	close(loader->fd);
	if (loader->child > 0) {
		kill(loader->child, SIGKILL);
		while (waitpid(loader->child, NULL, 0) < 0 && errno == EINTR)
			;
		child__note_end(&role, loader->child, 0);
	}
	munmap(loader->told, sizeof(*loader->told));
	free(loader);
}
