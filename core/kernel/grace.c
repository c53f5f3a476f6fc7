// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/grace.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "sym/util/array.h"

int grace__open(struct grace *grace)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	struct grace opened = {0};
	int err;

	opened.fds[1] = bpf_map_create(BPF_MAP_TYPE_ARRAY, "nothing", sizeof(uint32_t),
				       sizeof(uint32_t), 1, NULL);
	if (opened.fds[1] < 0)
		return -errno;
	options.inner_map_fd = (uint32_t)opened.fds[1];
	opened.fds[0] = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "grace", sizeof(uint32_t),
				       sizeof(uint32_t), 1, &options);
	if (opened.fds[0] < 0) {
		err = -errno;
		close(opened.fds[1]);
		return err;
	}
	*grace = opened;
	return 0;
}

void grace__close(struct grace *grace)
{
	for (size_t i = 0; i < ARRAY_SIZE(grace->fds); i++)
		if (grace->fds[i] > 0)
			close(grace->fds[i]);
	*grace = (struct grace){0};
}

/*
 * When user space changes a map of maps, the kernel waits for an RCU grace period, since a program
 * may still be using the old inner map (4.20, 1ae80cf31938). membarrier() would do the same, but
 * not with one CPU, and not with nohz_full.
 */
int grace__wait(const struct grace *grace)
{
	uint32_t zero = 0;

	return bpf_map_update_elem(grace->fds[0], &zero, &grace->fds[1], BPF_ANY);
}
