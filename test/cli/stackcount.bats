#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# stackcount's command line: errors are reported before anything happens.

load helpers
load ../refute

function_syntax="write FUNCTION or FILE:FUNCTION, as in vfs_read, c:malloc or /usr/bin/app:main"
tracepoint_syntax="write t:CATEGORY:EVENT, as in t:sched:sched_switch"
usdt_syntax="write u:FILE:PROBE or u:FILE:PROVIDER:PROBE, as in u:python3:gc__start"

@test "help lists every option, in long and short form, and ends with examples" {
	tracekit stackcount -h >out
	head -1 out | grep -q '^usage: stackcount \[-h\]'
	for option in '-h, --help' '-p, --pid PID\[,PID...\]' '-c, --cpu CPU' '-i, --interval INTERVAL' \
		'-D, --duration DURATION' '-T, --timestamp' '-r, --regexp' '-s, --offset' '-P, --perpid' \
		'-K, --kernel-stacks-only' '-U, --user-stacks-only' '-v, --verbose' '-d, --delimited' \
		'-f, --folded' '-l, --list' '    --debug' '    --no-demangle' '    --stats' \
		'    --hash-storage-size N' '    --stack-storage-size N'; do
		grep -Eq "^  $option(  |$)" out
	done
	sed '1,/^examples:$/d' out | grep -q '^    stackcount -p 185 c:malloc '
	tracekit stackcount --help | diff out -
	tracekit help stackcount | diff out -
}

@test "unknown options, short and long" {
	usage_error "stackcount: unknown option '-x'" tracekit stackcount -x
	usage_error "stackcount: unknown option '-F'" tracekit stackcount -F 9 vfs_read
	usage_error "stackcount: unknown option '-L'" tracekit stackcount -TL 9 vfs_read
	usage_error "stackcount: unknown option '--bogus=3'" tracekit stackcount --bogus=3
	usage_error "stackcount: unknown option '--inter' (did you mean '--interval'?)" tracekit stackcount --inter 9 vfs_read
}

@test "a flag takes no value" {
	usage_error "stackcount: --debug: takes no value" tracekit stackcount --debug=1 vfs_read
	usage_error "stackcount: -r: takes no value" tracekit stackcount --regexp=yes vfs_read
	usage_error "stackcount: -l: takes no value" tracekit stackcount --list=all vfs_read
}

@test "an option that lacks its value" {
	usage_error "stackcount: -c: needs a value, CPU" tracekit stackcount vfs_read -c
	usage_error "stackcount: -i: needs a value, INTERVAL" tracekit stackcount --interval
	usage_error "stackcount: -D: needs a value, DURATION" tracekit stackcount -TD
	usage_error "stackcount: -p: needs a value, PID[,PID...]" tracekit stackcount -p
}

@test "an option with a value is given once, a flag as often as one likes" {
	usage_error "stackcount: -i: given twice" tracekit stackcount -i 1 --interval 2 vfs_read
	usage_error "stackcount: -p: given twice" tracekit stackcount -p 1 -p 2 vfs_read
	usage_error "stackcount: -c: given twice" tracekit stackcount -c 0 -c 0 vfs_read
	usage_error "stackcount: 'x': too many arguments; to run a command, put -- before it" tracekit stackcount -ff -f vfs_read x
}

@test "one pattern" {
	usage_error "stackcount: needs a pattern" tracekit stackcount
	usage_error "stackcount: needs a pattern" tracekit stackcount -K
	usage_error "stackcount: needs a pattern" tracekit stackcount -l
	usage_error "stackcount: 'b': too many arguments; to run a command, put -- before it" tracekit stackcount a b
	usage_error "stackcount: 'c:malloc': too many arguments; more PIDs are given as -p 1,2" \
		tracekit stackcount -p 1 2 c:malloc
}

@test "CPUs" {
	for bad in -1 x 1,2 65536 ''; do
		usage_error "stackcount: -c: '$bad' is not a whole number from 0 to 65535" \
			tracekit stackcount --cpu="$bad" vfs_read
	done
}

@test "intervals and durations" {
	for bad in 0 0.0 -1 abc 1w .5 5. 1e3 '' 99999999999999999999; do
		usage_error "stackcount: -i: '$bad' is not a number of seconds above 0" \
			tracekit stackcount --interval="$bad" vfs_read
		usage_error "stackcount: -D: '$bad' is not a number of seconds above 0" \
			tracekit stackcount -D "$bad" vfs_read
	done
}

