/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache of the dynamic loader, /etc/ld.so.cache: where libraries lie by their
 * sonames. Format: "glibc-ld.so.cache1.1", alone or behind one of the format before
 * (glibc, sysdeps/generic/dl-cache.h).
 */
#ifndef TRACEKIT_SYM_FIND_LD_CACHE_H
#define TRACEKIT_SYM_FIND_LD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LD_CACHE "/etc/ld.so.cache"

struct ld_cache {
	const char *bytes; /* not owned; offsets of strings count from here */
	size_t size;
	uint32_t nr; /* entries, for whichever machine */
};

/* Returns 0, or -EINVAL with *cache untouched if bytes are no such file. */
int ld_cache__open(struct ld_cache *cache, const char *bytes, size_t size);

/*
 * Entry i, below nr: a soname and the path that it stands for, both in the bytes of
 * the cache. False if it is not for this machine, or only for some of its CPUs, or
 * damaged. The newest version of a library comes first.
 */
bool ld_cache__entry(const struct ld_cache *cache, uint32_t i, const char **soname,
		     const char **path);

#endif
