#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make_debug_files.sh DIRECTORY: the files of test_debug_file.c, as compilers, linkers and
# packagers make them: of each library NAME.full, NAME.debug, NAME.stripped, and NAME.linked,
# which has a .gnu_debuglink to NAME.debug.
set -eu

cd "$1"

# library NAME LDFLAG [CFLAG...]: from NAME.c
library() {
	name=$1 id=$2
	shift 2
	cc -g -O0 -shared -fPIC -nostdlib "$id" "$@" -o "$name.full" "$name.c"
	objcopy --only-keep-debug "$name.full" "$name.debug"
	strip --strip-all -o "$name.stripped" "$name.full"
	objcopy --add-gnu-debuglink="$name.debug" "$name.stripped" "$name.linked"
}

# with_section INPUT OUTPUT NAME: the section is read from stdin
with_section() {
	cat >section
	objcopy --add-section "$3=section" "$1" "$2"
	rm section
}

source='struct pair { struct pair *next; long a, b; };
static int hidden_function(struct pair *p) { return p->next ? (int)p->a : 1; }
int shown_function(struct pair *p) { return hidden_function(p); }'

echo "$source" >a.c
echo "$source int other_function(void) { return 2; }" >b.c
echo "$source" >plain.c
echo "$source int big[1 << 16] = {1};" >large.c
library a -Wl,--build-id=0xa1a2a3a4
library b -Wl,--build-id=0xb1b2b3b4
library plain -Wl,--build-id=none
library large -Wl,--build-id=none

strip --strip-debug -o a.symbols a.full
cp a.debug a.changed
echo changed >>a.changed

# Links whose names lead elsewhere; the CRC is never reached.
printf '../a.debug\0\0xxxx' | with_section a.stripped a.up .gnu_debuglink
printf '/a.debug\0\0\0\0xxxx' | with_section a.stripped a.absolute .gnu_debuglink

# Files that name an alternate file, which several share: here all of a.
for link in /shared/alternate ../beside/alternate /nowhere/.dwz/machine/alternate /nowhere; do
	printf '%s\0\241\242\243\244' "$link" |
		with_section b.debug "b.$(echo "$link" | tr -d /.)" .gnu_debugaltlink
done
if command -v dwz >/dev/null; then
	for i in 1 2 3 4 5 6 7 8 9; do
		echo "struct shared$i { long first_member$i, second_member$i; struct shared$i *next; };"
		echo "struct shared$i *variable$i;"
	done >shared.h
	for name in dwz1 dwz2; do
		printf '#include "shared.h"\nint %s(void) { return 0; }\n' $name >$name.c
		cc -g -O0 -shared -fPIC -nostdlib -Wl,--build-id -o $name.full $name.c
	done
	dwz -m dwz.common -M /shared/dwz.common dwz1.full dwz2.full
fi

# .gnu_debugdata
if command -v xz >/dev/null; then
	strip --strip-debug -o mini a.full
	xz -c mini >mini.xz
	with_section a.stripped mini.good .gnu_debugdata <mini.xz
	xz -9c mini | with_section a.stripped mini.best .gnu_debugdata
	head -c 200 mini.xz | with_section a.stripped mini.cut .gnu_debugdata
	with_section a.stripped mini.plain .gnu_debugdata <mini
	echo "no ELF file" | xz -c | with_section a.stripped mini.text .gnu_debugdata
	head -c 100000000 /dev/zero | xz -0c | with_section a.stripped mini.bomb .gnu_debugdata
	# A header that asks for a dictionary of 1.5 GB.
	xz --format=xz --lzma2=dict=1536MiB -c mini 2>/dev/null |
		with_section a.stripped mini.dictionary .gnu_debugdata || rm -f mini.dictionary
fi
