#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# flamegraph: files of stacks in, a picture or a table out. It needs no privileges.

load helpers
load ../refute

# stacks FILE LINE...
stacks() {
	printf '%s\n' "${@:2}" >"$1"
}

@test "wrong usage" {
	stacks a 'main 1'
	usage_error "flamegraph: -o: the end of 'a.pdf' is neither .svg nor .html" \
		tracekit flamegraph -o a.pdf a
	usage_error "flamegraph: -t and -o - exclude each other: both are for stdout" \
		tracekit flamegraph -o - -t 3 a
	usage_error "flamegraph: -n is for --diff alone" tracekit flamegraph -n a
	usage_error "flamegraph: --diff: only one of two runs can come from stdin" \
		tracekit flamegraph --diff - -
	usage_error "flamegraph: --diff: only one of two runs can come from stdin" \
		tracekit flamegraph --diff -
	ln -s /dev/stdout stdout.svg
	usage_error "flamegraph: -t and -o stdout.svg exclude each other: both are for stdout" \
		tracekit flamegraph -t 1 -o stdout.svg a
	usage_error "flamegraph: --unit: has more than 1000 bytes" \
		tracekit flamegraph --unit "$(printf '&%.0s' {1..1001})" a
	usage_error "flamegraph: --focus: '(' is not a regular expression: Unmatched ( or \\(" \
		tracekit flamegraph --focus '(' a
	usage_error "flamegraph: --ignore: '(a)\\1' is not a regular expression: back references (\\1) are not supported" \
		tracekit flamegraph --ignore '(a)\1' a
	[ ! -e a.pdf ]
}

@test "a table and a picture are not for the same file" {
	stacks a 'main 1'
	status=0
	"$TRACEKIT" flamegraph -t 1 -o same.svg a >same.svg 2>err || status=$?
	[ "$status" -eq 2 ]
	grep -q 'exclude each other' err
}

@test "no FILE and a terminal: nobody waits for what is typed" {
	command -v script >/dev/null || skip "script is not installed"
	timeout 20 script -qec "tracekit flamegraph" /dev/null >out || status=$?
	[ "$status" -eq 2 ]
	grep -q "flamegraph: which FILE? stdin is a terminal; see 'flamegraph --help'" out
}

@test "a picture to stdout and to a file, a page to a file" {
	stacks a 'main;work 3' 'main;idle 1'
	tracekit flamegraph a >out.svg
	tracekit flamegraph -o file.svg a
	tracekit flamegraph --title a <a >stdin.svg
	tracekit flamegraph -o '100%n.svg' a
	cmp out.svg file.svg
	cmp out.svg 100%n.svg
	diff <(sed 's/>stdin: /a: /; s/>a: /a: /' stdin.svg) <(sed 's/>a: /a: /' out.svg)
	xmllint --noout out.svg
	tracekit flamegraph -o page.html --unit '<calls>' a
	grep -q '<tr><td>3</td><td>75.00</td><td>3</td><td>75.00</td><td data-name>work</td></tr>' page.html
	grep -q '4 &lt;calls&gt;' page.html
	refute grep -q '<calls>' page.html
}

@test "a link, a pipe and a device stay what they are, an own file keeps its mode" {
	stacks a 'main 1'
	echo before >target.svg
	chmod 600 target.svg
	tracekit flamegraph -o target.svg a
	[ "$(stat -c %a target.svg)" = 600 ]
	ln -s target.svg link.svg
	echo before >target.svg
	tracekit flamegraph -o link.svg a
	[ -L link.svg ]
	tracekit flamegraph a | cmp - target.svg
	[ "$(stat -c %a target.svg)" = 600 ]
	ln -s /dev/stdout stdout.svg
	echo before >out
	tracekit flamegraph -o stdout.svg a >>out
	[ -L stdout.svg ]
	(echo before; cat target.svg) | cmp - out
	tracekit flamegraph -o stdout.svg a | cmp - target.svg
	ln -s nowhere nowhere.svg
	says 1 err "flamegraph: cannot write 'nowhere.svg': No such file or directory" \
		tracekit flamegraph -o nowhere.svg a
	[ ! -e nowhere ]
	mkfifo pipe.svg
	tracekit flamegraph -o pipe.svg a & cmp pipe.svg target.svg
	wait $!
	[ -p pipe.svg ]
}

