#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# offcputime's command line: errors are reported before anything happens.

load helpers
load ../refute

@test "help lists every option, in long and short form" {
	tracekit offcputime -h >out
	for option in '-h, --help' '-p, --pid PID\[,PID...\]' '-t, --tid TID\[,TID...\]' \
		'-u, --user-threads-only' '-k, --kernel-threads-only' '-U, --user-stacks-only' \
		'-K, --kernel-stacks-only' '-d, --delimited' '-f, --folded' '-s, --offset' \
		'-m, --min-block-time MIN' '-M, --max-block-time MAX' '    --state STATE' \
		'    --count' '    --pending' '    --stack-storage-size N' '    --stats'; do
		grep -Eq "^  $option( |$)" out
	done
	# With -p the numbers in the output are those of threads, as bcc has it.
	grep -Fq "only threads of process 185, with their TIDs" out
}

@test "what exclude each other" {
	usage_error "offcputime: -u and -k exclude each other: leave both out for all threads" \
		tracekit offcputime -uk
	usage_error "offcputime: -K and -U exclude each other: leave both out for all stacks" \
		tracekit offcputime -KU
	usage_error "offcputime: -k and -U exclude each other: threads of the kernel have no user stacks" \
		tracekit offcputime -kU
	usage_error "offcputime: -p and -t exclude each other: a thread belongs to one process" \
		tracekit offcputime -p 1 -t 1
	for option in '-u -p 1' '-u -t 1' '-u -- true' '-k -p 1'; do
		# shellcheck disable=SC2086
		usage_error "offcputime: ${option:0:2} is for all processes, not for chosen ones" \
			tracekit offcputime $option
	done
	usage_error "offcputime: -t and a COMMAND exclude each other: it is traced with all that it starts" \
		tracekit offcputime -t 1 -- true
}

@test "lengths of waits, and states" {
	for bad in 0 -1 1.5 x '' 9223372036854776; do
		usage_error "offcputime: -m: '$bad' is not a whole number from 1 to 9223372036854775" \
			tracekit offcputime -m "$bad"
	done
	usage_error "offcputime: -M: '0' is not a whole number from 1 to 9223372036854775" \
		tracekit offcputime -M 0
	usage_error "offcputime: -m 11 is more than -M 10: no wait is both" \
		tracekit offcputime -m 11 -M 10
	for bad in -1 x d RS '' 4294967296; do
		usage_error "offcputime: --state: '$bad' is not a whole number from 0 to 4294967295, and none of: R, S, D, T, t" \
			tracekit offcputime --state "$bad"
	done
}

@test "a thread that does not exist" {
	[ "$EUID" = 0 ] || skip "needs root"
	says 1 err 'offcputime: -t 4194304: no such thread; give the TID of a running one' \
		tracekit offcputime -t 4194304 0.1
}

@test "--shares is for text" {
	for format in folded json svg; do
		usage_error "offcputime: --shares is for text" tracekit offcputime --shares --format "$format" -o out
	done
	usage_error "offcputime: --shares is for text" tracekit offcputime --shares -f
}
