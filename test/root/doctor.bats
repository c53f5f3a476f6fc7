#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# doctor: what it says of this machine is what the applets then do.

load helpers
load ../refute

# What runs the program: nothing, or a command that takes privileges away.
prefix=()

# as_nobody [CAPABILITIES]: from now on as an ordinary user who has only these, and can come by no
# other programs of ours than those in this folder.
as_nobody() {
	local set=-all${1:+,$1}
	[ -e tracekit ] || install -m 755 "$TRACEKIT" "$SPIN" .
	chmod 777 .
	chmod a+x "$BATS_RUN_TMPDIR"
	TRACEKIT=$PWD/tracekit SPIN=$PWD/spin
	prefix=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "$set"
		--ambient-caps "$set" --bounding-set "$set")
	"${prefix[@]}" true || skip "cannot drop to these capabilities here"
}

# without CAPABILITY: from now on as root with all others.
without() {
	prefix=(setpriv --inh-caps "-$1" --bounding-set "-$1")
	"${prefix[@]}" true || skip "cannot drop capabilities here"
}

tracekit() {
	"${prefix[@]}" "$TRACEKIT" "$@"
}

# The report, in the file report.
examine() {
	try tracekit doctor --json "$@" >report 2>err
	cat err
	[ ! -s err ]
}

# answers KEY [ANSWER]: what the report says.
answers() {
	local line
	while IFS= read -r line; do
		[[ $line == '{"check":"'"$1"'",'*'"answer":"'"$2"'"'* ]] && return
	done <report
	return 1
}

why() {
	sed -n 's/^{"check":"'"$1"'",.*"why":"\(\([^"\\]\|\\.\)*\)".*/\1/p' report
}

# sees COMMAND...: this applet, for DURATION seconds, ends well and has seen something. A busy
# machine gets a second try.
sees() {
	local duration
	for duration in 0.1 2; do
		tracekit "${@/DURATION/$duration}" >out.folded 2>err || return
		! grep -q ' [1-9][0-9]*$' out.folded || return 0
	done
	return 1
}

# agrees KEY COMMAND...: the report says "yes" if the applet sees something, else "no".
agrees() {
	local key=$1 answer=no
	shift
	! sees "$@" || answer=yes
	answers "$key" "$answer" || {
		echo "$key: the report does not say $answer, as this does: $*"
		cat err
		grep "\"check\":\"$key\"" report
		return 1
	}
}

# PID runs spin paths.
agrees_in_all() {
	agrees samples profile -q -f -F 999 -p "$pid" DURATION
	agrees tracepoints stackcount -q -f -D DURATION t:sched:sched_switch
	agrees waits offcputime -q -f DURATION
	agrees kernel-functions stackcount -q -f -D DURATION schedule
	agrees user-code stackcount -q -f -D DURATION "$SPIN:turn"
	if answers tracepoints yes; then
		agrees command stackcount -q -f -o - t:sched:sched_process_exit -- true
	else
		agrees command profile -q -f -o - -F 999 -U -- bash -c 'for i in {1..20000}; do :; done'
	fi
	agrees perf-cycles profile -q -f --event cycles -p "$pid" DURATION
}

# verdict APPLET WORDS
verdict() {
	grep -Fxq "{\"applet\":\"$1\",\"verdict\":\"$2\"}" report
}

# bats test_tags=between
@test "as root: what it says is what the applets do" {
	spin paths
	examine
	agrees_in_all
	answers programs yes
	answers maps yes
	answers kallsyms yes
	answers raw-tracepoints yes
	answers CAP_BPF yes
	verdict profile works
	[ "$status" -le 1 ]
	[ "$status" -eq 1 ] || verdict stackcount works
	[ "$(grep -c '^{"check":' report)" -gt 35 ]
	# A line for each applet, and only what that one needs.
	examine profile
	[ "$status" -eq 0 ]
	[ "$(grep -c '^{"applet":' report)" -eq 1 ]
	refute grep -q '"kprobe-multi"' report
	nothing_left
}

@test "the text says the same, with what is lost and what helps" {
	command -v jq >/dev/null || skip "jq is not installed"
	# Someone else's process to look at, both times.
	start setpriv --reuid 65534 --clear-groups sleep 300
	examine
	jq -es 'length > 35' report >/dev/null
	tracekit doctor >text || true
	jq -r 'select(.check) | "  " + .answer + ": " + .text' report >expected
	sed -En 's/^  (yes|no|untried) +/  \1: /p' text | diff expected -
	jq -r 'select(.applet) | .applet + " " + .verdict' report >expected
	sed -n '/^$/q; s/  */ /; s/, without: .*//; p' text | diff expected -
	[ "$(grep -c '^  no ' text)" -eq "$(grep -c '^             lost: .' text)" ]
	[ "$(grep -c '^  no ' text)" -eq "$(grep -c '^             help: .' text)" ]
	[ "$(grep -c '^  [nu][no]' text)" -eq "$(grep -c '^             why:  .' text)" ]
}

