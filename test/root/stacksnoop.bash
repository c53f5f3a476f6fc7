# SPDX-License-Identifier: GPL-2.0-or-later
# The tests of stacksnoop share this, besides helpers.bash.

stacksnoop() {
	"$TRACEKIT" stacksnoop "$@"
}

start_stacksnoop() {
	start_tracer stacksnoop "$@"
}

# stacksnoop_text FILE [OPTIONS]: the layout of stacksnoop, with -v, -d and (c) --show-containers if
# OPTIONS say so: a
# header, then events in the order of their times, but with the option l, since a thread that
# is preempted in a program for 10 ms or more is late. Each event is a row without a frame, then
# a row for each frame from ip on, all with the time and the thread of the event. Gaps stand
# between events. Prints how many events there are, and how many the gaps say are missing.
stacksnoop_text() {
	LC_ALL=C awk -v options="$2" '
	function wrong(what) { print FILENAME ":" NR ": " what ": " $0 >"/dev/stderr"; bad = 1; exit 1 }
	# An event must have this before the next one, or the end.
	function end_event() { if (delimited && state != "" && !border) wrong("no border before") }
	BEGIN { verbose = options ~ /v/; containers = options ~ /c/; delimited = options ~ /d/; last = "0.000000000" }
	NR == 1 {
		header = sprintf("%-18s ", "TIME(s)")
		if (verbose) header = header sprintf("%-12s %-6s %-3s ", "COMM", "PID", "CPU")
		if (containers) header = header sprintf("%-12s ", "CONTAINER")
		if ($0 != header "STACK") wrong("header")
		next
	}
	/^lost [1-9][0-9]* events$/ { end_event(); state = ""; lost += $2; next }
	{
		time = $1
		if (time !~ /^[0-9]+\.[0-9]+$/ || length(time) - index(time, ".") != 9) wrong("time")
		prefix = sprintf("%-18s ", time)
		if (verbose) {
			comm = substr($0, length(prefix) + 1, 12)
			rest = substr($0, length(prefix) + 14)
			if (split(rest, word, " ") < 2) wrong("columns")
			if (word[1] word[2] ~ /[^0-9]/) wrong("PID or CPU")
			prefix = prefix comm sprintf(" %-6d %-3d ", word[1], word[2])
		}
		if (containers) prefix = prefix sprintf("%-12s ", substr($0, length(prefix) + 1, 12))
		if (index($0, prefix) != 1) wrong("columns")
		row = substr($0, length(prefix) + 1)
	}
	row == "" {
		end_event()
		if (time + 0 < last + 0 && options !~ /l/) wrong("a time before " last)
		event = prefix; last = time; state = "event"; frames = border = 0; events++
		next
	}
	state == "" { wrong("no event begins") }
	prefix != event { wrong("not of this event") }
	row == "--" { if (border || !delimited) wrong("border"); border = 1; frames = 0; state = "event"; next }
	state == "cut" { wrong("behind the cut") }
	{
		label = frames ? "r" frames - 1 ": " : "ip: "
		frames++
		if (index(row, label) != 1) wrong("no " label)
		row = substr(row, length(label) + 1)
	}
	row ~ /^\[(cut at [0-9]+ frames|unwind stopped: [a-z0-9 -]+)\]$/ { state = "cut"; next }
	row !~ /^([0-9a-f]+|-) [^ ]/ { wrong("frame") } # -: only the file is known
	{ state = "frame" }
	END {
		if (!NR) wrong("no header")
		if (!bad) end_event()
		if (!bad) print events + 0, lost + 0
		exit bad
	}' "$1"
}

