#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The examples of bcc's pages about profile and offcputime, with the programs that they use: dd
# from /dev/zero to /dev/null, func_ab, and python3; and a dd that waits.

load helpers
load ../refute

# As nice as spin is, so that both run where there is one CPU.
spin_dd() {
	start_busy dd if=/dev/zero of=/dev/null bs=4k status=none
	dd=$pid
	renice -n 0 -p "$dd" >/dev/null
}

spin_func_ab() {
	cp "$SPIN" ./func_ab
	start_busy ./func_ab func_ab
	func_ab=$pid
}

# profile_busy PID OPTIONS...: until it has used 0.3 s of CPU time, however busy the machine is.
profile_busy() {
	busy=$1 sample 30 "${@:2}" -p "$1"
}

# text FILE: a header, an empty line, and blocks of frames, process, count and an
# empty line, the least count first; ends with an empty line. Prints the sum.
text() {
	awk '
	function wrong(what) { print FILENAME ":" NR ": " what ": " $0 >"/dev/stderr"; bad = 1; exit 1 }
	NR == 1 { if ($0 !~ /^(Sampling at|Tracing off-CPU time \(us\)) .*[0-9a-z] (by|of) .*stack.*(\.\.\. Hit Ctrl-C to end\.| secs\.)$/) wrong("header"); next }
	NR == 2 { if ($0 != "") wrong("no empty line behind the header"); next }
	$0 == "" { if (state != "count") wrong("empty line"); state = "" ; next }
	/^    -                .+ \([0-9]+\)$/ { if (state == "count" || state == "process") wrong("process"); state = "process"; next }
	/^        [0-9]+$/ {
		if (state != "process") wrong("count")
		if ($1 + 0 < last) wrong("order")
		last = $1 + 0; total += $1; state = "count"; next
	}
	/^    [^ ]/ { if (state == "process" || state == "count") wrong("frame"); state = "frame"; next }
	{ wrong("line") }
	END { if (!bad && state != "") { print FILENAME ": cut off" >"/dev/stderr"; exit 1 }; print total + 0 }
	' "$1"
}

# Interrupt the profile in $1 as Ctrl-C does; it ends well.
interrupt() {
	kill -INT "$1"
	try wait "$1"
	[ "$status" -eq 0 ]
}

@test "profile: all threads until Ctrl-C" {
	spin_dd
	spin_func_ab
	start_profile
	spend "$dd" 100
	spend "$func_ab" 50
	interrupt "$pid"
	head -1 out | grep -Fxq "Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end."
	[ "$(text out)" -gt 20 ]
	grep -Fxq "    -                dd ($dd)" out
	grep -Fxq "    -                func_ab ($func_ab)" out
	for frame in func_a func_b main "$kernel_dispatch" vfs_read; do
		grep -Fxq "    $frame" out
	done
	refute grep -q swapper out
}

@test "profile -I: idle stacks too" {
	profile_idle -I -F 199 0.5
	text out
	grep -Eq '^    -                swapper/[0-9]+ \(0\)$' out
	grep -Fxq "    cpu_startup_entry" out
}

@test "profile -p: one process" {
	spin_dd
	spin_func_ab
	start_profile -p "$dd" -F 999
	spend "$dd" 50
	interrupt "$pid"
	head -1 out | grep -Fxq "Sampling at 999 Hertz of PID [$dd] by user + kernel stack... Hit Ctrl-C to end."
	[ "$(text out)" -gt 20 ]
	for frame in read write vfs_read vfs_write; do
		grep -Exq "    (__)?$frame" out
	done
	refute grep -q "func_ab" out
	# The instruction that was sampled is there once: bcc had rcu_all_qs twice.
	[ "$(grep -c '^    - ' out)" -eq "$(grep -c "^    -                dd ($dd)$" out)" ]
}

@test "profile -p A,B: two processes" {
	command -v python3 >/dev/null || skip "python3 is not installed"
	start_busy python3 -c 'while True: pass'
	one=$pid
	start_busy python3 -c 'while True: open("/dev/null").close()'
	two=$pid
	start_profile -p "$one,$two"
	spend "$one" 50
	spend "$two" 50
	interrupt "$pid"
	head -1 out | grep -Fxq "Sampling at 49 Hertz of PID [$one, $two] by user + kernel stack... Hit Ctrl-C to end."
	[ "$(text out)" -gt 10 ]
	comm=$(<"/proc/$one/comm")
	grep -Fxq "    -                $comm ($one)" out
	grep -Fxq "    -                $comm ($two)" out
	grep -Eq '^    (_?Py|py)[A-Za-z_]+' out
	grep -Eq '^    do_sys_?open(at2)?$' out
}

