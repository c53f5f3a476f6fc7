#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The pages of the manual agree with the tables of options, which make help.

load ../refute

setup() {
	cd "$SOURCE" || return
}

applets() {
	"$TRACEKIT" --list | cut -d' ' -f1
}

# section NAME PAGE: its lines.
section() {
	awk -v name="$1" '/^\.Sh / { inside = ($0 == ".Sh " name) } inside' "docs/$2.8"
}

# "limits: --max-depth N": each option and argument that the help of COMMAND describes, in its group,
# where there are some.
described_by_help() {
	"$@" --help | awk '/^[a-z ]+:$/ { group = $0; if (!/^(arguments|options|applets|examples):/) grouped = 1 }
		group && group != "examples:" && /^  (    )?-|^  [A-Za-z]/ {
			sub(/^ +/, ""); sub(/  .*/, ""); line[++lines] = group " " $0 }
		END { for (i = 1; i <= lines; i++) { if (!grouped) sub(/^[a-z]+: /, "", line[i]); print line[i] } }' |
		LC_ALL=C sort
}

# described_by_page PAGE: as by help. Words that a value can be are in a list of their own, as Cm.
described_by_page() {
	section OPTIONS "$1" |
		awk '/^\.Ss / { group = tolower(substr($0, 5)) ": " } /^\.It (Fl|Ar) / { print group substr($0, 5) }' |
		sed -E 's/Fl /-/g; s/Ar //; s/ ,/,/; s/Oo (.*) Oc/[\1]/' | LC_ALL=C sort
}

# The shorter form of each option in the usage of APPLET: "-F", "--event".
used_by_help() {
	"$TRACEKIT" "$1" --help | sed '/^$/q' | grep -oE '\[-[^] ]+' | tr -d '[' | LC_ALL=C sort
}

# By its page, where letters can be joined.
used_by_page() {
	section SYNOPSIS "$1" | grep -oE 'Fl [^ ]+' | sed 's/^Fl //' |
		sed -E '/^-/! s/./&\n/g' | sed -n '/./ s/^/-/p' | LC_ALL=C sort
}

# same COMMAND COMMAND: they print the same, and not nothing.
same() {
	$1 >"$BATS_TEST_TMPDIR/left"
	$2 >"$BATS_TEST_TMPDIR/right"
	[ -s "$BATS_TEST_TMPDIR/left" ]
	echo "< $1"
	echo "> $2"
	diff "$BATS_TEST_TMPDIR/left" "$BATS_TEST_TMPDIR/right"
}

# bats test_tags=build
@test "every applet has a page, and tracekit one that leads there" {
	for applet in $(applets); do
		grep -q "^\.Nm $applet$" "docs/$applet.8"
		grep -q '^\.Xr tracekit 8' "docs/$applet.8"
		grep -q "^\.It Xr $applet 8$" docs/tracekit.8
		section 'SEE ALSO' tracekit | grep -q "^\.Xr $applet 8"
		grep -Fxq "\$ ln -s tracekit.fish $applet.fish" docs/tracekit.8
	done
}

# bats test_tags=build
@test "OPTIONS describes what help describes, and nothing else" {
	same "described_by_help $TRACEKIT" "described_by_page tracekit"
	for applet in $(applets); do
		same "described_by_help $TRACEKIT $applet" "described_by_page $applet"
	done
}

# bats test_tags=build
@test "SYNOPSIS has the options that usage has, and no others" {
	for applet in $(applets); do
		same "used_by_help $applet" "used_by_page $applet"
	done
}

# The words that options of APPLET take as values, as completion offers them.
offered_words() {
	"$TRACEKIT" --completion bash | sed -n "/^_tracekit_$1() {/,/^}/p" |
		sed -nE "s/.*__tracekit_words '(.*)'.*/\1/p" | tr ' ' '\n' | LC_ALL=C sort
}

# bats test_tags=build
@test "OPTIONS describes every word that a value can be, and no others" {
	for applet in $(applets); do
		echo "$applet"
		diff <(offered_words "$applet") \
			<(section OPTIONS "$applet" | sed -n 's/^\.It Cm //p' | LC_ALL=C sort)
	done
}

@test "mandoc finds nothing wrong" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	mandoc -T lint -W warning docs/*.8
}

@test "pages fit a terminal" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	for page in docs/*.8; do
		mandoc -T ascii "$page" | sed 's/.\x08//g' |
			awk 'length > 80 { print; bad = 1 } END { exit bad }'
	done
}
