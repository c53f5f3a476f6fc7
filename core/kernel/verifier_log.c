// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/verifier_log.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sym/util/array.h"
#include "sym/util/error.h"

/* All steps, and statistics. */
#define LOG_LEVEL (2 | 4)

/* The most that kernels before 5.16 take (c5a2d43e998a). Only written pages take memory. */
#define LOG_SIZE ((16 << 20) - 1)

struct program_log {
	const struct bpf_program *program;
	char *text;
};

struct verifier_log {
	struct program_log *logs;
	size_t nr, capacity;
};

static int add_log(struct verifier_log *log, struct bpf_program *program)
{
	char *text = mmap(NULL, LOG_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (text == MAP_FAILED)
		return -errno;
	if (ARRAY_GROW(log->logs, log->nr, log->capacity)) {
		munmap(text, LOG_SIZE);
		return -ENOMEM;
	}
	log->logs[log->nr++] = (struct program_log){.program = program, .text = text};
	bpf_program__set_log_level(program, LOG_LEVEL);
	return bpf_program__set_log_buf(program, text, LOG_SIZE);
}

int verifier_log__new(struct verifier_log **out, struct bpf_object *object, struct error *error)
{
	struct verifier_log *log = calloc(1, sizeof(*log));
	struct bpf_program *program;
	int err = log ? 0 : -ENOMEM;

	bpf_object__for_each_program(program, object) if (!err && bpf_program__autoload(program))
		err = add_log(log, program);
	if (err) {
		verifier_log__freep(&log);
		return error__set(error, err, "cannot keep the verifier's log: out of memory");
	}
	*out = log;
	return 0;
}

void verifier_log__freep(struct verifier_log **log)
{
	if (!*log)
		return;
	for (size_t i = 0; i < (*log)->nr; i++)
		munmap((*log)->logs[i].text, LOG_SIZE);
	free((*log)->logs);
	free(*log);
}

void verifier_log__print(const struct verifier_log *log, FILE *out)
{
	for (size_t i = 0; i < log->nr; i++)
		fprintf(out, "%s:\n%s\n", bpf_program__name(log->logs[i].program),
			log->logs[i].text);
}
