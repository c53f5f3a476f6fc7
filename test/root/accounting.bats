#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# seen = counted + filtered + lost, whatever happens.

load helpers
load ../refute

# Start a spinning program for each CPU, each with thousands of stacks.
load_all_cpus() {
	local cpu
	for cpu in $(seq "$(nproc)"); do
		start_busy "$SPIN" paths
	done
}

# balanced FILE: the --stats line adds up, and so do the printed counts.
balanced() {
	local seen counted filtered lost
	cat err
	[ "$(grep -c ' seen = ' err)" -eq 1 ]
	seen=$(stat_of seen err)
	counted=$(stat_of counted err)
	filtered=$(stat_of filtered err)
	lost=$(stat_of lost err)
	[ "$seen" -gt 0 ]
	[ "$seen" -eq $((counted + filtered + lost)) ]
	[ "$counted" -eq "$(sum "$1")" ]
}

@test "nothing is lost with the default tables" {
	load_all_cpus
	profile -f --stats -F 999 0.5 >out 2>err
	balanced out
	[ "$(stat_of lost err)" -eq 0 ]
	refute grep -q WARNING err
	# All CPUs were busy: the kernel has hardly a reason to withhold a sample. An emulated
	# CPU on a busy machine is too slow for most.
	[ "$(stat_of seen err)" -ge $((999 * $(nproc) * 75 / 1000)) ]
}

@test "a full stack table: what does not fit is counted and said" {
	load_all_cpus
	profile -f --stats -F 4999 --stack-storage-size 8 0.5 >out 2>err
	balanced out
	lost=$(stat_of lost err)
	[ "$lost" -gt 0 ]
	grep -Eq "^WARNING: $lost of $(stat_of seen err) events are not shown: [0-9]+ no room for their stack \(--stack-storage-size\)" err
}

@test "a full key table: what does not fit is counted and said" {
	load_all_cpus
	profile -f --stats -F 4999 --hash-storage-size 8 0.5 >out 2>err
	balanced out
	[ "$(wc -l <out)" -le 8 ]
	lost=$(stat_of lost err)
	[ "$lost" -gt 0 ]
	grep -Fxq "WARNING: $lost of $(stat_of seen err) events are not shown: $lost no room for their key (--hash-storage-size)" err
}

@test "under full load, at the highest frequency" {
	load_all_cpus
	profile -f --stats -F 20000 0.5 >out 2>err
	balanced out
}

@test "what -p leaves out is filtered" {
	load_all_cpus
	start "$SPIN" paths # two where there is one CPU
	profile -f --stats -p "$pid" -F 999 0.5 >out 2>err
	balanced out
	[ "$(stat_of filtered err)" -gt 0 ]
	[ "$(stat_of counted err)" -gt 0 ]
}

@test "what the kernel withholds is counted: with what was seen it is what was due" {
	# A sample every 10 us on each CPU is more than the kernel delivers.
	load_all_cpus
	timed profile -f --stats -c 10000 1 >out 2>err
	balanced out
	missed=$(stat_of 'missed by the kernel' err)
	[ "$missed" -gt 0 ]
	due=$((100000 * $(nproc)))
	[ $(($(stat_of seen err) + missed)) -ge $((due * 95 / 100)) ]
	# The second may have been longer on a busy machine.
	[ $(($(stat_of seen err) + missed)) -le $((due * took / 100)) ]
}

@test "distinct stacks are not merged" {
	local distinct=0 frequency
	# 4,096 paths: sampled often enough, there are as many distinct lines. A path can take
	# as long as there is between two samples, or half of that: not at all frequencies. A busy
	# machine needs more of them.
	load_all_cpus
	: >out
	for frequency in 9999 7919 8861 9473 7253 8209; do
		profile -f -U -p "$pid" -F "$frequency" 2 >>out
		distinct=$(grep -oE ';turn(;(left|right);turn)+ ' out | awk -F';' 'NF == 26' | sort -u | wc -l)
		echo "$distinct paths"
		[ "$distinct" -lt 3500 ] || break
	done
	[ "$distinct" -le 4096 ]
	[ "$distinct" -ge 3500 ] || {
		[ "$(sum out)" -lt 20000 ]
		skip "a CPU too slow for so many samples"
	}
}

@test "without --stats and losses stderr is empty" {
	spin names
	profile -p "$pid" 0.2 >out 2>err
	says_nothing
}
