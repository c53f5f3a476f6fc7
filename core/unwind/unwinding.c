// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/unwinding.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "bpf/unwind_tables.h"
#include "core/kernel/types.h"
#include "core/options/trace_options.h"
#include "core/unwind/bases.h"
#include "core/unwind/end.h"
#include "core/unwind/identify.h"
#include "core/unwind/loader.h"
#include "core/unwind/running.h"
#include "core/unwind/tables.h"
#include "sym/process/passed_file.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/clock.h"
#include "sym/util/error.h"
#include "sym/util/kernel_fs.h"
#include "sym/util/limits.h"
#include "sym/util/message.h"

/*
 * A trace waits so long for the files of named processes, which anybody may have written; a command
 * for its own; and a trace for those of what runs, if it is of all; and so long for the search for
 * that.
 */
#define NAMED_MAX  (10 * NANOSECONDS)
#define HELD_MAX   NANOSECONDS
#define FIRST_MAX  (NANOSECONDS / 2)
#define SEARCH_MAX (NANOSECONDS / 10)
#define LOOK_AGAIN (10 * MILLISECONDS)

/* Of named processes so many in a row are read that have no new file. */
#define NAMED_ALIKE 16

/*
 * A report waits for files that walks have come to of late: the loader looks for them for a second;
 * so much longer, if it waits itself for a file that does not answer.
 */
#define SETTLE_MAX (10 * NANOSECONDS)

struct unwinding {
	bool user_stacks;
	enum unwind_method method; /* UNWIND_OFF without them */
	bool finds_files;
	struct unwind_maps maps;
	struct later_setup later;
	struct bpf_program *take_walked;
	struct unwind_first first;
	uint64_t memory;
	struct bpf_program *identify;
	struct unwind_loader *loader;
	bool tells_bases;
	struct unwind_bases bases;
	int files[2]; /* a way for files, to whoever names frames; 0: none */
};

static int find_maps(struct unwinding *unwinding, const struct bpf_object *object)
{
	const struct {
		const char *name;
		struct bpf_map **map;
	} wanted[] = {
		{"unwind_files", &unwinding->maps.files},
		{"unwind_numbers", &unwinding->maps.numbers},
		{"unwind_modules", &unwinding->maps.modules},
		{"unwind_pages", &unwinding->maps.pages},
		{"unwind_rules", &unwinding->maps.rules},
		{"unwind_recent_rules", &unwinding->maps.recent},
		{"unwind_shards", &unwinding->maps.shards},
		{"unwind_requests", &unwinding->maps.requests},
		{"unwind_asked", &unwinding->maps.asked},
		{"identified", &unwinding->maps.identified},
		{"unwind_bases", &unwinding->maps.bases},
		{"raw_stacks", &unwinding->later.raw_stacks},
		{"raw_buffers", &unwinding->later.buffers},
		{"walked_stacks", &unwinding->later.walked},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		*wanted[i].map = bpf_object__find_map_by_name(object, wanted[i].name);
		if (!*wanted[i].map)
			return -ENOENT;
	}
	unwinding->identify = bpf_object__find_program_by_name(object, "identify_mapping");
	unwinding->take_walked = bpf_object__find_program_by_name(object, "take_walked");
	return unwinding->identify && unwinding->take_walked ? 0 : -ENOENT;
}

static bool uses_tables(const struct unwinding *unwinding)
{
	return unwinding->method == UNWIND_AUTO || unwinding->method == UNWIND_DWARF;
}

/*
 * The maps cost some MB; without them the branches that use them are dead. Cannot fail before the
 * load.
 */
static void switch_off(struct bpf_map *const maps[], size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		bpf_map__set_max_entries(maps[i], 1);
}

static void switch_off_unused(const struct unwinding *unwinding)
{
	const struct unwind_maps *maps = &unwinding->maps;
	struct bpf_map *const of_tables[] = {maps->pages, maps->rules, maps->recent},
			      *const of_files[] = {maps->files, maps->modules, maps->asked};

	if (!uses_tables(unwinding))
		switch_off(of_tables, ARRAY_SIZE(of_tables));
	if (!unwinding->finds_files)
		switch_off(of_files, ARRAY_SIZE(of_files));
}

/* How stacks are walked whose tables are missing. Cannot fail before the load. */
static void set_up_later(struct unwinding *unwinding, uint32_t raw_ring,
			 struct trace_config *config)
{
	struct later_setup *later = &unwinding->later;

	config->walks_later = config->unwind_tables;
	later->settings.max_depth = config->max_user_depth;
	later->settings.frame_pointers = config->frame_pointers;
	bpf_program__set_autoload(unwinding->take_walked, config->walks_later);
	if (!config->walks_later)
		return;
	bpf_map__set_max_entries(later->raw_stacks, raw_ring);
	bpf_map__set_max_entries(later->buffers, RAW_BUFFERS);
}

