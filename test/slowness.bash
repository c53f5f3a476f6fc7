# SPDX-License-Identifier: GPL-2.0-or-later
# measure_slowness: how many times slower this machine is than a common one, from 1 to 4, goes into
# TRACEKIT_SLOWNESS. Limits of waiting grow with it. To start 20 programs takes 30 ms on one, and
# 400 ms in a guest.
measure_slowness() {
	local begin=${EPOCHREALTIME/[.,]/} slowness
	for _ in {1..20}; do
		env true
	done
	slowness=$((1 + (${EPOCHREALTIME/[.,]/} - begin) / 400000))
	export TRACEKIT_SLOWNESS=$((slowness < 4 ? slowness : 4))
}
