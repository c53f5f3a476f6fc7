// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/root/walked_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/unwind/end.h"
#include "core/unwind/modules.h"
#include "sym/process/process.h"

enum unwind_end walked_stack__end(const __u64 *frames, uint32_t *nr)
{
	uint64_t last = *nr ? frames[*nr - 1] : 0;

	if (frame_tag(last) != FRAME_MARK)
		return UNWIND_COMPLETE;
	--*nr;
	return frame_mark_kind(last) == MARK_CUT ? UNWIND_CUT : (uint32_t)last % NR_UNWIND_ENDS;
}

const char *walked_stack__end_text(enum unwind_end end)
{
	return end == UNWIND_COMPLETE ? "complete" :
	       end == UNWIND_CUT      ? "cut" :
					unwind_end__text(end);
}

static bool is_of_file(const struct mapping *mapping, const struct sym_file_id *file)
{
	return mapping->device == file->device && mapping->inode == file->inode &&
	       (mapping->inode || !strcmp(mapping->path, "[vdso]"));
}

/* Where the process has the file of a frame, or 0; no file has been seen there twice. */
static uint64_t address_of(uint64_t frame, const struct unwind_module_list *modules,
			   const struct mapping_list *list)
{
	uint64_t offset = frame_offset(frame);

	if (frame_tag(frame) != FRAME_MODULE)
		return frame_plain(frame);
	for (size_t i = 0; i < list->nr; i++) {
		const struct mapping *mapping = &list->mappings[i];

		if (is_of_file(mapping, &modules->items[frame_module(frame)].id) &&
		    offset >= mapping->offset &&
		    offset - mapping->offset < mapping->end - mapping->start)
			return mapping->start + (offset - mapping->offset);
	}
	return 0;
}

bool walked_stack__place(__u64 *frames, uint32_t nr, const struct unwind_module_list *modules,
			 const struct mapping_list *mappings)
{
	bool placed = true;

	for (uint32_t i = 0; i < nr; i++) {
		bool in_file = frame_tag(frames[i]) == FRAME_MODULE;

		frames[i] = address_of(frames[i], modules, mappings);
		placed = placed && !(in_file && !frames[i]);
	}
	return placed;
}

uint64_t walked_stack__incomplete(const uint64_t incomplete[NR_UNWIND_ENDS])
{
	uint64_t sum = 0;

	for (uint32_t end = 0; end < NR_UNWIND_ENDS; end++)
		sum += incomplete[end];
	return sum;
}

void walked_stack__print_incomplete(const uint64_t incomplete[NR_UNWIND_ENDS])
{
	const char *separator = " (";

	printf("%" PRIu64 " not complete", walked_stack__incomplete(incomplete));
	for (uint32_t end = 0; end < NR_UNWIND_ENDS; end++) {
		if (!incomplete[end])
			continue;
		printf("%s%" PRIu64 " %s", separator, incomplete[end], walked_stack__end_text(end));
		separator = ", ";
	}
	if (separator[0] == ',')
		putchar(')');
}