@test "the largest counts of two runs" {
	stacks before "main$(printf ';f%.0s' {1..21000}) 9223372036854775807"
	stacks after 'a 1'
	timeout 20 "$TRACEKIT" flamegraph --diff before -o out.svg after
	grep -q ' frames of at most 100 % left out' out.svg
	[ "$(stat -c %s out.svg)" -lt 5000000 ]
	# Names of any length, in the table as well.
	for name in a b c d e; do
		printf '%s 1\n' "$(head -c 900000 /dev/zero | tr '\0' "$name")"
	done >long
	tracekit flamegraph -o out.html long
	[ "$(stat -c %s out.html)" -lt 5000000 ]
	printf 'longest_%s;work 5\nmain 4\n' "$(head -c 400000 /dev/zero | tr '\0' q)" >long
	tracekit flamegraph -o page.html long
	grep -q 'data-name>main<' page.html
	grep -q '<p>5 functions with smaller totals or very long names are left out</p>' out.html
}

@test "a table of functions" {
	stacks a 'main;work 3' 'main;idle 1'
	says 0 out \
'        self       %        total       %  function (samples)
           3   75.00            3   75.00  work
           1   25.00            1   25.00  idle' tracekit flamegraph -t 2 a
	tracekit flamegraph -t 1 -o a.svg a >out
	[ "$(wc -l <out)" -eq 2 ]
	[ -s a.svg ]
}

@test "the difference of two runs" {
	stacks before 'main;work 3' 'main;gone 1'
	stacks after 'main;work 6' 'main;new 2'
	says 0 out \
' self before         self       change total change  function (samples)
           3            6           +3           +3  work
           0            2           +2           +2  new
           1            0           -1           -1  gone
           0            0           +0           +4  main' tracekit flamegraph --diff before -t 9 after
	says 0 out \
' self before         self       change total change  function (samples)
           0            2           +2           +2  new
           2            0           -2           -2  gone
           6            6           +0           +0  work
           0            0           +0           +0  main' tracekit flamegraph --diff before -n -t 9 - <after
	tracekit flamegraph --diff before after >diff.svg
	xmllint --noout diff.svg
	grep -A1 'class="r5".*<title>new$' diff.svg | grep -q '^2 samples, 25.00 %; not before</title>'
	grep -A1 'class="f5".*data-n="0" data-b="1"><title>gone$' diff.svg |
		grep -q '^0 samples, 0.00 %; before 1, 25.00 % (gone)</title>'
}

@test "lines that are no stacks are told, the others are drawn, and it fails" {
	stacks a 'main;work 3' 'Attaching 2 probes...' 'main;work 1.5' 'main;work 1x'
	status=0
	tracekit flamegraph -o a.svg a 2>err || status=$?
	[ "$status" -eq 1 ]
	diff err - <<-'END'
		flamegraph: a:2: no count at its end
		flamegraph: a:4: no count at its end
		flamegraph: a: 1 counts have a fraction, and were rounded
	END
	grep -A1 '<title>work$' a.svg | grep -q '^5 samples, 100.00 %'
	seq 25 | sed 's/$/ x/' >b
	echo 'main 1' >>b
	status=0
	tracekit flamegraph -t 1 b >out 2>err || status=$?
	[ "$status" -eq 1 ]
	[ "$(wc -l <err)" -eq 11 ]
	sed -n '11p' err | diff - <(echo 'flamegraph: b: 15 more lines are no stacks')
	grep -q ' main$' out
}

