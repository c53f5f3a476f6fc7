#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# stacksnoop's command line: errors are reported before anything happens.

load helpers
load ../refute

function_syntax="write FUNCTION or FILE:FUNCTION, as in vfs_read, c:malloc or /usr/bin/app:main"
tracepoint_syntax="write t:CATEGORY:EVENT, as in t:sched:sched_switch"
usdt_syntax="write u:FILE:PROBE or u:FILE:PROVIDER:PROBE, as in u:python3:gc__start"

@test "help lists every option, in long and short form, and ends with examples" {
	tracekit stacksnoop -h >out
	head -1 out | grep -q '^usage: stacksnoop \[-h\]'
	for option in '-h, --help' '-p, --pid PID\[,PID...\]' '-n, --count N' '-D, --duration DURATION' \
		'-r, --regexp' '-s, --offset' '-K, --kernel-stacks-only' '-U, --user-stacks-only' \
		'-v, --verbose' '-d, --delimited' '-f, --folded' '-l, --list' '    --json' '    --buffer-size SIZE' \
		'    --debug' '    --no-demangle' '    --stats' '    --stack-storage-size N'; do
		grep -Eq "^  $option(  |$)" out
	done
	sed '1,/^examples:$/d' out | grep -q '^    stacksnoop -p 185 ext4_sync_fs '
	tracekit stacksnoop --help | diff out -
	tracekit help stacksnoop | diff out -
}

@test "options of tables, which it has not, are unknown" {
	for option in -P -T -i -c --perpid --interval; do
		usage_error "stacksnoop: unknown option '$option'" \
			tracekit stacksnoop $option 9 vfs_read
	done
	usage_error "stacksnoop: unknown option '--hash-storage-size' (did you mean '--stack-storage-size'?)" \
		tracekit stacksnoop --hash-storage-size 9 vfs_read
	tracekit stacksnoop --help >out
	refute grep -Eq -e '--(hash-storage-size|interval|perpid|timestamp)' out
}

@test "unknown options, short and long" {
	usage_error "stacksnoop: unknown option '-x'" tracekit stacksnoop -x
	usage_error "stacksnoop: unknown option '-F'" tracekit stacksnoop -vF 9 vfs_read
	usage_error "stacksnoop: unknown option '--bogus=3'" tracekit stacksnoop --bogus=3
	usage_error "stacksnoop: unknown option '--buffer' (did you mean '--buffer-size'?)" \
		tracekit stacksnoop --buffer 9 vfs_read
}

@test "a flag takes no value" {
	usage_error "stacksnoop: --json: takes no value" tracekit stacksnoop --json=1 vfs_read
	usage_error "stacksnoop: --debug: takes no value" tracekit stacksnoop --debug=1 vfs_read
	usage_error "stacksnoop: -r: takes no value" tracekit stacksnoop --regexp=yes vfs_read
	usage_error "stacksnoop: -l: takes no value" tracekit stacksnoop --list=all vfs_read
	usage_error "stacksnoop: --stats: takes no value" tracekit stacksnoop --stats= vfs_read
}

@test "an option that lacks its value" {
	usage_error "stacksnoop: -n: needs a value, N" tracekit stacksnoop vfs_read -n
	usage_error "stacksnoop: -n: needs a value, N" tracekit stacksnoop --count
	usage_error "stacksnoop: -D: needs a value, DURATION" tracekit stacksnoop -vD
	usage_error "stacksnoop: -p: needs a value, PID[,PID...]" tracekit stacksnoop -p
	usage_error "stacksnoop: --buffer-size: needs a value, SIZE" \
		tracekit stacksnoop vfs_read --buffer-size
}

@test "an option with a value is given once, a flag as often as one likes" {
	usage_error "stacksnoop: -n: given twice" tracekit stacksnoop -n 1 --count 2 vfs_read
	usage_error "stacksnoop: -D: given twice" tracekit stacksnoop -D 1 -D 1 vfs_read
	usage_error "stacksnoop: -p: given twice" tracekit stacksnoop -p 1 -p 2 vfs_read
	usage_error "stacksnoop: --buffer-size: given twice" \
		tracekit stacksnoop --buffer-size 1M --buffer-size=1M vfs_read
	usage_error "stacksnoop: 'x': too many arguments; to run a command, put -- before it" \
		tracekit stacksnoop -vv -v --json --json vfs_read x
}

@test "one pattern" {
	usage_error "stacksnoop: needs a pattern" tracekit stacksnoop
	usage_error "stacksnoop: needs a pattern" tracekit stacksnoop -v
	usage_error "stacksnoop: needs a pattern" tracekit stacksnoop -l
	usage_error "stacksnoop: 'b': too many arguments; to run a command, put -- before it" tracekit stacksnoop a b
}

@test "how many events" {
	for bad in 0 -1 x 1,2 1.5 1K '' 18446744073709551616; do
		usage_error "stacksnoop: -n: '$bad' is not a whole number from 1 to 18446744073709551615" \
			tracekit stacksnoop --count="$bad" vfs_read
	done
}

@test "durations" {
	for bad in 0 0.0 -1 abc 1w .5 5. 1e3 '' 99999999999999999999; do
		usage_error "stacksnoop: -D: '$bad' is not a number of seconds above 0" \
			tracekit stacksnoop --duration="$bad" vfs_read
	done
}

