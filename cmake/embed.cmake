# SPDX-License-Identifier: GPL-2.0-or-later
cmake_minimum_required(VERSION 3.25)
# Write OUTPUT, a header with the bytes of PACKED, which zstd has made of INPUT, as the array NAME_packed,
# and NAME, an array for what it is inflated to and a NUL (sym/util/unpack.h).
file(READ ${PACKED} packed HEX)
file(SIZE ${INPUT} size)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," packed "${packed}")
file(WRITE ${OUTPUT}
"static const unsigned char ${NAME}_packed[] = {${packed}};
static char ${NAME}[${size} + 1];
")
