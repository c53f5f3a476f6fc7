// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/raw_walks.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/host/walker.h"
#include "core/kernel/own_processor.h"
#include "core/unwind/tables.h"
#include "sym/child/reader_child.h"
#include "sym/child/sandbox.h"
#include "sym/util/array.h"
#include "sym/util/child.h"
#include "sym/util/page.h"

/* Limits of the child. A walk takes some microseconds, and has no more than MAX_FRAMES steps. */
#define CPU_SECONDS 4
#define MEMORY	    ((uint64_t)16 * 1024 * 1024)

static const struct child_role role = {"stack walker", DEBUG_LOG_WALK};

/* The descriptors of the child behind its pipe. */
enum kept {
	KEPT_MODULES,
	KEPT_PAGES,
	KEPT_RULES,
	KEPT_SHARDS, /* so many as there are maps */
};

struct job {
	pid_t parent;
	const struct unwind_shards *shards;
	const struct raw_walk_settings *settings;
	const struct raw_stack *const *stacks;
	size_t nr;
};

/* Sent for each stack; then its frames. */
struct header {
	uint32_t end; /* enum unwind_end */
	uint32_t nr;
};

/* ---- in the child ---- */

static const struct unwind_shard *mapped_shards[UNWIND_SHARD_MAPS];

static const struct unwind_shard *find_shard(const void *context, uint32_t number)
{
	const struct job *job = context;
	uint32_t map = unwind_shard_map(number), index = unwind_shard_index(number);

	if (map >= job->shards->nr_maps || index >= job->shards->maps[map].nr)
		return NULL;
	return &mapped_shards[map][index];
}

static const void *map_elements(int fd, size_t size, size_t nr)
{
	size_t page = page_size();
	void *mapped = page_map(fd, (size * nr + page - 1) / page * page, PROT_READ, 0);

	return mapped == MAP_FAILED ? NULL : mapped;
}

static int map_tables(const struct job *job, struct walker *walker)
{
	walker->modules =
		map_elements(1 + KEPT_MODULES, sizeof(struct unwind_module), UNWIND_MODULES);
	walker->pages = map_elements(1 + KEPT_PAGES, sizeof(struct unwind_page), UNWIND_PAGES);
	walker->rules = map_elements(1 + KEPT_RULES, sizeof(struct unwind_rule), UNWIND_RULES);
	if (!walker->modules || !walker->pages || !walker->rules)
		return -errno;
	walker->nr_modules = UNWIND_MODULES;
	walker->nr_pages = UNWIND_PAGES;
	walker->nr_rules = UNWIND_RULES;
	for (uint32_t i = 0; i < job->shards->nr_maps; i++) {
		mapped_shards[i] =
			map_elements(1 + KEPT_SHARDS + (int)i, sizeof(struct unwind_shard),
				     job->shards->maps[i].nr);
		if (!mapped_shards[i])
			return -errno;
	}
	return 0;
}

/* The stack that is walked, and its words. */
static struct {
	uint64_t start;
	size_t nr;
	uint64_t words[RAW_WORDS + 1];
} copy;

static void set_copy(const struct raw_stack *raw)
{
	const __u64 *zeros = raw_stack__zeros(raw);

	copy.start = raw->start;
	copy.nr = raw->nr_words;
	for (size_t i = 0; i < copy.nr; i++)
		copy.words[i] = zeros[i / 64] >> (i % 64) & 1 ? 0 : RAW_LEFT_OUT;
	for (uint32_t i = 0; i < raw->nr_kept; i++)
		if (raw_word__number(raw->more[i]) < copy.nr)
			copy.words[raw_word__number(raw->more[i])] = raw_word__word(raw->more[i]);
}

static bool read_copy(void *context, uint64_t address, void *to, size_t size)
{
	uint64_t offset = address - copy.start, bytes = copy.nr * sizeof(copy.words[0]);

	(void)context;
	if (offset > bytes || size > bytes - offset)
		return false;
	memcpy(to, (const char *)copy.words + offset, size);
	return true;
}

static int compare_mappings(const void *a, const void *b)
{
	return COMPARE(((const struct walker_mapping *)a)->start,
		       ((const struct walker_mapping *)b)->start);
}

/* Ascending and disjoint: of two that overlap, one was there before a change. */
static size_t sort_mappings(const struct raw_stack *raw, struct walker_mapping *mappings)
{
	size_t nr = 0, kept = 0;

	for (uint32_t i = 0; i < raw->nr_mappings; i++) {
		const struct raw_mapping *from = &raw_stack__mappings(raw)[i];

		mappings[nr++] = (struct walker_mapping){.start = from->start,
							 .end = from->end,
							 .offset = from->start - from->base,
							 .module = from->module,
							 .executable = from->executable};
	}
	array__sort(mappings, nr, sizeof(*mappings), compare_mappings);
	for (size_t i = 0; i < nr; i++)
		if (!kept || mappings[kept - 1].end <= mappings[i].start)
			mappings[kept++] = mappings[i];
	return kept;
}

