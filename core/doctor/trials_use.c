// SPDX-License-Identifier: GPL-2.0-or-later
/* The applets as users run them: this program once more, for a moment. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/doctor/own_probe.h"
#include "core/doctor/trials.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/number.h"
#include "sym/util/text.h"

/* So long a trace is and, if it sees nothing, another one: the machine can be busy. */
static const char *const durations[] = {"0.2", "2"};

/* In nanoseconds: between two events; after so long a run is hopeless. */
#define PAUSE	 (5 * NANOSECONDS / 1000)
#define GIVEN_UP (60 * NANOSECONDS)

/* How one run of an applet has ended. */
struct run {
	int code;	  /* it could not be started: a negative errno */
	int status;	  /* as of waitpid(2) */
	bool given_up;	  /* it took too long, and was ended */
	bool any;	  /* it has shown an event */
	bool named;	  /* an event in it has a stack, and names for all of it */
	char reason[256]; /* the last that it said */
};

/* A child that ends with us, however we end. 0 in the child; its PID, or a negative errno. */
static pid_t start_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
	}
	return pid;
}

static void run_self(char *const *argv, int out, int err)
{
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
		execv("/proc/self/exe", argv);
	dprintf(err, "/proc/self/exe: %s\n", strerror(errno));
	_exit(127);
}

/* Events happen until the run has ended. */
static void wait_for_run(struct run *run, pid_t pid, void (*fire)(void))
{
	const struct timespec pause = {.tv_nsec = (long)PAUSE};
	uint64_t start = monotonic_now();

	while (waitpid(pid, &run->status, WNOHANG) == 0) {
		if (fire)
			fire();
		nanosleep(&pause, NULL);
		if (!run->given_up && monotonic_now() - start > GIVEN_UP) {
			run->given_up = true;
			kill(pid, SIGKILL);
		}
	}
}

/* "3" at the end of a line of folded stacks; NULL if it is none. */
static char *find_count(char *line)
{
	char *space = strrchr(line, ' ');
	size_t digits = space ? strspn(space + 1, "0123456789") : 0;

	return digits && (space[1 + digits] == '\n' || !space[1 + digits]) ? space : NULL;
}

/*
 * A line of the output: "function;function 3", with the name of the process in front or not. BPF
 * programs of other tracers have no names once these have ended, so not all lines have to be named.
 */
static void read_line(struct run *run, char *line)
{
	char *count = find_count(line);

	if (!count)
		return;
	*count = '\0';
	run->named |= strchr(line, ';') && !strstr(line, "[unknown]") && !strstr(line, ";0x");
	run->any = true;
}

/* What led to it; where it would lead back to us is left out. */
static void read_reason(struct run *run, const char *line)
{
	const char *behind_name = strstr(line, ": ");
	const char *text = behind_name ? behind_name + 2 : line;
	char *advice;

	text__clean(text, strcspn(text, "\n"), false, run->reason, sizeof(run->reason));
	advice = strstr(run->reason, "; see 'tracekit doctor'");
	if (advice)
		*advice = '\0';
}

static void read_output(struct run *run, int out, int err)
{
	CLEANUP_FCLOSE FILE *output = fdopen(dup(out), "r"), *errors = fdopen(dup(err), "r");
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;

	if (!output || !errors)
		return;
	rewind(output);
	rewind(errors);
	while (getline(&line, &size, output) >= 0)
		read_line(run, line);
	while (getline(&line, &size, errors) >= 0)
		read_reason(run, line);
}

static struct run run_applet(const char *const *argv, void (*fire)(void))
{
	CLEANUP_CLOSE int out = memfd_create("doctor", MFD_CLOEXEC);
	CLEANUP_CLOSE int err = memfd_create("doctor", MFD_CLOEXEC);
	struct run run = {.code = out < 0 || err < 0 ? -errno : 0};
	pid_t pid = run.code ? run.code : start_child();

	if (pid == 0)
		run_self((char *const *)(uintptr_t)argv, out, err);
	run.code = pid < 0 ? pid : 0;
	if (pid > 0) {
		wait_for_run(&run, pid, fire);
		read_output(&run, out, err);
	}
	return run;
}

/* Run it until it has seen something, for as long as *duration says, which is in argv. */
static struct run try_applet(const char *const *argv, const char **duration, void (*fire)(void))
{
	struct run run = {0};

	for (size_t i = 0; i < ARRAY_SIZE(durations); i++) {
		*duration = durations[i];
		run = run_applet(argv, fire);
		if (run.code || run.status || run.any)
			break;
	}
	return run;
}

