// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/tracepoints.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/options/near_names.h"
#include "core/probe/pattern.h"
#include "core/probe/probespec.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/number.h"

/*
 * tracefs makes its entries as they are looked up, which costs more than all else here. So names
 * that can be looked up are not listed, and listed names are not looked up.
 */

/* A call of tracepoint_list__find(). */
struct search {
	const struct probespec *spec;
	struct tracepoint_list *list;
	const char *category; /* the one being listed, in the list's arena */
	bool found_category;
	struct near_names near_categories, near_events;
};

/* False for events that are not tracepoints, but the function tracer's and its kind's. */
static bool is_real_category(const char *name)
{
	return strcmp(name, "ftrace") != 0;
}

/* A pattern that stands for one entry of a folder, and for nothing outside of it. */
static bool is_entry(const struct pattern *pattern)
{
	const char *text = pattern__text(pattern);

	return pattern__is_literal(pattern) && text[0] != '.' && !strchr(text, '/');
}

/* Call visit for each folder in the folder fd, which stays open, until a call fails. */
static int for_each_folder(int fd, int (*visit)(struct search *search, const char *name),
			   struct search *search)
{
	CLEANUP_CLOSEDIR DIR *directory = NULL;
	const struct dirent *entry;
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = 0;

	if (copy < 0)
		return -errno;
	directory = fdopendir(copy);
	if (!directory) {
		close(copy);
		return -ENOMEM;
	}
	while (!err && (errno = 0, entry = readdir(directory)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			err = visit(search, entry->d_name);
	return err ? err : -errno;
}

static int add_tracepoint(struct search *search, const char *name)
{
	struct tracepoint_list *list = search->list;
	const char *copy = arena__copy_string(&list->names, name, strlen(name));

	if (!copy || ARRAY_GROW(list->tracepoints, list->nr, list->capacity))
		return -ENOMEM;
	list->tracepoints[list->nr++] =
		(struct tracepoint){.category = search->category, .name = copy};
	return 0;
}

static int visit_event(struct search *search, const char *name)
{
	near_names__offer(&search->near_events, name);
	return pattern__matches(search->spec->name, name) ? add_tracepoint(search, name) : 0;
}

static int search_folder(struct search *search, int folder)
{
	const char *name = pattern__text(search->spec->name);
	char path[NAME_MAX + 16];

	if (is_entry(search->spec->name) && strlen(name) <= NAME_MAX) {
		snprintf(path, sizeof(path), "%s/enable", name);
		if (faccessat(folder, path, F_OK, 0) == 0)
			return add_tracepoint(search, name);
	}
	return for_each_folder(folder, visit_event, search);
}

/* A category that does not exist, or not any longer, has no tracepoints. */
static int search_category(struct search *search, const char *category)
{
	CLEANUP_CLOSE int folder = openat(search->list->events, category,
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (folder < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? 0 : -errno;
	search->found_category = true;
	search->category = arena__copy_string(&search->list->names, category, strlen(category));
	return search->category ? search_folder(search, folder) : -ENOMEM;
}

static int visit_category(struct search *search, const char *name)
{
	if (!is_real_category(name))
		return 0;
	near_names__offer(&search->near_categories, name);
	return pattern__matches(search->spec->group, name) ? search_category(search, name) : 0;
}

static int search_all(struct search *search)
{
	const char *category = pattern__text(search->spec->group);
	int err;

	if (is_entry(search->spec->group) && is_real_category(category)) {
		err = search_category(search, category);
		if (err || search->found_category)
			return err;
	}
	return for_each_folder(search->list->events, visit_category, search);
}

static int not_found(const struct search *search, struct error *error)
{
	const struct probespec *spec = search->spec;
	const struct near_names *near = &search->near_events;
	char hint[NEAR_NAMES_TEXT_SIZE];

	if (!strcmp(pattern__text(spec->group), "ftrace"))
		return error__set(error, -ENOENT,
				  "'%.200s': the events of ftrace are no tracepoints", spec->text);
	if (!search->found_category)
		near = &search->near_categories;
	near_names__text(near, hint, sizeof(hint));
	return error__set(error, -ENOENT, "'%.200s': no %s '%.100s'%s", spec->text,
			  search->found_category ? "tracepoint matches" :
						   "category of tracepoints matches",
			  pattern__text(search->found_category ? spec->name : spec->group), hint);
}

static int cannot_read(int code, struct error *error)
{
	if (code == -EACCES || code == -EPERM)
		return error__set(error, -EACCES,
				  "cannot list tracepoints: not permitted; run as root, or with "
				  "CAP_DAC_READ_SEARCH");
	if (code == -ENOENT)
		return error__set(error, code,
				  "cannot list tracepoints: tracefs is not mounted; run as root, "
				  "or 'mount -t tracefs nodev /sys/kernel/tracing'");
	if (code == -ENODEV)
		return error__set(error, code,
				  "cannot list tracepoints: this kernel has no tracefs "
				  "(CONFIG_TRACING)");
	return error__set(error, code, "cannot list tracepoints: %s", strerror(-code));
}

static int open_events(int tracefs, struct error *error)
{
	int fd;

	if (tracefs < 0)
		return cannot_read(tracefs, error);
	fd = openat(tracefs, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? cannot_read(-errno, error) : fd;
}

static int compare_tracepoints(const void *a, const void *b)
{
	const struct tracepoint *left = a, *right = b;
	int order = strcmp(left->category, right->category);

	return order ? order : strcmp(left->name, right->name);
}

/* "p:probes/vfs_read ...": events that users define, of any kind, have category and name. */
static void mark_dynamic(struct tracepoint_list *list)
{
	CLEANUP_CLOSE int fd = openat(list->events, "../dynamic_events", O_RDONLY | O_CLOEXEC);
	CLEANUP_FCLOSE FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	CLEANUP_FREE char *line = NULL;
	size_t size = 0;

	if (!file)
		return; /* before 5.0, or none can be defined */
	TAKE_FD(fd);
	while (getline(&line, &size, file) >= 0) {
		char category[NAME_MAX + 1], name[NAME_MAX + 1];

		if (sscanf(line, "%*[^:]:%255[^/]/%255[^ \n]", category, name) != 2)
			continue;
		for (size_t i = 0; i < list->nr; i++)
			list->tracepoints[i].dynamic |=
				!strcmp(list->tracepoints[i].category, category) &&
				!strcmp(list->tracepoints[i].name, name);
	}
}

int tracepoint_list__find(struct tracepoint_list *list, const struct probespec *spec, int tracefs,
			  struct error *error)
{
	CLEANUP(tracepoint_list__release)
	struct tracepoint_list found = {.events = open_events(tracefs, error)};
	struct search search = {
		.spec = spec,
		.list = &found,
	};
	int err;

	if (found.events < 0)
		return found.events;
	if (pattern__is_literal(spec->group))
		search.near_categories.wanted = pattern__text(spec->group);
	if (pattern__is_literal(spec->name))
		search.near_events.wanted = pattern__text(spec->name);
	err = search_all(&search);
	if (err)
		return cannot_read(err, error);
	if (found.nr == 0)
		return not_found(&search, error);
	array__sort(found.tracepoints, found.nr, sizeof(*found.tracepoints), compare_tracepoints);
	mark_dynamic(&found);
	*list = found;
	found = (struct tracepoint_list){.events = -1};
	return 0;
}

int tracepoint_list__name(struct tracepoint_list *list, const struct probespec *spec,
			  struct error *error)
{
	CLEANUP(tracepoint_list__release) struct tracepoint_list found = {.events = -1};
	const char *category = pattern__text(spec->group);
	struct search search = {.spec = spec, .list = &found};

	search.category = arena__copy_string(&found.names, category, strlen(category));
	if (!search.category || add_tracepoint(&search, pattern__text(spec->name)))
		return error__set(error, -ENOMEM, "cannot list tracepoints: out of memory");
	*list = found;
	found = (struct tracepoint_list){.events = -1};
	return 0;
}

void tracepoint_list__release(struct tracepoint_list *list)
{
	free(list->tracepoints);
	arena__release(&list->names);
	cleanup__close(&list->events);
	*list = (struct tracepoint_list){.events = -1};
}

int tracepoint_list__read_id(const struct tracepoint_list *list,
			     const struct tracepoint *tracepoint, uint64_t *id, struct error *error)
{
	CLEANUP_CLOSE int fd = -1;
	char path[2 * NAME_MAX + 8], text[32] = "";
	int err = 0;

	snprintf(path, sizeof(path), "%s/%s/id", tracepoint->category, tracepoint->name);
	fd = openat(list->events, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		err = -errno;
	text[strcspn(text, "\n")] = '\0';
	if (!err)
		err = number__parse(text, 1, UINT64_MAX, id);
	return err ? error__set(error, err, "cannot read the id of tracepoint %s:%s: %s",
				tracepoint->category, tracepoint->name, strerror(-err)) :
		     0;
}
