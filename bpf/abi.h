/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data that all BPF programs and user space exchange. unwind_tables.h, unwind_rule.h
 * and kernel_names.h have the data that only some of them exchange.
 *
 * In all four: fixed-width types, named padding, sizes asserted, and no second copy of any
 * of it anywhere.
 */
#ifndef TRACEKIT_BPF_ABI_H
#define TRACEKIT_BPF_ABI_H

#include <linux/types.h>

/*
 * A frame is one 64-bit value whose top byte says what the rest is:
 *
 *   0x00  an address in the user space of the stack's process. Addresses
 *         end below 2^56 on every architecture that Linux supports today.
 *   0x01  a place in a file, whichever process has it mapped, and wherever: bits 40-55 the
 *         number of its module, bits 0-39 the offset.
 *   0x02  a marker: bits 32-39 its kind, bits 0-31 its argument.
 *   0x04  with 0x00 and 0x01: an instruction that a signal interrupted; without it, frames
 *         other than leaves are return addresses of calls.
 *   0xff  an address in the kernel.
 *
 * A process can put any value on its stack where a return address should be,
 * so whoever walks a user stack replaces what is not a user address by 0: no
 * process forges a kernel frame, a marker, or a place in a file.
 */
#define FRAME_TAG_SHIFT	   56
#define FRAME_MODULE_SHIFT 40

enum frame_tag {
	FRAME_USER = 0x00,
	FRAME_MODULE = 0x01,
	FRAME_MARK = 0x02,
	FRAME_INTERRUPTED = 0x04,
	FRAME_KERNEL = 0xff,
};

enum frame_mark {
	MARK_CUT = 1, /* the stack goes on; argument: the frames before the cut */
	MARK_STOPPED, /* it goes on, but the walk could not follow; argument: enum unwind_end */
	MARK_LASTS,   /* what is counted lasted when the trace ended; behind both stacks */
};

/* How the walk of a user stack by tables has ended. */
enum unwind_end {
	UNWIND_GOES_ON,
	UNWIND_COMPLETE,
	UNWIND_ASSISTED, /* complete, but some callers were found by frame pointers */
	UNWIND_CUT,	 /* there were more frames than are wanted */
	/* Why it is not complete. */
	UNWIND_TABLES_MISSING, /* the tables of a file are not loaded yet */
	UNWIND_NO_CODE,	       /* nothing executable is mapped there */
	UNWIND_NO_INFORMATION, /* the file has none for the code, and there is no frame pointer */
	UNWIND_UNKNOWN_RULE,   /* the file has a rule of an unknown shape */
	UNWIND_LOST_REGISTER,  /* the rule needs a register that nobody has kept */
	UNWIND_UNREADABLE,     /* the stack is not there, or not in memory */
	UNWIND_NOT_GROWING,    /* the caller's frame would be below: it was overwritten */
	UNWIND_CHANGING,       /* another thread was changing what is mapped there */
	UNWIND_RETURN_PROBE,   /* a return probe has the return address, and it was not found */
	UNWIND_NOT_COPIED,     /* walked later: deeper than what was copied of the stack */
	/* Such stacks are walked by frame pointers, by the kernel. */
	UNWIND_32BIT,	     /* the process is not a 64-bit one */
	UNWIND_IN_KERNEL,    /* the thread was in the kernel, which does not tell its registers */
	NR_UNWIND_ENDS = 16, /* or fewer; a power of two: the programs mask with it */
};

static inline int frame_is_interrupted(__u64 frame)
{
	return (frame >> FRAME_TAG_SHIFT & ~(__u64)FRAME_MODULE) == FRAME_INTERRUPTED;
}

/* The same place, whether or not it was interrupted there. */
static inline __u64 frame_plain(__u64 frame)
{
	return frame_is_interrupted(frame) ?
		       frame & ~((__u64)FRAME_INTERRUPTED << FRAME_TAG_SHIFT) :
		       frame;
}

/* The tag of the plain place; never FRAME_INTERRUPTED. */
static inline enum frame_tag frame_tag(__u64 frame)
{
	return (enum frame_tag)(frame_plain(frame) >> FRAME_TAG_SHIFT);
}