static bool has_sysfs(void)
{
	CLEANUP_CLOSE int fd = kernel_fs__open(KERNEL_FS_SYS);

	return fd >= 0;
}

/* Without the kernel's types nobody knows in which file a frame is. 0, or why it is so. */
static int find_mappings(struct unwinding *unwinding, struct trace_config *config)
{
	int err = kernel_memory__try() == -EINVAL ? -EPERM : mapping_layout__read(&config->mapping);

	config->find_files = !err;
	unwinding->finds_files = !err;
	return err;
}

/* Falls back to frame pointers, and says why. */
static void do_without_mappings(struct unwinding *unwinding, int err)
{
	const char *reason = "the kernel does not tell where it keeps mappings (BTF)";
	const char *help = "";

	unwinding->method = UNWIND_FRAME_POINTERS;
	if (err == -EPERM) {
		reason = "the kernel lets nobody read its memory (lockdown=confidentiality)";
	} else if (err == -ESRCH && has_sysfs()) {
		reason = "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF)";
	} else if (err == -ESRCH) {
		reason = "/sys is not mounted, where the kernel's types are (BTF)";
		help = "; mount it, or run with CAP_SYS_ADMIN";
	}
	message("%s: user stacks are walked by frame pointers, and end where a function has none%s",
		reason, help);
}

int unwinding__configure(struct unwinding **out, const struct trace_options *options,
			 const struct unwind_room *room, struct bpf_object *object,
			 struct trace_config *config, struct error *error)
{
	struct unwinding *unwinding = calloc(1, sizeof(*unwinding));
	int err = unwinding ? find_maps(unwinding, object) : -ENOMEM;

	if (!err)
		err = trace_options__processes(options, &unwinding->first.pids);
	if (err) {
		unwinding__free(unwinding);
		return error__set(error, err, "cannot prepare the walks of user stacks: %s",
				  strerror(-err));
	}
	unwinding->memory = room->tables;
	unwinding->user_stacks = config->user_stacks;
	unwinding->method = config->user_stacks ? options->unwind : UNWIND_OFF;
	if (unwinding->method != UNWIND_OFF)
		err = find_mappings(unwinding, config);
	if (err && uses_tables(unwinding))
		do_without_mappings(unwinding, err);
	config->unwind_tables = uses_tables(unwinding);
	config->frame_pointers = unwinding->method != UNWIND_DWARF;
	config->has_task_pt_regs = config->unwind_tables && task_registers__can_be_had();
	bpf_program__set_autoload(unwinding->identify, unwinding->finds_files);
	set_up_later(unwinding, room->raw_ring, config);
	switch_off_unused(unwinding);
	*out = unwinding;
	return 0;
}

void unwinding__free(struct unwinding *unwinding)
{
	if (!unwinding)
		return;
	unwind_loader__stop(unwinding->loader);
	unwind_bases__close(&unwinding->bases);
	for (size_t i = 0; i < ARRAY_SIZE(unwinding->files); i++)
		if (unwinding->files[i])
			close(unwinding->files[i]);
	free(unwinding->first.pids.pids);
	free(unwinding);
}

static void choose_first(struct unwind_first *first)
{
	uint64_t now = monotonic_now();

	first->until = now + (first->program ? HELD_MAX : NAMED_MAX);
	first->alike = NAMED_ALIKE;
	if (first->pids.nr || first->pids.children)
		return;
	first->until = now + FIRST_MAX;
	first->alike = 0;
	/* Without memory some are not found. */
	(void)running_processes__add(&first->pids, now + SEARCH_MAX);
}

void unwinding__await(const struct unwinding *unwinding, int stop_fd)
{
	struct pollfd stop = {.fd = stop_fd, .events = POLLIN};

	if (!unwinding->loader)
		return;
	while (!unwind_loader__await(unwinding->loader, LOOK_AGAIN) && poll(&stop, 1, 0) != 1)
		;
	if (unwinding->first.program && unwind_loader__status(unwinding->loader).nr_late)
		message("the command runs after a second of loading its call-frame information, "
			"though not all is there: its first stacks may not be complete");
}

int unwinding__start(struct unwinding *unwinding, const char *program, int stop_fd,
		     struct error *error)
{
	struct unwind_identifier identifier;
	int err = 0;

	if (!unwinding->finds_files)
		return 0;
	if (unwinding->tells_bases)
		err = unwind_bases__open(&unwinding->bases, unwinding->maps.bases,
					 unwinding->maps.numbers);
	if (err)
		return error__set(error, err, "cannot map where programs have their files: %s",
				  strerror(-err));
	identifier = file_identifier(unwinding->identify, unwinding->maps.identified);
	unwinding->first.program = program;
	choose_first(&unwinding->first);
	unwinding->later.take = bpf_program__fd(unwinding->take_walked);
	err = passed_files__open(unwinding->files);
	if (!err)
		err = unwind_loader__start(&unwinding->loader, &unwinding->maps, &identifier,
					   &unwinding->first, &unwinding->later,
					   uses_tables(unwinding) ? unwinding->memory : 0,
					   unwinding->files[0]);
	if (err)
		return error__set(error, err,
				  "cannot load call-frame information: %s; use --unwind=fp",
				  strerror(-err));
	if (!program)
		unwinding__await(unwinding, stop_fd);
	return 0;
}

