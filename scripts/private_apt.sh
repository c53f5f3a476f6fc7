#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced: packages of Debian for other machines, from the mirror that this machine's own apt uses.
# Nothing of this machine's apt is read or written but that; it needs no root, and installs nothing.

# The mirror from which this machine has its Debian, as of the last "apt-get update".
mirror() {
	apt-get indextargets --format "\$(ORIGIN) \$(RELEASE) \$(COMPONENT) \$(REPO_URI)" \
		'Created-By: Packages' |
		awk '$1 == "Debian" && $2 ~ /^[a-z]+$/ && $3 == "main" { print $4; exit }'
}

# private COMMAND...: apt with one suite and folders of its own, below this one.
private() {
	"$1" -o Dir::Etc::sourcelist="$PWD/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State="$PWD/apt" -o Dir::State::status="$PWD/apt/status" \
		-o Dir::Cache="$PWD/apt" -o Acquire::Languages=none -o Acquire::Retries=2 \
		-o Acquire::Check-Valid-Until=false -o APT::Update::Error-Mode=any -o APT::Sandbox::User= \
		-o APT::Architecture="$architecture" -o APT::Architectures="$architecture" "${@:2}"
}

# begin_private ARCHITECTURE SUITE: for private from now on, in this folder.
begin_private() {
	local from
	architecture=$1
	from=$(mirror)
	[ -n "$from" ] || {
		echo "apt knows no mirror of Debian" >&2
		return 1
	}
	mkdir -p apt/lists/partial apt/archives/partial
	touch apt/status
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from $2 main" \
		>apt/sources.list
	private apt-get -qq update
}
