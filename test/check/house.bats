#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The rules of this house, as far as a program can see them. scripts/check runs those of the folder
# without the tag build: they need neither a compiler nor what it makes.

load ../refute

setup() {
	cd "$SOURCE" || return
}

# The sources of the project, without files that builds leave behind.
sources() {
	find applets bpf core sym test -name '*.[ch]' -type f | LC_ALL=C sort
}

# includes FOLDER: "file: included" for each of our headers that a file there includes.
includes() {
	find "$1" -maxdepth "${2:-9}" -name '*.[ch]' -type f -exec \
		grep -HoE '^#include "[^"]+"' {} + | sed 's/#include "\(.*\)"/\1/'
}

# only PATTERN: fails, naming them, if lines of stdin do not match it.
only() {
	refute grep -Ev "$1"
}

@test "clang-format has nothing to change" {
	command -v clang-format >/dev/null || skip "clang-format is not installed"
	sources | xargs -P "$(nproc)" -n 40 clang-format --dry-run --Werror
}

@test "sym/util includes nothing of ours but itself" {
	includes sym/util | only ':sym/util/'
}

@test "sym includes itself, and what it makes for BPF programs" {
	includes sym | only ':(sym/|bpf/(abi|unwind_rule|unwind_tables)\.h$)'
}

@test "core includes core, sym/util, sym's headers for it, bpf/abi.h and skeletons" {
	includes core | only ':(core/|sym/util/|sym/(sym|types|find/binary|find/probe_sites|kallsyms/functions|child/proc_stat|child/reader_child|child/sandbox|cfi/reader|cfi/rules|cfi/table|cfi/table_reader|process/file_words|process/jit_map_reader|process/passed_file)\.h$|bpf/(abi|unwind_tables|unwind_rule|raw_stack|kernel_names|host/walker)\.h$|[a-z_]+\.skel\.h$)'
}

# The rooms of core and sym, from the ground up, and the headers of one that others may include: the
# table of docs/architecture.md.
rooms() {
	sed -n '/^## Rooms/,/^## The way/s/^| `\([a-z]*\/[a-z]*\)\/` |.*/\1/p' docs/architecture.md | tac
}

doors() {
	sed -n "s/^| \`${1/\//\\/}\/\` |.*|\(.*\)|$/\1/p" docs/architecture.md | grep -oE '[a-z_]+\.h' | sort
}

@test "a room includes only itself, those below it, and what stands in front of sym" {
	diff <(rooms | sort) <(sources | grep -oE '^(core|sym)/[a-z]+/' | sed 's|/$||' | sort -u)
	below='sym/(sym|types)\.h'
	for room in $(rooms); do
		below="$below|$room/"
		includes "$room" | grep -E ':(core|sym)/' | only ":($below)"
	done
	find core sym -maxdepth 1 -name '*.[ch]' | only '^sym/(sym\.h|symbolizer\.c|types\.[ch])$'
}

@test "the doors of a room are the headers that others include" {
	all=$(includes core; includes sym; includes applets)
	for room in $(rooms | grep -v '^sym/util$'); do
		echo "$room"
		diff <(doors "$room") <(grep -v "^$room/" <<<"$all" | sed -n "s|.*:$room/||p" | sort -u)
	done
}

@test "unit tests lie where the modules do" {
	find test/unit/*/ -name '*.c' | sed 's|^test/unit/\(.*/\)test_\(.*\)\.c$|\1\2|; s|_arm64$||' | while read -r module; do
		echo "$module"
		ls "$module".c "$module".h "$module".bpf.h 2>/dev/null | grep -q .
	done
}

@test "no headers include each other" {
	(includes core; includes sym; includes applets; includes bpf | sed 's|:|:bpf/|') |
		grep '\.h:' | tr : ' ' | tsort >/dev/null
}

@test "bpf includes only bpf" {
	includes bpf | only ':(bpf/(host/)?)?[a-z0-9_]+(\.bpf)?\.h$'
}

@test "applets include core, sym/util, sym/sym.h, sym/types.h, bpf/abi.h, and applets" {
	includes applets | only ':(core/|applets/|sym/util/|sym/(sym|types)\.h$|bpf/abi\.h$|revision\.h$)'
}

# bats test_tags=build
@test "every header compiles alone" {
	cd "$BATS_TEST_TMPDIR"
	(cd "$SOURCE" && sources | grep '\.h$' | grep -v '\.bpf\.h$') | while read -r header; do
		echo "$header"
		printf '#include "%s"\n#include "%s"\n' "$header" "$header" >alone.c
		cc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -I"$SOURCE" -fsyntax-only alone.c
	done
}

