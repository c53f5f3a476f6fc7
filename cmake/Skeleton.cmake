# SPDX-License-Identifier: GPL-2.0-or-later
# add_bpf_skeleton(NAME): NAME.bpf.c of the folder -> NAME.bpf.o -> NAME.linked.o -> NAME.skel.h, which
# has the object compressed by zstd.
# SKELETON_HEADERS of the folder has what it makes.
#
# Neither step needs root or the BTF of the machine that builds: the programs
# use the headers of the UAPI, and offsets that user space tells them.

find_program(CLANG clang REQUIRED)
# Debian keeps it where users have no PATH to.
find_program(BPFTOOL bpftool PATHS /usr/sbin /sbin REQUIRED)
find_program(ZSTD zstd REQUIRED)

# Without it the binary is some 30 KB larger.
find_program(LLVM_OBJCOPY llvm-objcopy)

set(SKELETON_DIR ${CMAKE_BINARY_DIR}/skeletons)
file(MAKE_DIRECTORY ${SKELETON_DIR})

if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(BPF_ARCH_DEFINITION __TARGET_ARCH_x86)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(BPF_ARCH_DEFINITION __TARGET_ARCH_arm64)
else()
  message(FATAL_ERROR "tracekit is not known to work on ${CMAKE_SYSTEM_PROCESSOR}")
endif()

function(add_bpf_skeleton name)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${name}.bpf.c)
  set(object ${SKELETON_DIR}/${name}.bpf.o)
  set(linked ${SKELETON_DIR}/${name}.linked.o)
  set(header ${SKELETON_DIR}/${name}.skel.h)
  # -g: libbpf needs the BTF that clang then writes. Names are relative in it.
  # v2: what kernels of 5.10 verify well.
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CLANG} -g -O2 -target bpf -mcpu=v2 -std=gnu11 -Wall -Wextra
      $<$<BOOL:${TRACEKIT_WERROR}>:-Werror>
      -D${BPF_ARCH_DEFINITION} -I${CMAKE_SOURCE_DIR}
      -idirafter ${CMAKE_SYSROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
      -fdebug-prefix-map=${CMAKE_SOURCE_DIR}=.
      -MD -MF ${object}.d -c ${source} -o ${object}
    # clang keeps a symbol for each block of code, which nobody refers to.
    COMMAND $<IF:$<BOOL:${LLVM_OBJCOPY}>,${LLVM_OBJCOPY},true> --wildcard --strip-symbol=LBB*
      ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "Compiling BPF object ${name}.bpf.o"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_command(
    OUTPUT ${header}
    # Linked, if only with itself: that leaves out DWARF, half of the object.
    COMMAND ${BPFTOOL} gen object ${linked} ${object}
    COMMAND ${BPFTOOL} gen skeleton ${linked} name ${name}_bpf > ${header}
    COMMAND ${ZSTD} -q -f --ultra -22 -o ${linked}.zst ${linked}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DHEADER=${header} -DOBJECT=${linked}
      -DPACKED=${linked}.zst -P ${CMAKE_SOURCE_DIR}/cmake/pack_skeleton.cmake
    DEPENDS ${object} ${CMAKE_SOURCE_DIR}/cmake/pack_skeleton.cmake
    COMMENT "Generating skeleton ${name}.skel.h"
    VERBATIM)
  set_property(DIRECTORY APPEND PROPERTY SKELETON_HEADERS ${header})
endfunction()
