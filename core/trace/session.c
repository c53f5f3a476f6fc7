// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/trace/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/kernel/bpf_error.h"
#include "core/kernel/cpus.h"
#include "core/kernel/own_processor.h"
#include "core/kernel/sysctl.h"
#include "core/kernel/verifier_log.h"
#include "core/options/trace_options.h"
#include "core/trace/cost.h"
#include "core/trace/filter.h"
#include "core/trace/follow.h"
#include "core/trace/maps.h"
#include "core/trace/own.h"
#include "core/trace/room.h"
#include "core/unwind/unwinding.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/number.h"
#include "sym/util/page.h"

struct session {
	const struct trace_options *options;
	struct sigaction old_int, old_term, old_quit;
	pid_t workload;	     /* or 0 */
	const char *program; /* the path of what the workload becomes; or NULL */
	bool lingers;	     /* the targets have gone, and we wait for their children */
	/*
	 * session__wait() polls the stop signal, stdout, the workload, the descriptors of
	 * session__watch(), then one for each process or thread.
	 */
	struct pollfd *polled;
	size_t nr_polled;
	void **pages; /* pages that watch_thread() mapped, for each target; or NULL */
	struct trace_maps maps;
	struct room room;
	struct follow follow;
	struct own own;
	const struct bpf_object *object; /* once it is loaded */
	int measuring;			 /* what it costs; or negative */
	struct unwinding *unwinding;	 /* NULL until it is configured */
};

enum {
	POLL_STOP,
	POLL_STDOUT,
	POLL_WORKLOAD,
	POLL_WATCHED,
	POLL_TARGETS = POLL_WATCHED + SESSION_WATCHED
};

/* For the handler, of the only session: readable once a signal has come, or -1; when it came. */
static volatile sig_atomic_t stop_fd = -1;
static uint64_t stopped_at;

/* The workload that signals are for in the first place; 0: none. */
static volatile sig_atomic_t passed_to;
static uint64_t passed_at;

/* timeout(1) and some shells signal a program, and then its process group: that is one request. */
#define SAME_REQUEST (NANOSECONDS / 10)

/* True if it is not for us. */
static bool pass_on(int signal_number, const siginfo_t *info, uint64_t now)
{
	pid_t pid = passed_to;

	if (!pid)
		return passed_at && now - passed_at < SAME_REQUEST;
	/* The terminal sends it to all of the process group. */
	if (info->si_code > 0)
		return true;
	passed_to = 0;
	passed_at = now;
	return kill(pid, signal_number) == 0;
}

/* Nobody tells of the end of a child of a child: they are looked for so often, in nanoseconds. */
#define LINGER (NANOSECONDS / 10)

/* The second signal kills. */
static void on_stop_signal(int signal_number, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	uint64_t one = 1, now = monotonic_now();

	(void)context;
	if (pass_on(signal_number, info, now)) {
		errno = saved_errno;
		return;
	}
	if (!stopped_at) {
		stopped_at = now;
		/* Fails only if the counter is full, and then it is readable already. */
		if (write(stop_fd, &one, sizeof(one)) < 0)
			errno = saved_errno;
	} else if (now - stopped_at >= SAME_REQUEST) {
		signal(signal_number, SIG_DFL);
		raise(signal_number); /* once the handler has returned */
	}
	errno = saved_errno;
}

static int catch_signals(struct session *session, struct error *error)
{
	struct sigaction action = {.sa_sigaction = on_stop_signal,
				   .sa_flags = SA_RESTART | SA_SIGINFO};
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return error__set(error, -errno, "cannot make an eventfd: %s", strerror(errno));
	sigaddset(&action.sa_mask, SIGINT);
	sigaddset(&action.sa_mask, SIGTERM);
	session->polled[POLL_STOP] = (struct pollfd){.fd = fd, .events = POLLIN};
	stop_fd = fd;
	stopped_at = 0;
	passed_to = 0;
	passed_at = 0;
	sigaction(SIGINT, &action, &session->old_int);
	sigaction(SIGTERM, &action, &session->old_term);
	return 0;
}

