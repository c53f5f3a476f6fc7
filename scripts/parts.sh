#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts/test: the parts of a test run, what they say meanwhile, and the results.
#
# $results has a line of TAP for each case:
#     ok - build root/profile: the name of the case
#     ok - 6.12 root/faults: the name of the case # skip why
# Behind the dash is where it ran: a build folder, or the kernel of a guest.

results=build/results
times=()

# The case in the output of test/cases for a program that was cut off.
comes_to_its_end="comes to its end"

begin() {
	SECONDS=0
	mkdir -p build
	: >"$results"
}

# clock SECONDS: as minutes and seconds.
clock() {
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# The present work of programs whose logs are newer than $1: each log's tests that have begun and
# not ended, or the last step of a build.
current() {
	find build* -maxdepth 1 -name '*.log' -newer "$1" -exec awk '
		FNR == 1 { say(); delete running; step = ""; name = FILENAME }
		$1 == "Start" { running[$2] = $3 }
		$2 == "Test" { delete running[substr($3, 2)] }
		/^\[ *[0-9]+%\] / { step = $0 }
		END { say() }
		function say(number, line) {
			sub(/\.log$/, "", name)
			line = step
			for (number in running)
				line = line " " running[number]
			if (line)
				print "    " name ": " line
		}' {} +
}

# Says each minute what the part is at. No program does the waiting: it would keep stdout open
# when the part has ended.
tell() {
	while ! read -rt 60 <> <(:) && kill -0 $$ 2>/dev/null; do
		say "$(clock "$SECONDS")"
		current build/part-begun || true
	done
}

# part TITLE COMMAND...
part() {
	local begun=$SECONDS status=0 teller
	say "$(clock "$begun") $1"
	touch build/part-begun
	tell &
	teller=$!
	"${@:2}" || status=$?
	kill "$teller" || true
	wait "$teller" 2>/dev/null || true
	times+=("$(printf '%6s  %s' "$(clock $((SECONDS - begun)))" "$1")")
	return "$status"
}

# choose NAME...: those of the tests in standard input that have such a name, or are in such a folder.
# A name can be a pattern of the shell. Fails, and says so, if there are none for one of them.
choose() {
	local tests test name found chosen=()
	mapfile -t tests
	for name; do
		found=${#chosen[@]}
		for test in "${tests[@]}"; do
			# shellcheck disable=SC2053 # patterns
			[[ $test != $name && $test != $name/* ]] || chosen+=("$test")
		done
		[ "${#chosen[@]}" -gt "$found" ] || {
			echo "scripts/test: no test is named '$name', and none is in a folder of that name" >&2
			return 1
		}
	done
	printf '%s\n' "${chosen[@]}" | sort -u
}

# What has to be built for the tests in standard input, each in a line: a test in C is a program of
# its own, and needs nothing else.
targets_of() {
	sed -E 's|^unit/|test_|; t unit; s/.*/all/; b; :unit; s|/|_|g' | sort -u
}

# How long a test program may take, in $limit.
set_limit() {
	measure_slowness
	limit=$((300 * TRACEKIT_SLOWNESS))
	say "Each test program may take $limit seconds"
}

# root_tester COMMAND...: as root, whom sudo does not tell how slow the machine is; and whose
# commands are not given to the user who called sudo.
root_tester() {
	as_root env -u SUDO_UID -u SUDO_GID TRACEKIT_SLOWNESS="$TRACEKIT_SLOWNESS" "$@"
}

# collect: take down the lines of TAP in standard input, and print what is not ok.
collect() {
	tee -a "$results" | { grep -v '^ok ' || true; }
}

# has_no_end PLACE PROGRAM: take down that PROGRAM, which builds or runs tests, failed.
has_no_end() {
	echo "not ok - $1 $2: $comes_to_its_end" | collect
}

# retries PLACE COMMAND...: shell commands that run its failed cases once more, a line for each
# program, by COMMAND if it is not fuzzing. Of programs that did not come to their end, of those in
# C, and where bats would not find a name, all cases.
retries() {
	local build=build program cases filter by
	[ ! -e "$1/CMakeCache.txt" ] || build=$1
	[[ $1 != arm64-* ]] || build="build-arm64-test"
	sed -n "s|^not ok - $1 \([^ ]*\): .*|\1|p" "$results" | sort -u | while read -r program; do
		cases=$(sed -n "s|^not ok - $1 $program: ||p" "$results")
		filter=
		grep -Fxq "$comes_to_its_end" <<<"$cases" || [[ $cases == *[\"\'\$\`\\]* ]] ||
			filter="^($(sed 's/[][\.*^$+?(){}|/]/\\&/g' <<<"$cases" | paste -sd '|'))\$"
		by=${*:2}
		[[ $program != fuzz/* ]] || by="env"
		printf '%s TEST_CASES=%q ctest --test-dir %q -V --timeout %d -R %q\n' \
			"$by" "$filter" "$build" "$((limit * 4))" "^$program\$"
	done
}

# retry PLACE: run its failed cases once more, on a machine that does nothing else.
retry() {
	local log
	if [ -e "$1/CMakeCache.txt" ]; then
		log=$1/retry.log
		eval "$(retries "$1" root_tester)" >"$log" 2>&1 || true
	else
		log=build-vm/$1.retry.log
		GUEST_TIMEOUT=$((1800 * TRACEKIT_SLOWNESS)) test/vm/guest "$1" \
			"$(retries "$1" nice -n -10 env)" >"$log" 2>&1 || true
	fi
	test/cases "$1" "$log" >>"$results.retry"
}

# merge FIRST SECOND: the lines of both runs, each case once: as it ended in the better one, with
# "unsteady" in front if it failed in the other. A case that failed, and skipped itself the second
# time, has failed. That a program came to its end the second time is not counted as a case.
merge() {
	awk -v end=": $comes_to_its_end" '
		!/^(not )?ok - / { next }
		{
			passed = /^ok/
			sub(/^(not )?ok - /, "")
			text = key = $0
			if (sub(/ # [Ss][Kk][Ii][Pp].*/, "", key) && key in bad)
				next
			program = substr(key, 1, index(key, ": ") - 1)
			if (!(key in best))
				order[++cases] = key
			if (passed || !(key in best))
				best[key] = text
			if (passed)
				good[key] = 1
			else
				bad[key] = 1
		}
		FILENAME != ARGV[1] { again[program] = 1; second[key] = 1 }
		END {
			for (i = 1; i <= cases; i++) {
				key = order[i]
				program = substr(key, 1, index(key, ": ") - 1)
				if (key == program end && !(key in second) && program in again)
					print "unsteady " best[key]
				else if (key in good)
					print (key in bad ? "unsteady ok " : "ok ") best[key]
				else
					print "not ok " best[key]
			}
		}' "$1" "$2"
}

# finish: run failed cases once more, and end with the result of the whole run.
finish() {
	local place passed failed skipped
	: >"$results.retry"
	# shellcheck disable=SC2013
	for place in $(sed -n 's/^not ok - \([^ ]*\) .*/\1/p' "$results" | sort -u); do
		grep -q "^not ok - $place build: " "$results" ||
			part "Running once more what failed in $place" retry "$place"
	done
	merge "$results" "$results.retry" >"$results.merged"
	skipped=$(grep -Eic '^(unsteady )?ok .* # skip' "$results.merged" || true)
	passed=$(($(grep -Ec '^(unsteady )?ok ' "$results.merged" || true) - skipped))
	failed=$(grep -c '^not ok ' "$results.merged" || true)

	say "$(clock "$SECONDS") How long it took:"
	printf '    %s\n' "${times[@]}"
	if [ "$skipped" -gt 0 ]; then
		say "Skipped on this machine:"
		sed -En 's/^(unsteady )?ok (.* # [Ss][Kk][Ii][Pp].*)/    \2/p' "$results.merged"
	fi
	sed -n 's/^not ok /failed: /p' "$results.merged"
	sed -En 's/^unsteady (ok )?/unsteady: /p' "$results.merged"
	printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
	[ "$failed" -eq 0 ]
	exit
}