# profile VALUE: a profile of pprof: main calls work, VALUE nanoseconds (a byte, in hexadecimal) and
# 2 samples.
profile() {
	printf '\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x08\x0a\x02\x02\x01\x12\x02\x02\x'"$1"
	printf '\x22\x06\x08\x01\x22\x02\x08\x01\x22\x06\x08\x02\x22\x02\x08\x02\x2a\x04\x08\x01\x10\x05'
	printf '\x2a\x04\x08\x02\x10\x06\x32\x00\x32\x07samples\x32\x05count\x32\x03cpu'
	printf '\x32\x0bnanoseconds\x32\x04main\x32\x04work'
}

@test "JSON, pprof, what perf script prints, and all of it compressed, whatever the names are" {
	table='        self       %        total       %  function (samples)
           2  100.00            2  100.00  work
           0    0.00            2  100.00  main'
	echo 'main;work 2' >folded
	echo '{"count":2,"kernel":[],"user":[{"name":"work"},{"name":"main"}],"new":{"a":[1]}}' >json
	profile 09 >pprof
	printf '%s: \n\t             7f0 work (a)\n\t             7f0 main (a)\n\n' \
		'12 [000] 1.5:  101 cycles:u' '12 [000] 1.6:  101 cycles:u' >script
	for kind in folded json pprof script; do
		says 0 out "$table" tracekit flamegraph --sample-type samples -t 3 $kind
		gzip -c $kind >other.$kind.svg
		says 0 out "$table" tracekit flamegraph --sample-type samples -t 3 - <other.$kind.svg
	done
	says 0 out \
'        self       %        total       %  function (nanoseconds)
           9  100.00            9  100.00  work' tracekit flamegraph -t 1 pprof
	says 0 out \
'        self       %        total       %  function (ns)
           9  100.00            9  100.00  work' tracekit flamegraph -t 1 --unit ns pprof
	tracekit flamegraph -o pprof.svg pprof
	grep -q '>pprof: 9 nanoseconds<' pprof.svg
	says 1 err "flamegraph: 'pprof' has no sample type 'space', but: samples, cpu" \
		tracekit flamegraph --sample-type space pprof
}

@test "two runs that different tools have written" {
	profile 09 >before
	printf 'main;work 3\nmain 2\n' >after
	says 0 out \
' self before         self       change total change  function (samples)
           9            3           -6           -6  work
           0            2           +2           -4  main' tracekit flamegraph --diff before -t 3 after
	echo '{"count":2,"nanoseconds":6,"kernel":[],"user":[{"name":"work"},{"name":"main"}]}' >json
	says 0 out \
' self before         self       change total change  function (nanoseconds)
           9            6           -3           -3  work
           0            0           +0           -3  main' tracekit flamegraph --diff before -t 3 json
	says 1 err "flamegraph: 'before' counts samples, 'json' counts nanoseconds: compare shares, by -n" \
		tracekit flamegraph --sample-type samples --diff before -t 3 json
	says 0 out \
' self before         self       change total change  function (nanoseconds)
           6            6           +0           +0  work' \
		tracekit flamegraph --sample-type samples --diff before -nt 1 json
}

@test "stacks with a frame that matches, and stacks without" {
	printf 'main;work;read 1\nmain;work 2\nmain;idle 5\n' >a
	tracekit flamegraph --focus 'wo.k' -t 9 a >out 2>err
	diff out - <<-'END'
		        self       %        total       %  function (samples)
		           2   66.67            3  100.00  work
		           1   33.33            1   33.33  read
		           0    0.00            3  100.00  main
	END
	diff err - <<<"flamegraph: a: --focus 'wo.k' leaves out 5 of 8 samples (62.50 %)"
	tracekit flamegraph --focus '^work$' --ignore '^re' -t 1 a >out 2>err
	grep -q '^           2  100.00            2  100.00  work$' out
	diff err - <<-'END'
		flamegraph: a: --focus '^work$' leaves out 5 of 8 samples (62.50 %)
		flamegraph: a: --ignore '^re' leaves out 1 of 8 samples (12.50 %)
	END
	status=0
	tracekit flamegraph --focus nothing a 2>err || status=$?
	[ "$status" -eq 1 ]
	diff err - <<-'END'
		flamegraph: a: --focus 'nothing' leaves out 8 of 8 samples (100.00 %)
		flamegraph: no stacks are left
	END
}

