#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A root with nothing in it but the program, its links and /proc, as that of a container which was
# made from one file: all works there. The processes that are traced are outside of it.

load helpers
load ../refute

# in_bare [SYS] [CAPABILITIES LIST] COMMAND...: in such a root; with /sys, or no more than these
# capabilities, if they are named first.
in_bare() {
	local script='mount -t proc proc bare/proc'
	if [ "$1" = SYS ]; then
		script+=' && mkdir -p bare/sys && mount -t sysfs sysfs bare/sys'
		shift
	fi
	if [ "$1" = CAPABILITIES ]; then
		script+=" && exec setpriv --inh-caps $2 --bounding-set $2"
		shift 2
	else
		script+=' && exec'
	fi
	# shellcheck disable=SC2016
	within 120 unshare --mount bash -c "$script"' chroot bare "$@"' - "$@"
}

make_bare() {
	unshare --mount true || skip "cannot make a mount namespace"
	mkdir -p bare/proc
	cp "$TRACEKIT" bare/tracekit
	ln -s tracekit bare/profile
	ln -s tracekit bare/stackcount
	ln -s tracekit bare/stacksnoop
}

# all_work [SYS]: each applet, of a process outside or of the whole machine.
all_work() {
	make_bare
	spin names
	in_bare "$@" /profile -f --stats -p "$pid" -F 499 0.2 >out 2>err
	grep -Eq '^spin;_start;.*main;outer;middle;spin_leaf [0-9]+$' out
	grep -q ' seen = ' err
	in_bare "$@" /stackcount -f -D 0.2 t:sched:sched_switch >out 2>err
	grep -q ' [1-9][0-9]*$' out
	in_bare "$@" /stacksnoop -n 1 t:sched:sched_switch >out
	grep -q 'ip: ' out
	start "$WAITER" sleep 10000 10
	in_bare "$@" /tracekit offcputime -f -p "$pid" 1 >out
	grep -Eq '^waiter;.*;waits_in_sleep;.* [1-9][0-9]*$' out
	in_bare "$@" /tracekit doctor >out || [ $? -eq 1 ]
	grep -qx 'profile *works' out
	grep -q '^  yes *tracepoints$' out
	grep -q '^  yes *a command that is run' out
}

@test "the program and /proc: all applets work" {
	all_work
}

# bats test_tags=same
@test "the program, /proc and /sys: all applets work" {
	all_work SYS
}

# bats test_tags=same
@test "a library's function of a process outside is counted, with its whole stacks, with /sys and without" {
	make_bare
	start_busy bash -c 'while :; do x=$x; done'
	for sys in '' SYS; do
		in_bare $sys /stackcount -f -U -D 0.5 -p "$pid" c:malloc >out
		grep -Eq ';_start;.*;main;.*malloc [0-9]+$' out
	done
}

# bats test_tags=same
@test "a process in a mount namespace of its own has its names, with /sys and without" {
	make_bare
	mkdir inner
	start unshare --mount bash -c 'mount -t tmpfs none inner && cp "$SPIN" inner/spin && exec inner/spin names'
	wait_for is_called "$pid" spin
	spend "$pid" 10
	for sys in '' SYS; do
		in_bare $sys /profile -f -U -p "$pid" -F 499 0.2 >out
		grep -Eq ';main;outer;middle;spin_leaf [0-9]+$' out
	done
}

@test "kernel functions are counted and shown, with /sys and without" {
	needs_kprobes
	make_bare
	start_busy bash -c 'while read -r _ </proc/version; do :; done'
	for sys in '' SYS; do
		in_bare $sys /stackcount -K -f -D 0.5 vfs_read >out
		grep -Eq '(^|;)vfs_read [0-9]+$' out
		in_bare $sys /stacksnoop -n 1 vfs_read >out
		grep -q 'vfs_read' out
	done
}

# bats test_tags=same
@test "nothing is mounted while a trace runs, nor when it was killed" {
	local mounts holder
	make_bare
	# A mount namespace that stays when the trace has gone.
	start unshare --mount bash -c 'mount -t proc proc bare/proc && exec sleep infinity'
	holder=$pid
	wait_for is_called "$holder" sleep
	mounts=$(sort "/proc/$holder/mountinfo")
	start nsenter --mount="/proc/$holder/ns/mnt" chroot "$PWD/bare" /stackcount -f t:sched:sched_switch >out 2>err
	wait_for polls "$pid"
	[ "$mounts" = "$(sort "/proc/$holder/mountinfo")" ]
	kill -KILL "$pid"
	try wait "$pid"
	[ "$status" -eq 137 ]
	[ "$mounts" = "$(sort "/proc/$holder/mountinfo")" ]
}

# With the capabilities of an ordinary user, but not CAP_SYS_ADMIN, which mounting takes.
@test "without /sys, and without the right to mount it, what it would have told is said" {
	needs_registers
	make_bare
	chmod 755 "$PWD" bare bare/tracekit
	spin syscalls
	# Debian's kernels know a value above 2, which takes CAP_SYS_ADMIN; a guest is ours to change.
	! in_guest || echo 2 >/proc/sys/kernel/perf_event_paranoid
	caps=-all,+bpf,+perfmon,+syslog,+sys_ptrace,+dac_read_search,+sys_chroot
	try in_bare CAPABILITIES "$caps" /profile -f -p "$pid" -F 499 0.2 >out 2>err
	cat err
	[ "$status" -eq 0 ] || ! grep -q perf_event_paranoid err || skip "this kernel asks for CAP_SYS_ADMIN"
	[ "$status" -eq 0 ]
	[ "$(grep -c 'sys is not mounted' err)" -eq 1 ]
	[ -s out ]
	try in_bare CAPABILITIES "$caps" /stackcount -D 0.1 t:sched:sched_switch >out 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "stackcount: cannot list tracepoints: tracefs is not mounted; run as root, or 'mount -t tracefs nodev /sys/kernel/tracing'" err
}
