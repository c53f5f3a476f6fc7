#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# doctor: what it says of this machine is what the applets then do.

load helpers
load ../refute
load doctor.bash

# bats test_tags=between
@test "as root: what it says is what the applets do" {
	spin paths
	examine
	agrees_in_all
	answers programs yes
	answers maps yes
	answers kallsyms yes
	answers raw-tracepoints yes
	answers CAP_BPF yes
	verdict profile works
	[ "$status" -le 1 ]
	[ "$status" -eq 1 ] || verdict stackcount works
	[ "$(grep -c '^{"check":' report)" -gt 35 ]
	nothing_left
}

# bats test_tags=same
@test "of one applet: a line for it, and only what it needs" {
	examine profile
	[ "$status" -eq 0 ]
	[ "$(grep -c '^{"applet":' report)" -eq 1 ]
	refute grep -q '"kprobe-multi"' report
	nothing_left
}

# bats test_tags=same
@test "kernel functions have names, though BPF programs of other tracers come and go" {
	local loops=()
	for _ in 1 2 3; do
		start bash -c 'while "$TRACEKIT" stackcount -K -D 0.05 t:raw_syscalls:sys_enter; do :; done' >others
		loops+=("$pid")
	done
	wait_for grep -q "$kernel_dispatch" others
	examine profile
	answers kernel-names yes
	kill -KILL "${loops[@]}"
	nothing_left
}

@test "an ordinary user: nothing works, and it says what is missing" {
	as_nobody
	examine
	[ "$status" -eq 2 ]
	verdict profile 'does not work'
	verdict stackcount 'does not work'
	verdict stacksnoop 'does not work'
	answers samples no
	answers programs no
	answers CAP_PERFMON no
	[ "$(why programs)" = 'Operation not permitted: without CAP_BPF and CAP_PERFMON' ]
	[[ $(why capabilities) == 'without CAP_BPF, CAP_PERFMON, '* ]]
	grep -q '"check":"samples",.*"help":"run it as root, or with setcap as under Privileges"' report
	answers user-namespace yes
}

# bats test_tags=between
@test "an ordinary user: the command that it gives makes all work that works for root" {
	local command
	type -P setcap >/dev/null || skip "setcap is not installed"
	spin paths
	examine
	grep '^{"applet":' report >as_root
	as_nobody
	examine
	command=$(sed -n 's/^{"check":"capabilities",.*"help":"run it as root, or: \([^"]*\)".*/\1/p' report)
	[[ $command == "sudo setcap cap_"*"=ep $PWD/tracekit" ]] || {
		[[ $command == *' /usr/local/bin/tracekit' ]]
		skip "programs have no capabilities in the file system of $PWD"
	}
	$(type -P setcap) ${command#sudo setcap } 2>err || skip "cannot give a file capabilities: $(<err)"
	# The bounding set stays: the file gives them to whoever runs it.
	prefix=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	examine
	answers capabilities yes
	answers CAP_BPF yes
	answers other-users yes
	grep '^{"applet":' report | diff as_root -
	sees profile -q -f -F 999 -p "$pid" DURATION
	sees offcputime -q -f DURATION
}

@test "what it says helps names options of the kernel, and no use is told to look below" {
	local line
	examine
	refute grep -q 'missing below' report
	refute grep -q '"help":"a newer kernel"' report
	while IFS= read -r line; do
		[[ $line == *'"help":"a kernel '*' with CONFIG_'* ]]
	done < <(grep -E '"check":"(kprobe|uprobe)(-multi)?",.*"answer":"no"' report | grep -v 'ftrace_enabled')
	! answers kernel-functions no || grep '"check":"kernel-functions"' report | grep -q 'CONFIG_[KF]PROBE'
}

@test "an ordinary user with capabilities: what it says is what the applets do" {
	as_nobody +bpf,+perfmon
	spin paths
	examine
	agrees_in_all
	answers other-users no
	[ "$(why other-users)" = 'Permission denied: without CAP_SYS_PTRACE' ]
	# Neither takes tracefs or addresses of the kernel.
	refute answers tracefs yes
	refute answers kallsyms yes
	# Before Linux 5.11 maps are locked memory, of which they may have little.
	! answers maps yes || ! answers btf yes || answers tracepoints yes
	! answers kprobe-multi yes || answers kernel-functions yes
	try tracekit stackcount 't:sched:*' 2>err
	[ "$status" -eq 1 ]
	grep -q '^stackcount: cannot list tracepoints: ' err
	as_nobody +bpf,+perfmon,+sys_ptrace,+dac_read_search,+syslog,+checkpoint_restore
	examine
	agrees_in_all
	answers other-users yes
	answers map-files yes
}

@test "root without one capability after the other: what it says is what the applets do" {
	local set capability
	local sets=(sys_admin bpf perfmon sys_ptrace dac_read_search syslog checkpoint_restore)
	# Kernels take CAP_SYS_ADMIN for CAP_BPF and for CAP_PERFMON, and ask for the others alike.
	! in_guest || sets=("${sets[0]}" "${sets[*]:1}")
	spin paths
	for set in "${sets[@]}"; do
		echo "without $set"
		without "${set// /,-}"
		examine
		agrees_in_all
		for capability in $set; do
			answers "CAP_${capability^^}" no
		done
	done
}

@test "a user namespace: its privileges do not count" {
	unshare --user --map-root-user true || skip "cannot make a user namespace"
	prefix=(unshare --user --map-root-user)
	examine
	[ "$status" -eq 2 ]
	answers user-namespace no
	answers CAP_BPF no
	[[ $(why programs) == *'the privileges of a user namespace do not count' ]]
}

# bats test_tags=between
@test "kernel functions that are switched off are not attached to" {
	[ -e /proc/sys/kernel/ftrace_enabled ] || skip "this kernel's cannot be switched off"
	unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
	# Not in truth: others trace, and the kernel does not always recover from it.
	echo 0 >disabled
	prefix=(unshare --mount bash -c
		'mount --bind disabled /proc/sys/kernel/ftrace_enabled && exec "$@"' -)
	examine stackcount
	[ "$status" -eq 1 ]
	answers kernel-functions no
	[[ $(why kernel-functions) == *'kernel.ftrace_enabled is 0'* ]]
	[ "$(why kprobe)" = 'kernel.ftrace_enabled is 0' ]
	[ "$(why kprobe-multi)" = 'kernel.ftrace_enabled is 0' ]
	verdict stackcount 'works in part'
	try tracekit stackcount -D 1 "${kernel_call}getppid" 2>err
	[ "$status" -eq 1 ]
	grep '^stackcount: cannot probe kernel functions: kernel.ftrace_enabled is 0; ' err
}
