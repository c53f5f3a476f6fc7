# SPDX-License-Identifier: GPL-2.0-or-later
# The benchmarks share this: tools that do the same job run in turn, and the costs
# are kept in files, one for each tool and kind of figure.
#
# A benchmark sets these, and then calls begin_benchmark:
# - tracekit: the program, if it is not the one that was built
# - all_tools: the names of the tools, tracekit among them
# - set_command TOOL ARGUMENT...: a function after which 'command' is what runs TOOL
# - program_of TOOL: a function that prints what must be installed for it
# - parts: the parts that are wanted, with spaces around each, where there are some

# Here and there only one of the benchmarks uses a variable.
# shellcheck shell=bash disable=SC2034
set -euo pipefail
export LC_ALL=C
TIMEFORMAT='%3U %3S %3R'

read -ra peers <<<"${PEERS:-}"
tracekit=$(dirname "$0")/../../build/applets/tracekit
stats=/proc/sys/kernel/bpf_stats_enabled
scratch='' peer_scratch='' old_stats=''
declare -A groups=()

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# start_group COMMAND...: runs it in a process group of its own, which is then in 'group',
# and ends with the benchmark.
start_group() {
	# A shell's background commands read /dev/null, unless told otherwise.
	setsid "$@" <&0 &
	group=$!
	groups[$group]=running
}

# wait_for_group GROUP: its first process's exit status.
wait_for_group() {
	local status=0
	wait "$1" || status=$?
	unset "groups[$1]"
	return "$status"
}

# end_group GROUP: its processes, which are ours, are gone on return.
end_group() {
	kill -- "-$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
	for _ in {1..50}; do
		pgrep -g "$1" >/dev/null || return 0
		sleep 0.1
	done
	kill -KILL -- "-$1" 2>/dev/null || true
}

clean_up() {
	local one
	for one in "${!groups[@]}"; do
		end_group "$one"
	done
	disable_bpf_stats
	[ -z "$peer_scratch" ] || "${peers[@]}" rm -rf "$peer_scratch"
	[ -z "$scratch" ] || rm -rf "$scratch"
}

begin_benchmark() {
	[[ $runs =~ ^[1-9][0-9]*$ ]] || die "RUNS is not a number of runs: $runs"
	[ "$(id -u)" = 0 ] || die "it takes root"
	gnu_time=$(type -P time) || die "GNU time is not installed (Debian's package is time)"
	type -P pgrep >/dev/null || die "pgrep is not installed (Debian's package is procps)"
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	scratch=$(mktemp -d)
	# TMPDIR is of here.
	peer_scratch=$("${peers[@]}" env -u TMPDIR mktemp -d)
	# A load that builds tracekit again removes the file.
	cp -L "$tracekit" "$scratch/tracekit"
	tools=("${all_tools[@]}")
}

# install_program NAME: one of test/bench/, in the root of the peers, where it is then
# in 'peer_program'.
install_program() {
	peer_program=$peer_scratch/$1
	"${peers[@]}" sh -c 'cat >"$1" && chmod 755 "$1"' sh "$peer_program" \
		<"$(dirname "$tracekit")/../test/bench/$1"
}

# wants PART
wants() {
	[[ $parts = *" $1 "* ]]
}

enable_bpf_stats() {
	old_stats=$(cat "$stats")
	echo 1 >"$stats"
}

disable_bpf_stats() {
	[ -z "$old_stats" ] || echo "$old_stats" >"$stats"
	old_stats=''
}

# package_version PACKAGE: as it is installed where the peers are.
package_version() {
	"${peers[@]}" dpkg-query -W -f '${Version}' "$1" 2>/dev/null
}

# version_of TOOL: the package's, where the program does not know the release it is of.
version_of() {
	local version
	case $1 in
	tracekit*) version=$("$scratch/tracekit" --version | sed -n '1s/^tracekit //p') ;;
	libbpf-tools) version=$(package_version libbpf-tools) ;;
	bcc) version=$(package_version bpfcc-tools) ;;
	bpftrace) version=$("${peers[@]}" bpftrace --version | sed 's/^bpftrace v//') ;;
	addr2line) version=$(package_version binutils) ;;
	llvm-symbolizer) version=$("${peers[@]}" llvm-symbolizer --version | sed -n 's/.*LLVM version //p') ;;
	perf) version=$("${peers[@]}" perf --version | sed 's/^perf version //') ;;
	esac || version=
	printf '%s %s' "$1" "${version:-(version unknown)}"
}

# leave_out TOOL WHY
leave_out() {
	local tool left=()
	[ "$1" != tracekit ] || die "without tracekit there is nothing to compare: $2"
	printf 'left out: %s: %s\n' "$1" "$2" >&2
	for tool in "${tools[@]}"; do
		[ "$tool" = "$1" ] || left+=("$tool")
	done
	tools=("${left[@]}")
}

# failure: the words of the last command.
failure() {
	local said
	said=$(grep -v '^[[:space:]]*$' "$scratch/errors" | tail -n 1) || true
	printf '%s' "${said:-it failed without a word}"
}