@test "lists of PIDs" {
	for bad in 0 -3 x 1,x 1,,2 ,1 1, '' 2147483648; do
		usage_error "stackcount: -p: '$bad' is not a PID or a list like 42,1042" \
			tracekit stackcount --pid="$bad" vfs_read
	done
}

@test "sizes of tables" {
	for bad in 0 -1 x 16777217; do
		for option in --stack-storage-size --hash-storage-size; do
			usage_error "stackcount: $option: '$bad' is not a whole number from 1 to 16777216" \
				tracekit stackcount $option "$bad" vfs_read
		done
	done
}

@test "what excludes each other, in any form" {
	message="stackcount: -K and -U exclude each other: leave both out for all stacks"
	usage_error "$message" tracekit stackcount -K -U vfs_read
	usage_error "$message" tracekit stackcount -UK vfs_read
	usage_error "$message" tracekit stackcount vfs_read --user-stacks-only --kernel-stacks-only
	message="stackcount: -T and -f exclude each other: folded output holds nothing but stacks"
	usage_error "$message" tracekit stackcount -T -f vfs_read
	usage_error "$message" tracekit stackcount -fTi 1 vfs_read
	usage_error "$message" tracekit stackcount --folded vfs_read --timestamp
}

@test "patterns with an empty part" {
	usage_error "stackcount: '': there is nothing to trace; $function_syntax" tracekit stackcount ''
	for pattern in p: p:: c: p:c: :; do
		usage_error "stackcount: '$pattern': FUNCTION is empty; $function_syntax" \
			tracekit stackcount "$pattern"
	done
	usage_error "stackcount: 't:sched:': EVENT is empty; $tracepoint_syntax" tracekit stackcount t:sched:
	usage_error "stackcount: 't::x': CATEGORY is empty; $tracepoint_syntax" tracekit stackcount t::x
	usage_error "stackcount: 'u:f:': PROBE is empty; $usdt_syntax" tracekit stackcount u:f:
	usage_error "stackcount: 'u:f:p:': PROBE is empty; $usdt_syntax" tracekit stackcount u:f:p:
	usage_error "stackcount: 'u::x': FILE is empty; $usdt_syntax" tracekit stackcount u::x
	usage_error "stackcount: 'u:f::x': PROVIDER is empty; $usdt_syntax" tracekit stackcount u:f::x
}

@test "patterns with too many parts" {
	usage_error "stackcount: 't:a:b:c': too many parts; $tracepoint_syntax" tracekit stackcount t:a:b:c
	usage_error "stackcount: 'u:a:b:c:d': too many parts; $usdt_syntax" tracekit stackcount u:a:b:c:d
}

@test "regular expressions that are none" {
	usage_error "stackcount: '(' is not a regular expression: Unmatched ( or \\(" tracekit stackcount -r '('
	usage_error "stackcount: '[ab' is not a regular expression: Unmatched [, [^, [:, [., or [=" \
		tracekit stackcount --regexp 'c:[ab'
}

@test "a wrong pattern is said before a process is looked for" {
	usage_error "stackcount: 'c:': FUNCTION is empty; $function_syntax" \
		tracekit stackcount -p 2147483647 c:
}

@test "a process that does not exist, before anything is attached" {
	says 1 err "stackcount: -p 2147483647: no such process; give the PID of a running one" \
		tracekit stackcount -p 2147483647 c:malloc
	says 1 err "stackcount: -p 2147483647: no such process; give the PID of a running one" \
		tracekit stackcount -p $$,2147483647 t:sched:sched_switch
}

@test "control characters in what was typed do not reach the terminal raw" {
	usage_error "stackcount: unknown option '--?[2J'" \
		tracekit stackcount "--$(printf '\033')[2J" vfs_read
	usage_error "stackcount: 't::?[2J': CATEGORY is empty; $tracepoint_syntax" \
		tracekit stackcount "t::$(printf '\033')[2J"
}

@test "its name is that of its link, whatever the path" {
	ln -s "$TRACEKIT" stackcount
	usage_error "stackcount: needs a pattern" ./stackcount
	usage_error "stackcount: needs a pattern" "$PWD/stackcount"
}