const struct unwind_module_list *unwinding__modules(const struct unwinding *unwinding)
{
	return unwinding->loader ? unwind_loader__modules(unwinding->loader) : NULL;
}

void unwinding__settle(const struct unwinding *unwinding)
{
	if (unwinding->loader)
		unwind_loader__settle(unwinding->loader, SETTLE_MAX);
}

void unwinding__tell_bases(struct unwinding *unwinding, struct trace_config *config)
{
	if (!config->find_files)
		return;
	config->tell_bases = unwinding->tells_bases = true;
	/* Cannot fail before the load. */
	bpf_map__set_max_entries(unwinding->maps.bases, UNWIND_BASES);
}

bool unwinding__find_base(const struct unwinding *unwinding, const struct base_key *key,
			  uint64_t *base)
{
	return unwind_bases__find(&unwinding->bases, key, base);
}

void unwinding__make_room_for_bases(const struct unwinding *unwinding)
{
	unwind_bases__make_room(&unwinding->bases);
}

int unwinding__passed_files(const struct unwinding *unwinding)
{
	return unwinding->files[1];
}

/* "12 tables not loaded, 3 no call-frame information" */
static void list_ends(const struct event_counters *counters, char *text, size_t size)
{
	const char *separator = "";
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t end = UNWIND_CUT + 1; end < NR_UNWIND_ENDS && used < size; end++) {
		if (!counters->walks[end])
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 " %s", separator,
					 (uint64_t)counters->walks[end], unwind_end__text(end));
		separator = ", ";
	}
}

static void say_status(const struct unwinding *unwinding, const struct unwind_status *status)
{
	char hint[LIMIT_HINT_SIZE];

	if (unwind_loader__has_ended(unwinding->loader))
		message("what loads call-frame information has ended%s%s; stacks are not complete "
			"since then%s",
			status->failed ? ": " : "",
			status->failed ? strerror((int)status->failed) : "",
			limit__hint(-(int)status->failed, hint));
	if (status->no_modules)
		message("there was no room for %" PRIu32 " files; stacks there are not complete",
			status->no_modules);
	if (status->out_of_memory)
		message("call-frame information of %" PRIu32 " files had no room; give more by "
			"--unwind-memory",
			status->out_of_memory);
	if (status->nr_refused)
		message("call-frame information of %" PRIu32 " files did not answer, or could not "
			"be read%s",
			status->nr_refused, limit__hint(-(int)status->starved, hint));
	else if (status->starved)
		message("some call-frame information could not be read: %s%s",
			strerror((int)status->starved), limit__hint(-(int)status->starved, hint));
}

static void say_walks(const struct unwinding *unwinding, const struct event_counters *counters,
		      bool stats)
{
	const __u64 *walks = counters->walks;
	uint64_t all = 0, stopped = 0;
	struct unwind_status status;
	char reasons[512];

	for (uint32_t end = 0; end < NR_UNWIND_ENDS; end++) {
		all += walks[end];
		stopped += end > UNWIND_CUT ? walks[end] : 0;
	}
	status = unwind_loader__status(unwinding->loader);
	say_status(unwinding, &status);
	list_ends(counters, reasons, sizeof(reasons));
	if (stats)
		message("%" PRIu64 " user stacks, by call-frame information = %" PRIu64
			" complete + %" PRIu64 " complete by frame pointers too + %" PRIu64
			" cut at --max-depth + %" PRIu64 " incomplete%s%s; %" PRIu64
			" walked later; %" PRIu32 " files, %" PRIu64 " KB of tables, %" PRIu32
			" given back",
			all, (uint64_t)walks[UNWIND_COMPLETE], (uint64_t)walks[UNWIND_ASSISTED],
			(uint64_t)walks[UNWIND_CUT], stopped, stopped ? ": " : "", reasons,
			(uint64_t)counters->n[EVENTS_WALKED], status.nr_loaded,
			status.memory / 1024, status.nr_given_back);
	else if (stopped)
		message("%" PRIu64 " of %" PRIu64 " user stacks are not complete: %s", stopped, all,
			reasons);
}

void unwinding__say(const struct unwinding *unwinding, const struct event_counters *counters,
		    bool stats)
{
	if (uses_tables(unwinding))
		say_walks(unwinding, counters, stats);
	else if (stats && unwinding->method == UNWIND_FRAME_POINTERS)
		message("user stacks are walked by frame pointers, which do not tell whether they "
			"are complete");
	else if (stats && unwinding->user_stacks)
		message("user stacks are not walked");
}
