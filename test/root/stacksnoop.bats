#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# stacksnoop of programs whose calls are known: every event by itself, in order, or as one that
# is said to be lost. Cases that do not depend on the kernel are in stacksnoop_output.bats.

load helpers
load stacksnoop
load ../refute

# ---- stacks ----

@test "the kernel stack of each event, innermost function first, and nothing of the probe" {
	calls getppids 3
	for option in -K ''; do
		# shellcheck disable=SC2086
		start_stacksnoop $option --stats -p "$pid" t:syscalls:sys_enter_getppid
		go "$pid"
		stop_tracer
		exact 3
		paths out | sort -u >path
		cat path
		[ "$(wc -l <path)" -eq 1 ]
		grep -Eq "^([a-z_0-9.]+;)*$kernel_path_up$" path
		refute grep -Eq 'bpf_|__traceiter_|getppids' out
		tail -1 out | grep -Exq '[0-9]+\.[0-9]{9} +r[0-9]+: '"$kernel_address $kernel_entry"
	done
}

# bats test_tags=same
@test "-U: the stack of the program" {
	calls names 10
	start_stacksnoop -U --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	exact 30
	paths out | unify | diff - <(printf '%s counted;%s;names;main\n' 10 one 20 two)
	calls getppids 10
	start_stacksnoop -U --stats -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_tracer
	exact 10
	[ "$(paths out | uniq)" = "getppids;main" ]
}

# bats test_tags=between
@test "-d: both stacks and a border, also where one of them is empty" {
	calls getppids 3
	start_stacksnoop -d --stats -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_tracer
	exact 3 d
	paths out | grep -Ec ";$kernel_entry;-;getppids;main$" | grep -qx 3
	# No kernel stack: that of a user function.
	calls names 1
	start_stacksnoop -d --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	exact 3 d
	paths out | diff - <(printf -- '-;counted;%s;names;main\n' one two two)
	# No user stack: a kernel thread.
	within 60 "$TRACEKIT" stacksnoop -dv -n 2 t:workqueue:workqueue_execute_start >out
	[ "$(stacksnoop_text out dv)" = "2 0" ]
	grep -Eq '^[0-9.]+ +kworker/.* ip: [0-9a-f]+ process_one_work$' out
	tail -1 out | grep -Eq '^[0-9.]+ +kworker/.* --$'
}

@test "deeper than 575 frames: the stack says that it was cut" {
	local method
	calls recursion 700
	for method in auto fp; do
		start_stacksnoop -U --stats --unwind="$method" -p "$pid" "$CALLS:recurse"
		go "$pid"
		stop_tracer
		exact 701
		[ "$(grep -Ec '^[0-9.]+ +r574: \[cut at 575 frames\]$' out)" -ge 70 ]
		grep -Eq ' r573: [0-9a-f]+ recurse$' out
	done
}

# ---- every event, in order ----

@test "a small buffer: what is lost is said where it was, and in sum" {
	calls threads 2000
	start_stacksnoop -U --stats --buffer-size 1 -p "$pid" "$CALLS:counted"
	for round in 1 2 3; do
		stop_while_calling
		wait_for eval '[ "$(grep -c ^lost out)" -ge '"$round"' ]'
	done
	stop_tracer
	exact 12000
	[ "$lost" -gt 6000 ]
	[ "$events" -gt 60 ]
	# Between events, not before all of them.
	refute grep -q ^lost <(sed -n 2p out)
	sed -n '/^lost/,$p' out | grep -Eq ' ip: [0-9a-f]+ counted$'
	grep -Eq "^WARNING: $lost of 12000 events are not shown: [0-9]+ no room in the buffer \(--buffer-size\)" err
}

@test "more stacks than are remembered: every event, with its own stack" {
	calls recursion 60
	for size in 1 4; do
		start_stacksnoop -U --stats --stack-storage-size "$size" -p "$pid" "$CALLS:recurse"
		for _ in 1 2 3 4; do
			go "$pid"
		done
		stop_tracer
		exact 244
		[ "$lost" -eq 0 ]
		# The depth of the recursion, event by event.
		paths out | sed 's/;recursion;main$//' | awk -F';' '{ print NF; for (i = 1; i <= NF; i++) if ($i != "recurse") exit 1 }' |
			diff - <(for _ in 1 2 3 4; do seq 61; done)
	done
}

@test "SIGINT and SIGTERM in the middle of a burst: what was seen is printed or counted" {
	local size=4M burst=1000
	# All that a buffer holds is read by the test, too.
	! in_guest || { size=64K burst=200; }
	calls fast 1
	go "$pid"
	for options in "-K -INT --buffer-size=$size" '-U -TERM --buffer-size=8K'; do
		# shellcheck disable=SC2086
		set -- $options
		kill -CONT "$pid"
		start_stacksnoop "$1" "$3" --stats -p "$pid" "$CALLS:counted"
		wait_for lines "$burst"
		kill "$2" "$tracer"
		ends_well
		# The counting that follows has the CPU for itself.
		kill -STOP "$pid"
		counts=$(stacksnoop_text out l)
		read -r events lost <<<"$counts"
		accounted $((events + lost))
		[ "$events" -gt 50 ]
	done
}

# ---- patterns ----

