#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Inlined calls and source lines, and where they and symbols are found.

load helpers
load ../refute

# A program whose time goes by in spin(), inlined into turn(), inlined into work().
make_program() {
	command -v gcc >/dev/null || skip "no gcc"
	cat >spin.h <<-'END'
		static inline void spin(volatile unsigned long *sink)
		{
			for (long i = 0; i < 1000000; i++)
				*sink = *sink + i;
		}
	END
	cat >program.c <<-'END'
		#include <unistd.h>
		#include "spin.h"
		volatile unsigned long sink;
		static inline __attribute__((always_inline)) void turn(void)
		{
			spin(&sink);
		}
		__attribute__((noinline)) void work(void)
		{
			turn();
			sink = getppid(); // so that it has a frame
		}
		int main(void)
		{
			for (;;)
				work();
		}
	END
	gcc -O2 -g -fno-omit-frame-pointer -fno-shrink-wrap "$@" -o program program.c
}

# The program has begun when this returns.
run_program() {
	start ./program
	wait_for has_begun "$pid" program
}

# sample_new [OPTION...]: folded stacks of a new ./program, in out.
sample_new() {
	run_program
	sample_running -f "$@"
	# No file of a running program can be written to.
	kill -KILL "$pid"
	try wait "$pid"
}

# sample_running [OPTION...]: stacks of the program that runs, in out.
sample_running() {
	sample 20 -U -p "$pid" -F 499 "$@"
	cut -c1-200 out
	cat err
}

# mostly PATTERN: nearly all samples match.
mostly() {
	local total matching
	total=$(sum out)
	matching=$(grep -E "$1" out | sum /dev/stdin)
	echo "$matching of $total match $1"
	[ "$total" -ge 20 ] || return
	[ $((matching * 100)) -ge $((total * 90)) ]
}

whole=';main:program.c:16;work:program.c:10;turn:program.c:6;spin:spin.h:[34] [0-9]+$'

@test "inlined calls and lines, each by itself and together" {
	make_program
	sample_new
	mostly ';main;work [0-9]+$'
	sample_new --inline
	mostly ';main;work;turn;spin [0-9]+$'
	sample_new --inline -a -s
	mostly ';main\+0x[0-9a-f]+;work\+0x[0-9a-f]+;turn_\[i\];spin_\[i\] [0-9]+$'
	sample_new --lines
	mostly ';main:program.c:16;work:program.c:10 [0-9]+$'
	sample_new --inline --lines
	mostly "$whole"
	sample_new --inline --lines -v
	mostly ";turn:[^;]*/program.c:6;spin:[^;]*/spin.h:[34] [0-9]+$"
}

@test "as text" {
	make_program
	run_program
	sample_running --inline --lines
	kill -KILL "$pid"
	awk -v RS= 'END { print }' out | head -4 | sed 's/spin.h:[34]/spin.h:N/' | diff - <(
		printf '    %s\n' 'spin (inlined) at spin.h:N' 'turn (inlined) at program.c:6' \
			'work at program.c:10' 'main at program.c:16'
	)
}

@test "a stream of events has them, too" {
	local place='"addr":"[0-9a-f]+","name"' leaf turn work main
	command -v gcc >/dev/null || skip "no gcc"
	# A call from turn(), which is inlined into work().
	cat >program.c <<-'END'
		#include <unistd.h>
		volatile unsigned long sink;
		__attribute__((noinline)) void leaf(void)
		{
			sink = getppid();
		}
		static inline __attribute__((always_inline)) void turn(void)
		{
			leaf();
			sink++;
		}
		__attribute__((noinline)) void work(void)
		{
			turn();
			sink = getppid();
		}
		int main(void)
		{
			for (;;)
				work();
		}
	END
	gcc -O2 -g -fno-omit-frame-pointer -fno-shrink-wrap -o program program.c
	run_program
	"$TRACEKIT" stacksnoop -U -n 20 -p "$pid" --inline --lines --json "$PWD/program:leaf" >json
	"$TRACEKIT" stacksnoop -U -n 20 -p "$pid" --inline --lines "$PWD/program:leaf" >text
	"$TRACEKIT" stacksnoop -U -n 20 -p "$pid" --lines --json "$PWD/program:leaf" >without
	kill -KILL "$pid"
	head -n 1 json
	head -n 8 text
	# The function is at its first instruction.
	leaf='"user":\[\{'$place':"leaf","offset":0,"module":"program","module_offset":[0-9]+,"file":"[^"]*/program.c","line":4\}'
	turn='\{'$place':"turn","inlined":true,"file":"[^"]*/program.c","line":9\}'
	work='\{'$place':"work",[^}]*"file":"[^"]*/program.c","line":14\}'
	main='\{'$place':"main",[^}]*"line":20\}'
	grep -Eq "$leaf,$turn,$work,$main" json
	grep -Eq "r0: [0-9a-f]+ turn \(inlined\) at program.c:9$" text
	grep -Eq "r1: [0-9a-f]+ work at program.c:14$" text
	refute grep -q inlined without
}

@test "debug data of every version, compressed or split" {
	for options in -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 -gz -gsplit-dwarf; do
		echo "$options"
		make_program "$options"
		sample_new --inline --lines
		mostly "$whole"
	done
	[ ! -s err ]
	# Without the .dwo no line is shown that could be of an inlined call, and that is said.
	mv program-program.dwo moved.dwo 2>/dev/null || mv program.dwo moved.dwo
	sample_new --inline --lines
	mostly ';main;work [0-9]+$'
	grep -q 'some debug data is in further files' err
	sample_new --lines
	mostly ';main;work [0-9]+$'
	make_program
	if objcopy --compress-debug-sections=zstd program; then
		sample_new --inline --lines
		mostly "$whole"
	fi
}

