#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Names as they are on ordinary machines, and what processes do about them.

load helpers
load ../refute

teardown() {
	end_started
	if [ -n "$jit_map" ]; then
		rm -f "$jit_map"
	fi
}

# Start spin in code that it has generated: at $page; its JIT map, not there yet, is $jit_map.
# spin_in_jit [MODE]
spin_in_jit() {
	start "$SPIN" "${1:-jit}" >page
	wait_for [ -s page ]
	page=$(<page)
	jit_map=/tmp/perf-$pid.map
}

@test "the vDSO" {
	grep -q vdso /proc/self/maps || skip "the kernel maps no vDSO"
	spin vdso
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq ';main;vdso;(__)?clock_gettime.*;__(vdso|kernel)_clock_gettime [0-9]+$' out
	# Its direct caller has no frame pointer.
	sample 10 -f -U -p "$pid" -F 499 --unwind=fp
	grep -Eq ';main;(__)?clock_gettime.*;__(vdso|kernel)_clock_gettime [0-9]+$' out
}

# It is another image than that of 64-bit processes.
@test "the vDSO of a 32-bit process has no names, and none of others" {
	[ -x "$BUILD/test/root/spin_32bit" ] || skip "x86-64 only"
	"$BUILD/test/root/spin_32bit" end || skip "the kernel runs no 32-bit programs"
	start_busy "$BUILD/test/root/spin_32bit"
	sample 10 -f -U -p "$pid" -F 499
	grep -q ';func_32;\[unknown\] [0-9]*$' out
	refute grep -v '^spin_32bit;\[unwind stopped: a 32-bit process\]\(;\(_start\|run\|func_32\|\[unknown\]\)\)* [0-9]*$' out
}

@test "entries of a procedure linkage table" {
	start "$PLT_SPIN"
	wait_for is_called "$pid" plt_spin || skip "no such table, or of another form, in programs here"
	spend "$pid" 10
	sample 10 -f -s -U -p "$pid" -F 499
	grep -Eq ';getppid@plt\+0x0 [0-9]+$' out
	[ "$(grep -c . out)" -eq "$(grep -Ec ';getppid@plt\+0x0 [0-9]+$' out)" ]
}

@test "C++ and Rust" {
	spin mangled
	sample 10 -U -p "$pid" -F 499
	awk -v RS= 'END { print }' out | head -4 |
		diff - <(printf '    %s\n' spin_leaf geometry::side 'app::Shape<int>::area(long)' main)
}

@test "generated code is named by the map that the process writes, and read again when it has grown" {
	spin_in_jit
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq ';\[unknown\] [0-9]+$' out
	echo "$page 1000 whole page of code" >"$jit_map"
	sample 10 -f -s -U -p "$pid" -F 499
	grep -Eq ';main.*;whole page of code\+0x4[0-9a-f] [0-9]+$' out
	# Later lines replace earlier ones.
	printf '%x 10 JS:~fast;er\n' $((0x$page + 64)) >>"$jit_map"
	sample 10 -f -s -U -p "$pid" -F 499
	grep -Eq ';JS:~fast:er\+0x[0-9a-f] [0-9]+$' out
}

# ends_so COUNT END: at least COUNT rows or lines of out end so.
ends_so() {
	[ "$(grep -c -- "$2\$" out)" -ge "$1" ]
}

@test "stacksnoop: code that is named, or replaced, while it is traced has that name from then on" {
	spin_in_jit jit-calls
	start_tracer stacksnoop -U -p "$pid" t:syscalls:sys_enter_getppid
	wait_for ends_so 5 'ip: [0-9a-f]* \[unknown\]'
	echo "$page 1000 first;name" >"$jit_map"
	wait_for ends_so 5 'ip: [0-9a-f]* first;name'
	printf '%x 10 second name\n' $((0x$page + 64)) >>"$jit_map"
	wait_for ends_so 5 'ip: [0-9a-f]* second name'
	# Written anew, as an agent that is asked again does.
	printf '%x 10 third\n' $((0x$page + 64)) >"$jit_map"
	wait_for ends_so 5 'ip: [0-9a-f]* third'
	# Code that had a name keeps it.
	rm "$jit_map"
	sleep 2.5
	stop_tracer
	sed -n 's/.* ip: [0-9a-f]* //p' out | uniq |
		diff - <(printf '%s\n' '[unknown]' 'first;name' 'second name' 'third')
}

@test "stackcount: a report of an interval has the names of that time" {
	spin_in_jit jit-calls
	start_tracer stackcount -f -U -p "$pid" -i 0.3 t:syscalls:sys_enter_getppid
	wait_for ends_so 1 '\[unknown\] [0-9]*'
	echo "$page 1000 py::serve:/srv/a;b.py" >"$jit_map"
	wait_for ends_so 1 ';py::serve:/srv/a:b\.py [0-9]*'
	printf '%x 10 Ljava/lang/String;::hashCode\n' $((0x$page + 64)) >>"$jit_map"
	wait_for ends_so 1 ';Ljava/lang/String:::hashCode [0-9]*'
	stop_tracer
}

