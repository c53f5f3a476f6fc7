// SPDX-License-Identifier: GPL-2.0-or-later
/* doctor: what works on this machine, and what would make the rest work. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "applets/applet.h"
#include "core/doctor/doctor.h"
#include "core/options/near_names.h"
#include "core/options/options.h"
#include "core/report/output.h"
#include "sym/util/error.h"

struct doctor_settings {
	const char *applet;
	bool json;
};

static const struct doctor_settings defaults;

#define OFFSET(field) offsetof(struct doctor_settings, field)
/* clang-format off */
static const struct option_spec options[] = {
	{.name = "json", .type = OPTION_FLAG,
	 .offset = OFFSET(json),
	 .help = "print each check, and then each applet, as a line of JSON"},
	{.value = "APPLET", .type = OPTION_TEXT,
	 .offset = OFFSET(applet),
	 .help = "look only at what profile, stackcount, stacksnoop or offcputime needs"},
	{0},
};
/* clang-format on */

/* An index into doctor_applets, DOCTOR_EVERY for none, or behind the last if there is none such. */
static size_t find_applet(const char *name)
{
	size_t i = 0;

	if (!name)
		return DOCTOR_EVERY;
	while (doctor_applets[i] && strcmp(doctor_applets[i], name))
		i++;
	return i;
}

static int check(const void *argument, struct error *error)
{
	const struct doctor_settings *settings = argument;
	size_t applet = find_applet(settings->applet);
	struct near_names near = {.wanted = settings->applet};
	char hint[NEAR_NAMES_TEXT_SIZE];

	if (applet == DOCTOR_EVERY || doctor_applets[applet])
		return 0;
	for (size_t i = 0; doctor_applets[i]; i++)
		near_names__offer(&near, doctor_applets[i]);
	near_names__text(&near, hint, sizeof(hint));
	return error__set(error, -EINVAL,
			  "'%.80s': is not profile, stackcount, stacksnoop or offcputime%s",
			  settings->applet, hint);
}

static int run(const void *argument, struct error *error)
{
	const struct doctor_settings *settings = argument;
	enum doctor_verdict verdict;
	int err = doctor__examine(find_applet(settings->applet), settings->json, stdout, &verdict);

	if (err)
		return error__set(error, err, "cannot start: %s", strerror(-err));
	err = output__finish(stdout, error);
	return err ? err : W_EXITCODE((int)verdict, 0);
}

const struct applet applet_doctor = {
	.command =
		{
			.name = "doctor",
			.summary = "Try what the other applets need here, and say what would help.",
			.options = options,
			.examples =
				"    doctor               # what works here, what does not, and why\n"
				"    doctor profile       # only what profile needs\n"
				"    doctor --json | jq -r 'select(.answer == \"no\").check'\n",
		},
	.defaults = &defaults,
	.settings_size = sizeof(defaults),
	.check = check,
	.run = run,
};
