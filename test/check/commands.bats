#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The command lines of README, pages and docs, and those of help: none is a wrong usage. They are run
# without privileges, so that they end as soon as they are understood.
# bats file_tags=build

load ../refute

# Stands in for the program where a command line names it, so that each call is judged, also one in
# a pipe: called has them all, wrong those that were a wrong usage.
make_judge() {
	local name
	cat >judge <<-'END'
		#!/bin/bash
		name=${0##*/} errors=$JUDGED/errors.$$ status=0
		(exec -a "$name" "$TRACEKIT" "$@" 2>"$errors") || status=$?
		cat "$errors" >&2
		echo "$name $*" >>"$JUDGED/called"
		case $status in
		2) grep -q "; see '.*--help'\|TRACEKIT_DEBUG" "$errors" ;;
		127) grep -q 'is not an applet' "$errors" ;;
		*) false ;;
		esac && echo "$name $*: $(head -n 1 "$errors")" >>"$JUDGED/wrong"
		exit "$status"
	END
	chmod +x judge
	for name in tracekit $("$TRACEKIT" --list | cut -d ' ' -f 1); do
		ln -s ../judge "bin/$name"
	done
	# What the examples call besides, and is not to do anything.
	ln -s "$(command -v true)" bin/make
	ln -s "$(command -v true)" bin/perf
}

setup_file() {
	export JUDGED=$BATS_FILE_TMPDIR TRACEKIT
	cd "$JUDGED"
	mkdir bin
	make_judge
	export PATH=$JUDGED/bin:$PATH
	# Examples have PIDs of two processes.
	sleep infinity 3>&- &
	export PROCESS=$!
	sleep infinity 3>&- &
	export OTHER_PROCESS=$!
}

teardown_file() {
	kill "$PROCESS" "$OTHER_PROCESS"
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	# Some write to the files of the user's shell.
	export HOME=$BATS_TEST_TMPDIR
	mkdir -p .config/fish/completions bin spool
	echo 'main;work 1' | tee before.folded after.folded >out.folded
}

unprivileged() {
	if [ "$EUID" = 0 ]; then
		timeout 20 setpriv --bounding-set=-all --inh-caps=-all "$@"
	else
		timeout 20 "$@"
	fi
}

# Each line on stdin is run, and calls the program. There are at least $1 of them.
runs_all() {
	local line number=0 calls=0 before
	: >"$JUDGED/called"
	: >"$JUDGED/wrong"
	while IFS= read -r line; do
		number=$((number + 1))
		before=$calls
		unprivileged bash -c "$line" </dev/null >/dev/null 2>&1 || true
		calls=$(wc -l <"$JUDGED/called")
		[ "$calls" -gt "$before" ] || echo "$line: calls nothing" >>"$JUDGED/wrong"
	done
	cat "$JUDGED/wrong"
	echo "$number lines, $calls calls"
	[ "$number" -ge "$1" ] && [ ! -s "$JUDGED/wrong" ]
}

# What stands on a line of its own, indented or between fences, in the document $1.
code_of() {
	awk '/^ *```/ { fenced = !fenced; next } fenced || sub(/^    /, "")' "$1"
}

# What stands between backquotes in the text of the document $1, and is more than a name.
quoted_in() {
	awk '/^ *```/ { fenced = !fenced; next } !fenced && !/^    /' "$1" | grep -o '`[^`]* [^`]*`' | tr -d '`'
}

# The examples of a page, which have a prompt.
examples_of() {
	sed -n 's/^\.Dl //p; /^\.Bd/,/^\.Ed/p' "$1" | sed "s/\\\\(aq/'/g; s/\\\\e/\\\\/g" | join_lines | grep '^[#$] '
}

# Lines that end with a backslash go on.
join_lines() {
	sed -e ':again' -e '/\\$/ { N; s/\\\n *//; b again' -e '}'
}

