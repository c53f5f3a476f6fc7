#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of several languages, as their compilers make them: each one's own names, also in a
# mount namespace where nobody else sees its files.

load helpers
load ../refute

# build LANGUAGE: a program in $program, that is busy in leaf, called by middle.
build() {
	program=$PWD/$1
	case $1 in
	c)
		cat >p.c <<-'END'
			volatile unsigned long sink;
			__attribute__((noinline)) static void leaf(void) { for (long i = 0; i < 1000000; i++) sink++; }
			__attribute__((noinline)) static void middle(void) { leaf(); sink++; }
			int main(void) { for (;;) middle(); }
		END
		gcc -O0 -fno-omit-frame-pointer -o "$program" p.c
		;;
	c++)
		cat >p.cc <<-'END'
			namespace shop {
			volatile unsigned long sink;
			template <typename T> struct Till {
				__attribute__((noinline)) void leaf(T) { for (long i = 0; i < 1000000; i++) sink = sink + 1; }
				__attribute__((noinline)) void middle(const char *) { leaf(T()); sink = sink + 1; }
			};
			}
			int main() { shop::Till<int> till; for (;;) till.middle(""); }
		END
		g++ -O0 -fno-omit-frame-pointer -o "$program" p.cc
		;;
	rust)
		cat >p.rs <<-'END'
			pub struct Till<T>(T);
			impl<T> Till<T> {
			    #[inline(never)] pub fn leaf(&self) -> u64 { let mut n = 0u64; for i in 0..1000000u64 { n = std::hint::black_box(n + i); } n }
			    #[inline(never)] pub fn middle(&self) -> u64 { std::hint::black_box(self.leaf()) + 1 }
			}
			fn main() { let till = Till(1u8); loop { std::hint::black_box(till.middle()); } }
		END
		rustc -C opt-level=1 -C force-frame-pointers=yes "${@:2}" -o "$program" p.rs
		;;
	go)
		cat >p.go <<-'END'
			package main
			type Till struct{ n uint64 }
			//go:noinline
			func (t *Till) leaf() { for i := uint64(0); i < 1000000; i++ { t.n += i } }
			//go:noinline
			func (t *Till) middle() { t.leaf(); t.n++ }
			func main() { t := &Till{}; for { t.middle() } }
		END
		HOME=$PWD GOCACHE=$PWD/cache GO111MODULE=off command go build "${@:2}" -o "$program" p.go
		;;
	esac
}

# profile_here: the program that was built, run as it is; folded stacks in out.
profile_here() {
	start "$program"
	profile_started
}

