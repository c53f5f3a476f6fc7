# SPDX-License-Identifier: GPL-2.0-or-later
cmake_minimum_required(VERSION 3.25)
# In HEADER, a skeleton that bpftool has made of OBJECT as NAME_bpf, have the bytes of PACKED, the object
# as zstd has compressed it, in the place of those of the object (sym/util/unpack.h).
file(READ ${HEADER} header)
file(READ ${PACKED} packed HEX)
file(SIZE ${OBJECT} size)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," packed "${packed}")

set(function "static inline const void *${NAME}_bpf__elf_bytes(size_t *sz)\n{\n")
string(FIND "${header}" "${function}" begin)
if(begin EQUAL -1)
  message(FATAL_ERROR "${HEADER}: bpftool has no elf_bytes() where it is looked for")
endif()
string(SUBSTRING "${header}" 0 ${begin} before)
string(SUBSTRING "${header}" ${begin} -1 header)
string(FIND "${header}" "\n}\n" end)
string(SUBSTRING "${header}" ${end} -1 after)
file(WRITE ${HEADER} "#include \"sym/util/unpack.h\"\n${before}${function}"
"	static const unsigned char packed[] = {${packed}};
	static _Alignas(8) unsigned char object[${size}];

	*sz = sizeof(object);
	return unpack(packed, sizeof(packed), object, sizeof(object));${after}")
