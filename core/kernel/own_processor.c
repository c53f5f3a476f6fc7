// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/kernel/own_processor.h"

#include "sym/util/array.h"

#if defined(__x86_64__)

static const char *const registers[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
					"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

/* Since 6.11 and 6.18. */
static const struct own_call calls[] = {{"uretprobe", 335}, {"uprobe", 336}};

const struct own_processor own_processor = {
	.has_kernel_caller = true, /* its kernel has tables for that (ORC) */
	.orders_additions = true,
	.nr_registers = ARRAY_SIZE(registers),
	.register_names = registers,
	.nr_own_calls = ARRAY_SIZE(calls),
	.own_calls = calls,
};

uint8_t own_processor__address_bits(void)
{
	return 56; /* with five levels of pages */
}

#elif defined(__aarch64__)

#include <stdint.h>
#include <sys/mman.h>

#include "sym/util/page.h"

static const char *const registers[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",
					"x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
					"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
					"x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};

const struct own_processor own_processor = {
	.nr_registers = ARRAY_SIZE(registers),
	.register_names = registers,
};

/* The kernel gives addresses above 48 bits only to who asks for them. */
uint8_t own_processor__address_bits(void)
{
	void *mapped = mmap((void *)(1ULL << 51), page_size(), PROT_NONE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool is_wide = mapped != MAP_FAILED && (uintptr_t)mapped >> 48;

	if (mapped != MAP_FAILED)
		munmap(mapped, page_size());
	return is_wide ? 52 : 48;
}

#else
#error "what is there to know of this processor?"
#endif
