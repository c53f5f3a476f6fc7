// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The verdict of this kernel's verifier on each tracing program, with user stacks that are walked
 * by tables and by frame pointers: a line
 *
 *   counting tables probe_user_code 10211 40+0+16
 *
 * with the instructions that the verifier has processed, and the bytes of stack of each function.
 * Exit status 1 if a program is not loaded.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "core/options/trace_options.h"
#include "core/trace/session.h"
#include "counting.skel.h"
#include "streaming.skel.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"

/* Statistics, and no steps. */
#define LOG_STATISTICS 4

static const struct {
	const char *name;
	const void *(*bytes)(size_t *size);
} objects[] = {
	{"counting", counting_bpf__elf_bytes},
	{"streaming", streaming_bpf__elf_bytes},
};

static const struct {
	const char *name;
	enum unwind_method method;
} methods[] = {
	{"tables", UNWIND_AUTO},
	{"frame-pointers", UNWIND_FRAME_POINTERS},
};

static void bpf_object__closep(struct bpf_object **object)
{
	bpf_object__close(*object);
}

static struct trace_config *find_config(const struct bpf_object *object)
{
	struct bpf_map *map;
	size_t size;

	bpf_object__for_each_map(map, object)
	{
		if (strstr(bpf_map__name(map), ".rodata"))
			return (struct trace_config *)bpf_map__initial_value(map, &size);
	}
	return NULL;
}

/* Load only the program with that number. Returns false if this kernel has none. */
static bool choose(const struct bpf_object *object, size_t number,
		   const struct trace_config *config, struct bpf_program **chosen)
{
	struct bpf_program *program;
	size_t i = 0;

	*chosen = NULL;
	bpf_object__for_each_program(program, object)
	{
		bpf_program__set_autoload(program, i == number);
		if (i++ == number)
			*chosen = program;
	}
	return *chosen &&
	       (config->has_task_pt_regs || !strstr(bpf_program__name(*chosen), "_perf_sys_"));
}

static void print_statistics(const char *log)
{
	const char *stack = strstr(log, "stack depth "), *processed = strstr(log, "processed ");

	printf(" %d %.*s\n", processed ? atoi(processed + strlen("processed ")) : 0,
	       stack ? (int)strspn(stack + strlen("stack depth "), "0123456789+") : 0,
	       stack ? stack + strlen("stack depth ") : "");
}

/* Returns 1, 0 if there is no program with that number, or a negative errno with error filled. */
static int verify(size_t which, size_t method, size_t number, struct error *error)
{
	const struct trace_options options = {.hash_storage_size = 1,
					      .stack_storage_size = 1,
					      .max_depth = MAX_FRAMES,
					      .unwind_memory = UNWIND_MEMORY_MIN,
					      .unwind = methods[method].method,
					      .children = true};
	CLEANUP(session__closep) struct session *session = NULL;
	CLEANUP(bpf_object__closep) struct bpf_object *object = NULL;
	struct trace_config *config;
	struct bpf_program *program;
	struct bpf_map *map;
	static char log[65536];
	const void *bytes;
	size_t size;
	int err;

	bytes = objects[which].bytes(&size);
	object = bpf_object__open_mem(bytes, size, NULL);
	if (!object)
		return error__set(error, -errno, "cannot open %s", objects[which].name);
	config = find_config(object);
	err = session__open(&session, &options, error);
	if (!err)
		err = session__configure(session, object, config, error);
	if (err)
		return err;
	config->at_function_entry = true;
	config->tell_bases = true;
	map = bpf_object__find_map_by_name(object, "off_threads");
	if (map)
		bpf_map__set_autocreate(map, true);
	if (!choose(object, number, config, &program))
		return program ? 1 : 0;
	log[0] = '\0';
	bpf_program__set_log_level(program, LOG_STATISTICS);
	bpf_program__set_log_buf(program, log, sizeof(log));
	err = bpf_object__load(object);
	if (err)
		return error__set(error, err, "cannot load %s: %s", bpf_program__name(program),
				  log);
	printf("%s %s %s", objects[which].name, methods[method].name, bpf_program__name(program));
	print_statistics(log);
	return 1;
}

int main(void)
{
	struct error error;

	for (size_t which = 0; which < ARRAY_SIZE(objects); which++) {
		for (size_t method = 0; method < ARRAY_SIZE(methods); method++) {
			int found = 1;

			for (size_t number = 0; found > 0; number++)
				found = verify(which, method, number, &error);
			if (found < 0) {
				fprintf(stderr, "verified: %s\n", error.text);
				return 1;
			}
		}
	}
	return 0;
}
