#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The examples of bcc's page about stackcount, but those in stackcount_output.bats. Those of kernel
# functions need a kernel with kprobes, and skip themselves elsewhere.

load helpers
load ../refute

teardown() {
	[ -z "$device" ] || losetup -d "$device" 2>/dev/null || true
	end_started
}

# A block device that is not a disk of this machine, in $device.
make_block_device() {
	device=
	command -v losetup >/dev/null || skip "losetup is not installed"
	modprobe loop 2>/dev/null || true
	truncate -s 4M image
	device=$(losetup --find --show image 2>/dev/null) || skip "no loop devices"
}

# Write to it: each block of 4 KB, without cache, is at least one bio.
write_blocks() {
	dd if=/dev/zero of="$device" bs=4k count="$1" oflag=direct status=none
}

# A TCP server on this machine, which sends back what it is sent.
serve() {
	command -v busybox >/dev/null || skip "busybox is not installed"
	ip link set lo up 2>/dev/null || true
	start busybox nc -l -p 4711 -e cat
	wait_for grep -hEq ':1267 0+:0000 0A' /proc/net/tcp /proc/net/tcp6
}

# Send so many messages from this shell: 4711 is 0x1267. Each is a segment of its own: TCP joins what
# is written while a short segment is not acknowledged yet, and an answer acknowledges it.
send() {
	local i answer
	exec 5<>/dev/tcp/127.0.0.1/4711
	for i in $(seq "$1"); do
		printf 'message %s\n' "$i" >&5
		read -r answer <&5
		[ "$answer" = "message $i" ]
	done
	exec 5>&-
}

# has_block FILE LINE...: a block whose first lines are these.
has_block() {
	local file=$1
	shift
	printf '  %s\n' "$@" >block
	awk -v RS= -v wanted="$(cat block)" 'index("\n" $0 "\n", "\n" wanted "\n") { found = 1 } END { exit !found }' "$file"
}

@test "stackcount submit_bio" {
	needs_kprobes
	make_block_device
	start_stackcount --stats submit_bio
	write_blocks 20
	stop_stackcount
	head -1 out | grep -Fxq 'Tracing 1 functions for "submit_bio"... Hit Ctrl-C to end.'
	[ "$(stackcount_text out)" -ge 20 ]
	[ "$(total counted)" -eq "$(stackcount_text out)" ]
	awk -v RS= '/\n    dd \[[0-9]+\]\n    [0-9]+$/ { n += $NF } END { exit n < 20 }' out
	[ "$(grep -c '^  submit_bio$' out)" -eq "$(grep -Ec '^    [0-9]+$' out)" ]
	for frame in vfs_write ksys_write "$kernel_entry"; do
		grep -Fxq "  $frame" out
	done
}

@test "stackcount -d submit_bio" {
	needs_kprobes
	make_block_device
	start_stackcount -d submit_bio
	write_blocks 5
	stop_stackcount
	[ "$(stackcount_text out)" -ge 5 ]
	[ "$(grep -c '^    --$' out)" -eq "$(grep -Ec '^    [0-9]+$' out)" ]
	grep -A1 -Fx "  $kernel_entry" out | grep -Fxq '    --'
}

@test "stackcount -d of what sets up a timer for a sleeping thread" {
	needs_kprobes
	# hrtimer_init_sleeper() until 6.13, hrtimer_setup_sleeper_on_stack() since.
	pattern='hrtimer_*_sleeper*'
	stackcount -l "$pattern" >list || skip "no such function"
	calls waits 10
	start_stackcount -d -p "$pid" "$pattern"
	go "$pid"
	stop_stackcount
	[ "$(stackcount_text out)" -eq 10 ]
	sed -n 3p out | grep -Exq '  hrtimer_[a-z]+_sleeper[a-z_]*'
	grep -Exq '  futex_[a-z_]+' out
	grep -Fxq '    --' out
}

@test "stackcount -d ip_output" {
	needs_kprobes
	serve
	start_stackcount -d ip_output
	send 10
	stop_stackcount
	[ "$(stackcount_text out)" -ge 10 ]
	grep -B1 -A1 -Fx '  __ip_queue_xmit' out | grep -Fxq '  ip_output'
	for frame in __tcp_transmit_skb tcp_write_xmit tcp_sendmsg vfs_write '  --' write; do
		grep -Fxq "  $frame" out
	done
	grep -Fxq "    bash [$$]" out || grep -Fxq "    bats [$$]" out || grep -Fq "[$BASHPID]" out
}

@test "stackcount -K ip_output: kernel stacks alone are fewer" {
	needs_kprobes
	serve
	start_stackcount -K ip_output
	send 10
	stop_stackcount
	[ "$(stackcount_text out)" -ge 10 ]
	refute grep -Eq '^    [^ ]+ \[[0-9]+\]$|^  write$' out
	grep -Fxq '  tcp_sendmsg' out
}

@test "stackcount -U ip_output: user stacks alone" {
	needs_kprobes
	serve
	start_stackcount -U ip_output
	send 10
	stop_stackcount
	[ "$(stackcount_text out)" -ge 10 ]
	refute grep -Eq '^  (ip_output|tcp_sendmsg|vfs_write)$' out
	grep -Fxq '  write' out
}

@test "stackcount -p PID u:PROGRAM:PROBE" {
	calls usdt 7
	start_stackcount -p "$pid" "u:$CALLS:plain"
	go "$pid"
	stop_stackcount
	head -1 out | grep -Fxq "Tracing 1 functions for \"u:$CALLS:plain\"... Hit Ctrl-C to end."
	[ "$(stackcount_text out)" -eq 7 ]
	has_block out usdt main
}

