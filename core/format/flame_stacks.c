// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/format/flame_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/format/about.h"
#include "core/format/format.h"
#include "core/trace/stacks.h"
#include "sym/types.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/text.h"

/* The frames of one stack, from its root, with texts of their own. */
struct line {
	struct flame_frame *frames;
	size_t nr, capacity;
	struct arena texts;
};

static void line__release(struct line *line)
{
	free(line->frames);
	arena__release(&line->texts);
}

static int line__add(struct line *line, const char *text, const char *module, enum flame_kind kind)
{
	char *copy = arena__copy_string(&line->texts, text, strlen(text));

	if (!copy || ARRAY_GROW(line->frames, line->nr, line->capacity))
		return -ENOMEM;
	line->frames[line->nr++] =
		(struct flame_frame){.text = copy, .module = module, .kind = kind};
	return 0;
}

static enum flame_kind kind_of(uint64_t frame, const struct sym_query *query, uint32_t level)
{
	static const enum flame_kind kinds[] = {
		[FRAME_IS_MARK] = FLAME_MARK,	  [FRAME_IS_INLINED] = FLAME_INLINED,
		[FRAME_IS_KERNEL] = FLAME_KERNEL, [FRAME_IS_GENERATED] = FLAME_GENERATED,
		[FRAME_IS_USER] = FLAME_USER,
	};
	enum frame_kind kind = frame_text__kind(frame, query, level);

	if (kind != FRAME_IS_MARK && kind != FRAME_IS_INLINED && !query->name)
		return FLAME_UNKNOWN;
	return kinds[kind];
}

/* "[unknown] (libc.so.6)": side by side, frames without names say more by their files. */
static void name_module(uint64_t frame, const struct sym_query *query, uint32_t level,
			char text[FRAME_TEXT_MAX])
{
	size_t length = strlen(text);

	if (kind_of(frame, query, level) != FLAME_UNKNOWN || !query->module ||
	    frame_text__has_start(query) || strchr(text, '(') ||
	    length + strlen(query->module) + 4 > FRAME_TEXT_MAX)
		return;
	length += (size_t)sprintf(text + length, " (");
	length += text__clean(query->module, strlen(query->module), false, text + length,
			      FRAME_TEXT_MAX - length - 1);
	strcpy(text + length, ")");
}

static int add_frames(struct line *line, const struct shown_stacks *shown,
		      const struct counted_stack *item, const struct frames *frames,
		      uint32_t hidden)
{
	for (uint32_t i = frames->nr; i-- > hidden;) {
		uint64_t frame = frames->frames[i];
		const struct sym_query *query = shown_stacks__answer(shown, item, frames, i);

		for (uint32_t level = frame_text__levels(frame, query); level-- > 0;) {
			char text[FRAME_TEXT_MAX];

			frame_text__write(&shown->style, frame, query, level, text);
			name_module(frame, query, level, text);
			if (line__add(line, text, query ? query->module : NULL,
				      kind_of(frame, query, level)))
				return -ENOMEM;
		}
	}
	return 0;
}

static int add_stack(struct flame_tree *tree, const struct shown_stacks *shown,
		     const struct counted_stack *item)
{
	CLEANUP(line__release) struct line line = {0};
	char who[WHO_MAX];
	int err = 0;

	counted_stack__who(shown, item, false, who);
	if (shown->comms)
		err = line__add(&line, who, NULL, FLAME_PROCESS);
	if (!err)
		err = add_frames(&line, shown, item, item->user, 0);
	if (!err && shown_stacks__delimits(shown, item))
		err = line__add(&line, "-", NULL, FLAME_MARK);
	if (!err)
		err = add_frames(&line, shown, item, item->kernel, item->hidden);
	return err ? err :
		     flame_tree__add(tree, line.frames, line.nr, shown_stacks__value(shown, item));
}

static int make_tree(struct flame_tree *tree, const struct shown_stacks *shown)
{
	int err = flame_tree__add(tree, NULL, 0, 0);

	for (size_t i = 0; i < shown->counts->nr && !err; i++)
		err = add_stack(tree, shown, &shown->counts->items[i]);
	return err ? err : flame_tree__sort(tree);
}

int flame_stacks__make(struct flame_stacks *stacks, const struct shown_stacks *shown)
{
	about__command_line(stacks->title, sizeof(stacks->title));
	about__trace(shown, stacks->about, sizeof(stacks->about));
	stacks->picture = (struct flame_picture){
		.tree = &stacks->tree,
		.title = stacks->title,
		.about = stacks->about,
		.unit = shown_stacks__unit(shown),
		.waits = shown_stacks__have_weights(shown),
	};
	return make_tree(&stacks->tree, shown);
}

void flame_stacks__release(struct flame_stacks *stacks)
{
	flame_tree__release(&stacks->tree);
}