@test "files of other kinds: what they are, and what to do" {
	printf 'a;b 1 2\na;c 3 4\n' >two
	says 1 err "flamegraph: 'two' has two counts in each line, as difffolded.pl writes; compare two files by --diff BEFORE AFTER" \
		tracekit flamegraph two
	printf '{"stacks": []}\n' >json
	says 1 err "flamegraph: 'json' is JSON of another kind than -o FILE.json and stacksnoop --json write" \
		tracekit flamegraph json
	head -n 1 two >one
	says 1 err "flamegraph: 'one' has two counts in each line, as difffolded.pl writes; compare two files by --diff BEFORE AFTER" \
		tracekit flamegraph one
	printf 'a;g 10 1\na;g 11 2\n' >numbers
	tracekit flamegraph -t 9 numbers | grep -q ' g 11$'
	stacks a 'main;work 3'
	gzip -c a | gzip >a.gz
	says 1 err "flamegraph: 'a.gz' is compressed by gzip more than once" tracekit flamegraph a.gz
	gzip -c a | head -c -1 >a.gz
	says 1 err "flamegraph: 'a.gz' is compressed by gzip, and cut off before its end" \
		tracekit flamegraph a.gz
	tracekit flamegraph -o a.svg a
	says 1 err "flamegraph: 'a.svg' is a picture already" tracekit flamegraph a.svg
	tracekit flamegraph -o a.html a
	says 1 err "flamegraph: 'a.html' is a page already" tracekit flamegraph a.html
	printf 'Tracing 1 functions for "c:malloc"... Hit Ctrl-C to end.\n\n  malloc\n    8\n\n' >text
	says 1 err "flamegraph: 'text' is text for readers; folded stacks are made by -f" \
		tracekit flamegraph text
	printf 'PERFILE2\x68\0\0\0' >perf.data
	says 1 err "flamegraph: 'perf.data' is data of perf: perf script -i FILE | flamegraph" \
		tracekit flamegraph perf.data
	printf 'TIME(s)            COMM         PID    CPU STACK\n0.1 ls 7 0 malloc\n' >text
	says 1 err "flamegraph: 'text' is text for readers; folded stacks are made by -f" \
		tracekit flamegraph text
	printf '\n  malloc\n  main\n    8\n\n' >text
	says 1 err "flamegraph: 'text' is text for readers; folded stacks are made by -f" \
		tracekit flamegraph text
	printf 'Attaching 1 probe...\n\n\n@[\n    vfs_read+1\n    ksys_read+2\n]: 4\n' >map
	says 1 err "flamegraph: 'map' is output of bpftrace: stackcollapse-bpftrace.pl FILE | flamegraph" \
		tracekit flamegraph map
	printf 'heap profile: 1: 2 [3: 4] @ heap/1048576\n1: 2 [3: 4] @ 0x1\n' >heap
	says 1 err "flamegraph: 'heap' is a profile of Go in text: without debug=1 in its address it is one of pprof" \
		tracekit flamegraph heap
	printf 'BZh91AY&SY' >a.bz2
	says 1 err "flamegraph: 'a.bz2' is compressed by bzip2: bzcat FILE | flamegraph" tracekit flamegraph a.bz2
	printf 'PK\3\4\24\0' >a.zip
	says 1 err "flamegraph: 'a.zip' is a zip archive: unzip -p FILE | flamegraph" tracekit flamegraph a.zip
	printf 'FLR\0\0\2\0\1' >a.jfr
	says 1 err "flamegraph: 'a.jfr' is a recording of Java (JFR): jfrconv -o collapsed FILE FOLDED, of async-profiler" \
		tracekit flamegraph a.jfr
	iconv -t UTF-16 a >wide
	says 1 err "flamegraph: 'wide' is text in UTF-16: iconv -f UTF-16 -t UTF-8 FILE | flamegraph" tracekit flamegraph wide
	printf '{"$schema":"https://www.speedscope.app/file-format-schema.json",\n"shared":{}}\n' >scope
	says 1 err "flamegraph: 'scope' is a file for speedscope: open it at speedscope.app; flamegraph reads -o FILE.json" \
		tracekit flamegraph scope
	says 1 err "flamegraph: '$TRACEKIT' is a program or a library (ELF)" tracekit flamegraph "$TRACEKIT"
	printf 'main;idle 0\nmain 0\n' >zeros
	says 1 err "flamegraph: 'zeros' has no counts but 0" tracekit flamegraph zeros
}