# compile_bpf PROCESSOR SOURCE OPTION...: SOURCE for that processor.
compile_bpf() {
	case $1 in
	x86_64) arch=(-D__TARGET_ARCH_x86) ;;
	arm64) arch=(-D__TARGET_ARCH_arm64 -I"$SOURCE/bpf/host/arm64") ;;
	aarch64) arch=(-D__TARGET_ARCH_arm64) ;;
	esac
	clang -target bpf -mcpu=v2 -g -O2 -std=gnu11 -Wall -Wextra -Werror "${arch[@]}" -I"$SOURCE" \
		-idirafter "/usr/include/$(cc -dumpmachine)" "${@:3}" -c "$2" -o "$BATS_TEST_TMPDIR/bpf.o"
}

# Those whose programs can be compiled here, this one first: x86-64 has headers of arm64 in bpf/host.
bpf_processors() {
	uname -m
	[ "$(uname -m)" != x86_64 ] || echo arm64
}

# bats test_tags=build
@test "every BPF header compiles alone" {
	cd "$BATS_TEST_TMPDIR"
	for processor in $(bpf_processors); do
		for header in "$SOURCE"/bpf/*.bpf.h; do
			case $header in
			*/arch_"${processor/aarch64/arm64}".bpf.h) ;;
			*/arch_*) continue ;;
			esac
			echo "$processor: $header"
			printf '#include "%s"\n' "$header" >alone.c
			compile_bpf "$processor" alone.c -fsyntax-only -Wno-unused-function \
				-Wno-undefined-internal -I"$SOURCE/bpf"
		done
	done
}

