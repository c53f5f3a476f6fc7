#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh PROGRAM SECONDS SEEDS WORK [GENERATOR...]: run a libFuzzer target, speak TAP.
#
# Seeds are copied to WORK: the source tree stays clean. GENERATORs write further seeds into the
# directory that they are given. What libFuzzer finds stays in WORK/findings, and is tried first the
# next time: it fails until it is mended.
set -eu

program=$1 seconds=$2 seeds=$3 work=$4
shift 4
name=$(basename "$program")

rm -rf "$work/corpus"
mkdir -p "$work/corpus" "$work/findings"
if [ -d "$seeds" ]; then
	cp "$seeds"/* "$work/corpus"
fi
for generator; do
	"$generator" "$work/corpus"
done

echo 1..1
if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
	-artifact_prefix="$work/findings/" "$work/corpus" "$work/findings" >"$work/log" 2>&1; then
	echo "ok 1 - $name found nothing in $seconds seconds"
else
	tail -n 60 "$work/log" | sed 's/^/# /'
	echo "not ok 1 - $name found nothing in $seconds seconds"
	exit 1
fi
