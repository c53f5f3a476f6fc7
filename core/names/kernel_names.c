// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/names/kernel_names.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/kernel_names.h"
#include "kernel_names.skel.h"
#include "sym/sym.h"
#include "sym/util/cleanup.h"
#include "sym/util/page.h"

_Static_assert(SYM_KERNEL_BATCH <= KERNEL_NAME_BATCH, "a batch fits the map");

struct kernel_namer {
	struct kernel_names_bpf *skeleton;
	struct kernel_names *shared; /* the value of the map, mapped; or NULL */
	size_t shared_size;
};

int kernel_namer__new(struct kernel_namer **out)
{
	CLEANUP(kernel_namer__freep) struct kernel_namer *namer = calloc(1, sizeof(*namer));
	size_t page = page_size();
	void *shared;

	if (!namer)
		return -ENOMEM;
	namer->skeleton = kernel_names_bpf__open_and_load();
	if (!namer->skeleton)
		return -errno;
	namer->shared_size = (sizeof(struct kernel_names) + page - 1) / page * page;
	shared = page_map(bpf_map__fd(namer->skeleton->maps.kernel_names), namer->shared_size,
			  PROT_READ | PROT_WRITE, 0);
	if (shared == MAP_FAILED)
		return -errno;
	namer->shared = shared;
	*out = TAKE_POINTER(namer);
	return 0;
}

void kernel_namer__free(struct kernel_namer *namer)
{
	if (!namer)
		return;
	if (namer->shared)
		munmap(namer->shared, namer->shared_size);
	kernel_names_bpf__destroy(namer->skeleton);
	free(namer);
}

void kernel_namer__freep(struct kernel_namer **namer)
{
	kernel_namer__free(*namer);
}

int kernel_namer__print(void *context, const uint64_t *addresses, size_t nr, const char **texts)
{
	struct kernel_namer *namer = context;
	struct kernel_names *shared = namer->shared;
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int err;

	if (nr > KERNEL_NAME_BATCH)
		return -E2BIG;
	shared->nr = nr;
	memcpy(shared->addresses, addresses, nr * sizeof(*addresses));
	err = bpf_prog_test_run_opts(bpf_program__fd(namer->skeleton->progs.name_kernel_addresses),
				     &run);
	if (err)
		return err;
	if (run.retval)
		return -EIO;
	for (size_t i = 0; i < nr; i++) {
		shared->names[i][KERNEL_NAME_LEN - 1] = '\0';
		texts[i] = shared->names[i];
	}
	return 0;
}
