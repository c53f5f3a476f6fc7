#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# stacksnoop: its options, its output, its names and how it ends, on whatever kernel.

load helpers
load stacksnoop
load ../refute

# ---- text ----

@test "-v: thread, process and CPU in columns, the rest of a long name is left out" {
	cp "$CALLS" ./name_of_15_chars
	CALLS=./name_of_15_chars calls getppids 3
	start_stacksnoop -v --stats -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_tracer
	exact 3 v
	sed 1d out | cut -c20-39 | sort -u | diff - <(printf '%-12s %-6s \n' name_of_15_c "$pid")
	sed 1d out | cut -c40-43 | sort -u | grep -Exq '[0-9]   '
	[ "$(grep -vc '^stacksnoop: cost: ' err)" -eq 1 ]
}

@test "-K: events of programs are without a row for a frame" {
	calls names 2
	start_stacksnoop -K --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	exact 6
	[ "$(wc -l <out)" -eq 7 ]
	sed 1d out | refute grep -Evx '[0-9]+\.[0-9]{9} +'
}

@test "-s: offsets, and with -v what is known of an address without a name" {
	calls names 1
	start_stacksnoop -Us --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	exact 3
	sed -n 3p out | grep -Exq '[0-9.]+ +ip: [0-9a-f]+ counted\+0x0'
	# The return address into one is where its only call ends.
	offset=$(sed -nE '4s/^.* r0: [0-9a-f]+ one\+0x//p' out)
	start=$(nm "$CALLS" | awk '$3 == "one" { print $1 }')
	objdump -d --disassemble=one "$CALLS" | awk '/call.*<counted>/ { getline; print $1 }' |
		grep -qx "$(printf '%x:' $((0x$start + 0x$offset)))"
	strip -o stripped "$CALLS"
	CALLS=./stripped calls getppids 1
	start_stacksnoop -Uv --stats -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_tracer
	exact 1 v
	grep -Eq ' ip: [0-9a-f]+ \[unknown\] \(stripped\+0x[0-9a-f]+\)$' out
}

@test "functions without a symbol are told apart in JSON, and by --unnamed start everywhere" {
	main=$(printf '[stripped+0x%x]' "0x$(nm "$CALLS" | awk '$3 == "main" { print $1 }')")
	strip -o stripped "$CALLS"
	for form in text folded json perf; do
		CALLS=./stripped calls getppids 1
		start_stacksnoop --format "$form" -U -p "$pid" t:syscalls:sys_enter_getppid
		go "$pid"
		stop_tracer
		if [ "$form" = json ]; then
			grep -Fq "\"name\":\"$main\",\"unnamed\":true,\"offset\":" out
		else
			refute grep -Fq '[stripped+0x' out
		fi
		CALLS=./stripped calls getppids 1
		start_stacksnoop --unnamed start --format "$form" -U -p "$pid" t:syscalls:sys_enter_getppid
		go "$pid"
		stop_tracer
		grep -Fq "$main" out
	done
	# As perf prints it: with the offset, and the file.
	grep -F " $main+0x" out | grep -q ' (.*/stripped)$'
}

@test "the time is that of CLOCK_MONOTONIC, and of the event" {
	now() {
		/usr/bin/python3 -c 'import time; print(time.clock_gettime_ns(time.CLOCK_MONOTONIC))'
	}
	calls names 1
	start_stacksnoop -K -n 3 "$CALLS:counted"
	before=$(now)
	go "$pid"
	after=$(now)
	ends_well
	sed 1d out | tr -d ' .' | awk -v from="$before" -v to="$after" '$1 < from || $1 > to { exit 1 }'
	[ "$(sed 1d out | sort -u | wc -l)" -eq 3 ]
}

