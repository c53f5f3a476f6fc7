#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# stackcount: its options, its output, its patterns and how it ends, on whatever kernel.

load helpers
load ../refute

# fails "message" PATTERN...
fails() {
	local message=$1
	shift
	try within 20 "$TRACEKIT" stackcount "$@" 2>err >out
	cat err
	[ "$status" -eq 1 ]
	[ ! -s out ]
	diff err <(printf 'stackcount: %s\n' "$message")
}

# ---- options and output ----

@test "text: the function, its caller, process and count" {
	calls names 100
	start_stackcount --unwind=fp "$CALLS:counted"
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 300 ]
	head -1 out | grep -Fxq "Tracing 1 functions for \"$CALLS:counted\"... Hit Ctrl-C to end."
	[ -z "$(sed -n 2p out)" ]
	sed -n 3,6p out | diff - <(printf '  %s\n' counted one names main)
	[ "$(grep -Fxc "    calls [$pid]" out)" -eq 2 ]
	tail -1 out | grep -Fxq "Detaching..."
	awk '/^    [0-9]+$/' out | diff - <(printf '    %s\n' 100 200)
	[ ! -s err ]
}

@test "-c: what runs on that CPU" {
	cpus=$(nproc --all)
	[ "$cpus" -gt 1 ] || skip "one CPU"
	calls names 10
	taskset -pc 0 "$pid" >/dev/null
	start_stackcount -f --stats -p "$pid" -c 0 "$CALLS:counted"
	go "$pid"
	taskset -pc 1 "$pid" >/dev/null
	go "$pid"
	go "$pid"
	stop_stackcount
	[ "$(sum out)" -eq 30 ]
	[ "$(total counted)" -eq 30 ]
	[ "$(total filtered)" -eq 60 ]
	[ "$(total seen)" -eq 90 ]
}

@test "a process that is named twice counts once" {
	calls names 10
	start_stackcount -f --stats -p "$pid,$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	balanced 30
}

@test "-K merges processes, -P keeps them apart" {
	calls names 10
	one=$pid
	calls names 20
	start_stackcount -K "$CALLS:counted"
	go "$one"
	go "$pid"
	stop_stackcount
	grep -v '^Tracing' out | diff - <(printf '%s\n' '' '    90' '' Detaching...)
	start_stackcount -K -P "$CALLS:counted"
	go "$one"
	go "$pid"
	stop_stackcount
	grep -v '^Tracing' out | diff - <(printf '%s\n' '' "    calls [$one]" '    30' '' \
		"    calls [$pid]" '    60' '' Detaching...)
}

@test "--threads: those that have ended by then, too, each by itself" {
	calls threads 10
	start_stackcount -K --threads -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	grep -v '^Tracing' out | sed "s|$pid/[0-9]*|$pid/TID|" | diff - <(
		for thread in 1 2; do
			printf '%s\n' '' "    calls [$pid/TID]" '    10'
		done
		printf '%s\n' '' Detaching...
	)
	[ "$(grep -o "$pid/[0-9]*" out | sort -u | wc -l)" -eq 2 ]
	refute grep -q "$pid/$pid" out
}

@test "a tracepoint that BTF has takes a raw one's program, and no other" {
	[ -e /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	start_stackcount t:sched:sched_switch
	grep -hx 'prog_type:	17' "/proc/$tracer/fdinfo/"*
	refute grep -hx 'prog_type:	5' "/proc/$tracer/fdinfo/"*
	stop_stackcount
	[ "$(stackcount_text out)" -gt 0 ]
}

@test "-d: a border, also where one of the stacks is empty" {
	calls names 10
	start_stackcount -d -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 30 ]
	sed -n 3,5p out | diff - <(printf '%s\n' '    --' '  counted' '  one')
	start_stackcount -df -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	grep -Eq '^calls;.*;names;one;counted;- 10$' out
	start_stackcount -dU -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	refute grep -Fxq '    --' out
}

