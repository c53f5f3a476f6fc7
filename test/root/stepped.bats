#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Is a stack right at each instruction? See stepped.c.

load helpers

teardown() {
	forget_return_probes
	end_started
}

# stepped MODE: of walked.c, once.
stepped() {
	[ -x "$BUILD/test/root/stepped" ] || skip "x86-64 only"
	needs_registers
	try "$BUILD/test/root/stepped" "$WALKED" "$1" once
	[ "$status" -ne 77 ] || skip "no walks here"
	[ "$status" -eq 0 ]
}

# bats test_tags=same
@test "functions that the dynamic linker looks up when they are called first; a library comes and goes" {
	stepped lazy
}

# bats test_tags=between
@test "return probes of others" {
	probe_returns returns_often returns_at_once returns_last
	stepped returns
}

# bats test_tags=same
@test "clone3() for a thread" {
	stepped threads
}

# bats test_tags=same
@test "posix_spawn()" {
	stepped spawn
}