@test "a thread is named by what it is called" {
	calls threads 5
	start_stacksnoop -vU --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	exact 10 v
	grep -c ' ip: [0-9a-f]* counted$' out | grep -qx 10
	grep -c ' r1: [0-9a-f]* thread$' out | grep -qx 10
	sed 1d out | awk -v pid="$pid" '$3 != pid { exit 1 }'
}

@test "--no-demangle" {
	calls mangled 1
	for option in '' --no-demangle; do
		# shellcheck disable=SC2086
		start_stacksnoop -U $option -n 1 -p "$pid" "$CALLS:geometry::area"
		go "$pid"
		ends_well
		paths out >>names
	done
	diff names <(printf '%s;mangled;main\n' 'geometry::area(int)' _ZN8geometry4areaEi)
}

# ---- folded, JSON ----

@test "-f: a line for each event, nothing else" {
	calls names 5
	start_stacksnoop -f -U --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	[ "$(total counted)" -eq 15 ]
	sed 's/^calls;.*;main;/main;/' out | unify |
		diff - <(printf '%s main;names;%s;counted 1\n' 5 one 10 two)
	calls getppids 5
	start_stacksnoop -fd -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_tracer
	grep -Exc "calls;.*;main;getppids;-;$kernel_path(;[^;]+)* 1" out | grep -qx 5
	[ "$(wc -l <out)" -eq 5 ]
	refute grep -Eq 'bpf_|__traceiter_' out
	calls names 1
	start_stacksnoop -fK -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	[ "$(unify <out)" = "3 calls 1" ]
}

@test "--json: an object for each event, keys and types" {
	calls getppids 5
	for options in '-d kernel user' '-U user' '-K kernel' '-v kernel'; do
		# shellcheck disable=SC2086
		set -- $options
		start_stacksnoop "$1" --json --stats -p "$pid" t:syscalls:sys_enter_getppid
		go "$pid"
		stop_tracer
		shift
		json_exact 5 "$@"
		grep -c "\"comm\":\"calls\",\"pid\":$pid,\"tid\":$pid,\"cpu\":" out | grep -qx 5
		refute grep -Eq 'bpf_|__traceiter_' out
	done
	start_stacksnoop --json -d -n 1 -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	ends_well
	grep -Eq '"user":\[\{"addr":"[0-9a-f]+","name":"getppids","offset":[0-9]+' out
	# No frames: an empty list.
	calls names 1
	start_stacksnoop --json -K --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	json_exact 3 kernel
	grep -c '"kernel":\[\]}$' out | grep -qx 3
}

@test "--json and -f: a stack that was cut" {
	calls recursion 200
	for method in auto fp; do
		start_stacksnoop -U --json --stats --max-depth 127 --unwind="$method" -p "$pid" "$CALLS:recurse"
		go "$pid"
		stop_tracer
		json_exact 201 user
		[ "$(grep -c ',{"addr":null,"name":"\[cut at 127 frames\]"}\]}$' out)" -ge 70 ]
		start_stacksnoop -Uf --max-depth 127 --unwind="$method" -p "$pid" "$CALLS:recurse"
		go "$pid"
		stop_tracer
		[ "$(grep -Ec '^calls;\[cut at 127 frames\](;recurse)+ 1$' out)" -ge 70 ]
	done
}

# ---- how it ends ----

@test "-n: so many events, then it ends" {
	calls names 10
	for number in 1 5 30; do
		start_stacksnoop -U --stats -n "$number" -p "$pid" "$CALLS:counted"
		go "$pid"
		ends_well
		[ "$(stacksnoop_text out)" = "$number 0" ]
		diff <(grep -v '^stacksnoop: cost: ' err) <(echo "stacksnoop: $number shown, 0 lost; then the trace ended")
	done
	# Events lost beyond the buffer's room do not count.
	start_stacksnoop -K -n 200 --buffer-size 4K -p "$pid" "$CALLS:counted"
	for _ in $(seq 20); do
		kill -0 "$tracer" 2>/dev/null || break
		stop_while_calling 2>/dev/null || break
	done
	ends_well
	[[ "$(stacksnoop_text out)" = "200 "* ]]
}