@test "-d: kernel functions above, those of the program below" {
	calls getppids 15
	start_stackcount -d -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 15 ]
	grep -A2 -Fx "  $kernel_entry" out |
		diff - <(printf '%s\n' "  $kernel_entry" '    --' '  getppids')
}

@test "-s and -v: offsets, and addresses" {
	calls names 10
	start_stackcount -s -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	sed -n 3p out | grep -Fxq '  counted+0x0'
	# The return address into one is where its only call ends.
	offset=$(sed -n '4s/^  one+0x//p' out)
	start=$(nm "$CALLS" | awk '$3 == "one" { print $1 }')
	objdump -d --disassemble=one "$CALLS" | awk '/call.*<counted>/ { getline; print $1 }' |
		grep -qx "$(printf '%x:' $((0x$start + 0x$offset)))"
	start_stackcount -v -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 30 ]
	sed -n 3,5p out | grep -Exc '  [0-9a-f]{12}     (counted|one|names)' | grep -qx 3
}

@test "-D alone: one report, at the end" {
	stackcount -D 0.3 -T "$CALLS:counted" >out
	[ "$(stackcount_text out)" -eq 0 ]
	grep -v '^Tracing' out | sed 's/^[0-9:]\{8\}$/TIME/' |
		diff - <(printf '%s\n' '' TIME Detaching...)
}

@test "-i: each interval begins with an empty line, -T prints the time, counts start again" {
	calls names 10
	start_stackcount -T -i 0.2 --stats "$CALLS:counted"
	for _ in 1 2 3; do
		go "$pid"
		lines=$(grep -c ' seen = ' err || true)
		wait_for eval '[ "$(grep -c " seen = " err)" -gt $((lines + 1)) ]'
	done
	stop_stackcount
	[ "$(stackcount_text out)" -eq 90 ]
	# Never more than two rounds in one interval, and accounting for each interval.
	awk '/^    [0-9]+$/ && $1 > 40 { exit 1 }' out
	[ "$(grep -Exc '[0-9]{2}:[0-9]{2}:[0-9]{2}' out)" -eq "$(grep -c ' seen = ' err)" ]
	[ "$(grep -c ' user stacks, by call-frame information = ' err)" -eq "$(grep -c ' seen = ' err)" ]
	[ "$(total seen)" -eq 90 ]
}

@test "-i and -D: no more reports than fit" {
	stackcount -i 0.3 -D 1 "$CALLS:counted" >out
	[ "$(stackcount_text out)" -eq 0 ]
	[ "$(grep -c '^$' out)" -le 4 ]
	[ "$(grep -c '^$' out)" -ge 1 ]
}

@test "recursion: each depth is a stack of its own" {
	calls recursion 20
	start_stackcount -f --stats -p "$pid" "$CALLS:recurse"
	go "$pid"
	stop_stackcount
	balanced 21
	[ "$(grep -c ' 1$' out)" -eq 21 ]
	[ "$(stacks | grep -Exc 'main;recursion(;recurse)+ 1')" -eq 21 ]
	[ "$(stacks | awk -F';' '{ print NF }' | sort -nu | wc -l)" -eq 21 ]
}

@test "a comm cannot forge lines" {
	cp "$CALLS" "$(printf 'a;b\nc')"
	copy= CALLS="./$(printf 'a;b\nc')" calls names 10
	start_stackcount -f "/proc/$pid/exe:counted"
	go "$pid"
	stop_stackcount
	refute grep -v '^a:b?c;' out
	[ "$(sum out)" -eq 30 ]
}

@test "control characters of paths are not printed" {
	mkdir "$(printf 'a\033[31m')"
	cp "$CALLS" "$(printf 'a\033[31m/evil')"
	"$TRACEKIT" stackcount -l "$PWD/$(printf 'a\033[31m/evil'):counted" >out
	grep -Fxq "$PWD/a?[31m/evil:counted" out
}

# ---- patterns ----

