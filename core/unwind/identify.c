// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/unwind/identify.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/mman.h>

#include "bpf/abi.h"
#include "sym/util/page.h"

/* Of the child; see struct unwind_identifier. */
#define PROGRAM_FD 1
#define MAP_FD	   2

static int look_up(void *mapped, struct mapped_file *file)
{
	uint64_t arguments[] = {(uint64_t)(uintptr_t)mapped};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments,
		    .ctx_size_in = sizeof(arguments));
	uint32_t key = 0;

	if (bpf_prog_test_run_opts(PROGRAM_FD, &options))
		return -errno;
	if (options.retval != MAPPING_OF_FILE)
		return -ENOENT;
	return bpf_map_lookup_elem(MAP_FD, &key, file) ? -errno : 0;
}

/* Mapped without any access: nobody can make a read of it fail. */
static int identify(int fd, struct mapped_file *file)
{
	void *mapped = mmap(NULL, page_size(), PROT_NONE, MAP_PRIVATE, fd, 0);
	int err;

	if (mapped == MAP_FAILED)
		return -errno;
	err = look_up(mapped, file);
	munmap(mapped, page_size());
	return err;
}

struct unwind_identifier file_identifier(const struct bpf_program *program,
					 const struct bpf_map *identified)
{
	return (struct unwind_identifier){
		.identify = identify,
		.fds = {bpf_program__fd(program), bpf_map__fd(identified)},
	};
}
