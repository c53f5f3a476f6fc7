#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Code that programs generate: it has names by a JIT map, and callers by frame pointers, in memory of
# any kind, whatever the kernel calls the file behind that.

load helpers
load ../refute

teardown() {
	end_started
	for pid in "${started[@]}"; do
		rm -f "/tmp/perf-$pid.map"
	done
	[ -z "$memory" ] || rm "$memory"
	[ -z "$huge_pages" ] || echo "$huge_pages" >/proc/sys/vm/nr_hugepages
}

# make_huge_pages NUMBER: of two megabytes, until the end of the case.
make_huge_pages() {
	local before
	before=$(</proc/sys/vm/nr_hugepages) || skip "the kernel has no huge pages"
	echo $((before + $1)) 2>/dev/null >/proc/sys/vm/nr_hugepages || skip "cannot set vm.nr_hugepages"
	huge_pages=$before
	[ "$(</proc/sys/vm/nr_hugepages)" -ge $((before + $1)) ] || skip "the machine has no memory for huge pages"
}

# whole [COMMAND...] KIND...: its stacks are.
whole() {
	start "$@"
	wait_for has_begun "$pid" generated
	sample 20 -f -U -p "$pid" -F 499
	is_whole 90
	# Only at the first instructions of the code its caller is not known.
	refute grep -Eq 'tables not loaded|could not be opened|could not be read' err
}

# is_whole PERCENT: so many stacks of generated in out are, from the start to the code, but for those
# that the kernel does not allow to be walked. main() itself copies the code, which an emulator can take
# long for.
is_whole() {
	local wanted=$1 whole all
	tells_registers || wanted=$((wanted * 2 / 3))
	all=$(grep '^generated;' out | grep -v ';main [0-9]*$' | sum /dev/stdin)
	whole=$(grep -E '^generated;_start;(.*;)?main;call_generated;generated_code [0-9]+$' out | sum /dev/stdin)
	echo "$whole of $all are whole"
	[ "$all" -ge 10 ] && [ $((whole * 100)) -ge $((all * wanted)) ]
}

# bats test_tags=between
@test "in memory without a file, and in shared memory" {
	local kind
	for kind in anonymous shared sysv zero-shared; do
		whole "$GENERATED" "$kind"
	done
}

@test "in the first shared memory of an IPC namespace, whose inode is 0" {
	whole unshare --ipc "$GENERATED" sysv
	grep -q 'x. .* 0 *\/SYSV' "/proc/$pid/maps"
}

@test "in a device" {
	whole "$GENERATED" zero
}

# bats test_tags=between
@test "in huge pages, with and without a mount of their file system" {
	local kind
	make_huge_pages 8
	for kind in huge memfd-huge sysv-huge; do
		whole "$GENERATED" "$kind"
		kill "$pid"
	done
	whole unshare --mount sh -c 'mkdir -p mnt && mount -t hugetlbfs none mnt && exec "$1" file mnt/code' - "$GENERATED"
}

@test "in files that are written to all the time" {
	whole "$GENERATED" memfd
	whole "$GENERATED" file code
	whole "$GENERATED" deleted gone
	memory=$(mktemp -p /dev/shm)
	whole "$GENERATED" file "$memory"
	whole unshare --mount sh -c 'mkdir -p mnt && mount -t tmpfs none mnt && exec "$1" file mnt/code' - "$GENERATED"
}

# How soon the loader knows a file is a matter of user space, and of seconds in a guest.
# bats test_tags=same
@test "system-wide: a program that begins during the trace" {
	local kind
	for kind in memfd zero; do
		start_tracer profile -f -U -F 499
		start "$GENERATED" "$kind"
		wait_for has_used "$pid" 150
		stop_tracer
		kill "$pid"
		is_whole 80
	done
}

# bats test_tags=same
@test "a file that had generated code, and then becomes a program, is known to be one within a second" {
	start_tracer profile -f -U -F 499
	start "$GENERATED" file reused
	spend "$pid" 30
	kill "$pid"
	wait "$pid" || true
	cat "$WALKED" >reused
	chmod +x reused
	start ./reused deep
	wait_for has_used "$pid" 250
	stop_tracer
	is_whole 80
	# Between two looks at such a file there is a second.
	whole=$(grep -E '^reused;_start;.*;main;.*(;recurse){100};' out | sum /dev/stdin)
	all=$(grep '^reused;' out | sum /dev/stdin)
	echo "$whole of $all are whole"
	[ $((whole * 100)) -ge $((all * 40)) ]
}

# bats test_tags=same
@test "Java in huge pages" {
	command -v java javac jcmd >/dev/null || skip "no JDK"
	make_huge_pages 80
	cat >Spin.java <<-'END'
		public class Spin {
			static long leaf() { long n = 0; for (long i = 0; i < 1000000; i++) n += i % 7; return n; }
			static long middle() { return leaf() + 1; }
			public static void main(String[] arguments) { for (long n = 0; ; n += middle()); }
		}
	END
	javac Spin.java
	start java -XX:+UseLargePages -XX:+PreserveFramePointer -Xmx64m -XX:ReservedCodeCacheSize=64m Spin
	wait_for has_used "$pid" 200
	grep -q ' [r-][w-]x. .*/anon_hugepage' "/proc/$pid/maps" || skip "Java has no code in huge pages here"
	jcmd "$pid" Compiler.perfmap
	sample 50 -f -U -p "$pid" -F 499
	all=$(grep '^java;' out | sum /dev/stdin)
	whole=$(grep -E '^java;[^[].*;start_thread;.*;long Spin\.leaf\(\) [0-9]+$' out | sum /dev/stdin)
	echo "$whole of $all are whole"
	[ "$all" -ge 10 ] && [ $((whole * 100)) -ge $((all * 80)) ]
}
