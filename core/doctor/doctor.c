// SPDX-License-Identifier: GPL-2.0-or-later
#include "core/doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/doctor/rows.h"
#include "core/doctor/trials.h"
#include "core/report/json.h"
#include "sym/util/array.h"
#include "sym/util/cleanup.h"

const char *const doctor_applets[] = {[PROFILE] = "profile",
				      [STACKCOUNT] = "stackcount",
				      [STACKSNOOP] = "stacksnoop",
				      [OFFCPUTIME] = "offcputime",
				      NULL};

static const struct {
	const char *name, *heading;
} parts[NR_PARTS] = {
	[USES] = {"uses", "What the applets are for, each tried by running it"},
	[WAYS] = {"ways", "Ways to load and to attach, each tried until it was hit"},
	[PRIVILEGES] = {"privileges", "Privileges"},
	[SURROUNDINGS] = {"surroundings", "The kernel, and how it is set up"},
};

static const char *const verdict_words[] = {
	[DOCTOR_ALL] = "works", [DOCTOR_PART] = "works in part", [DOCTOR_NONE] = "does not work"};

static const char *const answer_words[] = {
	[ANSWER_UNTRIED] = "untried", [ANSWER_YES] = "yes", [ANSWER_NO] = "no"};

struct examination {
	unsigned int applets;	  /* whom it is about, as a set */
	struct finding *findings; /* by row */
	enum doctor_verdict verdicts[NR_APPLETS];
};

static bool is_wanted(const struct examination *examination, const struct row *row)
{
	return row->applets & examination->applets;
}

/* ---- trials ---- */

/* Whoever asks the kernel is ended by a filter of system calls. */
static bool is_killed(const struct privileges *privileges)
{
	return privileges->filters[CALL_BPF] == FILTER_KILLS ||
	       privileges->filters[CALL_PERF_EVENT_OPEN] == FILTER_KILLS;
}

static void examine(const struct row *row, struct trials *trials, struct finding *finding)
{
	if (row->part == WAYS && is_killed(&trials->privileges)) {
		finding__no(finding, "a filter of system calls ends whoever tries");
		finding->help = "a seccomp profile that allows bpf and perf_event_open";
	} else if (row->try)
		row->try(trials, finding);
	else if (privileges__have(&trials->privileges, row->capability))
		finding__yes(finding);
	else
		finding__no(finding, trials->privileges.in_user_namespace ?
					     "not outside of our user namespace" :
					     "it is not effective");
	if (!finding->help)
		finding->help = row->help;
}

/* The finding of a row that has been looked at and is a "no"; else NULL. */
static const struct finding *find_lack(const struct examination *examination, const char *key)
{
	for (size_t i = 0; i < doctor_nr_rows; i++)
		if (!strcmp(doctor_rows[i].key, key) &&
		    examination->findings[i].answer == ANSWER_NO)
			return &examination->findings[i];
	return NULL;
}

/* A use that does not work: nothing goes without programs, and else one of its ways will do. */
static void set_help(const struct examination *examination, const struct row *row,
		     struct finding *finding)
{
	const struct finding *lack = find_lack(examination, "programs");
	const char *last = "";

	finding->help = lack ? lack->help : "see its reason";
	for (size_t i = 0; !lack && i < DOCTOR_WAYS_MAX && row->ways[i]; i++) {
		const struct finding *way = find_lack(examination, row->ways[i]);
		char before[sizeof(finding->composed)];

		if (!way || !strcmp(way->help, last))
			continue;
		snprintf(before, sizeof(before), "%s%s", *last ? finding->help : "",
			 *last ? "; or " : "");
		finding__help(finding, "%s%s", before, way->help);
		last = way->help;
	}
}

static enum doctor_verdict judge(const struct examination *examination, size_t applet)
{
	bool any = false, all = true;

	for (size_t i = 0; i < doctor_nr_rows && doctor_rows[i].part == USES; i++) {
		const struct row *row = &doctor_rows[i];
		enum answer answer = examination->findings[i].answer;

		if (!(row->applets & 1u << applet))
			continue;
		any |= answer == ANSWER_YES && row->suffices & 1u << applet;
		all &= answer != ANSWER_NO;
	}
	return all ? DOCTOR_ALL : any ? DOCTOR_PART : DOCTOR_NONE;
}

/* Of all together: if one works and another does not, they work in part. */
static enum doctor_verdict sum_up(const struct examination *examination)
{
	bool all = true, none = true;

	for (size_t i = 0; i < NR_APPLETS; i++) {
		if (!(examination->applets & 1u << i))
			continue;
		all &= examination->verdicts[i] == DOCTOR_ALL;
		none &= examination->verdicts[i] == DOCTOR_NONE;
	}
	return all ? DOCTOR_ALL : none ? DOCTOR_NONE : DOCTOR_PART;
}

