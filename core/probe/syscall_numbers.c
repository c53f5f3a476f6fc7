// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/syscall_numbers.h"

#include <asm/unistd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/own_processor.h"
#include "sym/util/array.h"
#include "sym/util/text.h"

struct syscall_row {
	const char *name;
	int number;
};

/* The calls that the headers of this build know, sorted by name. */
static const struct syscall_row known[] = {
#include "core/probe/syscall_rows.h"
};

/*
 * The calls after those of Debian 12 (Linux 6.1). From 424 on all architectures use the same
 * numbers: scripts/syscall.tbl of the kernel.
 */
static const struct syscall_row later[] = {
	{"cachestat", 451},	    {"fchmodat2", 452},	       {"map_shadow_stack", 453},
	{"futex_wake", 454},	    {"futex_wait", 455},       {"futex_requeue", 456},
	{"statmount", 457},	    {"listmount", 458},	       {"lsm_get_self_attr", 459},
	{"lsm_set_self_attr", 460}, {"lsm_list_modules", 461}, {"mseal", 462},
	{"setxattrat", 463},	    {"getxattrat", 464},       {"listxattrat", 465},
	{"removexattrat", 466},	    {"open_tree_attr", 467},   {"file_getattr", 468},
	{"file_setattr", 469},	    {"listns", 470},	       {"rseq_slice_yield", 471},
};

/* Functions that have another name than their system call: the column "entry point" there. */
static const struct {
	const char *function, *name;
} renamed[] = {
	{"arm64_personality", "personality"},
	{"fadvise64_64", "fadvise64"},
	{"newfstat", "fstat"},
	{"newlstat", "lstat"},
	{"newstat", "stat"},
	{"newuname", "uname"},
	{"sendfile64", "sendfile"},
	{"umount", "umount2"},
};

static int compare_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct syscall_row *)row)->name);
}

int syscall_number(const char *name)
{
	const struct syscall_row *row;

	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++) {
		if (!strcmp(name, renamed[i].function)) {
			name = renamed[i].name;
			break;
		}
	}
	row = bsearch(name, known, ARRAY_SIZE(known), sizeof(known[0]), compare_name);
	for (size_t i = 0; !row && i < ARRAY_SIZE(later); i++)
		if (!strcmp(name, later[i].name))
			row = &later[i];
	if (row)
		return row->number;
	for (size_t i = 0; i < own_processor.nr_own_calls; i++)
		if (!strcmp(name, own_processor.own_calls[i].name))
			return own_processor.own_calls[i].number;
	return -1;
}

int syscall_of_tracepoint(const char *tracepoint, bool *entry)
{
	static const char enter[] = "syscalls:sys_enter_", leave[] = "syscalls:sys_exit_";

	*entry = text__begins(tracepoint, enter);
	if (*entry)
		return syscall_number(tracepoint + strlen(enter));
	if (text__begins(tracepoint, leave))
		return syscall_number(tracepoint + strlen(leave));
	return -1;
}
