/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file is it, for the kernel? It is mapped, and a BPF program looks, as walks do: on
 * overlayfs and btrfs stat() has another answer, and the generation of an inode it does not have at
 * all.
 */
#ifndef TRACEKIT_CORE_UNWIND_IDENTIFY_H
#define TRACEKIT_CORE_UNWIND_IDENTIFY_H

#include "sym/cfi/reader.h"

struct bpf_map;
struct bpf_program;

/* An identifier by identify_mapping() of a loaded object and its map, which are borrowed. */
struct unwind_identifier file_identifier(const struct bpf_program *program,
					 const struct bpf_map *identified);

#endif