@test "-o and --format: what says the format" {
	usage_error "stackcount: -o: the end of 'out.xyz' says no format (.txt, .folded, .svg, .html, .pb.gz, .speedscope.json, .json); give --format" \
		tracekit stackcount vfs_read -o out.xyz
	usage_error "stackcount: -o: the end of 'folded' says no format (.txt, .folded, .svg, .html, .pb.gz, .speedscope.json, .json); give --format" \
		tracekit stackcount vfs_read -o folded
	usage_error "stackcount: --format: 'svgz' is none of: text, folded, svg, html, pprof, speedscope, json" \
		tracekit stackcount vfs_read --format svgz
	usage_error "stackcount: -f and --format text exclude each other" \
		tracekit stackcount vfs_read -f --format text -o out.folded
	usage_error "stackcount: -o: 'a%m.txt': behind % only n (number), t (time) and % have a meaning" \
		tracekit stackcount vfs_read -o a%m.txt
	usage_error "stackcount: -o: 'a%': behind % only n (number), t (time) and % have a meaning" \
		tracekit stackcount vfs_read -o a% --format text
	[ -z "$(ls | grep -v '^out$\|^err$')" ]
}

@test "-- needs a command, which excludes -p, -L and -l" {
	usage_error "stackcount: --: needs a COMMAND behind it" \
		tracekit stackcount vfs_read --
	usage_error "stackcount: needs a pattern" \
		tracekit stackcount -- vfs_read
	usage_error "stackcount: -p and a COMMAND exclude each other: it is traced with all that it starts" \
		tracekit stackcount -p 1 vfs_read -- true
	usage_error "stackcount: -l runs no COMMAND" tracekit stackcount -l vfs_read -- true
	usage_error "stackcount: --as-root is for a COMMAND" \
		tracekit stackcount --as-root vfs_read
	usage_error "profile: -L and a COMMAND exclude each other: it is traced with all that it starts" \
		tracekit profile -L 1 -- true
}

@test "--children says whose, --linger for whom" {
	usage_error "stackcount: --linger is for a COMMAND or --children: it says for whom" \
		tracekit stackcount --linger -p 1 vfs_read
	usage_error "stackcount: --children is for -p: it says whose" \
		tracekit stackcount --children vfs_read
	usage_error "stackcount: --children is for -p: it says whose" \
		tracekit stackcount --children --comm sh vfs_read
}

@test "-o with -i: each interval has a name, and -T is for text" {
	for name in out.txt out%%.txt; do
		usage_error "stackcount: -o: '$name': with -i each interval is a file of its own, so the name needs %n (number) or %t (time)" \
			tracekit stackcount -i 1 -o "$name" vfs_read
	done
	usage_error "stackcount: -i and --format svg: each interval is a file of its own; give -o FILE, with %n or %t in its name" \
		tracekit stackcount -i 1 --format svg vfs_read
	usage_error "stackcount: -T and --format exclude each other: only text has a line for the time" \
		tracekit stackcount -Ti 1 -o %n.folded vfs_read
	usage_error "stackcount: -l and -o exclude each other: the list goes to stdout" \
		tracekit stackcount -l -o list.txt vfs_read
}

@test "-o can be repeated; --spool-max is for names that tell reports apart" {
	usage_error "stackcount: -o: 'a.svg' is given twice" \
		tracekit stackcount -o a.svg -o a.json -o a.svg vfs_read
	usage_error "stackcount: -o: the end of 'b.png' says no format (.txt, .folded, .svg, .html, .pb.gz, .speedscope.json, .json); give --format" \
		tracekit stackcount -o a.svg -o b.png vfs_read
	usage_error "stackcount: -o: given more than 8 times" \
		tracekit stackcount -o{1,2,3,4,5,6,7,8,9}.svg vfs_read
	usage_error "stackcount: --merge is for --format speedscope alone" \
		tracekit stackcount --merge -o a.svg -o a.json vfs_read
	usage_error "stackcount: --labels is for --format pprof alone" \
		tracekit stackcount --labels none -o a.svg vfs_read
	usage_error "stackcount: --max-samples is for --format pprof alone" \
		tracekit stackcount --max-samples 16000 vfs_read
	usage_error "stackcount: --spool-max is for -o FILE" tracekit stackcount --spool-max 1M vfs_read
	usage_error "stackcount: --spool-max: 'a%%.svg' is one file; its name needs %n (number) or %t (time)" \
		tracekit stackcount --spool-max 1M -o a%%.svg vfs_read
	usage_error "stackcount: --spool-max: '%n/%t.svg': all reports are in one folder, whose name has no %" \
		tracekit stackcount --spool-max 1M -o %n/%t.svg vfs_read
}

@test "--shares is for text" {
	for format in folded json svg; do
		usage_error "stackcount: --shares is for text" tracekit stackcount --shares --format "$format" -o out vfs_read
	done
	usage_error "stackcount: --shares is for text" tracekit stackcount --shares -f vfs_read
}
