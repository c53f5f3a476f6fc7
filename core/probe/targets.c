// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/targets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/kernel/types.h"
#include "core/options/near_names.h"
#include "core/options/pid_list.h"
#include "core/probe/pattern.h"
#include "core/probe/syscall_numbers.h"
#include "core/probe/tracepoints.h"
#include "sym/find/binary.h"
#include "sym/find/probe_sites.h"
#include "sym/kallsyms/functions.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "sym/util/kernel_fs.h"
#include "sym/util/text.h"

/* The state of a search through a list. */
struct search {
	const struct probespec *spec;
	struct near_names near;
	size_t seen; /* sites of a file */
};

static struct search search_for(const struct probespec *spec)
{
	bool literal = pattern__is_literal(spec->name);

	return (struct search){.spec = spec,
			       .near.wanted = literal ? pattern__text(spec->name) : NULL};
}

static bool is_wanted(struct search *search, const char *name)
{
	if (pattern__matches(search->spec->name, name))
		return true;
	near_names__offer(&search->near, name);
	return false;
}

static int out_of_memory(struct error *error)
{
	return error__set(error, -ENOMEM, "cannot list what is to be probed: out of memory");
}

/* Returns 0 or -ENOMEM. */
static int add(struct target_list *list, struct target target, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int add(struct target_list *list, struct target target, const char *format, ...)
{
	CLEANUP_FREE char *name = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&name, format, args);
	va_end(args);
	if (length < 0) {
		name = NULL;
		return -ENOMEM;
	}
	if (ARRAY_GROW(list->targets, list->nr, list->capacity))
		return -ENOMEM;
	target.name = arena__copy_string(&list->names, name, (size_t)length);
	if (!target.name)
		return -ENOMEM;
	list->targets[list->nr++] = target;
	return 0;
}

static int no_match(const struct search *search, const char *where, const char *what,
		    struct error *error)
{
	char near[NEAR_NAMES_TEXT_SIZE];

	near_names__text(&search->near, near, sizeof(near));
	return error__set(error, -ENOENT, "'%.100s' matches none of the %s%s%.100s%s",
			  search->spec->text, what, where ? " of " : "", where ? where : "", near);
}

/* ---- kernel functions ---- */

static bool kernel_function_is_wanted(void *context, const char *name)
{
	return is_wanted(context, name);
}

static int add_kernel_functions(struct target_list *list, const struct kernel_function_list *found,
				bool ambiguous)
{
	int err = 0;

	for (size_t i = 0; i < found->nr && !err; i++) {
		const struct kernel_function *function = &found->functions[i];

		if (function->ambiguous == ambiguous)
			err = add(list,
				  (struct target){.address = function->address,
						  .ambiguous = ambiguous},
				  "%s", function->name);
	}
	return err;
}

static int find_kernel_functions(struct target_list *list, const struct probespec *spec,
				 struct error *error)
{
	CLEANUP(kernel_function_list__release) struct kernel_function_list found = {0};
	struct search search = search_for(spec);
	int err = kernel_functions__find(&found, kernel_function_is_wanted, &search);

	if (err)
		return error__set(error, err,
				  "cannot list the functions of the kernel: /proc/kallsyms: %s",
				  strerror(-err));
	if (!found.nr)
		return no_match(&search, NULL,
				"functions of the kernel that can be traced (write FILE:FUNCTION "
				"for a program's)",
				error);
	if (add_kernel_functions(list, &found, false) || add_kernel_functions(list, &found, true))
		return out_of_memory(error);
	list->probes = list->nr;
	return 0;
}

/* ---- tracepoints ---- */

/*
 * True if spec names one tracepoint, which the kernel has by its types. These know no categories,
 * nor the tracepoints of modules.
 */
static bool is_among_types(const struct probespec *spec)
{
	const char *name = pattern__text(spec->name);
	bool entry;

	if (!pattern__is_literal(spec->group) || !pattern__is_literal(spec->name))
		return false;
	if (syscall_of_tracepoint(spec->text + strlen("t:"), &entry) >= 0)
		name = entry ? "sys_enter" : "sys_exit";
	return kernel_types__have_tracepoint(name);
}

