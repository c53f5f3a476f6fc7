#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# stackcount of programs whose calls are known: every event, once, by the stack that led to it.
# Cases that do not depend on the kernel are in stackcount_output.bats.

load helpers
load ../refute

# ---- user functions ----

# bats test_tags=between
@test "every call is counted, by the stack that led to it" {
	calls names 100
	start_stackcount -f --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	balanced 300
	[ "$(total seen)" -eq 300 ]
	stacks | diff - <(printf 'main;names;%s\n' 'one;counted 100' 'two;counted 200')
}

@test "without -p: of all processes, those that start later too" {
	calls names 10
	one=$pid
	start_stackcount -f --stats "$CALLS:counted"
	calls names 20
	go "$one"
	go "$pid"
	stop_stackcount
	balanced 90
	stacks | diff - <(printf 'main;names;%s\n' 'one;counted 30' 'two;counted 60')
}

@test "-p with one process: no other, and no line that names it" {
	calls names 10
	other=$pid
	calls names 20
	start_stackcount --stats -p "$pid" "$CALLS:counted"
	go "$other"
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 60 ]
	refute grep -Fq 'calls [' out
	[ "$(total counted)" -eq 60 ]
	[ "$(total lost)" -eq 0 ]
	[ "$(total seen)" -eq $((60 + $(total filtered))) ]
}

# bats test_tags=between
@test "--comm: threads of that name and no others, by a glob" {
	cp "$CALLS" ./other_name
	calls getppids 10
	other=$pid
	copy=./other_name calls getppids 20
	start_stackcount -P --stats --comm 'o*[!a-d]_n?me' t:syscalls:sys_enter_getppid
	go "$other"
	go "$pid"
	stop_stackcount
	[ "$(total counted)" -gt 0 ]
	[ "$(total filtered)" -gt 0 ]
	grep -q "other_name \\[$pid\\]" out
	refute grep -q ' calls \[' out
}

@test "-p with two processes: both, and neither the third nor what they fork" {
	calls names 10
	third=$pid
	calls children 10
	one=$pid
	calls names 20
	start_stackcount -p "$one,$pid" "$CALLS:counted"
	go "$third"
	go "$one"
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 70 ]
	[ "$(grep -Fxc "    calls [$one]" out)" -eq 1 ]
	[ "$(grep -Fxc "    calls [$pid]" out)" -eq 2 ]
	refute grep -Fq "[$third]" out
}

# bats test_tags=between
@test "-p with many processes: all of them, by one link, and nobody else" {
	calls names 10
	other=$pid
	pids=()
	for _ in {1..32}; do
		start sleep infinity
		pids+=("$pid")
	done
	calls names 30
	one=$pid
	calls names 20
	pids+=("$one" "$pid")
	start_stackcount --stats -f -p "$(IFS=, && echo "${pids[*]}")" "$CALLS:counted"
	[ "$(find "/proc/$tracer/fd" -lname '*bpf*link*' -o -lname '*perf_event*' | wc -l)" -eq 1 ]
	go "$other"
	go "$one"
	go "$pid"
	stop_stackcount
	balanced 180
	[ "$(sum out)" -eq 150 ]
}

# bats test_tags=between
@test "--children: all that descend from a process, exactly, and nobody else" {
	calls family 10
	other=$pid
	calls family 10
	rounds=20
	! in_guest || rounds=3
	for _ in $(seq "$rounds"); do
		start_stackcount --stats -f --children -p "$pid" "$CALLS:counted"
		go "$pid"
		go "$other"
		go "$pid"
		stop_stackcount
		balanced 240
		[ "$(sum out)" -eq 160 ]
	done
}

