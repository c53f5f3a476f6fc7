// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/flame/markup.h"

#include <stdlib.h>
#include <string.h>

#include "test/unit/tap.h"

static void check_bytes(const char *text, size_t length, const char *expected)
{
	char *exact = malloc(length + 1), *written = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&written, &size);

	memcpy(exact + 1, text, length); /* the last byte is the last one of its memory */
	markup__escape(out, exact + 1, length);
	fclose(out);
	CHECK_STR(written, expected);
	CHECK_INT(markup__length(exact + 1, length), strlen(expected));
	free(written);
	free(exact);
}

static void check_escaped(const char *text, const char *expected)
{
	check_bytes(text, strlen(text), expected);
}

static void markup(void)
{
	check_escaped("</script>", "&lt;/script&gt;");
	check_escaped("]]>", "]]&gt;");
	check_escaped("a\"b'c", "a&quot;b&#39;c");
	check_escaped("&amp;&#60;", "&amp;amp;&amp;#60;");
	check_escaped("<!--", "&lt;!--");
	check_escaped("a;b\\c`${d}", "a;b\\c`${d}");
}

static void characters(void)
{
	check_escaped("", "");
	check_escaped("\xc3\xbc\xe2\x82\xac\xf0\x9f\x94\xa5",
		      "\xc3\xbc\xe2\x82\xac\xf0\x9f\x94\xa5");
	check_escaped("a\tb\nc\x1b[31m\x7f", "a?b?c?[31m?");
	check_bytes("a\0b", 3, "a?b");
	/* U+FFFE and U+FFFF, which XML does not have, and U+FFFD, which it has. */
	check_escaped("\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", "??\xef\xbf\xbd");
	/* Cut off, overlong, a surrogate, too high: a byte each. */
	check_escaped("\xe2\x82", "??");
	check_escaped("\xc0\xbc", "??");
	check_escaped("\xed\xa0\x80", "???");
	check_escaped("\xf4\x90\x80\x80", "????");
}

static const struct tap_test tests[] = {
	{"nothing in a text becomes markup", markup},
	{"what is no character of XML is replaced", characters},
};

int main(void)
{
	return TAP_RUN(tests);
}
