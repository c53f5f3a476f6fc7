// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run/threads_now.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sym/child/proc_stat.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* Enough to say what most do; of a process with more threads the rest is not looked at. */
#define THREADS_MOST 4096

/* More places are not named. */
#define PLACES_NAMED 4

size_t threads_now__count(const struct threads_now *now)
{
	size_t count = 0;

	for (size_t i = 0; i < NR_THREAD_DOINGS; i++)
		count += now->nr[i];
	return count;
}

/* By the letters of proc(5). */
static enum thread_doing doing_of(char state)
{
	switch (state) {
	case 'R':
		return THREAD_RUNS;
	case 'T':
		return THREAD_IS_STOPPED;
	case 't':
		return THREAD_IS_TRACED;
	case 'Z':
	case 'X':
	case 'x':
		return THREAD_HAS_ENDED;
	default:
		return THREAD_WAITS;
	}
}

static void add_place(struct threads_now *now, const char *name)
{
	size_t i = 0;

	while (i < now->nr_places && strcmp(now->places[i].name, name) != 0)
		i++;
	if (i == PLACES_MAX)
		return;
	if (i == now->nr_places) {
		now->nr_places++;
		now->places[i].nr = 0;
		snprintf(now->places[i].name, sizeof(now->places[i].name), "%s", name);
	}
	now->places[i].nr++;
}

/* Read a word of a file of the thread; false: it has gone, or we may not know. */
static bool read_word(const char *folder, const char *file, const char *form, char name[64])
{
	CLEANUP_FCLOSE FILE *stream = NULL;
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return !proc_file__open(AT_FDCWD, path, &stream) && fscanf(stream, form, name) == 1;
}

/*
 * The function of the kernel in which it waits. Before Linux 5.16 many kernels do not know it as
 * wchan, which is "0" then, but as the innermost line of the stack: "[<0>] do_wait+0x1e8/0x300".
 */
static void note_place(struct threads_now *now, const char *folder)
{
	char name[sizeof(now->places[0].name)];

	if ((read_word(folder, "wchan", "%63s", name) && strcmp(name, "0") != 0) ||
	    read_word(folder, "stack", "[<%*[^>]>] %63[^+\n]", name))
		add_place(now, name);
}

static void look_at(struct threads_now *now, const char *folder)
{
	struct proc_stat stat;
	enum thread_doing doing;
	char path[96];

	snprintf(path, sizeof(path), "%s/stat", folder);
	if (proc_stat__read_at(AT_FDCWD, path, &stat))
		return;
	doing = doing_of(stat.state);
	now->nr[doing]++;
	if (doing == THREAD_WAITS)
		note_place(now, folder);
}

static void look_at_process(struct threads_now *now, pid_t pid)
{
	CLEANUP_CLOSEDIR DIR *tasks = NULL;
	char folder[64];
	pid_t tid;

	snprintf(folder, sizeof(folder), "/proc/%d/task", pid);
	tasks = opendir(folder);
	while (threads_now__count(now) < THREADS_MOST && (tid = proc_directory__next(tasks))) {
		snprintf(folder, sizeof(folder), "/proc/%d/task/%d", pid, tid);
		look_at(now, folder);
	}
}

static int compare_places(const void *left, const void *right)
{
	const struct waiting_place *a = left, *b = right;
	int order = COMPARE(b->nr, a->nr);

	return order ? order : strcmp(a->name, b->name);
}

void threads_now__look(struct threads_now *now, const struct pid_list *ids, bool are_threads)
{
	*now = (struct threads_now){0};
	for (size_t i = 0; i < ids->nr && threads_now__count(now) < THREADS_MOST; i++) {
		char folder[64];

		snprintf(folder, sizeof(folder), "/proc/%d", ids->pids[i]);
		if (are_threads)
			look_at(now, folder);
		else
			look_at_process(now, ids->pids[i]);
	}
	array__sort(now->places, now->nr_places, sizeof(now->places[0]), compare_places);
}

/* Where text goes, of which used bytes have been written. */
struct sentence {
	char *text;
	size_t size, used;
};

static __attribute__((format(printf, 2, 3))) void say(struct sentence *sentence, const char *format,
						      ...)
{
	size_t left = sentence->size - sentence->used;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(sentence->text + sentence->used, left, format, args);
	va_end(args);
	sentence->used += (size_t)length < left ? (size_t)length : left - 1;
}

/* ", in futex_do_wait (2), do_epoll_wait (1)": the numbers where they say something. */
static void say_places(struct sentence *sentence, const struct threads_now *now)
{
	for (size_t i = 0; i < now->nr_places && i < PLACES_NAMED; i++) {
		say(sentence, "%s %s", i ? "," : ", in", now->places[i].name);
		if (now->nr_places > 1)
			say(sentence, " (%zu)", now->places[i].nr);
	}
	if (now->nr_places > PLACES_NAMED)
		say(sentence, " and elsewhere");
}

void threads_now__write(const struct threads_now *now,
			const struct doing_words words[NR_THREAD_DOINGS], char *text, size_t size)
{
	struct sentence sentence = {.text = text, .size = size};

	text[0] = '\0';
	for (size_t i = 0; i < NR_THREAD_DOINGS; i++) {
		size_t nr = now->nr[i];

		if (!nr)
			continue;
		say(&sentence, "%s%zu thread%s %s", sentence.used ? "; " : "", nr,
		    nr == 1 ? "" : "s", nr == 1 ? words[i].one : words[i].many);
		if (i == THREAD_WAITS)
			say_places(&sentence, now);
	}
}
