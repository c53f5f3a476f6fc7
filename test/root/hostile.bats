#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The harm that a traced process can do to its tracer: nothing that lasts.

load helpers
load ../refute

# Run spin from a file system that then stops answering: its PID is in $pid,
# that of the file system in $server.
spin_on_silent_fs() {
	start_silent_fs "$SPIN"
	start_busy silent/program names
	kill -USR1 "$server"
}

@test "a file system that does not answer costs a second, is said, and nothing else" {
	spin names
	other=$pid
	spin_on_silent_fs
	begin=$(date +%s)
	try within 30 "$TRACEKIT" profile -f -F 999 0.3 >out 2>err
	took=$(($(date +%s) - begin))
	end_silent_fs
	cat err; echo "status $status"
	[ "$status" -eq 0 ]
	[ "$took" -le $((10 * TRACEKIT_SLOWNESS)) ]
	grep -Eq '^program;.*\[unknown\] [0-9]+$' out
	grep -Eq '^spin;.*main;outer;middle;spin_leaf [0-9]+$' out
	grep -q '^profile: 1 file that programs had mapped could not be opened in time, or did not answer; functions there lack names$' err
}

@test "a file system that does not answer, with -p" {
	spin_on_silent_fs
	try within 30 "$TRACEKIT" profile -f -p "$pid" -F 999 0.3 >out 2>err
	end_silent_fs
	cat err; echo "status $status"
	[ "$status" -eq 0 ]
	grep -Eq '^program;' out
	grep -q 'or did not answer' err
}

@test "stacks of other processes are complete meanwhile" {
	local silent
	spin_on_silent_fs
	silent=$pid
	spin names
	try within 30 "$TRACEKIT" profile -f -U -p "$silent,$pid" -F 999 0.3 >out 2>err
	end_silent_fs
	cat err; echo "status $status"
	[ "$status" -eq 0 ]
	grep -Eq '^spin;_start;.*;main;outer;middle;spin_leaf [0-9]+$' out
	refute grep '^spin;\[' out
	grep '^program;\[unwind stopped: tables not loaded\];' out
}

@test "a child that cannot be killed holds nothing of the trace" {
	spin_on_silent_fs
	try within 30 "$TRACEKIT" profile -f -p "$pid" -F 999 0.3 >out 2>err
	WAIT=5 try wait_for no_programs_left
	end_silent_fs
	[ "$status" -eq 0 ]
}

@test "processes whose /tmp does not answer cost two seconds, and no other names" {
	unshare --mount true || skip "cannot make a mount namespace"
	copy_spin
	spin names
	start_silent_fs "$SPIN"
	for i in $(seq 10); do
		start unshare --mount bash -c "mount --bind silent /tmp; exec '$copy' jit"
		wait_for has_begun "$pid" spin
	done
	kill -USR1 "$server"
	begin=$(date +%s)
	try within 60 "$TRACEKIT" profile -f -F 499 0.5 >out 2>err
	took=$(($(date +%s) - begin))
	end_silent_fs
	cat err; echo "status $status, $took s"
	[ "$status" -eq 0 ]
	# An emulated CPU needs seconds for the rest; one second for each would be ten more.
	[ "$took" -le $((10 + 2 * TRACEKIT_SLOWNESS)) ]
	grep -Eq '^spin;.*main;outer;middle;spin_leaf [0-9]+$' out
	grep -Eq '^spin;.*main;.*\[unknown\] [0-9]+$' out
	grep -q 'did not answer (2 times)' err
}

# has_mapped NUMBER: more than so many mappings.
has_mapped() {
	[ "$(wc -l <"/proc/$pid/maps")" -gt "$1" ]
}

@test "a process with thousands of mappings" {
	start "$SPIN" mappings 20000
	wait_for has_mapped 20000
	try within 60 "$TRACEKIT" profile -f -U -p "$pid" -F 999 0.3 >out 2>err
	[ "$status" -eq 0 ]
	grep -Eq ';main;mappings;spin_leaf [0-9]+$' out
}

# One more program that nobody has run before: whether three by now are whole.
new_programs_are_whole() {
	number=$((number + 1))
	cp "$LIVES" "new$number"
	"./new$number" burn
	[ "$(grep -Eo '^new[0-9]+;_start;.*;main;burn;works ' out | cut -d';' -f1 | sort -u | wc -l)" -ge 3 ]
}

# They are files that nobody has seen before, each time: all of them are looked for.
@test "thousands of files, some of which change all the time: programs that come later have their tables" {
	number=0
	start "$GENERATED" changing
	wait_for has_mapped 4100
	start_tracer profile -f -U -F 499 -i 0.5
	wait_for new_programs_are_whole
	stop_tracer
}
