// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bpf/abi.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/kernel_fs.h"

static void free_btf(struct btf *const *btf)
{
	btf__free(*btf);
}

/* The kernel's own BTF. NULL if there is none. */
static FILE *open_btf(void)
{
	return kernel_fs__open_file(KERNEL_FS_SYS, "kernel/btf/vmlinux");
}

/* NULL if there is none. */
static struct btf *read_btf(void)
{
	CLEANUP_FCLOSE FILE *file = open_btf();
	char path[32];

	if (!file)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	return btf__parse_raw(path);
}

/*
 * Find the offset in bytes and the type of a struct's member; a member of an unnamed struct or
 * union in it counts as its own. False if there is none.
 */
static bool find_member(const struct btf *btf, uint32_t type_id, const char *name, uint32_t *offset,
			uint32_t *member_type)
{
	const struct btf_type *type = btf__type_by_id(btf, type_id);
	const struct btf_member *members = btf_members(type);

	for (uint16_t i = 0; i < btf_vlen(type); i++) {
		uint32_t at = btf_member_bit_offset(type, i) / 8;
		const char *found = btf__name_by_offset(btf, members[i].name_off);
		const struct btf_type *inner = btf__type_by_id(btf, members[i].type);

		if (!strcmp(found, name)) {
			*offset = at;
			*member_type = members[i].type;
			return true;
		}
		if (!found[0] && btf_is_composite(inner) &&
		    find_member(btf, members[i].type, name, offset, member_type)) {
			*offset += at;
			return true;
		}
	}
	return false;
}

/* A field to look for: STRUCT.MEMBER, or STRUCT.MEMBER.INNER. */
struct wanted_field {
	const char *structure;
	const char *member;
	const char *inner; /* of the struct that the member is; or NULL */
	uint32_t *offset;
};

static int find_field(const struct btf *btf, const struct wanted_field *field)
{
	int32_t id = btf__find_by_name_kind(btf, field->structure, BTF_KIND_STRUCT);
	uint32_t offset, inner_offset, type;

	if (id < 0 || !find_member(btf, (uint32_t)id, field->member, &offset, &type))
		return -ENOENT;
	if (field->inner) {
		if (!btf_is_composite(btf__type_by_id(btf, type)) ||
		    !find_member(btf, type, field->inner, &inner_offset, &type))
			return -ENOENT;
		offset += inner_offset;
	}
	*field->offset = offset;
	return 0;
}

static int find_size(const struct btf *btf, const char *structure, uint32_t *size)
{
	int32_t id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);

	if (id < 0)
		return -ENOENT;
	*size = btf__type_by_id(btf, (uint32_t)id)->size;
	return 0;
}

int task_layout__read(struct task_layout *layout)
{
	CLEANUP(free_btf) struct btf *btf = read_btf();
	struct task_layout found = {0};
	const struct wanted_field fields[] = {
		{"task_struct", "pid", NULL, &found.task_pid},
		{"task_struct", "group_leader", NULL, &found.task_group_leader},
		{"task_struct", "thread_pid", NULL, &found.task_thread_pid},
		{"task_struct", "nsproxy", NULL, &found.task_nsproxy},
		{"nsproxy", "mnt_ns", NULL, &found.nsproxy_mnt_ns},
		{"mnt_namespace", "ns", "inum", &found.mnt_ns_inum},
		{"pid", "level", NULL, &found.pid_level},
		{"pid", "numbers", NULL, &found.pid_numbers},
		{"upid", "nr", NULL, &found.upid_nr},
		{"upid", "ns", NULL, &found.upid_ns},
		{"pid_namespace", "ns", "inum", &found.pid_ns_inum},
	};
	int err;

	if (!btf)
		return -ESRCH;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		err = find_field(btf, &fields[i]);
		if (err)
			return err;
	}
	err = find_size(btf, "upid", &found.upid_size);
	if (!err)
		*layout = found;
	return err;
}

int thread_fields__read(struct thread_fields *fields)
{
	CLEANUP(free_btf) struct btf *btf = read_btf();
	struct thread_fields found;
	const struct wanted_field flags = {"task_struct", "flags", NULL, &found.flags},
				  state = {"task_struct", "__state", NULL, &found.state},
				  before_5_14 = {"task_struct", "state", NULL, &found.state};

	if (!btf)
		return -ESRCH;
	if (find_field(btf, &flags) || (find_field(btf, &state) && find_field(btf, &before_5_14)))
		return -ENOENT;
	*fields = found;
	return 0;
}

bool kernel_types__have_tracepoint(const char *name)
{
	CLEANUP(free_btf) struct btf *btf = read_btf();
	char type[128];

	/* The type of the function that is called at a tracepoint (Linux 5.5). */
	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return btf && btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0;
}

bool task_registers__can_be_had(void)
{
	static enum { NOT_ASKED, YES, NO } answer;

	if (answer == NOT_ASKED) {
		CLEANUP_FCLOSE FILE *btf = open_btf();

		answer = btf && libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_task_pt_regs,
							NULL) == 1 ?
				 YES :
				 NO;
	}
	return answer == YES;
}
