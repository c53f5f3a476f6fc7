#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the other scripts: Debian's packages, and how to install them.

# What tracekit is linked with, of the machine that it is built for.
LIBRARY_PACKAGES=(
	libbpf-dev libc6-dev libdw-dev libelf-dev libiberty-dev liblzma-dev libprotobuf-c-dev
	libzstd-dev zlib1g-dev
)
# shellcheck disable=SC2034
TOOL_PACKAGES=(
	bpftool clang cmake gcc git make pkg-config protobuf-c-compiler zstd
)
# shellcheck disable=SC2034
BUILD_PACKAGES=("${TOOL_PACKAGES[@]}" "${LIBRARY_PACKAGES[@]}")
# To build for arm64 on another machine, beside what foreign-root fetches.
# shellcheck disable=SC2034
ARM64_PACKAGES=(debian-archive-keyring gcc-aarch64-linux-gnu lld)
# shellcheck disable=SC2034
TEST_PACKAGES=(
	bats binutils busybox-static chromium chromium-driver clang-format dwz fish g++ golang-go jq
	libclang-rt-14-dev libxml2-utils lld llvm mandoc mount ninja-build perl procps protobuf-compiler
	python3 shellcheck util-linux xz-utils zsh
)
# shellcheck disable=SC2034
VM_PACKAGES=(
	cpio debian-archive-keyring kmod qemu-system-arm qemu-system-x86 util-linux xz-utils
)

say() {
	printf '==> %s\n' "$*"
}

# as_root COMMAND...: with sudo if need be.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		printf 'This needs root, and there is no sudo: run it as root.\n  %s\n' "$*" >&2
		return 1
	fi
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# install_missing PACKAGE...
install_missing() {
	local missing=() package
	for package in "$@"; do
		installed "$package" || missing+=("$package")
	done
	if [ ${#missing[@]} -eq 0 ]; then
		say "Nothing to install: all packages are there"
		return
	fi
	say "Installing ${missing[*]}"
	as_root apt-get update -qq
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