@test "sizes of the buffer" {
	for bad in 0 -1 x M 4k 4KiB 1T '4 M' '' 2G 1025M 18446744073709551616 17179869184G; do
		usage_error "stacksnoop: --buffer-size: '$bad' is not a size from 1 to 1G, in bytes, or K, M or G" \
			tracekit stacksnoop --buffer-size "$bad" vfs_read
	done
}

@test "how many stacks are remembered" {
	for bad in 0 -1 x 1K 16777217; do
		usage_error "stacksnoop: --stack-storage-size: '$bad' is not a whole number from 1 to 16777216" \
			tracekit stacksnoop --stack-storage-size "$bad" vfs_read
	done
}

@test "lists of PIDs" {
	for bad in 0 -3 x 1,x 1,,2 ,1 1, '' 2147483648; do
		usage_error "stacksnoop: -p: '$bad' is not a PID or a list like 42,1042" \
			tracekit stacksnoop --pid="$bad" vfs_read
	done
}

@test "-K and -U exclude each other, in any form" {
	for options in '-K -U' -UK '--user-stacks-only --kernel-stacks-only'; do
		# shellcheck disable=SC2086
		usage_error "stacksnoop: -K and -U exclude each other: write -d for all stacks" \
			tracekit stacksnoop $options vfs_read
	done
}

@test "--format, and the options that are shorter" {
	usage_error "stacksnoop: --format: 'xml' is none of: text, folded, json, perf" \
		tracekit stacksnoop --format xml vfs_read
	usage_error "stacksnoop: --json and --format perf exclude each other" \
		tracekit stacksnoop --json --format perf vfs_read
	usage_error "stacksnoop: -f and --format json exclude each other" \
		tracekit stacksnoop -f --format=json vfs_read
	says 0 out "$(tracekit stacksnoop --format folded -l c:malloc)" tracekit stacksnoop -f --format folded -l c:malloc
}

@test "--json and -f exclude each other, in any form" {
	message="stacksnoop: --json and -f exclude each other: a line is of one form"
	usage_error "$message" tracekit stacksnoop --json -f vfs_read
	usage_error "$message" tracekit stacksnoop -vf --json vfs_read
	usage_error "$message" tracekit stacksnoop vfs_read --folded --json
}

@test "--show-containers is for text" {
	for form in -f --json '--format perf'; do
		usage_error "stacksnoop: --show-containers is for text; JSON always has them" \
			tracekit stacksnoop --show-containers $form vfs_read
	done
}

@test "patterns with an empty part" {
	usage_error "stacksnoop: '': there is nothing to trace; $function_syntax" tracekit stacksnoop ''
	for pattern in p: p:: c: p:c: :; do
		usage_error "stacksnoop: '$pattern': FUNCTION is empty; $function_syntax" \
			tracekit stacksnoop "$pattern"
	done
	usage_error "stacksnoop: 't:sched:': EVENT is empty; $tracepoint_syntax" tracekit stacksnoop t:sched:
	usage_error "stacksnoop: 'u::x': FILE is empty; $usdt_syntax" tracekit stacksnoop u::x
}

@test "regular expressions that are none" {
	usage_error "stacksnoop: '(' is not a regular expression: Unmatched ( or \\(" tracekit stacksnoop -r '('
}

@test "a wrong pattern is said before a process is looked for" {
	usage_error "stacksnoop: 'c:': FUNCTION is empty; $function_syntax" \
		tracekit stacksnoop -p 2147483647 c:
}

@test "a process that does not exist, before anything is attached" {
	says 1 err "stacksnoop: -p 2147483647: no such process; give the PID of a running one" \
		tracekit stacksnoop -p 2147483647 c:malloc
	says 1 err "stacksnoop: -p 2147483647: no such process; give the PID of a running one" \
		tracekit stacksnoop --json -p $$,2147483647 t:sched:sched_switch
}

@test "-l prints what the pattern matches, as stackcount does" {
	tracekit stackcount -l c:malloc >counted
	[ -s counted ]
	says 0 out "$(cat counted)" tracekit stacksnoop -l c:malloc
	says 0 out "$(cat counted)" tracekit stacksnoop -rl 'c:^malloc$'
	says 0 out "$(cat counted)" tracekit stacksnoop --json --list c:malloc
}

@test "-l: nothing matches" {
	status=0
	tracekit stacksnoop -l c:no_such_function_at_all >out 2>err || status=$?
	[ "$status" -eq 1 ]
	[ ! -s out ]
	grep -q '^stacksnoop: .*no_such_function_at_all' err
	[ "$(wc -l <err)" -eq 1 ]
}

@test "output that cannot be written is an error" {
	says 1 err "stacksnoop: cannot write the output: No space left on device" \
		bash -c '"$0" stacksnoop -l c:malloc >/dev/full' "$TRACEKIT"
}

@test "control characters in what was typed do not reach the terminal raw" {
	usage_error "stacksnoop: unknown option '--?[2J'" \
		tracekit stacksnoop "--$(printf '\033')[2J" vfs_read
	usage_error "stacksnoop: --buffer-size: '?[2J' is not a size from 1 to 1G, in bytes, or K, M or G" \
		tracekit stacksnoop --buffer-size "$(printf '\033')[2J" vfs_read
}

@test "its name is that of its link, whatever the path" {
	ln -s "$TRACEKIT" stacksnoop
	usage_error "stacksnoop: needs a pattern" ./stacksnoop
	usage_error "stacksnoop: needs a pattern" "$PWD/stacksnoop"
}
