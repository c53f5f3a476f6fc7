#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A command that is run and traced: APPLET ... -- COMMAND.

load helpers
load ../refute

# bats test_tags=between
@test "all calls of a command and of what it starts, and of nobody else" {
	calls family 10
	rounds=10
	! in_guest || rounds=3
	for _ in $(seq "$rounds"); do
		stackcount -f --stats "$CALLS:counted" -- "$CALLS" run family 10 2>report &
		tracer=$!
		go "$pid"
		wait "$tracer"
		grep -v '^stackcount: ' report >out
		[ "$(sum out)" -eq 80 ]
		grep -Eq "^stackcount: [0-9]+ seen = 80 counted \\+ [0-9]+ filtered \\+ 0 lost" report
	done
}

# bats test_tags=between
@test "from its first instruction: what was before exec() is not counted" {
	stackcount -KfP -o calls t:raw_syscalls:sys_enter -- "$CALLS" run getppids 7
	refute grep -qv '^calls;' calls
	# The same number in each run, as the program alone makes it.
	one=$(sum calls)
	[ "$one" -gt 7 ]
	stackcount -KfP -o calls t:raw_syscalls:sys_enter -- "$CALLS" run getppids 107
	[ "$(sum calls)" -eq $((one + 100)) ]
}

# all_whole FILE: there are stacks, folded, and none ends before its time.
all_whole() {
	[ -s "$1" ]
	refute grep -F '[unwind stopped' "$1"
}

# The tables of all that it is linked with are there when it begins: of a library that only its
# RUNPATH, LD_LIBRARY_PATH or LD_PRELOAD leads to, too, and of the interpreter of a script.
# bats test_tags=between
@test "stacks of a command are whole, from its first call on" {
	stackcount -Uf -o calls.folded --stats "$CALLS:counted" -- "$CALLS" run names 5 2>err
	all_whole calls.folded
	for command in 'ls -l /' date 'perl -e 1'; do
		stackcount -Uf -o out.folded c:malloc -- $command >out 2>err
		cat err
		all_whole out.folded
		refute grep 'not complete' err
	done
	mkdir elsewhere
	cp "${CALLS%/*}/libcounted.so" elsewhere/libmoved.so
	printf '#!%s\n1;\n' "$(command -v perl)" >script
	chmod 755 script
	LD_LIBRARY_PATH=$PWD/elsewhere LD_PRELOAD="$PWD/elsewhere/libmoved.so nowhere.so" stackcount -Uf \
		-o out.folded c:malloc -- ./script 2>err
	all_whole out.folded
}

# A static program does not care for LD_PRELOAD, so only the tracer hangs there.
@test "a command waits for its tables for a second, and no longer, which is said" {
	[ -x /bin/busybox ] || skip "busybox is not installed"
	start_silent_fs "$SPIN"
	kill -USR1 "$server"
	within 20 env LD_PRELOAD="$PWD/silent/program" "$TRACEKIT" profile -o out.folded -- /bin/busybox echo ran >out 2>err || status=$?
	end_silent_fs
	cat err
	[ "${status:-0}" -eq 0 ]
	[ "$(<out)" = ran ]
	grep -q '^profile: the command runs after a second of loading its call-frame information, though not all is there: its first stacks may not be complete$' err
}

@test "in a PID namespace" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	unshare --fork --pid --mount-proc "$TRACEKIT" stackcount -f "$CALLS:counted" -- "$CALLS" run family 10 2>out
	[ "$(sum out)" -eq 80 ]
}

@test "the status is the command's, and nothing is left behind" {
	profile -o out.folded -- true
	try profile -o out.folded -- sh -c 'exit 7'
	[ "$status" -eq 7 ]
	try profile -o out.folded -- sh -c 'kill -9 $$' 2>err
	[ "$status" -eq 137 ]
	try "$TRACEKIT" stacksnoop -n 1 t:sched:sched_process_exec -- sh -c 'exit 3' 2>err
	[ "$status" -eq 3 ]
	for _ in {1..5}; do
		profile -o out.folded -- true
	done
	nothing_left
}

