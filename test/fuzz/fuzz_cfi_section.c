// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Input: a byte, whose lowest bit says .eh_frame or .debug_frame, and whose next bit the machine;
 * then the section.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sym/cfi/section.h"
#include "sym/elf/processor.h"
#include "sym/elf/work.h"
#include "test/fuzz/fuzz.h"
#include "test/unit/cfi_bytes.h"

#define WORK ((uint64_t)64 * 1024)

struct seen {
	uint64_t address;
	bool any;
};

static int take_row(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct seen *seen = context;

	REQUIRE(!seen->any || address > seen->address);
	REQUIRE(rule->cfa <= UNWIND_PLT);
	REQUIRE(rule->frame_pointer <= UNWIND_IN_REGISTER);
	REQUIRE(rule->return_address <= UNWIND_IN_REGISTER);
	REQUIRE(rule->cfa > UNWIND_END ||
		!memcmp(rule, &(struct unwind_rule){.cfa = rule->cfa}, sizeof(*rule)));
	*seen = (struct seen){.address = address, .any = true};
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_section section = {.address = CFI_BYTES_ADDRESS};
	struct seen seen = {0};
	uint64_t left = WORK;
	const struct work work = work__share(&left, WORK);
	unsigned char *bytes;
	int err;

	if (size < 1)
		return 0;
	/* In memory of its own, so that reading behind its end is seen. */
	bytes = malloc(size - 1 ? size - 1 : 1);
	memcpy(bytes, data + 1, size - 1);
	section.is_eh_frame = !(data[0] & 1);
	section.processor = processor__of(data[0] & 2 ? EM_AARCH64 : EM_X86_64);
	section.bytes = (struct cfi_bytes){.bytes = bytes, .size = size - 1};
	err = cfi_section__each_row(&section, &work, take_row, &seen);
	REQUIRE(err == 0 || (err == -EFBIG && !left));
	free(bytes);
	return 0;
}