static inline __u64 frame_in_module(__u32 module, __u64 offset)
{
	return (__u64)FRAME_MODULE << FRAME_TAG_SHIFT | (__u64)module << FRAME_MODULE_SHIFT |
	       offset;
}

static inline __u32 frame_module(__u64 frame)
{
	return frame >> FRAME_MODULE_SHIFT & 0xffff;
}

static inline __u64 frame_offset(__u64 frame)
{
	return frame & ((1ULL << FRAME_MODULE_SHIFT) - 1);
}

static inline __u64 frame_mark(enum frame_mark kind, __u32 argument)
{
	return (__u64)FRAME_MARK << FRAME_TAG_SHIFT | (__u64)kind << 32 | argument;
}

static inline enum frame_mark frame_mark_kind(__u64 mark)
{
	return (enum frame_mark)(mark >> 32 & 0xff);
}

/*
 * A stack is kept in parts; most stacks have only one. In each part the leaf comes first, and only
 * frames[0..nr) mean anything.
 */
#define PART_FRAMES 64
#define STACK_PARTS 9

/* The most frames of one stack, and room for the marker that says how it goes on. */
#define STACK_SLOTS (PART_FRAMES * STACK_PARTS)
#define MAX_FRAMES  (STACK_SLOTS - 1)

/* The most frames that one bpf_get_stack() is asked for. */
#define KERNEL_SLOTS 128

/*
 * Reports that come at intervals are of epochs, 0 and 1 in turn. An event belongs
 * to the epoch that it read when it began, in everything that it leaves behind:
 * while the tables of one epoch are read and emptied, events count in the other.
 */
#define NR_EPOCHS 2

/* Instead of an epoch: the trace is over, and waits are no longer counted. */
#define EPOCH_NONE NR_EPOCHS

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

struct stack_part {
	struct stack_id next; /* the part with the callers of these frames; {0, 0}: there is none */
	__u32 nr;
	__u32 reserved;
	__u64 frames[PART_FRAMES];
};

#define COMM_LEN 16

/*
 * Each CPU has some scratch slots of its own: the kernel lets no sample interrupt another one. At
 * targets, programs interrupt each other, and where they can be preempted, each preempted thread
 * holds a slot: then there are more, which all CPUs share, and of which each CPU tries some.
 */
#define SCRATCH_SLOTS_OWN    2
#define SCRATCH_SLOTS_TRIED  30
#define SCRATCH_SLOTS_SHARED 1024 /* at most */

/*
 * The key of counted events: where the thread was and, if trace_config asks for it, its comm and
 * its IDs; else they are empty and 0.
 */
struct stack_key {
	struct stack_id kernel;
	struct stack_id user;
	__u32 tgid; /* both in the PID namespace of the caller */
	__u32 tid;  /* 0: all threads of the process are counted together */
	__u32 epoch;
	__u32 lasts; /* it had not ended when the trace did */
	/*
	 * Which program the process runs: start_stack of its struct mm_struct, which is another one
	 * after exec(), and field 28 of /proc/PID/stat. 0: it is not known.
	 */
	__u64 program;
	char comm[COMM_LEN];
};

/* Where a program has a module: in struct unwind_mapping, base. */
struct base_key {
	__u64 program;
	__u32 tgid;
	__u32 module;
};

/* The value of a key. */
struct stack_count {
	__u64 count;
	__u64 cgroup; /* of the first event, if trace_config asks for it; or 0 */
	__u64 weight; /* of all events, in nanoseconds, where events last; or 0 */
};

/* A thread that has left its CPU once, by the address of its task_struct. */
struct off_thread {
	__u64 since;   /* when it left; CLOCK_MONOTONIC; 0: it has come back */
	__u32 state;   /* as which it left: see enum thread_state; 0: it could have run on */
	__u32 outcome; /* enum event_counter: what its wait comes to if its length is wanted */
	struct stack_key key;	  /* where it left, or has come back: see waits.bpf.h */
	struct stack_count first; /* the value of this key, if it is new */
};

/* Bits of the kernel that are the same from 5.10 on (include/linux/sched.h). */
enum thread_state {
	THREAD_DEAD = 0x80,
	/* Not a state of its own: idle threads of the kernel do not count for the load. */
	THREAD_NO_LOAD = 0x400,
};