@test "globs and regular expressions" {
	calls names 10
	start_stackcount -f --stats -p "$pid" "$CALLS:[ot][nw][eo]"
	go "$pid"
	stop_stackcount
	balanced 2
	stacks | sort | diff - <(printf 'main;names;%s 1\n' one two)
	start_stackcount -f --stats -r -p "$pid" "$CALLS:^(one|two)\$"
	go "$pid"
	stop_stackcount
	balanced 2
	# Not anchored: counted, too.
	start_stackcount --stats -r -p "$pid" "$CALLS:(^one\$|oun)"
	go "$pid"
	stop_stackcount
	head -1 out | grep -q '^Tracing 2 functions '
	[ "$(stackcount_text out)" -eq 31 ]
}

@test "-l lists what matches, and traces nothing" {
	stackcount -l "$CALLS:*name*" >out
	diff out <(echo "$CALLS:names")
	stackcount -l -r "$CALLS:^(one|two)\$" >out
	diff out <(printf '%s\n' "$CALLS:one" "$CALLS:two")
	stackcount -l "u:$CALLS:*" >out
	diff out <(printf "u:$CALLS:tracekit_test:%s\n" plain watched)
	stackcount -l 't:sched:sched_switc?' >out
	diff out <(echo t:sched:sched_switch)
	stackcount -l 'vfs_rea[d]' >out
	diff out <(echo vfs_read)
	try stackcount -l "$CALLS:nothing" >out 2>err
	[ "$status" -eq 1 ]
	[ ! -s out ]
}

@test "a USDT probe, with and without its provider" {
	for name in plain tracekit_test:plain 'trace*:pl*'; do
		calls usdt 12
		start_stackcount -f --stats "u:$CALLS:$name"
		go "$pid"
		stop_stackcount
		balanced 12
		[ "$(stacks)" = "main;usdt 12" ]
	done
}

@test "C++: by its mangled and by its demangled name" {
	for name in geometry::area _ZN8geometry4areaEi 'geometry::*'; do
		calls mangled 25
		start_stackcount -f --stats -p "$pid" "$CALLS:$name"
		go "$pid"
		stop_stackcount
		balanced 25
		[ "$(stacks)" = "main;mangled;geometry::area(int) 25" ]
	done
	start_stackcount -f --no-demangle -p "$pid" "$CALLS:geometry::area"
	go "$pid"
	stop_stackcount
	[ "$(stacks)" = "main;mangled;_ZN8geometry4areaEi 25" ]
}

@test "two names of one function: one probe, whichever is asked for" {
	for pattern in alias_one alias_two 'alias_*'; do
		calls aliases 10
		start_stackcount --stats -p "$pid" "$CALLS:$pattern"
		go "$pid"
		stop_stackcount
		head -1 out | grep -Fxq "Tracing 1 functions for \"$CALLS:$pattern\"... Hit Ctrl-C to end."
		[ "$(stackcount_text out)" -eq 20 ]
		[ "$(total seen)" -eq 20 ]
	done
}

@test "an indirect function: that its choice is what is seen is said" {
	calls ifunc 10
	start_stackcount -p "$pid" "$CALLS:indirect"
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 0 ]
	grep -q '^stackcount: 1 of the functions is indirect (IFUNC): ' err
}

# ---- how a trace ends ----

@test "Ctrl-C in the middle of an interval, and SIGTERM" {
	calls names 10
	for signal in INT TERM; do
		start_stackcount -f --stats -i 1000 "$CALLS:counted"
		go "$pid"
		kill -"$signal" "$tracer"
		ends_well
		balanced 30
	done
}

@test "of two targets, the last that exits ends the trace" {
	calls exit 10
	one=$pid
	calls exit 20
	start_stackcount --stats -p "$one,$pid" "$CALLS:counted"
	go "$one"
	wait "$one"
	kill -0 "$tracer"
	go "$pid"
	ends_well
	[ "$(stackcount_text out)" -eq 90 ]
}

