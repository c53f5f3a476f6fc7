// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/bpf_error.h"
#include "core/trace_options.h"
#include "core/util/cleanup.h"
#include "core/util/error.h"
#include "core/util/number.h"

struct session {
	const struct trace_options *options;
	struct sigaction old_int, old_term;
	/* What session__wait() polls: the stop signal, stdout, then a pidfd for each process. */
	struct pollfd *polled;
	size_t nr_polled;
	int targets_fd; /* the map target_tgids, or -1 */
};

enum { POLL_STOP, POLL_STDOUT, POLL_PIDS };

/* Of the one session: readable once a signal has come, or -1. For the handler. */
static volatile sig_atomic_t stop_fd = -1;

static void on_stop_signal(int signal_number)
{
	int saved_errno = errno;
	uint64_t one = 1;

	(void)signal_number;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	/* Fails only if the counter is full, and then it is readable already. */
	if (write(stop_fd, &one, sizeof(one)) < 0)
		errno = saved_errno;
	errno = saved_errno;
}

static int catch_signals(struct session *session, struct error *error)
{
	struct sigaction action = {.sa_handler = on_stop_signal, .sa_flags = SA_RESTART};
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return error__set(error, -errno, "cannot make an eventfd: %s", strerror(errno));
	sigaddset(&action.sa_mask, SIGINT);
	sigaddset(&action.sa_mask, SIGTERM);
	session->polled[POLL_STOP] = (struct pollfd){.fd = fd, .events = POLLIN};
	stop_fd = fd;
	sigaction(SIGINT, &action, &session->old_int);
	sigaction(SIGTERM, &action, &session->old_term);
	return 0;
}

static int open_pids(struct session *session, struct error *error)
{
	const struct pid_list *list = &session->options->pids;

	for (size_t i = 0; i < list->nr; i++) {
		/* 5.3+. Refuses a thread that is not its process's first (EINVAL, ENOENT). */
		int fd = (int)syscall(SYS_pidfd_open, list->pids[i], 0);

		if (fd < 0 && errno == ESRCH)
			return error__set(error, -errno,
					  "-p %d: no such process; give the PID of a running one",
					  list->pids[i]);
		if (fd < 0 && (errno == EINVAL || errno == ENOENT))
			return error__set(error, -errno,
					  "-p %d: is a thread, not a process; give the PID of its "
					  "process (Tgid in /proc/%d/status)",
					  list->pids[i], list->pids[i]);
		if (fd < 0)
			return error__set(error, -errno, "-p %d: cannot watch the process: %s",
					  list->pids[i], strerror(errno));
		session->polled[session->nr_polled++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	return 0;
}

/* An event per CPU and a descriptor per process: a soft limit of 1024 is soon too small. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		/* If refused, opening the descriptor that is too many says so. */
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int session__open(struct session **out, const struct trace_options *options, struct error *error)
{
	CLEANUP(session__closep) struct session *session = calloc(1, sizeof(*session));
	int err;

	if (session)
		session->polled = calloc(POLL_PIDS + options->pids.nr, sizeof(*session->polled));
	if (!session || !session->polled)
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	session->options = options;
	session->polled[POLL_STOP].fd = -1;
	session->targets_fd = -1;
	/* No events asked for: POLLERR alone says that a pipe or socket has no reader. */
	session->polled[POLL_STDOUT].fd = STDOUT_FILENO;
	session->nr_polled = POLL_PIDS;
	bpf_error__capture();
	raise_descriptor_limit();
	err = open_pids(session, error);
	if (!err)
		err = catch_signals(session, error);
	if (err)
		return err;
	*out = TAKE_POINTER(session);
	return 0;
}

void session__close(struct session *session)
{
	if (!session)
		return;
	if (session->polled) {
		if (session->polled[POLL_STOP].fd >= 0) {
			sigaction(SIGINT, &session->old_int, NULL);
			sigaction(SIGTERM, &session->old_term, NULL);
			stop_fd = -1;
			close(session->polled[POLL_STOP].fd);
		}
		for (size_t i = POLL_PIDS; i < session->nr_polled; i++)
			close(session->polled[i].fd);
	}
	free(session->polled);
	free(session);
}

void session__closep(struct session **session)
{
	session__close(*session);
}

/*
 * The PID namespace to translate to; {0, 0} in the initial one, where the
 * kernel's own numbers are right and no translation is paid for.
 */
static int find_pid_namespace(struct trace_config *config, struct error *error)
{
	/* PROC_PID_INIT_INO of the kernel, part of its ABI since 3.8 (98f842e675f9) */
	const ino_t initial = 0xEFFFFFFC;
	char self[16] = "";
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || readlink("/proc/self", self, sizeof(self) - 1) < 0)
		return error__set(error, -errno, "cannot read /proc/self: %s; mount /proc",
				  strerror(errno));
	/* With the numbers of another namespace we would read other processes. */
	if (atoi(self) != getpid())
		return error__set(error, -EXDEV,
				  "/proc is that of another PID namespace; mount one of this "
				  "(unshare: --mount-proc)");
	if (st.st_ino != initial) {
		config->pidns_dev = st.st_dev;
		config->pidns_ino = st.st_ino;
	}
	return 0;
}

/* What one bpf_get_stack() can return: the sysctl's frames, or all that a stack has room for. */
static uint32_t read_max_frames(void)
{
	CLEANUP_FCLOSE FILE *file = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned int frames;

	/* Not there: then it cannot have been changed from the kernel's default. */
	if (!file || fscanf(file, "%u", &frames) != 1 || frames < 1)
		return MAX_FRAMES;
	return frames < STACK_SLOTS ? frames : STACK_SLOTS;
}

static int size_map(struct bpf_object *object, const char *name, uint64_t entries,
		    struct error *error)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	int err = map ? bpf_map__set_max_entries(map, (uint32_t)entries) : -ENOENT;

	if (err)
		return error__set(error, err, "cannot size the map %s: %s", name, strerror(-err));
	return 0;
}

