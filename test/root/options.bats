#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Each option of profile does what it says: these tests fail where it is ignored.

load helpers
load ../refute

# The last CPU that is online.
last_cpu() {
	sed 's/.*[,-]//' /sys/devices/system/cpu/online
}

@test "-L shows that thread and no other of its process" {
	spin threads
	mapfile -t tids < <(ls "/proc/$pid/task" | grep -vx "$pid")
	[ "${#tids[@]}" -eq 2 ]
	start_tracer profile -f -U -L "${tids[0]}" -F 499 --stats
	before=$(cpu_time "$pid/task/${tids[0]}")
	spend "$pid/task/${tids[0]}" 30
	used_one=$(($(cpu_time "$pid/task/${tids[0]}") - before))
	stop_tracer
	grep -Eq ';thread;spin_leaf [0-9]+$' out
	one=$(sum out)
	[ "$(stat_of filtered err)" -gt 0 ]
	[ "$(stat_of counted err)" -eq "$one" ]
	start_tracer profile -f -U -L "${tids[0]},${tids[1]}" -F 499
	before=$(cpu_time "$pid")
	spend "$pid" 60
	used_both=$(($(cpu_time "$pid") - before))
	stop_tracer
	both=$(sum out)
	profile -L "${tids[1]},${tids[0]}" 0.2 >out
	head -1 out | grep -Fq "Sampling at 49 Hertz of TID [${tids[1]}, ${tids[0]}] by user + kernel"
	echo "one thread $one samples in $used_one ticks, both $both in $used_both"
	# As many for each tick: with a CPU for each, twice as many.
	[ $((both * used_one * 20)) -gt $((one * used_both * 13)) ]
}

@test "-L of a first thread does not show the other threads of the process" {
	spin brief-thread
	sample 10 -f -U -L "$pid" -F 499
	grep -Eq ';main;brief_thread;spin_leaf [0-9]+$' out
	refute grep -q 'clock_gettime' out
}

@test "when all threads of -L have ended the trace ends, though their process goes on" {
	spin brief-thread
	target=$pid
	thread=$(ls "/proc/$target/task" | grep -vx "$target")
	start_profile -U -L "$thread"
	spend "$target/task/$thread" 20
	kill -0 "$pid"
	kill -USR1 "$target"
	try wait "$pid"
	[ "$status" -eq 0 ]
	kill -0 "$target"
	grep -q "spin ($target)" out
	refute grep -Fxq "    main" out
}

@test "-L of a thread that does not exist" {
	try profile -L 2147483647 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "profile: -L 2147483647: no such thread; give the TID of a running one" err
}

@test "-c: a sample every COUNT nanoseconds of a CPU" {
	spin names
	sample_one "$pid" -c 5000000 1
	head -1 out | grep -Fxq "Sampling at every 5000000 events of PID [$pid] by user + kernel stack for 1 secs."
	likely "$(awk '/^        [0-9]+$/ { n += $1 } END { print n + 0 }' out)" 200 1
}

@test "-C shows what runs on that CPU only" {
	cpu=$(last_cpu)
	[ "$cpu" -gt 0 ] || skip "there is one CPU"
	spin names
	taskset -pc "$cpu" "$pid" >/dev/null
	there=$pid
	spin deep 3
	taskset -pc 0 "$pid" >/dev/null
	busy=$there sample 10 -U -C "$cpu" -F 499
	head -1 out | grep -Fxq "Sampling at 499 Hertz of all threads by user stack on CPU#$cpu... Hit Ctrl-C to end."
	grep -q "spin ($there)" out
	refute grep -q "spin ($pid)" out
	sample 10 -U -C 0 -F 499
	head -1 out | grep -Fq " on CPU#0"
	grep -q "spin ($pid)" out
	refute grep -q "spin ($there)" out
}

@test "-C of a CPU that is not online" {
	try profile -C 65535 -F 499 0.2 >out 2>err
	[ "$status" -eq 1 ]
	[ ! -s out ]
	grep -Fxq "profile: -C 65535: is not online; /proc/cpuinfo lists those that are" err
}

@test "-I includes the idle task; without it there is none" {
	profile -K -F 999 0.2 >out
	refute grep -q swapper out
	profile_idle -I -K -F 999 0.5
	grep -Eq '^    -                swapper/[0-9]+ \(0\)$' out
	profile_idle -I -K -f -F 999 0.5
	grep -Eq '^swapper/[0-9]+;' out
}

@test "-a marks kernel functions, and only those" {
	spin syscalls
	sample 10 -a -f -p "$pid" -F 499
	grep -Eq ';main;syscalls;.*'"$kernel_dispatch"'_\[k\]' out
	refute grep -Eq ';(main|syscalls)_\[k\]' out
	# Every kernel function stands behind the user functions, and has its mark.
	refute grep -Eq '_\[k\];[^;]*[^]][; ]' out
	sample 10 -a -p "$pid" -F 499
	grep -Eq '^    '"$kernel_dispatch"'_\[k\]$' out
	grep -Eq '^    syscalls$' out
	sample 10 -s -a -p "$pid" -F 499
	grep -Eq '^    '"$kernel_dispatch"'\+0x[0-9a-f]+_\[k\]$' out
}

