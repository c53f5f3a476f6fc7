#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# doctor: its text, and reasons that are the same in all kernels.

load helpers
load ../refute
load doctor.bash

@test "the text says the same, with what is lost and what helps" {
	command -v jq >/dev/null || skip "jq is not installed"
	# Someone else's process to look at, both times.
	start setpriv --reuid 65534 --clear-groups sleep 300
	examine
	jq -es 'length > 35' report >/dev/null
	tracekit doctor >text || true
	jq -r 'select(.check) | "  " + .answer + ": " + .text' report >expected
	sed -En 's/^  (yes|no|untried) +/  \1: /p' text | diff expected -
	jq -r 'select(.applet) | .applet + " " + .verdict' report >expected
	sed -n '/^$/q; s/  */ /; s/, without: .*//; p' text | diff expected -
	[ "$(grep -c '^  no ' text)" -eq "$(grep -c '^             lost: .' text)" ]
	[ "$(grep -c '^  no ' text)" -eq "$(grep -c '^             help: .' text)" ]
	[ "$(grep -c '^  [nu][no]' text)" -eq "$(grep -c '^             why:  .' text)" ]
}

@test "a filter of system calls is told from missing privileges" {
	type -P python3 >/dev/null || skip "python3 is not installed"
	cat >filtered.py <<-'END'
		import ctypes, os, platform, struct, sys
		# Refuse the system call with EPERM, or kill, allow all others: load its number, compare, return.
		verdict = 0x00050001
		if sys.argv[1] == 'kill':
		    verdict = 0x80000000
		    del sys.argv[1]
		number = {'x86_64': 321, 'aarch64': 280}[platform.machine()]
		code = b''.join(struct.pack('HBBI', *line) for line in (
		    (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, verdict), (0x06, 0, 0, 0x7fff0000)))
		buffer = ctypes.create_string_buffer(code)
		program = ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 4, ctypes.addressof(buffer)))
		libc = ctypes.CDLL(None, use_errno=True)
		assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
		os.execv(sys.argv[1], sys.argv[1:])
	END
	prefix=(python3 filtered.py)
	examine
	[ "$status" -eq 2 ]
	answers system-calls no
	answers CAP_BPF yes
	[ "$(why programs)" = 'Operation not permitted: a filter of system calls refuses bpf()' ]
	grep -q '"check":"programs",.*"help":"a seccomp profile' report
	prefix+=(kill)
	examine
	[ "$status" -eq 2 ]
	[ "$(why system-calls)" = 'bpf() ends whoever calls it' ]
	[[ $(why samples) == 'it was ended by signal '* ]]
	[ "$(why programs)" = 'a filter of system calls ends whoever tries' ]
}

@test "less memory than maps take" {
	unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"
	printf 'MemTotal: 99999 kB\nMemAvailable: 40960 kB\n' >meminfo
	prefix=(unshare --mount bash -c 'mount --bind meminfo /proc/meminfo && exec "$@"' -)
	examine
	[ "$(why maps)" = '40 MB of memory are free' ]
	grep -q '"check":"maps",.*"help":"' report
}