@test "-D: so long, with or without events" {
	stacksnoop -D 0.3 "$CALLS:counted" >out 2>err
	[ "$(stacksnoop_text out)" = "0 0" ]
	diff err - <<<"stacksnoop: no event: '$CALLS:counted' is attached at 1 place, but nobody came there; what it matches: -l"
	calls fast 1
	go "$pid"
	begin=$(date +%s%N)
	stacksnoop -K -D 0.3 --stats -p "$pid" "$CALLS:counted" >out 2>err
	took=$((($(date +%s%N) - begin) / 1000000))
	echo "$took ms"
	[ "$took" -ge 300 ]
	counts=$(stacksnoop_text out l)
	read -r events lost <<<"$counts"
	accounted $(($(total seen) - $(total filtered)))
	[ "$events" -gt 0 ]
}

@test "-p: ends with the last of its processes, and all of its events are shown" {
	calls exit 100
	one=$pid
	calls exit 200
	start_stacksnoop -U --stats -p "$one,$pid" "$CALLS:counted"
	go "$one"
	wait "$one"
	kill -0 "$tracer"
	go "$pid"
	ends_well
	exact 900
	paths out | sort | unify | diff - <(printf '%s counted;%s;names;main\n' 300 one 600 two)
}

@test "-p: no other process, and none of its children" {
	calls names 10
	other=$pid
	calls children 10
	start_stacksnoop -U --stats -p "$pid" "$CALLS:counted"
	go "$other"
	go "$pid"
	stop_tracer
	exact 10
}

@test "a signal at any moment of the start ends it well" {
	for delay in 0.000 0.002 0.005 0.010 0.020 0.030; do
		stop_after "$delay" stacksnoop -d "$CALLS:counted"
		refute grep -Ev '^stacksnoop: no event: ' err
	done
	nothing_left
}

@test "a reader that goes ends the trace quietly, with or without further events" {
	calls fast 1
	go "$pid"
	for options in -U -f --json; do
		try within 20 bash -c 'set -o pipefail; "$1" stacksnoop "$2" -p "$3" "$4:counted" 2>err | head -3 >first' - \
			"$TRACEKIT" "$options" "$pid" "$CALLS"
		cat err
		[ "$status" -eq 1 ]
		[ ! -s err ]
		[ "$(wc -l <first)" -eq 3 ]
	done
	try within 20 bash -c 'set -o pipefail; "$1" stacksnoop "$2:one" 2>err | head -1 >first' - \
		"$TRACEKIT" "$CALLS"
	[ "$status" -eq 1 ]
	[ ! -s err ]
	grep -q '^TIME(s)' first
	nothing_left
}

@test "a second signal kills, while the output cannot be written" {
	calls fast 1
	mkfifo fifo
	exec 5<>fifo
	out=fifo start_stacksnoop -U -p "$pid" "$CALLS:counted" 5>&-
	go "$pid"
	wait_for grep -q pipe_write "/proc/$tracer/wchan" "/proc/$tracer/stack"
	interrupt_twice "$tracer"
	try wait "$tracer"
	exec 5>&-
	[ "$status" -eq 130 ]
	nothing_left
}

@test "without events it sleeps" {
	local before after
	calls names 1
	start_stacksnoop -U -p "$pid" "$CALLS:counted"
	go "$pid"
	wait_for grep -q counted out
	before=$(awk '/^voluntary/ { print $2 }' "/proc/$tracer/status")
	pause 1
	after=$(awk '/^voluntary/ { print $2 }' "/proc/$tracer/status")
	echo "$((after - before)) times awake"
	[ $((after - before)) -lt 20 ]
	stop_tracer
}

