#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# docs/fleet.md: files of reports, and what those who collect them ask of a profile.

load helpers
load ../refute

# The profile of pprof in FILE, as text.
pprof_text() {
	zcat "$1" | protoc --proto_path="$SOURCE/core/format" --decode=perftools.profiles.Profile profile.proto
}

# The DaemonSet of docs/containers.md, with its command line as words; reports every half second,
# into the folder spool.
read_daemon() {
	read -ra daemon < <(sed -n 's/^ *args: \[\(.*\)\]$/\1/p' "$SOURCE/docs/containers.md" | tr -d '",')
	daemon=("${daemon[@]/#60/0.5}")
	daemon=("${daemon[@]/#\/spool/spool}")
	[ "${daemon[*]}" = "profile -i 0.5 -F 19 -q -o spool/%t.pb.gz --spool-max 100M --labels none --max-samples 16000" ]
}

# Processes that begin and end all the time, until the file churn has gone.
churn() {
	while [ -e churn ]; do
		: | grep -q x || true
	done
}

# What Parca, Pyroscope and the OpenTelemetry collector refuse: see docs/fleet.md.
accepted() {
	[ "$(zcat "$1" | wc -c)" -le $((4 * 1024 * 1024)) ]
	pprof_text "$1" >text
	[ "$(sed -n 's/^string_table: //p' text | head -1)" = '""' ]
	awk '
	/^[a-z_]+ \{/ { what = $1; keys = ""; samples += what == "sample" }
	/^  id: / && what != "mapping" && $2 != ++last[what] { print what, "has a hole at", $2; bad = 1 }
	/^    key: / { if (index(keys, " " $2 " ")) { print "a key with two values"; bad = 1 } keys = keys " " $2 " " }
	/^    str: / { print "a label of text"; bad = 1 }
	END { exit bad || samples > 16000 }' text
}

# The first number of all samples in the files.
samples_in() {
	local file
	for file in "$@"; do
		pprof_text "$file"
	done | awk '
	/^sample \{/ { in_sample = 1 }
	/^\}/ { in_sample = 0 }
	in_sample && /^  value: / { sum += $2; in_sample = 0 }
	END { print sum + 0 }'
}

resident() {
	sed -n 's/^VmRSS:\t *\([0-9]*\) kB/\1/p' "/proc/$tracer/status"
}

reports() {
	find spool -name '*.pb.gz' | wc -l
}

@test "the DaemonSet: ten intervals beside churn, each sample once, in what the engines take" {
	local first file
	command -v protoc >/dev/null || skip "protoc is not installed"
	read_daemon
	mkdir spool
	touch churn
	churn &
	churning=$!
	started+=("$churning")
	start_tracer "${daemon[@]}" --stats
	wait_for eval '[ "$(reports)" -ge 5 ]'
	first=$(resident)
	wait_for eval '[ "$(reports)" -ge 11 ]'
	echo "$first KB in memory after 5 reports, $(resident) KB after 11"
	# What it keeps of one interval goes with the next.
	[ "$(resident)" -le $((first + first / 4)) ]
	rm churn
	wait "$churning"
	stop_tracer
	[ ! -s out ]
	for file in spool/*; do
		accepted "$file"
	done
	[ "$(samples_in spool/*)" -eq "$(sed -En 's/.* seen = ([0-9]+) counted .*/\1/p' err | awk '{ n += $1 } END { print n }')" ]
	[ "$(samples_in spool/*)" -gt 0 ]
}

@test "--max-samples: the rest is [other], and no sum is lost" {
	command -v protoc >/dev/null || skip "protoc is not installed"
	start_tracer profile -F 499 -o few.pb.gz --max-samples 3 --stats 3
	ends_well
	[ "$(pprof_text few.pb.gz | grep -c '^sample {')" -eq 3 ]
	pprof_text few.pb.gz | grep -Fxq 'string_table: "[other]"'
	[ "$(samples_in few.pb.gz)" -eq "$(sed -En 's/.* seen = ([0-9]+) counted .*/\1/p' err)" ]
}