static int find_tracepoints(struct target_list *list, const struct probespec *spec,
			    struct error *error)
{
	CLEANUP_CLOSE int tracefs = kernel_fs__open(KERNEL_FS_TRACE);
	CLEANUP_CLOSE int events =
		tracefs < 0 ? -1 : openat(tracefs, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct tracepoint_list *found = &list->tracepoints;
	int err;

	if (events < 0 && is_among_types(spec))
		err = tracepoint_list__name(&list->tracepoints, spec, error);
	else
		err = tracepoint_list__find(&list->tracepoints, spec, tracefs, error);
	if (err)
		return err;
	for (size_t i = 0; i < found->nr; i++)
		if (add(list, (struct target){0}, "%s:%s", found->tracepoints[i].category,
			found->tracepoints[i].name))
			return out_of_memory(error);
	list->probes = list->nr;
	return 0;
}

/* ---- user code ---- */

static bool site_is_wanted(void *context, const char *provider, const char *name)
{
	struct search *search = context;
	const struct pattern *group = search->spec->group;

	search->seen++;
	return (!provider || !group || pattern__matches(group, provider)) &&
	       is_wanted(search, name);
}

/* Returns 0 or -ENOMEM. */
static int add_pid(struct target_file *file, pid_t pid)
{
	if (!pid)
		return 0;
	if (ARRAY_GROW(file->pids, file->nr_pids, file->pids_capacity))
		return -ENOMEM;
	file->pids[file->nr_pids++] = pid;
	return 0;
}

/* The same file in the list, if another process has it; else NULL. */
static struct target_file *find_known(const struct target_list *list, const struct binary *binary)
{
	struct stat st, other;

	for (size_t i = 0; i < list->nr_files && !fstat(binary->fd, &st); i++)
		if (!fstat(list->files[i].fd, &other) && other.st_dev == st.st_dev &&
		    other.st_ino == st.st_ino)
			return &list->files[i];
	return NULL;
}

/* The list takes over binary. pid: 0 for all processes. */
static int add_file(struct target_list *list, struct binary *binary, pid_t pid)
{
	if (ARRAY_GROW(list->files, list->nr_files, list->files_capacity))
		return -ENOMEM;
	list->files[list->nr_files++] =
		(struct target_file){.fd = TAKE_FD(binary->fd), .path = TAKE_POINTER(binary->path)};
	return add_pid(&list->files[list->nr_files - 1], pid);
}

static int add_sites(struct target_list *list, const struct probe_site_list *sites, uint32_t file)
{
	for (size_t i = 0; i < sites->nr; i++) {
		const struct probe_site *site = &sites->sites[i];
		struct target target = {
			.address = site->offset,
			.semaphore = site->semaphore,
			.semaphore_shift = site->semaphore_shift,
			.breakpoints = site->breakpoints,
			.file = file,
			.misread = site->misread,
		};
		int err = site->provider ? add(list, target, "%s:%s", site->provider, site->name) :
					   add(list, target, "%s", site->name);

		if (err)
			return err;
		list->indirect += site->indirect;
	}
	list->without_place += sites->nr_misplaced;
	return 0;
}

static int cannot_read(const char *path, int code, struct error *error)
{
	if (code == -ENOEXEC)
		return error__set(error, code, "%s: is no program or library of this machine",
				  path);
	if (code == -EFBIG)
		return error__set(error, code,
				  "%s: its symbols are too many, or contrived to be slow to read",
				  path);
	return error__set(error, code, "cannot read %s: %s", path, strerror(-code));
}

/* There is no such file: say so where it is known what a FILE cannot be. */
static int no_file(const char *file, pid_t pid, struct error *error)
{
	CLEANUP(binary__close) struct binary library = {.fd = -1};
	struct error ignored;

	if (file[strcspn(file, "*?[")])
		return error__set(error, -ENOENT,
				  "'%.100s': FILE is one program or library, by its name or path: "
				  "only what stands behind it can have wildcards",
				  file);
	if (text__begins(file, "lib") &&
	    binary__open(&library, file + strlen("lib"), pid, &ignored) == 0)
		return error__set(
			error, -ENOENT,
			"'%.100s': names of libraries are written without 'lib', as '%.100s'", file,
			file + strlen("lib"));
	return -ENOENT;
}

/* Find what spec matches in the file that a process, or we with pid 0, mean by its name. */
static int find_in_file(struct target_list *list, struct search *search, pid_t pid,
			struct error *error)
{
	CLEANUP(probe_site_list__release) struct probe_site_list sites = {0};
	CLEANUP(binary__close) struct binary binary = {.fd = -1};
	const struct probespec *spec = search->spec;
	int err = binary__open(&binary, spec->file, pid, error);
	struct target_file *known = err ? NULL : find_known(list, &binary);