/*
 * A stream of events goes through a ring buffer: what happened, and which stacks it
 * happened on by their ids. A stack itself is sent before the first event that names
 * it, once in each epoch as long as there is room to remember that.
 */
enum record_kind {
	RECORD_EVENT,
	RECORD_PART,
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
	__u64 program; /* as in struct stack_key */
	__u64 cgroup;  /* of version 2, by its ID, if trace_config asks for it; or 0 */
	struct stack_id kernel;
	struct stack_id user;
	char comm[COMM_LEN];
};

/* The record ends with its last frame. The part that part.next names has been sent before. */
struct part_record {
	__u32 kind; /* RECORD_PART */
	__u32 reserved;
	struct stack_id id;
	struct stack_part part;
};

/* Every event that reaches a program adds to SEEN, and then to exactly one other. */
enum event_counter {
	EVENTS_SEEN,
	EVENTS_COUNTED,		  /* or sent, in a stream */
	EVENTS_FILTERED,	  /* by an option, or as the idle task */
	EVENTS_FILTERED_PIDNS,	  /* of a process in another PID namespace than the caller's */
	EVENTS_LOST_BUSY,	  /* no free scratch slot, or the kernel's own buffer in use */
	EVENTS_LOST_STACKS_FULL,  /* no room in the stack table */
	EVENTS_LOST_KEYS_FULL,	  /* no room in the key table */
	EVENTS_LOST_REFUSED,	  /* the kernel refused to update a table (EBUSY, ENOMEM) */
	EVENTS_LOST_BUFFER_FULL,  /* no room in the ring buffer */
	EVENTS_LOST_THREADS_FULL, /* no room for the thread that waits */
	EVENTS_LATER,		  /* its stack is walked later, and it is counted then */
	EVENTS_MISSED,		  /* the kernel did not tell how it went on: not in the sum */
	EVENTS_WALKED,		  /* its stack has been walked later: not in the sum */
	NR_EVENT_COUNTERS = 16,	  /* or fewer; a power of two: the programs mask with it */
};

struct event_counters {
	__u64 n[NR_EVENT_COUNTERS];
	__u64 walks[NR_UNWIND_ENDS]; /* of user stacks by tables, counted by how they ended */
	__u64 keys;		     /* that have come into the key table */
	__u64 lost_weight;	     /* of the lost events, as far as that is known */
};

enum filter_by {
	FILTER_BY_NOTHING,
	FILTER_BY_TGID, /* -p */
	FILTER_BY_TID,	/* -L */
	FILTER_BY_FOLLOWED,
};

/* Whether the processes of these PIDs are followed: 4 MB for all PIDs that Linux can give. */
#define FOLLOWED_CHUNK	4096 /* a page, for mmap() */
#define FOLLOWED_CHUNKS 1024

struct followed_chunk {
	__u8 pids[FOLLOWED_CHUNK];
};

/* PIDs of tracekit's own processes, by their last bits; 0: nobody. One page, for mmap(). */
#define OWN_BUCKETS 128
#define OWN_BUCKET  8

struct own_bucket {
	__u32 pids[OWN_BUCKET];
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
	__u32 task_pid;
};

/* Offsets in bytes of what mapping.bpf.h follows, as above. */
struct mapping_layout {
	__u32 task_mm;
	__u32 mm_tree; /* mm_mt.ma_root; before 6.1 mm_rb.rb_node */
	__u32 mm_lock; /* mmap_lock.count */
	__u32 mm_vdso; /* context.vdso */
	__u32 mm_exe_file;
	__u32 mm_start_stack;
	__u32 mm_id;  /* context.ctx_id (x86-64) or .id (arm64), which no other has or will have; */
	__u32 mm_seq; /* mm_lock_seq: another with each change; NO_OFFSET before 6.4 */
	__u32 vma_start;
	__u32 vma_end;
	__u32 vma_pgoff;
	__u32 vma_file;
	__u32 vma_flags;
	__u32 vma_rb;	 /* before 6.1, else NO_OFFSET */
	__u32 vma_bytes; /* from its beginning, with all of these */
	__u32 file_inode;
	__u32 file_dentry; /* f_path.dentry */
	__u32 dentry_parent;
	__u32 dentry_name; /* d_name.name */
	__u32 inode_first; /* of these, which are from there on, */
	__u32 inode_bytes; /* in so many; but the generation can be behind them, or before */
	__u32 inode_mode;
	__u32 inode_sb;
	__u32 inode_ino;
	__u32 inode_size;
	__u32 inode_generation;
	__u32 inode_ctime_sec;
	__u32 inode_ctime_nsec;
	__u32 sb_dev;
	__u32 page_shift;
	/* What probes of programs leave behind, or NO_OFFSET in the first one where there are none.
	 */
	__u32 mm_xol_area; /* uprobes_state.xol_area */
	__u32 xol_address; /* vaddr of a struct xol_area */
	__u32 task_utask;
	__u32 utask_slot;      /* xol_vaddr: of the instruction that is executed there, */
	__u32 utask_place;     /* vaddr: and where it is in the program */
	__u32 utask_instances; /* return_instances */
	__u32 instance_stack;
	__u32 instance_return; /* orig_ret_vaddr */
	__u32 instance_next;
	__u32 reserved;
};

