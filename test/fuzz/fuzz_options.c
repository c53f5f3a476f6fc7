// SPDX-License-Identifier: GPL-2.0-or-later
/* Input: the words of a command line behind the program's name, each with a NUL. */
#include <errno.h>
#include <string.h>

#include "core/options/options.h"
#include "core/options/trace_options.h"
#include "sym/util/error.h"
#include "sym/util/number.h"
#include "test/fuzz/fuzz.h"

struct settings {
	struct trace_options trace;
	uint64_t frequency;
	uint64_t duration;
	const char *cgroup;
	size_t event;
	uint64_t buffer;
};

static const char *const events[] = {"cpu-clock", "cycles", NULL};

static const struct option_spec options[] = {
	{.letter = 'F',
	 .name = "frequency",
	 .value = "FREQUENCY",
	 .type = OPTION_NUMBER,
	 .offset = offsetof(struct settings, frequency),
	 .min = 1,
	 .max = 100000,
	 .help = "samples per second"},
	{.name = "cgroup",
	 .value = "PATH",
	 .type = OPTION_PATH,
	 .offset = offsetof(struct settings, cgroup),
	 .help = "only the processes of this cgroup"},
	{.letter = 'e',
	 .name = "event",
	 .value = "EVENT",
	 .type = OPTION_CHOICE,
	 .offset = offsetof(struct settings, event),
	 .choices = events,
	 .help = "what is counted"},
	{.letter = 'b',
	 .name = "buffer-size",
	 .value = "SIZE",
	 .type = OPTION_SIZE,
	 .offset = offsetof(struct settings, buffer),
	 .min = 4096,
	 .max = 1 << 30,
	 .help = "room for what was not read yet (default 4M)"},
	TRACE_OPTION_ROWS(struct settings, DELIMITED_HELP, VERBOSE_HELP),
	{.value = "duration",
	 .type = OPTION_SECONDS,
	 .offset = offsetof(struct settings, duration),
	 .help = "how long to sample"},
	{0},
};

static const struct command command = {
	.name = "fuzz", .summary = "Summary.", .options = options, .examples = ""};

#define MAX_WORDS 64

/* Each word in memory of its own, so that reading behind it is seen. */
static int split_words(const uint8_t *data, size_t size, char **words)
{
	int nr = 0;

	while (size > 0 && nr < MAX_WORDS) {
		size_t length = strnlen((const char *)data, size);

		words[nr++] = strndup((const char *)data, length);
		length += length < size;
		data += length;
		size -= length;
	}
	return nr;
}

static void check_settings(const struct settings *settings)
{
	REQUIRE(settings->frequency >= 1 && settings->frequency <= 100000);
	REQUIRE(settings->duration <= (SECONDS_MAX + 1) * NANOSECONDS);
	REQUIRE(settings->trace.hash_storage_size - 1 < STORAGE_SIZE_MAX);
	REQUIRE(settings->trace.stack_storage_size - 1 < STORAGE_SIZE_MAX);
	REQUIRE(!settings->buffer || (settings->buffer >= 4096 && settings->buffer <= 1 << 30));
	REQUIRE(settings->event < 2);
	for (size_t i = 0; i < settings->trace.pids.nr; i++)
		REQUIRE(settings->trace.pids.pids[i] > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct settings settings = {.trace = TRACE_OPTIONS_DEFAULTS, .frequency = 49};
	struct error error = {.text = ""};
	char *words[MAX_WORDS], *argv[MAX_WORDS + 2] = {(char *)command.name};
	int nr = split_words(data, size, words);
	int err;

	/* By default memory says how many; an option says 1 at least. */
	settings.trace.hash_storage_size = 1;
	settings.trace.stack_storage_size = 1;
	/* getopt sorts argv: the words to be freed are kept apart. */
	memcpy(argv + 1, words, (size_t)nr * sizeof(*words));
	err = options__parse(&command, nr + 1, argv, &settings, &error);
	REQUIRE(err == 0 || err == OPTIONS_HELP || err == -EINVAL);
	REQUIRE((err == -EINVAL) == (error.text[0] != '\0'));
	REQUIRE(strlen(error.text) + 1 < sizeof(error.text)); /* nothing was cut off */
	check_settings(&settings);
	/* A path is never empty where all is well. */
	REQUIRE(!settings.cgroup || err || settings.cgroup[0]);
	options__release(&command, &settings);
	for (int i = 0; i < nr; i++)
		free(words[i]);
	return 0;
}
