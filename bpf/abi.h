/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the BPF programs and user space say to each other.
 *
 * The only header that both sides include: fixed-width types, named padding,
 * sizes asserted, and no second copy of any of it anywhere.
 */
#ifndef TRACEKIT_BPF_ABI_H
#define TRACEKIT_BPF_ABI_H

#include <linux/types.h>

/*
 * A frame is one 64-bit value whose top byte says what the rest is:
 *
 *   0x00  an address in the user space of the stack's process. Addresses
 *         end below 2^56 on every architecture that Linux supports today.
 *   0x01  reserved: module number and address within its file.
 *   0x02  a marker: bits 32-39 its kind, bits 0-31 its argument.
 *   0xff  an address in the kernel.
 *
 * A process can put any value on its stack where a return address should be,
 * so whoever walks a user stack replaces what is not a user address by 0: no
 * process forges a kernel frame or a marker.
 */
#define FRAME_TAG_SHIFT 56

enum frame_tag {
	FRAME_USER = 0x00,
	FRAME_MARK = 0x02,
	FRAME_KERNEL = 0xff,
};

enum frame_mark {
	MARK_CUT = 1, /* the stack goes on; argument: the frames before the cut */
};

static inline __u8 frame_tag(__u64 frame)
{
	return frame >> FRAME_TAG_SHIFT;
}

static inline __u64 frame_mark(enum frame_mark kind, __u32 argument)
{
	return (__u64)FRAME_MARK << FRAME_TAG_SHIFT | (__u64)kind << 32 | argument;
}

/* The most frames of one stack, and room for the marker that says it was cut. */
#define MAX_FRAMES  127
#define STACK_SLOTS (MAX_FRAMES + 1)

/* Leaf first. Only frames[0..nr) mean anything. */
struct stack {
	__u32 nr;
	__u32 reserved;
	__u64 frames[STACK_SLOTS];
};

/*
 * Reports that come at intervals are of epochs, 0 and 1 in turn. An event belongs
 * to the epoch that it read when it began, in everything that it leaves behind:
 * while the tables of one epoch are read and emptied, events count in the other.
 */
#define NR_EPOCHS 2

/*
 * A keyed 128-bit hash over the frames, with the epoch in the lowest bit of lo;
 * {0, 0} is the stack without frames.
 */
struct stack_id {
	__u64 lo;
	__u64 hi;
};

static inline __u32 stack_id__epoch(struct stack_id id)
{
	return id.lo % NR_EPOCHS;
}

#define COMM_LEN 16

/*
 * Scratch slots of each CPU: for programs that only interrupts can interrupt, and for
 * those that can be preempted, where each thread that is holds one.
 */
#define SCRATCH_SLOTS_NESTED	4
#define SCRATCH_SLOTS_PREEMPTED 32

/*
 * What events are counted by: where the thread was and, if trace_config asks for
 * it, its comm and tgid, which are empty and 0 else.
 */
struct stack_key {
	struct stack_id kernel;
	struct stack_id user;
	__u32 tgid; /* in the PID namespace of the caller */
	__u32 epoch;
	char comm[COMM_LEN];
};

/*
 * What is counted under a key. The program that a process was when it walked a user stack
 * is found by the time, which is kept where there are user stacks: with their addresses
 * laid out at random, two programs of one process hardly share a key.
 */
struct stack_count {
	__u64 count;
	__u64 time; /* of the last event: bpf_ktime_get_ns(), CLOCK_MONOTONIC */
};

/*
 * A stream of events goes through a ring buffer: what happened, and which stacks it
 * happened on by their ids. A stack itself is sent before the first event that names
 * it, once in each epoch as long as there is room to remember that.
 */
enum record_kind {
	RECORD_EVENT,
	RECORD_STACK,
};

struct event_record {
	__u32 kind; /* RECORD_EVENT */
	__u32 cpu;
	__u64 time; /* bpf_ktime_get_ns(): CLOCK_MONOTONIC */
	__u64 lost; /* how many events of the epoch had been lost by then, of all CPUs */
	__u32 tgid; /* both in the PID namespace of the caller */
	__u32 tid;
	__u32 epoch;
	__u32 reserved;
	struct stack_id kernel;
	struct stack_id user;
	char comm[COMM_LEN];
};

/* Ends with the last frame of its stack. */
struct stack_record {
	__u32 kind; /* RECORD_STACK */
	__u32 reserved;
	struct stack_id id;
	struct stack stack;
};

