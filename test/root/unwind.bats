#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The verdict of the kernel's verifier on the programs that walk user stacks.

# bats file_tags=between
load helpers
load ../refute

# The verdict, asked for once for both cases, in $verified.
verified() {
	verified=$BATS_FILE_TMPDIR/verified
	[ -s "$verified" ] || "$BUILD/test/root/verified" >"$verified"
	echo "$(<"$verified")"
	# Two objects, with both ways to walk.
	[ "$(cut -d ' ' -f 1,2 "$verified" | sort -u | wc -l)" -eq 4 ]
}

@test "no program takes the verifier more than 40,000 instructions" {
	verified
	awk '$4 < 1 || $4 > 40000 { bad = 1; print } END { exit bad }' "$verified"
}

# See scratch.bpf.h.
@test "no function of a program that can be preempted has 64 bytes of stack" {
	verified
	grep -q ' probe_user_code ' "$verified"
	awk '/ probe_/ {
		n = split($5, stacks, "+")
		for (i = 1; i <= n; i++)
			if (stacks[i] > 48) { bad = 1; print }
		if (!n) bad = 1
	} END { exit bad }' "$verified"
}
