#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# profile's command line: errors are reported before anything happens.

load helpers
load ../refute

@test "help lists every option, in long and short form" {
	tracekit profile -h >out
	for option in '-h, --help' '-F, --frequency FREQUENCY' '-p, --pid PID\[,PID...\]' \
		'-L, --tid TID\[,TID...\]' '-c, --count COUNT' '    --event EVENT' '-C, --cpu CPU' \
		'-I, --include-idle' '-a, --annotations' '-v, --verbose' '    --no-demangle' \
		'    --cgroup PATH' '    --cgroupmap PATH' '    --mntnsmap PATH' \
		'-U, --user-stacks-only' '-K, --kernel-stacks-only' '-d, --delimited' \
		'-f, --folded' '-s, --offset' '    --hash-storage-size N' \
		'    --stack-storage-size N' '    --stats'; do
		grep -Eq "^  $option  " out
	done
}

@test "unknown options, short and long" {
	usage_error "profile: unknown option '-x'" tracekit profile -x
	usage_error "profile: unknown option '-x'" tracekit profile -fx
	usage_error "profile: unknown option '--bogus'" tracekit profile --bogus
	usage_error "profile: unknown option '--bogus=3'" tracekit profile --bogus=3
}

@test "letters that other applets have for it" {
	usage_error "profile: unknown option '-t' (did you mean '-L'?)" tracekit profile -t 1
	usage_error "profile: unknown option '-D': the duration stands by itself, as in 'profile 5'" tracekit profile -D 5
	usage_error "offcputime: unknown option '-L' (did you mean '-t'?)" tracekit offcputime -L 1
	usage_error "stackcount: unknown option '-C' (did you mean '-c'?)" tracekit stackcount -C 0 vfs_read
	# An applet that has nothing of the kind.
	usage_error "flamegraph: unknown option '-L'" tracekit flamegraph -L 1
	usage_error "profile: unknown option '-n'" tracekit profile -n 5
}

@test "an output file is replaced, which help says" {
	tracekit profile --help | grep -q 'write to FILE, in place of what is there'
}

@test "long options are spelled out in full" {
	usage_error "profile: unknown option '--fold' (did you mean '--folded'?)" tracekit profile --fold
	usage_error "profile: unknown option '--freq' (did you mean '--frequency'?)" tracekit profile --freq 9
	usage_error "profile: unknown option '--freq=9' (did you mean '--frequency'?)" tracekit profile --freq=9
	# short for more than one
	usage_error "profile: unknown option '--f'" tracekit profile --f
}

@test "a flag takes no value" {
	usage_error "profile: -f: takes no value" tracekit profile --folded=yes
	usage_error "profile: --stats: takes no value" tracekit profile --stats=1
}

@test "an option that lacks its value" {
	usage_error "profile: -F: needs a value, FREQUENCY" tracekit profile -F
	usage_error "profile: -F: needs a value, FREQUENCY" tracekit profile --frequency
	usage_error "profile: -p: needs a value, PID[,PID...]" tracekit profile -p
	usage_error "profile: --hash-storage-size: needs a value, N" \
		tracekit profile --hash-storage-size
}

@test "an option with a value is given once, a flag as often as one likes" {
	usage_error "profile: -p: given twice" tracekit profile -p 1 -p 2
	usage_error "profile: -F: given twice" tracekit profile -F 1 --frequency 2
	usage_error "profile: 'x': too many arguments; to run a command, put -- before it" tracekit profile -ff -f 1 x
}

@test "frequencies" {
	for bad in 0 -1 +1 1.5 abc 9x '' ' 9' 100001 99999999999999999999; do
		usage_error "profile: -F: '$bad' is not a whole number from 1 to 100000" \
			tracekit profile -F "$bad"
		usage_error "profile: -F: '$bad' is not a whole number from 1 to 100000" \
			tracekit profile --frequency="$bad"
	done
}

@test "counts" {
	for bad in 0 -1 1.5 abc '' 1000000ns 9223372036854775808; do
		usage_error "profile: -c: '$bad' is not a whole number from 1 to 9223372036854775807" \
			tracekit profile -c "$bad"
	done
	usage_error "profile: -c 9999: of cpu-clock these are nanoseconds, and the kernel samples every 10000 at most" \
		tracekit profile --count 9999
}

@test "-F and -c together, -p and -L together" {
	usage_error "profile: -F and -c exclude each other: a sample is taken by time or by count" \
		tracekit profile -F 99 -c 1000000
	usage_error "profile: --cgroup and --container exclude each other: a container is a cgroup" \
		tracekit profile --cgroup / --container 1
	usage_error "profile: --container: the ID is empty" tracekit profile --container ''
	for format in -f '--format json' '--format svg' '--format pprof'; do
		usage_error "profile: --show-containers is for text; json and pprof always have them" \
			tracekit profile --show-containers $format -o out
	done
	usage_error "profile: -p and -L exclude each other: a thread belongs to one process" \
		tracekit profile -p $$ -L $$
}

@test "CPUs" {
	for bad in -1 x 1,2 65536 ''; do
		usage_error "profile: -C: '$bad' is not a whole number from 0 to 65535" \
			tracekit profile --cpu="$bad"
	done
	usage_error "profile: -C: given twice" tracekit profile -C 0 -C 0
}

@test "events" {
	for bad in x '' cpu-cloc cpu-clocks CYCLES; do
		usage_error "profile: --event: '$bad' is none of: cpu-clock, cycles" \
			tracekit profile --event "$bad"
	done
}