/* A descriptor that polls as readable when the process has ended, or a negative errno. */
static int watch_process(pid_t pid, char tids_letter, struct error *error)
{
	/* 5.3+. Refuses a thread that is not its process's first (EINVAL, ENOENT). */
	CLEANUP_CLOSE int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ended = {.fd = fd, .events = POLLIN};

	if (fd >= 0 && poll(&ended, 1, 0) == 1)
		return error__set(error, -ESRCH,
				  "-p %d: has ended, and only waits for its parent to notice (a "
				  "zombie)",
				  pid);
	if (fd >= 0)
		return TAKE_FD(fd);
	if (errno == ESRCH)
		return error__set(error, -errno,
				  "-p %d: no such process; give the PID of a running one", pid);
	if (errno == EINVAL || errno == ENOENT)
		return error__set(error, -errno,
				  "-p %d: is a thread, not a process; give the PID of its "
				  "process (Tgid in /proc/%d/status), or use -%c",
				  pid, pid, tids_letter);
	return error__set(error, -errno, "-p %d: cannot watch the process: %s", pid,
			  strerror(errno));
}

/*
 * The same for a thread. Only 6.9 brought pidfds of threads; any perf event of a thread hangs up
 * when the thread ends (3.18, 179033b3e064), and this one counts nothing. To hang up, it needs a
 * buffer; one page will do.
 */
static int watch_thread(pid_t tid, char letter, void **page, struct error *error)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	CLEANUP_CLOSE int fd =
		(int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *mapped;

	if (fd < 0 && errno == ESRCH)
		return error__set(error, -errno,
				  "-%c %d: no such thread; give the TID of a running one", letter,
				  tid);
	mapped = fd < 0 ? MAP_FAILED : page_map(fd, page_size(), PROT_READ | PROT_WRITE, 0);
	if (mapped == MAP_FAILED && fd >= 0 && errno == EPERM)
		return error__set(error, -errno,
				  "-%c %d: cannot watch the thread: its page is more than "
				  "RLIMIT_MEMLOCK and kernel.perf_event_mlock_kb allow; raise "
				  "'ulimit -l', or run as root",
				  letter, tid);
	if (mapped == MAP_FAILED)
		return error__set(error, -errno, "-%c %d: cannot watch the thread: %s%s", letter,
				  tid, strerror(errno),
				  errno == EACCES || errno == EPERM ? "; run as root" : "");
	*page = mapped;
	return TAKE_FD(fd);
}

static void end_watch(struct session *session, size_t target)
{
	struct pollfd *polled = &session->polled[POLL_TARGETS + target];

	if (polled->fd >= 0)
		close(polled->fd);
	if (session->pages[target])
		munmap(session->pages[target], page_size());
	polled->fd = -1;
	session->pages[target] = NULL;
}

static int watch_targets(struct session *session, struct error *error)
{
	const struct trace_options *options = session->options;
	const struct pid_list *ids = trace_options__ids(options);

	for (size_t i = 0; i < ids->nr; i++) {
		char letter = options->tids_letter;
		int fd = options->tids.nr ?
				 watch_thread(ids->pids[i], letter, &session->pages[i], error) :
				 watch_process(ids->pids[i], letter, error);

		if (fd < 0)
			return fd;
		session->polled[session->nr_polled++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	return 0;
}

/*
 * So many the maps, programs and pipes of any trace take. With less, not all that fails says why:
 * libbpf then takes features of the kernel for missing.
 */
#define DESCRIPTORS_MIN 64

/* An event per CPU and a descriptor per process: a soft limit of 1024 is soon too small. */
static int raise_descriptor_limit(struct error *error)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		/* If refused, opening the descriptor that is too many says so. */
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_max >= DESCRIPTORS_MIN ?
		       0 :
		       error__set(error, -EMFILE, "cannot trace with fewer than %d open files",
				  DESCRIPTORS_MIN);
}

int session__open(struct session **out, const struct trace_options *options, struct error *error)
{
	CLEANUP(session__closep) struct session *session = calloc(1, sizeof(*session));
	size_t nr = trace_options__ids(options)->nr;
	int err;

	if (session) {
		session->pages = calloc(nr + 1, sizeof(*session->pages));
		session->polled = calloc(POLL_TARGETS + nr, sizeof(*session->polled));
	}
	if (!session || !session->pages || !session->polled)
		return error__set(error, -ENOMEM, "cannot start: out of memory");
	session->options = options;
	session->measuring = -1;
	session->polled[POLL_STOP].fd = -1;
	/* No events asked for: POLLERR alone says that a pipe or socket has no reader. */
	session->polled[POLL_STDOUT].fd = STDOUT_FILENO;
	session->polled[POLL_WORKLOAD].fd = -1;
	for (size_t i = 0; i < SESSION_WATCHED; i++)
		session->polled[POLL_WATCHED + i].fd = -1;
	session->nr_polled = POLL_TARGETS;
	bpf_error__capture();
	err = raise_descriptor_limit(error);
	if (!err)
		err = watch_targets(session, error);
	if (!err)
		err = catch_signals(session, error);
	if (err)
		return err;
	*out = TAKE_POINTER(session);
	return 0;
}

int session__set_workload(struct session *session, pid_t pid, const char *program,
			  struct error *error)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return error__set(error, -errno, "cannot watch the command: %s", strerror(errno));
	session->workload = pid;
	session->program = program;
	session->polled[POLL_WORKLOAD] = (struct pollfd){.fd = fd, .events = POLLIN};
	return 0;
}

