#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# -o: reports in files, which are complete or not there.

load helpers
load ../refute

# The files here, but for those of the tests' own.
files() {
	find . -type f ! -name out ! -name err ! -name 'said.*' | sort
}

@test "a file has all that stdout would have, and stdout nothing" {
	calls usdt 7
	umask 027
	start_stackcount -p "$pid" -o result.txt "u:$CALLS:plain"
	go "$pid"
	[ -z "$(files)" ]
	stop_stackcount
	[ ! -s out ]
	[ "$(files)" = ./result.txt ]
	[ "$(stat -c %a result.txt)" = 640 ]
	(cat result.txt; echo 'Detaching...') >whole
	[ "$(stackcount_text whole)" -eq 7 ]
}

@test "what a file has got is said, but with -q; of stdout nothing" {
	calls usdt 7
	start_stackcount -p "$pid" -o result.svg "u:$CALLS:plain"
	go "$pid"
	stop_stackcount
	diff err <(echo "stackcount: result.svg: 7 events, 1 stack; 100.0% in usdt")
	start_stackcount -p "$pid" -q -o result.svg "u:$CALLS:plain"
	go "$pid"
	stop_stackcount
	[ ! -s err ]
	for format in text folded json; do
		start_stackcount -p "$pid" --format "$format" "u:$CALLS:plain"
		go "$pid"
		stop_stackcount
		[ ! -s err ]
	done
	# Each interval has its file, and each file its line.
	start_stackcount -p "$pid" -i 0.1 -o 'result-%n.json' "u:$CALLS:plain"
	go "$pid"
	wait_for test -e result-3.json
	stop_stackcount
	[ "$(grep -c '^stackcount: result-[0-9]*\.json: [0-9]* events, [01] stacks\?' err)" -ge 3 ]
	[ "$(sed -n 's/.*: \([0-9]*\) events,.*/\1/p' err | awk '{ n += $1 } END { print n }')" -eq 7 ]
	spin names
	sample 20 -p "$pid" -U -F 499 -o result.html
	grep -Exq 'profile: result\.html: [0-9]+ samples, [0-9]+ stacks?; [0-9]+\.[0-9]% in spin_leaf' err
}

@test "--shares: of each block, and the total" {
	calls usdt 7
	start_stackcount -p "$pid" --shares "u:$CALLS:plain"
	go "$pid"
	stop_stackcount
	diff <(tail -n 6 out) <(printf '%s\n' '    7 (100.0%)' '' '    total: 7 events' '' Detaching... | sed '1i\  _start')
	start_stackcount -p "$pid" --shares -o result.txt "u:$CALLS:plain"
	go "$pid"
	stop_stackcount
	diff <(tail -n 2 result.txt) <(printf '%s\n' '    total: 7 events' '')
	spin paths
	sample 20 -p "$pid" -F 499 --shares
	# Each share is rounded to a tenth.
	awk '/^        [0-9]+ \([0-9.]+%\)$/ { count += $1; sub(/\(/, "", $2); shares += $2; nr++ }
		/^        total: [0-9]+ samples$/ { total = $2 }
		END {
			print count, shares, total, nr
			off = shares > 100 ? shares - 100 : 100 - shares
			exit !(total && count == total && off <= nr * 0.05 + 0.01)
		}' out
}

@test "the name or --format says the format; one that was there stays until then" {
	spin names
	echo before >result.folded
	ln result.folded other
	start_tracer profile -p "$pid" -o result.folded
	spend "$pid" 20
	[ "$(<result.folded)" = before ]
	stop_tracer
	[ "$(<other)" = before ]
	grep -Eq '^spin;.*spin_leaf [0-9]+$' result.folded
	folded result.folded
	profile -p "$pid" -F 499 -o result --format folded 0.2
	folded result
	profile -p "$pid" -F 499 -o - --format folded 0.2 >out
	folded out
}

