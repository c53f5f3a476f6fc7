#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# offcputime: waits of threads whose waiting is known.

load helpers
load ../refute

offcputime() {
	"$TRACEKIT" offcputime "$@"
}

# traced KIND TIMES MILLISECONDS [OPTIONS...]: what waiter says is in the file said, the report in
# waits.json, our words in err.
traced() {
	offcputime --stats -o waits.json "${@:4}" -- "$WAITER" "${@:1:3}" >said 2>err
	cat said
	nothing_left
}

# sum_of FIELD TEXT...: of the objects that have all the texts.
sum_of() {
	awk -v field="\"$1\":" -v texts="$(printf '%s\t' "${@:2}")" '
		BEGIN { nr = split(texts, wanted, "\t") - 1 }
		{
			for (i = 1; i <= nr; i++)
				if (!index($0, wanted[i]))
					next
			sum += substr($0, index($0, field) + length(field)) + 0
		}
		END { printf "%.0f\n", sum }' waits.json
}

# waits_of FIELD TID NAME: there, or where the stack ends before: the tables of a new program come a
# little later than its first waits.
waits_of() {
	echo $(($(sum_of "$1" "\"tid\":$2," "\"name\":\"$3\"") +
		$(sum_of "$1" "\"tid\":$2," 'tables not loaded')))
}

# Each thread waited where it says, and for as long: as long as it took, but for the CPU time, and a
# millisecond for interrupts.
as_said() {
	local tid name times took cpu waited threads=0
	while read -r tid name times took cpu; do
		waited=$(sum_of nanoseconds "\"tid\":$tid," "\"name\":\"$name\"")
		echo "$tid: $waited ns in $name, of $took - $cpu"
		[ "$waited" -le "$took" ]
		[ "$(waits_of nanoseconds "$tid" "$name")" -ge $((took - cpu - took / 5 - 1000000)) ]
		# Not all disks have to be waited for.
		[ "$name" = waits_for_disk ] || [ "$(waits_of count "$tid" "$name")" -ge "$times" ]
		threads=$((threads + 1))
	done <said
	[ "$threads" -gt 0 ]
}

# --stats: each wait that was seen became something, in each report.
balanced() {
	local line
	lost=
	while read -r line; do
		[[ $line =~ \ ([0-9]+)\ seen\ =\ ([0-9]+)\ counted\ \+\ ([0-9]+)\ filtered\ \+\ ([0-9]+)\ lost ]]
		[ "${BASH_REMATCH[1]}" -eq $((BASH_REMATCH[2] + BASH_REMATCH[3] + BASH_REMATCH[4])) ]
		lost=$((lost + BASH_REMATCH[4]))
	done < <(grep ' seen = ' err)
	[ -n "$lost" ]
}

