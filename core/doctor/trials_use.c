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
#define GIVEN_UP (120 * NANOSECONDS)

/* How one run of an applet has ended. */
struct run {
	int code;	  /* it could not be started: a negative errno */
	int status;	  /* as of waitpid(2) */
	bool any;	  /* it has shown an event */
	bool named;	  /* each event in it has the name of a kernel function */
	char reason[256]; /* the last that it said */
};

static void run_self(char *const *argv, int out, int err)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
		execv("/proc/self/exe", argv);
	_exit(127);
}

/* Events happen until the run has ended. */
static int wait_for_run(pid_t pid, void (*fire)(void))
{
	const struct timespec pause = {.tv_nsec = (long)PAUSE};
	uint64_t start = monotonic_now();
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (fire)
			fire();
		nanosleep(&pause, NULL);
		if (monotonic_now() - start > GIVEN_UP)
			kill(pid, SIGKILL);
	}
	return status;
}

/* A line of the output: "process;function;function 3". */
static void read_line(struct run *run, char *line)
{
	char *count = strrchr(line, ' ');

	if (!count || count == line)
		return;
	*count = '\0';
	run->named &= !strstr(line, "[unknown]") && !strstr(line, ";0x") && strchr(line, ';');
	run->any = true;
}

/* Where it would lead back to us. */
static void cut_advice(char *reason)
{
	char *advice = strstr(reason, "; see 'tracekit doctor'");

	if (advice)
		*advice = '\0';
}

static void read_output(struct run *run, int out, int err)
{
	CLEANUP_FCLOSE FILE *output = fdopen(out, "r"), *errors = fdopen(err, "r");
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;

	if (!output || !errors)
		return;
	rewind(output);
	rewind(errors);
	run->named = true;
	while (getline(&line, &size, output) >= 0)
		read_line(run, line);
	run->named &= run->any;
	while (getline(&line, &size, errors) >= 0) {
		const char *behind_name = strstr(line, ": ");
		const char *text = behind_name ? behind_name + 2 : line;

		text__clean(text, strcspn(text, "\n"), false, run->reason, sizeof(run->reason));
		cut_advice(run->reason);
	}
}

static struct run run_applet(const char *const *argv, void (*fire)(void))
{
	int out = memfd_create("doctor", MFD_CLOEXEC), err = memfd_create("doctor", MFD_CLOEXEC);
	struct run run = {.code = -errno};
	pid_t pid = out < 0 || err < 0 ? -1 : fork();

	if (pid == 0)
		run_self((char *const *)(uintptr_t)argv, out, err);
	if (pid > 0) {
		run.code = 0;
		run.status = wait_for_run(pid, fire);
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
	else if (run->status || !run->any)
		finding__no(finding, "%s", run->reason[0] ? run->reason : "it has seen nothing");
	else
		finding__yes(finding);
}

/* ---- profile ---- */

static pid_t start_spinning(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned int turns = 0;; turns++)
			;
	}
	return pid;
}

void use_samples(struct trials *trials, struct finding *finding)
{
	pid_t pid = start_spinning();
	char text[16];
	const char *argv[] = {"profile", "-q", "-f", "-F", "999", "-p", text, NULL, NULL};
	struct run run;

	(void)trials;
	if (pid < 0) {
		finding__no(finding, "cannot start a process: %s", strerror(errno));
		return;
	}
	snprintf(text, sizeof(text), "%d", pid);
	run = try_applet(argv, &argv[7], NULL);
	judge(finding, &run);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void use_command(struct trials *trials, struct finding *finding)
{
	static const char *const argv[] = {
		"profile", "-q", "-f", "-o", "/dev/null", "--", "/proc/self/exe", "--list", NULL};
	struct run run = run_applet(argv, NULL);

	(void)trials;
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

void use_kernel_names(struct trials *trials, struct finding *finding)
{
	if (trials->names == ANSWER_YES)
		finding__yes(finding);
	else if (trials->names == ANSWER_NO)
		finding__no(finding, "the stacks of a trial had none");
	else
		finding__untried(finding, "no event with a kernel stack could be traced");
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
