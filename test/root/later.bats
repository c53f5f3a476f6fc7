#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks that are walked later: those of programs that have ended when their tables come. new is a
# program that nobody has run before, in each case.

load helpers
load ../refute

# all_whole NUMBER: out has so many stacks, all of them whole.
all_whole() {
	[ "$(grep -E '^new;_start;(.*;)?main;(forks;)?once;asks;counted [0-9]+$' out | sum /dev/stdin)" -eq "$1" ]
	[ "$(sum out)" -eq "$1" ]
}

# What a command that is traced does last: the table can take longer than a report waits for it.
rest() {
	echo 'i=0; until grep -q "new has [0-9]* rows" err || [ $((i += 1)) -gt 1000 ]; do sleep 0.05; done'
}

# Some of the stacks were walked later, and all events have come to something.
walked_later() {
	cat err
	grep -Eq '; [1-9][0-9]* walked later; ' err
	[ "$(total seen)" -eq $(($(total counted) + $(total filtered) + $(total lost))) ]
	[ "$(total lost)" -eq 0 ]
}

# bats test_tags=between
@test "what a command starts is whole: counted under the same key" {
	cp "$LIVES" new
	TRACEKIT_DEBUG=tables stackcount -U --stats -o new.folded -o new.json ./new:counted -- \
		sh -c './new once; ./new once; ./new forks 20; '"$(rest)" 2>err
	mv new.folded out
	all_whole 22
	[ "$(wc -l <new.json)" -eq 22 ] # one for each process
	walked_later
}

@test "system-wide, in intervals" {
	cp "$LIVES" new
	start_stackcount -f -U --stats -i "$(in_guest && echo 5 || echo 1)" ./new:counted
	./new forks 50
	./new once
	wait_for eval '[ "$(sum out)" -eq 51 ]'
	stop_tracer
	all_whole 51
	walked_later
}

# stream_of_new: three events of a program that is new.
stream_of_new() {
	local number
	rm -f new
	cp "$LIVES" new
	start_tracer stacksnoop -f -U --stats ./new:counted
	for number in 1 2 3; do
		./new once
	done
	wait_for eval '[ "$(wc -l <out)" -eq 3 ]'
	stop_tracer
}

# bats test_tags=between
@test "a stream: each event has its stack, in its place" {
	local tries=5
	stream_of_new
	# Where a table takes more than a second, the event does not wait for it.
	while grep -q 'tables not loaded' out && [ $((tries -= 1)) -gt 0 ]; do
		stream_of_new
	done
	all_whole 3
	walked_later
}

@test "samples of a program that is busy at once" {
	cp "$LIVES" new
	TRACEKIT_DEBUG=tables profile -f -U -F 499 --stats -o out -- sh -c './new burn; '"$(rest)" 2>err
	walked_later
	grep -q '^new;_start;.*;works' out
	refute grep '^new;\[unwind stopped: tables' out
}

@test "waits of a program that has ended, where threads are walked when they come back" {
	cp "$LIVES" new
	TRACEKIT_DEBUG=tables "$TRACEKIT" offcputime -f -U --stats -o out -- sh -c './new forks 3; '"$(rest)" 2>err
	cat err
	! grep -q ' 0 walked later' err || skip "threads are walked when they leave"
	walked_later
	grep -q '^new;_start;.*main;forks' out
}

# bats test_tags=same
@test "-p: a library that is loaded meanwhile, from its first call on" {
	cp "$(dirname "$CALLS")/libcounted.so" ./libnew.so
	calls loaded 100 ./libnew.so
	start_stackcount -f -U --stats -p "$pid" ./libnew.so:library_function
	go "$pid"
	stop_tracer
	walked_later
	grep -Ex 'calls;_start;.*;main;loaded;library_function 100' out
}

# What is sent, and who takes it, are the same everywhere.
# bats test_tags=same
@test "more than there is room for: the rest is counted at once, with its mark" {
	cp "$LIVES" new
	start_stackcount -f -U --stats ./new:counted
	find_loader
	kill -STOP "$loader"
	./new forks 6000
	kill -CONT "$loader"
	stop_tracer
	walked_later
	[ "$(sum out)" -eq 6000 ]
	grep -E '^new;_start;(.*;)?main;forks;once;asks;counted [0-9]+$' out
	grep -E '^new;\[unwind stopped: tables not loaded\];.*;counted [0-9]+$' out
}

@test "deeper than what was copied: a mark of its own" {
	cp "$LIVES" new
	TRACEKIT_DEBUG=tables stackcount -f -U --stats -o out ./new:counted -- sh -c './new buried; '"$(rest)" 2>err
	cat out
	grep -Eq '^new;\[unwind stopped: deeper than what was copied\];buried;asks;counted 1$' out
	walked_later
}

# find_loader: $loader is what loads tables for $tracer.
find_loader() {
	for loader in $(pgrep -P "$tracer"); do
		[ "$(ps -o ni= -p "$loader")" -ne -10 ] || break
	done
}

# The tracer polls one descriptor: that by which the loader answers.
waits_for_loader() {
	[ "$(cut -d' ' -f3 "/proc/$tracer/syscall")" = 0x1 ]
}

@test "Ctrl-C while a report waits for the loader: it waits on" {
	cp "$LIVES" new
	start_stackcount -f -U --stats -i 0.05 ./new:counted
	find_loader
	kill -STOP "$loader"
	./new once
	wait_for waits_for_loader
	kill -INT "$tracer"
	wait_for has_no_signals "$tracer"
	kill -CONT "$loader"
	ends_well
	all_whole 1
	[ "$(total lost)" -eq 0 ]
}

@test "without what loads tables they are counted as lost" {
	cp "$LIVES" new
	start_stackcount -f -U --stats ./new:counted
	find_loader
	kill -STOP "$loader"
	./new once
	kill -KILL "$loader"
	stop_tracer
	cat err
	grep -q '1 of 1 events are not shown: 1 whose stacks were not walked in time' err
	[ "$(total seen)" -eq $(($(total filtered) + 1)) ]
	[ "$(total lost)" -eq 1 ]
}

@test "threads that a new program starts: its code is not needed to find the caller of clone3()" {
	needs_registers
	cp "$WALKED" new
	TRACEKIT_DEBUG=tables stackcount -f -U --stats -o out t:sched:sched_process_fork -- \
		sh -c "timeout 0.2 ./new threads; $(rest)" 2>err
	cat err
	grep -Eq '^new;_start;.*;main;threads;(make_thread;)?[^;]*pthread_create[^;]*;.*[^;]*clone[^;]* [0-9]+$' out
	refute grep '^new;\[unwind stopped: no call-frame information\]' out
	walked_later
}