@test "what is damaged in them is told" {
	profile 09 | head -c -1 >bad
	says 1 err "flamegraph: 'bad' is a profile of pprof that is damaged" tracekit flamegraph bad
	(profile 09; printf '\x12\x0d\x12\x0b\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01') >negative
	status=0
	tracekit flamegraph -t 1 negative >out 2>err || status=$?
	[ "$status" -eq 1 ]
	diff err - <<<"flamegraph: negative: sample 2: its value is negative"
	grep -q '^           9  100.00            9  100.00  work$' out
	printf '%s\n' '{"user":[{"name":"a"}]}' '{"count":1,"user":[{"name":"a"}' >cut
	status=0
	tracekit flamegraph -t 1 cut >out 2>err || status=$?
	[ "$status" -eq 1 ]
	diff err - <<<"flamegraph: cut:2: it ends too early"
	grep -q '^           1  100.00            1  100.00  a$' out
}

@test "a small file that inflates to more than a gigabyte" {
	head -c 16M /dev/zero | gzip >part
	for ((i = 0; i < 65; i++)); do cat part; done >bomb
	[ "$(stat -c %s bomb)" -lt 2000000 ]
	says 1 err "flamegraph: 'bomb' inflates to more than 1 GB, and no more than that is read" \
		tracekit flamegraph bomb
}

@test "a byte order mark is skipped; a frame can end in a number" {
	printf '\xef\xbb\xbfmain;work 3\nmain;thread 10 1\n' >a
	tracekit flamegraph -t 9 a >out
	grep -q ' main$' out
	grep -q ' thread 10$' out
	[ "$(wc -l <out)" -eq 4 ]
}

@test "files that cannot be read or written, and nothing in them" {
	says 1 err "flamegraph: cannot read 'none': No such file or directory" tracekit flamegraph none
	says 1 err "flamegraph: cannot read '.': Is a directory" tracekit flamegraph .
	says 1 err "flamegraph: there are no stacks in 'stdin'" tracekit flamegraph </dev/null
	stacks a 'main 1'
	says 1 err "flamegraph: cannot read 'none': No such file or directory" \
		tracekit flamegraph --diff none a
	says 1 err "flamegraph: cannot write 'none/a.svg': No such file or directory" \
		tracekit flamegraph -o none/a.svg a
	status=0
	tracekit flamegraph a >/dev/full 2>err || status=$?
	[ "$status" -eq 1 ]
	diff err <(echo "flamegraph: cannot write the output: No space left on device")
	[ "$(ls)" = $'a\nerr\nout' ]
}

@test "a signal that was blocked when it was started ends it" {
	mkfifo never
	env --block-signal=TERM tracekit flamegraph never 3>&- &
	pid=$!
	# Until it has opened the pipe: then it reads.
	exec {writer}>never
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	exec {writer}>&-
	[ "$status" -eq 143 ]
}
