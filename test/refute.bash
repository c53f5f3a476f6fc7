# SPDX-License-Identifier: GPL-2.0-or-later
# refute COMMAND...: fails if it succeeds. A plain "! COMMAND" never ends a test.
refute() {
	if "$@"; then
		return 1
	fi
}