static void walk_one(struct walker *walker, const struct raw_stack *raw)
{
	struct walker_mapping mappings[RAW_MAPPINGS];
	struct walker_start start = {.pc = raw->pc,
				     .exact = raw->exact,
				     .at_entry = raw->at_entry,
				     .is_called = raw->is_called};
	uint64_t frames[STACK_SLOTS];
	struct header header;

	set_copy(raw);
	walker->mappings = mappings;
	walker->nr_mappings = sort_mappings(raw, mappings);
	walker->start_stack = raw->program;
	memcpy(start.registers, raw->registers, sizeof(start.registers));
	header.end = walker__walk(walker, &start, frames, &header.nr);
	/* All that is not there was not copied, and what leads nowhere perhaps not, either. */
	if (header.nr &&
	    (header.end == UNWIND_UNREADABLE || (header.end == UNWIND_NO_CODE && raw->skips))) {
		header.end = UNWIND_NOT_COPIED;
		frames[header.nr - 1] = frame_mark(MARK_STOPPED, header.end);
	}
	reader_child__write(&header, sizeof(header));
	reader_child__write(frames, header.nr * sizeof(frames[0]));
}

static void walk_all(const void *context)
{
	const struct job *job = context;
	int fds[] = {0};
	struct sandbox sandbox = {
		.parent = job->parent,
		.fds = fds,
		.nr_fds = ARRAY_SIZE(fds),
		.memory = MEMORY,
		.cpu_seconds = CPU_SECONDS,
	};
	struct walker walker = {.shard = find_shard,
				.read = read_copy,
				.shards = job,
				.max_depth = job->settings->max_depth,
				.frame_pointers = job->settings->frame_pointers,
				.address_bits = own_processor__address_bits()};

	if (map_tables(job, &walker) || sandbox__enter(&sandbox))
		return;
	for (size_t i = 0; i < job->nr; i++)
		walk_one(&walker, job->stacks[i]);
}

/* ---- in the parent ---- */

static bool frame_is_sound(uint64_t frame, bool is_last)
{
	switch (frame_tag(frame)) {
	case FRAME_USER:
	case FRAME_MODULE:
		return true;
	case FRAME_MARK:
		return is_last && frame == frame_plain(frame) &&
		       (frame_mark_kind(frame) == MARK_CUT ||
			frame_mark_kind(frame) == MARK_STOPPED);
	default:
		return false;
	}
}

static int receive(struct reader_child *child, struct raw_walk *walk)
{
	struct header header;
	int err = reader_child__read(child, &header, sizeof(header));

	if (err)
		return err;
	if (header.nr > STACK_SLOTS || header.end >= NR_UNWIND_ENDS)
		return -EPROTO;
	walk->end = (enum unwind_end)header.end;
	walk->nr = header.nr;
	err = reader_child__read(child, walk->frames, walk->nr * sizeof(walk->frames[0]));
	for (uint32_t i = 0; i < walk->nr && !err; i++)
		if (!frame_is_sound(walk->frames[i], i == walk->nr - 1))
			err = -EPROTO;
	return err;
}

/* What is known without a walk. */
static void set_first_frame(struct raw_walk *walk)
{
	walk->end = UNWIND_TABLES_MISSING;
	walk->nr = 2;
	walk->frames[0] = walk->raw->pc >> FRAME_TAG_SHIFT ? 0 : walk->raw->pc;
	walk->frames[1] = frame_mark(MARK_STOPPED, walk->end);
}

static int start(struct reader_child *child, const struct unwind_tables *tables,
		 const struct job *job)
{
	const struct unwind_shards *shards = &tables->shards;
	int kept[KEPT_SHARDS + UNWIND_SHARD_MAPS] = {
		[KEPT_MODULES] = bpf_map__fd(tables->maps->modules),
		[KEPT_PAGES] = bpf_map__fd(tables->maps->pages),
		[KEPT_RULES] = bpf_map__fd(tables->maps->rules),
	};

	_Static_assert(ARRAY_SIZE(kept) <= READER_CHILD_KEPT_MAX, "all of them are kept");
	for (uint32_t i = 0; i < shards->nr_maps; i++)
		kept[KEPT_SHARDS + i] = shards->maps[i].fd;
	return reader_child__start(child, &role, walk_all, job, kept,
				   KEPT_SHARDS + shards->nr_maps);
}

/* Returns how many stacks the child has walked. */
static size_t receive_all(struct reader_child *child, const struct job *job,
			  void (*take)(void *context, const struct raw_walk *walk), void *context)
{
	struct raw_walk walk;
	size_t i;

	for (i = 0; i < job->nr; i++) {
		walk.raw = job->stacks[i];
		if (receive(child, &walk))
			break;
		take(context, &walk);
	}
	return i;
}

void raw_walks__run(const struct unwind_tables *tables, const struct raw_walk_settings *settings,
		    const struct raw_stack *const *stacks, size_t nr,
		    void (*take)(void *context, const struct raw_walk *walk), void *context)
{
	struct job job = {.parent = getpid(), .shards = &tables->shards, .settings = settings};

	for (size_t i = 0; i < nr;) {
		struct reader_child child;
		struct raw_walk walk;
		int err;

		job.stacks = stacks + i;
		job.nr = nr - i;
		err = start(&child, tables, &job);
		if (!err) {
			i += receive_all(&child, &job, take, context);
			reader_child__stop(&child);
		}
		if (i < nr) {
			walk.raw = stacks[i++];
			set_first_frame(&walk);
			take(context, &walk);
		}
	}
}