@test "a map of generated code lies in the mount namespace, under the PID of the namespace, of its process" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	copy_spin
	cat >inside <<-END
		mount -t tmpfs none /tmp
		"$copy" jit >/tmp/page & pid=\$!
		until [ -s /tmp/page ]; do sleep 0.05; done
		echo "\$(</tmp/page) 1000 inside" >/tmp/perf-\$pid.map
		wait
	END
	start unshare --fork --pid --mount --mount-proc bash inside
	find_inner() {
		inner=$(pgrep -x spin -P "$(pgrep -P "$pid" | head -1)")
	}
	wait_for find_inner
	wait_for grep -q inside "/proc/$inner/root/tmp/perf-$(awk '/^NSpid/ { print $NF }' "/proc/$inner/status").map"
	[ ! -e "/tmp/perf-$inner.map" ]
	busy=$inner sample 10 -f -U -p "$inner" -F 499
	kill -KILL "$inner"
	grep -Eq ';inside [0-9]+$' out
}

@test "a map of root's is not read for a user who may not read it" {
	setpriv --reuid 65534 --regid 65534 --clear-groups true || skip "cannot become another user"
	copy_spin
	start setpriv --reuid 65534 --regid 65534 --clear-groups "$copy" jit >page
	wait_for [ -s page ]
	jit_map=/tmp/perf-$pid.map
	echo "$(<page) 1000 written_by_root" >"$jit_map"
	chmod 600 "$jit_map"
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq ';\[unknown\] [0-9]+$' out
	refute grep -q written_by_root out
	chmod 644 "$jit_map"
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq ';written_by_root [0-9]+$' out
}

@test "a map of generated code that belongs to another user is not believed" {
	spin_in_jit
	echo "$page 1000 forged" >"$jit_map"
	chown 65534 "$jit_map"
	sample 10 -f -U -p "$pid" -F 499
	refute grep -q forged out
	grep -Eq ';\[unknown\] [0-9]+$' out
}

@test "a FIFO, a directory, a device or a link in its place does not hold up anything" {
	spin_in_jit
	for kind in fifo directory device link; do
		case $kind in
		fifo) mkfifo "$jit_map" ;;
		directory) mkdir "$jit_map" ;;
		device) mknod "$jit_map" c 1 5 ;;
		link) ln -s /dev/zero "$jit_map" ;;
		esac
		try within 20 "$TRACEKIT" profile -q -f -U -p "$pid" -F 999 0.3 >out 2>err
		rm -d "$jit_map"
		echo "$kind: status $status"
		[ "$status" -eq 0 ]
		[ ! -s err ]
		grep -Eq ';\[unknown\] [0-9]+$' out
	done
}

@test "a huge sparse file in its place costs a moment, and is said" {
	spin_in_jit
	truncate -s 1T "$jit_map" 2>/dev/null || truncate -s 40G "$jit_map" || skip "no sparse files here"
	begin=$(date +%s)
	try within 60 "$TRACEKIT" profile -q -f -U -p "$pid" -F 999 0.3 >out 2>err
	[ "$status" -eq 0 ]
	[ $(($(date +%s) - begin)) -le $((20 * TRACEKIT_SLOWNESS)) ]
	grep -Eq ';\[unknown\] [0-9]+$' out
	grep -Eq '^profile: .* too large or too slow to read, .*$' err
}

@test "names in generated maps reach the terminal harmless" {
	spin_in_jit
	printf '%s 1000 [cut at\033]0;x\007 127 frames]\n' "$page" >"$jit_map"
	sample 10 -f -U -p "$pid" -F 499
	grep -Fq ';?cut at?]0:x? 127 frames]' out
	refute grep -q "$(printf '[\001-\010\013-\037\177]')" out
	# No delimiter, no process, and no frame without a name.
	for name in - -- '-                sshd (812)' '\0hidden'; do
		# shellcheck disable=SC2059
		printf "%s 1000 $name\n" "$page" >"$jit_map"
		sample 10 -d -U -p "$pid" -F 499
		grep -Eq '^    (\?|\[unknown\])' out
		refute grep -Eq '^    (--?|-  .*sshd.*)?$' out
	done
	printf '%s 1000 do_exit_[k]\n' "$page" >"$jit_map"
	sample 10 -f -a -U -p "$pid" -F 499
	grep -Fq ';do_exit_[k? ' out
	printf '%s 1000 -[Class method]\n' "$page" >"$jit_map"
	sample 10 -f -U -p "$pid" -F 499
	grep -Fq ';-[Class method] ' out
}

# base36 NUMBER: as the numbers of substitutions are written in C++ symbols.
base36() {
	local digits=0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ
	[ "$1" -lt 36 ] || printf %s "${digits:$(($1 / 36)):1}"
	printf %s "${digits:$(($1 % 36)):1}"
}

