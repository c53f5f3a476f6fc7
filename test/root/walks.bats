#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Walks of user stacks by call-frame information: which options they have, and what processes do
# meanwhile. Stacks that are complete end in _start, right behind the name of their process.

load helpers
load ../refute

teardown() {
	forget_return_probes
	end_started
}

# A mode of the programs without frame pointers; its PID is in $pid.
walked() {
	start "$WALKED" "$@"
	wait_for has_begun "$pid" walked
}

# count_walks ARGUMENTS...: the stacks of calls of $pid, in out, which runs for 0.2 s.
count_walks() {
	start_stackcount -f -U -p "$pid" "$@"
	spend "$pid" 20
	stop_tracer
	cut -c1-200 out
}

# sample_walks [OPTION...]: the stacks of $pid, in out. Each process, or each in $busy, runs for $hundredths
# (20) of a second.
sample_walks() {
	busy=${busy:-${pid//,/ }} sample "${hundredths:-20}" -f -U -p "$pid" -F 499 "$@"
	cut -c1-200 out
}

# mostly PERCENT COMM: of its stacks so many are complete, but for those that the kernel does not
# allow to be walked.
mostly() {
	local wanted=$1 all complete
	# Then some samples of programs are of threads that are in the kernel.
	tells_registers || wanted=$((wanted * 2 / 3))
	all=$(grep "^$2;" out | sum /dev/stdin)
	complete=$(grep "^$2;_start;" out | sum /dev/stdin)
	echo "$complete of $all are complete"
	[ "$all" -ge 10 ] && [ $((complete * 100)) -ge $((all * wanted)) ]
}

# bats test_tags=between
@test "--unwind: by call-frame information, by frame pointers, or not at all" {
	walked deep
	for method in auto dwarf; do
		sample_walks --unwind="$method"
		mostly 90 walked
		grep -Eq '^walked;_start;.*;main;.*(;recurse){301};spend [0-9]+$' out
		says_nothing
	done
	sample_walks --unwind=fp
	mostly 0 walked
	refute grep -Eq '(;recurse){301}' out
	sample_walks --unwind=off
	refute grep -Evq '^walked;\[cut at 1 frames\];[^;]+ [0-9]+$' out
	[ ! -s err ]
}

# bats test_tags=between
@test "a signal handler on a stack of its own, and what it has interrupted" {
	walked handler
	count_walks "$WALKED:on_signal"
	mostly 100 walked
	grep -Eq '^walked;_start;.*;main;handler;.*;on_signal [0-9]+$' out
}

@test "vfork(), which has its return address in no place of the stack" {
	needs_registers
	walked vfork
	count_walks "t:syscalls:sys_enter_$([ "$HOSTTYPE" = x86_64 ] && echo vfork || echo clone)"
	grep -Eq '^walked;_start;.*;main;[^ ]*vfork [0-9]+$' out
	mostly 100 walked
}

# bats test_tags=between
@test "clone3() of glibc, whose call-frame information ends before it calls the kernel" {
	needs_registers
	walked threads
	count_walks t:sched:sched_process_fork
	grep -Eq '^walked;_start;.*;main;threads;(make_thread;)?[^;]*pthread_create[^;]*;.*[^;]*clone[^;]* [0-9]+$' out
	mostly 100 walked
}

# bats test_tags=between
@test "return probes of others: callers by the addresses that these have put away" {
	probe_returns returns_often returns_at_once returns_last spend
	walked returns
	count_walks "$WALKED:spend"
	mostly 100 walked
	refute grep -Ev '^walked;_start;.*;main;returns(;returns_often){4};returns_last;spend [0-9]+$' out
}

# bats test_tags=same
@test "return probes of others: a thread at their trampoline, or where they execute an instruction" {
	needs_registers
	probe_returns returns_often returns_at_once returns_last
	walked returns
	sample_walks
	mostly 95 walked
	grep -Eq '^walked;_start;.*;main;returns(;returns_often){4};returns_last;spend [0-9]+$' out
	refute grep -E 'uprobes|;\[unknown\];returns_(last|at_once)' out
}

# bats test_tags=same
@test "lazy binding: a frame that is reached by a register that its callees have saved" {
	walked lazy
	hundredths=60 sample_walks # most of the time it loads the library
	# When the trace began the library may not have been there.
	mostly 75 walked
	grep -Eq '^walked;_start;.*;main;lazy;call_library;call_all;[^;]+(;[^;]+)+ [0-9]+$' out
	refute grep -F 'a register is not known' out
}

# bats test_tags=same
@test "a leaf without call-frame information, by the call that leads to it; else by frame pointers" {
	walked leaves
	sample_walks
	mostly 100 walked
	grep -Eq '^walked;_start;.*;main;leaves;call_leaf;leaf [0-9]+$' out
	grep -Eq '^walked;_start;.*;main;leaves;keeper [0-9]+$' out
	refute grep -E 'deep|;call_leaf;keeper' out
}

# bats test_tags=same
@test "callers whose frames cannot be read: the stack is never taken for a complete one" {
	walked absent
	sample_walks
	grep -Eq '^walked;\[unwind stopped: stack not in memory\];absent;take_away;spend [0-9]+$' out
	refute grep -E '^walked;[^[].*;spend [0-9]+$' out
}

# bats test_tags=same
@test "at the entry of a function without call-frame information its caller is known" {
	local method
	walked bare
	for method in auto dwarf; do
		count_walks --unwind="$method" "$WALKED:call_bare"
		mostly 100 walked
		grep -Eq '^walked;_start;.*;main;bare;call_bare [0-9]+$' out
	done
}

# ends_at_zero CALLERS CALLER REASON: where its return address is 0, the stack with these callers is
# complete, the other one is not.
ends_at_zero() {
	sample_walks
	grep -Eq "^walked;$1;whole;spend [0-9]+\$" out
	grep -Eq "^walked;\[unwind stopped: $3\];$2;overwritten;spend [0-9]+\$" out
	refute grep -E "^walked;[^[].*;overwritten" out
}

# bats test_tags=same
@test "a return address of 0 ends a stack only if the frame pointer is 0 as well" {
	walked ended
	ends_at_zero call_ended call_ended "no code there"
	walked bare
	ends_at_zero "call_bare;call_bare" call_bare "no call-frame information"
}

# bats test_tags=same
@test "two words of 0 that a frame pointer leads to at once are no sign of a complete stack" {
	walked bare
	sample_walks
	grep -Eq '^walked;\[unwind stopped: no call-frame information\];call_bare;two_zeros;spend [0-9]+$' out
	refute grep -E '^walked;[^[].*;two_zeros' out
}

# bats test_tags=same
@test "a frame pointer that is not of the stack is not followed, walked later or at once" {
	# Of what runs before the trace the tables are there.
	start_stackcount -f -U --stats -i 0.3 "$WALKED:spend"
	walked stale
	wait_for grep -q '^walked;\[unwind stopped: no call-frame information\];call_bare;whole;spend ' out
	stop_tracer
	cut -c1-200 out
	refute grep ';deep' out
	refute grep -v '^\(walked;\[unwind stopped: no call-frame information\];call_bare;whole;spend [0-9]*\)\?$' out
	cat err
	grep -q ' [1-9][0-9]* walked later; ' err
}

# bats test_tags=same
@test "--unwind=fp: a frame pointer of 0 ends the stack" {
	walked pointerless
	count_walks --unwind=fp "$WALKED:spend"
	grep -Eq '^walked;(call_bare;)?whole;spend [0-9]+$' out
	refute grep -F '[' out
}

# ends_whole COMM: the most frequent stack of the last report is COMM's, and complete.
ends_whole() {
	tail -n 1 out | grep -q "^$1;_start;.*;main;"
}

@test "system-wide: a program that was there before is complete from its first stack on" {
	walked callback
	# Half a second is not always enough for all tables, and in a guest perhaps never.
	whole_at_once() {
		start_stackcount -f -U -i 0.3 "$WALKED:spend"
		wait_for ends_whole walked
		stop_tracer && { in_guest || ! grep -q 'tables not loaded' out; }
	}
	wait_for whole_at_once
}

# The reports on all that has been until now are out.
reports() {
	local before
	before=$(grep -c ' seen = ' err || true)
	wait_for eval '[ "$(grep -c " seen = " err)" -gt $(('"$before"' + 1)) ]'
}

@test "system-wide: a program that begins during the trace is complete where its files are known" {
	local lines seconds=1
	! in_guest || seconds=5
	start_stackcount -f -U -i 0.3 --stats "$WALKED:spend"
	walked callback
	wait_for ends_whole walked
	kill -KILL "$pid"
	reports
	lines=$(wc -l <out)
	try timeout "$seconds" "$WALKED" callback
	stop_tracer
	sed -i "1,${lines}d" out
	mostly 90 walked
	refute grep -q 'tables not loaded' out
}

# PID makes its calls once more; what is reported of that is in the file round.
another_round() {
	local lines
	reports
	lines=$(wc -l <out)
	go "$pid"
	reports
	tail -n +$((lines + 1)) out >round
}

# Another round of calls into the library, until stacks of it are complete.
is_loaded_whole() {
	go "$pid"
	grep -q '^calls;_start;.*;main;loaded;library_function ' out
}

# bats test_tags=between
@test "-p: a library that is loaded meanwhile, and loaded again: then from its first call on" {
	cp "$(dirname "$CALLS")/libcounted.so" ./libloaded.so
	calls loaded 20000 ./libloaded.so
	start_stackcount -f -U -i 0.3 --stats -p "$pid" ./libloaded.so:library_function
	wait_for is_loaded_whole
	another_round
	stop_tracer
	cat round
	[ "$(sum round)" -eq 20000 ]
	[ "$(grep '^calls;_start;.*;main;loaded;library_function ' round | sum /dev/stdin)" -eq 20000 ]
}

are_replaced_whole() {
	another_round
	refute grep -q 'tables not loaded' round
}

@test "-p: a library in the place of another is never walked or named as that one" {
	needs_registers
	cp "$(dirname "$CALLS")/libcounted.so" ./libone.so
	cp "$BUILD/test/root/libanother.so" .
	calls replaced 200 ./libone.so ./libanother.so
	start_stackcount -f -U -i 0.3 --stats -p "$pid" t:syscalls:sys_enter_getppid
	wait_for are_replaced_whole
	stop_tracer
	cat round
	# Linux 7 withholds an event now and then, which it says.
	made 400 "$(sum round)"
	made 200 "$(grep ';replaced;load_and_call;call_in_library;in_one_library;' round | sum /dev/stdin)"
	made 200 "$(grep ';replaced;load_and_call;call_in_library;in_another_library;' round | sum /dev/stdin)"
	[ "$(grep -Ec ';replaced;load_and_call;call_in_library;in_(one|another)_library;' round)" -eq "$(grep -c . round)" ]
}

@test "-p: a process that becomes other programs, with other functions at the same addresses" {
	needs_registers
	local programs=()
	objcopy --redefine-sym asks=asks_more "$LIVES" ./another
	for _ in {1..10}; do
		programs+=(exec ./another exec "$LIVES")
	done
	mkfifo line
	start bash -c 'read -r _ <line; exec "$@"' - "$LIVES" "${programs[@]}" once
	start_stackcount -f -U --stats -p "$pid" t:syscalls:sys_enter_getppid
	echo >line
	ends_well
	cat out
	# Their libraries may be gone, with the process, before somebody can open them.
	made 11 "$(grep -E ';main;(become|once);asks(;[^;]+)?;[^;]+ [0-9]+$' out | sum /dev/stdin)"
	made 10 "$(grep -E ';main;become;asks_more(;[^;]+)?;[^;]+ [0-9]+$' out | sum /dev/stdin)"
	made 21 "$(sum out)"
}

# bats test_tags=between
@test "a program that begins is at the root of its stack, though its loader has no information" {
	needs_registers
	mkfifo line
	start bash -c 'read -r _ <line; exec "$@"' - "$LIVES" exec "$LIVES" exec "$LIVES" once
	start_stackcount -f -U --stats -p "$pid" t:sched:sched_process_exec
	echo >line
	ends_well
	cat out
	# The loader can be stripped.
	made 3 "$(grep -E '^[^;]+;(_start|\[unknown\]) [0-9]+$' out | sum /dev/stdin)"
	grep -q ' = 3 complete + 0 complete by frame pointers too ' err
}

@test "--unwind-memory: what has no room is said, the rest is complete" {
	command -v clang >/dev/null || skip "no clang"
	! in_guest || skip "reading its tables takes an emulator longer than it may"
	walked callback
	mkfifo source
	exec 7<>source
	start bash -c 'exec clang -cc1 -fsyntax-only -x c - <source'
	# Then it has its libraries.
	wait_for grep -qs pipe_ "/proc/$pid/wchan" "/proc/$pid/stack"
	pid=${started[0]},$pid busy=${started[0]} sample_walks --unwind-memory 1M
	exec 7>&-
	grep -Eq '^profile: call-frame information of [0-9]+ files had no room; give more by --unwind-memory$' err
	mostly 90 walked
}

# bats test_tags=same
@test "-v: a process that becomes other programs has its libraries where each of them had them" {
	local programs=()
	needs_registers
	[ "$(</proc/sys/kernel/randomize_va_space)" != 0 ] || skip "they are all at the same addresses"
	for _ in {1..60}; do
		programs+=(exec "$LIVES")
	done
	mkfifo line
	start bash -c 'read -r _ <line; exec "$@"' - "$LIVES" "${programs[@]}" once
	start_stackcount -v -U -p "$pid" t:syscalls:sys_enter_getppid
	echo >line
	ends_well
	cat out
	grep ' __libc_start_main' out | sort >places
	[ "$(wc -l <places)" -ge 10 ]
	[ "$(uniq places | wc -l)" -eq "$(wc -l <places)" ]
	refute grep -Eq '^ *- ' places
}

# Seven of them have room.
# bats test_tags=same
@test "--unwind-memory: programs that come and go are whole, one after the other" {
	local i perl
	needs_registers
	perl=$(type -P perl) || skip "no perl"
	start_stackcount -f -U -i 0.2 --stats --unwind-memory 1M t:syscalls:sys_enter_kill
	for i in {1..10}; do
		cp "$perl" "./perl$i"
		start "./perl$i" -e 'select(undef, undef, undef, 0.02) while kill 0, $$'
		wait_for grep -q "^perl$i;_start;" out
		kill -KILL "$pid"
		rm "./perl$i"
	done
	stop_tracer
	cat err
	grep -Eq ' 1024 KB of tables, [1-9][0-9]* given back$' err
}

@test "system-wide: thousands of idle processes take no room from one that is busy" {
	! in_guest || skip "it has no memory for them"
	start "$LIVES" idle 4300 >idle
	wait_for grep -q idle idle
	walked callback
	start_stackcount -f -U -i 0.3 "$WALKED:spend"
	wait_for ends_whole walked
	stop_tracer
}

@test "a process of another PID namespace, from outside" {
	unshare --fork --pid true || skip "cannot make a PID namespace"
	start unshare --fork --pid --kill-child "$WALKED" callback
	inner() {
		inner=$(pgrep -x walked -P "$1")
	}
	wait_for inner "$pid"
	pid=$inner sample_walks
	mostly 90 walked
}

@test "in a PID namespace: its processes" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	cat >inside <<-END
		"$WALKED" callback & pid=\$!
		$(declare -f wait_for pause read_cpu_time has_used)
		wait_for has_used \$pid 10
		"$TRACEKIT" profile -f -U -p \$pid -F 499 0.5 >out 2>err
		"$TRACEKIT" stackcount -f -U -i 0.3 -D 2 "$WALKED:spend" >counted 2>>err
		kill -KILL \$pid
	END
	unshare --fork --pid --mount-proc bash inside
	cat err
	mostly 90 walked
	grep '^walked;_start;.*;main;' counted
}

# overwrite FILE SECTION BYTE: all of a section has that value, in octal.
overwrite() {
	local offset size
	read -r offset size < <(objdump -h "$1" | awk -v name="$2" '$2 == name { print $6, $3 }')
	head -c $((0x$size)) /dev/zero | tr '\0' "\\$3" |
		dd of="$1" bs=1 seek=$((0x$offset)) conv=notrunc status=none
}

# bats test_tags=same
@test "a program whose call-frame information is damaged: its stacks say so, others are complete" {
	local byte other bytes=(000 001 177 377)
	! in_guest || bytes=(177)
	walked callback
	other=$pid
	for byte in "${bytes[@]}"; do
		cp "$WALKED" "./damaged$byte"
		overwrite "./damaged$byte" .eh_frame "$byte"
		start "./damaged$byte" callback
		wait_for is_called "$pid" "damaged$byte"
		pid=$pid,$other sample_walks
		mostly 90 walked
		[ "$(grep "^damaged$byte;" out | sum /dev/stdin)" -ge 10 ]
		grep -q "^damaged$byte;\[unwind stopped: " out
		refute grep "^damaged$byte;_start;" out
		grep -Eq '^profile: [0-9]+ of [0-9]+ user stacks are not complete: ' err
		kill -KILL "$pid"
	done
}

# Each process has two stacks: with addresses in them that makes 64, for which there is no room.
# bats test_tags=same
@test "programs at different addresses share their stacks" {
	local method process processes=() pids=
	[ "$(</proc/sys/kernel/randomize_va_space)" != 0 ] || skip "they are all at the same addresses"
	for _ in {1..32}; do
		calls names 1
		processes+=("$pid")
		pids=$pids,$pid
	done
	for method in auto fp; do
		start_stackcount -f -U -p "${pids#,}" --stats --stack-storage-size 16 \
			--unwind="$method" "$CALLS:counted"
		for process in "${processes[@]}"; do
			go "$process"
		done
		stop_tracer
		[ "$(stat_of lost err)" -eq 0 ]
		[ "$(grep -E ';main;names;one;counted [0-9]+$' out | sum /dev/stdin)" -eq 32 ]
		[ "$(grep -E ';main;names;two;counted [0-9]+$' out | sum /dev/stdin)" -eq 64 ]
	done
}

# bats test_tags=between
@test "--stats says how user stacks are walked" {
	walked callback
	sample_walks --stats
	grep -Eq '^profile: [0-9]+ user stacks, by call-frame information = ' err
	sample_walks --stats --unwind=fp
	grep -q '^profile: user stacks are walked by frame pointers, ' err
	sample_walks --stats --unwind=off
	grep -q '^profile: user stacks are not walked$' err
	profile -K --stats -p "$pid" 0.1 >out 2>err
	grep -q '^profile: [0-9]* seen = ' err
	refute grep -q 'user stacks' err
}

# loader_of PID: the child that loads tables, and has maps of BPF open, is in $loader.
loader_of() {
	local child
	loader=
	for child in $(pgrep -P "$1"); do
		[[ $(readlink "/proc/$child/fd/"* 2>/dev/null) != *bpf-map* ]] || loader=$child
	done
	[ -n "$loader" ]
}

# A process of ./brief calls asks() and ends, while what loads tables does nothing; the last of
# them was complete.
is_brief_whole() {
	start bash -c 'exec ./brief waits /nonexistent <line'
	wait_for is_called "$pid" brief
	kill -STOP "$loader"
	echo >&7
	try wait "$pid"
	kill -CONT "$loader"
	grep -q '^brief;_start;.*;main;become;asks ' out
}

@test "system-wide: what a walk has asked for is loaded, though its process has ended since" {
	local loader
	cp "$LIVES" ./brief
	mkfifo line
	start_stackcount -f -U -i 0.3 ./brief:asks
	exec 7<>line
	loader_of "$tracer"
	wait_for is_brief_whole
	exec 7>&-
	stop_tracer
}

@test "what loads tables and has ended is missed" {
	local loader
	walked callback
	start_stackcount -f -U -i 0.3 -p "$pid" "$WALKED:spend"
	loader_of "$tracer"
	kill -KILL "$loader"
	wait_for grep -q '^stackcount: what loads call-frame information has ended; ' err
	stop_tracer
}

# bats test_tags=same
@test "debug walk: each step of a thread, which then goes on" {
	walked deep
	"$TRACEKIT" debug walk "$pid" >out
	cat out
	[ "$(tail -n 1 out)" = 'the walk has ended: complete' ]
	[ "$(grep -c '/walked+0x[0-9a-f]*$' out)" -ge 300 ]
	grep -Eq '^ +CFA=[a-z0-9]+\+[0-9]+, ra=.*; then sp=[0-9a-f]+(, fp=[0-9a-f]+)?$' out
	grep -q '^ *the outermost frame$' out
	wait_for has_used "$pid" 5
	try "$TRACEKIT" debug walk 0 2>err
	[ "$status" -eq 2 ]
}
