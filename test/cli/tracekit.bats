#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The binary itself: dispatch, its own options, exit statuses.

load helpers
load ../refute

applets='stackcount   Count events by the stacks that lead to them.
stacksnoop   Print every event with the stack that led to it, as it happens.
profile      Sample the stacks of all CPUs at a timed interval and count them.
offcputime   Count where threads wait, and for how long, by stack.
flamegraph   Draw stacks that any tool has written, or the difference of two runs.
doctor       Try what the other applets need here, and say what would help.'

@test "--list: the applets and what they do" {
	says 0 out "$applets" tracekit --list
}

@test "alone: help on stderr, exit status 2" {
	tracekit --help >help
	says 2 err "$(cat help)" tracekit
}

@test "--help and -h: help on stdout, with every applet, ending with examples" {
	says 0 out "$(tracekit -h)" tracekit --help
	says 0 out "$(tracekit -h)" tracekit help
	for word in help --help -h; do
		says 0 out "$(tracekit -h)" tracekit help "$word"
	done
	head -1 out | grep -Fxq "usage: tracekit APPLET [ARGUMENT...]"
	grep -Fxq "$applets" out
	sed -n '/^examples:$/,$p' out | grep -Eq '^    tracekit profile 5 '
}

@test "-V, and --version of an applet: the same" {
	tracekit --version >all
	tracekit -V | diff all -
	tracekit profile --version | diff all -
	tracekit flamegraph -V | diff all -
	bash -c 'exec -a /x/profile "$0" --version' "$TRACEKIT" | diff all -
	tracekit --help | grep -Eq '^  -V, --version  '
	tracekit --help | grep -Fxq '   or: tracekit [APPLET] --version | --help'
	usage_error "profile: unknown option '--version'" tracekit profile --version 5
}

@test "--version: this program, its libraries, its compiler" {
	tracekit --version >out 2>err
	[ ! -s err ]
	[ "$(wc -l <out)" -eq 9 ]
	sed -n 1p out | grep -Eq '^tracekit [0-9]+\.[0-9]+\.[0-9]+ \(.+\)$'
	sed -n 2p out | grep -Eq '^libbpf [0-9]+\.[0-9]+$'
	sed -n 3p out | grep -Eq '^elfutils 0\.[0-9]+$'
	# Those of the static archives that are installed.
	for library in zlib:zlib zstd:libzstd liblzma:liblzma protobuf-c:libprotobuf-c; do
		grep -Fxq "${library%:*} $(pkg-config --modversion "${library#*:}")" out
	done
	grep -Fxq "libbpf $(pkg-config --modversion libbpf | cut -d . -f 1,2)" out
	grep -Fxq "elfutils $(pkg-config --modversion libelf)" out
	grep -Eq '^glibc [0-9]+\.[0-9]+$' out
	sed -n 9p out | grep -Eq '^compiler .+'
}

@test "an unknown applet: a message, the list, exit status 127" {
	says 127 err "tracekit: 'foo' is not an applet
$applets" tracekit foo
	says 127 err "tracekit: 'foo' is not an applet
$applets" tracekit help foo
	says 127 err "tracekit: '' is not an applet
$applets" tracekit ''
}

@test "an applet or an option of the binary that may have been meant" {
	says 127 err "tracekit: 'profil' is not an applet (did you mean 'profile'?)
$applets" tracekit profil
	says 127 err "tracekit: 'offcpu' is not an applet (did you mean 'offcputime'?)
$applets" tracekit help offcpu
	says 127 err "tracekit: 'hlep' is not an applet (did you mean 'help'?)
$applets" tracekit hlep
	says 127 err "tracekit: 'version' is not an applet (did you mean '--version'?)
$applets" tracekit version
	says 127 err "tracekit: 'list' is not an applet (did you mean '--list'?)
$applets" tracekit list
	usage_error "tracekit: unknown option '--verison' (did you mean '--version'?)" tracekit --verison
	usage_error "profile: unknown option '--frequncy' (did you mean '--frequency'?)" \
		tracekit profile --frequncy 99
}

@test "wrong usage of the binary's own options" {
	usage_error "tracekit: unknown option '--bogus'" tracekit --bogus
	usage_error "tracekit: unknown option '-x'" tracekit -x
	usage_error "tracekit: unknown option '--bogus'" tracekit --bogus x
	usage_error "tracekit: 'x': too many arguments" tracekit --list x
	usage_error "tracekit: 'x': too many arguments" tracekit --version x
	usage_error "tracekit: help: is for one applet at a time" tracekit help a b
	usage_error "tracekit: --install: needs one directory" tracekit --install
	usage_error "tracekit: --install: needs one directory" tracekit --install a b
	usage_error "tracekit: --install: needs one directory" tracekit --install -s
}

@test "every option that help names is known" {
	tracekit --help | grep -oE '^ +(-[hV], )?--[a-z]+' | tr -d ' ' | tr , '\n' >options
	[ "$(wc -l <options)" -gt 4 ]
	while read -r option; do
		echo "$option"
		refute grep -q 'unknown option' <(tracekit "$option" 2>&1)
	done <options
}

@test "an applet by argv[0], by argv[1] and by help is the same" {
	tracekit help profile >help
	says 0 out "$(cat help)" tracekit profile --help
	says 0 out "$(cat help)" bash -c 'exec -a profile "$0" -h' "$TRACEKIT"
	says 0 out "$(cat help)" bash -c 'exec -a /some/where/profile "$0" -h' "$TRACEKIT"
}

@test "messages carry the applet's name however it was called" {
	message="profile: unknown option '-x'"
	usage_error "$message" tracekit profile -x
	usage_error "$message" bash -c 'exec -a /x/profile "$0" -x' "$TRACEKIT"
}

@test "every applet's help names it, and ends with examples of it" {
	tracekit --list | while read -r applet summary; do
		tracekit "$applet" --help >out
		head -1 out | grep -q "^usage: $applet \[-h\]"
		grep -Fxq "$summary" out
		sed -n '/^examples:$/,$p' out | grep -q "^    $applet "
		awk 'length > 80 { exit 1 }' out
	done
}

@test "help that cannot be written is an error" {
	says 1 err "tracekit: cannot write the output: No space left on device" \
		bash -c '"$0" --help >/dev/full' "$TRACEKIT"
	says 1 err "profile: cannot write the output: No space left on device" \
		bash -c '"$0" profile --help >/dev/full' "$TRACEKIT"
}

@test "help to a closed stdout fails without a message" {
	status=0
	tracekit --help >&- 2>err || status=$?
	[ "$status" -eq 1 ]
	[ ! -s err ]
}

@test "with stderr closed messages go nowhere, not into a file" {
	status=0
	tracekit foo 2>&- >out || status=$?
	[ "$status" -eq 127 ]
	[ ! -s out ]
}

@test "the limit of open files is named where it is too small" {
	hint="20 may be open (RLIMIT_NOFILE): as root, 'ulimit -n 1024' allows more"
	for applet in profile offcputime 'stackcount c:malloc' 'stacksnoop c:malloc' 'profile -- true'; do
		says 1 err "${applet%% *}: cannot trace with fewer than 64 open files; $hint" \
			bash -c "ulimit -n 20; exec tracekit $applet"
	done
	says 1 err "flamegraph: cannot start a child to read the files: Too many open files; ${hint/20/6}" \
		bash -c 'ulimit -n 6; exec tracekit flamegraph /dev/null'
}
