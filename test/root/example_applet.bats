#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The applet of docs/adding-an-applet.md: one file, and it counts.

load helpers
load ../refute

@test "an applet of one file counts every event by its stack" {
	mkfifo go
	start bash -c 'read -r <go; for i in {1..20}; do (exit); done'
	TRACEKIT=$EXAMPLE start_tracer forks -f -p "$pid"
	echo >go
	ends_well
	[ "$(folded out)" -eq 20 ]
	grep -q '^bash;.*kernel_clone' out
}

@test "its help and its complaints are those of all applets" {
	"$EXAMPLE" forks --help | grep -Fq 'usage: forks [-h] [-D DURATION] [-p PID[,PID...]]'
	try "$EXAMPLE" forks -U -K 2>err
	[ "$status" -eq 2 ]
	grep -q '^forks: .*leave both out' err
}