@test "a closed stdout ends it quietly, a full disk is said" {
	try within 20 "$TRACEKIT" stacksnoop "$CALLS:counted" 2>err >&-
	[ "$status" -eq 1 ]
	[ ! -s err ]
	calls fast 1
	go "$pid"
	for options in -v --json -f -l; do
		try within 20 "$TRACEKIT" stacksnoop "$options" "$CALLS:counted" 2>err >/dev/full
		[ "$status" -eq 1 ]
		diff err <(echo "stacksnoop: cannot write the output: No space left on device")
	done
	nothing_left
}

# ---- every event ----

@test "--json: lost events are objects, where they were lost" {
	calls names 2000
	start_stacksnoop --json -U --stats --buffer-size 4K -p "$pid" "$CALLS:counted"
	stop_while_calling
	wait_for grep -q '"lost"' out
	stop_while_calling
	stop_tracer
	json_exact 12000 user
	[ "$lost" -gt 0 ]
	refute grep -q lost <(sed -n 1p out)
	grep -Exq '\{"lost":[0-9]+,"time":"[0-9]+\.[0-9]{9}"\}' out
}

# The CPUs in the columns of -v. The last line is left out: it may be half written.
cpus_in_columns() {
	sed '1d;$d' out | cut -c40-43 | sort -u
}

@test "two threads on two CPUs: all events, in the order of their times" {
	calls threads 2000
	start_stacksnoop -vU --stats -p "$pid" "$CALLS:counted"
	# Where both happened to run on one CPU, again.
	for rounds in $(seq 20); do
		go "$pid"
		[ "$(nproc)" -gt 1 ] && [ "$(cpus_in_columns | wc -l)" -lt 2 ] || break
	done
	stop_tracer
	exact $((rounds * 4000)) v
	[ "$lost" -eq 0 ]
	[ "$(nproc)" -eq 1 ] || [ "$(cpus_in_columns | wc -l)" -gt 1 ]
}

@test "more threads than CPUs: all events" {
	calls chains 250
	start_stacksnoop -vU --stats -p "$pid" "$CALLS:meet"
	go "$pid"
	stop_tracer
	exact 2000 vl
	[ "$lost" -eq 0 ]
	for thread in 0 1 2 3 4 5 6 7; do
		grep -c " r$((thread * 3 + 3)): [0-9a-f]* thread$thread\$" out | grep -qx 250
	done
	start_stacksnoop -U --json --stats -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_tracer
	json_exact 2000 user
	[ "$lost" -eq 0 ]
	[ "$(grep -o '"tid":[0-9]*' out | sort -u | wc -l)" -eq 8 ]
	[ "$(grep -o '"pid":[0-9]*' out | sort -u | wc -l)" -eq 1 ]
}

@test "a small buffer, as fast as two threads can" {
	calls fast 1
	start_stacksnoop -K --stats --buffer-size 4K -p "$pid" "$CALLS:counted"
	go "$pid"
	wait_for lines 5000
	go "$pid"
	stop_tracer
	exact "$answer" l
	[ "$events" -gt 0 ]
}

@test "events that are lost before it is quiet are said while it is quiet" {
	calls names 1000
	start_stacksnoop -K --stats --buffer-size 4K -p "$pid" "$CALLS:counted"
	stop_while_calling
	wait_for grep -q '^lost' out
	counts=$(stacksnoop_text out)
	read -r events lost <<<"$counts"
	[ $((events + lost)) -eq 3000 ]
	stop_tracer
	exact 3000
}

# has_written BYTES: the tracer has, since it began.
has_written() {
	read_written
	[ "$written" -ge "$1" ]
}

read_written() {
	local name
	while read -r name written; do
		[ "$name" != wchar: ] || break
	done <"/proc/$tracer/io"
}

@test "a tracer that is held up again and again in a flood of events goes on" {
	local i
	out=/dev/null start_stacksnoop -v -U "$SPIN:turn"
	spin paths
	# It may rest with its queue full, and long enough to print all of it when it wakes.
	for i in {1..10}; do
		for rest in 0.1 0.03; do
			kill -STOP "$tracer"
			pause $rest
			kill -CONT "$tracer"
			pause
		done
	done
	read_written
	# More than the queue holds.
	wait_for has_written $((written + 300000000))
	stop_tracer
}

