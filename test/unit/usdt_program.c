// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For test_probe_sites.c: a program with USDT probes as <sys/sdt.h> writes them, which
 * is not needed here. "twice" has two places, "watched" a semaphore.
 */
#ifdef __LP64__
#define ADDRESS ".8byte"
#else
#define ADDRESS ".4byte"
#endif

#define PROBE(name, semaphore)                                                                     \
	__asm__ volatile("990: nop\n"                                                              \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"                              \
			 ".balign 4\n"                                                             \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                        \
			 "991: .asciz \"stapsdt\"\n"                                               \
			 "992: .balign 4\n"                                                        \
			 "993: " ADDRESS " 990b\n" ADDRESS " _.stapsdt.base\n" ADDRESS             \
			 " " semaphore "\n"                                                        \
			 ".asciz \"tracekit_test\"\n"                                              \
			 ".asciz \"" name "\"\n"                                                   \
			 ".asciz \"\"\n"                                                           \
			 "994: .balign 4\n"                                                        \
			 ".popsection\n")

__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
	".weak _.stapsdt.base\n"
	".hidden _.stapsdt.base\n"
	"_.stapsdt.base: .space 1\n"
	".popsection\n");

__attribute__((used, visibility("hidden"), section(".probes"))) unsigned short watched_semaphore;

int main(int argc, char **argv)
{
	(void)argv;
	PROBE("twice", "0");
	if (argc > 1)
		PROBE("twice", "0");
	PROBE("watched", "watched_semaphore");
	return watched_semaphore;
}
