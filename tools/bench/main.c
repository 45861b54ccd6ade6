/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * weir-bench: measures parts of Weir and what they stand beside, in interleaved rounds. A
 * sub-command is one file and one row here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "feed.h"
#include "report.h"
#include "runner.h"

/* As those of `weir`. */
enum exit_status {
	EXIT_STATUS_OK = 0,
	EXIT_STATUS_FAILED = 1,
	EXIT_STATUS_REFUSED = 2,
};

static const struct bench_command *const commands[] = {
	&command_lane,
	&command_dispatch,
	&command_order,
	&command_owners,
	&command_parse,
	&command_rules,
};

#define NAMES_BYTES 512
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void
usage_print(FILE *out)
{
	fprintf(out, "usage: weir-bench COMMAND [OPTIONS]\n\ncommands:\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-18s %s\n", commands[i]->name, commands[i]->help);
	fprintf(out, "\noptions:\n");
	options_print(out);
}

static const struct bench_command *
command_find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static void
command_refuse(const char *name)
{
	fprintf(stderr, "weir-bench: COMMAND %s: allowed", name ? name : "(nothing)");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(stderr, "%s %s", i ? "," : "", commands[i]->name);
	fputc('\n', stderr);
}

void
plan_add(
	struct bench_plan *plan, const struct bench_options *options, const struct bench_case *test)
{
	if (options->subject && strcmp(options->subject, test->subject) != 0)
		return;
	if (options->situation && strcmp(options->situation, test->situation) != 0)
		return;
	if (plan->n < BENCH_CASES_MAX)
		plan->cases[plan->n++] = *test;
}

/* The machine, the traffic, the rounds, the reports. Returns an exit status. */
static int
command_run(struct bench *bench, const struct bench_command *command, struct bench_plan *plan,
	FILE *json)
{
	struct run run = { .bench = bench, .command = command, .plan = plan };
	int rc;

	rc = feed_init(bench->feed, bench->options.seed);
	if (rc == 0)
		rc = run_all(&run);
	if (rc == 0)
		rc = report_print_table(&run, stdout);
	if (rc == 0 && json)
		rc = report_write_json(&run, json);
	if (rc < 0)
		fprintf(stderr, "weir-bench: %s: failed: %s\n", command->name, strerror(-rc));
	run_free(&run);
	feed_fini(bench->feed);
	return rc < 0 ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}

static const char *
case_name(const struct bench_case *test, bool subject)
{
	return subject ? test->subject : test->situation;
}

/* The names of one column of the whole plan, each once: "lane, lane-meta". */
static void
names_list(const struct bench_command *command, const struct bench_options *options, bool subject,
	struct bench_plan *plan, char *text, size_t n_bytes)
{
	struct bench_options all = *options;
	size_t used = 0;

	all.subject = NULL;
	all.situation = NULL;
	command->plan(&all, plan);
	for (uint32_t i = 0; i < plan->n && used < n_bytes; i++) {
		const char *name = case_name(&plan->cases[i], subject);
		uint32_t first = 0;

		while (strcmp(case_name(&plan->cases[first], subject), name) != 0)
			first++;
		if (first == i)
			used += (size_t)snprintf(
				text + used, n_bytes - used, "%s%s", used ? ", " : "", name);
	}
}

/* The options leave no case. */
static int
selection_refuse(const struct bench_command *command, const struct bench_options *options,
	struct bench_plan *plan)
{
	const bool subject = options->subject != NULL;
	char names[NAMES_BYTES] = "";

	names_list(command, options, subject, plan, names, sizeof(names));
	return options_refuse(subject ? "--subject" : "--situation",
		subject ? options->subject : options->situation, "%s", names);
}

/* What can only be refused once the command and the machine are known. Returns 0 or -EINVAL. */
static int
bench_prepare(struct bench *bench, const struct bench_command *command, struct bench_plan *plan)
{
	const struct bench_options *options = &bench->options;
	char cpus[32];

	command->plan(options, plan);
	if (plan->n == 0)
		return selection_refuse(command, options, plan);
	if (machine_probe(&bench->machine, options) < 0) {
		snprintf(cpus, sizeof(cpus), "%u,%u", options->cpu[0], options->cpu[1]);
		return options_refuse("--cpus", cpus, "CPUs that this process may use");
	}
	return 0;
}

static int
command_start(const struct bench_command *command, struct bench *bench, struct bench_plan *plan)
{
	FILE *json = NULL;
	int status;

	if (bench_prepare(bench, command, plan) < 0)
		return EXIT_STATUS_REFUSED;
	if (bench->options.json) {
		json = fopen(bench->options.json, "w");
		if (!json) {
			options_refuse("--json", bench->options.json,
				"a file that can be written (%s)", strerror(errno));
			return EXIT_STATUS_REFUSED;
		}
	}
	status = command_run(bench, command, plan, json);
	if (json && fclose(json) != 0)
		status = EXIT_STATUS_FAILED;
	return status;
}

int
main(int argc, char **argv)
{
	const struct bench_command *command = argc > 1 ? command_find(argv[1]) : NULL;
	struct bench_plan *plan = calloc(1, sizeof(*plan));
	struct feed *feed = calloc(1, sizeof(*feed));
	struct bench bench = { .feed = feed };
	int status = EXIT_STATUS_REFUSED;

	if (!plan || !feed) {
		status = EXIT_STATUS_FAILED;
	} else if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		usage_print(stdout);
		status = EXIT_STATUS_OK;
	} else if (!command) {
		command_refuse(argc > 1 ? argv[1] : NULL);
	} else if (options_parse(&bench.options, argc - 2, argv + 2) == 0) {
		if (bench.options.help) {
			usage_print(stdout);
			status = EXIT_STATUS_OK;
		} else {
			status = command_start(command, &bench, plan);
		}
	}
	free(feed);
	free(plan);
	return status;
}
