// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/unwind_tables.h"
#include "core/history/records.h"
#include "core/unwind/files.h"
#include "core/unwind/modules.h"
#include "sym/util/array.h"

static struct known_process **bucket_of(const struct known_processes *processes, pid_t pid)
{
	return (struct known_process **)&processes->buckets[(uint32_t)pid % KNOWN_PROCESS_BUCKETS];
}

static void free_process(struct known_process *process)
{
	free(process->mappings);
	free(process);
}

void known_processes__release(struct known_processes *processes)
{
	for (size_t i = 0; i < KNOWN_PROCESS_BUCKETS; i++) {
		while (processes->buckets[i]) {
			struct known_process *process = processes->buckets[i];

			processes->buckets[i] = process->next;
			free_process(process);
		}
	}
	processes->nr = 0;
}

struct known_process *known_processes__find(const struct known_processes *processes, pid_t pid)
{
	struct known_process *process = *bucket_of(processes, pid);

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

struct known_process *known_processes__add(struct known_processes *processes, pid_t pid)
{
	struct known_process *process = known_processes__find(processes, pid);
	struct known_process **bucket = bucket_of(processes, pid);

	if (process || processes->nr == UNWIND_PROCESSES)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->next = *bucket;
	*bucket = process;
	processes->nr++;
	return process;
}

/* Remove the process that link leads to. */
static void remove_linked(struct known_processes *processes, struct known_process **link,
			  struct unwind_tables *tables)
{
	struct known_process *process = *link;

	*link = process->next;
	processes->nr--;
	unwind_tables__remove_process(tables, (uint32_t)process->pid, &process->slice);
	free_process(process);
}

void known_processes__remove(struct known_processes *processes, pid_t pid,
			     struct unwind_tables *tables)
{
	struct known_process **link = bucket_of(processes, pid);

	while (*link && (*link)->pid != pid)
		link = &(*link)->next;
	if (*link)
		remove_linked(processes, link, tables);
}

void known_processes__remove_ended(struct known_processes *processes, struct unwind_tables *tables)
{
	for (size_t i = 0; i < KNOWN_PROCESS_BUCKETS && processes->any_ended; i++) {
		struct known_process **link = &processes->buckets[i];

		while (*link) {
			if ((*link)->ended)
				remove_linked(processes, link, tables);
			else
				link = &(*link)->next;
		}
	}
	processes->any_ended = false;
}

static bool is_known(const struct known_process *process)
{
	for (size_t i = 0; i < process->nr; i++)
		if (process->mappings[i].file == UNWIND_FILE_UNKNOWN)
			return false;
	return process->nr != 0;
}

void known_processes__want(struct known_processes *processes, pid_t pid, bool names_module)
{
	struct known_process *process = known_processes__find(processes, pid);

	if (!process && !names_module)
		process = known_processes__add(processes, pid);
	if (!process)
		return;
	process->wanted++;
	if (!names_module)
		process->doubted |= process->walked || !is_known(process);
	process->changed |= !process->walked;
	process->walked = true;
}

/* ---- mappings ---- */

static int append(struct known_process *process, const struct known_mapping *mapping)
{
	if (process->nr == UNWIND_MAPPINGS_MAX ||
	    ARRAY_GROW(process->mappings, process->nr, process->capacity))
		return -ENOMEM;
	process->mappings[process->nr++] = *mapping;
	return 0;
}

static int compare_mappings(const void *a, const void *b)
{
	const struct known_mapping *left = a, *right = b;

	return COMPARE(left->start, right->start);
}

/* Cut or remove mappings under a new one; a mapping can remain on both sides of it. */
static int make_place(struct known_process *process, uint64_t start, uint64_t end)
{
	size_t nr = process->nr, kept = 0;
	struct known_mapping behind = {0};

	for (size_t i = 0; i < nr; i++) {
		struct known_mapping mapping = process->mappings[i];

		if (mapping.start < end && mapping.end > end && mapping.start < start) {
			behind = mapping;
			behind.offset += end - mapping.start;
			behind.start = end;
		}
		if (mapping.end > start && mapping.start < start)
			mapping.end = start;
		if (mapping.start >= start && mapping.start < end) {
			if (mapping.end <= end)
				continue;
			mapping.offset += end - mapping.start;
			mapping.start = end;
		}
		process->mappings[kept++] = mapping;
	}
	process->nr = kept;
	return behind.end ? append(process, &behind) : 0;
}

static bool is_equal(const struct known_mapping *a, const struct known_mapping *b)
{
	return a->start == b->start && a->end == b->end && a->offset == b->offset &&
	       a->file == b->file;
}

/* The kernel reports changed permissions, too: the same mapping again. */
static bool is_there(const struct known_process *process, const struct known_mapping *mapping)
{
	for (size_t i = 0; i < process->nr; i++)
		if (is_equal(&process->mappings[i], mapping))
			return true;
	return false;
}

static int lay(struct known_process *process, const struct known_mapping *mapping)
{
	int err;

	if (mapping->start >= mapping->end || mapping->end > (uint64_t)INT64_MAX ||
	    is_there(process, mapping))
		return 0;
	err = make_place(process, mapping->start, mapping->end);
	if (!err)
		err = append(process, mapping);
	array__sort(process->mappings, process->nr, sizeof(*process->mappings), compare_mappings);
	process->changed = true;
	return err;
}

static bool is_same(const struct known_process *process, const struct known_mapping *mappings,
		    size_t nr)
{
	if (process->nr != nr)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!is_equal(&process->mappings[i], &mappings[i]))
			return false;
	return true;
}

