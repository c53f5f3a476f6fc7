// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/probe/probespec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/probe/pattern.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"
#include "sym/util/error.h"
#include "test/unit/tap.h"

static const char *text_of(const struct pattern *pattern)
{
	return pattern ? pattern__text(pattern) : "-";
}

/* The parts as "kernel|-|-|vfs_read", or the error. */
static const char *parse(const char *text, bool regex)
{
	static const char *const kinds[] = {"kernel", "user", "tracepoint", "usdt"};
	CLEANUP(probespec__release) struct probespec spec = {0};
	static struct error result;

	if (probespec__parse(&spec, text, regex, &result) == 0) {
		CHECK(spec.text == text);
		error__set(&result, 0, "%s|%s|%s|%s", kinds[spec.kind], spec.file ? spec.file : "-",
			   text_of(spec.group), text_of(spec.name));
	}
	return result.text;
}

static void kernel_functions(void)
{
	CHECK_STR(parse("vfs_read", false), "kernel|-|-|vfs_read");
	CHECK_STR(parse("p::vfs_read", false), "kernel|-|-|vfs_read");
	CHECK_STR(parse(":vfs_read", false), "kernel|-|-|vfs_read");
	CHECK_STR(parse("tcp_send*", false), "kernel|-|-|tcp_send*");
	CHECK_STR(parse("tcp_[[:alpha:]]*", false), "kernel|-|-|tcp_[[:alpha:]]*");
	CHECK_STR(parse("p::tcp_[[:alpha:]]*", false), "kernel|-|-|tcp_[[:alpha:]]*");
	CHECK_STR(parse("p", false), "kernel|-|-|p");
}

static void user_functions(void)
{
	CHECK_STR(parse("c:malloc", false), "user|c|-|malloc");
	CHECK_STR(parse("p:c:malloc", false), "user|c|-|malloc");
	CHECK_STR(parse("/usr/bin/app:func", false), "user|/usr/bin/app|-|func");
	CHECK_STR(parse("app:Foo::bar", false), "user|app|-|Foo::bar");
	CHECK_STR(parse("p:app:Foo::bar", false), "user|app|-|Foo::bar");
	CHECK_STR(parse("app:*::[a:z]*", false), "user|app|-|*::[a:z]*");
	/* A colon in a set separates nothing; in what is no set it does. */
	CHECK_STR(parse("/a[1:2]/app:f", false), "user|/a[1:2]/app|-|f");
	CHECK_STR(parse("/a[1:f", false), "user|/a[1|-|f");
	/* Nor does one behind a backslash. */
	CHECK_STR(parse("/opt/a\\:b/app:f", false), "user|/opt/a:b/app|-|f");
	CHECK_STR(parse("p:a\\:\\:b:C::f", false), "user|a::b|-|C::f");
	CHECK_STR(parse("/a\\x2d/app:f", false), "user|/a\\x2d/app|-|f");
	CHECK_STR(parse("u:/a\\:b/app:one:probe", false), "usdt|/a:b/app|one|probe");
	CHECK_STR(parse("/a\\:b/app:f\\:", true), "user|/a:b/app|-|f\\:");
	CHECK_STR(parse("/a\\:f", false), "kernel|-|-|/a\\:f");
}

/* p:, t: and u: without another colon name a file. */
static void files_named_like_kinds(void)
{
	CHECK_STR(parse("p:main", false), "user|p|-|main");
	CHECK_STR(parse("t:main", false), "user|t|-|main");
	CHECK_STR(parse("u:main", false), "user|u|-|main");
	CHECK_STR(parse("p:tcp_[[:alpha:]]*", false), "user|p|-|tcp_[[:alpha:]]*");
	CHECK_STR(parse("x:y:z", false), "user|x|-|y:z");
	CHECK_STR(parse("tt:y:z", false), "user|tt|-|y:z");
	CHECK_STR(parse("P:y:z", false), "user|P|-|y:z");
	CHECK_STR(parse("p:p:p", false), "user|p|-|p");
	CHECK_STR(parse("p:t:a:b", false), "user|t|-|a:b");
}

static void tracepoints(void)
{
	CHECK_STR(parse("t:sched:sched_switch", false), "tracepoint|-|sched|sched_switch");
	CHECK_STR(parse("t:*:*", false), "tracepoint|-|*|*");
	CHECK_STR(parse("t:[[:lower:]]*:sys_[!e]*", false), "tracepoint|-|[[:lower:]]*|sys_[!e]*");
}

static void usdt_probes(void)
{
	CHECK_STR(parse("u:/path/to/bin:probe", false), "usdt|/path/to/bin|-|probe");
	CHECK_STR(parse("u:python3.11:gc__*", false), "usdt|python3.11|-|gc__*");
	CHECK_STR(parse("u:c:libc:setjmp", false), "usdt|c|libc|setjmp");
	CHECK_STR(parse("u:c:lib*:[[:alpha:]]*", false), "usdt|c|lib*|[[:alpha:]]*");
}

