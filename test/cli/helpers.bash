# SPDX-License-Identifier: GPL-2.0-or-later
# says STATUS STREAM "what it prints" COMMAND...: exit status, the stream that
# holds exactly that text, and silence on the other one.

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	PATH=$(dirname "$TRACEKIT"):$PATH
}

says() {
	local wanted=$1 stream=$2 text=$3 status=0 other=out said
	shift 3
	[ "$stream" = out ] && other=err
	"$@" >out 2>err || status=$?
	echo "\$ $*"
	echo "[$status] stdout: $(<out)"
	echo "stderr: $(<err)"
	[ "$status" -eq "$wanted" ] || return
	[ ! -s "$other" ] || return
	IFS= read -rd '' said <"$stream" || true
	[ "$said" = "$text"$'\n' ] || diff <(printf '%s\n' "$text") "$stream"
}

# usage_error "NAME: what is wrong" COMMAND...: so it says, and where the help is.
usage_error() {
	local text=$1
	shift
	says 2 err "$text; see '${text%%:*} --help'" "$@"
}
