#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# How a trace begins and ends.

load helpers
load ../refute

@test "SIGINT ends a trace with its results" {
	spin names
	target=$pid
	start_profile -p "$target"
	spend "$target" 20
	kill -INT "$pid"
	try wait "$pid"
	[ "$status" -eq 0 ]
	grep -q spin_leaf out
	[ ! -s err ]
}

@test "SIGTERM ends a trace with its results" {
	spin names
	target=$pid
	start_profile
	spend "$target" 20
	kill -TERM "$pid"
	try wait "$pid"
	[ "$status" -eq 0 ]
	grep -q spin_leaf out
}

@test "a signal that was blocked when it was started ends it all the same" {
	spin names
	for number in TERM INT; do
		start env --block-signal=TERM,INT "$TRACEKIT" profile -p "$pid" >out 2>err
		tracer=$pid pid=${started[0]}
		wait_for grep -q '^Sampling' out
		spend "$pid" 10
		kill -"$number" "$tracer"
		ends_well
		grep -q spin_leaf out
	done
}

@test "a signal at any moment of the start ends it well, and nothing stays behind" {
	spin names
	target=$pid
	for delay in 0.000 0.002 0.004 0.006 0.008 0.010 0.012 0.015 0.020 0.025 0.030 0.040 0.5; do
		stop_after "$delay" profile -p "$target"
		refute grep -Ev '^profile: no sample: ' err
	done
	[ "$status" -eq 0 ]
	nothing_left
}

# timeout(1) signals a program, and then its process group.
@test "two signals at once are one request" {
	spin names
	target=$pid
	for signal in INT TERM; do
		start_profile -F 999 -p "$target"
		tracer=$pid
		spend "$target" 20
		# Mostly while it is at work; it may have ended before the second.
		kill -"$signal" "$tracer" "$tracer" || true
		try wait "$tracer"
		[ "$status" -eq 0 ]
		grep -q spin_leaf out
	done
}

@test "a second signal kills, also while the output cannot be written" {
	spin paths
	mkfifo pipe
	exec 4<>pipe
	start "$TRACEKIT" profile -f -F 5000 2 4>&- >pipe
	# The pipe holds 64 KiB and nobody reads.
	until grep -q pipe_write "/proc/$pid/wchan" "/proc/$pid/stack" 2>/dev/null; do
		kill -0 "$pid"
		pause
	done
	interrupt_twice "$pid"
	try wait "$pid"
	[ "$status" -eq 130 ]
	exec 4>&-
	nothing_left
}

@test "when all processes of -p have ended the trace ends" {
	spin names
	one=$pid
	spin deep 3
	two=$pid
	start_profile -p "$one,$two"
	spend "$one" 20
	spend "$two" 20
	kill -KILL "$one"
	sleep 0.5
	kill -0 "$pid"
	kill -KILL "$two"
	try wait "$pid"
	[ "$status" -eq 0 ]
	grep -q "spin ($one)" out
	grep -q "spin ($two)" out
}

@test "a fraction of a second is a duration" {
	begin=$(date +%s%N)
	profile 0.25 >out
	took=$((($(date +%s%N) - begin) / 1000000))
	head -1 out | grep -q ' for 0.25 secs\.$'
	[ "$took" -ge 250 ]
	[ "$took" -lt $((10000 * TRACEKIT_SLOWNESS)) ]
}

@test "killed, it leaves nothing behind" {
	start_profile
	kill -KILL "$pid"
	try wait "$pid"
	nothing_left
}

@test "a reader that goes ends the trace, without a message" {
	begin=$(date +%s)
	try bash -c 'set -o pipefail; "$1" profile 2>err | head -1 >/dev/null' - "$TRACEKIT"
	[ "$status" -eq 1 ]
	[ $(($(date +%s) - begin)) -lt $((15 * TRACEKIT_SLOWNESS)) ]
	[ ! -s err ]
}

@test "a closed stdout ends the trace, without a message" {
	try profile 5 2>err >&-
	[ "$status" -eq 1 ]
	[ ! -s err ]
	try within 10 "$TRACEKIT" profile -f 2>err >&-
	[ "$status" -eq 1 ]
	[ ! -s err ]
}

@test "a full disk is said" {
	try profile 0.2 2>err >/dev/full
	[ "$status" -eq 1 ]
	grep -Fxq "profile: cannot write the output: No space left on device" err
}

@test "a thread is not a process" {
	spin threads
	thread=$(ls "/proc/$pid/task" | tail -1)
	[ "$thread" != "$pid" ]
	try profile -p "$thread" 1 2>err
	[ "$status" -eq 1 ]
	grep -q "^profile: -p $thread: is a thread, not a process; " err
}

@test "without privileges: what is missing, and what to do" {
	cp "$TRACEKIT" ./tracekit
	chmod 755 . ./tracekit
	setpriv --reuid 65534 --regid 65534 --clear-groups true || skip "cannot drop privileges"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$PWD/tracekit" --version >/dev/null ||
		skip "an unprivileged user cannot reach $PWD"
	try setpriv --reuid 65534 --regid 65534 --clear-groups "$PWD/tracekit" profile 1 2>err >out
	[ "$status" -eq 1 ]
	[ ! -s out ]
	[ "$(wc -l <err)" -eq 1 ]
	grep -Eq '^profile: cannot load BPF programs: .*; run as root' err
	try setpriv --reuid 65534 --regid 65534 --clear-groups "$PWD/tracekit" profile -L $$ 1 2>err >out
	[ "$status" -eq 1 ]
	grep -Eq "^profile: (-L $$: cannot watch the thread|cannot load BPF programs): .*; run as root" err
}

# bats test_tags=same
@test "where little memory can be had, tables are smaller, which is said, and options are obeyed" {
	unshare --mount true || skip "cannot make a mount namespace"
	sed 's/^MemAvailable:.*/MemAvailable: 16384 kB/' /proc/meminfo >meminfo
	spin names
	little_memory() {
		within 60 unshare --mount bash -c 'mount --bind meminfo /proc/meminfo && exec "$@"' - "$TRACEKIT" "$@" \
			-p "$pid" 1 >out 2>err
	}
	has='profile: 16.8 MB of memory can be had: there is room for'
	little_memory profile
	grep -Fxq "$has 4096 stacks (--stack-storage-size), 10240 keys (--hash-storage-size) and 4.2 MB of tables (--unwind-memory); what has no room is counted as lost" err
	grep -q spin_leaf out
	little_memory profile --hash-storage-size 40960 --stack-storage-size 100 --unwind-memory 8M
	grep -Fxq "$has 100 stacks (--stack-storage-size) and 8.4 MB of tables (--unwind-memory); what has no room is counted as lost" err
	little_memory profile -q
	refute grep -q 'can be had' err
}
