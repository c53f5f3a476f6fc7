// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A 32-bit program that is mostly in its vDSO; with an argument it ends at once. It needs no
 * library, nor a header of one: few machines have those of 32-bit programs.
 */
#include <stdbool.h>
#include <stdint.h>

/* See elf(5), getauxval(3). */
#define SHT_DYNSYM	11
#define AT_NULL		0
#define AT_SYSINFO_EHDR 33

struct header {
	uint8_t before[32];
	uint32_t sections;
	uint8_t between[12];
	uint16_t nr_sections;
};

struct section {
	uint32_t name, type, flags, address, offset, size, link, rest[3];
};

struct symbol {
	uint32_t name, value, rest[2];
};

#define NR_EXIT 1

typedef int (*clock_gettime_t)(int clock, int32_t time[2]);

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const void *find(uint32_t image, const char *name)
{
	const struct header *header = (const void *)image;
	const struct section *sections = (const void *)(image + header->sections);

	for (int i = 0; i < header->nr_sections; i++) {
		const struct symbol *symbols = (const void *)(image + sections[i].offset);
		const char *names = (const char *)image + sections[sections[i].link].offset;

		for (uint32_t s = 0;
		     sections[i].type == SHT_DYNSYM && s < sections[i].size / sizeof(*symbols); s++)
			if (is_same(names + symbols[s].name, name))
				return (const void *)(image + symbols[s].value);
	}
	return (const void *)0;
}

static __attribute__((noinline, used)) int func_32(clock_gettime_t function)
{
	int32_t time[2];
	int sum = 0;

	for (int i = 0; i < 1000000; i++)
		sum += function(1, time);
	return sum;
}

/* stack: what exec() has put there, see System V ABI, Intel386 supplement. */
static __attribute__((noinline, noreturn, used)) void run(const uint32_t *stack)
{
	const uint32_t *word = stack + 1 + stack[0] + 1; /* the environment */
	clock_gettime_t function = 0;

	if (stack[0] > 1)
		__asm__ volatile("int $0x80" : : "a"(NR_EXIT), "b"(0));
	while (*word)
		word++;
	for (word++; word[0] != AT_NULL; word += 2)
		if (word[0] == AT_SYSINFO_EHDR)
			function = (clock_gettime_t)find(word[1], "__vdso_clock_gettime");
	for (;;)
		func_32(function);
}

__asm__(".globl _start\n"
	"_start:\n"
	"	xorl %ebp, %ebp\n"
	"	pushl %esp\n"
	"	call run\n");