# Each birth is seen, also while others are preempted, and maps are being read.
@test "--children in a PID namespace" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	cat >inside <<-END
		"$CALLS" family 10 >said & pid=\$!
		"$CALLS" family 10 >said.other & other=\$!
		until grep -q ready said && grep -q ready said.other; do sleep 0.02; done
		"$TRACEKIT" stackcount --stats -i 0.05 --children -p \$pid "$CALLS:counted" >out 2>err & tracer=\$!
		until [ "\$(grep -c '^\$' out)" -ge 1 ]; do sleep 0.02; done
		for round in {1..10}; do
			kill -USR1 \$pid \$other
			until [ "\$(grep -c done said)" = \$round ] && [ "\$(grep -c done said.other)" = \$round ]; do sleep 0.02; done
		done
		kill -INT \$tracer
		wait \$tracer
		kill -KILL \$pid \$other
	END
	unshare --fork --pid --mount-proc bash inside
	[ "$(stackcount_text out)" -eq 800 ]
	[ "$(total filtered)" -ge 800 ]
}

@test "threads, and children without -p" {
	calls threads 50
	start_stackcount -f --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	balanced 100
	[ "$(grep -oE ';thread;one;counted 100$' out | wc -l)" -eq 1 ]
	calls children 50
	start_stackcount -f --stats "$CALLS:counted"
	go "$pid"
	stop_stackcount
	balanced 150
	# Three processes, of which two have ended.
	stacks | grep -Fxq "main;children;one;counted 150"
}

@test "deeper than 575 frames: the stack says that it was cut" {
	local method
	calls recursion 700
	for method in auto fp; do
		start_stackcount -f --stats -U --unwind="$method" -p "$pid" "$CALLS:recurse"
		go "$pid"
		stop_stackcount
		balanced 701
		grep -Eq '^calls;\[cut at 575 frames\](;recurse){575} [0-9]+$' out
	done
}

# bats test_tags=between
@test "a function of a library, by path and by name, and of one that is loaded later" {
	library=$(dirname "$CALLS")/libcounted.so
	calls linked 30
	start_stackcount -f --stats -p "$pid" counted:library_function
	go "$pid"
	stop_stackcount
	balanced 30
	[ "$(stacks)" = "main;linked;library_function 30" ]
	cp "$library" ./libloaded.so
	calls loaded 40 ./libloaded.so
	start_stackcount -f --stats ./libloaded.so:library_function
	go "$pid"
	stop_stackcount
	balanced 40
}

@test "what the kernel would misread is left out, and goes on working" {
	[ "$(uname -m)" = x86_64 ] || skip "only x86-64 has such instructions"
	calls vector 10
	start_stackcount -f -v --stats -p "$pid" "$CALLS:vector_*"
	go "$pid"
	[ "$answer" = 10 ]
	stop_stackcount
	balanced 10
	stacks | diff - <(printf 'main;vector;%s\n' 'vector_caller 10')
	grep -Fxq "stackcount: attached 1 of 2 functions; 1 cannot be probed:" err
	grep -Fxq "  vector_first: the kernel cannot execute its first instruction with a breakpoint" err
}

@test "a path with -p means the file that the process runs, by now deleted or not" {
	cp "$CALLS" ./victim
	CALLS=./victim calls names 10
	cp "$CALLS" ./upgraded
	mv ./upgraded ./victim
	start_stackcount -f --stats -p "$pid" "$PWD/victim:counted"
	go "$pid"
	stop_stackcount
	balanced 30
}

@test "an event that a user has defined is not the tracepoint of its name" {
	local events=$tracefs/uprobe_events offset
	[ -w "$events" ] || skip "cannot define events here"
	# Its address is its place in the file: the first segments of a program are.
	offset=$(readelf -sW "$CALLS" | awk '$8 == "counted" { print $2 }')
	calls names 10
	echo "p:ours_$$/sched_switch $CALLS:0x${offset#0000}" >>"$events"
	start_stackcount -K --stats "t:ours_$$:sched_switch" || true
	go "$pid"
	kill -INT "$tracer"
	try wait "$tracer"
	echo "-:ours_$$/sched_switch" >>"$events"
	cat err
	[ "$status" -eq 0 ]
	[ "$(total seen)" -eq 30 ]
}

# ---- options ----