@test "a reader that stalls costs events, which are counted, not memory" {
	calls fast 1
	mkfifo fifo
	exec 5<>fifo
	out=fifo start_stacksnoop -U --stats -p "$pid" "$CALLS:counted" 5>&-
	go "$pid"
	# It fills the pipe, and waits for it, as the buffer fills.
	wait_for grep -q pipe_write "/proc/$tracer/wchan" "/proc/$tracer/stack"
	spend "$pid" 200
	go "$pid"
	peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$tracer/status")
	start cat fifo 5>&- >out
	# Until it is cat, the shell that becomes it has a copy of our descriptor.
	wait_for is_called "$pid" cat
	wait_for eval 'ls -l "/proc/$pid/fd" | grep -q /fifo'
	exec 5>&-
	stop_tracer
	wait "$pid"
	echo "peak $peak KB"
	exact "$answer" l
	[ "$lost" -gt 0 ]
	[ "$peak" -lt 32768 ]
	# Whole events, then what is missing.
	grep -q '^lost [0-9]* events$' out
}

@test "more stacks than are remembered, as fast as two threads can" {
	calls fast 1
	for size in 1 40 100; do
		start_stacksnoop -f -U --stats --stack-storage-size "$size" -p "$pid" "$CALLS:counted"
		[ "$size" -ne 1 ] || go "$pid"
		wait_for lines 3000
		stop_tracer
		[ "$(wc -l <out)" -eq "$(total counted)" ]
		# 64 paths, and no other.
		refute grep -Evq '^calls;.*;runner;turn(;(left|right);turn)+;counted 1$' out
		grep -oE ';runner;turn(;(left|right);turn)+;counted ' out | awk -F';' 'NF != 16 { exit 1 }'
	done
}

@test "two at the same time see the same" {
	calls names 100
	out=first start_stacksnoop -U "$CALLS:counted"
	first=$tracer
	start_stacksnoop -U --stats "$CALLS:counted"
	go "$pid"
	kill -INT "$first"
	try wait "$first"
	[ "$status" -eq 0 ]
	stop_tracer
	exact 300
	[ "$(stacksnoop_text first)" = "300 0" ]
	diff <(paths first) <(paths out)
}

@test "it can watch itself write" {
	# Each event that it writes is the next.
	stacksnoop -K --self --comm tracekit -n 200 t:syscalls:sys_enter_write >out
	[ "$(stacksnoop_text out)" = "200 0" ]
}

# ---- patterns ----

@test "functions of libraries, several at once, and -r" {
	calls linked 30
	start_stacksnoop -U --stats -p "$pid" counted:library_function
	go "$pid"
	stop_tracer
	exact 30
	[ "$(paths out | uniq)" = "library_function;linked;main" ]
	calls names 3
	start_stacksnoop -U -r --stats -p "$pid" "$CALLS:^(one|two)\$"
	go "$pid"
	stop_tracer
	exact 2
	paths out | diff - <(printf '%s;names;main\n' one two)
}

@test "malloc() of a shell" {
	start bash -c 'trap "for i in {1..200}; do eval x\$i=\$i; done; echo >done" USR1; : >ready; while :; do sleep 0.05; done'
	wait_for test -e ready
	start_stacksnoop -U --stats -p "$pid" c:malloc
	kill -USR1 "$pid"
	wait_for test -e done
	stop_tracer
	counts=$(stacksnoop_text out)
	read -r events lost <<<"$counts"
	[ "$events" -ge 200 ]
	[ "$(total counted)" -eq "$events" ]
	[ "$(grep -Ec ' ip: [0-9a-f]+ (__libc_)?malloc$' out)" -eq "$events" ]
}