@test "a file that is replaced: an own one keeps mode and group, of no other more can be read" {
	echo 'main 1' >stacks
	touch own.svg foreign.svg
	chgrp nogroup own.svg
	chmod 660 own.svg
	chown nobody foreign.svg
	chmod 604 foreign.svg
	(umask 027; "$TRACEKIT" flamegraph -o own.svg stacks; "$TRACEKIT" flamegraph -o foreign.svg stacks)
	[ "$(stat -c '%a %U %G' own.svg)" = '660 root nogroup' ]
	[ "$(stat -c '%a %U %G' foreign.svg)" = '600 root root' ]
	# The group cannot be kept: its bits are not for another one.
	setpriv --clear-groups --bounding-set=-chown "$TRACEKIT" flamegraph -o own.svg stacks
	[ "$(stat -c '%a %U %G' own.svg)" = '600 root root' ]
	# Where there is a list, the bits of the group are those of its mask.
	python3 -c 'import os, struct
entry = struct.Struct("<HHI")
text = struct.pack("<I", 2) + b"".join(entry.pack(*e) for e in (
	(1, 6, 0xffffffff), (2, 4, 65534), (4, 0, 0xffffffff), (16, 4, 0xffffffff), (32, 0, 0xffffffff)))
os.setxattr("own.svg", "system.posix_acl_access", text)' || skip "this file system has no access lists"
	[ "$(stat -c %a own.svg)" = 640 ]
	"$TRACEKIT" flamegraph -o own.svg stacks
	[ "$(stat -c %a own.svg)" = 600 ]
}

@test "the name of a link to stdout says the format, whatever becomes of it" {
	spin names
	ln -s /dev/stdout link.folded
	profile -p "$pid" -F 499 -o link.folded 0.3 >out
	folded out
	echo before >out
	start_tracer profile -p "$pid" -F 499 -o link.folded
	rm link.folded
	spend "$pid" 20
	stop_tracer
	folded link.folded
	[ ! -s out ]
}

@test "a name as long as names can be; what cannot be put in its place stays" {
	unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
	echo 'main 1' >stacks
	long=$(printf 'x%.0s' {1..251}).svg
	"$TRACEKIT" flamegraph -o "$long" stacks
	[ -s "$long" ]
	status=0
	"$TRACEKIT" profile -o "x$long" 60 2>err || status=$?
	[ "$status" -eq 1 ]
	diff err <(echo "profile: cannot write '$(printf %.200s "x$long")': File name too long")
	echo before >under.svg
	touch over.svg
	status=0
	unshare --mount bash -c 'mount --bind under.svg over.svg && exec "$0" flamegraph -o over.svg stacks' "$TRACEKIT" 2>err ||
		status=$?
	[ "$status" -eq 1 ]
	kept=$(sed -n "s/^flamegraph: cannot write 'over.svg': Device or resource busy; the result is in '\(.*\)'$/\1/p" err)
	grep -q '<title>main' "$kept"
	[ "$(<under.svg)" = before ]
}

# What flamegraph makes of a file: a table, without the process, which folded lines do not tell from
# functions.
table_of() {
	"$TRACEKIT" flamegraph --unit calls -t 100 "$1" | sed '/ calls$/d'
}

@test "flamegraph makes one picture of each format, and of what stacksnoop prints" {
	calls usdt 7
	for suffix in folded json pb.gz; do
		start_stackcount -p "$pid" --unnamed start -o "result.$suffix" "u:$CALLS:plain"
		go "$pid"
		stop_stackcount
		table_of "result.$suffix" >"$suffix.table"
	done
	grep -q '^           7  100.00            7  100.00  ' folded.table
	diff folded.table json.table
	diff folded.table pb.gz.table
	gzip <result.json >result.gz
	table_of result.gz | diff folded.table -
	for form in --json '--format perf'; do
		# shellcheck disable=SC2086
		start_tracer stacksnoop $form -U -p "$pid" --unnamed start "u:$CALLS:plain"
		go "$pid"
		stop_tracer
		table_of out | diff folded.table -
	done
}

@test "-i: each interval has a file of its own, and all events are in them" {
	calls fast 1
	start_stackcount --stats -f -p "$pid" -i 0.1 -o '%n-%t-%%.txt' "$CALLS:counted"
	go "$pid"
	wait_for eval '[ "$(files | wc -l)" -ge 3 ]'
	go "$pid"
	stop_stackcount
	number=0
	for file in $(files | sort -t/ -k2 -n); do
		number=$((number + 1))
		[[ $file == ./$number-20[0-9][0-9][0-9][0-9][0-9][0-9]-[0-9][0-9][0-9][0-9][0-9][0-9]-%.txt ]]
	done
	[ "$(awk '{ sum += $NF } END { print sum }' [0-9]*.txt)" -eq "$answer" ]
}

