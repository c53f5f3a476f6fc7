// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What static libraries have and tracekit never reaches, though functions that it needs refer to
 * it: the linker takes what stands here in its place, and leaves the files of the libraries out.
 * Only where all is linked statically: 110 KB of 2.6 MB.
 */
#include <stdint.h>
#include <stdlib.h>
#include <zstd_errors.h>

#define RETURNS(type, name, value)                                                                 \
	type name(void);                                                                           \
	type name(void)                                                                            \
	{                                                                                          \
		return value;                                                                      \
	}
#define NEVER_CALLED(name)                                                                         \
	_Noreturn void name(void);                                                                 \
	_Noreturn void name(void)                                                                  \
	{                                                                                          \
		abort();                                                                           \
	}

/*
 * zstd's formats before 1.0 (2016); ELF has sections compressed by zstd since 2022. A frame of them
 * is refused: zstd cannot begin one for want of a context, and calls nothing else of these.
 */
#define OLD_ZSTD(version)                                                                          \
	RETURNS(void *, ZSTDv##version##_createDCtx, NULL)                                         \
	RETURNS(void *, ZBUFFv##version##_createDCtx, NULL)                                        \
	RETURNS(size_t, ZSTDv##version##_freeDCtx, 0)                                              \
	RETURNS(size_t, ZBUFFv##version##_freeDCtx, 0)                                             \
	RETURNS(size_t, ZSTDv##version##_getFrameParams, (size_t)-ZSTD_error_version_unsupported)  \
	void ZSTDv##version##_findFrameSizeInfoLegacy(const void *, size_t, size_t *, uint64_t *); \
	void ZSTDv##version##_findFrameSizeInfoLegacy(const void *frame, size_t size,              \
						      size_t *packed, uint64_t *bound)             \
	{                                                                                          \
		(void)frame;                                                                       \
		(void)size;                                                                        \
		*packed = (size_t)-ZSTD_error_version_unsupported;                                 \
		*bound = (uint64_t)-2; /* ZSTD_CONTENTSIZE_ERROR */                                \
	}                                                                                          \
	NEVER_CALLED(ZSTDv##version##_decompress_usingDict)                                        \
	NEVER_CALLED(ZBUFFv##version##_decompressContinue)                                         \
	NEVER_CALLED(ZBUFFv##version##_decompressInitDictionary)

OLD_ZSTD(05)
OLD_ZSTD(06)
OLD_ZSTD(07)

/* libbpf's programs that load others (light skeletons). It frees what it has none of. */
RETURNS(void, bpf_gen__free, )
NEVER_CALLED(bpf_gen__init)
NEVER_CALLED(bpf_gen__finish)
NEVER_CALLED(bpf_gen__load_btf)
NEVER_CALLED(bpf_gen__map_create)
NEVER_CALLED(bpf_gen__map_freeze)
NEVER_CALLED(bpf_gen__map_update_elem)
NEVER_CALLED(bpf_gen__populate_outer_map)
NEVER_CALLED(bpf_gen__prog_load)
NEVER_CALLED(bpf_gen__record_attach_target)
NEVER_CALLED(bpf_gen__record_extern)
NEVER_CALLED(bpf_gen__record_relo_core)

/* libbpf's way to attach to probes of programs (USDT): tracekit has its own. */
RETURNS(void, usdt_manager_free, )
NEVER_CALLED(usdt_manager_new)
NEVER_CALLED(usdt_manager_attach_usdt)