@test "paths" {
	for option in --cgroup --cgroupmap --mntnsmap; do
		usage_error "profile: $option: '' is not a path" tracekit profile $option ''
		usage_error "profile: $option: needs a value, PATH" tracekit profile $option
		usage_error "profile: $option: given twice" tracekit profile $option a $option b
	done
}

@test "lists of TIDs" {
	for bad in 0 -3 x 1,x 1,,2 ,1 1, ''; do
		usage_error "profile: -L: '$bad' is not a TID or a list like 42,1042" \
			tracekit profile --tid="$bad"
	done
}

@test "durations" {
	for bad in 0 0.0 1w .5 5. 1e3 '' 99999999999999999999; do
		usage_error "profile: duration: '$bad' is not a number of seconds above 0" \
			tracekit profile "$bad"
	done
	usage_error "profile: unknown option '-1'" tracekit profile -1
	for command in abc make './run 5' 'sleep 1'; do
		usage_error "profile: duration: '${command% *}' is not a number of seconds above 0; to run a command, put -- before it" \
			tracekit profile $command
	done
}

@test "lists of PIDs" {
	for bad in 0 -3 x 1,x 1,,2 ,1 1, '' 2147483648; do
		usage_error "profile: -p: '$bad' is not a PID or a list like 42,1042" \
			tracekit profile --pid="$bad"
	done
}

@test "sizes of tables" {
	for bad in 0 -1 x 16777217; do
		for option in --stack-storage-size --hash-storage-size; do
			usage_error "profile: $option: '$bad' is not a whole number from 1 to 16777216" \
				tracekit profile $option "$bad"
		done
	done
}

@test "-K and -U together, in any form" {
	message="profile: -K and -U exclude each other: leave both out for all stacks"
	usage_error "$message" tracekit profile -K -U
	usage_error "$message" tracekit profile -UK
	usage_error "$message" tracekit profile --user-stacks-only --kernel-stacks-only 5
}

@test "too many arguments" {
	usage_error "profile: '2': too many arguments; to run a command, put -- before it" tracekit profile 1 2
	usage_error "profile: '5': too many arguments; more PIDs are given as -p 1,2" tracekit profile -p 1 2 5
	usage_error "offcputime: '5': too many arguments; more TIDs are given as -t 1,2" tracekit offcputime -t 1 2 5
}

@test "a PID that does not exist, before anything is attached" {
	says 1 err "profile: -p 2147483647: no such process; give the PID of a running one" \
		tracekit profile -p 2147483647
	says 1 err "profile: -p 2147483647: no such process; give the PID of a running one" \
		tracekit profile -p $$,2147483647 1
}

@test "control characters in what was typed do not reach the terminal raw" {
	usage_error "profile: unknown option '--?[2J'" \
		tracekit profile "--$(printf '\033')[2J"
}

@test "-o and --format: what says the format" {
	usage_error "profile: -o: the end of 'out.xyz' says no format (.txt, .folded, .svg, .html, .pb.gz, .speedscope.json, .json); give --format" \
		tracekit profile -o out.xyz
	usage_error "profile: -o: the end of 'folded' says no format (.txt, .folded, .svg, .html, .pb.gz, .speedscope.json, .json); give --format" \
		tracekit profile -o folded
	usage_error "profile: --format: 'svgz' is none of: text, folded, svg, html, pprof, speedscope, json" \
		tracekit profile --format svgz
	usage_error "profile: -f and --format text exclude each other" \
		tracekit profile -f --format text -o out.folded
	usage_error "profile: -o: 'a%m.txt': behind % only n (number), t (time) and % have a meaning" \
		tracekit profile -o a%m.txt
	usage_error "profile: -o: 'a%': behind % only n (number), t (time) and % have a meaning" \
		tracekit profile -o a% --format text
	[ -z "$(ls | grep -v '^out$\|^err$')" ]
}

@test "-p with a second PID, which would be the duration" {
	sleep 100 3>&- &
	one=$!
	sleep 100 3>&- &
	two=$!
	wait_for_exec "$one" "$two"
	usage_error "profile: '$two' would be how many seconds the trace takes; more processes are given as -p $one,$two, and the duration as ${two}s" \
		tracekit profile -p "$one" "$two"
	usage_error "offcputime: '90000' would be how many seconds the trace takes; more processes are given as -p $one,90000, and the duration as 90000s" \
		tracekit offcputime -p "$one" 90000
	kill "$one" "$two"
}

# Until both are the program that the shell was to become.
wait_for_exec() {
	local pid
	for pid in "$@"; do
		until [ "$(readlink "/proc/$pid/exe")" = "$(realpath "$(command -v sleep)")" ]; do :; done
	done
}

@test "-p of a zombie, and of a thread of the kernel" {
	bash -c 'sleep 0 & echo "$!" >zombie; exec sleep 100' 3>&- &
	parent=$!
	until [ -s zombie ] && grep -q '^State:.Z' "/proc/$(<zombie)/status"; do :; done
	says 1 err "profile: -p $(<zombie): has ended, and only waits for its parent to notice (a zombie)" \
		tracekit profile -p "$(<zombie)" 1
	kill "$parent"
	[ "$(cat /proc/2/comm)" = kthreadd ] || skip "this PID namespace has no threads of the kernel"
	says 1 err "stackcount: process 2 is a thread of the kernel, and has no code of programs" \
		tracekit stackcount -p 2 c:malloc
}

@test "--shares is for text" {
	for format in folded json svg; do
		usage_error "profile: --shares is for text" tracekit profile --shares --format "$format" -o out
	done
	usage_error "profile: --shares is for text" tracekit profile --shares -f
}
