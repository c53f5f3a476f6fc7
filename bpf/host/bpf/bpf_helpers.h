/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stands in for libbpf's header of this name where the walk of user stacks is compiled for user
 * space (bpf/host/walker.c): maps are names, and the helpers that walks call are functions of the
 * walker. Its folder comes before libbpf's in the include path.
 */
#ifndef TRACEKIT_BPF_HOST_HELPERS_H
#define TRACEKIT_BPF_HOST_HELPERS_H

#include <linux/types.h>
#include <stddef.h>

#define SEC(name)
#define __uint(name, value)  int(*name)[value]
#define __type(name, value)  typeof(value) *name
#define __array(name, value) typeof(value) *name[]
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#ifndef __noinline
#define __noinline __attribute__((noinline))
#endif

/* The name is one of libbpf, which is in the same program. */
#define bpf_map_lookup_elem walker__look_up
void *bpf_map_lookup_elem(void *map, const void *key);
/* Maps that walks write to are not there: nothing is remembered, or asked for. */
static inline long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	(void)map, (void)key, (void)value, (void)flags;
	return 0;
}

static inline void *bpf_ringbuf_reserve(void *ring, __u64 size, __u64 flags)
{
	(void)ring, (void)size, (void)flags;
	return NULL;
}

static inline void bpf_ringbuf_submit(void *record, __u64 flags)
{
	(void)record, (void)flags;
}

static inline long bpf_ringbuf_output(void *ring, const void *record, __u64 size, __u64 flags)
{
	(void)ring, (void)record, (void)size, (void)flags;
	return -1;
}

/* Return 0, or a negative errno with zeros where the bytes were to go. */
long bpf_probe_read_user(void *to, __u32 size, const void *address);
long bpf_probe_read_kernel(void *to, __u32 size, const void *address);

static inline long bpf_probe_read_kernel_str(void *to, __u32 size, const void *address)
{
	(void)to, (void)size, (void)address;
	return -1;
}

/* The kernel's own walk is not to be had: -EFAULT, as where its buffer is in use. */
static inline long bpf_get_stack(void *context, void *frames, __u32 size, __u64 flags)
{
	(void)context, (void)frames, (void)size, (void)flags;
	return -14;
}

struct bpf_pidns_info;
struct task_struct;

static inline long bpf_get_ns_current_pid_tgid(__u64 device, __u64 inode,
					       struct bpf_pidns_info *ids, __u32 size)
{
	(void)device, (void)inode, (void)ids, (void)size;
	return -1;
}

static inline __u64 bpf_get_current_pid_tgid(void)
{
	return 1ULL << 32 | 1;
}

/* The task of the walker's small kernel. */
__u64 bpf_get_current_task(void);

static inline struct task_struct *bpf_get_current_task_btf(void)
{
	return NULL;
}

static inline long bpf_task_pt_regs(struct task_struct *task)
{
	(void)task;
	return 0;
}

static inline __u32 bpf_get_smp_processor_id(void)
{
	return 0;
}

__u64 bpf_ktime_get_ns(void);

#endif