static void judge(struct finding *finding, const struct run *run)
{
	if (run->code)
		finding__no(finding, "cannot run ourselves: %s", strerror(-run->code));
	else if (run->given_up)
		finding__no(finding, "it took longer than a minute");
	else if (WIFSIGNALED(run->status))
		finding__no(finding, "it was ended by signal %d (%s)", WTERMSIG(run->status),
			    strsignal(WTERMSIG(run->status)));
	else if (run->status || !run->any)
		finding__no(finding, "%s", run->reason[0] ? run->reason : "it has seen nothing");
	else
		finding__yes(finding);
}

/* ---- profile ---- */

/* So long a spinning process lives at most, in seconds. */
#define SPINNING 60

/* Busy in the kernel, too. */
static pid_t start_spinning(void)
{
	pid_t pid = start_child();

	if (pid == 0) {
		alarm(SPINNING);
		for (;;)
			syscall(SYS_getppid);
	}
	return pid;
}

/* option: of profile. */
static struct run sample(const char *option)
{
	pid_t pid = start_spinning();
	char text[16];
	const char *argv[] = {"profile", "-q", "-f", option, "-F", "999", "-p", text, NULL, NULL};
	struct run run = {.code = pid < 0 ? pid : 0};

	if (pid < 0)
		return run;
	snprintf(text, sizeof(text), "%d", pid);
	run = try_applet(argv, &argv[8], NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return run;
}

void use_samples(struct trials *trials, struct finding *finding)
{
	struct run run = sample("-d");

	(void)trials;
	judge(finding, &run);
}

/*
 * Where no event could be traced before, that it is run and ends well has to do. As root, since not
 * everybody may be able to run our file.
 */
void use_command(struct trials *trials, struct finding *finding)
{
	bool counts = trials->pattern && strncmp(trials->pattern, "u:", 2);
	/* clang-format off */
	const char *const sampled[] = {
		"profile", "-q", "-f", "-o", "-", "--as-root",
		"--", "/proc/self/exe", "--list", NULL};
	const char *const counted[] = {
		"stackcount", "-q", "-f", "-K", "-o", "-", "--as-root", trials->pattern,
		"--", "/proc/self/exe", "--list", NULL};
	/* clang-format on */
	struct run run = run_applet(counts ? counted : sampled, NULL);

	run.any |= !counts;
	judge(finding, &run);
}

/* ---- stackcount ---- */

static void count(struct trials *trials, struct finding *finding, const char *pattern,
		  const char *side, void (*fire)(void))
{
	const char *argv[] = {"stackcount", "-q", "-f", side, "-D", NULL, pattern, NULL};
	struct run run = try_applet(argv, &argv[5], fire);

	judge(finding, &run);
	if (finding->answer != ANSWER_YES)
		return;
	if (!trials->pattern)
		trials->pattern = strdup(pattern);
	if (!strcmp(side, "-K") && trials->names != ANSWER_YES)
		trials->names = run.named ? ANSWER_YES : ANSWER_NO;
}

void use_tracepoints(struct trials *trials, struct finding *finding)
{
	count(trials, finding, "t:sched:sched_process_exit", "-K", make_exit);
}

void use_kernel_functions(struct trials *trials, struct finding *finding)
{
	count(trials, finding, "do_exit", "-K", make_exit);
}

void use_user_code(struct trials *trials, struct finding *finding)
{
	count(trials, finding, "u:/proc/self/exe:" OWN_PROBE_NAME, "-U", own_probe__fire);
}

void use_waits(struct trials *trials, struct finding *finding)
{
	const char *argv[] = {"offcputime", "-q", "-f", "-K", NULL, NULL};
	struct run run = try_applet(argv, &argv[4], make_exit);

	(void)trials;
	judge(finding, &run);
}

void use_kernel_names(struct trials *trials, struct finding *finding)
{
	if (trials->names == ANSWER_UNTRIED) {
		struct run run = sample("-K");

		if (!run.code && !run.status && run.any)
			trials->names = run.named ? ANSWER_YES : ANSWER_NO;
	}
	if (trials->names == ANSWER_YES)
		finding__yes(finding);
	else if (trials->names == ANSWER_NO)
		finding__no(finding, "the stacks of a trial had none");
	else
		finding__untried(finding, "no kernel stack could be had");
}

/* ---- stacksnoop ---- */

static void make_event(void)
{
	make_exit();
	own_probe__fire();
}

void use_events(struct trials *trials, struct finding *finding)
{
	const char *argv[] = {"stacksnoop",    "-f", "-d", "-n", "1", "-D", "10",
			      trials->pattern, NULL};
	struct run run;

	if (!trials->pattern) {
		finding__no(finding, "nothing that it could trace works");
		return;
	}
	run = run_applet(argv, make_event);
	judge(finding, &run);
}
