// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/util/debug_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sym/util/array.h"
#include "sym/util/error.h"
#include "sym/util/text.h"

#define VARIABLE "TRACEKIT_DEBUG"
#define WORDS	 "files, names, walk, tables"

/* Children number what they keep from 0 on: this is out of their way. */
#define FIRST_FD 64

unsigned int debug_log_topics;
static const char *role = "tracer";
static int log_fd = -1;

static const struct {
	const char *word;
	enum debug_log_topic topic;
} words[] = {
	{"files", DEBUG_LOG_FILES},
	{"names", DEBUG_LOG_NAMES},
	{"walk", DEBUG_LOG_WALK},
	{"tables", DEBUG_LOG_TABLES},
};

/* 0: there is no such word. */
static unsigned int topic_of(const char *text, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].word) == length && !memcmp(words[i].word, text, length))
			return words[i].topic;
	return 0;
}

static const char *word_of(enum debug_log_topic topic)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].topic == topic)
			return words[i].word;
	return "?";
}

static int read_words(const char *list, unsigned int *topics, struct error *error)
{
	for (const char *word = list; *word; word += *word == ',') {
		size_t length = strcspn(word, ",");
		unsigned int topic = topic_of(word, length);

		if (!topic)
			return error__set(error, -EINVAL, VARIABLE ": '%.*s' is none of " WORDS,
					  length < 80 ? (int)length : 80, word);
		*topics |= topic;
		word += length;
	}
	return 0;
}

int debug_log__begin(struct error *error)
{
	const char *list = secure_getenv(VARIABLE);
	unsigned int topics = 0;
	int err = list ? read_words(list, &topics, error) : 0;

	if (err || !topics)
		return err;
	log_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FIRST_FD);
	if (log_fd < 0)
		return error__set(error, -errno, VARIABLE ": no descriptor for it: %s",
				  strerror(errno));
	debug_log_topics = topics;
	return 0;
}

void debug_log__set_role(const char *name)
{
	role = name;
}

int debug_log__fd(void)
{
	return log_fd;
}

void debug_log__end(void)
{
	debug_log_topics = 0;
	if (log_fd >= 0)
		close(log_fd);
	log_fd = -1;
}

void debug_log__print(enum debug_log_topic topic, const char *format, ...)
{
	char text[2048], line[sizeof(text) + 1];
	int begin = snprintf(text, sizeof(text), "[%d %s] %s: ", getpid(), role, word_of(topic));
	size_t length;
	va_list args;

	va_start(args, format);
	vsnprintf(text + begin, sizeof(text) - (size_t)begin, format, args);
	va_end(args);
	length = text__clean(text, strlen(text), false, line, sizeof(text));
	line[length++] = '\n';
	/* One write, so that lines of several processes do not mix. Nobody can be told of a
	 * failure. */
	(void)!write(log_fd, line, length);
}
