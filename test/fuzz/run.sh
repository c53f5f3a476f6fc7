#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh PROGRAM SECONDS RANDOM CORPUS WORK [GENERATOR...]: run a libFuzzer target, speak TAP.
#
# RANDOM is the seed of libFuzzer's random numbers: with the same one it tries the same inputs again,
# as many as the time allows. 0: others in each run.
# The inputs in CORPUS are copied to WORK: the source tree stays clean. GENERATORs write further ones
# into the directory that they are given. What libFuzzer finds stays in WORK/findings, and is tried
# first the next time: it fails until it is mended.
set -eu

program=$1 seconds=$2 random=$3 corpus=$4 work=$5
shift 5
name=$(basename "$program")

rm -rf "$work/corpus"
mkdir -p "$work/corpus" "$work/findings"
if [ -d "$corpus" ]; then
	cp "$corpus"/* "$work/corpus"
fi
for generator; do
	"$generator" "$work/corpus"
done
# Addresses lead it as well.
exactly=
if [ "$random" != 0 ] && setarch -R true 2>/dev/null; then
	exactly="setarch -R"
fi

echo 1..1
# It need not read again what only itself has written (reload).
if $exactly "$program" -max_total_time="$seconds" -seed="$random" -reload=0 -timeout=10 \
	-rss_limit_mb=2048 -artifact_prefix="$work/findings/" "$work/corpus" "$work/findings" \
	>"$work/log" 2>&1; then
	echo "ok 1 - $name found nothing in $seconds seconds"
else
	# Not the lines of its progress: they begin with how many inputs it has tried.
	grep -v '^#[0-9]' "$work/log" | tail -n 60 | sed 's/^/# /'
	echo "not ok 1 - $name found nothing in $seconds seconds"
	exit 1
fi
