# SPDX-License-Identifier: GPL-2.0-or-later
# says STATUS STREAM "what it prints" COMMAND...: exit status, the stream that
# holds exactly that text, and silence on the other one.

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	PATH=$(dirname "$TRACEKIT"):$PATH
}

says() {
	local wanted=$1 stream=$2 text=$3 status=0 other=out
	shift 3
	[ "$stream" = out ] && other=err
	"$@" >out 2>err || status=$?
	echo "\$ $*"
	echo "[$status] stdout: $(cat out)"
	echo "stderr: $(cat err)"
	[ "$status" -eq "$wanted" ] || return
	[ ! -s "$other" ] || return
	diff <(printf '%s\n' "$text") "$stream"
}

# usage_error "message" COMMAND...
usage_error() {
	local text=$1
	shift
	says 2 err "$text" "$@"
}