static void regexes(void)
{
	CHECK_STR(parse("^vfs_(read|write)$", true), "kernel|-|-|^vfs_(read|write)$");
	CHECK_STR(parse("^tcp_[[:alpha:]]+", true), "kernel|-|-|^tcp_[[:alpha:]]+");
	CHECK_STR(parse("app:^Foo::.*r$", true), "user|app|-|^Foo::.*r$");
	CHECK_STR(parse("t:sched:switch|wake", true), "tracepoint|-|sched|switch|wake");
	CHECK_STR(parse("t:sched:a:b", true), "tracepoint|-|sched|a:b");
	CHECK_STR(parse("u:c:^set", true), "usdt|c|-|^set");
	CHECK_STR(parse("u:c:libc:^set", true), "usdt|c|libc|^set");
	CHECK_STR(parse("u:c:*:a:b", true), "usdt|c|*|a:b");
}

static void only_the_last_part_is_a_regex(void)
{
	CLEANUP(probespec__release) struct probespec spec = {0};
	struct error error;

	CHECK_INT(probespec__parse(&spec, "t:sch*:switch", true, &error), 0);
	CHECK(pattern__matches(spec.group, "sched"));
	CHECK(!pattern__matches(spec.group, "xsched"));
	CHECK(pattern__matches(spec.name, "sched_switch"));
}

#define FUNCTION   "; write FUNCTION or FILE:FUNCTION, as in vfs_read, c:malloc or /usr/bin/app:main"
#define TRACEPOINT "; write t:CATEGORY:EVENT, as in t:sched:sched_switch"
#define USDT	   "; write u:FILE:PROBE or u:FILE:PROVIDER:PROBE, as in u:python3:gc__start"

static void bad_specs(void)
{
	static const struct {
		const char *text;
		bool regex;
		const char *error;
	} cases[] = {
		{"", false, "'': there is nothing to trace" FUNCTION},
		{"", true, "'': there is nothing to trace" FUNCTION},
		{":", false, "':': FUNCTION is empty" FUNCTION},
		{"c:", false, "'c:': FUNCTION is empty" FUNCTION},
		{"p:", false, "'p:': FUNCTION is empty" FUNCTION},
		{"p::", false, "'p::': FUNCTION is empty" FUNCTION},
		{"p:c:", false, "'p:c:': FUNCTION is empty" FUNCTION},
		{"t:", false, "'t:': FUNCTION is empty" FUNCTION},
		{"t::", false, "'t::': CATEGORY is empty" TRACEPOINT},
		{"t::x", false, "'t::x': CATEGORY is empty" TRACEPOINT},
		{"t:x:", false, "'t:x:': EVENT is empty" TRACEPOINT},
		{"t:x:", true, "'t:x:': EVENT is empty" TRACEPOINT},
		{"t:x:y:z", false, "'t:x:y:z': too many parts" TRACEPOINT},
		{"u::", false, "'u::': FILE is empty" USDT},
		{"u::x", false, "'u::x': FILE is empty" USDT},
		{"u:x:", false, "'u:x:': PROBE is empty" USDT},
		{"u:x::y", false, "'u:x::y': PROVIDER is empty" USDT},
		{"u:x:y:", false, "'u:x:y:': PROBE is empty" USDT},
		{"u:w:x:y:z", false, "'u:w:x:y:z': too many parts" USDT},
		{"c:a(", true, "'a(' is not a regular expression: Unmatched ( or \\("},
		{"t:x:a(", true, "'a(' is not a regular expression: Unmatched ( or \\("},
		{"u:x:y:a(", true, "'a(' is not a regular expression: Unmatched ( or \\("},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		CHECK_STR(parse(cases[i].text, cases[i].regex), cases[i].error);
}

static void failure_leaves_the_spec_alone(void)
{
	struct probespec spec = {.kind = PROBE_USDT, .file = (char *)"untouched"};
	struct error error;

	CHECK_INT(probespec__parse(&spec, "u:x:y:(", true, &error), -EINVAL);
	CHECK(spec.kind == PROBE_USDT && !strcmp(spec.file, "untouched") && !spec.name);
}

static void long_specs(void)
{
	static char text[20000];

	memset(text, '[', sizeof(text) - 1);
	CHECK_STR(parse(text, false),
		  "'[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[...': longer than 8192 bytes");
	text[8192] = '\0';
	CHECK_STR(parse(text, false),
		  "'[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[...': longer than 4096 bytes");
}

static const struct tap_test tests[] = {
	{"functions of the kernel", kernel_functions},
	{"functions of programs and libraries", user_functions},
	{"files with the name of a kind", files_named_like_kinds},
	{"tracepoints", tracepoints},
	{"USDT probes", usdt_probes},
	{"regular expressions", regexes},
	{"only the last part is a regular expression", only_the_last_part_is_a_regex},
	{"what is no probe is refused, with what to write instead", bad_specs},
	{"a failure leaves the spec untouched", failure_leaves_the_spec_alone},
	{"long texts are refused", long_specs},
};

int main(void)
{
	return TAP_RUN(tests);
}