# stacksnoop_json FILE STACK...: as stacksnoop_text, of JSON, where each event has the STACKs "kernel", "user".
stacksnoop_json() {
	/usr/bin/python3 - "$@" <<-'END'
		import json, re, sys
		from decimal import Decimal

		def once(items):
		    assert len(dict(items)) == len(items), items
		    return dict(items)

		def check_time(time):
		    assert re.fullmatch(r"[0-9]+\.[0-9]{9}", time), time

		def check_frame(frame, user):
		    keys = ["addr", "name"]
		    if frame["addr"] is None and "module" not in frame:
		        mark = r"\[(cut at \d+ frames|unwind stopped: [a-z0-9 -]+)\]"
		        assert list(frame) == keys and re.fullmatch(mark, frame["name"]), frame
		        return
		    keys += ["offset"] * (frame["name"] is not None) + ["module"] * ("module" in frame)
		    keys += ["module_offset"] * ("module" in frame and user)
		    assert list(frame) == keys, frame
		    # Without one only the file is known.
		    assert frame["addr"] is None or re.fullmatch("[0-9a-f]+", frame["addr"]), frame
		    for key, value in list(frame.items())[1:]:
		        assert type(value) is (int if "offset" in key else str) or (key, value) == ("name", None), frame

		text = open(sys.argv[1], "rb").read().decode("utf-8")
		assert not re.search("[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]", text)
		assert text == "" or text.endswith("\n")
		stacks, events, lost, last = sys.argv[2:], 0, 0, Decimal(0)
		for line in text.split("\n")[:-1]:
		    item = json.loads(line, object_pairs_hook=once)
		    check_time(item["time"])
		    if "lost" in item:
		        assert list(item) == ["lost", "time"] and type(item["lost"]) is int and item["lost"] > 0, line
		        lost += item["lost"]
		        continue
		    assert list(item) == ["time", "comm", "pid", "tid", "cpu"] + stacks, line
		    assert type(item["comm"]) is str
		    assert all(type(item[key]) is int and item[key] >= 0 for key in ("pid", "tid", "cpu")), line
		    for stack in stacks:
		        for frame in item[stack]:
		            check_frame(frame, stack == "user")
		    assert Decimal(item["time"]) >= last, line
		    last = Decimal(item["time"])
		    events += 1
		print(events, lost)
	END
}

# exact MADE [OPTIONS]: as stacksnoop_text() says, that many events are in out or are said to be
# missing, by rows and by the sums on stderr alike. They are in $events and $lost.
exact() {
	local counts
	counts=$(stacksnoop_text out "$2")
	read -r events lost <<<"$counts"
	accounted "$1"
}

# json_exact MADE STACK...: as exact, of JSON, with "kernel", "user" or both.
json_exact() {
	local counts made=$1
	shift
	counts=$(stacksnoop_json out "$@")
	read -r events lost <<<"$counts"
	accounted "$made"
}

# accounted MADE: $events and $lost agree with stderr, where --stats was given.
accounted() {
	local total seen
	echo "$events printed, $lost lost"
	read_total counted
	[ "$total" -eq "$events" ]
	read_total lost
	[ "$total" -eq "$lost" ]
	read_total seen
	seen=$total
	read_total filtered
	[ "$seen" -eq $((events + lost + total)) ]
	made "$1" $((events + lost))
	if [ "$lost" -gt 0 ]; then
		grep -Eq "^WARNING: $lost of $seen events are not shown: " err
	else
		[[ ! $(<err) =~ (^|$'\n')'WARNING: '[0-9] ]]
	fi
}

# paths FILE: of each event, in text, a line: its functions, leaf first, up to main().
paths() {
	awk 'NR == 1 || /^lost / { next }
	{ row = $0; sub(/^[^ ]+ +/, "", row) }
	row == "" { if (begun) print path; begun = 1; path = ""; next }
	row == "--" { path = path ";-"; next }
	{ sub(/^(ip|r[0-9]+): ([0-9a-f]+ |- )?/, "", row); path = path ";" row }
	END { if (begun) print path }' "$1" | sed 's/^;//; s/;main;.*/;main/'
}

# So many lines are in out, which may grow faster than it can be read.
lines() {
	[ "$(head -n "$1" out | wc -l)" -ge "$1" ]
}

# unify: stdin, with the number of equal lines in a row before each.
unify() {
	uniq -c | sed 's/^ *//'
}

# stop_while_calling: the tracer rests while $pid makes its calls: what its buffer has no room for is lost.
stop_while_calling() {
	kill -STOP "$tracer"
	go "$pid"
	kill -CONT "$tracer"
}