# sums FILE...: the counts of folded lines.
sums() {
	awk '{ sum += $NF } END { print sum + 0 }' "$@"
}

@test "-i, -o %t: reports of the same second have names of their own; what collects them never sees a part" {
	calls fast 1
	mkdir spool
	start_stackcount --stats -p "$pid" -i 0.1 -o 'spool/%t.folded' "$CALLS:counted"
	go "$pid"
	# Each that is there is complete, and has the name of one.
	while [ "$(find spool -name '*.folded' | wc -l)" -lt 12 ]; do
		for file in spool/*; do
			[[ $file == 'spool/*' || $file =~ ^spool/20[0-9]{6}-[0-9]{6}(-[0-9]+)?\.folded$ ]]
		done
	done
	go "$pid"
	stop_stackcount
	[ "$(sums spool/*.folded)" -eq "$answer" ]
	ls spool | grep -Eq '^20[0-9]{6}-[0-9]{6}-2\.folded$'
}

@test "--spool-max: the oldest reports go first, also those of earlier traces, and nothing else" {
	calls fast 1
	mkdir spool
	printf '%1000s' '' | tee spool/20200101-000000.folded >spool/20200101-000000-3.folded
	touch -d 2020-01-01 spool/20200101-000000*
	printf '%1000s' '' | tee spool/20200101-000000.svg spool/x20200101-000000.folded \
		spool/20200101-00000.folded >spool/other
	ln -s other spool/20200101-000001.folded
	start_stackcount --stats -p "$pid" -i 0.1 -o 'spool/%t.folded' --spool-max 30K "$CALLS:counted"
	go "$pid"
	wait_for eval '[ ! -e spool/20200101-000000.folded ]'
	wait_for eval '[ "$(wc -l <err)" -ge 30 ]'
	go "$pid"
	stop_stackcount
	ls -l spool
	[ "$(find spool -name '202[1-9]*.folded' -exec cat {} + | wc -c)" -le 30720 ]
	[ "$(find spool -name '202[1-9]*.folded' | wc -l)" -ge 2 ]
	[ ! -e spool/20200101-000000-3.folded ]
	for file in 20200101-000000.svg x20200101-000000.folded 20200101-00000.folded other; do
		[ "$(wc -c <"spool/$file")" -eq 1000 ]
	done
	[ -L spool/20200101-000001.folded ]
	grep -Eq '^stackcount: [1-9][0-9]* of the oldest reports were removed: --spool-max$' err
}

@test "-i: a file that cannot be written is counted, said, and no reason to end" {
	calls fast 1
	mkdir spool
	start_stackcount --stats -p "$pid" -i 0.1 -o 'spool/%n.folded' -o '%n.folded' "$CALLS:counted"
	wait_for eval '[ -e 2.folded ]'
	mv spool away
	go "$pid"
	wait_for grep -q "^stackcount: cannot write 'spool/[0-9]*.folded': No such file or directory; the trace goes on$" err
	reports=$(ls ./*.folded | wc -l)
	wait_for eval '[ "$(ls ./*.folded | wc -l)" -gt $((reports + 2)) ]'
	mkdir spool
	wait_for eval '[ -n "$(ls spool)" ]'
	go "$pid"
	kill -INT "$tracer"
	try wait "$tracer"
	cat err
	[ "$status" -eq 1 ]
	nothing_left
	[ "$(grep -c 'the trace goes on' err)" -eq 1 ]
	[ "$(sums [0-9]*.folded)" -eq "$answer" ]
	[[ $(tail -1 err) =~ ^'stackcount: '([0-9]+)' reports could not be written: '([0-9]+)' events are in none'$ ]]
	[ "${BASH_REMATCH[1]}" -ge 3 ]
	[ $(($(sums spool/*.folded away/*.folded) + BASH_REMATCH[2])) -eq "$answer" ]
}

# A disk of 128 KB at spool, of which the file $1 takes all, or what an older one, $2, leaves of it.
make_full_disk() {
	mkdir spool
	mount -t tmpfs -o size=128k none spool 2>/dev/null || skip "cannot mount a tmpfs"
	[ $# -eq 1 ] || head -c 98304 /dev/zero >"spool/$2"
	fill_disk "$1"
}

fill_disk() {
	refute dd if=/dev/zero of="spool/$1" bs=4k status=none 2>full
	grep -q 'No space left on device' full
}

# There are so many reports in spool with samples.
has_written() {
	[ "$(find spool -name '202[1-9]*.folded' -size +0 | wc -l)" -ge "$1" ]
}

has_reported() {
	[ "$(grep -c ' seen = ' err)" -ge "$1" ]
}

is_full() {
	grep -q "^profile: cannot write 'spool/[-0-9]*.folded': No space left on device; the trace goes on$" err
}

@test "-i on a disk that becomes full: it is said once, each sample counted, and the trace goes on" {
	spin names
	make_full_disk other
	start_tracer profile -F 99 -p "$pid" --stats -i 0.1 -o 'spool/%t.folded'
	wait_for is_full
	rm spool/other
	wait_for has_written 2
	fill_disk other
	wait_for has_reported $(($(grep -c ' seen = ' err) + 3))
	rm spool/other
	wait_for has_written $(($(find spool -name '*.folded' -size +0 | wc -l) + 1))
	kill -INT "$tracer"
	try wait "$tracer"
	cat err
	# Nothing but reports was left there.
	refute grep -Ev '^202[-0-9]*\.folded$' <<<"$(ls -A spool)"
	sum=$(sums spool/*.folded)
	umount spool
	[ "$status" -eq 1 ]
	nothing_left
	[ "$(grep -c 'the trace goes on' err)" -eq 1 ]
	[[ $(tail -1 err) =~ ^'profile: '([0-9]+)' reports could not be written: '([0-9]+)' samples are in none'$ ]]
	[ "${BASH_REMATCH[1]}" -ge 2 ]
	[ $((sum + BASH_REMATCH[2])) -eq "$(total counted)" ]
}

@test "--spool-max on a disk that older reports have filled: they are removed" {
	spin names
	make_full_disk 20200101-000001.folded 20200101-000000.folded
	start_tracer profile -F 99 -p "$pid" --stats -i 1 -o 'spool/%t.folded' --spool-max 40K
	wait_for is_full
	wait_for has_written 2
	[ ! -e spool/20200101-000000.folded ]
	kill -INT "$tracer"
	try wait "$tracer"
	cat err
	umount spool
	[ "$status" -eq 1 ]
	nothing_left
	grep -Eq '^profile: [1-9][0-9]* of the oldest reports were removed: --spool-max$' err
	grep -Eq '^profile: [1-9][0-9]* reports could not be written: [0-9]+ samples are in none$' err
}

@test "-o more than once: the same stacks in each, as each has them alone" {
	calls names 50
	start_stackcount -D 60 -p "$pid" -o a.folded -o a.svg -o a.json -o - -v "$CALLS:counted"
	go "$pid"
	stop_stackcount
	[ "$(sums a.folded)" -eq 150 ]
	[ "$(stackcount_text out)" -eq 150 ]
	grep -q '>counted<' a.svg
	[ "$(sed -En 's/.*"count":([0-9]+),.*/\1/p' a.json | awk '{ n += $1 } END { print n }')" -eq 150 ]
}

