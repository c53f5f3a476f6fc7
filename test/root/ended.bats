#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Names of what is gone when they are asked for: processes that have ended, programs that were
# replaced, libraries that were unloaded, files that were deleted.

load helpers
load ../refute

# counted PATTERN: how many events of out, which is folded, have stacks that match it.
counted() {
	awk -v pattern="$1" '$0 ~ pattern { n += $NF } END { print n + 0 }' out
}

# syscall() keeps no frame pointer: its caller may be missing where that was all there was to go by,
# but not from a stack that is complete.
no_caller_lost() {
	refute grep -E '^[^;]+;_start;.*;asks(_more)?;syscall [0-9]+$' out
}

# another FILE: a program with other names at the same addresses.
another() {
	objcopy --redefine-sym asks=asks_more "$LIVES" "$1"
}

# start_counting OPTION...: the calls of getppid() by programs of these tests.
start_counting() {
	start_stackcount -U -f --comm "$lives*" "$@" t:syscalls:sys_enter_getppid
}

@test "profile: programs that live for some hundredths of a second" {
	local all named
	start_profile -U -F 199
	for _ in {1..25}; do
		"$LIVES" burn
	done
	kill -INT "$pid"
	wait "$pid"
	all=$(grep -c '^    works$' out)
	[ "$all" -gt 20 ]
	start_tracer profile -f -U -F 199
	# Until the old programs have their tables, new programs wait for theirs.
	pause 0.5
	for _ in {1..25}; do
		"$LIVES" burn
	done
	stop_tracer
	named=$(counted "^$lives;.*main;burn;works [0-9]+\$")
	# Stacks with another name are of its start, which takes long where CPUID is emulated, or
	# its end.
	all=$(counted "^$lives(.*;(works|[[]unknown]))? [0-9]+\$")
	echo "$named of $all"
	[ "$named" -ge 50 ]
	[ $((named * 100)) -ge $((all * 90)) ]
}

@test "stackcount: programs, and children, that live for a moment" {
	start_counting
	for _ in {1..30}; do
		"$LIVES" once
	done
	"$LIVES" forks 30
	stop_stackcount
	[ "$(counted ';main;once;asks(;counted)?;syscall [0-9]+$')" -eq 30 ]
	[ "$(counted ';main;forks;once;asks(;counted)?;syscall [0-9]+$')" -eq 30 ]
	no_caller_lost
}

@test "stackcount at intervals: each names those that have ended in it" {
	start_counting -i 0.3
	for _ in {1..20}; do
		"$LIVES" once
		pause 0.05
	done
	stop_stackcount
	[ "$(counted ';main;once;asks(;counted)?;syscall [0-9]+$')" -eq 20 ]
	no_caller_lost
}

@test "a process that becomes another program of the same name, with other functions at the same addresses" {
	mkdir other
	another "other/$lives"
	start_counting
	for _ in {1..10}; do
		"$LIVES" exec "other/$lives" exec "$LIVES" once
	done
	stop_stackcount
	[ "$(counted ';asks(;counted)?;syscall [0-9]+$')" -eq 20 ]
	[ "$(counted ';asks_more(;counted)?;syscall [0-9]+$')" -eq 10 ]
	no_caller_lost
}

@test "a PID that becomes another process, with other functions at the same addresses" {
	local unused=31000
	another "./${lives}2"
	while [ -e "/proc/$unused" ]; do
		unused=$((unused + 1))
	done
	try "$LIVES" as "$unused" "$LIVES" once
	[ "$status" -ne 77 ] || skip "no process can be given its PID here"
	start_counting
	for _ in {1..10}; do
		"$LIVES" as "$unused" "$LIVES" once
		"$LIVES" as "$unused" "./${lives}2" once
	done
	stop_stackcount
	[ "$(counted ';asks(;counted)?;syscall [0-9]+$')" -eq 10 ]
	[ "$(counted ';asks_more(;counted)?;syscall [0-9]+$')" -eq 10 ]
	no_caller_lost
}

@test "a process that was there before, and ends" {
	spin names
	start_tracer profile -f -U -F 199
	spend "$pid" 50
	kill -KILL "$pid"
	try wait "$pid"
	stop_tracer
	[ "$(counted '^spin;.*main;outer;middle;spin_leaf [0-9]+$')" -gt 20 ]
}

