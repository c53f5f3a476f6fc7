// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "sym/util/error.h"

int output__check(FILE *out)
{
	int flags = fcntl(fileno(out), F_GETFL);

	return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

int output__flush(FILE *out)
{
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
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