# has_run PID TICKS: for so many hundredths of a second of a CPU.
has_run() {
	local fields
	fields=$(</proc/"$1"/stat)
	set -- "$2" ${fields##*) }
	[ "${13}" -ge "$1" ]
}

profile_started() {
	wait_for has_run "$pid" 20
	sample 30 -f -U -p "$pid" -F 499
	kill -KILL "$pid"
}

# The same where its file is in no other mount namespace. It keeps its PID.
profile_hidden() {
	mkdir -p hidden
	unshare --mount true || skip "cannot make a mount namespace"
	start unshare --mount bash -c 'mount -t tmpfs none hidden && cp "$1" hidden/program && exec hidden/program' bash "$program"
	wait_for is_called "$pid" program
	[ ! -e hidden/program ]
	profile_started
}

# mostly PATTERN [PERCENT]: of the samples are in stacks that match. The first ones can be of the
# start of the program.
mostly() {
	local total matching
	total=$(sum out)
	matching=$(grep -E "$1" out | sum /dev/stdin)
	echo "$matching of $total match $1"
	[ "$total" -ge 20 ] || return
	[ $((matching * 100)) -ge $((total * ${2:-95})) ]
}

@test "C" {
	command -v gcc >/dev/null || skip "no gcc"
	build c
	profile_here
	mostly ';main;middle;leaf [0-9]+$'
	profile_hidden
	mostly ';main;middle;leaf [0-9]+$'
}

# The files of the C library bring .eh_frame, so the program has both.
@test "C, with call-frame information for a debugger alone" {
	command -v gcc >/dev/null || skip "no gcc"
	cat >p.c <<-'END'
		volatile unsigned long sink;
		__attribute__((noinline)) static void leaf(void) { for (long i = 0; i < 1000000; i++) sink += i; }
		__attribute__((noinline)) static void middle(void) { leaf(); sink++; }
		__attribute__((noinline)) static void outer(void) { middle(); sink++; }
		int main(void) { for (;;) outer(); }
	END
	program=$PWD/c
	for option in -fomit-frame-pointer -fno-omit-frame-pointer -gz; do
		gcc -O2 -g -fno-asynchronous-unwind-tables "$option" -o "$program" p.c
		profile_here
		mostly '^c;_start;.*;main;outer;middle;leaf [0-9]+$'
	done
}

# 5,000 sections, as the linker leaves them with --unique.
@test "C, with a section for each function" {
	command -v gcc >/dev/null || skip "no gcc"
	build c
	seq 5000 | sed 's/.*/.section .text.f&,"ax"; f&: ret/' >many.s
	echo '.section .note.GNU-stack,"",@progbits' >>many.s
	gcc -O1 -ffunction-sections -Wl,--unique='.text.*' -o "$program" p.c many.s
	[ "$(readelf -SW "$program" | grep -c ' \.text\.f')" -eq 5000 ]
	profile_here
	mostly '^c;_start;.*;main;middle;leaf [0-9]+$'
}

@test "C++" {
	command -v g++ >/dev/null || skip "no g++"
	build c++
	profile_here
	mostly ';main;shop::Till<int>::middle\(char const\*\);shop::Till<int>::leaf\(int\) [0-9]+$'
	profile_hidden
	mostly ';main;shop::Till<int>::middle\(char const\*\);shop::Till<int>::leaf\(int\) [0-9]+$'
}

@test "Rust, with both kinds of mangled names" {
	command -v rustc >/dev/null || skip "no rustc"
	build rust
	profile_here
	mostly '::main;.*p::Till<T>::middle.*;.*p::Till<T>::leaf(::h[0-9a-f]{16})? [0-9]+$'
	profile_hidden
	mostly '::main;.*p::Till<T>::middle.*;.*p::Till<T>::leaf(::h[0-9a-f]{16})? [0-9]+$'
	build rust -C symbol-mangling-version=v0
	profile_here
	mostly ';p(\[[0-9a-f]+\])?::main;<p(\[[0-9a-f]+\])?::Till<u8>>::middle;<p(\[[0-9a-f]+\])?::Till<u8>>::leaf [0-9]+$'
}

@test "Go, also without a symbol table" {
	command -v go >/dev/null || skip "no go"
	build go
	profile_here
	mostly ';runtime.goexit.*;runtime.main;main.main;(main.\(\*Till\).middle;)?main.\(\*Till\).leaf [0-9]+$'
	build go -ldflags '-s -w'
	profile_here
	mostly ';runtime.goexit.*;runtime.main;main.main;(main.\(\*Till\).middle;)?main.\(\*Till\).leaf [0-9]+$'
	profile_hidden
	mostly ';runtime.goexit.*;runtime.main;main.main;(main.\(\*Till\).middle;)?main.\(\*Till\).leaf [0-9]+$'
}

# has_compiled PID: the JIT map has the script's leaf.
has_compiled() {
	grep -qs 'JS:\*leaf' "/proc/$1/root/tmp/perf-$1.map"
}

# profile_script COMMAND...: an interpreter, of which others see the file as well; and its script.
profile_script() {
	start "$@"
	[ "$1" != node ] || wait_for has_compiled "$pid"
	profile_started
}

# The same where nobody else sees its /tmp.
profile_script_hidden() {
	unshare --mount true || skip "cannot make a mount namespace"
	start unshare --mount bash -c 'mount -t tmpfs none /tmp && cd /tmp && exec "$@"' bash "$@"
	[ "$1" != node ] || wait_for has_compiled "$pid"
	profile_started
	[ ! -e "/tmp/perf-$pid.map" ]
}

@test "JavaScript" {
	command -v node >/dev/null || skip "no node"
	local script='function leaf() { let n = 0; for (let i = 0; i < 1e6; i++) n += i % 7; return n; }
		function middle() { return leaf() + 1; }
		for (;;) middle();'
	profile_script_hidden node --perf-basic-prof -e "$script"
	mostly ';JS:[*~^+]?leaf [^;]* [0-9]+$' 80
	profile_script node --perf-basic-prof -e "$script"
	rm -f "/tmp/perf-$pid.map"
	mostly ';JS:[*~^+]?leaf [^;]* [0-9]+$' 80
}

@test "text that was copied to huge pages" {
	command -v node >/dev/null || skip "no node"
	local script='const text = JSON.stringify(Array.from({length: 2000}, (_, i) => ({a: i, b: "x" + i})));
		console.log("begins");
		for (;;) JSON.parse(text);'
	start node --use-largepages=on -e "$script" >said
	wait_for grep -q begins said
	awk '$2 ~ /x/ && !$6 && $1 ~ /00000-.*00000$/ { found = 1 } END { exit !found }' "/proc/$pid/maps" ||
		skip "node has no text in huge pages here"
	profile_started
	mostly ';node::Start\(.*v8::internal::Json'
}

@test "free() is not called by the name that it had long ago" {
	[ -x /usr/bin/python3 ] || skip "no python3"
	start python3 -c 'while True: x = [bytearray(1000) for i in range(1000)]'
	profile_started
	grep -q ';free[; ]' out
	refute grep -q cfree out
}

@test "Python" {
	[ -x /usr/bin/python3 ] || skip "no python3"
	local script='while True: sum(i * i for i in range(1000))'
	profile_script /usr/bin/python3 -c "$script"
	mostly ';_?Py[A-Za-z_]* [0-9]+$' 30
	profile_script_hidden /usr/bin/python3 -c "$script"
	mostly ';_?Py[A-Za-z_]* [0-9]+$' 30
}

# says LINE: is all that err says of scripts, if anything is to be said; -q silences it.
says() {
	grep '^profile: most samples' err | diff - <([ -z "$1" ] || echo "profile: most samples are in $1")
}

@test "scripts: what would give their functions names is said, once" {
	local perl='scripts of Perl, whose functions have no names: those of the interpreter stand for them'
	[ -x /usr/bin/perl ] || skip "no perl"
	start /usr/bin/perl -e 'my $n = 0; while (1) { $n += $_ % 7 for 1..1000 }'
	wait_for has_run "$pid" 20
	sample 30 -f -U -p "$pid" -F 499
	says "$perl"
	sample 60 -f -U -p "$pid" -F 499 -i 0.1
	says "$perl"
	sample 30 -q -f -U -p "$pid" -F 499
	says ''
	sample 30 -o perl.svg -p "$pid" -F 499
	says "$perl"
	spin names
	sample 30 -f -U -p "$pid" -F 499
	says ''
}

@test "Python: what would give the functions of a script names is said, unless it has done so" {
	[ -x /usr/bin/python3 ] || skip "no python3"
	local script='while True: sum(i * i for i in range(1000))'
	profile_script /usr/bin/python3 -c "$script"
	says "scripts of Python, whose functions have no names; from Python 3.12 on 'python3 -X perf' gives them names"
	/usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 12))' || return 0
	profile_script /usr/bin/python3 -X perf -c "$script"
	rm -f "/tmp/perf-$pid.map"
	says ''
}

@test "Java: what would give its functions names is said, and does so" {
	command -v java javac jcmd >/dev/null || skip "no JDK"
	cat >Spin.java <<-'END'
		public class Spin {
			static long leaf() { long n = 0; for (long i = 0; i < 1000000; i++) n += i % 7; return n; }
			public static void main(String[] arguments) { for (long n = 0; ; n += leaf()); }
		}
	END
	javac Spin.java
	start java -XX:+PreserveFramePointer -Xmx64m Spin
	wait_for has_used "$pid" 200
	sample 50 -f -U -p "$pid" -F 499
	says "generated code without names; Java: call 'jcmd PID Compiler.perfmap' before the trace ends, and for whole stacks start it with -XX:+PreserveFramePointer; node: start it with --perf-basic-prof"
	jcmd "$pid" Compiler.perfmap >/dev/null || skip "this Java cannot tell its names"
	sample 50 -f -U -p "$pid" -F 499
	rm -f "/tmp/perf-$pid.map"
	says ''
	mostly 'Spin\.leaf' 50
}
