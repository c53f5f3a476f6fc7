// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/run/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/trace/accounting.h"
#include "sym/util/number.h"

/* Back to the first column, and erase the line: ECMA-48, as all terminals but dumb ones know. */
#define ERASE_LINE "\r\033[K"

static bool can_rewrite_lines(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDERR_FILENO) && terminal && terminal[0] && strcmp(terminal, "dumb") != 0;
}

void status__begin(struct status *status, bool wanted, uint64_t start, uint64_t duration,
		   const char *unit)
{
	*status = (struct status){
		.start = start,
		.duration = duration,
		.unit = unit,
		.on = wanted && can_rewrite_lines(),
	};
}

uint64_t status__wait(const struct status *status, uint64_t now)
{
	return status->on ? NANOSECONDS - (now - status->start) % NANOSECONDS : 0;
}

/* A line that is wider than the terminal would go on in the next one, and stay there. */
static int room(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1 :
										 79;
}

void status__draw(struct status *status, uint64_t now, const struct accounting *accounting)
{
	char total[64] = "", line[256];

	if (status->duration)
		snprintf(total, sizeof(total), " of %g", (double)status->duration / NANOSECONDS);
	snprintf(line, sizeof(line),
		 "%" PRIu64 "%s s: %" PRIu64 " %s, %" PRIu64 " stacks, %" PRIu64 " lost",
		 (now - status->start) / (uint64_t)NANOSECONDS, total,
		 (uint64_t)accounting->events.n[EVENTS_COUNTED], status->unit,
		 (uint64_t)accounting->events.keys,
		 accounting__lost(accounting) - accounting__not_walked(accounting));
	fprintf(stderr, ERASE_LINE "%.*s", room(), line);
	status->drawn = true;
}

void status__clear(struct status *status)
{
	if (status->drawn)
		fputs(ERASE_LINE, stderr);
	status->drawn = false;
}
