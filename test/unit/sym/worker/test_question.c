// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/worker/question.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/report/frame_text.h"
#include "sym/types.h"
#include "sym/util/arena.h"
#include "sym/util/array.h"
#include "sym/worker/protocol.h"
#include "test/unit/tap.h"

#define NR_QUERIES 3

struct test {
	struct sym_query queries[NR_QUERIES];
	struct worker_question question;
	struct arena names;
};

static void open_question(struct test *test)
{
	*test = (struct test){0};
	CHECK_INT(worker_question__open(&test->question, test->queries, NR_QUERIES, &test->names),
		  0);
	worker_question__restart(&test->question, 1);
}

static void close_question(struct test *test)
{
	worker_question__close(&test->question);
	arena__release(&test->names);
}

/* The string lies where its end is watched, and has no NUL. */
static int tell_string(struct test *test, const char *text)
{
	const struct answer answer = {.kind = ANSWER_STRING, .length = (uint32_t)strlen(text)};
	char *exact = malloc(answer.length + 1);
	int err;

	memcpy(exact + 1, text, answer.length);
	err = worker_question__take(&test->question, &answer, exact + 1);
	free(exact);
	return err;
}

static int tell(struct test *test, struct answer answer)
{
	return worker_question__take(&test->question, &answer, "");
}

static void answers(void)
{
	struct test test;

	open_question(&test);
	CHECK_INT(tell_string(&test, "main"), 0);
	CHECK_INT(tell_string(&test, "cat"), 0);
	CHECK_INT(tell_string(&test, ""), 0);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY,
					      .index = 2,
					      .offset = 5,
					      .module_offset = 6,
					      .name = 1,
					      .symbol = 3,
					      .module = 2,
					      .file = 3,
					      .line = 7}),
		  0);
	CHECK_STR(test.queries[2].name, "main");
	CHECK_STR(test.queries[2].symbol, "");
	CHECK_STR(test.queries[2].module, "cat");
	CHECK_STR(test.queries[2].source.file, "");
	CHECK_INT(test.queries[2].source.line, 7);
	CHECK_INT(test.queries[2].offset, 5);
	CHECK_INT(test.queries[2].module_offset, 6);
	CHECK_INT(test.queries[2].nr_inlined, 0);
	CHECK(!test.queries[0].name);
	CHECK(test.question.answered[2] && !test.question.answered[0]);
	close_question(&test);
}

/* Each file goes once, before all that is asked of it; and again to another child. */
static void files(void)
{
	const struct sym_mapped_file first = {.id.inode = 7, .pid = 42, .path = "/bin/a"},
				     other = {.id.inode = 8, .path = ""};
	struct sym_query queries[] = {{.in_file = true, .file = &first},
				      {.in_file = true, .file = &other},
				      {.pid = 5},
				      {.in_file = true},
				      {.in_file = true, .file = &first}};
	struct worker_question question;
	struct message message;
	size_t next;

	CHECK_INT(worker_question__open(&question, queries, ARRAY_SIZE(queries), NULL), 0);
	for (int again = 0; again < 2; again++) {
		worker_question__restart(&question, 1);
		for (uint64_t inode = 7; inode <= 8; inode++) {
			next = worker_question__fill(&question, &message);
			CHECK_INT(message.request.kind, REQUEST_FILE);
			CHECK_INT(message.file.id.inode, inode);
			CHECK_INT(message.file.pid, inode == 7 ? 42 : 0);
			CHECK_STR(message.file.path, inode == 7 ? "/bin/a" : "");
			worker_question__note_sent(&question, &message, next);
			CHECK(!question.sent);
		}
		next = worker_question__fill(&question, &message);
		CHECK_INT(message.request.kind, REQUEST_NAME);
		CHECK_INT(message.request.nr, ARRAY_SIZE(queries));
		CHECK_INT(message.questions[0].file, 1);
		CHECK_INT(message.questions[1].file, 2);
		CHECK_INT(message.questions[2].file, 0);
		CHECK_INT(message.questions[3].file, 0);
		CHECK_INT(message.questions[4].file, 1);
		CHECK(message.questions[3].in_file && !message.questions[2].in_file);
		worker_question__note_sent(&question, &message, next);
		CHECK(question.sent);
	}
	worker_question__close(&question);
}

static void inlined_calls(void)
{
	struct test test;

	open_question(&test);
	CHECK_INT(tell_string(&test, "min"), 0);
	CHECK_INT(tell_string(&test, "min.h"), 0);
	CHECK_INT(tell(&test,
		       (struct answer){.kind = ANSWER_INLINED, .name = 1, .symbol = 2, .line = 3}),
		  0);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_INLINED, .file = 2, .line = 4}), 0);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY, .index = 0}), 0);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY, .index = 1}), 0);
	CHECK_INT(test.queries[0].nr_inlined, 2);
	CHECK_STR(test.queries[0].inlined[0].name, "min");
	CHECK_STR(test.queries[0].inlined[0].symbol, "min.h");
	CHECK_INT(test.queries[0].inlined[0].source.line, 3);
	CHECK(!test.queries[0].inlined[1].name);
	CHECK_STR(test.queries[0].inlined[1].source.file, "min.h");
	CHECK_INT(test.queries[1].nr_inlined, 0);
	close_question(&test);
}