@test "-l lists what matches, and traces nothing" {
	stacksnoop -l -r "$CALLS:^(one|two)\$" >out
	diff out <(printf '%s\n' "$CALLS:one" "$CALLS:two")
	stacksnoop -l 't:sched:sched_switc?' >out
	diff out <(echo t:sched:sched_switch)
}

@test "nothing matches: said, with what is near" {
	try stacksnoop "$CALLS:countd" 2>err >out
	[ "$status" -eq 1 ]
	[ ! -s out ]
	diff err <(echo "stacksnoop: '$CALLS:countd' matches none of the functions of $CALLS (did you mean 'counted'?)")
}

@test "without privileges: what is missing, and what to do" {
	cp "$TRACEKIT" ./tracekit
	chmod 755 . ./tracekit
	setpriv --reuid 65534 --regid 65534 --clear-groups "$PWD/tracekit" --version >/dev/null ||
		skip "an unprivileged user cannot reach $PWD"
	for pattern in c:malloc t:syscalls:sys_enter_read; do
		try setpriv --reuid 65534 --regid 65534 --clear-groups "$PWD/tracekit" stacksnoop "$pattern" 2>err >out
		[ "$status" -eq 1 ]
		[ ! -s out ]
		[ "$(wc -l <err)" -eq 1 ]
		grep -Eq '^stacksnoop: .*root' err
	done
}

# ---- names ----

@test "a file system that does not answer costs a second, and no event" {
	cp "$CALLS" ./silent_not
	copy=./silent_not calls getppids 10
	other=$pid
	start_silent_fs "$CALLS"
	ln -s silent/program silent_one
	copy=./silent_one calls getppids 10
	start_stacksnoop -Uf --stats --comm 'silent_*' t:syscalls:sys_enter_getppid
	kill -USR1 "$server"
	go "$pid"
	for _ in $(seq 10); do
		go "$other"
	done
	begin=$SECONDS
	kill -INT "$tracer"
	try wait "$tracer"
	took=$((SECONDS - begin))
	end_silent_fs
	cat err
	[ "$status" -eq 0 ]
	[ "$took" -le $((10 * TRACEKIT_SLOWNESS)) ]
	[ "$(total lost)" -eq 0 ]
	[ "$(wc -l <out)" -eq "$(total counted)" ]
	[ "$(grep -c '^silent_one;.*\[unknown\] 1$' out)" -eq 10 ]
	[ "$(grep -c '^silent_not;.*main;getppids 1$' out)" -eq 100 ]
	grep -q 'or did not answer' err
}

@test "processes that end right after their first event" {
	start_stacksnoop -U --stats "$LIVES:counted"
	for _ in {1..30}; do
		"$LIVES" once
	done
	"$LIVES" forks 30
	stop_tracer
	exact 60
	paths out | sort | unify | diff - <(printf '30 counted;asks;once;%smain\n' forks\; '')
}

# named NUMBER NAME: so many frames in out have it.
named() {
	[ "$(grep -c " $2\$" out)" -eq "$1" ]
}

@test "a process that becomes another program, with other functions at the same addresses" {
	objcopy --redefine-sym asks=asks_more "$LIVES" "./${lives}2"
	start_stacksnoop -U --comm "$lives*" t:syscalls:sys_enter_getppid
	for _ in {1..10}; do
		"$LIVES" exec "./${lives}2" exec "$LIVES" once
	done
	stop_tracer
	named 20 asks
	named 10 asks_more
}

@test "a PID that becomes another process, with other functions at the same addresses" {
	local unused=30000
	objcopy --redefine-sym asks=asks_more "$LIVES" "./${lives}2"
	while [ -e "/proc/$unused" ]; do
		unused=$((unused + 1))
	done
	try "$LIVES" as "$unused" "$LIVES" once
	[ "$status" -ne 77 ] || skip "no process can be given its PID here"
	start_stacksnoop -U --comm "$lives*" t:syscalls:sys_enter_getppid
	for _ in {1..10}; do
		"$LIVES" as "$unused" "$LIVES" once
		"$LIVES" as "$unused" "./${lives}2" once
	done
	stop_tracer
	named 10 asks
	named 10 asks_more
}

