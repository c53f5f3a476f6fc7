#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose files are known are walked by their tables from their first instruction on; those
# whose files have become others are not walked by the old ones'.

load helpers
load ../refute


teardown() {
	end_started
	umount "$BATS_TEST_TMPDIR"/{m,up} 2>/dev/null || true
}

# lacking: how many of all stacks so far have come before their tables.
lacking() {
	total 'tables not loaded'
}

# Another run is whole, from its first stack on. The first samples of a program may be those of the
# shell that it was forked from.
is_known() {
	local before
	before=$(lacking)
	timeout 0.2 "$1" callback || true
	reports
	[ "$(lacking)" = "$before" ] && grep -q "^${1##*/};_start;.*;main;" out
}

# Two reports have come since: what was counted before is in out.
reports() {
	local lines
	lines=$(grep -c ' seen = ' err)
	wait_for eval '[ "$(grep -c " seen = " err)" -gt $((lines + 1)) ]'
}

# known_in FOLDER: of a program there.
known_in() {
	local i known=0 runs=5
	! in_guest || runs=2
	cp "$WALKED" "$1/program"
	start_stackcount -f -U -i 0.2 --stats "$1/program:spend"
	timeout 0.5 "$1/program" callback || true
	wait_for is_known "$1/program"
	# It is no accident: the machine may be busy at any moment, but not always.
	for ((i = 0; i < runs; i++)); do
		! is_known "$1/program" || known=$((known + 1))
	done
	stop_tracer
	echo "$known of $runs"
	[ $((known * 2)) -ge "$runs" ]
}

@test "programs that were there before are known from their start" {
	known_in .
}

@test "so they are on a file system in memory" {
	mkdir m
	mount -t tmpfs none m || skip "no tmpfs"
	known_in m
}

@test "and in layers, as containers have them" {
	mkdir m up
	mount -t tmpfs none up || skip "no tmpfs"
	mkdir up/{lower,upper,work}
	mount -t overlay none -o lowerdir=up/lower,upperdir=up/upper,workdir=up/work m ||
		skip "no overlayfs"
	known_in m
}

# Its tables come while it runs, or for the next run.
is_walked() {
	timeout 0.3 ./program syscalls || true
	grep -q '^program;_start;.*main;syscalls ' out
}

@test "a program that is written over in place is another one" {
	local lines
	needs_registers
	cp "$SPIN" program
	start_stackcount -f -U -i 0.2 --stats t:syscalls:sys_enter_getppid
	wait_for is_walked
	reports
	lines=$(wc -l <out)
	cat "$LIVES" >program
	for _ in {1..10}; do
		./program once
		pause 0.05
	done
	reports
	stop_tracer
	sed -i "1,${lines}d" out
	grep '^program;' out
	[ "$(grep '^program;' out | sum /dev/stdin)" -eq 10 ]
	# It was not known yet, which is said; or it is right.
	grep -Eq '^program;_start;.*;main;once;asks(;counted)?;[^;]+ [0-9]+$' out
	refute grep -Ev '^program;(_start;.*;main;once;asks(;counted)?;[^;]+|\[unwind stopped: .*) [0-9]+$' \
		<(grep '^program;' out)
}
