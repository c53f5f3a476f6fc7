#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# --completion: what shells that have read the scripts offer behind a line.

load helpers
load ../refute

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	PATH=$(dirname "$TRACEKIT"):$PATH
	export HOME=$PWD
	for shell in bash zsh fish; do
		tracekit --completion $shell >tracekit.$shell
		"$ODD_COMPLETION" $shell >odd.$shell
	done
	script=tracekit
}

# Without SHELL there is nothing to ask.
need() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}

# The offers of SHELL at the end of LINE, a line each: "word", or "word<tab>help".
bash_offers() {
	bash --norc -s "$script.bash" "$1" <<'END'
		compopt() { echo "compopt $*"; }
		. "./$1" || exit
		read -ra COMP_WORDS <<<"${2//=/ = }"
		[[ $2 == *' ' ]] && COMP_WORDS+=('')
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		registered=$(complete -p "${COMP_WORDS[0]##*/}") || exit
		[[ $registered =~ -F\ ([^ ]+) ]] && "${BASH_REMATCH[1]}"
		((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
END
}

zsh_offers() {
	timeout 60 zsh -f "$SOURCE/test/cli/complete.zsh" $script.zsh "$1" >offered || return
	sed -E 's/\t[^ ]+ +-- /\t/; s/\t$//' offered
}

fish_offers() {
	fish --no-config -c 'source $argv[1]; complete -C $argv[2]' $script.fish "$1"
}

# words SHELL LINE: the words that it offers.
words() {
	echo "$1: $2" >&2
	"$1_offers" "$2" >words || return
	cut -f1 words
}

# offers SHELL LINE WORD...: these, in any order, and nothing else.
offers() {
	words "$1" "$2" >out
	shift 2
	diff <(printf '%s\n' "$@" | LC_ALL=C sort) <(LC_ALL=C sort out)
}

offers_nothing() {
	words "$1" "$2" >out
	cat out
	[ ! -s out ]
}

# The options in the help of COMMAND...
options_of() {
	"$@" --help | grep -oE '^ +(-., )?--[a-z-]+' | tr -s ', ' '\n' | grep -e -
}

applets() {
	tracekit --list | cut -d' ' -f1
}

# This holds in every shell.
offers_applets_and_own_options() {
	offers "$1" 'tracekit ' help $(applets)
	offers "$1" 'tracekit help ' $(applets)
	offers "$1" 'tracekit -' $(options_of tracekit)
	offers "$1" 'tracekit --completion ' bash zsh fish
	offers_nothing "$1" 'tracekit --list '
}

offers_every_option() {
	local applet
	for applet in $(applets); do
		offers "$1" "tracekit $applet --" $(options_of tracekit "$applet" | grep -e --)
		offers "$1" "$applet --" $(options_of tracekit "$applet" | grep -e --)
		offers "$1" "tracekit $applet -" $(options_of tracekit "$applet")
		offers "$1" "/some/where/$applet -" $(options_of tracekit "$applet")
	done
	offers "$1" 'profile --fo' --folded --format
	offers "$1" 'tracekit profile -f --st' --stats --stack-storage-size
}

offers_no_files_for_numbers() {
	touch 1file file
	for line in 'profile ' 'profile -F ' 'profile --frequency ' 'profile --frequency=' \
		'tracekit profile --hash-storage-size ' 'tracekit profile ' 'tracekit --version ' \
		'stacksnoop --buffer-size ' 'tracekit stacksnoop --buffer-size '; do
		offers_nothing "$1" "$line"
	done
}

offers_running_processes() {
	local line
	for line in 'profile -p ' 'profile -fp ' 'tracekit profile -p ' 'tracekit profile --pid '; do
		words "$1" "$line" >out
		grep -Fxq $$ out
		refute grep -Evq '^[0-9]+$' out
	done
	words "$1" "profile -p $$" >out
	grep -Fxq $$ out
}

@test "a shell is needed, and one that there is a script for" {
	message="tracekit: --completion: needs a shell: bash, zsh or fish"
	usage_error "$message" tracekit --completion
	usage_error "$message" tracekit --completion tcsh
	usage_error "$message" tracekit --completion ''
	usage_error "$message" tracekit --completion bash zsh
}

@test "a script that cannot be written is an error" {
	says 1 err "tracekit: cannot write the output: No space left on device" \
		bash -c 'tracekit --completion bash >/dev/full'
}

@test "every option of every applet's help is in each script" {
	for applet in $(applets); do
		for option in $(options_of tracekit "$applet" | grep -e --); do
			grep -Eq -e "[ ']$option[ ']" tracekit.bash
			grep -Fq -e ")$option" tracekit.zsh
			grep -Eq -e "^complete -c $applet .*-l ${option#--} " tracekit.fish
		done
	done
}

@test "bash reads the script, and shellcheck finds nothing in it" {
	bash -n tracekit.bash
	bash -n odd.bash
	command -v shellcheck >/dev/null || skip "shellcheck is not installed"
	shellcheck tracekit.bash
}

# Behind -- a command is completed.
offers_commands() {
	local line
	mkdir bin
	printf '#!/bin/sh\n' >bin/odd-command
	chmod 755 bin/odd-command
	PATH=$PWD/bin:$PATH
	for line in 'profile -- odd-c' 'profile -F 9 5 -- odd-c' 'tracekit stackcount x -- odd-c'; do
		words "$1" "$line" >out
		cat out
		grep -Fxq odd-command out
	done
}

@test "bash: applets and the binary's own options" {
	offers_applets_and_own_options bash
}

@test "bash: the options of applets, also behind their links" {
	offers_every_option bash
}

@test "bash: nothing for numbers" {
	offers_no_files_for_numbers bash
}

@test "bash: PIDs of running processes, also in lists" {
	offers_running_processes bash
	words bash 'profile --pid=' | grep -Fx $$
	words bash "profile -p 1,$$" | grep -Fx "1,$$"
}

@test "bash: commands behind --" {
	offers_commands bash
}

@test "bash: paths by its own completion" {
	offers bash 'tracekit --install ' 'compopt -o default'
	offers bash 'tracekit --install -s some' 'compopt -o default'
	script=odd
	offers bash 'odd-one --dollars x' 'compopt -o default'
	offers bash 'odd-one --dollars=x' 'compopt -o default'
	offers bash 'tracekit odd-one x' 'compopt -o default'
	offers_nothing bash 'plain x'
}

@test "bash: words with special characters" {
	script=odd
	offers bash 'odd-one --choice ' plain "it's" 'a b' '$HOME' 'x:y' '[z]' 'back\slash'
	offers bash 'odd-one --choice=pl' plain
	offers bash 'odd-one -q --cho' --choice
}

@test "zsh reads the script" {
	need zsh
	zsh -n tracekit.zsh
	zsh -n odd.zsh
}

@test "zsh loads it from a folder" {
	need zsh
	mkdir functions
	cp tracekit.zsh functions/_tracekit
	timeout 60 zsh -f "$SOURCE/test/cli/complete.zsh" functions 'profile --fo' | grep -q '^--folded'
	timeout 60 zsh -f "$SOURCE/test/cli/complete.zsh" functions 'tracekit profile --fo' |
		grep -q '^--folded'
}

@test "zsh: applets and the binary's own options" {
	need zsh
	offers_applets_and_own_options zsh
}

@test "zsh: the options of applets, also behind their links" {
	need zsh
	offers_every_option zsh
}

@test "zsh: nothing for numbers" {
	need zsh
	offers_no_files_for_numbers zsh
}

@test "zsh: PIDs of running processes, also in lists" {
	need zsh
	need ps
	offers_running_processes zsh
	words zsh 'profile --pid=' | grep -Fx $$
	words zsh "profile -p 1,$$" | grep -Fx $$
}

@test "zsh: commands behind --" {
	need zsh
	offers_commands zsh
}

@test "zsh: paths, and words and help with special characters" {
	need zsh
	touch some
	offers zsh 'tracekit --install so' some
	script=odd
	offers zsh 'odd-one --dollars so' some
	offers zsh 'tracekit odd-one so' some
	# as they are inserted
	offers zsh 'odd-one --choice ' plain "it\\'s" 'a\ b' '\$HOME' 'x:y' '\[z\]' 'back\\slash'
	zsh_offers 'odd-one -' >out
	grep -Fxe $'--quotes\tit\'s "quoted" `once`' out
	grep -Fxe $'-q\tit\'s "quoted" `once`' out
	grep -Fxe $'--brackets\tone [of] {these} (here): 5%' out
	grep -Fxe $'--dollars\t$HOME; $(false) & *' out
	grep -Fxe $'--choice\tC:\\DOS\\ <or> not' out
	zsh_offers 'tracekit ' | grep -Fxe $'odd-one\tWhat\'s [this]: $1 \\ `?'
}

@test "fish reads the script" {
	need fish
	fish -n tracekit.fish
	fish -n odd.fish
}

@test "fish: applets and the binary's own options" {
	need fish
	offers_applets_and_own_options fish
}

@test "fish: the options of applets, also behind their links" {
	need fish
	offers_every_option fish
}

@test "fish: nothing for numbers" {
	need fish
	offers_no_files_for_numbers fish
}

@test "fish: PIDs of running processes, also in lists" {
	need fish
	need ps
	offers_running_processes fish
	words fish 'profile --pid=' | grep -Fx -e "--pid=$$"
	words fish "profile -p 1,$$" | grep -Fx "1,$$"
}

@test "fish: commands behind --" {
	need fish
	offers_commands fish
}

@test "fish: paths, and words and help with special characters" {
	need fish
	touch some
	offers fish 'tracekit --install so' some
	script=odd
	offers fish 'odd-one --dollars so' some
	offers fish 'tracekit odd-one so' some
	offers_nothing fish 'plain so'
	offers fish 'odd-one --choice ' plain "it's" 'a b' '$HOME' 'x:y' '[z]' 'back\slash'
	fish_offers 'odd-one -' >out
	grep -Fxe $'--quotes\tit\'s "quoted" `once`' out
	grep -Fxe $'--brackets\tone [of] {these} (here): 5%' out
	grep -Fxe $'--dollars\t$HOME; $(false) & *' out
	grep -Fxe $'--choice\tC:\\DOS\\ <or> not' out
	fish_offers 'tracekit ' | grep -Fxe $'odd-one\tWhat\'s [this]: $1 \\ `?'
}

@test "every shell that the help names has a script" {
	for shell in $(tracekit --help | grep -oE '\((bash|zsh|fish)[^)]*' | tr -d '(,' | sed 's/ or / /'); do
		tracekit --completion "$shell" | grep -q "by: tracekit --completion $shell$"
	done
}
