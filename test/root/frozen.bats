#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Is the stack that a program walks by tables the one that libdwfl finds? See frozen.c.

load helpers

# frozen COMMAND...: of a program without end.
frozen() {
	local tries
	type "$1" >/dev/null || skip "$1 is not installed"
	start "$@" >/dev/null
	for tries in $(seq 100); do
		[ "$(<"/proc/$pid/comm")" = "$(<"/proc/$BASHPID/comm")" ] || break
		pause
	done
	# Until it does its endless work. In a guest all takes longer.
	wait_for has_used "$pid" "$(in_guest && echo 100 || echo 30)"
	try "$FROZEN" "$pid" "$(in_guest && echo 50 || echo 200)"
	[ "$status" -ne 77 ] || skip "no samples here"
	[ "$status" -eq 0 ]
}

# bats test_tags=between
@test "a function that libc has called" {
	frozen "$WALKED" callback
}

@test "300 calls deep" {
	frozen "$WALKED" deep
}

# bats test_tags=same
@test "frames that are aligned anew" {
	frozen "$WALKED" realigned
}

@test "a signal's handler, on a stack of its own" {
	frozen "$WALKED" handler
}

# bats test_tags=between
@test "the vDSO" {
	[ "$(uname -m)" = x86_64 ] || skip "libdwfl ends in the vDSO of arm64"
	frozen "$WALKED" vdso
}

@test "vfork(), whose child has the same stack" {
	frozen "$WALKED" vfork
}

# bats test_tags=same
@test "stubs of procedure linkage tables" {
	frozen "$WALKED" stubs
}

# bats test_tags=same
@test "C++ exceptions" {
	[ -x "$BUILD/test/root/throws" ] || skip "g++ is not installed"
	frozen "$BUILD/test/root/throws"
}

# bats test_tags=same
@test "perl" {
	frozen perl -e 'sub calls { my $n = shift; $n < 2 ? 1 : calls($n - 1) + calls($n - 2) }
		for (;;) { calls(12); my %h = map { $_ => "x" x $_ } 1 .. 300; sort { $h{$b} cmp $h{$a} } keys %h }'
}

# bats test_tags=same
@test "bash" {
	frozen bash -c 'calls() { if (($1 > 0)); then calls $(($1 - 1)); else x=${x//a/bb}; x=aaaa$RANDOM; fi; }
		for (( ; ; )); do calls 10; for i in {1..200}; do y[i]=${i}x; done; done'
}

# without_end: C++ that a compiler is busy with for long.
without_end() {
	local i
	echo '#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>'
	for ((i = 0; i < 2000; i++)); do
		echo "int f$i(int x) { std::map<std::string, std::vector<int>> m; std::vector<std::string> v;
			std::function<int(int)> g = [&](int y) { return y + x; };
			v.push_back(std::to_string(x));
			std::sort(v.begin(), v.end(), [](auto &a, auto &b) { return a.size() < b.size(); });
			m[v[0]].push_back(g(x)); return m.size(); }"
	done
}

# bats test_tags=same
@test "a compiler: cc1plus" {
	! in_guest || skip "reading its tables takes an emulator longer than it may"
	cc1plus=$(g++ -print-prog-name=cc1plus) || skip "g++ is not installed"
	without_end >p.cc
	frozen "$cc1plus" -quiet -imultiarch "$(g++ -print-multiarch)" -O2 -std=c++17 p.cc -o /dev/null
}

# bats test_tags=same
@test "a compiler: clang" {
	! in_guest || skip "reading its tables takes an emulator longer than it may"
	without_end >p.cc
	frozen clang++ -fintegrated-cc1 -O2 -std=c++17 -c p.cc -o /dev/null
}
