// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: a byte whose lowest bit says whether the last part is a regex, then the probe. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/probe/pattern.h"
#include "core/probe/probespec.h"
#include "sym/util/error.h"
#include "test/fuzz/fuzz.h"

/* The probe as its parts would be typed, with the kind spelled out. */
static char *put_together(const struct probespec *spec)
{
	static const char letters[] = {[PROBE_KERNEL_FUNCTION] = 'p',
				       [PROBE_USER_FUNCTION] = 'p',
				       [PROBE_TRACEPOINT] = 't',
				       [PROBE_USDT] = 'u'};
	const char *group = spec->group ? pattern__text(spec->group) : "";
	const char *file = spec->file ? spec->file : "";
	bool has_file = spec->kind != PROBE_TRACEPOINT;
	char *text;

	REQUIRE(asprintf(&text, "%c:%s%s%s%s%s", letters[spec->kind], file, has_file ? ":" : "",
			 group, spec->group ? ":" : "", pattern__text(spec->name)) > 0);
	return text;
}

/* The same without all backslashes before ':', one of which parts but the last have lost. */
static char *without_escapes(const char *text)
{
	char *copy = strdup(text), *to = copy;

	for (; *text; text++)
		if (text[strspn(text, "\\")] != ':' || text[0] == ':')
			*to++ = *text;
	*to = '\0';
	return copy;
}

/* The input was whole, or whole without "p:", or without "p::". */
static void check_text(const struct probespec *spec, const char *typed)
{
	char *made = put_together(spec), *whole = without_escapes(made);
	char *text = without_escapes(typed);
	bool same = !strcmp(whole, text);

	if (spec->kind == PROBE_USER_FUNCTION || spec->kind == PROBE_KERNEL_FUNCTION)
		same |= !strcmp(whole + 2, text);
	if (spec->kind == PROBE_KERNEL_FUNCTION)
		same |= !strcmp(whole + 3, text);
	REQUIRE(same);
	free(text);
	free(whole);
	free(made);
}

static void check_spec(const struct probespec *spec, const char *text)
{
	REQUIRE(spec->text == text);
	REQUIRE(spec->name && *pattern__text(spec->name));
	REQUIRE(!spec->group || *pattern__text(spec->group));
	REQUIRE(!spec->file || *spec->file);
	REQUIRE(!spec->file ==
		(spec->kind == PROBE_KERNEL_FUNCTION || spec->kind == PROBE_TRACEPOINT));
	REQUIRE(spec->kind != PROBE_TRACEPOINT || spec->group);
	REQUIRE(!spec->group || spec->kind == PROBE_TRACEPOINT || spec->kind == PROBE_USDT);
	check_text(spec, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error error = {.text = ""};
	struct probespec spec = {0};
	char *text;
	int err;

	if (size < 1)
		return 0;
	text = strndup((const char *)data + 1, size - 1);
	err = probespec__parse(&spec, text, data[0] & 1 && !is_costly_regex(text), &error);
	REQUIRE(err == 0 || err == -EINVAL);
	REQUIRE((err == 0) == (error.text[0] == '\0'));
	if (!err)
		check_spec(&spec, text);
	probespec__release(&spec);
	free(text);
	return 0;
}