# Leave out tools that are not installed.
leave_out_missing() {
	local tool program
	for tool in "${all_tools[@]}"; do
		program=$(program_of "$tool")
		[ "$tool" = tracekit ] ||
			"${peers[@]}" sh -c 'command -v "$1"' sh "$program" >/dev/null 2>&1 ||
			leave_out "$tool" "$program is not installed"
	done
}

# try_tools ARGUMENT...: each runs once uncounted: the kernel then caches the files that it
# reads. Tools that are not there, or fail, are left out.
try_tools() {
	local tool
	leave_out_missing
	for tool in "${tools[@]}"; do
		set_command "$tool" "$@"
		timeout 60 "${command[@]}" </dev/null >/dev/null 2>"$scratch/errors" ||
			leave_out "$tool" "$(failure)"
	done
}

# measure FILE [INPUT]: runs 'command' and appends "CPU-seconds peak-kilobytes wall-seconds".
measure() {
	{
		time "$gnu_time" -q -o "$scratch/peak" -f %M "${command[@]}" \
			<"${2:-/dev/null}" >/dev/null 2>"$scratch/errors"
	} 2>"$scratch/times" || return
	paste -d ' ' "$scratch/times" "$scratch/peak" |
		awk '{ print $1 + $2, $4, $3 }' >>"$scratch/$1"
}

# bpf_of GROUP TYPES: of the busiest of the programs that its processes hold and whose type
# is one of TYPES (numbers separated by |), the nanoseconds and the runs; and the bytes of
# all their maps. Nothing if it has not run yet.
bpf_of() {
	local pid
	for pid in $(pgrep -g "$1"); do
		cat "/proc/$pid/fdinfo/"* 2>/dev/null || true
	done | awk -v types="^($2)$" '
		/^pos:/ { type = "" }
		/^prog_type:/ { type = $2 }
		/^memlock:/ { bytes = $2 }
		/^map_id:/ { maps[$2] = bytes }
		/^run_time_ns:/ { time = $2 }
		/^run_cnt:/ && type ~ types && $2 > runs { runs = $2; ns = time }
		END {
			for (map in maps)
				sum += maps[map]
			if (runs)
				printf "%.0f %.0f %.0f\n", ns, runs, sum
		}'
}

# measure_bpf TOOL SUFFIX TYPES: runs 'command' and, two seconds after its BPF program first
# ran, appends "nanoseconds-per-run bytes-of-maps" to the tool's figures.
measure_bpf() {
	local seen tool_runs
	start_group "${command[@]}" </dev/null >/dev/null 2>"$scratch/errors"
	while kill -0 "$group" 2>/dev/null && [ -z "$(bpf_of "$group" "$3")" ]; do
		sleep 0.1
	done
	sleep 2
	seen=$(bpf_of "$group" "$3")
	wait_for_group "$group" || return
	read -r _ tool_runs _ <<<"$seen"
	if [ -z "$tool_runs" ]; then
		printf 'no BPF figures: %s: its program did not run in this round\n' "$1" >&2
	else
		awk '{ print $1 / $2, $3 }' <<<"$seen" >>"$scratch/$1.$2"
	fi
}

# said_to_be NAME...: the sum of these numbers of tracekit's accounting.
said_to_be() {
	local name
	for name in "$@"; do
		sed -nE "s/.*[ :]([0-9]+) $name([ ;].*)?$/\1/p" "$scratch/errors"
	done | awk '{ sum += $1 } END { printf "%d\n", sum }'
}

# median FILE COLUMN
median() {
	sort -n -k "$2,$2" "$1" | awk -v column="$2" '
		{ value[NR] = $column }
		END { print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

# row NAME SUFFIX COLUMN FORMAT AWK-EXPRESSION: of each tool the median, as x in the
# expression, or "-" where there are fewer figures than runs.
row() {
	local tool file
	printf '| %s |' "$1"
	for tool in "${tools[@]}"; do
		file=$scratch/$tool.$2
		if [ -e "$file" ] && [ "$(wc -l <"$file")" -eq "$runs" ]; then
			median "$file" "$3" | awk "{ x = \$1; printf \" $4 |\", $5 }"
		else
			printf ' - |'
		fi
	done
	echo
}

# table_head: the line with the tools, and the one below it.
table_head() {
	printf '\n| |'
	printf ' %s |' "${tools[@]}"
	printf '\n| --- |'
	printf ' --- |%.0s' "${tools[@]}"
	printf '\n'
}

# what_ran MEANWHILE: the machine, the runs and the versions of the tools.
what_ran() {
	local tool versions=()
	for tool in "${tools[@]}"; do
		versions+=("$(version_of "$tool"),")
	done
	printf 'Linux %s, %d CPUs; medians of %d runs, %s.\n' \
		"$(uname -r)" "$(nproc)" "$runs" "$1"
	printf '%s\n' "${versions[*]}" | sed 's/,$/./'
}
