// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of kernel addresses, asked of the kernel itself.
 *
 * /proc/kallsyms costs 25 to 40 ms however little one reads; user space runs this
 * program by BPF_PROG_TEST_RUN (5.14+), which prints just the wanted addresses by
 * "%pS", modules and BPF programs included.
 */
#include "kernel_names.h"
#include "common.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kernel_names);
} kernel_names SEC(".maps");

SEC("syscall")
int name_kernel_addresses(void *ctx __attribute__((unused)))
{
	static const char format[] = "%pS";
	__u32 zero = 0;
	struct kernel_names *batch = bpf_map_lookup_elem(&kernel_names, &zero);

	if (!batch)
		return 1;
	for (__u32 i = 0; i < KERNEL_NAME_BATCH; i++) {
		__u64 address = batch->addresses[i];

		if (i >= batch->nr)
			break;
		bpf_snprintf(batch->names[i], KERNEL_NAME_LEN, format, &address, sizeof(address));
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