#define NO_OFFSET ((__u32)-1)

/* At most so many bytes of a vma or an inode are read at once. */
#define MAPPING_STRUCT_BYTES 256

/*
 * Which file: what two files of one system never share. A number of an inode is given again, to a
 * file of another generation; file systems without generations have times. All zero: the vDSO.
 */
struct mapped_file {
	__u64 inode;
	__u64 size;
	__u64 ctime; /* seconds */
	__u32 ctime_nsec;
	__u32 generation;
	__u32 device;	   /* as the kernel has it: the lower 20 bits are the minor number */
	__u32 at_any_time; /* see below; else 0 */
};

/*
 * A file that is no program, as one with generated code, is written to again and again. So it is
 * also known by this, without its size and time.
 */
static inline void mapped_file__set_at_any_time(struct mapped_file *known,
						const struct mapped_file *file)
{
	known->inode = file->inode;
	known->size = known->ctime = 0;
	known->ctime_nsec = 0;
	known->generation = file->generation;
	known->device = file->device;
	known->at_any_time = 1;
}

/* Where an address lies. */
struct found_mapping {
	__u64 start, end;
	__u64 offset;	  /* of start, in the file */
	__u64 executable; /* or 0 */
	struct mapped_file file;
};

enum mapping_outcome {
	MAPPING_NONE,	   /* nothing is mapped there */
	MAPPING_ANONYMOUS, /* no file, or one that never is a program */
	MAPPING_OF_FILE,
	MAPPING_UNREADABLE, /* the kernel did not let us read */
	MAPPING_TORN,	    /* it was being changed: offset and start need not belong together */
};

/* More than any architecture has native system calls (470 by Linux 7). */
#define SYSTEM_CALLS 1024

/* A bit for each. */
struct system_call_set {
	__u64 bits[SYSTEM_CALLS / 64];
};

enum state_source {
	STATE_NOT_TOLD,
	STATE_IN_ARGUMENT, /* of sched_switch (5.18, and others) */
	STATE_IN_TASK,	   /* at task_state in task_struct */
};

enum thread_kind {
	THREADS_OF_ALL,
	THREADS_OF_USERS,
	THREADS_OF_KERNEL,
};

/* Which waits offcputime wants. */
struct wait_config {
	__u64 min, max;	     /* nanoseconds */
	__u32 state;	     /* a bit of this; 0: threads that could have run; see any_state */
	__u32 task_state;    /* offset in task_struct */
	__u32 task_flags;    /* offset there, too */
	__u8 any_state;	     /* whatever the state */
	__u8 state_source;   /* enum state_source */
	__u8 threads;	     /* enum thread_kind */
	__u8 walk_at_return; /* else at the leaving */
};

/* state: of the thread when it left, 0 if it could have run on; waited: nanoseconds. */
static inline int wait_config__wants(const volatile struct wait_config *config, __u32 state,
				     __u64 waited)
{
	int right_state =
		config->any_state || (config->state ? (state & config->state) != 0 : state == 0);

	return right_state && waited >= config->min && waited <= config->max;
}

/*
 * Settings, written between open and load: they are constants to the verifier,
 * which then drops the branches that they switch off.
 */
