// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/semaphores.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "core/kernel/mapping_events.h"
#include "core/probe/attachment.h"
#include "core/probe/targets.h"
#include "sym/process/file_words.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/* The end of a trace waits so long for a process whose mappings cannot be read. */
#define STOP_SECONDS 1

/* A file of the targets that has such semaphores. */
struct watched_file {
	uint32_t number; /* in the list of targets */
	bool one_by_one; /* only for the processes that it was found for */
	struct mapped_as as;
	struct file_word *words;
	size_t nr, capacity;
};

struct semaphores {
	const struct target_list *targets;
	struct mapping_events events;
	struct watched_file *files;
	size_t nr, capacity;
	int stop_fd;
	pthread_t thread;
	bool runs;
	pid_t gone; /* the last that had ended */
	struct semaphores_missed missed;
};

static bool is_shifted(const struct target *target)
{
	return target->semaphore_shift && !target->misread;
}

/* Targets come file by file. */
static int find_files(struct semaphores *semaphores)
{
	const struct target_list *list = semaphores->targets;
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++) {
		const struct target *target = &list->targets[i];
		struct watched_file *file;

		if (!is_shifted(target) ||
		    (semaphores->nr &&
		     semaphores->files[semaphores->nr - 1].number == target->file))
			continue;
		if (ARRAY_GROW(semaphores->files, semaphores->nr, semaphores->capacity))
			return -ENOMEM;
		file = &semaphores->files[semaphores->nr++];
		*file = (struct watched_file){.number = target->file};
		err = mapped_as__find(&file->as, list->files[target->file].fd);
	}
	return err;
}

/* By file, semaphore and place: two probes at one place are one to the kernel. */
static int compare_places(const void *left, const void *right)
{
	const struct target *a = *(const struct target *const *)left;
	const struct target *b = *(const struct target *const *)right;
	int order = COMPARE(a->file, b->file);

	if (!order)
		order = COMPARE(a->semaphore, b->semaphore);
	return order ? order : COMPARE(a->address, b->address);
}

/*
 * What the kernel will count the semaphore of a place down by: one for each breakpoint. Up it
 * counts by one for all of them in a process that begins. Returns 0 or -ENOMEM.
 */
static int count_place(struct watched_file *file, const struct target *target)
{
	struct file_word *word;

	if (!file->nr || file->words[file->nr - 1].offset != target->semaphore) {
		if (ARRAY_GROW(file->words, file->nr, file->capacity))
			return -ENOMEM;
		file->words[file->nr++] = (struct file_word){.offset = target->semaphore,
							     .distance = target->semaphore_shift};
	}
	word = &file->words[file->nr - 1];
	if (word->value + target->breakpoints <= UINT16_MAX)
		word->value = (uint16_t)(word->value + target->breakpoints);
	return 0;
}

static int count_places(struct semaphores *semaphores, const struct attachment *attachment)
{
	const struct target_list *list = semaphores->targets;
	CLEANUP_FREE const struct target **places = calloc(list->nr, sizeof(*places));
	struct watched_file *file = semaphores->files;
	size_t nr = 0;
	int err = 0;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++)
		if (is_shifted(&list->targets[i]) && !attachment->failed[i])
			places[nr++] = &list->targets[i];
	array__sort(places, nr, sizeof(*places), compare_places);
	for (size_t i = 0; i < nr && !err; i++) {
		if (i && !compare_places(&places[i - 1], &places[i]))
			continue;
		while (file->number != places[i]->file)
			file++;
		err = count_place(file, places[i]);
	}
	return err;
}

/* ---- the thread ---- */

static bool is_attached(const struct semaphores *semaphores, const struct watched_file *file,
			pid_t pid)
{
	const struct target_file *target = &semaphores->targets->files[file->number];

	for (size_t i = 0; i < target->nr_pids; i++)
		if (target->pids[i] == pid)
			return true;
	return !file->one_by_one;
}

static bool is_of(const struct watched_file *file, const struct mapping_event *event)
{
	if (!event->pid || event->inode != file->as.inode || event->device != file->as.device)
		return false;
	for (size_t i = 0; i < file->nr; i++)
		if (file->words[i].offset >= event->offset &&
		    file->words[i].offset - event->offset < event->size)
			return true;
	return false;
}

static void note(struct semaphores *semaphores, pid_t pid, int err)
{
	if (err == -ESRCH)
		semaphores->missed.gone += semaphores->gone != pid;
	else if (err)
		semaphores->missed.err = err;
	semaphores->gone = err == -ESRCH ? pid : 0;
}

static void take(struct semaphores *semaphores, const struct mapping_event *event)
{
	for (size_t i = 0; i < semaphores->nr; i++) {
		const struct watched_file *file = &semaphores->files[i];

		if (is_of(file, event) && is_attached(semaphores, file, event->pid))
			note(semaphores, event->pid,
			     file_words__raise(event->pid, &file->as, file->words, file->nr));
	}
}

static void *run(void *argument)
{
	struct semaphores *semaphores = argument;
	struct mapping_event event;
	bool stops;

	do {
		stops = !mapping_events__wait(&semaphores->events, semaphores->stop_fd);
		while (mapping_events__take(&semaphores->events, &event))
			take(semaphores, &event);
	} while (!stops);
	return NULL;
}

/* ---- the others ---- */

int semaphores__open(struct semaphores **out, const struct target_list *targets)
{
	struct semaphores *semaphores = calloc(1, sizeof(*semaphores));
	int err = semaphores ? 0 : -ENOMEM;

	if (err)
		return err;
	semaphores->targets = targets;
	semaphores->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (semaphores->stop_fd < 0)
		err = -errno;
	if (!err)
		err = find_files(semaphores);
	if (!err && semaphores->nr)
		err = mapping_events__open(&semaphores->events);
	if (err || !semaphores->nr)
		semaphores__free(semaphores);
	else
		*out = semaphores;
	return err;
}

int semaphores__start(struct semaphores *semaphores, const struct attachment *attachment)
{
	sigset_t all, old;
	int err = count_places(semaphores, attachment);

	if (err)
		return err;
	for (size_t i = 0; i < semaphores->nr; i++) {
		struct watched_file *file = &semaphores->files[i];

		file->one_by_one = attachment__one_by_one(
			attachment, &semaphores->targets->files[file->number]);
	}
	/* Handlers of signals run in the caller, as ever. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&semaphores->thread, NULL, run, semaphores);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	semaphores->runs = !err;
	return err;
}

void semaphores__stop(struct semaphores *semaphores)
{
	struct timespec until;
	uint64_t one = 1;

	if (!semaphores || !semaphores->runs)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_SECONDS;
	if (write(semaphores->stop_fd, &one, sizeof(one)) == sizeof(one))
		semaphores->runs = pthread_timedjoin_np(semaphores->thread, NULL, &until) != 0;
}

struct semaphores_missed semaphores__missed(const struct semaphores *semaphores)
{
	struct semaphores_missed missed = {0};

	if (!semaphores || semaphores->runs)
		return missed;
	missed = semaphores->missed;
	missed.lost = semaphores->events.lost;
	return missed;
}

/* What a thread still uses that does not come back stays. */
void semaphores__free(struct semaphores *semaphores)
{
	semaphores__stop(semaphores);
	if (!semaphores || semaphores->runs)
		return;
	mapping_events__close(&semaphores->events);
	for (size_t i = 0; i < semaphores->nr; i++)
		free(semaphores->files[i].words);
	free(semaphores->files);
	if (semaphores->stop_fd >= 0)
		close(semaphores->stop_fd);
	free(semaphores);
}
