#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line of doctor. What it finds is tested as root.

load helpers
load ../refute

@test "wrong usage" {
	usage_error "doctor: 'flamegraph': is not profile, stackcount, stacksnoop or offcputime" \
		tracekit doctor flamegraph
	usage_error "doctor: '': is not profile, stackcount, stacksnoop or offcputime" tracekit doctor ''
	usage_error "doctor: 'true': is not profile, stackcount, stacksnoop or offcputime" tracekit doctor -- true
	usage_error "doctor: 'profil': is not profile, stackcount, stacksnoop or offcputime (did you mean 'profile'?)" \
		tracekit doctor profil
}

@test "it works for anybody, and says of each applet whether it does" {
	tracekit doctor >out 2>err || status=$?
	[ ! -s err ]
	[[ ${status:-0} -le 2 ]]
	[ "$(sed -n '/^$/q; s/ .*//; p' out | tr '\n' ' ')" = 'profile stackcount stacksnoop offcputime ' ]
	tracekit doctor stacksnoop >out || true
	[ "$(sed -n '/^$/q; s/ .*//; p' out)" = stacksnoop ]
}

@test "a full disk" {
	tracekit doctor profile >/dev/full 2>err || status=$?
	[ "$status" -eq 1 ]
	diff err <(echo "doctor: cannot write the output: No space left on device")
}
