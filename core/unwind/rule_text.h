/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules of tables (bpf/unwind_rule.h), as those who work on tracekit read them. */
#ifndef TRACEKIT_CORE_UNWIND_RULE_TEXT_H
#define TRACEKIT_CORE_UNWIND_RULE_TEXT_H

#include <stdio.h>

struct unwind_rule;

/* "CFA=rsp+16, ra=[CFA-8], fp=[CFA-16]": where the caller's registers are. No newline. */
void rule_text__print(FILE *out, const struct unwind_rule *rule);

#endif
