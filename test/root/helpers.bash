# SPDX-License-Identifier: GPL-2.0-or-later
# What the root tests share. Processes are ended by the PIDs that were started.

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	started=()
	cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
	end_started
}

end_started() {
	local pid
	for pid in "${started[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	wait
	remove_copy
}

count_programs() {
	bpftool prog 2>/dev/null | grep -c profile_sample || true
}

# To be called before what no_programs_left is asked about.
note_programs() {
	programs_before=$(count_programs)
}

# No more BPF programs of ours are loaded than were noted.
no_programs_left() {
	local tries
	: "${programs_before:?note_programs was not called}"
	for tries in $(seq 50); do
		# The kernel frees programs a moment after their last user.
		[ "$(count_programs)" -gt "$programs_before" ] || return 0
		sleep 0.1
	done
	return 1
}

# start COMMAND...: in the background; its PID is in $pid.
start() {
	"$@" 3>&- &
	pid=$!
	started+=("$pid")
}

# spin MODE...: start one of the known programs and wait until it is itself: its
# name is then another one than that of the shell that it was forked from.
spin() {
	local tries
	start "$SPIN" "$@"
	for tries in $(seq 100); do
		[ "$(<"/proc/$pid/comm")" = "$(<"/proc/$BASHPID/comm")" ] || break
		sleep 0.01
	done
	sleep 0.1
}

# wait_for COMMAND...: until it succeeds, but not for ever.
wait_for() {
	local tries
	for tries in $(seq 600); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "waited in vain for: $*"
	return 1
}

# is_called PID COMM
is_called() {
	[ "$(cat "/proc/$1/comm")" = "$2" ]
}

# A copy of spin outside of /tmp, which a test can cover, in $copy; removed in the end.
copy_spin() {
	copy=$(mktemp -d -p /var/tmp)/spin
	chmod 755 "${copy%/*}"
	cp "$SPIN" "$copy"
}

remove_copy() {
	if [ -n "$copy" ]; then
		rm -r "${copy%/*}"
		copy=
	fi
}

# try COMMAND...: its exit status, whatever it is, is in $status.
try() {
	status=0
	"$@" || status=$?
}

profile() {
	"$TRACEKIT" profile "$@"
}

# CPU time that a process has used, in hundredths of a second.
cpu_time() {
	local stat
	stat=$(<"/proc/$1/stat")
	set -- ${stat##*) }
	echo $((${12} + ${13}))
}

# sum FILE: of the counts at the ends of folded lines.
sum() {
	awk '{ n += $NF } END { print n + 0 }' "$1"
}

# Number NAME of a --stats line: "NUMBER NAME".
stat_of() {
	sed -n "s/.*[ :]\([0-9][0-9]*\) $1.*/\1/p" "$2"
}

# Start a profile without end and wait until it samples.
start_profile() {
	start "$TRACEKIT" profile "$@" >out 2>err
	until grep -q '^Sampling' out; do
		kill -0 "$pid" || return
		sleep 0.02
	done
}
