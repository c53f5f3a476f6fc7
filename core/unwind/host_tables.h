/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables as of bpf/tables.bpf.h in our own memory, for walks in user space (bpf/host/walker.h). */
#ifndef TRACEKIT_CORE_UNWIND_HOST_TABLES_H
#define TRACEKIT_CORE_UNWIND_HOST_TABLES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind_tables.h"
#include "sym/cfi/rules.h"

struct avoided_devices;
struct unwind_identifier;
struct unwind_mapped;
struct walker;

/* All zero is: there are none. */
struct host_tables {
	struct unwind_rules rules;
	struct unwind_module *modules;
	size_t nr_modules, modules_capacity;
	struct unwind_page *pages;
	size_t nr_pages, pages_capacity;
	struct unwind_shard **shards;
	size_t nr_shards, shards_capacity;
	uint32_t used;		/* words of the last shard */
	uint16_t *rule_numbers; /* of the file that is read, by its own numbers */
	size_t nr_rule_numbers;
};

/* Tells files apart by their inode and device: these are not shared with walks in the kernel. */
extern const struct unwind_identifier host_identifier;

void host_tables__release(struct host_tables *tables);

/*
 * Have a child read the table of what a process has mapped, as of unwind_table_reader__start().
 * Returns the number of its module, which has no table if the file has none or it cannot be had; or
 * -ENOMEM.
 */
int host_tables__load(struct host_tables *tables, pid_t pid, const struct unwind_mapped *mapped,
		      struct avoided_devices *avoided);

/* Have a walker walk by these tables, as long as none is added. */
void host_tables__use(const struct host_tables *tables, struct walker *walker);

#endif
