#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run_bats.sh FILE: run the cases of a file of bats, speak TAP.
#
# TEST_TAGS: only those with this tag. TEST_CASES: only those whose names match this regular
# expression.
exec bats --tap ${TEST_TAGS:+--filter-tags "$TEST_TAGS"} ${TEST_CASES:+--filter "$TEST_CASES"} "$1"