# How long threads still waited, as err says, in milliseconds.
still_waited() {
	local seconds
	seconds=$(sed -En 's/.* still waited when the trace ended, for ([0-9.]+) s.*/\1/p' err)
	[ -z "$seconds" ] || echo $((10#${seconds/./}))
	[ -n "$seconds" ] || echo 0
}

# bats test_tags=between
@test "threads that sleep, lock, read, write to a disk, are stopped, fork: as long as they say" {
	local kind
	for kind in 'sleep 10 10' 'futex 10 10' 'pipe 10 10' 'disk 10 0' 'stopped 3 30' 'vfork 10 10' \
		'threads 10 50'; do
		echo "$kind"
		# shellcheck disable=SC2086
		traced $kind
		as_said
		balanced
		[ "$lost" -eq 0 ]
	done
}

# bats test_tags=between
@test "-i: a wait is in the report of the interval in which it ends, whole, however long it is" {
	local way kind tid name files
	for way in '' --pending; do
		for kind in 'sleep 5 250' 'futex 10 50' 'threads 10 150'; do
			echo "$kind $way"
			rm -f waits.*
			# shellcheck disable=SC2086
			offcputime -i 0.1 $way --stats -o waits.%n.json -- "$WAITER" $kind >said 2>err
			cat waits.*.json >waits.json
			balanced
			[ "$lost" -eq 0 ]
			# Some kernels do not tell of each switch; what is missed is said.
			! grep -q ' [1-9][0-9]* missed by the kernel' err || continue
			as_said
			[ "$kind" = 'sleep 5 250' ] || continue
			# Between the ends of two of them is at least one border, where reports are that fast.
			read -r tid name _ <said
			files=$(grep -l "\"tid\":$tid,.*\"name\":\"$name\"" waits.*.json | wc -l)
			[ "$files" -ge "$(in_guest && echo 2 || echo 5)" ]
		done
	done
	nothing_left
}

@test "exec() in a thread: what waits then is the new program" {
	local tid took cpu
	traced exec 10 10
	balanced
	read -r tid _ _ took cpu <said
	[ "$(sum_of nanoseconds "\"tid\":$tid,")" -ge $((took - cpu - took / 5)) ]
	# By frame pointers, what is known of the old program may still stand in for the new one's files.
	! tells_registers || as_said
}

@test "a thread that ends while it waits, or at the end of the trace, is not said to wait" {
	traced ends 10 50
	as_said
	balanced
	# The one that ends last may wait for a CPU, but not as long as the one that slept for ever.
	[ "$(still_waited)" -lt 250 ]
}

# bats test_tags=between
@test "each moment of a thread is counted once, to the nanosecond" {
	local way kind
	for way in '' pending; do
		for kind in 'sleep 100 1' 'futex 20 3' 'pipe 500 0' 'disk 10 0' 'stopped 3 10' 'vfork 10 3' \
			'ends 10 2' 'threads 20 20'; do
			# shellcheck disable=SC2086
			"$ON_OFF" $way "$WAITER" $kind
		done
	done
}

@test "-p, -t: of these alone, until they have ended; the trace begins while they wait" {
	local waiting sleeps=20
	# A slow guest takes some seconds to begin a trace.
	! in_guest || sleeps=100
	start "$WAITER" sleep "$sleeps" 100
	waiting=$pid
	offcputime --stats -o waits.json -p "$waiting" 2>err
	refute grep -v "\"pid\":$waiting," waits.json
	[ "$(sum_of count '"name":"waits_in_sleep"')" -le "$sleeps" ]
	[ "$(sum_of count '"name":"waits_in_sleep"')" -gt 0 ]
	balanced
	start "$WAITER" pipe 1000000 0
	waiting=$pid
	wait_for has_used "$waiting" 5
	start_tracer offcputime -f -t "$waiting"
	spend "$waiting" 10
	stop_tracer
	refute grep -v '^waiter;' out
	grep -q ';waits_in_pipe;' out
	refute grep -q ';answer;' out
}

sleeps() {
	sum_of count '"name":"do_nanosleep"'
}

@test "where threads are walked when they come back, the first wait is whole as well" {
	local seconds=1
	[[ $("$ON_OFF" "$WAITER" sleep 1 1) == *'at the return'* ]] || skip "this kernel walks at the leaving"
	! in_guest || seconds=4
	start "$WAITER" sleep 100 ${seconds}000
	offcputime -U -f -p "$pid" $((2 * seconds)).5 >out
	grep -q ';waits_in_sleep;' out
	refute grep -q 'tables not loaded' out
}

@test "-m, -M: waits by their length; --state: by what they wait for" {
	traced sleep 10 20
	[ "$(sleeps)" -ge 10 ]
	# One that is preempted as it goes to sleep waits twice.
	traced sleep 10 60 -m 20000
	[ "$(sleeps)" -ge 10 ]
	balanced
	traced sleep 10 60 -M 20000
	[ "$(sleeps)" -lt 10 ]
	balanced
	traced sleep 10 20 -m 1000 --state S
	[ "$(sleeps)" -ge 10 ]
	balanced
	traced sleep 10 20 --state D
	refute grep -q '"name":"do_nanosleep"' waits.json
	balanced
	# It can be preempted there.
	traced sleep 10 100 --state 0
	[ "$(sum_of nanoseconds '"name":"do_nanosleep"')" -lt 800000000 ]
	balanced
	for state in 4 T; do
		traced stopped 3 20 --state "$state"
		[ "$(sum_of count '"name":"do_signal_stop"')" -eq 3 ]
	done
	traced stopped 3 20 --state t
	refute grep -q '"name":"do_signal_stop"' waits.json
}

@test "preempted threads: --state R" {
	spin names
	start_busy "$SPIN" names
	spin names
	start_tracer offcputime -f --state R -p "$pid"
	spend "$pid" 20
	stop_tracer
	grep -q ';spin_leaf;' out
}

@test "-u, -k: threads of programs, and of the kernel" {
	start "$WAITER" sleep 100000 5
	[ -r /sys/kernel/btf/vmlinux ] || skip "the kernel has no BTF"
	start_tracer offcputime -f -u
	wait_often "$pid" 10
	stop_tracer
	grep -q '^waiter;' out
	refute grep -Eq '^(ksoftirqd|kworker|rcu_|migration)' out
	offcputime -f -k 0.5 >out 2>err
	refute grep -q '^waiter;' out
}

@test "a thread that does not come back: said, and shown apart with --pending" {
	start "$WAITER" pipe 1000 20
	start_tracer offcputime --stats -o waits.json -p "$pid"
	wait_often "$pid" 5
	stop_tracer
	# One of both waits for the other.
	grep -Eq '^offcputime: [12] threads? still waited when the trace ended, for [0-9]+\.[0-9]{3} s' err
	balanced
	start_tracer offcputime --stats --pending -o waits.json -p "$pid"
	wait_often "$pid" 5
	stop_tracer
	refute grep -q 'still waited' err
	grep -q '"name":"\[still waiting\]"' waits.json ||
		grep -q '\[still waiting\]' waits.json
	balanced
	nothing_left
}

# bats test_tags=same
@test "--count: how often" {
	offcputime --count -U -o waits.txt -- "$WAITER" sleep 10 10 >said 2>err
	refute grep -Ex '        [0-9]+' waits.txt
	[ "$(sed -En 's/^        [0-9]+ in ([0-9]+) waits?$/\1/p' waits.txt | awk '{ n += $1 } END { print n }')" -ge 10 ]
	offcputime --count -U -o waits.folded -- "$WAITER" sleep 10 10 >said 2>err
	grep ';waits_in_sleep;' waits.folded >sleeps
	[ "$(sum sleeps)" -ge 10 ] && [ "$(sum sleeps)" -le 15 ]
}

# bats test_tags=same
@test "text: the header, the stacks, the thread, the longest last" {
	offcputime -d -o waits.txt -- "$WAITER" sleep 10 10 >said 2>err
	[ "$(head -1 waits.txt)" = "Tracing off-CPU time (us) of $WAITER and what it starts by user + kernel stack... Hit Ctrl-C to end." ]
	read -r tid _ <said
	grep -qx "    -                waiter ($tid)" waits.txt
	tail -n 3 waits.txt | grep -Exq '        [0-9]{5,6}'
	grep -qx '    schedule' waits.txt
	[ "$(grep -Ex '        [0-9]+' waits.txt)" = "$(grep -Ex '        [0-9]+' waits.txt | sort -n)" ]
	offcputime -p $$ 0.01 >out
	[ "$(head -1 out)" = "Tracing off-CPU time (us) of PIDs $$ by user + kernel stack for 0.01 secs." ]
	offcputime -K -t "$$" 0.01 >out
	[ "$(head -1 out)" = "Tracing off-CPU time (us) of TIDs $$ by kernel stack for 0.01 secs." ]
	offcputime -U 0.01 >out 2>err
	[ "$(head -1 out)" = 'Tracing off-CPU time (us) of all threads by user stack for 0.01 secs.' ]
}

# bats test_tags=same
@test "folded lines: threads with the same stack are one" {
	offcputime -U -o waits.folded -- "$WAITER" threads 20 50 >said 2>err
	grep ';waits_in_sleep;' waits.folded >sleeps
	# Some can be older than the tables of the new program.
	[ "$(wc -l <sleeps)" -le 4 ]
	[ "$(sum sleeps)" -ge 900000 ]
	[ -z "$(sed 's/ [0-9]*$//' waits.folded | sort | uniq -d)" ]
	offcputime -U -o waits.json -- "$WAITER" threads 20 50 >said 2>err
	[ "$(sed -n '/waits_in_sleep/s/.*"tid":\([0-9]*\),.*/\1/p' waits.json | sort -u | wc -l)" -eq 20 ]
	offcputime -U --threads -o waits.folded -- "$WAITER" threads 20 50 >said 2>err
	[ "$(sed -n '/;waits_in_sleep;/s/;.*//p' waits.folded | grep -Ex 'waiter-[0-9]+/[0-9]+' | sort -u | wc -l)" -eq 20 ]
}

@test "tables that are full: what is lost is said, and how long it lasted" {
	traced threads 20 20 --hash-storage-size 3
	balanced
	[ "$lost" -ge 17 ]
	grep -Eq '^WARNING: [0-9]+ of [0-9]+ events are not shown: [0-9]+ no room for their key .*; they lasted [0-9]+\.[0-9]{3} s$' err
	traced threads 20 20 --stack-storage-size 1
	balanced
	[ "$lost" -ge 1 ]
	grep -q 'no room for their stack' err
}

@test "threads that come and go leave nothing, and nobody is taken for another" {
	local runs=200
	! in_guest || runs=20
	start_tracer offcputime --stats -f -p $$ --children
	for _ in $(seq "$runs"); do "$WAITER" sleep 1 0 >/dev/null; done
	stop_tracer
	[ "$(grep -c '^waiter;' out)" -gt 0 ]
	balanced
	[ "$lost" -eq 0 ]
}

# One of its waits lasts when the trace ends.
lasts_at_end() {
	unshare --time --monotonic "$1" "$TRACEKIT" offcputime -f -p "$pid" 0.35 >out 2>err
	grep -Eq '^offcputime: 1 thread still waited when the trace ended, for 0\.[0-9]+ s together' err
}

# bats test_tags=same
@test "in a time namespace: waits that last are as long as they are" {
	local offset
	for offset in 10000000 -60; do
		unshare --time --monotonic "$offset" true 2>err || skip "no time namespaces: $(<err)"
		start "$WAITER" sleep 300 100
		WAIT=10 wait_for lasts_at_end "$offset"
		kill "$pid"
	done
}

is_in_state() {
	local stat
	stat=$(<"/proc/$1/stat")
	[[ ${stat##*) } == "$2"* ]]
}

@test "no wait: a process that has waited since before, or one that is not meant" {
	start sleep 1000
	wait_for has_waited "$pid" 1
	wait_for is_in_state "$pid" S
	offcputime --pending -p "$pid" 0.2 2>err >out
	read_place "$pid"
	diff err <(echo "offcputime: no wait: process $pid: 1 thread has waited since before the trace$place; where in the kernel: cat /proc/$pid/task/*/stack")
	offcputime -t "$pid" 0.2 2>err >out
	diff err <(echo "offcputime: no wait: thread $pid: 1 thread has waited since before the trace$place; where in the kernel: cat /proc/$pid/stack")
	for limit in '-m 1' '-M 5' '--state D' '--comm nobody'; do
		offcputime -p "$pid" $limit 0.1 2>err >out
		diff err <(echo "offcputime: no wait: none that has ended was as the options want it")
	done
}

@test "no wait: threads that wait at two places, and that are stopped" {
	# One thread that waits for ever, and one that sleeps for long.
	start "$WAITER" ends 1 1000000
	wait_for has_waited "$pid" 1
	wait_for eval '[ "$(cat /proc/$pid/task/*/stat | grep -c ") S ")" -eq 2 ]'
	offcputime -p "$pid" 0.2 2>err >out
	grep -Eq "^offcputime: no wait: process $pid: 2 threads have waited since before the trace(, in [a-z_0-9.]+ \(1\), [a-z_0-9.]+ \(1\))?; where in the kernel: " err
	kill -STOP "$pid"
	wait_for is_in_state "$pid" T
	wait_for eval '[ "$(cat /proc/$pid/task/*/stat | grep -c ") T ")" -eq 2 ]'
	offcputime -p "$pid" 0.2 2>err >out
	diff err <(echo "offcputime: no wait: process $pid: 2 threads are stopped by a signal")
}
