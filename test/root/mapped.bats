#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Where an address lies, as a BPF program finds it (bpf/mapping.bpf.h), beside /proc/PID/maps.

load helpers

# mapped WHAT: 30,000 addresses; fewer where all is emulated.
mapped() {
	local number=30000
	! in_guest || number=3000
	try "$MAPPED" "$1" "$number"
	[ "$status" -ne 77 ] || skip "the kernel has no BTF"
	[ "$status" -eq 0 ]
}

# bats test_tags=between
@test "programs: at random, at the edges of mappings, and between them" {
	local program
	spin names
	mapped "$pid"
	for program in 'python3 -c "import time, ctypes, json; time.sleep(1000)"' 'perl -e "sleep 1000"'; do
		command -v "${program%% *}" >/dev/null || continue
		eval "start $program"
		# It maps what it needs, and sleeps.
		wait_for sleeps_at "$pid"
		mapped "$pid"
	done
}

# In nanosleep(), select() or the like, with a timer.
sleeps_at() {
	local stat
	stat=$(<"/proc/$1/stat")
	[[ ${stat##*) } == S* ]]
}

# bats test_tags=between
@test "a process with 3,000 mappings" {
	mapped many
}

# bats test_tags=between
@test "while threads map, unmap and split: never another file, and hardly ever none" {
	mapped changing
}