@test "programs that were deleted, and libraries that are loaded meanwhile" {
	cp "$CALLS" ./victim
	copy= CALLS=./victim calls names 5
	rm ./victim
	start_stacksnoop -U -n 15 "/proc/$pid/exe:counted"
	go "$pid"
	ends_well
	paths out | unify | diff - <(printf '%s counted;%s;names;main\n' 5 one 10 two)
	cp "$(dirname "$CALLS")/libcounted.so" ./libloaded.so
	# Tenths of a second each time: code that is gone sooner may not be found any more.
	calls loaded 40000 ./libloaded.so
	start_stacksnoop -U -n 80000 --buffer-size 16M ./libloaded.so:library_function
	go "$pid"
	go "$pid"
	ends_well
	[ "$(stacksnoop_text out)" = "80000 0" ]
	paths out | unify
	[ "$(paths out | uniq)" = "library_function;loaded;main" ]
}

# Names that would forge lines, quote and colour, of a thread and of a function: bytes of UTF-8
# that are, or are not, whole.
hostile() {
	evil=$(printf 'a";\\\n\033[31m\377\303')
	cp "$CALLS" "./$evil"
	objcopy --redefine-sym "one=f$evil" "./$evil"
	copy= CALLS="./$evil" calls names 1
}

@test "hostile names are harmless in text and folded lines" {
	hostile
	start_stacksnoop -Uv --stats "/proc/$pid/exe:counted"
	go "$pid"
	stop_tracer
	exact 3 v
	LC_ALL=C refute grep -q "$(printf '[^\t -~]')" out
	grep -Fq ' r0: ' out
	sed 1d out | cut -c20-31 | refute grep -Fvx 'a";\??[31m??'
	sed -n 4p out | grep -Fq ' fa";\??[31m??'
	start_stacksnoop -Uf "/proc/$pid/exe:counted"
	go "$pid"
	stop_tracer
	LC_ALL=C refute grep -q "$(printf '[^\t -~]')" out
	sed 's/;.*;main;/;main;/' out | diff - <(printf 'a":\\??[31m??;main;names;%s;counted 1\n' 'fa":\??[31m??' two two)
}

@test "a character of a name is not cut in half by the end of its column" {
	cp "$CALLS" ./aééééééé
	copy= CALLS=./aééééééé calls names 1
	start_stacksnoop -Uv --stats "/proc/$pid/exe:counted"
	go "$pid"
	stop_tracer
	iconv -f UTF-8 -t UTF-8 out >/dev/null
	stacksnoop_text out v
}

@test "hostile names stay JSON" {
	hostile
	start_stacksnoop -U --json --stats "/proc/$pid/exe:counted"
	go "$pid"
	stop_tracer
	json_exact 3 user
	/usr/bin/python3 - "$evil" <<-'END'
		import json, os, sys

		evil = os.fsencode(sys.argv[1]).decode(errors="replace")
		for i, line in enumerate(open("out", encoding="utf-8", errors="strict")):
		    event = json.loads(line)
		    assert event["comm"] == evil, event
		    assert event["user"][1]["name"] == ("two" if i else "f" + evil), event
	END
}

@test "stacksnoop -h" {
	stacksnoop -h >out
	head -1 out | grep -q '^usage: stacksnoop '
	sed '1,/^examples:$/d' out >examples
	for example in 'stacksnoop ext4_sync_fs ' 'stacksnoop -s ext4_sync_fs ' 'stacksnoop -v ext4_sync_fs ' \
		'stacksnoop -p 185 ext4_sync_fs '; do
		grep -Fq "    $example" examples
	done
}