# bats test_tags=same
@test "-U and -K" {
	calls getppids 15
	start_stackcount -f --stats -U -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_stackcount
	[ "$(total counted)" -eq 15 ]
	[ "$(stacks)" = "main;getppids 15" ]
	start_stackcount -f -K -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_stackcount
	[ "$(sum out)" -eq 15 ]
	grep -Eq "^$kernel_path(;[^;]+)* 15$" out
	# A user function has no kernel stack: only the call is known.
	calls names 10
	start_stackcount -f -K "$CALLS:counted"
	go "$pid"
	stop_stackcount
	diff out <(echo "[unknown] 30")
}

@test "--debug: what the verifier says, before anything else" {
	try stackcount --debug -D 0.01 "$CALLS:counted" >out 2>err
	refute grep -q "log is longer than this kernel can hand out" err || skip "the log is too long for this kernel"
	[ "$status" -eq 0 ]
	grep -Eq '^processed [0-9]+ insns ' err
	# 64 bytes of stack or more, and threads that are preempted would share it.
	grep -Eq '^stack depth [0-9+]+' err
	refute grep -E '^stack depth ([0-9]+[+])*(6[4-9]|5[0-9]|4[9]|[7-9][0-9]|[0-9]{3})' err
	[ "$(stackcount_text out)" -eq 0 ]
}

# ---- threads that are preempted ----

# chains COUNT: no stack in out, folded, is of two threads; those of their own functions are COUNT,
# and whole. With "any" a thread can be anywhere in them.
chains() {
	awk -v wanted="$1" '
	{
		count = $NF; sub(/ [0-9]+$/, "")
		nr = split($0, frames, ";"); depth = 0; owner = ""; mixed = 0
		for (i = 1; i <= nr; i++) {
			if (frames[i] !~ /^(chain|thread)[0-7]$/) continue
			n = substr(frames[i], length(frames[i]))
			if (owner != "" && n != owner) mixed = 1
			owner = n
			if (frames[i] ~ /^chain/) depth++
		}
		if (mixed || (wanted != "any" && depth && depth != owner * 3 + 3)) { print "no stack: " $0; bad = 1 }
		if (depth) whole += count
	}
	END { if (wanted != "any" && whole != wanted) { print whole " whole stacks"; bad = 1 } exit bad }' out
}

@test "many threads through one probe: every stack is that of one of them" {
	calls chains 2000
	start_stackcount -U -f --stats -p "$pid" "$CALLS:meet"
	go "$pid"
	stop_stackcount
	balanced 16000
	chains 16000
}

@test "many threads through a system call" {
	calls chains 2000
	start_stackcount -U -f --stats -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_stackcount
	[ "$(total counted)" -eq 16000 ]
	chains 16000
}

# bats test_tags=between
@test "beside changes of BPF maps: what the kernel withholds then is said" {
	calls chains 2000
	threads=$pid
	spin map-updates
	# Linux 7 preempts a thread that changes a map, and withholds events from others meanwhile.
	for try in {1..20}; do
		start_stackcount -K -f --stats -p "$threads" t:syscalls:sys_enter_getppid
		go "$threads"
		stop_stackcount
		missed=$(stat_of 'missed by the kernel' err)
		[ "$(total counted)" -le 16000 ]
		[ $(($(total counted) + missed)) -ge 16000 ]
		[ "$(uname -r | cut -d. -f1)" -ge 7 ] || return 0
		[ "$missed" -eq 0 ] || break
	done
	grep -q "^WARNING: up to $missed more events were withheld by the kernel, " err
}

# bats test_tags=between
@test "tracepoints of all kinds, within each other" {
	calls chains 500
	start_stackcount -f --stats -p "$pid" 't:*:*'
	go "$pid"
	stop_stackcount
	[ "$(total seen)" -eq $(($(total counted) + $(total filtered) + $(total lost))) ]
	[ "$(sum out)" -eq "$(total counted)" ]
	chains any
}

# ---- as fast as two threads can ----