@test "a target that calls exec() is the same process" {
	calls exec 10
	start_stackcount -f --stats -p "$pid" "$CALLS:counted"
	go "$pid"
	wait_for eval '[ "$(grep -c ready "said.$pid")" -eq 2 ]'
	go "$pid"
	stop_stackcount
	balanced 60
}

@test "a signal at any moment of the start ends it well" {
	for delay in 0.000 0.002 0.005 0.010 0.020 0.030; do
		stop_after "$delay" stackcount "$CALLS:*"
		refute grep -Ev 'IFUNC|1 cannot be probed|^stackcount: no event: ' err
	done
	nothing_left
}

@test "a full disk is said" {
	try stackcount -D 0.1 "$CALLS:counted" 2>err >/dev/full
	[ "$status" -eq 1 ]
	diff err <(echo "stackcount: cannot write the output: No space left on device")
	try stackcount -l "$CALLS:*" 2>err >/dev/full
	[ "$status" -eq 1 ]
	diff err <(echo "stackcount: cannot write the output: No space left on device")
	nothing_left
}

@test "a closed stdout, or a reader that goes, ends the trace without a message" {
	try within 20 "$TRACEKIT" stackcount "$CALLS:counted" 2>err >&-
	[ "$status" -eq 1 ]
	[ ! -s err ]
	try within 20 bash -c 'set -o pipefail; "$1" stackcount "$2:counted" 2>err | head -1 >/dev/null' - \
		"$TRACEKIT" "$CALLS"
	[ "$status" -eq 1 ]
	[ ! -s err ]
	nothing_left
}

# ---- files ----

@test "a program that is replaced while it is traced" {
	cp "$CALLS" ./victim
	CALLS=./victim calls names 10
	start_stackcount -f --stats -p "$pid" ./victim:counted
	go "$pid"
	rm ./victim
	printf 'not an ELF file' >./victim
	go "$pid"
	stop_stackcount
	balanced 60
	stacks | diff - <(printf 'main;names;%s\n' 'one;counted 20' 'two;counted 40')
	fails "'./victim' is no ELF file" ./victim:counted
	# It is still what the process runs.
	start_stackcount -f --stats "/proc/$pid/exe:counted"
	go "$pid"
	stop_stackcount
	balanced 30
}

@test "in a mount namespace of its own: -p means the files there" {
	unshare --mount true || skip "cannot make a mount namespace"
	mkdir inner
	cat >inside <<-END
		mount -t tmpfs none inner
		cp "$CALLS" inner/hidden
		exec inner/hidden names 10
	END
	start unshare --mount bash inside >said
	mv said "said.$pid"
	wait_for grep -q ready "said.$pid"
	[ ! -e inner/hidden ]
	fails "'$PWD/inner/hidden': No such file or directory" "$PWD/inner/hidden:counted"
	start_stackcount -f --stats -p "$pid" "$PWD/inner/hidden:counted"
	go "$pid"
	stop_stackcount
	balanced 30
	stacks | diff - <(printf 'main;names;%s\n' 'one;counted 10' 'two;counted 20')
}

@test "in a root directory of its own: -p means the programs and libraries there" {
	own=$(ldd "$CALLS" | sed -n 's/.*libcounted\.so => \([^ ]*\) .*/\1/p')
	mkdir jail
	cp "$CALLS" jail/program
	for library in $(ldd "$CALLS" | grep -oE '/[^ ]+'); do
		mkdir -p "jail$(dirname "$library")"
		cp "$library" "jail$library"
	done
	start env LD_LIBRARY_PATH="${own%/*}" chroot jail /program linked 30 >said
	mv said "said.$pid"
	wait_for grep -q ready "said.$pid"
	for pattern in counted:library_function "$own:library_function"; do
		start_stackcount -f --stats -p "$pid" "$pattern"
		go "$pid"
		stop_stackcount
		balanced 30
	done
	start_stackcount -f --stats -p "$pid" /program:linked
	go "$pid"
	stop_stackcount
	balanced 1
	# The same name means another file to everybody else.
	start_stackcount --stats "$own:library_function"
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 0 ]
}