# on_terminal COMMAND...: stderr is a terminal; what that gets is in the file said.
on_terminal() {
	TERM=xterm within 60 script -qfec "$(printf '%q ' "$@") >out" said </dev/null >/dev/null
	sed -i '1d; /^Script done/d' said
}

@test "on a terminal a line says how far the trace is, until there is something to read" {
	command -v script >/dev/null || skip "script is not installed"
	calls names 50
	: >said
	on_terminal "$TRACEKIT" stackcount -D 60 -p "$pid" "$CALLS:counted" &
	terminal=$!
	wait_for grep -q '1 of 60 s: 0 events, 0 stacks, 0 lost' said
	go "$pid"
	wait_for grep -q 's: 150 events, [1-9][0-9]* stacks, 0 lost' said
	stacks=$(sed -n 's/.*s: 150 events, \([0-9]*\) stacks.*/\1/p' said)
	kill "$pid"
	wait "$terminal"
	# Each line takes the place of the one before, and nothing takes that of the last.
	line='[0-9]+ of 60 s: [0-9]+ events, [0-9]+ stacks, 0 lost'
	[[ $(<said) =~ ^($'\r\033['K$line)+$'\r\033['K$ ]]
	[ "$(stackcount_text out)" -eq 150 ]
	[ "$(grep -cEx ' +[0-9]+' out)" -eq "$stacks" ]
}

