#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The command lines of README, pages and docs, and those of help: none is a wrong usage. They are run
# without privileges, so that they end as soon as they are understood.
# bats file_tags=build

load ../refute

setup_file() {
	mkdir "$BATS_FILE_TMPDIR/bin"
	"$TRACEKIT" --install -s "$BATS_FILE_TMPDIR/bin"
	ln -s "$TRACEKIT" "$BATS_FILE_TMPDIR/bin/tracekit"
	export PATH=$BATS_FILE_TMPDIR/bin:$PATH
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	echo 'main;work 1' | tee before.folded after.folded >out.folded
}

# Each line on stdin is run; what follows " #" is a comment. There are at least $1 of them.
runs_all() {
	local line number=0 wrong=0
	while IFS= read -r line; do
		line=${line%% #*}
		number=$((number + 1))
		unprivileged bash -c "$line" </dev/null >out 2>err || true
		grep -Eq "; see '.*--help'|is not an applet" err || continue
		echo "$line: $(head -n 1 err)"
		wrong=1
	done
	echo "$number lines"
	[ "$number" -ge "$1" ] && [ "$wrong" -eq 0 ]
}

unprivileged() {
	if [ "$EUID" = 0 ]; then
		timeout 20 setpriv --bounding-set=-all --inh-caps=-all "$@"
	else
		timeout 20 "$@"
	fi
}

@test "README" {
	runs_all 15 < <(sed -n 's/^    \(tracekit [a-z].*\)$/\1/p' "$SOURCE/README.md")
}

@test "the pages" {
	runs_all 40 < <(sed -n 's/^\.Dl # //p' "$SOURCE"/docs/*.8 | sed "s/\\\\(aq/'/g")
}

@test "help" {
	local applet
	for applet in $("$TRACEKIT" --list | cut -d ' ' -f 1); do
		"$TRACEKIT" "$applet" --help | sed -n '/^examples:$/,$s/^    \([a-z].*\)$/\1/p'
	done >lines
	runs_all 50 <lines
}

@test "the containers of docs/containers.md" {
	runs_all 1 < <(sed -n 's/^ *args: \[\(.*\)\]$/tracekit \1/p' "$SOURCE/docs/containers.md" | tr -d ,)
}

@test "a wrong usage is found" {
	refute runs_all 1 <<<"tracekit flamegraph -i 60 x   # it has no intervals"
	refute runs_all 1 <<<'tracekit nothing'
	refute runs_all 2 <<<'tracekit --list'
}