int known_process__read(struct known_process *process, struct unwind_files *files,
			const struct unwind_mapped *mapped, size_t nr, uint64_t time)
{
	struct known_mapping *mappings = calloc(nr + 1, sizeof(*mappings));
	bool same;

	if (!mappings)
		return -ENOMEM;
	/* [vsyscall] alone is up there: it calls the kernel, and has no stack. */
	while (nr && mapped[nr - 1].end > (uint64_t)INT64_MAX)
		nr--;
	for (size_t i = 0; i < nr; i++) {
		int err = unwind_files__found(files, &mapped[i], &mappings[i].file);

		if (err) {
			free(mappings);
			return err;
		}
		mappings[i].start = mapped[i].start;
		mappings[i].end = mapped[i].end;
		mappings[i].offset = mapped[i].offset;
	}
	same = is_same(process, mappings, nr);
	free(process->mappings);
	process->mappings = mappings;
	process->nr = nr;
	process->capacity = nr + 1;
	process->read = time;
	process->unknown = false;
	/*
	 * The BPF programs may have dropped the process meanwhile, when it executed the same
	 * program again.
	 */
	process->changed = true;
	return !same;
}

/* ---- records ---- */

/* A forked process has its parent's mappings, unless these were read after the fork. */
static void take_fork(struct known_processes *processes, const struct process_record *record,
		      struct unwind_tables *tables)
{
	const struct known_process *parent = known_processes__find(processes, record->parent);
	struct known_process *child;

	known_processes__remove(processes, record->pid, tables);
	if (!parent || !parent->nr || record->time < parent->read)
		return;
	child = known_processes__add(processes, record->pid);
	for (size_t i = 0; child && i < parent->nr; i++)
		if (append(child, &parent->mappings[i]))
			break;
	if (!child)
		return;
	child->unknown = parent->unknown;
	child->walked = parent->walked;
	child->changed = parent->changed || !parent->slice.users ||
			 unwind_tables__share_process(tables, (uint32_t)child->pid, &parent->slice,
						      record->time, &child->slice);
}

static void take_mapping(struct known_processes *processes, struct known_process *process,
			 const struct process_record *record, struct unwind_tables *tables)
{
	const struct sym_mapping *mapped = &record->mapping;
	const char *path = mapped->path ? mapped->path : "";
	const struct known_mapping mapping = {
		.start = mapped->start,
		.end = mapped->end,
		.offset = mapped->offset,
		.file = unwind_files__named(processes->files, mapped->device, mapped->inode,
					    (uint32_t)record->generation, path),
	};

	process->unknown |= mapping.file == UNWIND_FILE_UNKNOWN;
	if (lay(process, &mapping))
		known_processes__remove(processes, record->pid, tables);
}

static void take_exec(struct known_processes *processes, const struct process_record *record,
		      struct unwind_tables *tables)
{
	struct known_process *process = known_processes__add(processes, record->pid);

	if (!process)
		return;
	process->nr = 0;
	process->changed = true;
	/* A thread can have called exec() after the first thread had ended. */
	process->ended = false;
	process->retry = process->pause = 0;
	unwind_tables__remove_process(tables, (uint32_t)record->pid, &process->slice);
}

