# SPDX-License-Identifier: GPL-2.0-or-later
# The tests of doctor share this.
# shellcheck shell=bash

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
