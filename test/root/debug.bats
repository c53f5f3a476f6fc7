#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What tracekit says of itself to those who work on it: TRACEKIT_DEBUG, and tracekit debug.

load helpers
load ../refute

teardown() {
	end_started
	[ -z "$jit_map" ] || rm -f "$jit_map"
}

# traced_with WORDS OPTION...: what profile says of the program $pid.
traced_with() {
	TRACEKIT_DEBUG=$1 "$TRACEKIT" profile -f -U -F 199 -p "$pid" "${@:2}" 0.3 >out 2>err
	cat err
}

# said ROLE TEXT: a process with this role has said a text that matches.
said() {
	grep -Eq "^\[[0-9]+ $1\] $2" err
}

# No line is of another topic, and none of what else profile says.
only_of() {
	refute grep -Ev "^(\[[0-9]+ [A-Za-z ]+\] $1: |Sampling at |profile: )" err
}

@test "tables: who reads them, rows and time" {
	spin names
	traced_with tables
	said tracer 'tables: starts the loader [0-9]+$'
	said loader 'tables: starts the table reader [0-9]+$'
	said loader 'tables: the table reader [0-9]+ has ended$'
	said loader "tables: $SPIN has [1-9][0-9]* rows and [1-9][0-9]* rules, loaded in [0-9]+\.[0-9] ms$"
	said loader "tables: $SPIN, module [0-9]+, is loaded$"
	said tracer 'tables: the loader [0-9]+ has ended$'
	only_of tables
}

@test "tables: why a file has none" {
	cp "$SPIN" program
	objcopy --remove-section=.eh_frame --remove-section=.eh_frame_hdr program
	start_busy ./program names
	traced_with tables
	said loader "tables: $PWD/program has no table after [0-9.]+ ms: it has no call-frame information$"
}

@test "files: what is opened, and by whom" {
	spin names
	traced_with files
	said loader 'files: starts the mapping reader [0-9]+$'
	said 'mapping reader' "files: opens $SPIN$"
	said loader "files: executable mappings of $pid: [0-9]+, of which [1-9][0-9]* are programs$"
	said 'table reader' "files: opens $SPIN$"
	said 'naming worker' 'files: has inode [0-9]+ of device [0-9:]+, which was passed$'
	said 'naming worker' 'files: (opens|looks for) /usr/lib/debug/'
	only_of files
}

@test "names: questions and answers" {
	spin names
	traced_with names
	said tracer 'names: starts the naming worker [0-9]+$'
	said tracer "names: asks for 0x[0-9a-f]+ in $SPIN$"
	said tracer "names: 0x[0-9a-f]+ in $SPIN is main\+0x[0-9a-f]+ in spin, by the symbol tables of the file$"
	said tracer 'names: ([0-9]+) of \1 addresses were answered$'
	said tracer 'names: the naming worker [0-9]+ has ended$'
	only_of names
	TRACEKIT_DEBUG=names "$TRACEKIT" profile -f -K -F 999 0.3 >out 2>err
	said tracer 'names: 0x[0-9a-f]+ of the kernel is [a-z_0-9]+\+0x[0-9a-f]+'
}

@test "walk: what walks come to, and stacks that are walked later" {
	local tracer
	cp "$SPIN" new
	start env TRACEKIT_DEBUG=walk "$TRACEKIT" profile -U -F 499 >out 2>err
	tracer=$pid
	wait_for grep -q '^Sampling at ' out
	start_busy ./new names
	wait_for said loader "walk: a walk of $pid came to module [0-9]+, $PWD/new, at [0-9a-f]+$"
	wait_for said loader "walk: a stack of $pid, walked later, has [1-9][0-9]* frames: complete$"
	wait_for said loader 'walk: starts the stack walker [0-9]+$'
	kill -INT "$tracer"
	wait "$tracer"
	only_of walk
}

