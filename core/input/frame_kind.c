// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/input/frame_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "sym/util/array.h"
#include "sym/util/text.h"

/* A mark behind the name that says its kind, as flamegraph.pl knows them, is cut off. */
static enum flame_kind take_mark(char *name, enum flame_kind otherwise)
{
	static const struct {
		const char *mark;
		enum flame_kind kind;
	} marks[] = {{"_[k]", FLAME_KERNEL}, {"_[i]", FLAME_INLINED}, {"_[j]", FLAME_GENERATED}};
	size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		size_t at = length - strlen(marks[i].mark);

		if (length > strlen(marks[i].mark) && !strcmp(name + at, marks[i].mark)) {
			name[at] = '\0';
			return marks[i].kind;
		}
	}
	return otherwise;
}

/*
 * A word in brackets, as "[unknown]" or where a function begins, "[libfoo.so+0x1200]"; and what
 * options put behind it: an offset, the place in the file, a source line.
 */
static bool is_unnamed(const char *name)
{
	const char *end = name[0] == '[' ? strrchr(name, ']') : NULL;

	return end && (!end[1] || text__begins(end, "]+0x") || text__begins(end, "] (") ||
		       text__begins(end, "]:"));
}

enum flame_kind frame_kind__of_name(char *name, enum flame_kind otherwise)
{
	static const char *const marks[] = {"[cut at ", "[unwind stopped: ", "[still waiting]"};

	if (!strcmp(name, "-"))
		return FLAME_MARK;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (text__begins(name, marks[i]))
			return FLAME_MARK;
	if (text__begins(name, "[unknown]") || is_unnamed(name))
		return FLAME_UNKNOWN;
	return take_mark(name, otherwise);
}

enum flame_kind frame_kind__of_thread(char *name, enum flame_kind otherwise)
{
	enum flame_kind kind = frame_kind__of_name(name, otherwise);

	if (kind != FLAME_UNKNOWN || text__begins(name, "[unknown]") || strstr(name, "+0x"))
		return kind;
	return otherwise;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

/* A name in brackets is the kernel or a module of it, but for what processes have so. */
static bool is_of_kernel(const char *file)
{
	static const char *const of_processes[] = {"[unknown]", "[vdso]",  "[vsyscall]",
						   "[heap]",	"[stack]", "[anon",
						   "[uprobes]", "[JIT]",   "[sigpage]"};
	static const char *const ends[] = {".ko", ".ko.xz", ".ko.gz", ".ko.zst"};
	const char *slash = strrchr(file, '/');

	for (size_t i = 0; i < ARRAY_SIZE(of_processes); i++)
		if (text__begins(file, of_processes[i]))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends_with(file, ends[i]))
			return true;
	return file[0] == '[' || text__begins(slash ? slash + 1 : file, "vmlinux") ||
	       text__begins(file, "bpf_prog_");
}

enum flame_kind frame_kind__of_file(const char *file)
{
	if (!file)
		return FLAME_USER;
	if (is_of_kernel(file))
		return FLAME_KERNEL;
	if (text__begins(file, "[JIT]") || (strstr(file, "/perf-") && ends_with(file, ".map")))
		return FLAME_GENERATED;
	return FLAME_USER;
}

const char *frame_kind__module(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *name = slash && slash[1] ? slash + 1 : file;

	return !name[0] || !strcmp(name, "[unknown]") ? NULL : name;
}
