// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time from an event to its line: line_delay MARK EVENTS. It waits for a line on file
 * descriptor 3, and then makes EVENTS system calls, a tenth of a second apart. Meanwhile,
 * and for two more seconds, it reads a tool's output from stdin: each line that contains
 * MARK belongs to the next event. It copies all input to stderr.
 *
 * For each event whose line has come it prints the nanoseconds (CLOCK_MONOTONIC) in between.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 1000
#define SECOND	   1000000000ULL
#define INTERVAL   (SECOND / 10)
#define PATIENCE   (2 * SECOND)

static const char *mark;
static char line[1024];
static size_t length;

static uint64_t event_times[EVENTS_MAX], line_times[EVENTS_MAX];
static size_t nr_events, nr_lines;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static bool is_marked(void)
{
	line[length] = '\0';
	return strstr(line, mark) != NULL;
}

static void take(const char *text, size_t size, uint64_t time)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] != '\n') {
			if (length < sizeof(line) - 1)
				line[length++] = text[i];
			continue;
		}
		if (is_marked() && nr_lines < nr_events)
			line_times[nr_lines++] = time;
		length = 0;
	}
}

/* Take all that comes until then; with go, only until there is a line on fd 3. */
static bool read_until(uint64_t until, bool go)
{
	struct pollfd polled[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = go ? 3 : -1, .events = POLLIN},
	};
	static char text[65536];
	uint64_t time;

	while ((time = now()) < until && !polled[1].revents) {
		struct timespec left = {
			.tv_sec = (time_t)((until - time) / SECOND),
			.tv_nsec = (long)((until - time) % SECOND),
		};
		ssize_t size;

		if (ppoll(polled, 2, &left, NULL) <= 0 || !polled[0].revents)
			continue;
		size = read(STDIN_FILENO, text, sizeof(text));
		if (size <= 0)
			return false;
		take(text, (size_t)size, now());
		if (write(STDERR_FILENO, text, (size_t)size) != size)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	size_t wanted = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	uint64_t start;

	if (wanted == 0 || wanted > EVENTS_MAX) {
		fprintf(stderr, "usage: line_delay MARK EVENTS\n");
		return 2;
	}
	mark = argv[1];
	if (!read_until(UINT64_MAX, true))
		return 1;
	start = now();
	while (nr_events < wanted) {
		event_times[nr_events++] = now();
		syscall(SYS_getppid);
		if (!read_until(start + nr_events * INTERVAL, false))
			return 1;
	}
	if (!read_until(now() + PATIENCE, false))
		return 1;
	for (size_t i = 0; i < nr_lines; i++)
		printf("%llu\n", (unsigned long long)(line_times[i] - event_times[i]));
	return 0;
}
