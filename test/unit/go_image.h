/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small ELF files with a table of Go functions of any version, made in memory. */
#ifndef TRACEKIT_TEST_GO_IMAGE_H
#define TRACEKIT_TEST_GO_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/unit/elf_image.h"

#define GO_TEXT 0x401000 /* where the code of Go begins */

struct go_function {
	const char *name;
	uint64_t offset;     /* from GO_TEXT */
	const char *deltas;  /* of the stack pointer, with a NUL behind them; or NULL */
	unsigned char flags; /* since GO_16 */
};

/* Where the image says that code begins, since 1.18. */
enum go_text {
	GO_TEXT_IN_HEADER,
	GO_TEXT_IN_HEADER_RELOCATED, /* by a relocation, while the word is 0 */
	GO_TEXT_IN_MODULE,
	GO_TEXT_IN_MODULE_RELOCATED,
	GO_TEXT_NOWHERE, /* but .text begins there */
};

struct go_image_spec {
	uint32_t magic;
	bool is_arm64; /* not x86-64 */
	bool in_relro; /* among other things in .data.rel.ro, not in a section of its own */
	bool unmarked; /* nothing says that this was made by Go */
	enum go_text text;
	const struct go_function *functions; /* sorted */
	size_t nr;
	uint64_t end;		       /* of the last one */
	const unsigned char *eh_frame; /* of C code, at CFI_BYTES_ADDRESS; or NULL */
	size_t eh_frame_size;
};

#define GO_2  0xfffffffb
#define GO_16 0xfffffffa
#define GO_18 0xfffffff0
#define GO_20 0xfffffff1

/* The table of such an image is here, to be spoilt. */
#define GO_TABLE_OFFSET 0x100

/* Aborts without memory: there is nothing else for a test to do. */
struct elf_image go_image__make(const struct go_image_spec *spec);

#endif