# Of lines on stdin the commands of ours, as they are typed in a shell, without a prompt, a comment, and
# what runs them: podman, gdb, systemd, Kubernetes.
ours() {
	local name='(tracekit|profile|offcputime|stackcount|stacksnoop|flamegraph|doctor)'
	join_lines | sed -E "
		s/^[#$] //
		s/ +#.*//
		/^ExecStart=/ { s///; s/%%/%/g }
		/^ *args: / { s/^ *args: \[(.*)\]$/tracekit \1/; s/,//g }
		s/^podman run .* (tracekit )/\1/
		s/^gdb --args //
		s/^echo 'source <\((.*)\)'/\1/
		s#^[^ ]*/tracekit #tracekit #" |
		grep -E "(^|[|] )([A-Z_]+=[^ ]* )*$name( |$)"
}

commands_of() {
	{
		code_of "$1"
		quoted_in "$1"
	} | ours
}

# A duration is a second: a short number at the end, or of an option that is one. Then stand-ins for
# PIDs, files and other places.
stand_in() {
	sed -E "
		s/( [^- ][^ ]*| -[^- ][^ ]*) [0-9]{1,3}( (\||>|2>).*)?$/\1 1\2/
		s/(-p )[0-9]+,[0-9]+/\1PID,$OTHER_PROCESS/
		s/(-[pL] |debug (walk|name) )[0-9]+/\1PID/
		s/\bPID\b/$PROCESS/g
		s#\bFILE\b#$TRACEKIT#
		s/ \[ADDRESS\]//
		s/\bADDRESS\b/1000/
		s/\bCOMMAND\b/make/
		s/\bSHELL\b/bash/
		s#/usr/local/bin#bin#
		s#(/var)?/spool(/tracekit)?/#spool/#
		s/( -[Di] \"?)[0-9.]+/\11/"
}

@test "README" {
	runs_all 20 < <(commands_of "$SOURCE/README.md" | stand_in)
}

@test "the pages" {
	local page number lines=0
	for page in "$SOURCE"/docs/*.8; do
		number=$(examples_of "$page" | ours | tee -a lines | wc -l)
		echo "${page##*/}: $number"
		[ "$number" -ge 3 ]
	done
	runs_all 60 < <(stand_in <lines)
}

@test "help" {
	local applet
	for applet in $("$TRACEKIT" --list | cut -d ' ' -f 1); do
		"$TRACEKIT" "$applet" --help | sed -n '/^examples:$/,$s/^    \([a-z].*\)$/\1/p'
	done >lines
	runs_all 50 < <(ours <lines | stand_in)
}

# reads_document NAME NUMBER: so many command lines at least.
reads_document() {
	commands_of "$SOURCE/docs/$1" | stand_in >lines
	cat lines
	runs_all "$2" <lines
}

@test "docs/fleet.md: the shell, the unit of systemd, and what the text names" {
	reads_document fleet.md 4
	grep -Fxq "tracekit profile -i 1 -F 19 -q -o 'spool/%t.pb.gz' --spool-max 100M --labels none --max-samples 16000" lines
	grep -Fxq 'tracekit profile -i 1 -F 19 -q -o spool/%t.pb.gz --spool-max 100M --labels none --max-samples 16000' lines
}

# The capabilities of a list on stdin, sorted, without their prefix.
capabilities() {
	tr -s ', ' '\n' | sed 's/^CAP_//' | sort
}

@test "docs/fleet.md: systemd has nothing to say of the unit; its capabilities are those of docs/containers.md" {
	local sets
	code_of "$SOURCE/docs/fleet.md" | sed -n '/^\[Unit\]$/,/^WantedBy=/p' >tracekit.service
	mapfile -t sets < <(code_of "$SOURCE/docs/fleet.md" | sed -n 's/^CapabilityBoundingSet=//p')
	[ "${#sets[@]}" -eq 2 ]
	diff <(capabilities <<<"${sets[0]}") \
		<(sed -n 's/^ *add: \[\(.*\)\]$/\1/p' "$SOURCE/docs/containers.md" | capabilities)
	diff <(capabilities <<<"${sets[1]}") \
		<(sed -n 's/^| \(BPF, .*\) | `--security-opt.*/\1/p' "$SOURCE/docs/containers.md" | capabilities)
	command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed"
	sed -i "s#/usr/local/bin/tracekit#$TRACEKIT#" tracekit.service
	systemd-analyze verify ./tracekit.service >said 2>&1
	cat said
	[ ! -s said ]
}

@test "docs/containers.md: podman, and the DaemonSet" {
	reads_document containers.md 3
	grep -Fxq 'tracekit profile -f 1' lines
	grep -Fxq 'tracekit profile -i "1" -F "19" -q -o spool/%t.pb.gz --spool-max 100M --labels none --max-samples "16000"' lines
}

@test "docs/first-hour.md: commands for those who change tracekit" {
	reads_document first-hour.md 8
	grep -q '^TRACEKIT_DEBUG=' lines
	[ "$(grep -c '^tracekit debug ' lines)" -ge 7 ]
}

@test "all other documents" {
	local file
	for file in "$SOURCE"/CONTRIBUTING.md "$SOURCE"/docs/*.md; do
		case ${file##*/} in
		fleet.md | containers.md | first-hour.md) continue ;;
		esac
		commands_of "$file" || true
	done | stand_in >lines
	cat lines
	runs_all 15 <lines
}

@test "what is read of a document: continued lines, prompts, units, pods; no output, no comment" {
	cat >document.md <<-'END'
		    # profile -p 185,1042 30 | head -n 3     # two
		    [16306 tracer] tables: starts the loader
		    profile: 50 seen
		    tracekit profile -i 60 \
		        -o '/var/spool/tracekit/%t.svg'
		    name: tracekit
		    ExecStart=/usr/local/bin/tracekit profile -o /var/spool/tracekit/%%t.svg
		        args: [profile, -i, "60"]
		    podman run --rm --cap-drop=all \
		        --pid=host tracekit profile -f 10
	END
	diff <(code_of document.md | ours | stand_in) - <<-END
		profile -p $PROCESS,$OTHER_PROCESS 1 | head -n 3
		tracekit profile -i 1 -o 'spool/%t.svg'
		tracekit profile -o spool/%t.svg
		tracekit profile -i "1"
		tracekit profile -f 1
	END
}

@test "a wrong usage is found: in a pipe, of an applet that is none, of a variable" {
	refute runs_all 1 <<<'tracekit flamegraph -i 60 x'
	grep -Fxq "tracekit flamegraph -i 60 x: flamegraph: unknown option '-i'; see 'flamegraph --help'" "$JUDGED/wrong"
	refute runs_all 1 <<<'profile --nothing 2>&1 >/dev/null | head -n 1'
	refute runs_all 1 <<<'tracekit nothing'
	refute runs_all 1 <<<'TRACEKIT_DEBUG=nothing tracekit profile 1'
}

@test "it is found that nothing, or too little, is read; another failure is none" {
	refute runs_all 1 </dev/null
	refute runs_all 1 <<<make
	refute runs_all 2 <<<'tracekit --list'
	runs_all 1 <<<'tracekit --list'
	runs_all 1 <<<'tracekit flamegraph nothing'
}