# bats test_tags=between
@test "USDT probes, and their semaphores" {
	calls usdt 6
	start_stacksnoop -U --stats "u:$CALLS:plain"
	go "$pid"
	[ "$answer" -eq 0 ]
	stop_tracer
	exact 6
	[ "$(paths out | uniq)" = "usdt;main" ]
	start_stacksnoop -U --stats -p "$pid" "u:$CALLS:*"
	go "$pid"
	[ "$answer" -eq 1 ]
	stop_tracer
	exact 12
	paths out | paste -sd' \n' | uniq | diff - <(echo "usdt;main fire_watched;usdt;main")
	go "$pid"
	[ "$answer" -eq 0 ]
}

@test "system calls: entry and return, in turn" {
	calls getppids 20
	start_stacksnoop -K --stats -p "$pid" 't:syscalls:sys_e*_getppid'
	go "$pid"
	stop_tracer
	exact 40
	refute grep -Eq 'bpf_|__traceiter_' out
}

# bats test_tags=between
@test "a tracepoint: its first frame is the function that it is in" {
	within 60 "$TRACEKIT" stacksnoop -v -n 50 t:sched:sched_switch >out
	counts=$(stacksnoop_text out vl)
	# __schedule(), by whatever it was called.
	[ "$(grep -c ' ip: [0-9a-f]* __schedule$' out)" -eq "${counts% *}" ]
	# Kernel threads and idle CPUs are threads like others.
	if grep -q 'swapper' out; then
		grep swapper out | refute grep -Evq '^[0-9.]+ +swapper/[0-9]+ +0      [0-9]+ '
	fi
}

@test "tracepoints of all kinds, within each other" {
	calls chains 100
	start_stacksnoop -f --stats -p "$pid" 't:*:*'
	go "$pid"
	stop_tracer
	[ "$(total seen)" -eq $(($(total counted) + $(total filtered) + $(total lost))) ]
	[ "$(wc -l <out)" -eq "$(total counted)" ]
}

# bats test_tags=between
@test "a kernel function: exact, the caller below it" {
	needs_kprobes
	calls getppids 20
	start_stacksnoop -d --stats -p "$pid" '__*sys_getppid'
	go "$pid"
	stop_tracer
	exact 20 d
	paths out | grep -Exc "__[a-z0-9_]*sys_getppid$kernel_to_call;$kernel_path_up;-;getppids;main" | grep -qx 20
}

# ---- processes ----

# Their first event is some ten milliseconds before their last: a busy machine needs some of that.
@test "processes that end right after their events have their names" {
	local number=4000
	! in_guest || number=400
	start_stacksnoop -Uf --stats --buffer-size 16M "$CALLS:counted"
	for _ in 1 2; do
		calls exit "$number"
		go "$pid"
		wait "$pid"
	done
	calls children $((3 * number))
	go "$pid"
	stop_tracer
	[ "$(total lost)" -eq 0 ]
	[ "$(wc -l <out)" -eq $((15 * number)) ]
	sed 's/^calls;.*;main;/main;/' out | sort | unify | diff - <(printf '%s;counted 1\n' \
		"$((9 * number)) main;children;one" "$((2 * number)) main;names;one" "$((4 * number)) main;names;two")
}

@test "in a PID namespace: PIDs and TIDs are those of the caller" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	cat >inside <<-END
		"$CALLS" threads 5 >said & pid=\$!
		until grep -q ready said; do sleep 0.02; done
		"$TRACEKIT" stacksnoop --json -U -n 10 "$CALLS:counted" >out & tracer=\$!
		until read -r call _ number _ 2>/dev/null </proc/\$tracer/syscall && [[ \$call =~ ^(7|271)$ ]] && ((number > 1)); do sleep 0.02; done
		kill -USR1 \$pid
		wait \$tracer
		kill -KILL \$pid
		echo "\$pid" >pid
	END
	unshare --fork --pid --mount-proc bash inside
	[ "$(cat pid)" -lt 100 ]
	[ "$(stacksnoop_json out user)" = "10 0" ]
	[ "$(grep -c "\"pid\":$(cat pid)," out)" -eq 10 ]
	[ "$(grep -oE '"tid":[0-9]{1,2},' out | sort -u | wc -l)" -eq 2 ]
	grep -c '"name":"counted"' out | grep -qx 10
}

# ---- programs ----

@test "--debug: what the verifier says, before anything else" {
	try stacksnoop --debug -d -D 0.01 "$CALLS:counted" >out 2>err
	refute grep -q "log is longer than this kernel can hand out" err || skip "the log is too long for this kernel"
	[ "$status" -eq 0 ]
	grep -Eq '^processed [0-9]+ insns ' err
	# 64 bytes of stack or more, and threads that are preempted would share it.
	grep -Eq '^stack depth [0-9+]+' err
	refute grep -E '^stack depth ([0-9]+[+])*(6[4-9]|5[0-9]|4[9]|[7-9][0-9]|[0-9]{3})' err
	[ "$(stacksnoop_text out)" = "0 0" ]
}

@test "killed, it leaves nothing behind" {
	calls names 10
	for pattern in "$CALLS:counted" 't:syscalls:*' t:sched:sched_switch; do
		start_stacksnoop -d "$pattern"
		kill -KILL "$tracer"
		try wait "$tracer"
		nothing_left
	done
	go "$pid"
}