@test "split debug data in a package" {
	command -v dwp >/dev/null || skip "no dwp"
	make_program -gdwarf-4 -gsplit-dwarf -Wl,--build-id
	dwp -e program -o program.dwp
	rm ./*.dwo
	sample_new --inline --lines
	mostly "$whole"
	[ ! -s err ]
	# Of a program with a separate file, beside that.
	mkdir .debug
	objcopy --only-keep-debug program .debug/program.debug
	strip program
	objcopy --add-gnu-debuglink=.debug/program.debug program
	mv program.dwp .debug
	sample_new --inline --lines
	mostly "$whole"
	[ ! -s err ]
	# A package that was damaged has nothing, and that is said.
	truncate -s 400 .debug/program.dwp
	sample_new --inline --lines
	mostly ';main;work [0-9]+$'
	grep -q 'some debug data is in further files' err
}

@test "debug data that two programs share" {
	command -v dwz >/dev/null || skip "no dwz"
	make_program -gdwarf-4
	cp program second
	dwz -m common program second || skip "dwz has found nothing to share"
	sample_new --inline --lines
	mostly "$whole"
	[ ! -s err ]
	rm common
	sample_new --inline --lines
	grep -q 'some debug data is in further files' err
}

@test "symbols and debug data in a separate file: beside the program, and below --symfs" {
	command -v objcopy >/dev/null || skip "no objcopy"
	make_program -Wl,--build-id
	objcopy --only-keep-debug program program.debug
	strip program
	sample_new --inline --lines
	mostly ';\[unknown\] [0-9]+$'
	mkdir -p "root$PWD" .debug
	cp program.debug "root$PWD/program"
	sample_new --inline --lines --symfs root
	mostly "$whole"
	mv program.debug .debug
	objcopy --add-gnu-debuglink=.debug/program.debug program
	sample_new --inline --lines
	mostly "$whole"
	# The debug file is another program's.
	objcopy --only-keep-debug "$SPIN" .debug/program.debug
	sample_new --inline --lines
	mostly ';\[unknown\] [0-9]+$'
}

@test "debug data without symbols" {
	command -v objcopy >/dev/null || skip "no objcopy"
	make_program
	# Symbols without a size name what is behind them, too.
	objcopy -N main -N work -N frame_dummy -N register_tm_clones -N __do_global_dtors_aux -N _start \
		-N deregister_tm_clones program
	sample_new -s
	mostly ';\[unknown\] [0-9]+$'
	sample_new -s --lines
	mostly ';main\+0x[0-9a-f]:program.c:16;work\+0x[0-9a-f]+:program.c:10 [0-9]+$'
}

@test "a program that was deleted, or replaced, since it was started" {
	make_program
	run_program
	rm program
	cp "$SPIN" program
	sample_running -f --inline --lines
	mostly "$whole"
	rm program
	sample_running -f --inline --lines
	mostly "$whole"
}

@test "a program in memory only" {
	[ -x /usr/bin/python3 ] || skip "no python3"
	make_program
	start /usr/bin/python3 -c 'if True:
		import os
		fd = os.memfd_create("hidden")
		os.write(fd, open("program", "rb").read())
		os.execve(fd, ["hidden"], {})'
	is_in_memory() {
		[ "$(readlink "/proc/$pid/exe")" = "/memfd:hidden (deleted)" ]
	}
	wait_for is_in_memory
	sample_running -f --inline --lines
	mostly "$whole"
}

@test "a program in a mount namespace of its own, with its separate debug file there" {
	command -v objcopy >/dev/null || skip "no objcopy"
	unshare --mount true || skip "cannot make a mount namespace"
	mkdir hidden
	# The second has names of its own, but nothing else.
	for link in -Wl,--build-id=sha1 -rdynamic; do
		make_program -Wl,--build-id "$link"
		objcopy --only-keep-debug program program.debug
		objcopy --strip-all --add-gnu-debuglink=program.debug program
		start unshare --mount bash -c 'mount -t tmpfs none hidden &&
			cp program program.debug hidden && rm program program.debug && exec hidden/program'
		wait_for is_called "$pid" program
		[ ! -e hidden/program ]
		sample_running -f --inline --lines
		mostly "$whole"
	done
}

# section NAME FILE: its offset and size, in decimal.
section() {
	local number name type address offset size rest
	while read -r number name type address offset size rest; do
		[ "$name" != "$1" ] || echo "$((16#$offset)) $((16#$size))"
	done < <(readelf -SW "$2" | sed 's/\[ *//')
}

@test "debug data that makes no sense costs its own frames, and little time" {
	local offset size begin
	command -v readelf >/dev/null || skip "no readelf"
	make_program
	for what in /dev/zero /dev/urandom; do
		for section in .debug_info .debug_abbrev .debug_line .debug_str; do
			echo "$section from $what"
			make_program
			read -r offset size < <(section "$section" program)
			dd if="$what" of=program bs=1 seek="$offset" count="$size" conv=notrunc status=none
			begin=$SECONDS
			sample_new --inline --lines
			[ $((SECONDS - begin)) -le $((12 * TRACEKIT_SLOWNESS)) ]
			mostly ';main[^;]*;work.* [0-9]+$'
		done
	done
}

@test "a folder, and servers, that cannot be asked are said before anything is traced" {
	try profile --symfs /none 0.1 2>err
	[ "$status" -eq 1 ]
	[ "$(<err)" = "profile: --symfs /none: No such file or directory" ]
	PATH=/none try "$TRACEKIT" profile --debuginfod 0.1 2>err
	[ "$status" -eq 1 ]
	grep -q 'debuginfod-find is not in PATH' err
}
