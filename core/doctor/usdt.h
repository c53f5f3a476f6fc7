/* SPDX-License-Identifier: GPL-2.0-or-later */
/* USDT probes of our own, in the doctor and in tests, written as <sys/sdt.h> does. */
#ifndef TRACEKIT_CORE_DOCTOR_USDT_H
#define TRACEKIT_CORE_DOCTOR_USDT_H

#ifdef __LP64__
#define USDT_ADDRESS ".8byte"
#else
#define USDT_ADDRESS ".4byte"
#endif

/* A place of a probe; its semaphore is the name of a USDT_SEMAPHORE(), or "0". */
#define USDT_PROBE(provider, name, semaphore)                                                      \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"                              \
			 ".balign 4\n"                                                             \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                        \
			 "991: .asciz \"stapsdt\"\n"                                               \
			 "992: .balign 4\n"                                                        \
			 "993: " USDT_ADDRESS " 990b\n" USDT_ADDRESS                               \
			 " _.stapsdt.base\n" USDT_ADDRESS " " semaphore "\n"                       \
			 ".asciz \"" provider "\"\n"                                               \
			 ".asciz \"" name "\"\n"                                                   \
			 ".asciz \"\"\n"                                                           \
			 "994: .balign 4\n"                                                        \
			 ".popsection\n")

/* The kernel counts in it how many wait for the probe. */
#define USDT_SEMAPHORE(name)                                                                       \
	__attribute__((used, visibility("hidden"), section(".probes"))) volatile unsigned short name

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".popsection\n");

#endif
