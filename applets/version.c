// SPDX-License-Identifier: GPL-2.0-or-later
#include "applets/version.h"

#include <bpf/libbpf.h>
#include <elfutils/version.h>
#include <gnu/libc-version.h>
#include <lzma.h>
#include <protobuf-c/protobuf-c.h>
#include <zlib.h>
#include <zstd.h>

/* Generated at each build: TRACEKIT_VERSION, TRACEKIT_REVISION */
#include "revision.h"

/* Libraries that know it say themselves which version is linked; libelf and libdw have a header. */
void version__print(FILE *out)
{
	fprintf(out, "tracekit %s (%s)\n", TRACEKIT_VERSION, TRACEKIT_REVISION);
	fprintf(out, "libbpf %u.%u\n", libbpf_major_version(), libbpf_minor_version());
	fprintf(out, "elfutils 0.%d\n", _ELFUTILS_VERSION);
	fprintf(out, "zlib %s\n", zlibVersion());
	fprintf(out, "zstd %s\n", ZSTD_versionString());
	fprintf(out, "liblzma %s\n", lzma_version_string());
	fprintf(out, "protobuf-c %s\n", protobuf_c_version());
	fprintf(out, "glibc %s\n", gnu_get_libc_version());
#ifdef __clang__
	fprintf(out, "compiler %s\n", __VERSION__);
#else
	fprintf(out, "compiler gcc %s\n", __VERSION__);
#endif
}