@test "a process that was there before, and becomes another program, which still runs" {
	another "./${lives}2"
	mkfifo line
	exec 7<>line
	start bash -c 'exec "$0" waits "$1" waits /bin/true <line' "$LIVES" "./${lives}2"
	wait_for is_called "$pid" "$lives"
	start_counting
	echo >&7
	wait_for is_called "$pid" "${lives}2"
	echo >&7
	try wait "$pid"
	stop_stackcount
	exec 7>&-
	[ "$(counted ';main;become;asks(;counted)?;syscall 1$')" -eq 1 ]
	[ "$(counted ';main;become;asks_more(;counted)?;syscall 1$')" -eq 1 ]
	no_caller_lost
}

@test "a library that was unloaded" {
	cp "$(dirname "$CALLS")/libcounted.so" ./libloaded.so
	calls loaded 100 ./libloaded.so
	start_stackcount -U -f ./libloaded.so:library_function
	go "$pid"
	refute grep -q libloaded "/proc/$pid/maps"
	stop_stackcount
	[ "$(counted ';main;loaded;library_function [0-9]+$')" -eq 100 ]
}

@test "programs that are deleted as soon as they have run" {
	start_tracer profile -f -U -F 199
	# What is gone some milliseconds later is not found.
	for i in {1..4}; do
		cp "$LIVES" "./gone$i"
		for _ in {1..6}; do
			"./gone$i" burn
		done
		rm "./gone$i"
	done
	stop_tracer
	for i in {1..4}; do
		[ "$(counted "^gone$i;.*main;burn;works [0-9]+$")" -gt 0 ]
	done
}

@test "programs of a mount namespace that is gone" {
	unshare --mount true || skip "cannot make a mount namespace"
	mkdir inner
	start_tracer profile -f -U -F 199
	unshare --mount bash -c 'mount -t tmpfs none inner && cp "$1" inner/inside &&
		for i in {1..10}; do inner/inside burn; done' bash "$LIVES"
	[ ! -e inner/inside ]
	stop_tracer
	[ "$(counted '^inside;.*main;burn;works [0-9]+$')" -gt 10 ]
}

@test "a process whose first thread has ended, and which still runs code that it has generated" {
	start_tracer profile -f -U -F 199
	start "$LIVES" leaderless >page
	wait_for [ -s page ]
	echo "$(<page) 1000 generated" >"/tmp/perf-$pid.map"
	spend "$pid" 50
	stop_tracer
	rm "/tmp/perf-$pid.map"
	[ "$(counted "^$lives;.*;generated [0-9]+\$")" -gt 20 ]
}

@test "a process that has generated code, and has ended: by the map that it had" {
	local other
	start_tracer profile -f -U -F 199
	start "$SPIN" jit >page
	other=$pid
	wait_for [ -s page ]
	echo "$(<page) 1000 generated" >"/tmp/perf-$other.map"
	# It may not be there when it is looked for first.
	spend "$other" 200
	echo "$(<page) 1000 renamed" >>"/tmp/perf-$other.map"
	kill -KILL "$other"
	rm "/tmp/perf-$other.map"
	stop_tracer
	[ "$(counted '^spin;(.*;)?renamed(;.*)? [0-9]+$')" -gt 20 ]
}

@test "-p: the program that a process was, and the one that it became, which has ended" {
	another "./${lives}2"
	mkfifo line
	exec 7<>line
	start bash -c 'exec "$0" waits "$1" once <line' "$LIVES" "./${lives}2"
	wait_for is_called "$pid" "$lives"
	start_counting -p "$pid"
	echo >&7
	ends_well
	exec 7>&-
	[ "$(counted ';main;become;asks(;counted)?;syscall 1$')" -eq 1 ]
	[ "$(counted ';main;once;asks_more(;counted)?;syscall 1$')" -eq 1 ]
	no_caller_lost
}

@test "programs that end while the tracer does nothing" {
	local method tracer
	for method in auto fp; do
		start_profile -U -F 199 --unwind="$method"
		tracer=$pid
		kill -STOP "$tracer"
		for _ in {1..20}; do
			"$LIVES" burn
		done
		kill -CONT "$tracer"
		kill -INT "$tracer"
		wait "$tracer"
		cat err
		[ "$(grep -c '^    works$' out)" -ge 10 ]
	done
}
