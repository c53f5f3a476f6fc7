#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The examples of bcc's page about stacksnoop. Those of kernel functions need a kernel with
# kprobes, and skip themselves elsewhere.

load helpers
load stacksnoop
load ../refute

# Where a sync(2) arrives in all kernels. That of ext4 needs one that is mounted.
sync_function=iterate_supers

# fields FILE: of each row, in a block of rows for each event, what is behind the time.
fields() {
	sed '1d; s/^[^ ]* *//' "$1"
}

# has_rows FILE PATTERN...: rows of FILE that follow each other and are these, without labels.
has_rows() {
	local file=$1
	shift
	printf '%s\n' "$@" >rows
	fields "$file" | sed 's/^\(ip\|r[0-9]*\): [0-9a-f]* //' |
		awk 'NR == FNR { rows[NR] = $0; nr = NR; next }
		{ at = $0 == rows[at + 1] ? at + 1 : $0 == rows[1] }
		at == nr { found = 1; exit }
		END { exit !found }' rows -
}

@test "stacksnoop of a function below sync(2): the path to it" {
	needs_kprobes
	start_stacksnoop "$sync_function"
	sync
	stop_tracer
	counts=$(stacksnoop_text out)
	read -r events lost <<<"$counts"
	[ "$events" -ge 1 ]
	[ "$lost" -eq 0 ]
	[ "$(grep -Ec "^[0-9.]+ +ip: $kernel_address iterate_supers\$" out)" -eq "$events" ]
	has_rows out ksys_sync ${kernel_call}sync || has_rows out ksys_sync __do_sys_sync
	# Frames have the address of the return, the first one that of the function.
	has_rows out iterate_supers ksys_sync
	grep -Eq "^[0-9.]+ +r[0-9]+: $kernel_address $kernel_entry$" out
	refute grep -Fq '[unknown]' out
}

@test "stacksnoop -v: the program that asked for it" {
	needs_kprobes
	start_stacksnoop -v "$sync_function"
	start sync
	wait "$pid"
	stop_tracer
	counts=$(stacksnoop_text out v)
	[ "${counts% *}" -ge 1 ]
	grep -Eq "^[0-9.]+ +sync {9}$(printf %-6d "$pid") [0-9]   ip: $kernel_address iterate_supers\$" out
	refute grep -Evq "^[0-9.]+ +sync +$pid +[0-9]+ +" <(sed 1d out)
}

@test "stacksnoop -s: with offsets" {
	needs_kprobes
	start_stacksnoop -s "$sync_function"
	sync
	stop_tracer
	counts=$(stacksnoop_text out)
	[ "${counts% *}" -ge 1 ]
	grep -Eq '^[0-9.]+ +ip: [0-9a-f]+ iterate_supers\+0x[0-9a-f]$' out
	grep -Eq '^[0-9.]+ +r0: [0-9a-f]+ ksys_sync\+0x[0-9a-f]{2,}$' out
	fields out | grep . | refute grep -Ev '^(ip|r[0-9]+): [0-9a-f]+ [^ ]+\+0x[0-9a-f]+$'
}

@test "stacksnoop -p: only what that process does" {
	needs_kprobes
	start bash -c 'trap "sync; : >synced; exit" USR1; : >ready; while :; do sleep 0.05; done'
	wait_for test -e ready
	shell=$pid
	start_stacksnoop --stats -v -p "$shell" "$sync_function"
	sync
	kill -USR1 "$shell"
	# It is its child that calls sync(2).
	ends_well
	[ -e synced ]
	[ "$(stacksnoop_text out v)" = "0 0" ]
	[ "$(total filtered)" -ge 2 ]
	calls getppids 5
	start_stacksnoop -v -p "$pid" "${kernel_call}getppid"
	go "$pid"
	kill -KILL "$pid"
	ends_well
	[ "$(stacksnoop_text out v)" = "5 0" ]
	sed 1d out | refute grep -Ev "^[0-9.]+ +calls +$pid +"
}

@test "stacksnoop -v second_overflow: once a second, also while a CPU is idle" {
	needs_kprobes
	before=$(idle_time)
	within 60 "$TRACEKIT" stacksnoop -v -n 3 second_overflow >out
	[ "$(stacksnoop_text out v)" = "3 0" ]
	[ "$(grep -c ' ip: [0-9a-f]* second_overflow$' out)" -eq 3 ]
	grep -Eq '^[0-9.]+ +swapper/0 {4}0      0   ip: [0-9a-f]+ second_overflow$' out ||
		{ needs_idle_since "$before"; false; }
	refute grep -Evq '^[0-9.]+ +swapper/[0-9]+ +0      [0-9]+ +' <(grep swapper out)
	# The clock of an emulated machine is late at times, and then catches up.
	awk 'NR == 2 { first = $1 } END { exit $1 - first < 1 }' out
}

@test "stacksnoop -v t:timer:tick_stop: the idle task has no PID" {
	before=$(idle_time)
	try within 20 "$TRACEKIT" stacksnoop -v -n 5 t:timer:tick_stop >out
	[ "$status" -ne 124 ] || needs_idle_since "$before"
	[ "$status" -eq 0 ]
	[ "$(stacksnoop_text out v)" = "5 0" ]
	grep -Eq '^[0-9.]+ +swapper/[0-9]+ +0      [0-9]+ +r[0-9]+: [0-9a-f]+ do_idle$' out
	refute grep -Evq '^[0-9.]+ +swapper/[0-9]+ +0      [0-9]+ +' <(grep swapper out)
}

@test "stacksnoop -vd -n 2 t:syscalls:sys_enter_execve" {
	start bash -c 'while :; do env true; done'
	within 60 "$TRACEKIT" stacksnoop -vd -n 2 t:syscalls:sys_enter_execve >out
	[ "$(stacksnoop_text out dv)" = "2 0" ]
	[ "$(grep -c ' --$' out)" -eq 2 ]
	grep -Eq " r[0-9]+: [0-9a-f]+ $kernel_entry$" out
}