void session__pass_signals(struct session *session)
{
	struct sigaction action;

	sigaction(SIGINT, NULL, &action);
	sigaction(SIGQUIT, &action, &session->old_quit);
	passed_to = session->workload;
}

void session__await_tables(const struct session *session)
{
	unwinding__await(session->unwinding, session->polled[POLL_STOP].fd);
}

void session__workload_runs(struct session *session)
{
	follow__workload(&session->follow);
}

void session__workload_ended(struct session *session)
{
	if (session->workload)
		passed_to = 0;
}

void session__close(struct session *session)
{
	if (!session)
		return;
	if (session->nr_polled) {
		if (session->polled[POLL_STOP].fd >= 0) {
			sigaction(SIGINT, &session->old_int, NULL);
			sigaction(SIGTERM, &session->old_term, NULL);
			if (session->workload)
				sigaction(SIGQUIT, &session->old_quit, NULL);
			stop_fd = -1;
			close(session->polled[POLL_STOP].fd);
		}
		if (session->polled[POLL_WORKLOAD].fd >= 0)
			close(session->polled[POLL_WORKLOAD].fd);
		for (size_t i = POLL_TARGETS; i < session->nr_polled; i++)
			end_watch(session, i - POLL_TARGETS);
	}
	unwinding__free(session->unwinding);
	if (session->measuring >= 0)
		close(session->measuring);
	own__release(&session->own);
	follow__release(&session->follow);
	free(session->polled);
	free(session->pages);
	free(session);
}

void session__closep(struct session **session)
{
	session__close(*session);
}

/* The most frames of one bpf_get_stack(): the sysctl's, or all that a stack has room for. */
static uint32_t read_max_frames(void)
{
	long frames;

	/* If the file is not there, nobody can have changed the kernel's default. */
	if (!sysctl__read("kernel/perf_event_max_stack", &frames) || frames < 1)
		return SYSCTL_MAX_STACK;
	return frames < KERNEL_SLOTS ? (uint32_t)frames : KERNEL_SLOTS;
}

int session__configure(struct session *session, struct bpf_object *object,
		       struct trace_config *config, struct error *error)
{
	const struct trace_options *options = session->options;
	int err = trace_maps__find(&session->maps, object);
	/* The events of an epoch come while those of the one before are still in the tables. */
	uint32_t epochs = options->interval || (!err && session->maps.events) ? NR_EPOCHS : 1;

	int cpus = cpus__count_possible();

	if (err)
		return error__set(error, err, "cannot find the maps of the BPF programs");
	if (cpus < 0)
		return error__set(error, cpus, "cannot count the CPUs: %s", strerror(-cpus));
	if (getrandom(config->hash_seed, sizeof(config->hash_seed), 0) != sizeof(config->hash_seed))
		return error__set(error, -errno, "cannot get random bytes: %s", strerror(errno));
	config->max_frames = read_max_frames();
	config->max_depth = (uint32_t)options->max_depth;
	config->max_user_depth = options->unwind == UNWIND_OFF ? 1 : config->max_depth;
	config->cpu = ALL_CPUS;
	config->address_bits = own_processor__address_bits();
	config->cpus = (uint32_t)cpus;
	config->workload = (uint32_t)session->workload;
	config->key_by_process = true;
	config->kernel_stacks = !options->user_stacks_only;
	config->user_stacks = !options->kernel_stacks_only;
	session->room = room__find(options, room__available());
	/* Cannot fail before the load. */
	bpf_map__set_max_entries(session->maps.scratch_slots, config->cpus * SCRATCH_SLOTS_OWN);
	bpf_map__set_max_entries(session->maps.stacks, session->room.stacks * epochs);
	if (session->maps.counts)
		bpf_map__set_max_entries(session->maps.counts, session->room.keys * epochs);
	err = filter__configure(options, &session->maps, config, error);
	/* waits__configure() has it created. */
	if (!err && session->maps.off_threads)
		err = trace_map__create_if(session->maps.off_threads, false, error);
	if (!err)
		err = follow__configure(&session->follow, options, &session->maps, object, config,
					error);
	if (!err)
		err = own__configure(&session->own, options, &session->maps, object, config, error);
	return err ? err :
		     unwinding__configure(&session->unwinding, options, &session->room.unwind,
					  object, config, error);
}