@test "-v shows addresses, and where in which file a function without a name lies" {
	strip -o stripped "$SPIN"
	start_busy ./stripped names
	sample 10 -v -U -p "$pid" -F 499
	line=$(grep -E '^    [0-9a-f]+ +\[unknown\] \(stripped\+0x[0-9a-f]+\)$' out | head -1)
	echo "$line"
	[ "${#line}" -gt 21 ]
	# Its address in the file lies in spin_leaf, as the program that was not stripped has it.
	offset=$((0x$(sed 's/.*+0x\(.*\))/\1/' <<<"$line")))
	read -r start size < <(nm -S "$SPIN" | awk '$4 == "spin_leaf" { print $1, $2 }')
	[ "$offset" -ge $((0x$start)) ]
	[ "$offset" -lt $((0x$start + 0x$size)) ]
	# The column of the address in memory: within the mapping of that file.
	address=$((0x$(awk '{ print $1 }' <<<"$line")))
	base=$((0x$(awk '/stripped/ { sub(/-.*/, "", $1); print $1; exit }' "/proc/$pid/maps")))
	[ $((address - base)) -eq "$offset" ]
	[ "${line:0:4}" = "    " ]
	[ "${line:20:1}" = " " ]
	# Folded lines have no addresses.
	sample 10 -f -v -U -p "$pid" -F 499
	grep -Eq ';\[unknown\] \(stripped\+0x[0-9a-f]+\) [0-9]+$' out
	refute grep -Eq '(^|;)[0-9a-f]{8,16} ' out
}

# start_of FUNCTION: the name that this function of spin has where nobody knows its symbol.
start_of() {
	printf '[stripped+0x%x]' "0x$(nm "$SPIN" | awk -v name="$1" '$3 == name { print $1 }')"
}

# The four innermost functions of spin in the mode "names", with this between them.
innermost() {
	echo "$(start_of main)$1$(start_of outer)$1$(start_of middle)$1$(start_of spin_leaf)"
}

