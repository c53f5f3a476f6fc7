# SPDX-License-Identifier: GPL-2.0-or-later
# The root tests share this. Processes are ended by the PIDs that were started. The shell does
# what it can by itself: guests (test/vm) take 20 ms to start a program, even grep.

load ../slowness

# What depends on the processor: the kernel's functions from its entry to what calls system calls,
# outermost first; as extended expressions, those between them and a system call, in either order, and
# the address of a kernel function; and how the functions of system calls begin.
case $HOSTTYPE in
aarch64)
	kernel_path="el0t_64_sync;el0t_64_sync_handler;el0_svc;do_el0_svc"
	kernel_to_call="(;(el0_svc_common|invoke_syscall)[^;]*){2}"
	kernel_address="ffff[0-9a-f]{12}"
	kernel_call=__arm64_sys_
	;;
*)
	kernel_path="entry_SYSCALL_64_after_hwframe;do_syscall_64"
	kernel_to_call="(;x64_sys_call)?"
	kernel_address="ffffffff[0-9a-f]{8}"
	kernel_call=__x64_sys_
	;;
esac
export kernel_to_call kernel_address kernel_call
export kernel_entry=${kernel_path%%;*} kernel_dispatch=${kernel_path##*;}

# kernel_path with the innermost first.
read_kernel_path_up() {
	local function
	export kernel_path_up=
	for function in ${kernel_path//;/ }; do
		kernel_path_up=$function${kernel_path_up:+;$kernel_path_up}
	done
}
read_kernel_path_up

setup_file() {
	[ -n "$TRACEKIT_SLOWNESS" ] || measure_slowness
	[ "$EUID" != 0 ] || mount_tracefs
	copy_programs
}

teardown_file() {
	[ -z "$tracefs_holder" ] || kill "$tracefs_holder" 2>/dev/null || true
}

# Each file of tests has programs of its own to count calls of: what counts the calls of all
# processes does not count those of other tests. Of those of lives the system calls are counted: it
# has a name of its own, too, in $lives, for --comm.
copy_programs() {
	cp "$CALLS" "${CALLS%/*}/libcounted.so" "$BATS_FILE_TMPDIR"
	export CALLS=$BATS_FILE_TMPDIR/${CALLS##*/}
	lives=${BATS_TEST_FILENAME##*/}
	export lives=lives_${lives:0:8}
	cp "$LIVES" "$BATS_FILE_TMPDIR/$lives"
	export LIVES=$BATS_FILE_TMPDIR/$lives
}

# tracefs is mounted for one process only, through which tests look at it: the programs that they
# test must not find it.
mount_tracefs() {
	local tries
	unshare --mount sh -c 'mount -t tracefs nodev /sys/kernel/tracing && exec sleep infinity' \
		2>/dev/null 3>&- &
	export tracefs_holder=$! tracefs=/proc/$!/root/sys/kernel/tracing
	for tries in $(seq 500); do
		[ ! -e "$tracefs/events" ] && kill -0 "$tracefs_holder" 2>/dev/null || break
		pause
	done
	[ -e "$tracefs/events" ] || ! grep -qw tracefs /proc/filesystems || {
		echo "cannot mount tracefs, where what is left behind is seen"
		return 1
	}
	read_traced
	export traced_before=$traced
}

setup() {
	[ "$EUID" = 0 ] || skip "needs root"
	started=()
	cd "$BATS_TEST_TMPDIR" || return
	follow_case_only
}

# bats notes where each command stands, which takes 70 times as long as a command of the shell. It
# does so for the commands of the case, not of the functions that the case calls: if one of these
# functions fails, we say where.
follow_case_only() {
	set +T
	declare -ft "$BATS_TEST_NAME"
	trap 'bats_error_trap; say_where "$LINENO" "$BASH_COMMAND"' ERR
}

# say_where LINE COMMAND: has failed in the function that the caller is.
say_where() {
	[ "$BASH_SUBSHELL" -gt 0 ] || [ "${FUNCNAME[1]}" = "$BATS_TEST_NAME" ] ||
		echo "line $1 of ${BASH_SOURCE[1]##*/}, in ${FUNCNAME[1]}: $2"
}

teardown() {
	end_started
}

end_started() {
	local pid
	! has_failed || show_processes
	for pid in "${started[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	wait
	remove_copy
	! has_failed || show_files
}

has_failed() {
	[ -z "$BATS_TEST_COMPLETED$BATS_TEST_SKIPPED" ]
}

# What those that were started do, and the children of the tracer.
show_processes() {
	local pid
	for pid in "${started[@]}" $(pgrep -P "${tracer:-0}"); do
		[ ! -e "/proc/$pid/syscall" ] ||
			echo "$(ps -o pid=,stat=,time=,args= -p "$pid" | cut -c 1-150): system call $(<"/proc/$pid/syscall")"
	done
}

# The output of the programs.
show_files() {
	local file
	for file in out err report; do
		[ ! -s $file ] || { echo "the end of $file:"; tail -n 20 $file | cut -c 1-500; }
	done
}

# The session that PID is in, in $session; none if it has ended.
read_session() {
	local stat
	session=
	read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
	set -- ${stat##*) }
	session=$4
}

# None of our BPF programs is loaded, but for those that processes of other sessions hold: other
# tests can run meanwhile. See run_bats.sh.
no_programs_left() {
	local line loaded=() held=' ' id holder ours session
	while read -r line; do
		[[ ! $line =~ ' name '(profile_sample|probe_|waits_) ]] || loaded+=("${line%%:*}")
	done < <(bpftool prog 2>/dev/null)
	[ ${#loaded[@]} -gt 0 ] || return 0
	read_session $$
	ours=$session
	while IFS=$'/:\t' read -r _ _ holder _ _ _ id; do
		read_session "$holder"
		[ -z "$session" ] || [ "$session" = "$ours" ] || held+="$id "
	done < <(grep -Hs '^prog_id:' /proc/[0-9]*/fdinfo/*)
	# To look at thousands of processes takes a moment, in which another test's trace may end.
	for id in "${loaded[@]}"; do
		[[ $held == *" $id "* ]] || ! bpftool prog show id "$id" >/dev/null 2>&1 || return
	done
}

# The events that tracing through tracefs leaves there, which are not for us to
# change, are in $traced; those of a test that runs beside this one begin with ours_.
read_traced() {
	local file
	traced=
	for file in "$tracefs"/{uprobe,kprobe}_events; do
		[ ! -r "$file" ] || traced+=$(grep -v ':ours_' "$file" || true)
	done
}

# In a guest of test/vm, where less is done in the same time. See its init.
in_guest() {
	[ -d /run/guest ]
}

# pause [SECONDS]: a moment, of 20 ms.
pause() {
	# From a pipe that nobody else writes to.
	[ -n "$nothing" ] || exec {nothing}<> <(:)
	read -rt "${1:-0.02}" -u "$nothing" || true
}

# All that a trace has loaded and made is gone, a moment after it.
nothing_left() {
	local traced
	WAIT=5 wait_for no_programs_left
	read_traced
	[ "$traced" = "$traced_before" ]
}

# start COMMAND...: in the background; its PID is in $pid.
start() {
	"$@" 3>&- &
	pid=$!
	started+=("$pid")
}

# spin MODE...: start one of the known programs.
spin() {
	start_busy "$SPIN" "$@"
}

# wait_for COMMAND...: until it succeeds, but not for ever.
wait_for() {
	local end=$((SECONDS + ${WAIT:-60} * TRACEKIT_SLOWNESS))
	while [ "$SECONDS" -lt "$end" ]; do
		! "$@" || return 0
		pause
	done
	echo "waited in vain for: $*"
	return 1
}

# within SECONDS COMMAND...: it is ended, and fails, after that; later on a slow machine.
within() {
	timeout $(($1 * TRACEKIT_SLOWNESS)) "${@:2}"
}

# timed COMMAND...: how long it took, in hundredths of a second rounded up, is in $took.
timed() {
	local begin=${EPOCHREALTIME/[.,]/}
	"$@"
	took=$(((${EPOCHREALTIME/[.,]/} - begin) / 10000 + 1))
}

# is_called PID COMM
is_called() {
	[ "$(<"/proc/$1/comm")" = "$2" ]
}

# has_begun PID COMM: it has become that program, and has loaded what it needs.
has_begun() {
	is_called "$1" "$2" && has_used "$1" 2
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

# start_silent_fs PROGRAM: it is silent/program, in a file system of the process $server, which
# answers until it gets SIGUSR1.
start_silent_fs() {
	mkdir -p silent
	start "$SILENT_FS" silent "$1"
	server=$pid
	until [ -x silent/program ]; do
		kill -0 "$server" 2>/dev/null || skip "cannot mount a FUSE file system"
		pause
	done
}

# Ends all that hangs there, too.
end_silent_fs() {
	kill -KILL "$server"
	umount -l silent
}

profile() {
	"$TRACEKIT" profile "$@"
}

# err has no lines but those about samples in the kernel of threads whose registers it does not
# tell: before 5.15, and without BTF.
says_nothing() {
	! grep -Ev ': [0-9]+ registers not known in the kernel$' err
}

# Succeeds if the registers of a program that has called the kernel can be had.
tells_registers() {
	[ "$(printf '%s\n' 5.15 "$(uname -r)" | sort -V | head -1)" = 5.15 ]
}

needs_registers() {
	tells_registers ||
		skip "the kernel does not tell the registers of a program that has called it"
}

# CPU time that a process has used, in hundredths of a second.
cpu_time() {
	local ticks
	read_cpu_time "$1"
	echo "$ticks"
}

# The same in $ticks.
read_cpu_time() {
	local stat
	stat=$(<"/proc/$1/stat")
	set -- ${stat##*) }
	ticks=$((${12} + ${13}))
}

# has_used PID HUNDREDTHS of a second of CPU time since it began.
has_used() {
	local ticks
	read_cpu_time "$1"
	[ "$ticks" -ge "$2" ]
}

# start_busy PROGRAM...: start one that computes for ever, and wait until it does: to begin takes
# less CPU time than that.
start_busy() {
	start "$@"
	wait_for has_used "$pid" 10
}

# spend PID HUNDREDTHS: wait until it has used so much more CPU time, however busy the machine is.
spend() {
	wait_for has_used "$1" $(($(cpu_time "$1") + $2))
}

# How often the process PID has waited.
times_waited() {
	sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$1/status"
}

has_waited() {
	[ "$(times_waited "$1")" -ge "$2" ]
}

# wait_often PID TIMES: until it has waited so often again.
wait_often() {
	wait_for has_waited "$1" $(($(times_waited "$1") + $2))
}

# The kernel function that PID waits in, as messages have it, in $place: ", in do_wait"; nothing if
# the kernel does not tell.
read_place() {
	local stack
	place=$(<"/proc/$1/wchan")
	if [ "$place" = 0 ]; then
		read -r stack <"/proc/$1/stack" || true
		place=${stack#*] }
		place=${place%%+*}
	fi
	place=${place:+, in $place}
}

# sample HUNDREDTHS ARGUMENTS...: profile, into out and err, until each process in $busy, or $pid, has
# used so much more CPU time.
sample() {
	local process
	start_tracer profile "${@:2}"
	for process in ${busy:-$pid}; do
		spend "$process" "$1"
	done
	stop_tracer
}

# sample_one PID ARGUMENTS...: profile it, into out. Until that has ended, PID used $used hundredths of a
# second of CPU time; $took passed.
sample_one() {
	used=-$(cpu_time "$1")
	timed profile -p "$@" >out
	used=$((used + $(cpu_time "$1")))
}

# likely SAMPLES HERTZ SECONDS: sample_one() may have taken so many, so often for so long, of one thread.
# Each meets a thread that shares its CPU by chance: by a binomial distribution, of which this allows
# five standard deviations.
likely() {
	awk -v samples="$1" -v hertz="$2" -v taken=$(($2 * $3)) -v used="$used" -v took="$took" '
	BEGIN {
		share = used < took ? used / took : 1
		chance = 5 * sqrt(taken * share * (1 - share))
		least = taken * share * 0.8 - 2 - chance
		most = hertz * (used + 1) / 100 + 2 + chance
		printf "%d samples, of %d to %d; %d of %d ticks\n", samples, least, most, used, took
		exit !(samples >= least && samples <= most)
	}'
}

# sum FILE: of the counts at the ends of folded lines.
sum() {
	awk '{ n += $NF } END { print n + 0 }' "$1"
}

# Number NAME of each --stats line of FILE: "NUMBER NAME".
stat_of() {
	local stats
	read_stats "$@"
	[ ${#stats[@]} -eq 0 ] || printf '%s\n' "${stats[@]}"
}

# The same in $stats.
read_stats() {
	local line
	stats=()
	while read -r line; do
		[[ ! $line =~ [\ :]([0-9]+)\ $1 ]] || stats+=("${BASH_REMATCH[1]}")
	done <"$2"
}

# Start a profile without end and wait until it samples.
start_profile() {
	start "$TRACEKIT" profile "$@" >out 2>err
	until [[ $(<out) == Sampling* ]]; do
		kill -0 "$pid" || return
		pause
	done
}

# stop_after SECONDS ARGUMENTS...: an applet that is told so soon to end does, and well. A signal
# to the shell that becomes it can be lost; so can SIGINT until main() has asked for it, since
# shells have their background programs ignore SIGINT.
stop_after() {
	local delay=$1 name=
	start "$TRACEKIT" "${@:2}" >out 2>err
	until [ "$name" = tracekit ]; do
		read -r name <"/proc/$pid/comm"
	done
	sleep "$delay"
	kill -TERM "$pid"
	try wait "$pid"
	echo "after $delay s: status $status"
	cat err
	# 143: main() had not asked for it.
	[ "$status" -eq 0 ] || [ "$status" -eq 143 ]
}

# Hundredths of a second that all CPUs have been idle, together.
idle_time() {
	local label idle iowait
	read -r label _ _ _ idle iowait _ </proc/stat
	[ "$label" = cpu ] && echo $((idle + iowait))
}

# needs_idle_since TIME: skips if since then, as of idle_time, the CPUs were not idle for a second,
# since others keep them busy.
needs_idle_since() {
	[ $(($(idle_time) - $1)) -ge 100 ] || skip "no CPU has been idle meanwhile"
}

# profile_idle ARGUMENTS...: again and again, until the idle task is in out.
profile_idle() {
	local before tries
	before=$(idle_time)
	for tries in {1..20}; do
		profile "$@" >out
		! grep -q swapper/ out || return 0
	done
	needs_idle_since "$before"
	return 1
}

# ---- stackcount ----

stackcount() {
	"$TRACEKIT" stackcount "$@"
}

# Process $1 polls two or more descriptors, as a tracer does when all is attached.
polls() {
	local call descriptors
	read -r call _ descriptors _ 2>/dev/null <"/proc/$1/syscall" || return
	# poll() of x86-64, ppoll() of x86-64 and arm64
	[[ $call =~ ^(7|271|73)$ ]] && ((descriptors > 1))
}

# Start an applet without end and wait until it has attached; its PID is in $tracer, while
# $pid remains that of what is traced. Its stdout is "$out", a file or FIFO, or out.
start_tracer() {
	local pid
	start "$TRACEKIT" "$@" >"${out:-out}" 2>err
	tracer=$pid
	# A tracer that has much to do hardly ever polls.
	until polls "$tracer" || [ -s "${out:-out}" ]; do
		kill -0 "$tracer" 2>/dev/null || break
		pause
	done
	kill -0 "$tracer" || { cat err; return 1; }
}

# No signal waits for process $1 to see it.
has_no_signals() {
	local name value
	while read -r name value; do
		[[ $name != @(SigPnd|ShdPnd): || $value =~ ^0+$ ]] || return
	done <"/proc/$1/status"
}

# interrupt_twice PID: the second time when it has seen the first, and no longer takes both for one.
interrupt_twice() {
	kill -INT "$1"
	wait_for has_no_signals "$1"
	pause 0.5
	kill -INT "$1"
}

start_stackcount() {
	start_tracer stackcount "$@"
}

# Ctrl-C: it ends well, and leaves nothing behind.
stop_tracer() {
	kill -INT "$tracer"
	ends_well
}

stop_stackcount() {
	stop_tracer
}

# $tracer ends by itself, with status 0.
ends_well() {
	try wait "$tracer"
	echo "$(<err)"
	[ "$status" -eq 0 ] && nothing_left
}

# The program PID has said that it is.
is_ready() {
	local line
	read -r line 2>/dev/null <"said.$1" && [ "$line" = ready ]
}

# calls MODE NUMBER...: start one of the programs whose calls are known.
calls() {
	# The process itself expands where its output goes.
	"${copy:-$CALLS}" "$@" >"said.$BASHPID" 3>&- &
	pid=$!
	started+=("$pid")
	wait_for is_ready "$pid"
}

# How often PID has made its calls is in $rounds, what it said last in $answer.
read_rounds() {
	local line
	rounds=0
	while read -r line; do
		[[ $line != done* ]] || rounds=$((rounds + 1))
		answer=${line#done }
	done <"said.$1"
}

has_gone_round() {
	read_rounds "$1"
	[ "$rounds" -gt "$2" ]
}

# go PID: have it make its calls; the number that it says is in $answer.
go() {
	local rounds before
	read_rounds "$1"
	before=$rounds
	kill -USR1 "$1"
	wait_for has_gone_round "$1" "$before"
}

# total NAME: number NAME of all the --stats lines in err, which is 0 where it is not known.
total() {
	local total
	read_total "$1"
	echo "$total"
}

# The same in $total.
read_total() {
	local number stats
	read_stats "$1" err
	total=0
	for number in "${stats[@]}"; do
		total=$((total + number))
	done
}

# made MADE SEEN: all calls that were made were seen, or else the kernel missed some, by its own
# account; it may also have missed other calls.
made() {
	local total
	[ "$2" -le "$1" ]
	read_total "missed by the kernel"
	[ $(($2 + total)) -ge "$1" ]
}

# balanced COUNT: seen = counted + filtered + lost in each line of --stats; all that is in
# out, folded, was counted; and so many were made.
balanced() {
	awk '/ seen = / { gsub(/[^0-9]+/, " "); lines++; if ($1 != $2 + $3 + $4) bad = 1 }
		END { exit bad || !lines }' err
	[ "$(total counted)" -eq "$(sum out)" ]
	made "$1" "$(total seen)"
}

# stacks: the stacks in out, folded, from main() on, each once, however it was walked before
# main(); sorted by count.
stacks() {
	awk '{ count = $NF; sub(/ [0-9]+$/, ""); sub(/^.*;main;/, "main;"); sum[$0] += count }
		END { for (stack in sum) print stack, sum[stack] }' out | sort -k2n
}

# The applet's own word on whether kernel functions can be probed here, asked once for each file.
needs_kprobes() {
	[ ! -e "$BATS_FILE_TMPDIR/kprobes" ] || return 0
	stackcount -D 0.01 vfs_read >/dev/null 2>err ||
		refute grep -q 'without kprobes' err || skip "a kernel without kprobes"
	: >"$BATS_FILE_TMPDIR/kprobes"
}

# stackcount_text FILE: the layout of stackcount: a header, then at each interval an empty line and the
# time, if there is one, and blocks of frames, process, count and an empty line, the least
# count first; then that it detaches. Prints the sum of the counts.
stackcount_text() {
	awk '
	function wrong(what) { print FILENAME ":" NR ": " what ": " $0 >"/dev/stderr"; bad = 1; exit 1 }
	done { wrong("behind the end") }
	NR == 1 { if ($0 !~ /^Tracing [0-9]+ functions for ".+"\.\.\. Hit Ctrl-C to end\.$/) wrong("header"); next }
	/^Detaching/ { if (state != "" || empty != 1) wrong("end"); done = 1; next }
	/^[0-9][0-9]:[0-9][0-9]:[0-9][0-9]$/ { if (!empty) wrong("time"); next }
	$0 == "" { if (state != "" && state != "count") wrong("cut off"); if (state == "") last = 0; state = ""; empty = 1; next }
	/^    [0-9]+$/ { if (state == "count") wrong("count"); if ($1 + 0 < last) wrong("order"); last = $1 + 0; total += $1; state = "count"; next }
	/^    --$/ { if (state == "process" || state == "count" || state == "border") wrong("border"); state = "border"; next }
	/^    .+ \[[0-9]+\]$/ { if (state == "process" || state == "count") wrong("process"); state = "process"; next }
	/^  [^ ]/ { if (state == "process" || state == "count") wrong("frame"); if (state != "border") state = "frame"; next }
	{ wrong("line") }
	END { if (bad) exit 1; if (!done) { print FILENAME ": no end" >"/dev/stderr"; exit 1 }; print total + 0 }
	' "$1"
}

# folded FILE: lines of comm, frames and count, the least count first. Prints the sum.
folded() {
	awk '
	function wrong(what) { print FILENAME ":" NR ": " what ": " $0 >"/dev/stderr"; bad = 1; exit 1 }
	!/^[^;]+(;[^;]+)* [0-9]+$/ { wrong("line") }
	$NF + 0 < last { wrong("order") }
	{ last = $NF + 0; total += $NF }
	END { if (!bad) print total + 0 }
	' "$1"
}

# probe_returns FUNCTION...: another tool has probes at their returns.
probe_returns() {
	local function address base
	[ -w "$tracefs/uprobe_events" ] || skip "cannot define events here"
	base=$(readelf -lW "$WALKED" | awk '$1 == "LOAD" { print $3; exit }')
	for function; do
		address=0x$(readelf -sW "$WALKED" | awk -v name="$function" '$8 == name { print $2 }')
		echo "r:ours_$$/$function $WALKED:$((address - base))" >>"$tracefs/uprobe_events"
		echo 1 >"$tracefs/events/ours_$$/$function/enable"
	done
}

forget_return_probes() {
	local event
	for event in "$tracefs/events/ours_$$"/*/; do
		[ -e "$event/enable" ] || continue
		echo 0 >"$event/enable"
		event=${event%/}
		echo "-:ours_$$/${event##*/}" >>"$tracefs/uprobe_events"
	done
}