/* A child can have been taken over by what it reads. */
static void nonsense(void)
{
	const struct answer inlined = {.kind = ANSWER_INLINED};
	struct test test;

	open_question(&test);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY, .index = NR_QUERIES}), -EPROTO);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY, .index = UINT64_MAX}), -EPROTO);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY, .origin = NR_SYM_ORIGINS}),
		  -EPROTO);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_LAST}), -EPROTO);
	CHECK_INT(tell(&test, (struct answer){.kind = (enum answer_kind)77}), -EPROTO);
	CHECK_INT(tell_string(&test, "one"), 0);
	CHECK_INT(
		tell(&test, (struct answer){.kind = ANSWER_QUERY, .name = 2, .module = UINT32_MAX}),
		0);
	CHECK(!test.queries[0].name && !test.queries[0].module);
	for (int i = 0; i < INLINED_MAX; i++)
		CHECK_INT(tell(&test, inlined), 0);
	CHECK_INT(tell(&test, inlined), -EPROTO);
	close_question(&test);
}

/* Where a function begins, of whichever query. */
static void starts(void)
{
	struct test test;

	open_question(&test);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY,
					      .index = 1,
					      .offset = 5,
					      .function_start = UINT64_MAX - 5}),
		  0);
	CHECK_INT(test.queries[0].function_start, 0);
	CHECK_INT(test.queries[1].function_start, UINT64_MAX - 5);
	CHECK_INT(test.queries[1].offset, 5);
	close_question(&test);
}

/* Strings and names of the child before do not count for the next child. */
static void another_child(void)
{
	struct test test;

	open_question(&test);
	CHECK_INT(tell_string(&test, "one"), 0);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_INLINED, .name = 1}), 0);
	worker_question__restart(&test.question, 2);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY, .name = 1}), 0);
	CHECK(!test.queries[0].name);
	CHECK_INT(test.queries[0].nr_inlined, 0);
	CHECK_INT(tell_string(&test, "two"), 0);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY, .index = 1, .name = 1}), 0);
	CHECK_STR(test.queries[1].name, "two");
	close_question(&test);
}

/* A child that sends strings without end costs no more than some MB, and no earlier names. */
static void endless_strings(void)
{
	static char text[STRING_LENGTH_MAX + 1];
	struct test test;

	memset(text, 'x', STRING_LENGTH_MAX);
	open_question(&test);
	CHECK_INT(tell_string(&test, "first"), 0);
	for (int i = 0; i < 20000; i++)
		if (tell_string(&test, text))
			CHECK(false);
	CHECK_INT(tell(&test, (struct answer){.kind = ANSWER_QUERY, .name = 1, .module = 20001}),
		  0);
	CHECK_STR(test.queries[0].name, "first");
	CHECK(!test.queries[0].module);
	close_question(&test);
}

/* Neither do inlined calls, and they leave the names of functions their room. */
static void endless_inlined_calls(void)
{
	const struct answer inlined = {.kind = ANSWER_INLINED},
			    query = {.kind = ANSWER_QUERY, .name = 1};
	const size_t enough = INLINED_BYTES_MAX / sizeof(struct sym_inlined) / INLINED_MAX;
	struct test test;

	open_question(&test);
	for (size_t i = 0; i < 3 * enough; i++) {
		for (int k = 0; k < INLINED_MAX; k++)
			if (tell(&test, inlined))
				CHECK(false);
		if (tell(&test, query))
			CHECK(false);
		if (i == enough - 1)
			CHECK_INT(test.queries[0].nr_inlined, INLINED_MAX);
	}
	CHECK_INT(test.queries[0].nr_inlined, 0);
	CHECK_INT(tell_string(&test, "compiled"), 0);
	CHECK_INT(tell(&test, query), 0);
	CHECK_STR(test.queries[0].name, "compiled");
	close_question(&test);
}

/* A child must tell that there are more than are shown. */
_Static_assert(INLINED_MAX > FRAME_INLINED_MAX, "one more");

static const struct tap_test tests[] = {
	{"strings are told once, and by their numbers from then on", answers},
	{"files are told of before questions, each once", files},
	{"inlined calls belong to the answer behind them", inlined_calls},
	{"a child that answers nonsense", nonsense},
	{"where functions begin", starts},
	{"another child begins anew", another_child},
	{"strings without end", endless_strings},
	{"inlined calls without end", endless_inlined_calls},
};

int main(void)
{
	return TAP_RUN(tests);
}
