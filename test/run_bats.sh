#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run_bats.sh ENV FILE: run the cases of a file of bats with the variables of ENV (test/env in a build
# folder), speak TAP. They are a session of their own, by which they know what their processes hold
# (no_programs_left in root/helpers.bash).
#
# As root, they run where nothing that somebody has mounted by hand can help: neither tracefs,
# debugfs nor bpffs is mounted. A container that may not make a mount namespace is as it is.
#
# TEST_TAGS: only those with this tag; with !TAG, only those without it. TEST_CASES: only those whose
# names match this regular expression. TEST_TIMING: how long each takes is behind its name.
# shellcheck disable=SC1090
. "$1"
if [ -z "${UNMOUNTED-}" ] && unshare --mount true 2>/dev/null; then
	UNMOUNTED=1 exec unshare --mount --propagation private "$0" "$@"
fi
for place in ${UNMOUNTED:+kernel/debug/tracing kernel/tracing kernel/debug fs/bpf}; do
	while mountpoint -q "/sys/$place"; do
		umount -l "/sys/$place" || exit
	done
done
exec setsid --wait bats --tap ${TEST_TAGS:+--filter-tags "$TEST_TAGS"} \
	${TEST_CASES:+--filter "$TEST_CASES"} ${TEST_TIMING:+--timing} "$2"
