#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run_bats.sh FILE: run the cases of a file of bats, speak TAP. They are a session of their own, by
# which they know what their processes hold (no_programs_left in root/helpers.bash).
#
# TEST_TAGS: only those with this tag; with !TAG, only those without it. TEST_CASES: only those whose
# names match this regular expression. TEST_TIMING: how long each takes is behind its name.
exec setsid --wait bats --tap ${TEST_TAGS:+--filter-tags "$TEST_TAGS"} \
	${TEST_CASES:+--filter "$TEST_CASES"} ${TEST_TIMING:+--timing} "$1"