static void take_end(struct known_processes *processes, struct known_process *process,
		     struct unwind_tables *tables)
{
	process->ended = processes->any_ended = true;
	unwind_tables__remove_process(tables, (uint32_t)process->pid, &process->slice);
}

void known_processes__forget(struct known_processes *processes, struct unwind_tables *tables)
{
	for (size_t i = 0; i < KNOWN_PROCESS_BUCKETS; i++)
		while (processes->buckets[i])
			known_processes__remove(processes, processes->buckets[i]->pid, tables);
}

void known_processes__take(struct known_processes *processes, const struct process_record *record,
			   struct unwind_tables *tables)
{
	struct known_process *process = known_processes__find(processes, record->pid);

	if (record->deed != PROCESS_UNKNOWN && process && record->time < process->read)
		return;
	switch (record->deed) {
	case PROCESS_FORKED:
		take_fork(processes, record, tables);
		return;
	case PROCESS_EXECUTED:
		take_exec(processes, record, tables);
		return;
	case PROCESS_MAPPED:
		if (process)
			take_mapping(processes, process, record, tables);
		return;
	case PROCESS_ENDED:
		if (process)
			take_end(processes, process, tables);
		return;
	case PROCESS_UNKNOWN:
		/* Something has happened to some process, no matter which. */
		known_processes__forget(processes, tables);
		return;
	}
}

/* ---- tables ---- */

/* Fill the entry by which frames of the module are named: process pid has the file there. */
static void tell_of_module(struct unwind_module_file *module, const struct unwind_known_file *file,
			   pid_t pid, const struct known_mapping *mapping)
{
	const struct unwind_mapped *mapped = &file->mapped;

	*module = (struct unwind_module_file){
		.id = {.device = mapped->device,
		       .inode = mapped->inode,
		       .size = mapped->identity.size,
		       .modified = mapped->identity.modified},
		.start = mapping->start,
		.offset = mapping->offset,
		.pid = pid,
	};
	memcpy(module->path, mapped->path, sizeof(module->path));
	/* Write all this before any program finds its number. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/*
 * The module number of a mapping's file, which stays. UNWIND_UNKNOWN_MODULE: no walk has come to a
 * process that has the file (most programs are never walked), or there are too many modules.
 */
static uint32_t module_of(struct known_processes *processes, const struct known_process *process,
			  const struct known_mapping *mapping, struct unwind_tables *tables)
{
	struct unwind_known_file *file = &processes->files->items[mapping->file];

	if (file->mapped.source == UNWIND_SOURCE_OTHER)
		return UNWIND_NO_MODULE;
	if (file->module == UNWIND_UNKNOWN_MODULE && process->walked) {
		int module = unwind_tables__add_module(tables);

		processes->nr_no_module += module < 0;
		if (module >= 0) {
			file->module = (uint32_t)module;
			tell_of_module(&processes->modules->items[module], file, process->pid,
				       mapping);
		}
	}
	return file->module;
}

static struct unwind_mapping in_table(struct known_processes *processes,
				      const struct known_process *process,
				      const struct known_mapping *mapping,
				      struct unwind_tables *tables)
{
	struct unwind_files *files = processes->files;
	struct unwind_mapping entry = {
		.start = mapping->start,
		.end = mapping->end,
		.base = mapping->start - mapping->offset,
		.module = UNWIND_NO_MODULE,
	};

	if (mapping->file == UNWIND_FILE_UNKNOWN)
		entry.module = UNWIND_UNKNOWN_MODULE;
	if (mapping->file < files->nr)
		entry.module = module_of(processes, process, mapping, tables);
	return entry;
}

void known_processes__write(struct known_processes *processes, struct known_process *process,
			    struct unwind_tables *tables)
{
	struct unwind_mapping *mappings = calloc(process->nr + 1, sizeof(*mappings));
	uint64_t since = process->read > processes->since ? process->read : processes->since;

	process->changed = false;
	for (size_t i = 0; mappings && i < process->nr; i++)
		mappings[i] = in_table(processes, process, &process->mappings[i], tables);
	if (mappings && process->nr && !process->ended)
		processes->nr_no_room += unwind_tables__put_process(tables, (uint32_t)process->pid,
								    mappings, (uint32_t)process->nr,
								    since, &process->slice) != 0;
	else
		unwind_tables__remove_process(tables, (uint32_t)process->pid, &process->slice);
	free(mappings);
}