@test "a child that is given up, why, and what is avoided" {
	local program
	start_silent_fs "$SPIN"
	start_busy silent/program names
	program=$pid
	kill -USR1 "$server"
	traced_with files
	said loader 'files: gives up the mapping reader [0-9]+: it waits for what does not answer$'
	said loader 'files: avoids device 0:[0-9]+ from now on$'
	traced_with names --unwind=off
	end_silent_fs
	said tracer 'names: gives up the naming worker [0-9]+: it waits for what does not answer$'
	said tracer "names: it was at a file of $pid; device 0:[0-9]+ is avoided$"
}

@test "what others have named can be shown" {
	cp "$SPIN" $'es\ecape'
	start_busy $'./es\ecape' names
	traced_with files,names,tables
	grep -q '/es?cape' err
	refute grep -q $'\e' err
}

@test "an unknown word is an error that names the words" {
	TRACEKIT_DEBUG=files,everything try "$TRACEKIT" --list >out 2>err
	[ "$status" -eq 2 ]
	[ ! -s out ]
	[ "$(<err)" = "tracekit: TRACEKIT_DEBUG: 'everything' is none of files, names, walk, tables" ]
}

@test "a program with more rights than its user does not look at the variable" {
	cp "$TRACEKIT" "$BATS_TEST_TMPDIR/setuid"
	chmod 4755 setuid
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/*/ "$BATS_TEST_TMPDIR"
	TRACEKIT_DEBUG=everything try setpriv --reuid=65534 --regid=65534 --clear-groups ./setuid --list >out 2>err
	[ "$status" -eq 0 ] || skip "setuid has no effect here"
	[ ! -s err ]
	chmod 755 setuid
	TRACEKIT_DEBUG=everything try setpriv --reuid=65534 --regid=65534 --clear-groups ./setuid --list >out 2>err
	[ "$status" -eq 2 ]
}

# The address of a function, in the file and in the process $pid, which runs the program.
function_at() {
	in_file=$(nm "$1" | sed -n "s/^0*\([0-9a-f]*\) [Tt] $2$/\1/p")
	local first
	read -r first _ <"/proc/$pid/maps"
	in_process=$(printf '%x' $((0x$in_file + 0x${first%%-*})))
}

@test "debug table: all rows of a file, as many as are loaded, and the one for an address" {
	local in_file in_process pid=$$ row
	TRACEKIT_DEBUG=tables "$TRACEKIT" debug table "$SPIN" >out 2>err
	read -r rows _ rules _ <<<"$(head -n 1 out | tr -d ,)"
	[ "$rows" -gt 50 ]
	said tracer "tables: $SPIN has $rows rows and "
	[ "$(sed 1d out | grep -Ec '^0x[0-9a-f]+ to 0x[0-9a-f]+: .')" -ge "$rows" ]
	function_at "$SPIN" outer
	"$TRACEKIT" debug table "$SPIN" "0x$in_file" >row
	cat row
	[ "$(wc -l <row)" -eq 1 ]
	grep -Fxq "$(<row)" out
	grep -Eq "^0x[0-9a-f]+ to 0x[0-9a-f]+: CFA=(rsp\+8, ra=\[CFA-8\]|sp\+0)$" row
	row=$(<row)
	[ $((${row%% *})) -le $((0x$in_file)) ]
	row=${row#* to }
	[ $((${row%%:*})) -gt $((0x$in_file)) ]
}

# The program has no code for them (applets/left_out.c).
@test "debug table: a section in a format of zstd before 1.0 is refused as one of no format" {
	echo 'int f(int a) { return a; } int _start(void) { return f(3); }' >zstd.c
	"${CC:-cc}" -g -nostdlib -fno-asynchronous-unwind-tables -Wl,--compress-debug-sections=zstd -o zstd zstd.c ||
		skip "the linker does not know zstd"
	"$TRACEKIT" debug table zstd | grep -q 'CFA=rsp+16, ra=\[CFA-8\]'
	for magic in 25 26 27 aa; do
		LC_ALL=C sed "s/\x28\xb5\x2f\xfd/\x$magic\xb5\x2f\xfd/g" zstd >"zstd.$magic"
		refute cmp -s zstd "zstd.$magic"
		"$TRACEKIT" debug table "zstd.$magic" >"rows.$magic"
		diff rows.25 "rows.$magic"
	done
	refute grep -q CFA= rows.25
}

@test "debug table: what has none" {
	try "$TRACEKIT" debug table "$SPIN" 7fffffff 2>err
	[ "$status" -eq 1 ]
	[ "$(<err)" = "tracekit: $SPIN has no row for 0x7fffffff" ]
	try "$TRACEKIT" debug table /etc/passwd 2>err
	[ "$(<err)" = 'tracekit: /etc/passwd has no table: it is no program' ]
	try "$TRACEKIT" debug table "$PWD/nothing" 2>err
	[ "$(<err)" = "tracekit: $PWD/nothing cannot be opened" ]
	objcopy --remove-section=.eh_frame --remove-section=.eh_frame_hdr "$SPIN" bare
	try "$TRACEKIT" debug table bare 2>err
	[ "$(<err)" = 'tracekit: bare has no table: it has no call-frame information' ]
}

@test "debug name: name, file, offset, and where it was found" {
	local in_file in_process
	cp "$SPIN" $'spin\e'
	start_busy $'./spin\e' names
	function_at "$SPIN" outer
	"$TRACEKIT" debug name "$pid" "$in_process" >out
	cat out
	grep -Eq '^name:     outer\+0x0(, |$)' out
	grep -q '^found in: the symbol tables of the file$' out
	grep -q "^file:     $PWD/spin?+0x$in_file$" out
	grep -q "^address:  0x$in_file in the file$" out
	refute grep -q $'\e' out
}

@test "debug name: symbols of another file" {
	local in_file in_process
	objcopy --only-keep-debug "$SPIN" stripped.debug
	objcopy --strip-all --add-gnu-debuglink=stripped.debug "$SPIN" stripped
	start_busy ./stripped names
	function_at "$SPIN" outer
	"$TRACEKIT" debug name "$pid" "0x$in_process" >out
	cat out
	grep -Eq '^name:     outer\+0x0(, |$)' out
	grep -q '^found in: a separate file of symbols$' out
	rm stripped.debug
	"$TRACEKIT" debug name "$pid" "0x$in_process" >out
	cat out
	grep -q "^name:     none; the function begins at 0x$in_file$" out
	refute grep -q '^found in:' out
}

@test "debug name: generated code, and what is nothing" {
	start "$SPIN" jit >page
	wait_for [ -s page ]
	jit_map=/tmp/perf-$pid.map
	echo "$(<page) 1000 made_here" >"$jit_map"
	"$TRACEKIT" debug name "$pid" "$(<page)" >out
	cat out
	grep -q '^name:     made_here+0x0$' out
	grep -q '^found in: the JIT map of the process$' out
	grep -q '^memory:   without a file, generated code$' out
	try "$TRACEKIT" debug name "$pid" 10 2>err
	[ "$status" -eq 1 ]
	grep -q "process $pid has nothing mapped at 0x10" err
	try "$TRACEKIT" debug name 2147483647 10 2>err
	[ "$(<err)" = 'tracekit: there is no process 2147483647' ]
}

@test "debug: wrong usage" {
	local line
	for line in '' nothing walk 'walk 1 2' table 'table a b c' 'table a xyz' 'table a -1' name 'name 1' \
		'name 0 1' 'name 1 0x' 'name 1 0x10000000000000000'; do
		# shellcheck disable=SC2086
		try "$TRACEKIT" debug $line 2>err
		echo "$line: $status $(<err)"
		[ "$status" -eq 2 ]
	done
}
