# SPDX-License-Identifier: GPL-2.0-or-later
# Write OUTPUT, a header with the bytes of INPUT and a NUL as the array NAME.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "static const char ${NAME}[] = {${bytes}0};\n")