@test "stackcount t:sched:sched_switch" {
	start_stackcount --stats t:sched:sched_switch
	sleep 0.3
	stop_stackcount
	[ "$(stackcount_text out)" -gt 2 ]
	[ "$(stackcount_text out)" -eq "$(total counted)" ]
	# __schedule() is the first frame of each stack, also of idle CPUs.
	[ "$(grep -Exc '  __schedule' out)" -eq "$(grep -Exc '    [0-9]+' out)" ]
	[ "$(awk -v RS= '/^  __schedule\n/' out | grep -Exc '    [0-9]+')" -eq "$(grep -Exc '    [0-9]+' out)" ]
	# An idle CPU, if there was one.
	refute grep -E '^    swapper' <(grep -Ev '^    swapper/[0-9]+ \[0\]$' out)
	awk -v RS= '/\n    sleep \[[0-9]+\]\n/' out | grep -q nanosleep
}

@test "stackcount -Tdi 1 submit_bio" {
	needs_kprobes
	make_block_device
	start_stackcount -Tdi 1 submit_bio
	reports() {
		[ "$(grep -Exc '[0-9]{2}:[0-9]{2}:[0-9]{2}' out)" -ge "$1" ]
	}
	wait_for reports 1
	write_blocks 5
	wait_for reports 3
	stop_stackcount
	[ "$(stackcount_text out)" -ge 5 ]
	sed -n 2,3p out | sed 's/^[0-9:]\{8\}$/TIME/' | diff - <(printf '%s\n' '' TIME)
	tail -1 out | grep -Fxq Detaching...
}

@test "stackcount -s tcp_sendmsg" {
	needs_kprobes
	serve
	start_stackcount -s tcp_sendmsg
	send 10
	stop_stackcount
	[ "$(stackcount_text out)" -ge 10 ]
	grep -Eq '^  tcp_sendmsg\+0x[0-9a-f]$' out
	refute grep -Eq '^  [^+]*$' <(grep -E '^  [a-z_]' out | grep -v unknown)
}

@test "stackcount -v tcp_sendmsg, and -sv" {
	needs_kprobes
	serve
	start_stackcount -v tcp_sendmsg
	send 10
	stop_stackcount
	[ "$(stackcount_text out)" -ge 10 ]
	grep -Eq '^  ffff[0-9a-f]{12} tcp_sendmsg$' out
	grep -Eq '^  [0-9a-f]{12}     write$' out
	serve
	start_stackcount -sv tcp_sendmsg
	send 10
	stop_stackcount
	grep -Eq '^  ffff[0-9a-f]{12} tcp_sendmsg\+0x[0-9a-f]$' out
}

@test "stackcount -Ks 'tcp_send*', and the same by an expression" {
	needs_kprobes
	serve
	start_stackcount -Ks 'tcp_send*'
	header=$(head -1 out)
	[[ $header =~ ^'Tracing '([0-9]+)' functions for "tcp_send*"... Hit Ctrl-C to end.'$ ]]
	attached=${BASH_REMATCH[1]}
	[ "$attached" -gt 5 ]
	send 10
	stop_stackcount
	[ "$(stackcount_text out)" -ge 10 ]
	grep -Eq '^  tcp_sendmsg\+0x[0-9a-f]$' out
	grep -Eq '^  tcp_sendmsg_locked\+0x[0-9a-f]$' out
	refute grep -Eq '^    .+ \[' out
	start_stackcount -r '^tcp_send.*'
	head -1 out | grep -Fxq "Tracing $attached functions for \"^tcp_send.*\"... Hit Ctrl-C to end."
	stop_stackcount
}

@test "stackcount -df t:sched:sched_switch" {
	start_stackcount -df t:sched:sched_switch
	sleep 0.3
	stop_stackcount
	[ "$(folded out)" -gt 2 ]
	[ "$(grep -Ec '^[^;]+(;[^;]+)*;-(;[^;]+)*;__schedule [0-9]+$' out)" -eq "$(wc -l <out)" ]
	grep -Eq "^sleep;.*;-;$kernel_entry;.*nanosleep.*;__schedule [0-9]+$" out
	refute grep -E '^swapper' <(grep -Ev '^swapper/[0-9]+;-;' out)
}

@test "stackcount -K and -U t:sched:sched_switch" {
	start_stackcount -K t:sched:sched_switch
	sleep 0.3
	stop_stackcount
	[ "$(stackcount_text out)" -gt 2 ]
	refute grep -Eq '^    .+ \[' out
	start_stackcount -U t:sched:sched_switch
	sleep 0.3
	stop_stackcount
	[ "$(stackcount_text out)" -gt 2 ]
	refute grep -Fxq '  __schedule' out
	# The idle task, if any CPU was idle, has no user stack, and is counted.
	if grep -q '^    swapper' out; then
		grep -B1 -E '^    swapper/[0-9]+ \[0\]$' out | head -1 | grep -Fxq ''
	fi
}

@test "stackcount t:sched:sched_fork, which is not there, and sched_process_fork" {
	start_stackcount t:sched:sched_process_fork
	sleep 0.01
	stop_stackcount
	[ "$(stackcount_text out)" -ge 1 ]
	grep -Fxq '  kernel_clone' out
	try stackcount t:sched:sched_fork 2>err
	[ "$status" -eq 1 ]
	grep -q "^stackcount: 't:sched:sched_fork': no tracepoint matches 'sched_fork'" err
}
