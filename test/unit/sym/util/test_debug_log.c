// SPDX-License-Identifier: GPL-2.0-or-later
/* stderr is a pipe here, whose other end tells what was said. */
#include "sym/util/debug_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sym/util/descriptors.h"
#include "sym/util/error.h"
#include "test/unit/tap.h"

static int said;

/* What was said since the last time, as text that is valid until the next time. */
static const char *heard(void)
{
	static char text[4096];
	ssize_t got = read(said, text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = '\0';
	return text;
}

static int begin(const char *words)
{
	static struct error error;
	int err;

	debug_log__end();
	setenv("TRACEKIT_DEBUG", words, 1);
	err = debug_log__begin(&error);
	if (err)
		fprintf(stderr, "%s", error.text);
	return err;
}

static void words(void)
{
	CHECK_INT(begin(""), 0);
	CHECK_INT(debug_log_topics, 0);
	CHECK_INT(debug_log__fd(), -1);
	CHECK_INT(begin("files"), 0);
	CHECK_INT(debug_log_topics, DEBUG_LOG_FILES);
	CHECK_INT(begin("tables,names,walk"), 0);
	CHECK_INT(debug_log_topics, DEBUG_LOG_TABLES | DEBUG_LOG_NAMES | DEBUG_LOG_WALK);
	debug_log__end();
	unsetenv("TRACEKIT_DEBUG");
	CHECK_INT(debug_log__begin(&(struct error){0}), 0);
	CHECK_INT(debug_log_topics, 0);
}

static void wrong_words(void)
{
	static const char *const wrong[] = {"file",	   "filess", "files,",
					    "files,,walk", ",",	     "FILES"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CHECK_INT(begin(wrong[i]), strcmp(wrong[i], "files,") ? -EINVAL : 0);
		CHECK_INT(debug_log_topics, strcmp(wrong[i], "files,") ? 0 : DEBUG_LOG_FILES);
		(void)heard();
	}
	CHECK_INT(begin("walk,all"), -EINVAL);
	CHECK_STR(heard(), "TRACEKIT_DEBUG: 'all' is none of files, names, walk, tables");
}

static int evaluated;

static int evaluate(void)
{
	return ++evaluated;
}

static void only_what_is_wanted(void)
{
	char expected[64];

	begin("names");
	debug_log__say(DEBUG_LOG_FILES, "%d", evaluate());
	CHECK_INT(evaluated, 0);
	CHECK_STR(heard(), "");
	debug_log__say(DEBUG_LOG_NAMES, "%d", evaluate());
	snprintf(expected, sizeof(expected), "[%d tracer] names: 1\n", getpid());
	CHECK_STR(heard(), expected);
}

static void printable(void)
{
	char text[3000], expected[64];
	const char *line;

	begin("files");
	debug_log__set_role("reader");
	debug_log__say(DEBUG_LOG_FILES, "opens %s", "/tmp/\033[31m\n\xff\xe2\x80\xae.so");
	snprintf(expected, sizeof(expected), "[%d reader] files: opens /tmp/?[31m???.so\n",
		 getpid());
	CHECK_STR(heard(), expected);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	debug_log__say(DEBUG_LOG_FILES, "%s", text);
	line = heard();
	CHECK_INT(strlen(line), 2048);
	CHECK(strchr(line, '\n') == line + 2047);
}

/* A child that has closed all but one descriptor. 0: it could do all that it should. */
static int child(void)
{
	const int kept[] = {said};

	if (descriptors__keep(kept, 1) || debug_log__fd() < 64)
		return 1;
	debug_log__say(DEBUG_LOG_WALK, "before");
	if (fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0)
		return 2;
	debug_log__end();
	debug_log__say(DEBUG_LOG_WALK, "behind");
	return debug_log__fd() != -1 || fcntl(64, F_GETFD) >= 0 ? 3 : 0;
}

static void outlives_the_closing_of_others(void)
{
	pid_t pid;
	int status;

	begin("walk");
	pid = fork();
	if (pid == 0)
		_exit(child());
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
	CHECK(strstr(heard(), "] walk: before\n") != NULL);
	CHECK_STR(heard(), "");
}

int main(void)
{
	static const struct tap_test tests[] = {
		{"words, and none", words},
		{"unknown words", wrong_words},
		{"nothing is said, nor looked at, but what is wanted", only_what_is_wanted},
		{"a line is one line that a terminal can show", printable},
		{"a child that closes what it has keeps it until the end",
		 outlives_the_closing_of_others},
	};
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) || fcntl(fds[0], F_SETFL, O_NONBLOCK) || dup2(fds[1], 2) < 0)
		return 1;
	said = fds[0];
	return TAP_RUN(tests);
}
