/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of this machine in several places. */
#ifndef TRACEKIT_SYM_ELF_MACHINE_H
#define TRACEKIT_SYM_ELF_MACHINE_H

#include <elf.h>

/*
 * MACHINE_ELF: in ELF headers. MACHINE_LD_CACHE: in the flags of glibc's ld.so.cache.
 * MACHINE_TRIPLET: folders of Debian. MACHINE_MUSL: in the name of musl's loader.
 */
#if defined(__x86_64__) && defined(__LP64__)
#define MACHINE_ELF	 EM_X86_64
#define MACHINE_LD_CACHE 0x0300
#define MACHINE_TRIPLET	 "x86_64-linux-gnu"
#define MACHINE_MUSL	 "x86_64"
#elif defined(__aarch64__)
#define MACHINE_ELF	 EM_AARCH64
#define MACHINE_LD_CACHE 0x0a00
#define MACHINE_TRIPLET	 "aarch64-linux-gnu"
#define MACHINE_MUSL	 "aarch64"
#elif defined(__s390x__)
#define MACHINE_ELF	 EM_S390
#define MACHINE_LD_CACHE 0x0400
#define MACHINE_TRIPLET	 "s390x-linux-gnu"
#define MACHINE_MUSL	 "s390x"
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define MACHINE_ELF	 EM_PPC64
#define MACHINE_LD_CACHE 0x0500
#define MACHINE_TRIPLET	 "powerpc64le-linux-gnu"
#define MACHINE_MUSL	 "powerpc64le"
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE_ELF	 EM_RISCV
#define MACHINE_LD_CACHE 0x1000
#define MACHINE_TRIPLET	 "riscv64-linux-gnu"
#define MACHINE_MUSL	 "riscv64"
#else
#error "the names of this machine are missing here"
#endif

#endif