/*
 * A glob for names of threads, as an automaton: bit i is the state in which the first i characters
 * of the glob that are not "*" have been matched. A byte leads from bit i to bit i + 1 if it is in
 * accepts[byte]; where a "*" follows, the state stays as well.
 */
struct comm_glob {
	__u32 accepts[256];
	__u32 stays;
	__u32 end; /* the state that is a match */
};

struct trace_config {
	__u64 hash_seed[2]; /* random in each run: processes choose their addresses */
	__u64 pidns_dev;    /* the caller's PID namespace, or 0 if it is the initial one */
	__u64 pidns_ino;
	struct task_layout task;
	__u32 max_frames;     /* what one bpf_get_stack() returns at most */
	__u32 max_depth;      /* frames of a stack that are wanted: 1 to MAX_FRAMES */
	__u32 max_user_depth; /* of a user stack */
	__u32 cpu;	      /* filter all others; or ALL_CPUS */
	__u32 workload;	      /* the process that is followed from its next exec() on, or 0 */
	__u32 cpus;	      /* that can ever be online: each has scratch slots */
	__u32 shared_slots;   /* there are so many behind those; or 0 */
	__u32 only_tgid;      /* the kernel's number of the only process that is wanted; or 0 */
	__u8 kernel_stacks;
	__u8 user_stacks;
	__u8 skip_idle;		      /* filter the idle task */
	__u8 filter_by;		      /* enum filter_by: filter what is not in its map */
	__u8 filter_cgroup_ids;	      /* ... in the map cgroup_ids */
	__u8 filter_cgroup;	      /* ... below the cgroup in the map cgroup */
	__u8 filter_mount_namespaces; /* ... in the map mount_namespaces */
	__u8 has_task_layout;
	__u8 key_by_process;
	__u8 at_function_entry; /* user functions: the breakpoint is on their first instruction */
	__u8 has_task_pt_regs;	/* the kernel has that helper (5.15), and BTF */
	__u8 unwind_tables;	/* user stacks are walked by them, */
	__u8 frame_pointers;	/* or by these, also where there are no tables */
	__u8 skip_own;		/* filter tracekit's own processes */
	__u8 filter_comm;	/* ... filter threads whose names do not match comm */
	__u8 tell_cgroups;	/* of which cgroups events are */
	__u8 tell_bases;	/* it is noted where programs have their modules */
	__u8 find_files;	/* user frames are looked up in mappings, however they were found */
	__u8 walks_later;	/* stacks are sent whose tables are missing */
	__u8 adds_caller;	/* at functions of the kernel: its own walk leaves out the caller */
	__u8 address_bits;	/* of an address of user space; arm64 signs in those above */
	__u8 key_by_thread;	/* threads are counted by themselves */
	__u8 reserved[2];
	struct comm_glob comm;
	struct wait_config waits;
	struct mapping_layout mapping;
	struct system_call_set entered_calls; /* those whose entry is traced */
	struct system_call_set left_calls;    /* ... whose return is */
};

#define ALL_CPUS ((__u32)-1)

_Static_assert(sizeof(struct stack_part) == 24 + 8 * PART_FRAMES, "no padding");
_Static_assert(sizeof(struct stack_key) == 72, "no padding: every byte is compared");
_Static_assert(sizeof(struct base_key) == 16, "no padding: every byte is compared");
_Static_assert(sizeof(struct stack_count) == 24, "no padding");
_Static_assert(sizeof(struct off_thread) == 16 + 72 + 24, "no padding");
_Static_assert(sizeof(struct event_record) == 104, "no padding");
_Static_assert(sizeof(struct part_record) == 24 + sizeof(struct stack_part), "no padding");
_Static_assert(sizeof(struct task_layout) == 48, "no padding");
_Static_assert(sizeof(struct mapping_layout) == 160, "no padding");
_Static_assert(sizeof(struct mapped_file) == 40, "no padding: every byte is compared");
_Static_assert(sizeof(struct trace_config) == 136 + 1032 + 32 + 160 + 2 * SYSTEM_CALLS / 8,
	       "no padding");
_Static_assert((NR_EVENT_COUNTERS & (NR_EVENT_COUNTERS - 1)) == 0, "used as a mask");
_Static_assert((NR_UNWIND_ENDS & (NR_UNWIND_ENDS - 1)) == 0, "used as a mask");

#endif
