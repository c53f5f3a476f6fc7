// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/types.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "core/kernel/btf.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

/*
 * Returns 0, -ESRCH if the kernel has no BTF, -ENOENT if one of the first needed fields is missing,
 * or another negative errno.
 */
static int find_fields(const struct btf_field *fields, size_t nr, size_t needed)
{
	CLEANUP_CLOSE int fd = kernel_btf__open();
	int err = fd < 0 ? -ESRCH : btf__find_fields(fd, fields, nr);

	for (size_t i = 0; i < needed && !err; i++)
		if (*fields[i].offset == BTF_MISSING)
			err = -ENOENT;
	return err;
}

int task_layout__read(struct task_layout *layout)
{
	struct task_layout found;
	const struct btf_field fields[] = {
		{"task_struct", "pid", &found.task_pid},
		{"task_struct", "group_leader", &found.task_group_leader},
		{"task_struct", "thread_pid", &found.task_thread_pid},
		{"task_struct", "nsproxy", &found.task_nsproxy},
		{"nsproxy", "mnt_ns", &found.nsproxy_mnt_ns},
		{"mnt_namespace", "ns.inum", &found.mnt_ns_inum},
		{"pid", "level", &found.pid_level},
		{"pid", "numbers", &found.pid_numbers},
		{"upid", "nr", &found.upid_nr},
		{"upid", "ns", &found.upid_ns},
		{"upid", NULL, &found.upid_size},
		{"pid_namespace", "ns.inum", &found.pid_ns_inum},
	};
	int err = find_fields(fields, ARRAY_SIZE(fields), ARRAY_SIZE(fields));

	if (!err)
		*layout = found;
	return err;
}

/* The first that the kernel has. */
static uint32_t one_of(uint32_t offset, uint32_t otherwise)
{
	return offset == BTF_MISSING ? otherwise : offset;
}

/* Of fields, each a word, that programs read at once. */
struct span {
	uint32_t first, end;
};

static struct span span_of(const uint32_t *const *offsets, size_t nr)
{
	struct span span = {.first = UINT32_MAX};

	for (size_t i = 0; i < nr; i++) {
		uint32_t end = *offsets[i] + (uint32_t)sizeof(uint64_t);

		span.first = *offsets[i] < span.first ? *offsets[i] : span.first;
		span.end = end > span.end ? end : span.end;
	}
	return span;
}

/* Returns 0, or -ENOENT if fields are too far from each other. */
static int find_spans(struct mapping_layout *layout)
{
	const uint32_t *const of_vma[] = {&layout->vma_start, &layout->vma_end, &layout->vma_pgoff,
					  &layout->vma_file, &layout->vma_flags};
	uint32_t *const of_inode[] = {&layout->inode_mode,	&layout->inode_sb,
				      &layout->inode_ino,	&layout->inode_size,
				      &layout->inode_ctime_sec, &layout->inode_ctime_nsec};
	struct span vma = span_of(of_vma, ARRAY_SIZE(of_vma));
	struct span inode = span_of((const uint32_t *const *)of_inode, ARRAY_SIZE(of_inode));

	layout->vma_bytes = vma.end;
	layout->inode_first = inode.first;
	layout->inode_bytes = inode.end - inode.first;
	for (size_t i = 0; i < ARRAY_SIZE(of_inode); i++)
		*of_inode[i] -= inode.first;
	layout->inode_generation -= inode.first;
	return layout->vma_bytes <= MAPPING_STRUCT_BYTES &&
			       layout->inode_bytes <= MAPPING_STRUCT_BYTES ?
		       0 :
		       -ENOENT;
}

_Static_assert(NO_OFFSET == BTF_MISSING, "a field that is missing has it");

/* Of no use unless all are there: a kernel without uprobes has none. */
static void need_all_of_probes(struct mapping_layout *layout)
{
	const uint32_t offsets[] = {
		layout->xol_address,	 layout->task_utask,	  layout->utask_slot,
		layout->utask_place,	 layout->utask_instances, layout->instance_stack,
		layout->instance_return, layout->instance_next,
	};

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++)
		if (offsets[i] == BTF_MISSING)
			layout->mm_xol_area = NO_OFFSET;
}

/* So many of the fields below are there in all kernels. */
#define NEEDED_FOR_MAPPINGS 20

