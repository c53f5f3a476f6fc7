#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What tracekit says of itself to those who work on it: TRACEKIT_DEBUG.

load helpers
load ../refute

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
	said tracer "names: 0x[0-9a-f]+ in $SPIN is main\+0x[0-9a-f]+ in spin$"
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