# bats test_tags=same
@test "the command has its own stdin and stdout; the report goes to stderr, or to -o" {
	echo text | profile -F 999 -- cat >out 2>err
	[ "$(<out)" = text ]
	grep -q '^Sampling at 999 Hertz of cat and what it starts by user + kernel stack' err
	stackcount -f "$CALLS:counted" -- "$CALLS" run names 5 >out 2>err
	[ ! -s out ]
	[ "$(sum err)" -eq 15 ]
	stackcount -f -o file.folded "$CALLS:counted" -- "$CALLS" run names 5 >out 2>err
	[ ! -s out ]
	refute grep -Ev 'not complete|^stackcount: file.folded: 15 events, ' err
	[ "$(sum file.folded)" -eq 15 ]
	stackcount -f -o - "$CALLS:counted" -- "$CALLS" run names 5 >out 2>err
	[ "$(sum out)" -eq 15 ]
	"$TRACEKIT" stacksnoop --json -U "$CALLS:counted" -- "$CALLS" run names 5 >out 2>err
	[ ! -s out ]
	[ "$(grep -c '^{' err)" -eq 15 ]
}

# bats test_tags=same
@test "signals, their mask and the limits are those that we were started with" {
	show='grep -h "^Sig[BIC]\|open files" /proc/self/status /proc/self/limits; umask; ulimit -Hn'
	for change in 'trap "" PIPE CHLD' 'trap "" USR1 INT' 'ulimit -Sn 100' 'exec 0<&-'; do
		(eval "$change"; sh -c "$show") >before
		(eval "$change"; "$TRACEKIT" profile -q -o out.folded -- sh -c "$show") >after
		diff before after
	done
	# Some shells unblock signals.
	env --block-signal=TERM,INT,USR1 grep ^SigBlk /proc/self/status >before
	grep -q '4202$' before
	env --block-signal=TERM,INT,USR1 "$TRACEKIT" profile -q -o out.folded -- \
		grep ^SigBlk /proc/self/status >after
	diff before after
}

# bats test_tags=same
@test "a duration ends the trace, and we wait for the command" {
	profile -o out.folded 1 -- sh -c '[ -e out.folded ] && exit 1; until [ -e out.folded ]; do sleep 0.02; done' || status=$?
	[ "${status:-0}" -eq 0 ]
}

@test "--linger: until the last of what a command has started has ended" {
	# The status is still the command's.
	daemon='(trap "" HUP; read -r line <go; exec "$0" run names 5) >/dev/null 2>&1 & exit 3'
	mkfifo go
	out=report start_tracer stackcount -f -o calls.folded --linger "$CALLS:counted" -- sh -c "$daemon" "$CALLS"
	sleep 0.5
	kill -0 "$tracer"
	echo >go
	try wait "$tracer"
	[ "$status" -eq 3 ]
	[ "$(sum calls.folded)" -eq 15 ]
	try stackcount -f -o calls.folded "$CALLS:counted" -- sh -c "$daemon" "$CALLS"
	[ "$status" -eq 3 ]
	[ ! -s calls.folded ]
	echo >go
}

# bats test_tags=same
@test "a signal to us alone goes to the command, the second one ends the trace" {
	out=report start_tracer stackcount -f "$CALLS:counted" -- "$CALLS" names 10
	wait_for eval '[ -n "$(pgrep -P "$tracer" calls)" ]'
	kill -TERM "$tracer"
	try wait "$tracer"
	[ "$status" -eq 143 ]
	out=report start_tracer profile -f -F 499 -- sh -c 'trap "echo got it >said; exit 5" TERM; echo $$ >ready; while :; do :; done'
	wait_for [ -s ready ]
	spend "$(<ready)" 10
	kill -TERM "$tracer"
	try wait "$tracer"
	[ "$status" -eq 5 ]
	[ "$(<said)" = 'got it' ]
	grep -q '^sh;' err
}

