#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# profile of programs whose stacks are known. What does not depend on the kernel is in names.bats,
# options.bats and filters.bats.

load helpers
load ../refute

# bats test_tags=between
@test "a known stack, root to leaf, with every frame named" {
	spin names
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq '^spin;.*main;outer;middle;spin_leaf [0-9]+$' out
}

@test "all samples of a process that does one thing are in its one place" {
	spin names
	sample 10 -f -U -p "$pid" -F 499
	inside=$(grep -E ';main;outer;middle;spin_leaf ' out | awk '{ n += $NF } END { print n }')
	[ "$inside" -eq "$(sum out)" ]
}

@test "the count is what frequency and CPU time allow" {
	spin names
	sample_one "$pid" -f -U -F 199 1
	likely "$(sum out)" 199 1
}

# bats test_tags=between
@test "-i: each sample is in one report" {
	local seen counted seconds=2
	! in_guest || seconds=6 # where a report can take longer than an interval
	spin names
	profile -i 0.2 -f --stats -F 499 -p "$pid" "$seconds" >out 2>err
	# A report is as many samples as were counted in its interval.
	sed -En 's/.* seen = ([0-9]+) counted .*/\1/p' err >counted
	awk -v RS= -F '\n' '{ n = 0; for (i = 1; i <= NF; i++) { sub(/.* /, "", $i); n += $i } print n }' out |
		diff - <(grep -vx 0 counted)
	[ "$(wc -l <counted)" -ge 5 ]
	sed -En 's/.* ([0-9]+) seen = ([0-9]+) counted \+ ([0-9]+) filtered \+ ([0-9]+) lost.*/\1 \2 \3 \4/p' err |
		while read -r seen counted filtered lost; do
			[ "$seen" -eq $((counted + filtered + lost)) ]
		done
	# All that these seconds have: of all CPUs, seen or withheld by the kernel.
	[ "$(sed -En 's/.* ([0-9]+) seen = .* ([0-9]+) missed by the kernel$/\1 \2/p' err |
		awk '{ n += $1 + $2 } END { print n }')" -ge $((seconds * 499 * $(nproc) - 2 * $(nproc))) ]
}

# bats test_tags=same
@test "text: leaf first, then process and count, least count first" {
	spin names
	profile -p "$pid" 1 >out
	head -1 out | grep -Fxq "Sampling at 49 Hertz of PID [$pid] by user + kernel stack for 1 secs."
	sed -n 2p out | grep -Fxq ""
	# The most frequent stack is the last: the spinning itself, in user space alone.
	awk -v RS= 'END { print }' out >last
	head -4 last | diff - <(printf '    %s\n' spin_leaf middle outer main)
	tail -2 last | head -1 | grep -Fxq "    $(printf '%-16s' -) spin ($pid)"
	tail -1 last | grep -Exq '        [0-9]+'
	[ -z "$(tail -1 out)" ]
	grep -E '^        [0-9]+$' out | sort -nc
}

# bats test_tags=between
@test "a kernel stack lies under its user stack" {
	spin syscalls
	sample 10 -f -p "$pid" -F 499
	grep -Eq ";main;syscalls;.*$kernel_dispatch" out
	sample 10 -df -p "$pid" -F 499
	grep -Eq ";main;syscalls;-;.*$kernel_dispatch" out
}

# bats test_tags=same
@test "-K shows no user frames, -U no kernel frames" {
	spin syscalls
	sample 10 -f -K -p "$pid" -F 499
	refute grep -q ';main[; ]' out
	grep -q "$kernel_dispatch" out
	sample 10 -f -U -p "$pid" -F 499
	refute grep -q "$kernel_dispatch" out
	grep -q ';main;' out
}

@test "-p shows that process and no other" {
	spin names
	other=$pid
	spin deep 3
	sample 10 -p "$pid" -F 199
	grep -q "spin ($pid)" out
	refute grep -q "($other)" out
	busy="$pid $other" sample 10 -p "$pid,$other" -F 499
	head -1 out | grep -Fq "of PID [$pid, $other] by"
	grep -q "spin ($pid)" out
	grep -q "spin ($other)" out
	[ "$(grep -Ec '^    - ' out)" -eq "$(grep -Ec "^    - .*\(($pid|$other)\)$" out)" ]
}

