/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wait for the end of BPF programs that may still use what they have seen. */
#ifndef TRACEKIT_CORE_KERNEL_GRACE_H
#define TRACEKIT_CORE_KERNEL_GRACE_H

struct grace {
	int fds[2]; /* a map of maps, and its inner map; all zero is none */
};

/* Returns 0 or a negative errno. */
int grace__open(struct grace *grace);
void grace__close(struct grace *grace);

/* Wait until all programs that are running now have ended. Returns 0 or a negative errno. */
int grace__wait(const struct grace *grace);

#endif