@test "--unnamed: functions without a symbol are told apart by where they begin" {
	strip -o stripped "$SPIN"
	start_busy ./stripped names
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq ';\[unknown\];\[unknown\];\[unknown\];\[unknown\] [0-9]+$' out
	refute grep -Fq +0x out
	sample 10 -f --unnamed start -U -p "$pid" -F 499
	grep -Fq ";$(innermost ';') " out
	refute grep -Fq '[unknown]' out
	"$TRACEKIT" flamegraph --top 1 out >top
	[ "$(tail -1 top | awk '{ print $NF }')" = "$(start_of spin_leaf)" ]
	# Text, and -s and -v beside it.
	sample 10 -U -p "$pid" -F 499
	grep -q '^    \[unknown\]$' out
	refute grep -Fq +0x out
	sample 10 --unnamed start -U -p "$pid" -F 499
	grep -Fqx "    $(start_of spin_leaf)" out
	sample 10 --unnamed start -s -v -U -p "$pid" -F 499
	line=$(grep -F "$(start_of spin_leaf)" out | head -1)
	offset=${line##*]+}
	offset=${offset%% *}
	place=${line##*+}
	place=${place%?}
	start=0x$(nm "$SPIN" | awk '$3 == "spin_leaf" { print $1 }')
	[ $((start + offset)) -eq $((place)) ]
}

@test "pictures and forms for programs tell functions without a symbol apart, unless --unnamed is off" {
	strip -o stripped "$SPIN"
	start_busy ./stripped names
	leaf=$(start_of spin_leaf)
	sample 10 -U -p "$pid" -F 499 -o out.svg
	# One frame, though samples are at several of its instructions.
	[ "$(grep -Fc "<title>$leaf" out.svg)" -eq 1 ]
	refute grep -Fq '[unknown]' out.svg
	sample 10 -U -p "$pid" -F 499 -o out.html
	[ "$(grep -Fc "<title>$leaf" out.html)" -eq 1 ]
	sample 10 -U -p "$pid" -F 499 -o out.speedscope.json
	grep -Fq "{\"name\":\"$leaf\",\"file\":\"stripped\"}" out.speedscope.json
	sample 10 -U -p "$pid" -F 499 -o out.pb.gz
	gzip -dc out.pb.gz | grep -aFq "$leaf"
	sample 10 -U -p "$pid" -F 499 -o out.json
	python3 - "$leaf" <<-'END'
		import json, sys
		start = int(sys.argv[1].strip("[]").split("+")[1], 16)
		leaves = [json.loads(line)["user"][0] for line in open("out.json")]
		leaves = [leaf for leaf in leaves if leaf["name"] == sys.argv[1]]
		assert leaves
		for leaf in leaves:
		    assert leaf["unnamed"] is True and leaf["module"] == "stripped"
		    assert leaf["module_offset"] - leaf["offset"] == start
	END
	sample 10 --unnamed off -U -p "$pid" -F 499 -o out.json
	grep -Fq '"name":null,"module":"stripped"' out.json
	refute grep -Fq '"unnamed"' out.json
	sample 10 --unnamed off -U -p "$pid" -F 499 -o out.svg
	grep -Fq '<title>[unknown] (stripped)' out.svg
	refute grep -Fq '+0x' out.svg
}

@test "functions without a symbol are told apart in programs that are linked statically" {
	echo 'int main(void) { for (;;); }' >busy.c
	cc -O1 -static -s -o busy busy.c 2>/dev/null || skip "there is no libc.a"
	[ -z "$(readelf -lW busy | grep GNU_EH_FRAME)" ] || skip "it has a table of its functions"
	cc -O1 -static -o named busy.c
	start_busy ./busy
	sample 10 --unnamed start -f -U -p "$pid" -F 499
	grep -Fq ";$(printf '[busy+0x%x]' "0x$(nm named | awk '$3 == "main" { print $1 }')") " out
}

@test "--event: cpu-clock by default; cycles where there are any, else a line that says so" {
	spin names
	sample 10 --event cpu-clock -f -U -p "$pid" -F 499
	grep -q spin_leaf out
	try profile --event cycles -f -U -p "$pid" --stats -F 999 0.3 >out 2>err
	if [ "$status" -eq 0 ]; then
		grep -q spin_leaf out
		grep -q 'what the kernel missed is not known' err
	else
		[ "$status" -eq 1 ]
		grep -Fxq "profile: --event cycles: this machine has no such counter, or does not show it (virtual machines often do not); use cpu-clock" err
	fi
}

@test "--stats says what the trace cost" {
	spin names
	sample 20 -F 4999 -p "$pid" --stats
	cost=$(sed -nE 's/^profile: cost: ([0-9.]+) s of CPU time and ([0-9.]+) MB in ([0-9]+) processes, ([0-9.]+) s and ([0-9.]+) MB in BPF programs and maps$/\1 \2 \3 \4 \5/p' err)
	read -r cpu resident processes bpf maps <<<"$cost"
	awk "BEGIN { exit !($cpu > 0 && $resident > 1 && $processes == 3 && $bpf > 0 && $bpf < 1 && $maps > 1) }"
	# The command is none of ours.
	"$TRACEKIT" stacksnoop --stats -n 1 t:sched:sched_process_exec -- sh -c 'exec true; :' 2>err
	[ "$(sed -nE 's/.* in ([0-9]+) processes, .*/\1/p' err)" -le 3 ]
}

@test "--no-demangle shows names as they stand in the file" {
	spin mangled
	sample 10 -f -U -p "$pid" -F 499
	grep -Eq ';main;app::Shape<int>::area\(long\);geometry::side;spin_leaf [0-9]+$' out
	sample 10 -f -U --no-demangle -p "$pid" -F 499
	grep -Eq ';main;_ZN3app5ShapeIiE4areaEl;_RNvCs1234_8geometry4side;spin_leaf [0-9]+$' out
}

@test "-d in text marks the border only where both parts are there" {
	spin syscalls
	sample 10 -d -p "$pid" -F 499
	grep -Fxq "    --" out
	start "$SPIN" names
	sample 10 -d -U -p "$pid" -F 499
	refute grep -Fxq "    --" out
}

@test "-s shows offsets, counted from the function's start" {
	spin names
	sample 10 -f -s -U -p "$pid" -F 499
	grep -Eq ';main\+0x[0-9a-f]+;outer\+0x[0-9a-f]+;middle\+0x[0-9a-f]+;spin_leaf\+0x[0-9a-f]+ [0-9]+$' out
	# The return address into outer is where the only call of outer ends.
	offset=$(grep -oE ';outer\+0x[0-9a-f]+' out | head -1 | sed 's/.*+0x//')
	start=$(nm "$SPIN" | awk '$3 == "outer" { print $1 }')
	objdump -d --disassemble=outer "$SPIN" | awk '/call.*<middle>/ { getline; print $1 }' |
		grep -qx "$(printf '%x:' $((0x$start + 0x$offset)))"
}

@test "-F: the header and the number of samples follow" {
	spin names
	profile -F 7 -p "$pid" 0.1 >out
	head -1 out | grep -q '^Sampling at 7 Hertz '
	sample_one "$pid" -f -U -F 7 1
	likely "$(sum out)" 7 1
	[ "$(sum out)" -le $((7 * took / 100 + 1)) ]
}