int mapping_layout__read(struct mapping_layout *layout)
{
	struct mapping_layout found = {0};
	uint32_t maple, rb, id, arm64_id, ctime, ctime_nsec, before_6_7, before_6_7_nsec,
		before_6_11, before_6_11_nsec;
	const struct btf_field fields[] = {
		{"task_struct", "mm", &found.task_mm},
		{"mm_struct", "mmap_lock.count", &found.mm_lock},
		{"mm_struct", "context.vdso", &found.mm_vdso},
		{"mm_struct", "exe_file", &found.mm_exe_file},
		{"mm_struct", "start_stack", &found.mm_start_stack},
		{"vm_area_struct", "vm_start", &found.vma_start},
		{"vm_area_struct", "vm_end", &found.vma_end},
		{"vm_area_struct", "vm_pgoff", &found.vma_pgoff},
		{"vm_area_struct", "vm_file", &found.vma_file},
		{"vm_area_struct", "vm_flags", &found.vma_flags},
		{"file", "f_inode", &found.file_inode},
		{"file", "f_path.dentry", &found.file_dentry},
		{"dentry", "d_parent", &found.dentry_parent},
		{"dentry", "d_name.name", &found.dentry_name},
		{"inode", "i_mode", &found.inode_mode},
		{"inode", "i_sb", &found.inode_sb},
		{"inode", "i_ino", &found.inode_ino},
		{"inode", "i_size", &found.inode_size},
		{"inode", "i_generation", &found.inode_generation},
		{"super_block", "s_dev", &found.sb_dev},
		/* By the version of the kernel. */
		{"mm_struct", "mm_mt.ma_root", &maple},
		{"mm_struct", "mm_rb.rb_node", &rb},
		{"mm_struct", "mm_lock_seq", &found.mm_seq},
		{"mm_struct", "context.ctx_id", &id},
		{"mm_struct", "context.id", &arm64_id},
		{"vm_area_struct", "vm_rb", &found.vma_rb},
		{"inode", "i_ctime_sec", &ctime},
		{"inode", "i_ctime_nsec", &ctime_nsec},
		{"inode", "__i_ctime.tv_sec", &before_6_11},
		{"inode", "__i_ctime.tv_nsec", &before_6_11_nsec},
		{"inode", "i_ctime.tv_sec", &before_6_7},
		{"inode", "i_ctime.tv_nsec", &before_6_7_nsec},
		{"mm_struct", "uprobes_state.xol_area", &found.mm_xol_area},
		{"xol_area", "vaddr", &found.xol_address},
		{"task_struct", "utask", &found.task_utask},
		{"uprobe_task", "xol_vaddr", &found.utask_slot},
		{"uprobe_task", "vaddr", &found.utask_place},
		{"uprobe_task", "return_instances", &found.utask_instances},
		{"return_instance", "stack", &found.instance_stack},
		{"return_instance", "orig_ret_vaddr", &found.instance_return},
		{"return_instance", "next", &found.instance_next},
	};
	int err = find_fields(fields, ARRAY_SIZE(fields), NEEDED_FOR_MAPPINGS);

	if (err)
		return err;
	found.mm_tree = one_of(maple, rb);
	found.mm_id = one_of(id, arm64_id);
	if (found.mm_id == BTF_MISSING)
		found.mm_seq = NO_OFFSET;
	found.inode_ctime_sec = one_of(ctime, one_of(before_6_11, before_6_7));
	found.inode_ctime_nsec = one_of(ctime_nsec, one_of(before_6_11_nsec, before_6_7_nsec));
	found.page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	if (found.mm_tree == BTF_MISSING || found.inode_ctime_sec == BTF_MISSING ||
	    found.inode_ctime_nsec == BTF_MISSING)
		return -ENOENT;
	need_all_of_probes(&found);
	err = find_spans(&found);
	if (!err)
		*layout = found;
	return err;
}

int thread_fields__read(struct thread_fields *fields)
{
	uint32_t flags, state, before_5_14;
	const struct btf_field wanted[] = {
		{"task_struct", "flags", &flags},
		{"task_struct", "__state", &state},
		{"task_struct", "state", &before_5_14},
	};
	int err = find_fields(wanted, ARRAY_SIZE(wanted), 1);

	if (err)
		return err;
	state = one_of(state, before_5_14);
	if (state == BTF_MISSING)
		return -ENOENT;
	*fields = (struct thread_fields){.state = state, .flags = flags};
	return 0;
}

bool kernel_types__have_tracepoint(const char *name)
{
	CLEANUP_CLOSE int fd = kernel_btf__open();
	char type[128];

	/* The type of the function that is called at a tracepoint (Linux 5.5). */
	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return fd >= 0 && btf__has_typedef(fd, type);
}

int kernel_memory__try(void)
{
	static const struct bpf_insn instructions[] = {
		/* bpf_probe_read_kernel(r10 - 8, 8, 0) */
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	CLEANUP_CLOSE int program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", instructions,
						  ARRAY_SIZE(instructions), NULL);

	return program < 0 ? program : 0;
}

bool task_registers__can_be_had(void)
{
	static enum { NOT_ASKED, YES, NO } answer;

	if (answer == NOT_ASKED) {
		CLEANUP_CLOSE int btf = kernel_btf__open();

		answer = btf >= 0 && libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE,
							     BPF_FUNC_task_pt_regs, NULL) == 1 ?
				 YES :
				 NO;
	}
	return answer == YES;
}