@test "a symbol that stands for terabytes stays as it is, and costs nothing" {
	command -v objcopy >/dev/null || skip "objcopy is not installed"
	# f(a<int, int>, a<first, first>, a<second, second>, ...)
	symbol=_Z1f1aIiiE
	for i in $(seq 0 40); do
		symbol+=S_IS$(base36 "$i")_S$(base36 "$i")_E
	done
	objcopy --redefine-sym "spin_leaf=$symbol" "$SPIN" bomb
	start_busy ./bomb names
	begin=$(date +%s)
	sample 10 -f -U -p "$pid" -F 499
	[ $(($(date +%s) - begin)) -le $((10 * TRACEKIT_SLOWNESS)) ]
	grep -Eq ";main;outer;middle;$symbol [0-9]+$" out
}

@test "a file that is cut short while it is read does no harm" {
	cp "$SPIN" library
	start_busy "$SPIN" mapped library
	target=$pid
	code=$((0x$(nm "$SPIN" | awk '$3 == "never_returns" { print $1 }')))
	whole=$(stat -c %s library)
	busy=$target sample 10 -f -U -p "$target" -F 199
	grep -Eq ';never_returns [0-9]+$' out
	cat >resize <<-END
		while :; do
			truncate -s $((code / 4096 * 4096 + 8192)) library
			dd if="$SPIN" of=library conv=notrunc bs=$whole status=none
		done
	END
	start bash resize
	incomplete='[0-9]+ of [0-9]+ user stacks are not complete: .*'
	# For five seconds, and five times where a CPU is too slow for more.
	runs=0
	begin=$SECONDS
	until [ "$runs" -ge 5 ] && [ $((SECONDS - begin)) -ge 5 ]; do
		runs=$((runs + 1))
		try within 20 "$TRACEKIT" profile -f -U -p "$target" 0.1 >out 2>err
		cat err
		[ "$status" -eq 0 ]
		refute grep -Evx "profile: (call-frame information of 1 files did not answer, or could not be read|[0-9]+ files? that programs had mapped could not be opened in time, .*|$incomplete|no sample: .*)" err
		refute grep -Ev ';(never_returns|\[unknown\]) [0-9]+$' out
	done
}

@test "without CAP_SYS_ADMIN files are found by their paths, and named" {
	spin names
	setpriv --bounding-set -sys_admin,-checkpoint_restore true || skip "cannot drop capabilities"
	try setpriv --bounding-set -sys_admin,-checkpoint_restore \
		--inh-caps -sys_admin,-checkpoint_restore "$TRACEKIT" profile -q -f -U -p "$pid" -F 999 0.3 >out 2>err
	cat err
	if [ "$status" -ne 0 ]; then
		grep -q 'perf_event_paranoid' err
		skip "kernel.perf_event_paranoid asks for CAP_SYS_ADMIN"
	fi
	grep -Eq ';main;outer;middle;spin_leaf [0-9]+$' out
}

@test "a call at the end of its function belongs to that function" {
	spin last-call
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq ';calls_at_its_end;never_returns [0-9]+$' out
	refute grep -q 'behind_it' out
}

@test "no process forges kernel frames or markers" {
	[ "$(uname -m)" = x86_64 ] || skip "these addresses are of x86-64"
	spin forged 0
	sample 10 -f -U -p "$pid" -F 499 --unwind=fp
	grep -Eq '^spin;(\[unknown\];)+forged [0-9]+$' out
	refute grep -q 'cut at' out
	# A walk by tables ends at the first of them.
	for first in 0 1 2; do
		spin forged "$first"
		sample 10 -f -U -p "$pid" -F 499
		grep -Eq '^spin;\[unwind stopped: no code there\];\[unknown\];forged [0-9]+$' out
		[ "$(sed 's/ [0-9]*$//' out | sort -u | wc -l)" -eq 1 ]
	done
}

@test "no process sends control characters, or a frame of its own, to the terminal" {
	spin hostile-comm
	sample 10 -f -U -p "$pid" -F 499
	grep -Fq '?[2J:a?b?c;' out
	sample 10 -U -p "$pid" -F 499
	grep -Fq '?[2J;a?b?c' out
	refute grep -q "$(printf '[\001-\010\013-\037\177]')" out
}

@test "a process that ends during the trace keeps its names" {
	spin names
	target=$pid
	start_profile -U -p "$target"
	spend "$target" 20
	kill -KILL "$target"
	try wait "$pid"
	[ "$status" -eq 0 ]
	awk -v RS= 'END { print }' out | head -4 |
		diff - <(printf '    %s\n' spin_leaf middle outer main)
}

@test "a program that was deleted, or replaced, keeps its names" {
	cp "$SPIN" ./gone
	start_busy ./gone names
	rm ./gone
	printf 'not an ELF file' >./gone
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq '^gone;.*main;outer;middle;spin_leaf [0-9]+$' out
}

@test "in a mount namespace of its own a process has its names" {
	unshare --mount true || skip "cannot make a mount namespace"
	mkdir inner
	cat >inside <<-END
		mount -t tmpfs none inner
		cp "$SPIN" inner/spin
		exec inner/spin names
	END
	start unshare --mount bash inside
	wait_for is_called "$pid" spin
	spend "$pid" 10
	[ ! -e inner/spin ]
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq ';main;outer;middle;spin_leaf [0-9]+$' out
}