# bats test_tags=same
@test "Ctrl-C is the command's, and ends us with it" {
	command -v script >/dev/null || skip "script is not installed"
	# exec: the shell that script starts, $SHELL, gets Ctrl-C as well, and dash then dies of it.
	cat >traps <<-'END'
		trap 'echo caught' INT
		echo ready
		read -r line
		echo "read $line"
		exit 4
	END
	(wait_for grep -q ready said; printf '\003'; wait_for grep -q caught said; echo again) |
		TERM=xterm script -qefc "exec $TRACEKIT profile -f -- bash traps" said >/dev/null || status=$?
	[ "$status" -eq 4 ]
	grep -q 'read again' said
	: >said
	(wait_for grep -q ready said; printf '\003') |
		TERM=xterm script -qefc "exec $TRACEKIT profile -o out.folded -- sh -c 'echo ready; exec sleep 60'" said >/dev/null || status=$?
	[ "$status" -eq 130 ]
	[ -e out.folded ]
	# A script ends as well, since we die of the same signal.
	: >said
	(wait_for grep -q ready said; printf '\003') |
		TERM=xterm script -qefc "exec bash -c '$TRACEKIT profile -o out.folded -- sh -c \"echo ready; exec sleep 60\"; echo went on'" said >/dev/null || status=$?
	[ "$status" -eq 130 ]
	refute grep -q '^went on' said
}

# as_user_by_sudo COMMAND...: as sudo runs it for nobody, who has the group daemon as well.
as_user_by_sudo() {
	setpriv --reuid nobody --regid nogroup --groups nogroup,daemon --inh-caps=+setuid,+setgid \
		--ambient-caps=+setuid,+setgid sh -c 'setpriv --reuid 0 --regid 0 --clear-groups --inh-caps=-all \
		env SUDO_UID=65534 SUDO_GID=65534 HOME=/root USER=root LOGNAME=root "$@"; exit $?' - "$@"
}

# bats test_tags=same
@test "under sudo the command is the user's, with all groups" {
	chmod 777 .
	try as_user_by_sudo "$TRACEKIT" profile -o out.folded -- sh -c 'id -u; id -G; echo "$USER $LOGNAME $HOME"; grep CapEff /proc/self/status' >out
	[ "$status" -eq 0 ]
	diff out - <<-END
		65534
		65534 1
		nobody nobody $(getent passwd nobody | cut -d: -f6)
		CapEff:	0000000000000000
	END
	try as_user_by_sudo "$TRACEKIT" profile -o out.folded --as-root -- id -u >out
	[ "$(<out)" = 0 ]
}

# bats test_tags=same
@test "a program that cannot be run: found out before anything is loaded" {
	try setpriv --reuid 65534 --clear-groups "$TRACEKIT" profile -- nowhere/at/all 2>err
	[ "$status" -eq 127 ]
	diff err <(echo "profile: cannot run 'nowhere/at/all': No such file or directory")
	touch text
	try setpriv --reuid 65534 --clear-groups "$TRACEKIT" profile -- ./text 2>err
	[ "$status" -eq 126 ]
	diff err <(echo "profile: cannot run './text': Permission denied")
	printf '#!/nowhere\n' >script
	chmod 755 script
	try profile -o out.folded -- ./script 2>err
	[ "$status" -eq 127 ]
	# Without a first line that says so, a shell runs it, as elsewhere.
	echo 'exit 6' >script
	try profile -o out.folded -- ./script
	[ "$status" -eq 6 ]
}

# bats test_tags=same
@test "a signal before the command begins: it does not run, and the status says so" {
	for delay in 0.000 0.005 0.010 0.020; do
		status=0
		"$TRACEKIT" profile -o out.folded -- sh -c 'echo ran >>ran; sleep 60' 2>err &
		tracer=$!
		sleep "$delay"
		kill -TERM "$tracer"
		wait "$tracer" || status=$?
		[ "$status" -eq 143 ]
	done
	nothing_left
}

# bats test_tags=same
@test "a trace that cannot begin runs nothing" {
	try stackcount "$CALLS:nothing" -- touch ran 2>err
	[ "$status" -eq 1 ]
	[ ! -e ran ]
	try profile --unwind-memory 1M -o none/out.folded -- touch ran 2>err
	[ "$status" -eq 1 ]
	[ ! -e ran ]
	nothing_left
}