# trace_all_calls OPTION...: their number is in $answer, while reports are made one after the other.
trace_all_calls() {
	local intervals=10
	! in_guest || intervals=4
	calls fast
	start_stackcount -f --stats -i 0.1 "$@" -p "$pid" "$CALLS:counted"
	go "$pid"
	wait_for eval '[ "$(wc -l <err)" -ge "$intervals" ]'
	go "$pid"
	stop_stackcount
	echo "$answer calls"
	[ "$answer" -gt 0 ]
	balanced "$answer"
}

@test "intervals lose nothing, and count nothing twice" {
	trace_all_calls
	[ "$(total lost)" -eq 0 ]
	# 64 paths, and no stack is merged with another one.
	[ "$(grep -oE ';turn(;(left|right);turn)+;counted ' out | sort -u | wc -l)" -eq 64 ]
}

@test "intervals with a full stack table: said in each, and still nothing is counted twice" {
	trace_all_calls --stack-storage-size 8
	[ "$(total lost)" -gt 0 ]
	grep -E '^WARNING: [0-9]+ of [0-9]+ events are not shown: [0-9]+ no room for their stack \(--stack-storage-size\)' err |
		sed 's/^WARNING: \([0-9]*\) .*/\1/' | diff - <(stat_of lost err | grep -vx 0)
}

@test "intervals with a full key table" {
	trace_all_calls --hash-storage-size 8
	[ "$(total lost)" -gt 0 ]
	grep -Eq '^WARNING: [0-9]+ of [0-9]+ events are not shown: [0-9]+ no room for their key \(--hash-storage-size\)' err
}

# ---- USDT ----

# bats test_tags=between
@test "a semaphore is up while somebody traces, in each process, and down afterwards" {
	calls usdt 12
	one=$pid
	go "$one"
	[ "$answer" -eq 0 ]
	start_stackcount -f --stats "u:$CALLS:watched"
	calls usdt 5
	for process in "$one" "$pid"; do
		go "$process"
		[ "$answer" -eq 1 ]
	done
	stop_stackcount
	balanced 17
	stacks | diff - <(echo 'main;usdt;fire_watched 17')
	for process in "$one" "$pid"; do
		go "$process"
		[ "$answer" -eq 0 ]
	done
}

@test "a semaphore of -p, by more than one tracer, and after the tracer was killed" {
	calls usdt 12
	start_stackcount -f --stats -p "$pid" "u:$CALLS:*"
	go "$pid"
	[ "$answer" -eq 1 ]
	first=$tracer
	start_stackcount -f -p "$pid" "u:$CALLS:watched"
	go "$pid"
	[ "$answer" -eq 1 ]
	kill -KILL "$tracer"
	try wait "$tracer"
	go "$pid"
	[ "$answer" -eq 1 ]
	kill -KILL "$first"
	try wait "$first"
	wait_for eval 'go "$pid"; [ "$answer" -eq 0 ]'
	nothing_left
}

