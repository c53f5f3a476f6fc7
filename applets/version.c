// SPDX-License-Identifier: GPL-2.0-or-later
#include "applets/version.h"

#include <bpf/libbpf.h>
#include <elfutils/version.h>

/* Generated at each build: TRACEKIT_VERSION, TRACEKIT_REVISION */
#include "revision.h"

void version__print(FILE *out)
{
	fprintf(out, "tracekit %s (%s)\n", TRACEKIT_VERSION, TRACEKIT_REVISION);
	fprintf(out, "libbpf %u.%u\n", libbpf_major_version(), libbpf_minor_version());
	fprintf(out, "elfutils 0.%d\n", _ELFUTILS_VERSION);
#ifdef __clang__
	fprintf(out, "compiler %s\n", __VERSION__);
#else
	fprintf(out, "compiler gcc %s\n", __VERSION__);
#endif
}