@test "profile -p -d: a delimiter between kernel and user stacks" {
	spin_dd
	start_profile -d -p "$dd" -F 199
	spend "$dd" 50
	interrupt "$pid"
	text out
	grep -Fxq "    --" out
	# Behind the kernel's entry, and before a function of libc.
	grep -A2 -Fx "    $kernel_entry" out | grep -A1 -Fx "    --" | grep -Exq "    (__)?(read|write)"
	# Never where one of the parts is missing.
	awk -v RS= '/\n    --\n/ && (/^    --\n/ || /\n    --\n    -   /) { exit 1 }' out
}

@test "profile -p 2: for two seconds, and counts add up" {
	spin_func_ab
	sample_one "$func_ab" 2
	head -1 out | grep -Fxq "Sampling at 49 Hertz of PID [$func_ab] by user + kernel stack for 2 secs."
	likely "$(text out)" 49 2
	# func_b does twice as much as func_a.
	busy=$func_ab sample 100 -f -U -p "$func_ab" -F 999
	a=$(grep -E ';func_a [0-9]+$' out | awk '{ n += $NF } END { print n + 0 }')
	b=$(grep -E ';func_b [0-9]+$' out | awk '{ n += $NF } END { print n + 0 }')
	echo "func_a $a, func_b $b"
	[ $((a + b)) -lt 100 ] || { [ "$b" -gt $((a * 14 / 10)) ] && [ "$b" -lt $((a * 28 / 10)) ]; }
}

@test "profile -f: folded" {
	spin_func_ab
	profile_busy "$func_ab" -f -F 199
	folded out
	grep -Eq '^func_ab;(([a-zA-Z_]+|\[unknown\]);)*main;func_ab;func_a [0-9]+$' out
	grep -Eq '^func_ab;(([a-zA-Z_]+|\[unknown\]);)*main;func_ab;func_b [0-9]+$' out
}

@test "profile -df, to a file for a flame graph" {
	spin_dd
	out=out.profile profile_busy "$dd" -df -F 199
	folded out.profile
	grep -Eq "^dd;.*;-;$kernel_entry;" out.profile
}

@test "profile -adf: kernel functions marked" {
	spin_dd
	profile_busy "$dd" -adf -F 199
	[ "$(folded out)" -gt 20 ]
	grep -Eq '^dd;.*(read|write);-;'"$kernel_entry"'_\[k\];'"$kernel_dispatch"'_\[k\];([A-Za-z0-9_.]+_\[k\];)*vfs_(read|write)_\[k\][; ]' out
	# Between the delimiter and the count every name is marked.
	sed -n 's/.*;-;\(.*\) [0-9]*$/\1/p' out | tr ';' '\n' >kernel-names
	[ -s kernel-names ]
	refute grep -v '_\[k\]$' kernel-names
}

@test "profile -F 9" {
	spin_func_ab
	begin=$SECONDS
	start_profile -F 9
	spend "$func_ab" 100
	interrupt "$pid"
	took=$((SECONDS - begin + 1))
	head -1 out | grep -Fxq "Sampling at 9 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end."
	# Nine a second on each CPU.
	counted=$(text out)
	[ "$counted" -le $((9 * took * $(nproc))) ]
	grep -Fq "func_ab ($func_ab)" out
}

@test "profile -C N 1: what runs on one CPU" {
	cpu=$(sed 's/.*[,-]//' /sys/devices/system/cpu/online)
	spin_func_ab
	taskset -pc "$cpu" "$func_ab" >/dev/null
	timed profile -C "$cpu" 1 >out
	head -1 out | grep -Fxq "Sampling at 49 Hertz of all threads by user + kernel stack on CPU#$cpu for 1 secs."
	counted=$(text out)
	[ "$counted" -le $((49 * took / 100 + 1)) ]
	grep -Fq "func_ab ($func_ab)" out
}

