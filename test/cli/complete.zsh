# SPDX-License-Identifier: GPL-2.0-or-later
# zsh -f complete.zsh SCRIPT LINE: what zsh, having sourced SCRIPT, offers at the
# end of LINE: a line each, with what zsh shows for it behind a tab. SCRIPT can also
# be the folder that zsh is to load it from.
#
# Completion runs at a terminal only, so it does in a second zsh, which has one of
# its own and sources this file as well. What it offers comes between two NULs.

mark() {
	print -n '\0'
}

# In place of zsh's: what is to be offered is printed before.
print_offered() {
	local -a offered shown
	local i

	# With these it is only asked what would match.
	if ! [[ ${argv[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		((argv[(I)-*d])) && shown=("${(@P)argv[argv[(i)-*d]+1]}")
		builtin compadd -A offered -D shown "$@"
		for ((i = 1; i <= $#offered; i++)); do
			print -r -- "$offered[i]"$'\t'"$shown[i]"
		done
	fi
	builtin compadd "$@"
}

offer() {
	PS1= COLUMNS=200
	autoload -Uz compinit
	if [[ -d $1 ]]; then
		fpath=($1 $fpath)
		compinit -u -D
	else
		# zsh finds the same each time.
		compinit -u -d $BATS_FILE_TMPDIR/zcompdump
	fi
	[[ -d $1 ]] || source $1
	zstyle ':completion:*' list-grouped no
	bindkey '^I' complete-word
	functions[compadd]=$functions[print_offered]
	compprefuncs=(mark)
	comppostfuncs=(mark)
	mark
}

if ((ZSH_EVAL_CONTEXT[(I)file])); then
	return
fi
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "source ${(q)0:A}; offer ${(q)1}"
zpty -r inner output $'*\0' && zpty -w -n inner "$2"$'\t' &&
	zpty -r inner output $'*\0' && zpty -r inner output $'*\0' || exit
zpty -d inner
print -rn -- "${${output%$'\0'}//$'\r'}"