# bats test_tags=build
@test "BPF programs compile for the other processor, too" {
	[ "$(uname -m)" = x86_64 ] || skip "there are no headers of another one"
	for processor in $(bpf_processors | tail -n +2); do
		for program in "$SOURCE"/bpf/*.bpf.c; do
			echo "$processor: $program"
			compile_bpf "$processor" "$program"
		done
	done
}

@test "every source names its licence" {
	missing=$( (sources; find scripts cmake test .ci -type f \( -name '*.bats' -o -name '*.sh' \
		-o -name '*.bash' -o -name '*.cmake' -o -name CMakeLists.txt -o -perm -u+x \)) |
		xargs grep -L 'SPDX-License-Identifier: GPL-2.0-or-later') || true
	echo "$missing"
	[ -z "$missing" ]
}

# By their first lines.
shell_scripts() {
	find .ci cmake scripts test -name node_modules -prune -o -type f -exec awk '
	FNR == 1 && /^#!.*[/ ](ba|da)?sh( |$)/ { print FILENAME }
	{ nextfile }' {} + | LC_ALL=C sort
}

@test "shell scripts pass shellcheck" {
	command -v shellcheck >/dev/null || skip "shellcheck is not installed"
	shell_scripts >"$BATS_TEST_TMPDIR/scripts"
	cat "$BATS_TEST_TMPDIR/scripts"
	for script in .ci/run scripts/check test/bench/churn test/compare/frames; do
		grep -Fxq "$script" "$BATS_TEST_TMPDIR/scripts"
	done
	xargs -P "$(nproc)" -n 4 shellcheck -x <"$BATS_TEST_TMPDIR/scripts"
}

@test "scripts/test NAME: a test, a folder of tests, or a pattern" {
	. scripts/parts.sh
	all() {
		printf '%s\n' root/walks unit/sym/cfi/table root/stacksnoop unit/sym/cfi/rules root/stacksnoop_output
	}
	diff <(all | choose root/stacksnoop unit/sym/cfi) - <<-END
		root/stacksnoop
		unit/sym/cfi/rules
		unit/sym/cfi/table
	END
	diff <(all | choose 'root/s*') - <<<$'root/stacksnoop\nroot/stacksnoop_output'
	refute choose root/stack unit <<<unit/sym/cfi/table 2>"$BATS_TEST_TMPDIR/err"
	grep -q "no test is named 'root/stack'" "$BATS_TEST_TMPDIR/err"
	diff <(all | choose unit | targets_of) - <<<$'test_sym_cfi_rules\ntest_sym_cfi_table'
	diff <(all | choose unit/sym/cfi/rules root/walks | targets_of) - <<<$'all\ntest_sym_cfi_rules'
}

# A copy of what check reads, and in that what it is to find.
# bats test_tags=build
@test "scripts/check finds a wrong form, include and script, in a checkout that was never built" {
	command -v clang-format >/dev/null || skip "clang-format is not installed"
	command -v shellcheck >/dev/null || skip "shellcheck is not installed"
	copy=$BATS_TEST_TMPDIR/copy
	mkdir "$copy"
	cp -r .ci .clang-format COPYING CMakeLists.txt ./*.md applets bpf cmake core docs scripts sym test "$copy"
	cd "$copy"
	echo 'int  main;' >sym/util/wrong.c
	echo '#include "core/run/counting.h"' >>sym/util/text.h
	echo 'echo $1' >>scripts/quickstart
	refute env -u BUILD -u TRACEKIT SOURCE=/nonexistent scripts/check >out
	diff <(sed -n 's/^not ok [0-9]* //p' out) - <<-END
		clang-format has nothing to change
		sym/util includes nothing of ours but itself
		sym includes itself, and what it makes for BPF programs
		a room includes only itself, those below it, and what stands in front of sym
		every source names its licence
		shell scripts pass shellcheck
	END
	grep -q '^ok .* links between' out
}

# bats test_tags=build
@test "presets: dev is a debug build with compile_commands.json" {
	command -v ninja >/dev/null || skip "ninja is not installed"
	cmake --preset dev -B "$BATS_TEST_TMPDIR/dev"
	grep -q '"command": .* -Og -g .*sym/util/text.c' "$BATS_TEST_TMPDIR/dev/compile_commands.json"
}

# bats test_tags=build
@test "test/env of a build folder is all that a file of bats needs to be run by hand" {
	cd "$BATS_TEST_TMPDIR"
	env -i PATH="$(getconf PATH)" sh -c '. "$0/test/env" && bats "$SOURCE/test/cli/install.bats"' \
		"$BUILD" >out
	refute grep '^not ok' out
	grep -q '^ok [1-9]' out
}

# bats test_tags=build
@test "the binary is one static-pie file of at most 2.35 MB, stripped" {
	grep -q '^TRACEKIT_STATIC:BOOL=ON' "$BUILD/CMakeCache.txt" || skip "not a static build"
	refute grep -Eq '^TRACEKIT_(SANITIZE|FUZZ):BOOL=ON' "$BUILD/CMakeCache.txt" || skip "not a release build"
	size=$(stat -c %s "$TRACEKIT")
	echo "$size bytes"
	[ "$size" -le $((235 * 1024 * 1024 / 100)) ]
	readelf -h "$TRACEKIT" | grep -q 'DYN (Position-Independent'
	readelf -l -d -S "$TRACEKIT" >"$BATS_TEST_TMPDIR/readelf"
	refute grep -Eq 'INTERP|NEEDED|\.symtab' "$BATS_TEST_TMPDIR/readelf"
}

@test "an applet's file is below 250 lines" {
	for file in $(grep -l "^const struct applet applet_" applets/*.c); do
		[ "$(wc -l <"$file")" -lt 250 ]
	done
}

@test "links between the project's own documents lead somewhere" {
	for file in README.md CONTRIBUTING.md docs/*.md; do
		grep -oE '\]\([^)#]+\)' "$file" | tr -d '])(' | grep -v '://' | while read -r target; do
			echo "$file -> $target"
			[ -e "$(dirname "$file")/$target" ]
		done
	done
}

@test "each measurement is in the list of docs/testing.md" {
	for file in $(find test/bench -type f ! -name CMakeLists.txt ! -name peers.bash); do
		echo "$file"
		grep -F '| `test/bench/` |' docs/testing.md | grep -Fq "\`${file##*/}\`"
	done
}

@test "comments, documents and messages say what they mean" {
	refute git -c safe.directory='*' grep -niE 'like''wise|the same'' of' -- . ':!CHANGELOG.md'
}

@test "the script and the style of flame graphs end nothing that they stand in" {
	refute grep -E ']]>|</|<!--|[<&]' core/flame/flame.css
	refute grep -E ']]>|</script|<!--' core/flame/flame.js
}

@test "nothing generated is committed" {
	# Also where a user has made the checkout, and has the tests run as root.
	files=$(git -c safe.directory='*' ls-files 2>/dev/null) || skip "not a git checkout"
	refute grep -E '\.(o|skel\.h|a|so|log)$|^build' <<<"$files"
}