@test "an ordinary user: nothing works, and it says what is missing" {
	as_nobody
	examine
	[ "$status" -eq 2 ]
	verdict profile 'does not work'
	verdict stackcount 'does not work'
	verdict stacksnoop 'does not work'
	answers samples no
	answers programs no
	answers CAP_PERFMON no
	[ "$(why programs)" = 'Operation not permitted: without CAP_BPF and CAP_PERFMON' ]
	answers user-namespace yes
}

@test "an ordinary user with capabilities: what it says is what the applets do" {
	as_nobody +bpf,+perfmon
	spin paths
	examine
	agrees_in_all
	answers other-users no
	[ "$(why other-users)" = 'Permission denied: without CAP_SYS_PTRACE' ]
	# Neither takes tracefs or addresses of the kernel.
	refute answers tracefs yes
	refute answers kallsyms yes
	# Before Linux 5.11 maps are locked memory, of which they may have little.
	! answers maps yes || ! answers btf yes || answers tracepoints yes
	! answers kprobe-multi yes || answers kernel-functions yes
	try tracekit stackcount 't:sched:*' 2>err
	[ "$status" -eq 1 ]
	grep -q '^stackcount: cannot list tracepoints: ' err
	as_nobody +bpf,+perfmon,+sys_ptrace,+dac_read_search,+syslog,+checkpoint_restore
	examine
	agrees_in_all
	answers other-users yes
	answers map-files yes
}

@test "root without one capability after the other: what it says is what the applets do" {
	local set capability
	local sets=(sys_admin bpf perfmon sys_ptrace dac_read_search syslog checkpoint_restore)
	# Without CAP_SYS_ADMIN the others count, and without all others that one.
	! in_guest || sets=("${sets[0]}" "${sets[*]:1}")
	spin paths
	for set in "${sets[@]}"; do
		echo "without $set"
		without "${set// /,-}"
		examine
		agrees_in_all
		for capability in $set; do
			answers "CAP_${capability^^}" no
		done
	done
}

@test "a user namespace: its privileges do not count" {
	unshare --user --map-root-user true || skip "cannot make a user namespace"
	prefix=(unshare --user --map-root-user)
	examine
	[ "$status" -eq 2 ]
	answers user-namespace no
	answers CAP_BPF no
	[[ $(why programs) == *'the privileges of a user namespace do not count' ]]
}

@test "a filter of system calls is told from missing privileges" {
	type -P python3 >/dev/null || skip "python3 is not installed"
	cat >filtered.py <<-'END'
		import ctypes, os, platform, struct, sys
		# Refuse the system call with EPERM, or kill, allow all others: load its number, compare, return.
		verdict = 0x00050001
		if sys.argv[1] == 'kill':
		    verdict = 0x80000000
		    del sys.argv[1]
		number = {'x86_64': 321, 'aarch64': 280}[platform.machine()]
		code = b''.join(struct.pack('HBBI', *line) for line in (
		    (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, verdict), (0x06, 0, 0, 0x7fff0000)))
		buffer = ctypes.create_string_buffer(code)
		program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 4, ctypes.addressof(buffer)))
		libc = ctypes.CDLL(None, use_errno=True)
		assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
		os.execv(sys.argv[1], sys.argv[1:])
	END
	prefix=(python3 filtered.py)
	examine
	[ "$status" -eq 2 ]
	answers system-calls no
	answers CAP_BPF yes
	[ "$(why programs)" = 'Operation not permitted: a filter of system calls refuses bpf()' ]
	grep -q '"check":"programs",.*"help":"a seccomp profile' report
	prefix+=(kill)
	examine
	[ "$status" -eq 2 ]
	[ "$(why system-calls)" = 'bpf() ends whoever calls it' ]
	[[ $(why samples) == 'it was ended by signal '* ]]
	[ "$(why programs)" = 'a filter of system calls ends whoever tries' ]
}

@test "less memory than maps take" {
	unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
	printf 'MemTotal: 99999 kB\nMemAvailable: 40960 kB\n' >meminfo
	prefix=(unshare --mount bash -c 'mount --bind meminfo /proc/meminfo && exec "$@"' -)
	examine
	[ "$(why maps)" = '40 MB of memory are free' ]
	grep -q '"check":"maps",.*"help":"' report
}

# bats test_tags=between
@test "kernel functions that are switched off are not attached to" {
	[ -e /proc/sys/kernel/ftrace_enabled ] || skip "this kernel's cannot be switched off"
	unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
	# Not in truth: others trace, and the kernel does not always recover from it.
	echo 0 >disabled
	prefix=(unshare --mount bash -c
		'mount --bind disabled /proc/sys/kernel/ftrace_enabled && exec "$@"' -)
	examine stackcount
	[ "$status" -eq 1 ]
	answers kernel-functions no
	[[ $(why kernel-functions) == *'kernel.ftrace_enabled is 0'* ]]
	[ "$(why kprobe)" = 'kernel.ftrace_enabled is 0' ]
	[ "$(why kprobe-multi)" = 'kernel.ftrace_enabled is 0' ]
	verdict stackcount 'works in part'
	try tracekit stackcount -D 1 __do_sys_getppid 2>err
	[ "$status" -eq 1 ]
	grep '^stackcount: cannot probe kernel functions: kernel.ftrace_enabled is 0; ' err
}