@test "profile -U: user stacks; a kernel thread or an idle CPU has none, and is counted all the same" {
	spin_dd
	spin_func_ab
	start_profile -U -I -F 199
	spend "$func_ab" 50
	interrupt "$pid"
	head -1 out | grep -Fxq "Sampling at 199 Hertz of all threads by user stack... Hit Ctrl-C to end."
	text out
	refute grep -Eq "^    ($kernel_dispatch|vfs_read|cpu_startup_entry)$" out
	grep -Fxq "    func_b" out
	# A process line behind an empty line: no frames.
	if grep -q swapper out; then
		grep -B1 -E '^    -                swapper' out | head -1 | grep -Fxq ""
	fi
}

@test "the other examples of the help" {
	spin_func_ab
	timed profile -F 99 -p "$func_ab" 1 >out
	[ "$(text out)" -le $((99 * took / 100 + 2)) ]
	start_profile -c 1000000 -p "$func_ab"
	spend "$func_ab" 20
	interrupt "$pid"
	head -1 out | grep -Fq "Sampling at every 1000000 events of "
	[ "$(text out)" -gt 50 ]
	start_profile -L "$func_ab" -F 499
	spend "$func_ab" 30
	interrupt "$pid"
	head -1 out | grep -Fq " of TID [$func_ab] by "
	[ "$(text out)" -gt 5 ]
	profile -K 0.2 >out
	text out
	refute grep -Fxq "    func_b" out
	tracekit profile -h | grep -q '^usage: profile '
}

tracekit() {
	"$TRACEKIT" "$@"
}

# ---- offcputime ----

# A dd that waits for each byte: no disk is slow everywhere. What writes starts no program: that can
# take a quarter of a second beside other tests.
slow_dd() {
	mkfifo slow never
	start dd if=slow of=/dev/null bs=1 status=none
	dd=$pid
	start bash -c 'exec 9<>never; until read -t 0.01 -u 9; do echo; done' >slow
}

# Trace until the dd has waited twenty times, each for a hundredth of a second.
trace_waits() {
	start_tracer offcputime "$@"
	wait_often "$dd" 20
	stop_tracer
}

@test "offcputime: all threads until Ctrl-C" {
	slow_dd
	trace_waits
	[ "$(head -1 out)" = "Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end." ]
	[ "$(text out)" -gt 100000 ]
	grep -Fxq "    -                dd ($dd)" out
	grep -Exq "    (anon_)?pipe_read" out
	grep -Fxq "    schedule" out
	refute grep -q swapper out
}

@test "offcputime -p: one process, for a second: what it does not compute it waits" {
	slow_dd
	before=$(cpu_time "$dd")
	timed "$TRACEKIT" offcputime -p "$dd" 1 >out 2>err
	used=$(($(cpu_time "$dd") - before))
	[ "$(head -1 out)" = "Tracing off-CPU time (us) of PIDs $dd by user + kernel stack for 1 secs." ]
	waited=$(text out)
	# The last wait is not counted, but said.
	pending=$(sed -En 's/.* still waited .* for ([0-9]+)\.([0-9]{3}) s together.*/\1\2/p' err)
	echo "$waited us, and ${pending:=0} ms at the end, and $used hundredths of a second on a CPU"
	[ "$waited" -le $((took * 10000)) ]
	# A wait that began before is not counted.
	[ $((waited + 10#$pending * 1000)) -ge $((800000 - used * 10000)) ]
	[ "$(grep -c '^    - ' out)" -eq "$(grep -c "^    -                dd ($dd)$" out)" ]
}

@test "offcputime -f: folded" {
	slow_dd
	trace_waits -f
	folded out
	grep -Eq '^dd;.*;vfs_read;(.*;)?(anon_)?pipe_read;.*schedule[^;]* [0-9]+$' out
}

@test "offcputime: the other examples of the help" {
	slow_dd
	trace_waits -m 1000 -p "$dd"
	[ "$(text out)" -gt 100000 ]
	trace_waits -M 1000 -p "$dd"
	[ "$(text out)" -lt 100000 ]
	trace_waits -t "$dd"
	[ "$(text out)" -gt 100000 ]
	trace_waits -p "$$,$dd"
	grep -Fq " of PIDs $$,$dd by " out
	[ "$(text out)" -gt 100000 ]
	trace_waits -K -p "$dd"
	text out
	refute grep -Exq '    (__)?(read|main)' out
	trace_waits -U -p "$dd"
	text out
	refute grep -Fxq '    vfs_read' out
	tracekit offcputime -h | grep -q '^usage: offcputime '
}