# The calls of this case are those of a program that lld has linked.
calls_of_lld() {
	[ -x "$CALLS_LLD" ] || skip "there is no ld.lld"
	cp "$CALLS_LLD" "${CALLS%/*}/libcounted.so" .
	CALLS=$PWD/${CALLS_LLD##*/}
}

# Process PID finds its semaphore up; down.
is_up() {
	go "$1"
	[ "$answer" -gt 0 ]
}
is_down() {
	go "$1"
	[ "$answer" -eq 0 ]
}

# bats test_tags=between
@test "a semaphore in a page that lld has put into two segments, of processes that begin during the trace" {
	calls_of_lld
	calls usdt 10
	before=$pid
	start_stackcount -f --stats "u:$CALLS:watched"
	is_up "$before"
	calls usdt 10
	wait_for is_up "$pid"
	go "$pid"
	go "$pid"
	stop_stackcount
	# As those of before, and some of the round in which it was counted up.
	counted=$(total counted)
	[ "$counted" -gt 30 ]
	[ "$counted" -le 50 ]
	stacks | diff - <(echo "main;usdt;fire_watched $counted")
	is_down "$before"
	is_down "$pid"
	# It has gone down as often as it went up: it can go up once more.
	start_stackcount -f --stats "u:$CALLS:watched"
	is_up "$before"
	is_up "$pid"
	stop_stackcount
	is_down "$before"
	is_down "$pid"
}

@test "such a semaphore by more than one tracer, and after the tracer was killed" {
	calls_of_lld
	start_stackcount -f "u:$CALLS:*"
	first=$tracer
	start_stackcount -f "u:$CALLS:watched"
	calls usdt 1
	wait_for is_up "$pid"
	kill -KILL "$first"
	try wait "$first"
	is_up "$pid"
	kill -KILL "$tracer"
	try wait "$tracer"
	wait_for is_down "$pid"
	nothing_left
}

@test "processes that ended before their semaphores could be counted up are said" {
	calls_of_lld
	start_stackcount -f "u:$CALLS:watched"
	kill -STOP "$tracer"
	calls usdt 1
	kill -KILL "$pid"
	try wait "$pid"
	kill -CONT "$tracer"
	stop_stackcount
	grep -qx 'stackcount: 1 process ended before semaphores of USDT probes could be counted up there; probes in it were not seen' err
}

@test "processes that were not heard of, whose semaphores would have to be counted up, are said" {
	calls_of_lld
	start_stackcount -f "u:$CALLS:watched"
	kill -STOP "$tracer"
	for i in $(seq 150); do
		sh -c : 3>&-
	done
	kill -CONT "$tracer"
	sh -c : 3>&-
	stop_stackcount
	grep -Eqx 'stackcount: [0-9]+ mappings were not heard of: USDT probes with semaphores may not have been seen in processes that began during the trace' err
}

# ---- tracepoints ----

# bats test_tags=between
@test "system calls: entry and return, each once" {
	calls getppids 40
	for event in sys_enter_getppid sys_exit_getppid 'sys_e*_getppid'; do
		start_stackcount -f --stats -p "$pid" "t:syscalls:$event"
		go "$pid"
		stop_stackcount
		[ "$event" = 'sys_e*_getppid' ] && expected=80 || expected=40
		[ "$(sum out)" -eq "$expected" ]
		[ "$(total counted)" -eq "$expected" ]
		[ "$(total lost)" -eq 0 ]
		[ "$(total seen)" -eq $((expected + $(total filtered))) ]
		# Nothing of tracing itself is on top.
		refute grep -Eq ';(bpf_prog_|bpf_trace_run|__bpf_trace_|__traceiter_)' out
	done
}

@test "sched_switch: as often as the kernel says that a process was switched" {
	switches() {
		awk '/ctxt_switches/ { n += $2 } END { print n }' "/proc/$pid/status"
	}
	sleeps() {
		grep -q '^State:.S' "/proc/$pid/status"
	}
	calls names 10
	wait_for sleeps
	start_stackcount -f --stats -p "$pid" t:sched:sched_switch
	wait_for sleeps
	before=$(switches)
	for _ in 1 2 3 4 5; do
		go "$pid"
		wait_for sleeps
	done
	after=$(switches)
	stop_stackcount
	[ "$(total lost)" -eq 0 ]
	[ "$(sum out)" -eq $((after - before)) ]
	[ "$(sum out)" -ge 5 ]
	# The tracepoint is in __schedule().
	[ "$(grep -Ec ';__schedule [0-9]+$' out)" -eq "$(wc -l <out)" ]
}

@test "all system calls at once" {
	calls getppids 40
	start_stackcount -p "$pid" 't:syscalls:sys_enter_*'
	head -1 out | grep -Eq '^Tracing [0-9]{3} functions for "t:syscalls:sys_enter_\*"\.\.\. '
	[ "$(stackcount -l 't:syscalls:sys_enter_*' | wc -l)" -eq "$(sed -n '1s/Tracing \([0-9]*\) .*/\1/p' out)" ]
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -ge 41 ]
	awk -v RS= '/\n  getppids\n/ && /\n    40$/' out | grep -q getppids
}

# ---- kernel functions ----

# A function that has several names: the kernel chooses the one that it is called by.
getppid='__*sys_getppid'