int session__load(struct session *session, struct bpf_object *object, FILE *verifier_log,
		  struct error *error)
{
	CLEANUP(verifier_log__freep) struct verifier_log *log = NULL;
	int err = verifier_log ? verifier_log__new(&log, object, error) : 0;

	if (err)
		return err;
	err = bpf_object__load(object);
	if (log)
		verifier_log__print(log, verifier_log);
	session->object = object;
	if (session->options->stats)
		session->measuring = cost__measure();
	if (err)
		return filter__explains(&session->maps, err, error) ? err :
								      bpf_error__load(error, err);
	err = filter__fill(session->options, &session->maps, error);
	if (!err)
		err = follow__start(&session->follow, &session->options->pids, error);
	if (!err)
		err = own__start(&session->own, error);
	if (!err)
		err = unwinding__start(session->unwinding, session->program,
				       session->polled[POLL_STOP].fd, error);
	return err;
}

struct unwinding *session__unwinding(const struct session *session)
{
	return session->unwinding;
}

const struct room *session__room(const struct session *session)
{
	return &session->room;
}

const struct trace_options *session__options(const struct session *session)
{
	return session->options;
}

const struct trace_maps *session__maps(const struct session *session)
{
	return &session->maps;
}

void session__cost(const struct session *session, struct cost *cost)
{
	cost__read(cost, session->object, session->workload);
}

bool session__stopping(const struct session *session)
{
	struct pollfd stop = session->polled[POLL_STOP];

	return poll(&stop, 1, 0) == 1;
}

/*
 * Remove targets that have ended: their IDs can become IDs of other processes or threads. True if
 * there were targets, and none is left.
 */
static bool targets_gone(struct session *session)
{
	const struct pid_list *ids = trace_options__ids(session->options);
	size_t alive = 0;

	for (size_t i = POLL_TARGETS; i < session->nr_polled; i++) {
		struct pollfd *target = &session->polled[i];

		if (target->revents && target->fd >= 0) {
			uint32_t id = (uint32_t)ids->pids[i - POLL_TARGETS];

			/*
			 * Fails only where there is no such map: the trace ends with the only
			 * process, or PIDs are right by their births.
			 */
			bpf_map_delete_elem(bpf_map__fd(session->maps.targets), &id);
			end_watch(session, i - POLL_TARGETS);
		}
		alive += target->fd >= 0;
	}
	return session->nr_polled > POLL_TARGETS && alive == 0;
}

/* The same for the workload, and for whom options ask to linger. */
static bool all_gone(struct session *session)
{
	struct pollfd *workload = &session->polled[POLL_WORKLOAD];

	if (!session->lingers) {
		if (!(workload->fd >= 0 && workload->revents) && !targets_gone(session))
			return false;
		session->lingers = session->options->linger;
		passed_to = 0;
		if (workload->fd >= 0)
			close(workload->fd);
		workload->fd = -1;
	}
	return !session->lingers || !follow__anyone(&session->follow);
}

void session__watch(struct session *session, const struct pollfd watched[SESSION_WATCHED])
{
	memcpy(&session->polled[POLL_WATCHED], watched, SESSION_WATCHED * sizeof(*watched));
}

static bool is_ready(const struct session *session)
{
	for (size_t i = 0; i < SESSION_WATCHED; i++)
		if (session->polled[POLL_WATCHED + i].fd >= 0 &&
		    session->polled[POLL_WATCHED + i].revents)
			return true;
	return false;
}

void session__ignore_stdout(struct session *session)
{
	session->polled[POLL_STDOUT].fd = -1;
}

enum session_end session__wait(struct session *session, uint64_t timeout)
{
	uint64_t start = monotonic_now();
	uint64_t deadline = timeout && timeout < UINT64_MAX - start ? start + timeout : UINT64_MAX;

	for (;;) {
		uint64_t now = monotonic_now(), rest = now < deadline ? deadline - now : 0;
		uint64_t wait = session->lingers && rest > LINGER ? LINGER : rest;
		struct timespec left = {(time_t)(wait / NANOSECONDS), (long)(wait % NANOSECONDS)};
		int ready = ppoll(session->polled, session->nr_polled,
				  wait <= INT64_MAX ? &left : NULL, NULL);

		if (ready == 0 && wait == rest)
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
		if (all_gone(session))
			return SESSION_TARGETS_GONE;
		if (is_ready(session))
			return SESSION_READY;
	}
}
