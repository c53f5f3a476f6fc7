#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose files are known are walked by their tables from their first instruction on; those
# whose files have become others are not walked by the old ones'.

load helpers
load ../refute

teardown() {
	end_started
	# Lazily: a reader that was given up may still have a file there.
	umount -l "$BATS_TEST_TMPDIR"/{m,up} 2>/dev/null || true
}

# Two reports have come since: all counted before is in out.
reports() {
	local lines
	lines=$(grep -c ' seen = ' err)
	wait_for eval '[ "$(grep -c " seen = " err)" -gt $((lines + 1)) ]'
}

# is_seen PROGRAM: another run of it is seen. In a slow guest it can be over before it has begun.
is_seen() {
	local before
	before=$(total seen)
	timeout 0.2 "$1" callback || true
	reports
	[ "$(total seen)" -gt "$before" ]
}

# run PROGRAM: once more; $lacks is how many of its stacks have come before its tables.
run() {
	lacks=$(total 'tables not loaded')
	wait_for is_seen "$1"
	lacks=$(($(total 'tables not loaded') - lacks))
}

# Another run is whole, from its first stack on.
is_known() {
	run "$1"
	[ "$lacks" -eq 0 ] && grep -q "^${1##*/};_start;.*;main;" out
}

# known_in FOLDER: of a program there no stack comes before its tables, once it is known.
known_in() {
	cp "$WALKED" "$1/program"
	start_stackcount -f -U -i 0.2 --stats "$1/program:spend"
	wait_for is_known "$1/program"
	for _ in {1..5}; do
		run "$1/program"
		[ "$lacks" -eq 0 ]
	done
	stop_tracer
}

@test "programs that were there before are known from their start: in this folder" {
	known_in .
}

@test "programs that were there before are known from their start: on tmpfs" {
	mkdir m
	mount -t tmpfs none m || skip "no tmpfs"
	known_in m
}

@test "programs that were there before are known from their start: on overlayfs" {
	mkdir m up
	mount -t tmpfs none up || skip "no tmpfs"
	mkdir up/{lower,upper,work}
	mount -t overlay none -o lowerdir=up/lower,upperdir=up/upper,workdir=up/work m ||
		skip "no overlayfs"
	known_in m
}

# Its tables come while it runs, or for the next run.
is_walked() {
	timeout 0.3 ./known syscalls || true
	grep -q '^known;_start;.*main;syscalls ' out
}

@test "a program that is written over in place is another one" {
	local lines said
	needs_registers
	cp "$SPIN" known
	start_stackcount -f -U -i 0.2 --stats --comm known t:syscalls:sys_enter_getppid
	wait_for is_walked
	reports
	lines=$(wc -l <out)
	said=$(wc -l <err)
	cat "$LIVES" >known
	for _ in {1..10}; do
		./known once
		pause 0.05
	done
	reports
	stop_tracer
	sed -i "1,${lines}d" out
	sed -i "1,${said}d" err
	grep '^known;' out
	# Linux 7 preempts a thread that changes a map, and withholds events from others meanwhile.
	made 10 "$(grep '^known;' out | sum /dev/stdin)"
	# Its file was not known yet, which is said; or its stack is right.
	grep -Eq '^known;_start;.*;main;once;asks(;counted)?;[^;]+ [0-9]+$' out
	refute grep -Ev '^known;(_start;.*;main;once;asks(;counted)?;[^;]+|\[unwind stopped: .*) [0-9]+$' \
		<(grep '^known;' out)
}