@test "no such line with -q, in a file, or on a dumb terminal" {
	command -v script >/dev/null || skip "script is not installed"
	on_terminal "$TRACEKIT" profile -q -C 0 1.2
	refute grep -q ' s: ' said
	on_terminal env TERM=dumb "$TRACEKIT" profile -C 0 1.2
	refute grep -q ' s: ' said
	profile -C 0 1.2 >out 2>err
	refute grep -q ' s: ' err
	on_terminal "$TRACEKIT" profile -C 0 2.9
	grep -q '[12] of 2.9 s: ' said
}

# The profile of pprof in FILE, as text.
pprof_text() {
	zcat "$1" | protoc --proto_path="$SOURCE/core/format" --decode=perftools.profiles.Profile profile.proto
}

# Standard input, such a text, without all names.
without_names() {
	awk '
	/^location \{/ { in_location = 1 }
	in_location && /^  line \{/ { skipped = "  }" }
	/^function \{/ { skipped = "}" }
	skipped { if ($0 == skipped) skipped = ""; next }
	/^}/ { in_location = 0 }
	!/^  has_/'
}

# "ADDRESS FUNCTION" of all places in PROGRAM that go tool pprof OPTION... knows a function of.
places_in() {
	local program=$1 number
	command go tool pprof -raw "${@:2}" 2>said.go >raw
	number=$(sed -n "s|^\([0-9]*\): 0x.* [^ ]*/$program .*|\1|p" raw)
	sed -n '/^Locations/,/^Mappings/p' raw | awk -v file="M=$number" '$3 == file && $4 !~ /:/ && NF > 4 { print $2, $4 }' | sort -u
}

@test "pprof: go tool pprof shows what was sampled, and finds the same functions by itself" {
	for tool in go protoc cc; do
		type -P "$tool" >/dev/null || skip "$tool is not installed"
	done
	cat >debugged.c <<-'END'
		volatile unsigned long turns;
		__attribute__((noinline)) void leaf(void) { for (int i = 0; i < 10000; i++) turns++; }
		__attribute__((noinline)) void middle(void) { leaf(); turns++; }
		__attribute__((noinline)) void outer(void) { middle(); turns++; }
		int main(void) { for (;;) outer(); }
	END
	export HOME=$PWD
	for options in '-pie -fPIE' '-no-pie -fno-pie' '-static -no-pie -fno-pie'; do
		cc -g -O1 $options -o debugged debugged.c
		start_busy ./debugged
		profile --lines -p "$pid" -F 499 -o p.pb.gz 0.5
		kill "$pid"
		pprof_text p.pb.gz >text
		command go tool pprof -top -sample_index=samples p.pb.gz >top
		counted=$(sed -n 's/.* s: \([0-9]*\) samples, 0 lost$/\1/p' top)
		grep -q " = *$counted\$\|Total samples = $counted " top
		grep -q "^tracekit profile --lines -p $pid -F 499 -o p.pb.gz 0.5$" top
		command go tool pprof -list '^leaf$' p.pb.gz | grep -q 'turns++'
		[ "$(command go tool pprof -tags p.pb.gz | grep -c debugged)" -eq 1 ]
		without_names <text | protoc --proto_path="$SOURCE/core/format" \
			--encode=perftools.profiles.Profile profile.proto | gzip >bare.pb.gz
		places_in debugged p.pb.gz >ours
		places_in debugged -symbolize=local bare.pb.gz >theirs
		for function in leaf middle outer main; do
			grep -q " $function$" theirs
		done
		join theirs ours | awk '$2 != $3 { print; bad = 1 } END { exit bad || NR == 0 }'
	done
}

# Functions with the names that languages make, in $names, as each calls the next one of these; their symbols are in
# $symbols.
make_names() {
	cat >names.cc <<-'END'
		extern "C" __attribute__((noinline)) void tick(void) { asm volatile("nop"); }
		/* Of Rust: a generic function, a closure, and a method by the scheme before. */
		extern "C" void generic(void) asm("_RINvNtCs1_4shop4till4sellhE");
		extern "C" void closure(void) asm("_RNCNvCs1_4shop4main0");
		extern "C" void method(void) asm("_ZN44_$LT$shop..Till$LT$T$GT$$u20$as$u20$Sell$GT$4sell17h05af221e174051e9E");
		extern "C" void method(void) { tick(); }
		extern "C" void closure(void) { method(); }
		extern "C" void generic(void) { closure(); }
		namespace { void hidden(double) { generic(); } void hidden(int) { hidden(1.0); } }
		namespace shop {
		template <typename T, int... n> struct Till {
			void operator()(const char *) const { hidden(1); }
			operator const T *() const { (*this)(""); return nullptr; }
			Till *operator->() { (void)(const T *)*this; return this; }
			bool operator<(const Till &other) { (void)*&*this->operator->(); return &other == this; }
		};
		}
		int main() {
			shop::Till<int, 1, 2> till;
			auto all = [&](int) { return till < till; };
			all(1);
		}
	END
	g++ -O0 -fno-omit-frame-pointer -o named names.cc
	names='main::{lambda(int)#1}::operator()(int) const
shop::Till<int, 1, 2>::operator<(shop::Till<int, 1, 2> const&)
shop::Till<int, 1, 2>::operator->()
shop::Till<int, 1, 2>::operator int const*() const
shop::Till<int, 1, 2>::operator()(char const*) const
(anonymous namespace)::hidden(int)
(anonymous namespace)::hidden(double)
shop::till::sell::<u8>
shop::main::{closure#0}
<shop::Till<T> as Sell>::sell'
	symbols='_ZZ4mainENKUliE_clEi
_ZN4shop4TillIiJLi1ELi2EEEltERKS1_
_ZN4shop4TillIiJLi1ELi2EEEptEv
_ZNK4shop4TillIiJLi1ELi2EEEcvPKiEv
_ZNK4shop4TillIiJLi1ELi2EEEclEPKc
_ZN12_GLOBAL__N_16hiddenEi
_ZN12_GLOBAL__N_16hiddenEd
_RINvNtCs1_4shop4till4sellhE
_RNCNvCs1_4shop4main0
_ZN44_$LT$shop..Till$LT$T$GT$$u20$as$u20$Sell$GT$4sell17h05af221e174051e9E'
}

# has_names NAMES: standard input has each of these lines once.
has_names() {
	grep -Fx "$1" | diff <(sort <<<"$1") <(sort)
}

# The lines that begin with the names of frames in a picture or page.
titles() {
	sed -n 's/.*<title>//p' "$1" | sed 's/<.*//; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g'
}

# The name of each function in a profile as text, and its symbol behind a tab.
pprof_names() {
	awk '
	/^string_table: / { sub(/^[^"]*"/, ""); sub(/"$/, ""); strings[nr++] = $0 }
	/^}/ { inside = 0 }
	/^function \{/ { inside = 1 }
	inside && $1 == "name:" { names[++functions] = $2 }
	inside && $1 == "system_name:" { symbols[functions] = $2 }
	END { for (i = 1; i <= functions; i++) print strings[names[i]] "\t" strings[symbols[i]] }'
}

@test "names of C++ and Rust are whole in every format" {
	for tool in g++ jq protoc; do
		type -P "$tool" >/dev/null || skip "$tool is not installed"
	done
	make_names
	for suffix in txt folded json speedscope.json svg html pb.gz; do
		stackcount -qU -o "n.$suffix" "$PWD/named:tick" -- ./named
	done
	for format in text folded json perf; do
		"$TRACEKIT" stacksnoop -U --format "$format" "$PWD/named:tick" -- ./named 2>"e.$format"
	done
	sed -n 's/^  //p' n.txt | has_names "$names"
	tr ';' '\n' <n.folded | has_names "$names"
	jq -r '.user[].name' n.json | has_names "$names"
	jq -r '.shared.frames[].name' n.speedscope.json | has_names "$names"
	titles n.svg | has_names "$names"
	titles n.html | has_names "$names"
	pprof_text n.pb.gz >text
	pprof_names <text | has_names "$(paste <(echo "$names") <(echo "$symbols"))"
	sed -n 's/^[^ ]* *[ir][0-9p]*: [0-9a-f]* //p' e.text | has_names "$names"
	tr ';' '\n' <e.folded | has_names "$names"
	jq -r '.user[].name' e.json | has_names "$names"
	sed -n 's/^\t *[0-9a-f]* \(.*\)+0x[0-9a-f]* (.*)$/\1/p' e.perf | has_names "$names"
	type -P go >/dev/null || skip "go is not installed, whose pprof shall have them"
	HOME=$PWD command go tool pprof -top n.pb.gz 2>said.go | sed -n 's/^ *\([^ ]* *\)\{5\}//p' >top
	while read -r name; do
		grep -Fx "$name" top
	done <<<"$names"
}

@test "JSON: a line for each stack, with all that is known of its frames" {
	command -v jq >/dev/null || skip "jq is not installed"
	calls names 50
	start_stackcount -P -p "$pid" -o stacks.json "$CALLS:counted"
	go "$pid"
	stop_stackcount
	[ "$(jq -s 'map(.count) | add' stacks.json)" -eq 150 ]
	jq -e --argjson pid "$pid" '
		(keys_unsorted == ["count", "comm", "pid", "kernel", "user"]) and .comm == "calls" and .pid == $pid and
		.user[0].name == "counted" and .user[0].module == "calls" and .user[0].kind == "user" and
		([.user[].name] | index("main") > 0) and all(.kernel[]; .kind == "kernel")' stacks.json >said.jq
	[ "$(sort -u said.jq)" = true ]
	start_stackcount -K -o stacks.json -p "$pid" "$CALLS:counted"
	go "$pid"
	stop_stackcount
	[ "$(jq -c 'keys_unsorted' stacks.json | sort -u)" = '["count","kernel","user"]' ]
}

@test "speedscope: a profile for each process, or one of all" {
	command -v jq >/dev/null || skip "jq is not installed"
	spin names
	spin deep 20
	profile -p "${started[0]},${started[1]}" -F 499 -o both.speedscope.json 0.4
	jq -e --arg first "spin (${started[0]})" --arg second "spin (${started[1]})" '
		([.profiles[].name] | sort) == ([$first, $second] | sort) and
		(.profiles[0].endValue >= .profiles[1].endValue) and
		all(.profiles[]; .unit == "nanoseconds" and .endValue == (.weights | add) and
			(.samples | length) == (.weights | length)) and
		([.profiles[].samples[][]] | max) == (.shared.frames | length) - 1 and
		any(.shared.frames[]; .name == "spin_leaf")' both.speedscope.json
	profile -p "${started[0]},${started[1]}" -F 499 --merge -o one.speedscope.json 0.4
	jq -e '(.profiles | length) == 1 and
		(.shared.frames as $frames | all(.profiles[0].samples[]; $frames[.[0]].name == "spin"))' one.speedscope.json
}

@test "a process without a name: its ID is said all the same" {
	command -v jq >/dev/null || skip "jq is not installed"
	start_busy perl -e '$0 = ""; 1 while 1'
	profile -p "$pid" -F 499 -o none.json 0.3
	jq -e --argjson pid "$pid" '.comm == "" and .pid == $pid' none.json >said
	[ "$(sort -u said)" = true ]
	profile -p "$pid" -F 499 -o none.speedscope.json 0.3
	jq -e --arg name "? ($pid)" '[.profiles[].name] == [$name]' none.speedscope.json
	command -v protoc >/dev/null || skip "protoc is not installed"
	profile -p "$pid" -F 499 -o none.pb.gz 0.3
	pprof_text none.pb.gz | grep -q '^string_table: "?"$'
}

@test "pprof: nothing for a terminal" {
	command -v script >/dev/null || skip "script is not installed"
	TERM=xterm script -qfec "$TRACEKIT profile --format pprof 1" said </dev/null >/dev/null || status=$?
	[ "$status" -eq 2 ]
	grep -q "profile: --format pprof: it is not for a terminal; give -o FILE; see 'profile --help'" said
}

@test "a full disk, and a folder that is not there: an error, and not half a file" {
	unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
	spin deep 60
	mkdir disk
	try unshare --mount bash -c 'mount -t tmpfs -o size=4k none disk && echo before >disk/result.txt &&
		"$1" profile -F 999 -p "$2" -o disk/result.txt 0.5 2>err || status=$?
		ls -A disk; cat disk/result.txt; exit "$status"' - "$TRACEKIT" "$pid" >out
	[ "$status" -eq 1 ]
	diff out <(printf '%s\n' result.txt before)
	grep -Fxq "profile: cannot write 'disk/result.txt': No space left on device" err
	# At once, not when the trace is over.
	try within 20 "$TRACEKIT" profile -o nowhere/result.txt 2>err
	[ "$status" -eq 1 ]
	diff err <(echo "profile: cannot write 'nowhere/result.txt': No such file or directory")
	try within 20 "$TRACEKIT" profile -o disk --format text 2>err
	[ "$status" -eq 1 ]
	diff err <(echo "profile: cannot write 'disk': Is a directory")
	try profile -o /dev/full --format text 0.1 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "profile: cannot write '/dev/full': No space left on device" err
	nothing_left
}

@test "a link of somebody else is not followed" {
	mkdir theirs
	echo precious >file
	ln -s ../file theirs/link.folded
	ln -s file ours.folded
	chown -h nobody theirs theirs/link.folded
	try within 20 "$TRACEKIT" profile -o theirs/link.folded 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "profile: cannot write 'theirs/link.folded': Permission denied" err
	echo 'main 1' >stacks
	ln -s ../file theirs/link.svg
	chown -h nobody theirs/link.svg
	try "$TRACEKIT" flamegraph -o theirs/link.svg stacks 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "flamegraph: cannot write 'theirs/link.svg': Permission denied" err
	grep -Fxq precious file
	profile -F 99 -o ours.folded 0.1
	refute grep -Fxq precious file
}

@test "a FIFO of somebody else is not written to, and one that nobody reads is not waited for" {
	local traced reader
	spin names
	traced=$pid
	mkdir theirs
	mkfifo -m 666 mine.folded theirs/out.folded
	chown nobody theirs theirs/out.folded
	start cat theirs/out.folded >read
	reader=$pid
	try within 20 "$TRACEKIT" profile -p "$traced" -F 499 -o theirs/out.folded 0.2 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "profile: cannot write 'theirs/out.folded': Permission denied" err
	# Whoever has typed the command may have made it for that.
	SUDO_UID=65534 SUDO_GID=65534 profile -p "$traced" -F 499 -o theirs/out.folded 0.2
	wait "$reader"
	grep -q ';spin_leaf [0-9]*$' read
	try within 30 "$TRACEKIT" profile -p "$traced" -F 499 -o mine.folded 0.2 2>err
	[ "$status" -eq 1 ]
	grep -Fxq "profile: cannot write 'mine.folded': nobody reads it" err
}

@test "a FIFO is written to as it is; who reads stdout does not matter" {
	spin names
	mkfifo fifo
	start cat fifo >read
	reader=$pid
	profile -p "${started[0]}" -F 499 -f -o fifo 0.2
	wait "$reader"
	[ -p fifo ]
	grep -q ';spin_leaf [0-9]*$' read
	profile -p "${started[0]}" -F 499 -o closed.folded 0.2 >&-
	grep -q ';spin_leaf [0-9]*$' closed.folded
	bash -c 'set -o pipefail; "$1" profile -p "$2" -F 499 -o gone.folded 0.3 | true' - "$TRACEKIT" "${started[0]}"
	grep -q ';spin_leaf [0-9]*$' gone.folded
}

@test "flame graphs: frames of the trace, what was counted, and well-formed XML" {
	spin names
	profile -p "$pid" -F 499 -o flame.svg 0.3
	/usr/bin/python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' flame.svg
	samples=$(sed -n 's/.* s: \([0-9]*\) samples, 0 lost<\/text>$/\1/p' flame.svg)
	[ "$samples" -gt 0 ]
	grep -A1 '<title>all$' flame.svg | grep -q "^$samples samples, 100.00 %</title>"
	grep -q '<title>spin_leaf$' flame.svg
	profile -p "$pid" -F 499 --format html 0.2 >page
	grep -q 'data-name>spin_leaf</td>' page
	grep -q '<title>tracekit profile -p [0-9]* -F 499 --format html 0.2</title>' page
}
