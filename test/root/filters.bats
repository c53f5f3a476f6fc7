#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Whose stacks are shown: each filter lets pass what it names, and nothing else.

load helpers
load stacksnoop
load ../refute

teardown() {
	end_started
	if mountpoint -q bpf; then
		umount bpf
	fi
	if [ -n "$container" ]; then
		within 60 "${podman[@]}" rm -f -t 0 "$container" >said 2>&1 || cat said
		rmdir /sys/fs/cgroup{,/*}/libpod_parent 2>/dev/null || true
	fi
	if [ -n "$cgroup" ]; then
		rmdir "$cgroup"/docker-* "$cgroup/below" "$cgroup" 2>/dev/null || true
	fi
}

# key NUMBER: as 8 bytes for bpftool, in the order of this machine.
key() {
	printf '%016x' "$1" | sed -E 's/(..)(..)(..)(..)(..)(..)(..)(..)/0x\8 0x\7 0x\6 0x\5 0x\4 0x\3 0x\2 0x\1/'
}

# pin_map NAME TYPE KEY-SIZE VALUE-SIZE [ARGUMENT...]: at bpf/NAME, empty.
pin_map() {
	local name=$1 type=$2 key_size=$3 value_size=$4
	shift 4
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	mkdir -p bpf
	mountpoint -q bpf || mount -t bpf bpf bpf
	bpftool map create "bpf/$name" type "$type" key "$key_size" value "$value_size" \
		entries 4 name "$name" "$@"
}

# add_key NAME NUMBER
add_key() {
	# shellcheck disable=SC2046
	bpftool map update pinned "bpf/$1" key $(key "$2") value 0 0 0 0 0 0 0 0 0 0 0 0
}

# A cgroup of version 2 of our own, with one below it, in $cgroup.
make_cgroup() {
	local root
	root=$(findmnt -n -t cgroup2 -o TARGET | head -1)
	[ -n "$root" ] || skip "no cgroup v2 is mounted"
	cgroup=$root/tracekit-test-$BASHPID
	mkdir -p "$cgroup/below" || skip "cannot make a cgroup"
}

# enter PID CGROUP
enter() {
	echo "$1" >"$2/cgroup.procs"
}

@test "--cgroup shows that cgroup and those below it, and nothing else" {
	make_cgroup
	spin names
	outside=$pid
	spin names
	inside=$pid
	spin names
	enter "$inside" "$cgroup"
	enter "$pid" "$cgroup/below"
	busy="$outside $inside $pid" sample 10 -U --stats --cgroup "$cgroup" -F 499
	grep -q "spin ($inside)" out
	grep -q "spin ($pid)" out
	refute grep -q "spin ($outside)" out
	[ "$(stat_of filtered err)" -gt 0 ]
	busy="$inside $pid" sample 10 -U --cgroup "$cgroup/below" -F 499
	refute grep -q "spin ($inside)" out
	grep -q "spin ($pid)" out
}

# calls ARGUMENT..., of a program of which nobody else counts the calls.
own_calls() {
	[ -e own ] || cp "$CALLS" own
	copy=./own calls "$@"
}

# The calls of the programs PID..., each of which makes 50 and 100.
all_go() {
	local program
	for program; do
		go "$program"
	done
}

@test "--cgroup and --cgroupmap of stackcount and stacksnoop: events of these, and no others" {
	make_cgroup
	own_calls names 50
	outside=$pid
	own_calls names 50
	inside=$pid
	own_calls names 50
	enter "$inside" "$cgroup"
	enter "$pid" "$cgroup/below"
	start_stackcount -P --stats --cgroup "$cgroup" ./own:counted
	all_go "$outside" "$inside" "$pid"
	stop_stackcount
	grep -q "\\[$inside\\]" out
	grep -q "\\[$pid\\]" out
	refute grep -q "\\[$outside\\]" out
	[ "$(total counted)" -eq 300 ]
	[ "$(total filtered)" -eq 150 ]
	pin_map groups hash 8 12
	add_key groups "$(stat -c %i "$cgroup/below")"
	start_tracer stacksnoop -vU --stats --cgroupmap bpf/groups ./own:counted
	all_go "$outside" "$inside" "$pid"
	stop_tracer
	[ "$(total counted)" -eq 150 ]
	[ "$(sed 1d out | cut -c33-38 | sort -u | tr -d ' ')" = "$pid" ]
}

@test "--mntnsmap of stackcount: the mount namespaces in the map" {
	[ -e /sys/kernel/btf/vmlinux ] || skip "the kernel has no BTF"
	own_calls names 50
	pin_map namespaces hash 8 12
	start_stackcount --stats --mntnsmap bpf/namespaces ./own:counted
	go "$pid"
	add_key namespaces "$(stat -Lc %i "/proc/$pid/ns/mnt")"
	go "$pid"
	stop_stackcount
	[ "$(total counted)" -eq 150 ]
	[ "$(total filtered)" -eq 150 ]
}

@test "what we do ourselves is left out; --self shows it" {
	for self in '' --self; do
		# shellcheck disable=SC2086
		start_stackcount -P --stats $self t:raw_syscalls:sys_enter
		ours=$(echo "$tracer" $(pgrep -P "$tracer") | tr ' ' '|')
		for _ in {1..20}; do
			"$LIVES" once
		done
		stop_stackcount
		grep -q "^    $lives \[" out
		awk -v RS= -v pids="$ours" '$0 ~ "tracekit \\[(" pids ")\\]" { sum += $NF } END { print sum + 0 }' out >"calls$self"
	done
	# But for the first two calls of each of our children, before it has said that it is one.
	[ "$(<calls)" -le 4 ]
	[ "$(<calls--self)" -gt 100 ]
}

@test "-p of a tracer shows it" {
	start_tracer stackcount -q t:raw_syscalls:sys_enter
	watched=$tracer
	started+=("$watched")
	out=watched start_tracer profile -F 999 -p "$watched"
	"$LIVES" forks 200
	kill -INT "$watched"
	wait_for eval '! kill -0 "$watched" 2>/dev/null'
	wait "$tracer"
	grep -q "tracekit ($watched)" watched
}

@test "who gets the PID of a process of ours is not left out" {
	local asked=0
	start_stackcount -f --stats -i 0.1 "$CALLS:counted"
	# The one that loads tables, and the one that names addresses, which is started anew.
	wait_for eval 'own=($(pgrep -P "$tracer")); [ "${#own[@]}" -ge 2 ]'
	kill -KILL "${own[-1]}"
	is_asked() {
		# By the report.
		"$CALLS" run names 10
		asked=$((asked + 30))
		! kill -0 "${own[-1]}" 2>/dev/null
	}
	wait_for is_asked
	try "$LIVES" as "${own[-1]}" "$CALLS" run names 10
	[ "$status" -ne 77 ] || skip "this kernel gives no PID that is asked for"
	[ "$status" -eq 0 ]
	stop_stackcount
	[ "$(sum out)" -eq $((asked + 30)) ]
}

@test "--comm: threads of that name, as they are called then" {
	cp "$CALLS" ./other_name
	calls names 50
	mine=$pid
	copy=./other_name calls names 50
	copy=
	for glob in 'other_name' 'o*_?ame' '[!a-n]*'; do
		start_tracer stacksnoop -vU --stats -p "$mine,$pid" --comm "$glob" t:syscalls:sys_enter_rt_sigtimedwait
		all_go "$mine" "$pid"
		stop_tracer
		[ "$(total counted)" -gt 0 ]
		[ "$(total filtered)" -gt 0 ]
		[ "$(sed 1d out | cut -c20-31 | sort -u | tr -d ' ')" = other_name ]
	done
	for comm in calls 'c*'; do
		profile --comm "$comm" 0.2 >out
		refute grep -Eq ' other_name \\(' out
	done
	try profile --comm 0123456789abcdef 1 2>err
	[ "$status" -eq 2 ]
	grep -Fxq "profile: --comm '0123456789abcdef': names of threads have 15 bytes at most, the rest is cut off; end it with *; see 'profile --help'" err
	try stackcount --comm '[a' vfs_read 2>err
	[ "$status" -eq 2 ]
	grep -Fxq "stackcount: --comm '[a': '[' or a backslash has no end; see 'stackcount --help'" err
}

# A container that only counts, made by podman, with its ID in $container.
run_container() {
	! in_guest || skip "it is the same under all kernels"
	command -v podman >/dev/null || skip "podman is not installed"
	command -v runc >/dev/null || skip "runc is not installed"
	mkdir rootfs
	echo 'int main(void) { for (volatile unsigned long n = 0;; n++) ; }' >inside.c
	cc -static -o rootfs/inside inside.c
	podman=(podman --root "$PWD/storage" --runroot "$PWD/run" --storage-driver vfs --runtime runc --cgroup-manager cgroupfs)
	container=$(within 60 "${podman[@]}" run -d --network none --ulimit nofile=1024:1024 --ulimit nproc=1000:1000 \
		--rootfs "$PWD/rootfs" /inside 3>&- 2>said) || skip "podman cannot run a container here"
}

@test "--container of podman: what runs in it, with the names of its own files" {
	run_container
	spin names
	profile -U --container "${container:0:12}" -F 499 0.3 >out
	grep -Eq '^ +main$' out
	grep -q "inside (" out
	refute grep -q "spin (" out
	# Its ID stands behind it, and behind no other.
	profile -U --show-containers -F 499 0.3 >out
	grep -Eq "inside \([0-9]+\) container ${container:0:12}$" out
	grep -q "spin ($pid)$" out
	profile --format json -U -F 499 0.3 >out
	[ "$(sed -n 's/.*"comm":"inside".*"container":"\([^"]*\)".*/\1/p' out | sort -u)" = "$container" ]
	refute grep -q '"comm":"spin".*"container"' out
	"$TRACEKIT" stacksnoop -v --show-containers -n 20 --comm inside t:sched:sched_switch >out
	[ "$(sed 1d out | cut -c 44-55 | sort -u)" = "${container:0:12}" ]
	"$TRACEKIT" stacksnoop --json -n 20 --comm inside t:sched:sched_switch >out
	[ "$(sed 's/.*"container":"\([^"]*\)".*/\1/' out | sort -u)" = "$container" ]
}

@test "the container of a process that has ended, in a cgroup below that of the container, and gone" {
	make_cgroup
	id=$(printf 'ab%.0s' {1..32})
	mkdir "$cgroup/docker-$id.scope" "$cgroup/docker-$id.scope/below"
	start_tracer stackcount --show-containers -P -U "$SPIN:turn"
	spin paths
	enter "$pid" "$cgroup/docker-$id.scope/below"
	spend "$pid" 5
	kill "$pid"
	wait "$pid" || true
	rmdir "$cgroup/docker-$id.scope/below" "$cgroup/docker-$id.scope"
	stop_tracer
	grep -q "^    spin \[$pid\] container abababababab$" out
	calls names 10
	start_tracer stacksnoop --show-containers -U "$CALLS:counted"
	go "$pid"
	# Made later than the trace.
	id=$(printf 'cd%.0s' {1..32})
	mkdir "$cgroup/docker-$id.scope"
	enter "$pid" "$cgroup/docker-$id.scope"
	is_shown() {
		go "$pid"
		grep -Eq '^[0-9.]+ +cdcdcdcdcdcd $' out
	}
	wait_for is_shown
	stop_tracer
	grep -Eq '^[0-9.]+ +- {12}$' out
	[[ $(stacksnoop_text out c) == *' 0' ]]
}

@test "the container of a process is in no text that was not asked for it" {
	make_cgroup
	id=$(printf 'ab%.0s' {1..32})
	mkdir "$cgroup/docker-$id.scope"
	calls names 10
	enter "$pid" "$cgroup/docker-$id.scope"
	start_tracer stackcount -v -P -U "$CALLS:counted"
	go "$pid"
	stop_tracer
	grep -Fxq "    calls [$pid]" out
	start_tracer stacksnoop -v -U "$CALLS:counted"
	go "$pid"
	stop_tracer
	[ "$(head -n 1 out)" = "TIME(s)            COMM         PID    CPU STACK" ]
	[[ $(stacksnoop_text out v) =~ ^[1-9][0-9]*' 0'$ ]]
	refute grep -q abababab out
}

@test "--container: none, and several" {
	make_cgroup
	local id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abc
	mkdir "$cgroup/docker-${id}dd1.scope" "$cgroup/docker-${id}dd2.scope"
	spin names
	enter "$pid" "$cgroup/docker-${id}dd2.scope"
	try profile --container "$id" 1 2>err
	[ "$status" -eq 1 ]
	grep -q "^profile: --container $id: is how 2 IDs begin: " err
	try stackcount --container "${id}dd3" t:sched:sched_switch 2>err
	[ "$status" -eq 1 ]
	grep -q "^stackcount: --container ${id}dd3: no container's ID begins with that; " err
	sample 10 -U --container "${id}dd2" -F 499
	grep -q "spin ($pid)" out
}

@test "--cgroup of what is none" {
	root=$(findmnt -n -t cgroup2 -o TARGET | head -1)
	for path in . nowhere /nowhere; do
		try profile --cgroup "$path" 1 2>err
		[ "$status" -eq 1 ]
		if [ -n "$root" ]; then
			diff err <(echo "profile: --cgroup $path: is neither the folder of a cgroup of version 2 nor a name below $root, where they are mounted")
		else
			diff err <(echo "profile: --cgroup $path: is no cgroup of version 2: none are mounted here")
		fi
	done
}

@test "--cgroup by its name below the mount, wherever that is" {
	make_cgroup
	spin paths
	enter "$pid" "$cgroup/below"
	name=${cgroup#"$(findmnt -n -t cgroup2 -o TARGET | head -1)"}
	sample 10 -U --cgroup "$name/below" -F 499
	grep -q "spin ($pid)" out
	sample 10 -U --cgroup "${name#/}" -F 499
	grep -q "spin ($pid)" out
	unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
	mkdir unified
	# Only there.
	unshare --mount bash -c 'mount -t cgroup2 none unified && mount -t tmpfs none "$1" &&
		exec "$TRACEKIT" profile -f -U --cgroup "$2" -F 499 0.5' - "${cgroup%"$name"}" "$name" >out 2>err || {
		cat err
		false
	}
	grep -q "^spin;" out
}

@test "--cgroupmap shows the cgroups in the map, each by itself" {
	make_cgroup
	pin_map groups hash 8 12
	spin names
	inside=$pid
	spin names
	enter "$inside" "$cgroup"
	enter "$pid" "$cgroup/below"
	busy="$inside $pid"
	sample 10 -U --stats --cgroupmap bpf/groups -F 499
	refute grep -q "spin" out
	[ "$(stat_of filtered err)" -gt 0 ]
	add_key groups "$(stat -c %i "$cgroup")"
	sample 10 -U --cgroupmap bpf/groups -F 499
	grep -q "spin ($inside)" out
	refute grep -q "spin ($pid)" out
	add_key groups "$(stat -c %i "$cgroup/below")"
	sample 10 -U --cgroupmap bpf/groups -F 499
	grep -q "spin ($inside)" out
	grep -q "spin ($pid)" out
}

@test "--mntnsmap shows the mount namespaces in the map" {
	unshare --mount true || skip "cannot make a mount namespace"
	[ -e /sys/kernel/btf/vmlinux ] || skip "the kernel has no BTF"
	pin_map namespaces hash 8 12
	spin names
	outside=$pid
	start unshare --mount "$SPIN" names
	wait_for is_called "$pid" spin
	add_key namespaces "$(stat -Lc %i "/proc/$pid/ns/mnt")"
	busy="$outside $pid"
	sample 10 -U --stats --mntnsmap bpf/namespaces -F 499
	grep -q "spin ($pid)" out
	refute grep -q "spin ($outside)" out
	[ "$(stat_of filtered err)" -gt 0 ]
	add_key namespaces "$(stat -Lc %i "/proc/$outside/ns/mnt")"
	sample 10 -U --mntnsmap bpf/namespaces -F 499
	grep -q "spin ($pid)" out
	grep -q "spin ($outside)" out
}

@test "maps of the wrong type, and what is no map" {
	pin_map array array 4 8
	try profile --cgroupmap bpf/array 1 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "profile: --cgroupmap bpf/array: wrong type of map (array with keys of 4 bytes); it must be a hash with keys of 8 bytes" err
	pin_map small hash 4 8
	try profile --mntnsmap bpf/small 1 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "profile: --mntnsmap bpf/small: wrong type of map (hash with keys of 4 bytes); it must be a hash with keys of 8 bytes" err
	try profile --cgroupmap /proc/self/status 1 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "profile: --cgroupmap /proc/self/status: is no pinned map, or not accessible" err
	try profile --mntnsmap bpf/nothing 1 2>err
	[ "$status" -eq 1 ]
	grep -Eq "^profile: --mntnsmap bpf/nothing: cannot open the map: No such file or directory; pin one " err
}

@test "a map that is not preallocated serves, or it is said that the kernel cannot" {
	pin_map groups hash 8 8 flags 1
	try profile --cgroupmap bpf/groups -F 199 0.2 >out 2>err
	[ "$status" -eq 0 ] ||
		grep -Eq '^profile: cannot use a map of --cgroupmap or --mntnsmap that is not preallocated: before Linux 6.1 ' err
}

@test "a pinned map can have the name of one of ours" {
	for name in counts stacks event_counters targets; do
		pin_map "$name" hash 8 12
		spin names
		add_key "$name" 0
		try within 20 "$TRACEKIT" profile -f --stats --cgroupmap "bpf/$name" -F 199 0.2 >out 2>err
		[ "$status" -eq 0 ]
		[ "$(stat_of seen err)" -gt 0 ]
		[ "$(stat_of seen err)" -eq "$(stat_of filtered err)" ]
		[ ! -s out ]
	done
}

@test "several filters together: what passes all of them is shown" {
	make_cgroup
	spin names
	inside=$pid
	spin names
	enter "$inside" "$cgroup"
	enter "$pid" "$cgroup"
	busy="$inside $pid" sample 10 -U --cgroup "$cgroup" -p "$inside" -F 499
	grep -q "spin ($inside)" out
	refute grep -q "spin ($pid)" out
	spin names
	try profile -f -U --cgroup "$cgroup" -p "$pid" -F 499 0.2 >out
	[ "$status" -eq 0 ]
	[ ! -s out ]
}

@test "in a PID namespace: processes of the namespaces below it are shown, by their PIDs here" {
	unshare --fork --pid --mount-proc true || skip "cannot make a PID namespace"
	[ -e /sys/kernel/btf/vmlinux ] || skip "the kernel has no BTF"
	cat >inside <<-END
		unshare --fork --pid --mount-proc "$SPIN" names & unshare=\$!
		for i in \$(seq 600); do pid=\$(pgrep -x spin) && break; sleep 0.05; done
		"$TRACEKIT" profile -U -F 199 0.3
		"$TRACEKIT" profile -f -U -p \$pid -F 499 0.2 >by-pid
		"$TRACEKIT" profile -f -U -L \$pid -F 499 0.2 >by-tid
		kill -KILL \$pid
		echo "pid=\$pid"
	END
	within 60 unshare --fork --pid --mount-proc bash inside >out
	inner=$(sed -n 's/^pid=//p' out)
	[ "$inner" -gt 1 ]
	[ "$inner" -lt 1000 ]
	grep -Fxq "    $(printf '%-16s' -) spin ($inner)" out
	grep -Fxq "    middle" out
	grep -Eq '^spin;.*;middle;spin_leaf [0-9]+$' by-pid
	grep -Eq '^spin;.*;middle;spin_leaf [0-9]+$' by-tid
}