# ---- what is wrong with a target ----

@test "nothing matches: what was searched, and what is near" {
	fails "'$CALLS:countd' matches none of the functions of $CALLS (did you mean 'counted'?)" "$CALLS:countd"
	fails "'$CALLS:nothing_at_all' matches none of the functions of $CALLS" "$CALLS:nothing_at_all"
	fails "'$CALLS:nothing*' matches none of the functions of $CALLS" "$CALLS:nothing*"
	fails "'u:$CALLS:plan' matches none of the USDT probes of $CALLS (did you mean 'plain'?)" "u:$CALLS:plan"
	fails "'u:$CALLS:other:plain' matches none of the USDT probes of $CALLS" "u:$CALLS:other:plain"
	fails "'t:sched:sched_swich': no tracepoint matches 'sched_swich' (did you mean 'sched_switch'?)" t:sched:sched_swich
	fails "'t:shed:sched_switch': no category of tracepoints matches 'shed' (did you mean 'sched'?)" t:shed:sched_switch
	try stackcount vfs_raed 2>err
	[ "$status" -eq 1 ]
	grep -Eq "^stackcount: 'vfs_raed' matches none of the functions of the kernel that can be traced .*\(did you mean 'vfs_read'" err
}

@test "a path with colons, behind backslashes; what -l prints is a pattern" {
	mkdir a:b
	cp "$CALLS" a:b/calls
	cp "${CALLS%/*}/libcounted.so" a:b
	copy=./a:b/calls calls names 10
	stackcount -l './a\:b/calls:count*' >out
	diff out <(echo './a\:b/calls:counted')
	stackcount -l 'u:./a\:b/calls:*:plain' >out
	[ "$(sed 's/:[^:]*:plain$//' out)" = 'u:./a\:b/calls' ]
	start_stackcount "$(stackcount -l './a\:b/calls:count*')"
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -gt 0 ]
}

# means PATTERN OURS: nothing matches PATTERN, and OURS is what was meant.
means() {
	try stackcount "$1" 2>err
	cat err
	[ "$status" -eq 1 ]
	[ "$(wc -l <err)" -eq 1 ]
	[[ $(<err) == *" (did you mean '$2'?)" ]]
}

@test "patterns of other tools: how they are written here, if there is such a thing" {
	means tracepoint:sched:sched_switch t:sched:sched_switch
	means rawtracepoint:sched_switch t:sched:sched_switch
	means sched:sched_switch t:sched:sched_switch
	means t:sched_switch t:sched:sched_switch
	means sched_switch t:sched:sched_switch
	means 'tracepoint:sched:sched_process_e*' 't:sched:sched_process_e*'
	means kprobe:vfs_read vfs_read
	means 'kretprobe:vfs_rea*' 'vfs_rea*'
	means fentry:vfs_read vfs_read
	means libc:malloc c:malloc
	means uprobe:libc:malloc c:malloc
	cp "$CALLS" program
	means uprobe:./program:counted ./program:counted
	means usdt:./program:plain u:./program:plain
	means u:./program:counted ./program:counted
	fails "'tracepoint' is no library that the loader finds, and no program in PATH; give a path" \
		tracepoint:sched:no_such_event
	fails "'kprobe' is no library that the loader finds, and no program in PATH; give a path" \
		kprobe:no_such_function
	fails "'libnothing' is no library that the loader finds, and no program in PATH; give a path" \
		libnothing:malloc
	fails "'usdt' is no library that the loader finds, and no program in PATH; give a path" \
		usdt:./program:no_such_probe
	mkdir -p a:b
	cp "$CALLS" a:b/program:1
	means ./a:b/program:1:counted './a\:b/program\:1:counted'
	cp "$CALLS" a:b/program
	means u:./a:b/program:plain 'u:./a\:b/program:plain'
	# One file is meant, and no function of what has no such probe.
	PATH=$PWD:$PATH means 'u:*program*:plain' u:program:plain
	means '*libc.so*:malloc' c:malloc
	fails "'libc.*': FILE is one program or library, by its name or path: only what stands behind it can have wildcards" \
		'libc.*:no_such_function'
	try stackcount 'u:libc:no_such_*' 2>err
	diff err <(echo "stackcount: 'libc': names of libraries are written without 'lib', as 'c'")
	gcc -x c - -o bare <<<'int main(void) { return 0; }' 2>/dev/null || cp /bin/true bare
	fails "./bare: has no USDT probes" 'u:./bare:*'
	# An expression is none of theirs.
	fails "'kprobe' is no library that the loader finds, and no program in PATH; give a path" \
		-r kprobe:vfs_read
}

