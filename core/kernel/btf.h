/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own description of its types (BTF; Documentation/bpf/btf.rst in its source), read
 * through a window: libbpf would hold all of it, 12.7 MB.
 */
#ifndef TRACEKIT_CORE_KERNEL_BTF_H
#define TRACEKIT_CORE_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is asked for: where a member of a struct stands. */
struct btf_field {
	const char *structure;
	/* "member", or "member.inner" in the struct that it is; members of unnamed ones count as
	 * those of the outer. NULL: the size of the struct is asked for. */
	const char *path;
	uint32_t *offset; /* becomes that, in bytes, or BTF_MISSING */
};

#define BTF_MISSING UINT32_MAX

/* At most so many at once. */
#define BTF_FIELDS_MAX 64

/* The kernel's; -1 and errno if there is none. The descriptor is the caller's. */
int kernel_btf__open(void);

/*
 * Look for the fields in the BTF of that file. Returns 0 also if some are missing; -EBADMSG if it
 * is no BTF that we understand, -E2BIG for too many fields, -ENOMEM.
 */
int btf__find_fields(int fd, const struct btf_field *fields, size_t nr);

/* True if there is a typedef of that name. */
bool btf__has_typedef(int fd, const char *name);

#endif
