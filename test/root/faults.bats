#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Things that a machine can lack: one clear line for each, and the rest works all the same.

load helpers
load ../refute

# The machine is as it was, also when a case was ended.
teardown() {
	[ -z "$restrict" ] || echo "$restrict" >/proc/sys/kernel/kptr_restrict
	[ -z "$offline" ] || echo 1 >"$offline"
	end_started
}

# isolated SCRIPT: in a mount namespace of its own.
isolated() {
	unshare --mount true || skip "cannot make a mount namespace"
	unshare --mount bash -c "$1"
}

# nobody CAPABILITIES COMMAND...: as an ordinary user with these capabilities and no others.
nobody() {
	local capabilities=$1
	shift
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "-all,$capabilities" \
		--ambient-caps "-all,$capabilities" --bounding-set "-all,$capabilities" "$@"
}

# one_line STATUS PATTERN: the run that try has tried ended so, and printed only that line.
one_line() {
	cat err
	[ "$status" -eq "$1" ]
	[ ! -s out ]
	[ "$(wc -l <err)" -eq 1 ]
	grep -Eq "$2" err
}

# bats test_tags=between
@test "without the kernel's BTF stacks are walked by frame pointers, and mount namespaces refused, which is said" {
	local callers='main;outer;middle'
	# There the caller of a leaf is in a register.
	[ "$(uname -m)" != aarch64 ] || callers='main;outer'
	spin names
	isolated "[ ! -d /sys/kernel/btf ] || mount -t tmpfs none /sys/kernel/btf
		'$TRACEKIT' profile -f -p $pid 1" >out 2>err
	cat err
	grep -Eq ";$callers;spin_leaf [0-9]+$" out
	[ "$(<err)" = "profile: the kernel has no BTF (CONFIG_DEBUG_INFO_BTF): user stacks are walked by frame pointers, and end where a function has none" ]
	[ -d /sys/kernel/btf ] || skip "the kernel has no BTF"
	mkdir bpf
	try isolated "mount -t tmpfs none /sys/kernel/btf; mount -t bpf none bpf
		bpftool map create bpf/map type hash key 8 value 4 entries 1 name map
		'$TRACEKIT' profile --mntnsmap bpf/map 1" >out 2>err
	one_line 1 '^profile: --mntnsmap: the kernel has no BTF; it needs a kernel with CONFIG_DEBUG_INFO_BTF$'
}

@test "with an unreadable kallsyms kernel functions are named by the kernel itself, or it is said" {
	spin syscalls
	isolated "mount -t tmpfs none '$BATS_TEST_TMPDIR'; cd '$BATS_TEST_TMPDIR'; : >empty
		mount --bind empty /proc/kallsyms
		'$TRACEKIT' profile -f -K -p $pid -F 499 1" >out 2>err
	[ -s out ]
	if [ -s err ]; then
		grep -Eq '^profile: kernel functions have no names: ' err
		[ "$(wc -l <err)" -eq 1 ]
		refute grep -q "$kernel_dispatch" out
	else
		grep -q "$kernel_dispatch" out
	fi
}

@test "where the kernel hides its addresses kernel functions are named all the same, or it is said" {
	spin syscalls
	before=$(</proc/sys/kernel/kptr_restrict)
	echo 2 2>/dev/null >/proc/sys/kernel/kptr_restrict || skip "cannot set kernel.kptr_restrict"
	restrict=$before
	sample 10 -f -K -p "$pid" -F 499
	[ -s out ]
	if [ -s err ]; then
		grep -Eq '^profile: kernel functions have no names: the kernel hides its addresses; set kernel.kptr_restrict to 0, or run with CAP_SYSLOG$' err
		refute grep -q "$kernel_dispatch" out
	else
		grep -q "$kernel_dispatch" out
	fi
}