/* Every event that reaches a program adds to SEEN, and then to exactly one other. */
enum event_counter {
	EVENTS_SEEN,
	EVENTS_COUNTED,		 /* or sent, in a stream */
	EVENTS_FILTERED,	 /* by an option, or as the idle task */
	EVENTS_FILTERED_PIDNS,	 /* of a process in another PID namespace than the caller's */
	EVENTS_LOST_BUSY,	 /* no free scratch slot, or the kernel's own buffer in use */
	EVENTS_LOST_STACKS_FULL, /* no room in the stack table */
	EVENTS_LOST_KEYS_FULL,	 /* no room in the key table */
	EVENTS_LOST_REFUSED,	 /* the kernel refused to update a table (EBUSY, ENOMEM) */
	EVENTS_LOST_BUFFER_FULL, /* no room in the ring buffer */
	NR_EVENT_COUNTERS = 16,	 /* or fewer; a power of two: the programs mask with it */
};

struct event_counters {
	__u64 n[NR_EVENT_COUNTERS];
};

enum filter_by {
	FILTER_BY_NOTHING,
	FILTER_BY_TGID, /* -p */
	FILTER_BY_TID,	/* -L */
};

/* Offsets in bytes of what task.bpf.h follows; STRUCT_MEMBER of the kernel. */
struct task_layout {
	__u32 task_group_leader;
	__u32 task_thread_pid;
	__u32 task_nsproxy;
	__u32 nsproxy_mnt_ns;
	__u32 mnt_ns_inum; /* of the ns_common in a struct mnt_namespace */
	__u32 pid_level;
	__u32 pid_numbers;
	__u32 upid_nr;
	__u32 upid_ns;
	__u32 upid_size;   /* of a struct upid */
	__u32 pid_ns_inum; /* of the ns_common in a struct pid_namespace */
	__u32 reserved;
};

/* More than any architecture has native system calls (470 by Linux 7). */
#define SYSTEM_CALLS 1024

/* A bit for each. */
struct system_call_set {
	__u64 bits[SYSTEM_CALLS / 64];
};

/*
 * Settings, written between open and load: they are constants to the verifier,
 * which then drops the branches that they switch off.
 */
struct trace_config {
	__u64 hash_seed[2]; /* random in each run: processes choose their addresses */
	__u64 pidns_dev;    /* the caller's PID namespace, or 0 if it is the initial one */
	__u64 pidns_ino;
	struct task_layout task;
	__u32 max_frames; /* what one bpf_get_stack() returns at most */
	__u32 cpu;	  /* filter all others; or ALL_CPUS */
	__u8 kernel_stacks;
	__u8 user_stacks;
	__u8 skip_idle;		      /* filter the idle task */
	__u8 filter_by;		      /* enum filter_by: filter what is not in the map targets */
	__u8 filter_cgroup_ids;	      /* ... in the map cgroup_ids */
	__u8 filter_cgroup;	      /* ... below the cgroup in the map cgroup */
	__u8 filter_mount_namespaces; /* ... in the map mount_namespaces */
	__u8 has_task_layout;
	__u8 key_by_process;
	__u8 at_function_entry; /* user functions: the breakpoint is on their first instruction */
	__u8 has_task_pt_regs;	/* the kernel has that helper (5.15), and BTF */
	__u8 reserved;
	__u32 reserved2;
	struct system_call_set entered_calls; /* those whose entry is traced */
	struct system_call_set left_calls;    /* ... whose return is */
};

#define ALL_CPUS ((__u32)-1)

_Static_assert(sizeof(struct stack) == 8 + 8 * STACK_SLOTS, "no padding");
_Static_assert(sizeof(struct stack_key) == 56, "no padding: every byte is compared");
_Static_assert(sizeof(struct stack_count) == 16, "no padding");
_Static_assert(sizeof(struct event_record) == 88, "no padding");
_Static_assert(sizeof(struct stack_record) == 24 + sizeof(struct stack), "no padding");
_Static_assert(sizeof(struct task_layout) == 48, "no padding");
_Static_assert(sizeof(struct trace_config) == 104 + 2 * SYSTEM_CALLS / 8, "no padding");
_Static_assert((NR_EVENT_COUNTERS & (NR_EVENT_COUNTERS - 1)) == 0, "used as a mask");
_Static_assert((STACK_SLOTS & (STACK_SLOTS - 1)) == 0, "used as a mask");

/* ---- kernel_names.bpf.c: addresses in, "%pS" out ---- */

/* KSYM_SYMBOL_LEN of the kernel: name (512), offsets, module, build id; rounded up. */
#define KERNEL_NAME_LEN	  704
#define KERNEL_NAME_BATCH 32

struct kernel_names {
	__u64 nr;
	__u64 addresses[KERNEL_NAME_BATCH];
	char names[KERNEL_NAME_BATCH][KERNEL_NAME_LEN];
};

#endif
