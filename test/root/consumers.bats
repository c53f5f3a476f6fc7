#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Results in the programs that people look at them with, as far as these come from npm.

load helpers
load stacksnoop
load ../refute

# The modules of package-lock.json, in the build folder: they are installed once.
modules=$BUILD/test/root/consumers

install_modules() {
	mkdir -p "$modules"
	cp "$SOURCE"/test/root/package*.json "$modules"
	within 100 npm --prefix "$modules" ci --no-audit --no-fund >"$modules/log" 2>&1 3>&- ||
		rm -rf "$modules/node_modules"
	touch "$BATS_FILE_TMPDIR/tried"
}

# needs PROGRAM...: and those modules.
needs() {
	local tool
	for tool in npm node "$@"; do
		type -P "$tool" >/dev/null || skip "$tool is not installed"
	done
	[ -d "$modules/node_modules" ] || [ -e "$BATS_FILE_TMPDIR/tried" ] || install_modules
	[ -d "$modules/node_modules" ] || skip "npm cannot install what package-lock.json has"
}

# ---- speedscope ----

# in_speedscope FILE WORD: the text of speedscope's list of functions for FILE, in a browser, has WORD. A busy machine
# lets the browser's own time pass before it has drawn anything: then once more.
in_speedscope() {
	for _ in {1..5}; do
		dump_speedscope "$1"
		! grep -q "$2" "$1.dom" || return 0
	done
	return 1
}

dump_speedscope() {
	local page=$modules/node_modules/speedscope/dist/release/index.html
	printf 'speedscope.loadFileFromBase64("%s", "%s")\n' "$1" "$(base64 -w 0 "$1")" >"$1.js"
	within 60 nice -n 19 chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
		--user-data-dir="$PWD/browser" --virtual-time-budget=20000 --dump-dom \
		"file://$page#localProfilePath=$PWD/$1.js&view=sandwich" 2>browser.err 3>&- >"$1.dom"
}

@test "speedscope shows its own files, profiles of pprof and folded lines" {
	needs chromium
	spin names
	for suffix in speedscope.json pb.gz folded; do
		profile -p "$pid" -F 499 -o "p.$suffix" 0.3
		in_speedscope "p.$suffix" '>spin_leaf<'
	done
	grep -q "spin ($pid)" p.speedscope.json.dom
}

@test "speedscope shows events as perf prints them" {
	needs chromium
	calls names 5
	start_stacksnoop --format perf -U -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	mv out calls.linux-perf.txt
	in_speedscope calls.linux-perf.txt '>counted'
	grep -q '>names' calls.linux-perf.txt.dom
}

# ---- Firefox Profiler ----

firefox() {
	HOME=$PWD within 60 "$modules/node_modules/.bin/profiler-cli" "$@" --session calls 3>&-
}

# Its load gives a daemon half a second to begin, which a busy machine takes longer for.
load_in_firefox() {
	local pid
	start env HOME="$PWD" "$modules/node_modules/.bin/profiler-cli" --daemon "$1" --session calls >daemon 2>&1
	wait_for eval 'firefox thread list >threads 2>&1'
}

@test "the Firefox Profiler reads events as perf prints them" {
	needs
	calls names 50
	start_stacksnoop --format perf -U -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	[ "$(grep -c ': 1 calls:counted: $' out)" -eq 150 ]
	load_in_firefox "$PWD/out"
	firefox thread functions --include-idle >functions
	firefox stop
	grep -q "^\* t-0 .* calls .* $pid " threads
	grep -q '/calls!counted - self: 150 (100.0%), total: 150 (100.0%)' functions
	grep -q '/calls!two - self: 0 (0.0%), total: 100 (66' functions
}

# ---- stackcollapse-perf.pl, which neither Debian nor npm has ----

@test "stackcollapse-perf.pl reads events as perf prints them" {
	type -P stackcollapse-perf.pl >/dev/null || skip "stackcollapse-perf.pl is not installed"
	calls names 50
	start_stacksnoop --format perf -U -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_tracer
	stackcollapse-perf.pl out >folded
	[ "$(awk '{ sum += $NF } END { print sum }' folded)" -eq 150 ]
	grep -q '^calls;.*;main;names;two;counted 100$' folded
}