# Sets $one and $two: the threads of the process but its first.
two_threads() {
	set -- $(cd "/proc/$pid/task" && ls)
	[ $# -eq 3 ] && one=$2 two=$3
}

@test "-p follows the threads of a process, also when its first thread has ended" {
	spin threads
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq ';thread;spin_leaf [0-9]+$' out
}

@test "--threads: each thread of a process by itself, in each format" {
	spin threads
	wait_for two_threads
	busy="$pid/task/$one $pid/task/$two" sample 10 -U -p "$pid" -F 499 --threads \
		-o out.txt -o out.folded -o out.json -o out.speedscope.json -o out.svg
	for tid in "$one" "$two"; do
		echo "$tid"
		grep -q "^    - .* spin ($pid/$tid)$" out.txt
		grep -Eq "^spin-$pid/$tid;.*spin_leaf [0-9]+$" out.folded
		grep -q "\"comm\":\"spin\",\"pid\":$pid,\"tid\":$tid,.*spin_leaf" out.json
		grep -q "\"name\":\"spin ($pid/$tid)\"" out.speedscope.json
		grep -q "spin-$pid/$tid" out.svg
	done
	# Without it, both are one.
	sample 10 -f -U -p "$pid" -F 499
	refute grep -q ^spin- out
}

@test "a system-wide profile shows the process that spins, and no idle task" {
	spin names
	sample 10 -f -F 499
	grep -Eq '^spin;.*spin_leaf [0-9]+$' out
	refute grep -q '^swapper' out
}

# cut_at NUMBER [OPTION...]: a stack that has more frames is shown with so many.
cut_at() {
	local number=$1
	shift
	sample 10 -f -U -p "$pid" -F 499 "$@"
	grep -Eq "^spin;\[cut at $number frames\];deep;.*deep;spin_leaf [0-9]+$" out
	# the frames and the marker, behind the comm
	[ "$(tail -1 out | sed 's/ [0-9]*$//' | tr ';' '\n' | wc -l)" -eq $((number + 2)) ]
}

@test "a stack deeper than 575 frames, or --max-depth, says at its root that it was cut" {
	spin deep 700
	cut_at 575
	cut_at 50 --max-depth 50
	cut_at 50 --max-depth 50 --unwind=fp
}

@test "by frame pointers a stack deeper than 127 frames says at its root that it was cut" {
	[ "$(cat /proc/sys/kernel/perf_event_max_stack)" = 127 ] || skip "perf_event_max_stack is not 127"
	spin deep 200
	cut_at 127 --unwind=fp
}

@test "a stack of fewer frames is whole" {
	spin deep 500
	sample 10 -f -U -p "$pid" -F 499
	says_nothing
	# A sample in a kernel that does not tell the registers is walked by frame pointers.
	tells_registers || sed -i '/;\[cut at 127 frames\];/d' out
	refute grep -Eq 'cut at|unwind stopped: [^r]' out
	grep -Eq '^spin;(_start;[^;]*;([^;]*;)?)?main(;deep){501};spin_leaf [0-9]+$' out
	spin deep 100
	sample 10 -f -U -p "$pid" -F 499 --unwind=fp
	refute grep -q 'cut at' out
	grep -q ';main;deep;' out
}

@test "in a PID namespace: PIDs are those of the caller, and its processes are named" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	cat >inside <<-END
		"$SPIN" names & pid=\$!
		until [ "\$(</proc/\$pid/comm)" = spin ]; do sleep 0.02; done
		"$TRACEKIT" profile -U -p \$pid -F 199 0.3
		kill \$pid
		echo "pid=\$pid"
	END
	unshare --fork --pid --mount-proc bash inside >out
	inner=$(sed -n 's/^pid=//p' out)
	[ "$inner" -lt 100 ]
	grep -Fxq "    $(printf '%-16s' -) spin ($inner)" out
	grep -Fxq "    middle" out
}

@test "with the /proc of another PID namespace it says so, and names nothing wrong" {
	unshare --fork --pid true || skip "cannot make a PID namespace"
	try unshare --fork --pid "$TRACEKIT" profile 1 2>err >out
	[ "$status" -eq 1 ]
	grep -q '^profile: /proc is that of another PID namespace; mount one' err
}

@test "in a PID namespace: the rest of the machine is filtered, and that is said once" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	spin names
	unshare --fork --pid --mount-proc "$TRACEKIT" profile -f --stats -F 499 0.2 >out 2>err
	refute grep -q '^spin' out
	[ "$(grep -Ec '^profile: [0-9]+ events are of processes that this PID namespace does not see, ' err)" -eq 1 ]
	[ "$(stat_of filtered err)" -gt 0 ]
}

@test "a PID of -p that becomes another process is not shown as the first" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	cat >inside <<-END
		"$SPIN" names & one=\$!
		"$SPIN" names & two=\$!
		for pid in \$one \$two; do
			until [ "\$(</proc/\$pid/comm)" = spin ]; do sleep 0.02; done
		done
		"$TRACEKIT" profile -f -U -F 199 -p \$one,\$two >out & profile=\$!
		$(declare -f wait_for pause cpu_time read_cpu_time has_used spend)
		has_pidfds() {
			[ "\$(ls -l /proc/\$profile/fd | grep -c pidfd)" -eq \$1 ]
		}
		wait_for has_pidfds 2
		spend \$one 20
		kill -KILL \$one
		wait \$one
		# It has heard of that: until then, for a moment, the PID is what was asked for.
		wait_for has_pidfds 1
		echo \$((one - 1)) >/proc/sys/kernel/ns_last_pid
		"$SPIN" deep 5 & again=\$!
		echo "\$one \$again" >pids
		spend \$again 20
		kill -TERM \$profile
		wait \$profile
		kill -KILL \$again \$two
	END
	unshare --fork --pid --mount-proc bash inside
	read -r one again <pids
	[ "$one" = "$again" ] || skip "cannot choose a PID"
	grep -Eq ';main;outer;middle;spin_leaf [0-9]+$' out
	refute grep -q ';deep;' out
}

@test "no sample: why, and where a process waits" {
	start sleep 1000
	one=$pid
	start sleep 1000
	wait_for has_waited "$one" 1
	wait_for has_waited "$pid" 1
	try profile -p "$pid" 0.2 2>err >out
	[ "$status" -eq 0 ]
	read_place "$pid"
	diff err <(echo "profile: no sample: process $pid used no CPU, or hardly any: 1 thread waits$place; where in the kernel: cat /proc/$pid/task/*/stack; waits that begin during a trace: tracekit offcputime --pending -p $pid")
	[ "$(wc -l <out)" -eq 2 ]
	profile -L "$pid,$one" 0.2 2>err >out
	diff err <(echo "profile: no sample: threads $pid,$one used no CPU, or hardly any: 2 threads wait$place; where in the kernel: cat /proc/TID/stack; waits that begin during a trace: tracekit offcputime --pending -t $pid,$one")
	profile --comm nobody 0.2 2>err >out
	diff err <(echo "profile: no sample: the CPUs were idle (-I shows that), or busy with what the options leave out")
	profile -F 1 -p "$pid" 0.001 2>err >out
	diff err <(echo "profile: no sample: the trace was too short for one, or no CPU was busy")
}