# bats test_tags=between
@test "a kernel function: exact counts, the caller below it" {
	needs_kprobes
	calls getppids 40
	start_stackcount -f --stats -p "$pid" "$getppid"
	go "$pid"
	stop_stackcount
	[ "$(total counted)" -eq 40 ]
	[ "$(total lost)" -eq 0 ]
	[ "$(sum out)" -eq 40 ]
	cat out
	stacks | grep -Exq "main;getppids;$kernel_path$kernel_to_call;__[a-z0-9_]*sys_getppid 40"
}

# bats test_tags=between
@test "kernel functions by a glob and by an expression; -K, and -P" {
	needs_kprobes
	calls getppids 40
	for arguments in "-K $getppid" '-rK ^__[^_]*_sys_getpp?id$'; do
		start_stackcount $arguments
		head -1 out | grep -Eq '^Tracing [12] functions for '
		go "$pid"
		stop_stackcount
		[ "$(stackcount_text out)" -ge 40 ]
		refute grep -Eq '^    .+ \[[0-9]+\]$' out
		grep -Exq '  __[a-z0-9_]*sys_getppid' out
	done
	start_stackcount -K -P "$getppid"
	go "$pid"
	stop_stackcount
	grep -A1 -Fx "    calls [$pid]" out | diff - <(printf '%s\n' "    calls [$pid]" '    40')
}

@test "many kernel functions" {
	needs_kprobes
	listed=$(stackcount -l '*get*pid*' | wc -l)
	start_stackcount --stats '*get*pid*'
	stop_stackcount
	stackcount_text out
	attached=$(sed -n '1s/Tracing \([0-9]*\) .*/\1/p' out)
	echo "$attached of $listed"
	[ "$attached" -gt 10 ]
	# Functions of one name are listed once.
	[ "$attached" -ge "$listed" ] || grep -Eq "^stackcount: attached $attached of [0-9]+ functions; [0-9]+ cannot be probed \(-v lists them\)" err
}

# ---- how a trace ends ----

@test "a target that exits ends the trace, and keeps its names" {
	calls exit 10
	start_stackcount -f --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	ends_well
	balanced 30
	stacks | diff - <(printf 'main;names;%s\n' 'one;counted 10' 'two;counted 20')
}

@test "killed, it leaves nothing behind" {
	calls names 10
	for pattern in "$CALLS:*" 't:syscalls:*' t:sched:sched_switch; do
		start_stackcount "$pattern"
		kill -KILL "$tracer"
		try wait "$tracer"
		nothing_left
	done
	go "$pid"
}

# ---- namespaces and privileges ----

@test "in a PID namespace: PIDs are those of the caller" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	cat >inside <<-END
		"$CALLS" names 10 >said & pid=\$!
		until grep -q ready said; do sleep 0.02; done
		"$TRACEKIT" stackcount -i 0.2 "$CALLS:counted" >out & tracer=\$!
		until [ "\$(grep -c '^\$' out)" -ge 1 ]; do sleep 0.02; done
		kill -USR1 \$pid
		until grep -q done said; do sleep 0.02; done
		kill -INT \$tracer
		wait \$tracer
		kill -KILL \$pid
		echo "\$pid" >pid
	END
	unshare --fork --pid --mount-proc bash inside
	[ "$(cat pid)" -lt 100 ]
	[ "$(stackcount_text out)" -eq 30 ]
	grep -Fxq "    calls [$(cat pid)]" out
}

@test "without privileges: what is missing, and what to do" {
	cp "$TRACEKIT" ./tracekit
	chmod 755 . ./tracekit
	setpriv --reuid 65534 --regid 65534 --clear-groups "$PWD/tracekit" --version >/dev/null ||
		skip "an unprivileged user cannot reach $PWD"
	for pattern in c:malloc t:syscalls:sys_enter_read; do
		try setpriv --reuid 65534 --regid 65534 --clear-groups "$PWD/tracekit" stackcount "$pattern" 2>err >out
		[ "$status" -eq 1 ]
		[ ! -s out ]
		[ "$(wc -l <err)" -eq 1 ]
		grep -Eq '^stackcount: .*root' err
	done
}