@test "with CAP_BPF alone, and with CAP_PERFMON" {
	cp "$TRACEKIT" ./tracekit
	chmod 755 . ./tracekit
	nobody +bpf "$PWD/tracekit" --version >/dev/null || skip "cannot drop to these capabilities here"
	try nobody +bpf "$PWD/tracekit" profile 1 >out 2>err
	# Before 5.11 maps are locked memory.
	locked=
	[ "$(printf '%s\n' 5.11 "$(uname -r)" | sort -V | head -1)" = 5.11 ] ||
		locked=" and, before Linux 5\.11, 'ulimit -l unlimited' \(RLIMIT_MEMLOCK\)"
	one_line 1 "^profile: cannot load BPF programs: .*; run as root, or with CAP_BPF and CAP_PERFMON$locked; see .tracekit doctor.\$"
	spin names
	try nobody +bpf,+perfmon "$PWD/tracekit" profile -f -F 499 0.2 >out 2>err
	if [ "$status" -eq 0 ]; then
		grep -q '^spin' out
	else
		# Debian's kernels know a value above 2, and before 5.11 maps are locked memory.
		one_line 1 '^profile: cannot (sample CPU [0-9]+: .*; run as root, or with CAP_PERFMON and kernel.perf_event_paranoid at most 2|load BPF programs: .*; run as root, or .*); see .tracekit doctor.$'
	fi
}

@test "without /proc" {
	try isolated "mount -t tmpfs none /proc; '$TRACEKIT' profile 1" >out 2>err
	one_line 1 '^profile: .*; mount /proc$'
}

@test "a table that is too large for memory" {
	# The table takes 17 GB.
	[ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -lt 16000000 ] ||
		skip "this machine has the memory"
	try profile --stack-storage-size 16777216 -F 499 0.2 >out 2>err
	one_line 1 '^profile: cannot load BPF programs: .*; try a smaller --stack-storage-size or --hash-storage-size$'
}

# As all CPUs but one are while the machine is suspended.
@test "a CPU that was offline is sampled again" {
	local online=/sys/devices/system/cpu/cpu1/online
	[ -w "$online" ] || skip "no CPU can be taken offline"
	start_tracer profile -f -F 99
	echo 0 >"$online" || skip "this CPU cannot be taken offline"
	offline=$online
	echo 1 >"$online"
	spin names
	taskset -pc 1 "$pid" >/dev/null
	spend "$pid" 400
	stop_tracer
	# A second can pass until it is sampled.
	[ "$(grep '^spin;.*;spin_leaf ' out | sum /dev/stdin)" -ge 200 ]
}

# limited OPTION NUMBER COMMAND...: under such a limit of bash's ulimit.
limited() {
	bash -c "ulimit $1 $2; shift 2; exec \"\$@\"" limited "$@"
}

# bats test_tags=same
@test "limits of memory and processes are named where they are too small" {
	try limited -v 20000 "$TRACEKIT" profile 1 >out 2>err
	one_line 1 "^profile: cannot load call-frame information: Cannot allocate memory; use --unwind=fp; a process may have 20000 KB of addresses \(RLIMIT_AS\): 'ulimit -v unlimited' allows more$"
	cp "$TRACEKIT" ./tracekit
	chmod 755 . ./tracekit
	nobody +dac_read_search "$PWD/tracekit" --version >/dev/null || skip "an unprivileged user cannot reach $PWD"
	try nobody +dac_read_search bash -c "ulimit -u 1; exec '$PWD/tracekit' flamegraph /dev/null" >out 2>err
	one_line 1 "^flamegraph: cannot start a child to read the files: Resource temporarily unavailable; this user may have 1 processes \(RLIMIT_NPROC\): 'ulimit -u' sets that, and a cgroup can have a limit, too \(pids.max\)$"
}

# bats test_tags=same
@test "a limit of memory that is no trouble makes none" {
	spin names
	limited -v 400000 "$TRACEKIT" profile -f -U -p $pid 1 >out 2>err
	grep -Eq ';main;outer;middle;spin_leaf [0-9]+$' out
	refute grep 'could not be read' err
}
