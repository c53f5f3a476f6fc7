/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function of our own with a USDT probe in it, to see whether user code can be traced. */
#ifndef TRACEKIT_CORE_DOCTOR_OWN_PROBE_H
#define TRACEKIT_CORE_DOCTOR_OWN_PROBE_H

#include <stdint.h>

/* The probe's name in patterns, behind the file. */
#define OWN_PROBE_NAME "tracekit:doctor"

/* Come by the function, and by the probe if somebody waits for it. */
void own_probe__fire(void);

/* Where the function is in the program's file; 0 if that cannot be told. */
uint64_t own_probe__offset(void);

#endif