int session__configure(struct session *session, struct bpf_object *object,
		       struct trace_config *config, struct error *error)
{
	const struct trace_options *options = session->options;
	int err;

	if (getrandom(config->hash_seed, sizeof(config->hash_seed), 0) != sizeof(config->hash_seed))
		return error__set(error, -errno, "cannot get random bytes: %s", strerror(errno));
	err = find_pid_namespace(config, error);
	if (err)
		return err;
	config->max_frames = read_max_frames();
	config->kernel_stacks = !options->user_stacks_only;
	config->user_stacks = !options->kernel_stacks_only;
	config->filter_tgid = options->pids.nr > 0;
	err = size_map(object, "stacks", options->stack_storage_size, error);
	if (!err)
		err = size_map(object, "counts", options->hash_storage_size, error);
	if (!err && options->pids.nr)
		err = size_map(object, "target_tgids", options->pids.nr, error);
	return err;
}

static int fill_targets(const struct pid_list *list, int fd, struct error *error)
{
	for (size_t i = 0; i < list->nr; i++) {
		uint32_t tgid = (uint32_t)list->pids[i];
		uint8_t present = 1;

		if (bpf_map_update_elem(fd, &tgid, &present, BPF_ANY))
			return error__set(error, -errno, "-p %u: cannot set the filter: %s", tgid,
					  strerror(errno));
	}
	return 0;
}

int session__load(struct session *session, struct bpf_object *object, struct error *error)
{
	int err = bpf_object__load(object);

	if (err)
		return bpf_error__load(error, err);
	session->targets_fd = bpf_object__find_map_fd_by_name(object, "target_tgids");
	return fill_targets(&session->options->pids, session->targets_fd, error);
}

bool session__stopping(const struct session *session)
{
	struct pollfd stop = session->polled[POLL_STOP];

	return poll(&stop, 1, 0) == 1;
}

static uint64_t monotonic_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

/*
 * The processes that have ended are no targets any more: their PIDs can become
 * other processes. True if none is left of some.
 */
static bool targets_gone(struct session *session)
{
	size_t alive = 0;

	for (size_t i = POLL_PIDS; i < session->nr_polled; i++) {
		struct pollfd *pid = &session->polled[i];

		if (pid->revents && pid->fd >= 0) {
			uint32_t tgid = (uint32_t)session->options->pids.pids[i - POLL_PIDS];

			/* Fails only for one that was named twice, and is deleted. */
			bpf_map_delete_elem(session->targets_fd, &tgid);
			close(pid->fd);
			pid->fd = -1;
		}
		alive += pid->fd >= 0;
	}
	return session->nr_polled > POLL_PIDS && alive == 0;
}

enum session_end session__wait(struct session *session, uint64_t timeout)
{
	uint64_t deadline = timeout ? monotonic_now() + timeout : 0;

	for (;;) {
		struct timespec left = {0};
		int ready;

		if (deadline) {
			uint64_t now = monotonic_now();
			uint64_t rest = now < deadline ? deadline - now : 0;

			left.tv_sec = (time_t)(rest / NANOSECONDS);
			left.tv_nsec = (long)(rest % NANOSECONDS);
		}
		ready = ppoll(session->polled, session->nr_polled, deadline ? &left : NULL, NULL);
		if (ready == 0)
			return SESSION_TIMEOUT;
		if (ready < 0)
			continue; /* EINTR: the handler has made the eventfd readable */
		if (session->polled[POLL_STOP].revents)
			return SESSION_SIGNALLED;
		if (session->polled[POLL_STDOUT].revents & (POLLERR | POLLNVAL))
			return SESSION_OUTPUT_CLOSED;
		/* A socket whose other side has shut down: it stays so, look no more. */
		if (session->polled[POLL_STDOUT].revents)
			session->polled[POLL_STDOUT].fd = -1;
		if (targets_gone(session))
			return SESSION_TARGETS_GONE;
	}
}