	if (err)
		return err == -ENOENT ? no_file(spec->file, pid, error) : err;
	if (known)
		return add_pid(known, pid) ? out_of_memory(error) : 0;
	if (spec->kind == PROBE_USDT) {
		err = probe_sites__usdt(&sites, binary.fd, site_is_wanted, search);
	} else {
		CLEANUP_CLOSE int debug_fd = binary__open_debug(&binary, pid);
		enum probe_names names = pattern__has_parameters(spec->name) ?
						 PROBE_NAMES_WHOLE :
						 PROBE_NAMES_DEMANGLED;

		err = probe_sites__functions(&sites, binary.fd, debug_fd, names, site_is_wanted,
					     search);
	}
	if (err)
		return cannot_read(binary.path, err, error);
	err = add_sites(list, &sites, (uint32_t)list->nr_files);
	if (!err)
		err = add_file(list, &binary, pid);
	return err ? out_of_memory(error) : 0;
}

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;
	int order = COMPARE(a->file, b->file);

	if (!order)
		order = COMPARE(a->misread, b->misread);
	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : COMPARE(a->address, b->address);
}

static size_t count_probes(const struct target_list *list)
{
	size_t probes = 0;

	for (size_t i = 0; i < list->nr; i++)
		probes += list->kind != PROBE_USDT || i == 0 ||
			  list->targets[i].file != list->targets[i - 1].file ||
			  strcmp(list->targets[i].name, list->targets[i - 1].name) != 0;
	return probes;
}

static int nothing_in_files(const struct target_list *list, const struct search *search,
			    struct error *error)
{
	const char *what = search->spec->kind == PROBE_USDT ? "USDT probes" : "functions";

	if (list->without_place)
		return error__set(error, -ENOENT,
				  "'%.100s' matches USDT probes of %.100s, but their addresses are "
				  "in no place of the file",
				  search->spec->text, list->files[0].path);
	if (!search->seen)
		return error__set(error, -ENOENT, "%s: has no %s%s", list->files[0].path, what,
				  search->spec->kind == PROBE_USDT ?
					  "" :
					  " with names: it is stripped, and its debug symbols are "
					  "not installed");
	return no_match(search, list->files[0].path, what, error);
}

static int find_user_code(struct target_list *list, const struct probespec *spec,
			  const struct pid_list *pids, struct error *error)
{
	struct search search = search_for(spec);
	int err = 0;

	if (!pids->nr)
		err = find_in_file(list, &search, 0, error);
	for (size_t i = 0; i < pids->nr && !err; i++)
		err = find_in_file(list, &search, pids->pids[i], error);
	if (err)
		return err;
	if (!list->nr)
		return nothing_in_files(list, &search, error);
	array__sort(list->targets, list->nr, sizeof(*list->targets), compare_targets);
	list->probes = count_probes(list);
	return 0;
}

int target_list__find(struct target_list *list, const struct probespec *spec,
		      const struct pid_list *pids, struct error *error)
{
	CLEANUP(target_list__release) struct target_list found = {.kind = spec->kind};
	int err;

	switch (spec->kind) {
	case PROBE_KERNEL_FUNCTION:
		err = find_kernel_functions(&found, spec, error);
		break;
	case PROBE_TRACEPOINT:
		err = find_tracepoints(&found, spec, error);
		break;
	default:
		err = find_user_code(&found, spec, pids, error);
	}
	if (err)
		return err;
	*list = found;
	found = (struct target_list){0};
	return 0;
}

void target_list__release(struct target_list *list)
{
	for (size_t i = 0; i < list->nr_files; i++) {
		close(list->files[i].fd);
		free(list->files[i].path);
		free(list->files[i].pids);
	}
	free(list->files);
	if (list->tracepoints.nr)
		tracepoint_list__release(&list->tracepoints);
	free(list->targets);
	arena__release(&list->names);
	*list = (struct target_list){0};
}

/* As it is written in a pattern. */
static void print_path(FILE *out, const char *path)
{
	char clean[PATH_MAX];

	text__clean(path, strlen(path), false, clean, sizeof(clean));
	for (const char *at = clean; *at; at++)
		fprintf(out, *at == ':' ? "\\%c" : "%c", *at);
}

static void print_target(const struct target_list *list, const struct target *target, FILE *out)
{
	char name[PATTERN_NAME_MAX];

	text__clean(target->name, strlen(target->name), false, name, sizeof(name));
	if (list->kind == PROBE_USDT)
		fputs("u:", out);
	if (list->nr_files) {
		print_path(out, list->files[target->file].path);
		fputc(':', out);
	}
	fprintf(out, list->kind == PROBE_TRACEPOINT ? "t:%s\n" : "%s\n", name);
}

void target_list__print(const struct target_list *list, FILE *out)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct target *target = &list->targets[i];

		/* The sites of a USDT probe, and functions of one name, are one pattern. */
		if (i && target->file == target[-1].file && !strcmp(target->name, target[-1].name))
			continue;
		print_target(list, target, out);
	}
}