@test "no event: where it is attached, who did not come there, and who else did" {
	calls names 10
	other=$pid
	calls names 10
	try stackcount -D 0.1 "$CALLS:counted" 2>err >out
	[ "$status" -eq 0 ]
	diff err <(echo "stackcount: no event: '$CALLS:counted' is attached at 1 place, but nobody came there; what it matches: -l")
	[ "$(stackcount_text out)" -eq 0 ]
	start_stackcount -p "$pid" "$CALLS:counted"
	go "$other"
	stop_stackcount
	diff err <(echo "stackcount: no event: '$CALLS:counted' is attached at 1 place, but process $pid did not come there; who does: tracekit stackcount '$CALLS:counted'")
	start_stackcount --comm nobody -r "$CALLS:^counted$"
	go "$other"
	stop_stackcount
	grep -Exq "stackcount: no event: '$CALLS:\^counted\\$' is attached at 1 place, and was reached [1-9][0-9]* times, but only by what the options leave out" err
	start_tracer stacksnoop -p "$pid,$other" -r "$CALLS:^counted$"
	stop_tracer
	diff err <(echo "stacksnoop: no event: '$CALLS:^counted$' is attached at 1 place, but processes $pid,$other did not come there; who does: tracekit stackcount -r '$CALLS:^counted$'")
	start_tracer stacksnoop -q -p "$pid" "$CALLS:counted"
	stop_tracer
	[ ! -s err ]
	start_stackcount -q -p "$pid" "$CALLS:counted"
	stop_stackcount
	[ ! -s err ]
	# Not where there was one, in any interval.
	start_stackcount -i 0.1 "$CALLS:counted"
	go "$pid"
	counted() {
		grep -q '^  counted' out
	}
	wait_for counted
	pause 0.3
	stop_stackcount
	refute grep "no event" err # whether tables came in time is not asked here
}

@test "what is no program: a FIFO, a directory, text, nothing" {
	mkfifo fifo
	echo text >text
	: >empty
	fails "'./fifo' is no regular file" ./fifo:main
	fails "'$PWD' is no regular file" "$PWD:main"
	fails "'./text' is no ELF file" ./text:main
	fails "'./empty' is no ELF file" ./empty:main
	fails "'./missing': No such file or directory" ./missing:main
	fails "'no-such-program' is no library that the loader finds, and no program in PATH; give a path" \
		no-such-program:main
}

@test "a stripped program, and a stripped library" {
	strip -o stripped "$CALLS"
	fails "./stripped: has no functions with names: it is stripped, and its debug symbols are not installed" \
		./stripped:counted
	strip -o libstripped.so "$(dirname "$CALLS")/libcounted.so"
	calls loaded 10 ./libstripped.so
	start_stackcount --stats ./libstripped.so:library_function
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 10 ]
}

@test "ELF files that were cut or changed: an end, and nothing attached" {
	size=$(stat -c %s "$CALLS")
	for kept in 4 16 63 64 100 1000 5000 $((size / 2)) $((size - 100)); do
		head -c "$kept" "$CALLS" >cut
		try within 20 "$TRACEKIT" stackcount -D 0.01 ./cut:counted 2>err >out
		[ "$status" -eq 1 ]
		[ "$(grep -c '^stackcount: ' err)" -eq 1 ]
		[ "$(wc -l <err)" -eq 1 ]
		{ head -c "$kept" "$CALLS"; head -c 20000 /dev/zero | tr '\0' '\377'; } >changed
		try within 20 "$TRACEKIT" stackcount -D 0.01 './changed:*' 2>err >out
		[ "$status" -le 1 ]
		[ "$(wc -l <err)" -le 1 ] || grep -q IFUNC err
	done
	nothing_left
}