static void run_trials(struct examination *examination)
{
	struct trials trials = {.counter.map = -EPERM};

	privileges__read(&trials.privileges);
	if (!is_killed(&trials.privileges))
		counter__open(&trials.counter);
	for (size_t i = 0; i < doctor_nr_rows; i++)
		if (is_wanted(examination, &doctor_rows[i]))
			examine(&doctor_rows[i], &trials, &examination->findings[i]);
	for (size_t i = 0; i < doctor_nr_rows; i++)
		if (!examination->findings[i].help && doctor_rows[i].ways[0])
			set_help(examination, &doctor_rows[i], &examination->findings[i]);
	counter__close(&trials.counter);
	free(trials.pattern);
	for (size_t i = 0; i < NR_APPLETS; i++)
		examination->verdicts[i] = judge(examination, i);
}

/* ---- text ---- */

/* "works in part, without tracepoints, functions of the kernel" */
static void print_verdict(const struct examination *examination, size_t applet, FILE *out)
{
	const char *before = ", without: ";

	fprintf(out, "%-12s %s", doctor_applets[applet],
		verdict_words[examination->verdicts[applet]]);
	for (size_t i = 0; i < doctor_nr_rows && doctor_rows[i].part == USES; i++) {
		if (examination->verdicts[applet] != DOCTOR_PART ||
		    !(doctor_rows[i].applets & 1u << applet) ||
		    examination->findings[i].answer != ANSWER_NO)
			continue;
		fprintf(out, "%s%s", before, doctor_rows[i].text);
		before = "; ";
	}
	fputc('\n', out);
}

static void print_row(const struct row *row, const struct finding *finding, FILE *out)
{
	fprintf(out, "  %-7s  %s\n", answer_words[finding->answer], row->text);
	if (finding->answer != ANSWER_YES && finding->why[0])
		fprintf(out, "             why:  %s\n", finding->why);
	if (finding->answer != ANSWER_NO)
		return;
	fprintf(out, "             lost: %s\n", row->lost);
	fprintf(out, "             help: %s\n", finding->help);
}

static void print_text(const struct examination *examination, FILE *out)
{
	for (size_t i = 0; i < NR_APPLETS; i++)
		if (examination->applets & 1u << i)
			print_verdict(examination, i, out);
	for (size_t i = 0; i < doctor_nr_rows; i++) {
		const struct row *row = &doctor_rows[i];

		if (!is_wanted(examination, row))
			continue;
		if (i == 0 || row->part != doctor_rows[i - 1].part)
			fprintf(out, "\n%s:\n", parts[row->part].heading);
		print_row(row, &examination->findings[i], out);
	}
}

/* ---- JSON ---- */

static void print_string(const char *text, FILE *out)
{
	char quoted[JSON_STRING_SIZE(512)];

	json__quote(text, strlen(text), quoted, sizeof(quoted));
	fputs(quoted, out);
}

static void print_field(const char *name, const char *text, FILE *out)
{
	fprintf(out, ",\"%s\":", name);
	print_string(text, out);
}

static void print_row_json(const struct row *row, const struct finding *finding, FILE *out)
{
	const char *before = "";

	fputs("{\"check\":", out);
	print_string(row->key, out);
	print_field("part", parts[row->part].name, out);
	print_field("text", row->text, out);
	print_field("answer", answer_words[finding->answer], out);
	if (finding->answer != ANSWER_YES)
		print_field("why", finding->why, out);
	if (finding->answer == ANSWER_NO) {
		print_field("lost", row->lost, out);
		print_field("help", finding->help, out);
	}
	fputs(",\"applets\":[", out);
	for (size_t i = 0; i < NR_APPLETS; i++) {
		if (!(row->applets & 1u << i))
			continue;
		fputs(before, out);
		print_string(doctor_applets[i], out);
		before = ",";
	}
	fputs("]}\n", out);
}

static void print_json(const struct examination *examination, FILE *out)
{
	for (size_t i = 0; i < doctor_nr_rows; i++)
		if (is_wanted(examination, &doctor_rows[i]))
			print_row_json(&doctor_rows[i], &examination->findings[i], out);
	for (size_t i = 0; i < NR_APPLETS; i++) {
		if (!(examination->applets & 1u << i))
			continue;
		fputs("{\"applet\":", out);
		print_string(doctor_applets[i], out);
		print_field("verdict", verdict_words[examination->verdicts[i]], out);
		fputs("}\n", out);
	}
}

int doctor__examine(size_t applet, bool json, FILE *out, enum doctor_verdict *verdict)
{
	CLEANUP_FREE struct finding *findings = calloc(doctor_nr_rows, sizeof(*findings));
	struct examination examination = {
		.applets = applet == DOCTOR_EVERY ? (1u << NR_APPLETS) - 1 : 1u << applet,
		.findings = findings,
	};

	if (!findings)
		return -ENOMEM;
	run_trials(&examination);
	(json ? print_json : print_text)(&examination, out);
	*verdict = sum_up(&examination);
	return 0;
}
