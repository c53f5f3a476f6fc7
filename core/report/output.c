// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sym/util/error.h"

int output__check(FILE *out)
{
	int flags = fcntl(fileno(out), F_GETFL);

	return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

/*
 * stdio keeps that a write has failed, but not why. What becomes of one more byte tells it; the
 * output is not whole anyway.
 */
static int ask_again(FILE *out)
{
	return write(fileno(out), "\n", 1) < 0 ? -errno : -EIO;
}

int output__flush(FILE *out)
{
	errno = 0;
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return errno ? -errno : ask_again(out);
}

int output__failed(int code, struct error *error)
{
	if (code == -EPIPE || code == -EBADF)
		error->text[0] = '\0';
	else
		error__set(error, code, "cannot write the output: %s", strerror(-code));
	return code;
}

int output__finish(FILE *out, struct error *error)
{
	int err = output__flush(out);

	return err ? output__failed(err, error) : 0;
}