@test "processes that are none" {
	fails "-p 2147483647: no such process; give the PID of a running one" \
		-p 2147483647 "$CALLS:counted"
	fails "-p 2147483647: no such process; give the PID of a running one" \
		-p "$$,2147483647" t:sched:sched_switch
}

@test "a library that nobody has: said, with what to do" {
	try stackcount counted:library_function 2>err
	[ "$status" -eq 1 ]
	diff err <(echo "stackcount: 'counted' is no library that the loader finds, and no program in PATH; give a path")
}

@test "a kernel without kprobes says so" {
	try stackcount -D 0.01 vfs_read 2>err >out
	[ "$status" -ne 0 ] || skip "this kernel has kprobes"
	[ "$status" -eq 1 ]
	[ ! -s out ]
	diff err <(echo "stackcount: cannot probe kernel functions: this kernel is built without kprobes (CONFIG_KPROBES), or /sys is not mounted; tracepoints may do: -l 't:*:*' lists them")
}

# ---- examples of bcc's page that are about programs ----

@test "stackcount -p PID c:malloc" {
	# A shell that makes strings: whatever else it does, it calls malloc() of libc.
	start bash -c 'trap "for i in {1..200}; do eval x\$i=\$i; done; echo >done" USR1; : >ready; while :; do sleep 0.05; done'
	wait_for test -e ready
	start_stackcount --stats -p "$pid" c:malloc
	kill -USR1 "$pid"
	wait_for test -e done
	stop_stackcount
	head -1 out | grep -Fxq 'Tracing 1 functions for "c:malloc"... Hit Ctrl-C to end.'
	[ "$(stackcount_text out)" -ge 200 ]
	[ "$(stackcount_text out)" -eq "$(total counted)" ]
	[ "$(grep -Exc '  (__libc_)?malloc' out)" -eq "$(grep -Ec '^    [0-9]+$' out)" ]
	refute grep -Eq '^    .+ \[[0-9]+\]$' out
}

@test "stackcount -Ti 1 t:syscalls:sys_enter_getppid" {
	calls getppids 20
	start_stackcount -Ti 1 -p "$pid" t:syscalls:sys_enter_getppid
	go "$pid"
	wait_for grep -Exq '[0-9]{2}:[0-9]{2}:[0-9]{2}' out
	stop_stackcount
	[ "$(stackcount_text out)" -eq 20 ]
	sed -n 2,3p out | sed 's/^[0-9:]\{8\}$/TIME/' | diff - <(printf '%s\n' '' TIME)
}

@test "stackcount -D 1 -f c:malloc, for a flame graph" {
	cp "$(command -v bash)" ./mallocs
	start ./mallocs -c 'while :; do x=$x; done'
	stackcount -D 1 -f c:malloc >out
	[ "$(folded out)" -gt 0 ]
	# Others may have ended meanwhile, and have no names.
	[ "$(grep -c '^mallocs;' out)" -gt 0 ]
	[ "$(grep -Ec '^mallocs;(.*;)?(__libc_)?malloc [0-9]+$' out)" -eq "$(grep -c '^mallocs;' out)" ]
}

@test "stackcount -l 'c:str*'" {
	stackcount -l 'c:str*' >out
	[ "$(wc -l <out)" -gt 50 ]
	refute grep -Ev '^/.*/libc\.so\.6:str' out
	grep -q ':strdup$' out
}

@test "stackcount -h" {
	stackcount -h >out
	head -1 out | grep -q '^usage: stackcount '
	grep -Fq "stackcount 'tcp_send*'" out
}
