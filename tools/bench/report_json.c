/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON: what the table shows, and every round's value. Keys are stable; keys may be added. */
#include "report.h"

#include <errno.h>

#include <jansson.h>

static json_t *
machine_json(const struct machine *machine)
{
	return json_pack("{s:s, s:s, s:s, s:[i,i], s:s, s:b, s:f, s:I, s:I}", "cpu_model",
		machine->cpu_model, "kernel", machine->kernel, "governor", machine->governor,
		"cpus", (int)machine->cpu[BENCH_CPU_DISPATCHER],
		(int)machine->cpu[BENCH_CPU_WORKERS], "cpu_relation",
		cpu_relation_name(machine->relation), "cpu_shared",
		machine->relation == CPU_RELATION_SHARED, "tsc_hz", machine->tsc_hz,
		"reading_cost_cycles", (json_int_t)machine->returned_cost_cycles,
		"reading_cost_drained_cycles", (json_int_t)machine->drained_cost_cycles);
}

static json_t *
build_json(const struct machine *machine)
{
	return json_pack("{s:s, s:s, s:s}", "version", machine->version, "compiler",
		machine->compiler, "build_type", machine->build_type);
}

static json_t *
options_json(const struct bench_options *options)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:I}", "rounds", (int)options->rounds,
		"packets", (int)options->packets, "burst", (int)options->burst, "lane_size",
		(int)options->lane_size, "backlog", (int)options->backlog, "seed",
		(json_int_t)options->seed);
}

/* NULL if memory is short. */
static json_t *
figure_json(const struct run *run, uint32_t test, uint32_t figure)
{
	const double *values = run_values(run, test, figure);
	struct summary summary;
	json_t *rounds;

	if (summary_make(&summary, values, run->bench->options.rounds) < 0)
		return NULL;
	rounds = json_array();
	for (uint32_t r = 0; r < run->bench->options.rounds; r++)
		json_array_append_new(rounds, json_real(values[r]));
	return json_pack("{s:f, s:f, s:f, s:o}", "median", summary.median, "min", summary.min,
		"max", summary.max, "rounds", rounds);
}

static json_t *
case_json(const struct run *run, uint32_t i)
{
	const struct bench_case *test = &run->plan->cases[i];
	json_t *object = json_pack("{s:s, s:s, s:i, s:i, s:I, s:I}", "subject", test->subject,
		"situation", test->situation, "workers", (int)test->workers, "chunk",
		(int)test->chunk, "packets_in", (json_int_t)test->packets_in, "packets_out",
		(json_int_t)test->packets_out);

	for (uint32_t f = 0; f < run->n_figures; f++)
		json_object_set_new(object, run->command->figures[f].key, figure_json(run, i, f));
	json_object_set_new(object, "ratio",
		run_baseline(run, i) >= 0 ? figure_json(run, i, run->n_figures) : json_null());
	return object;
}

int
report_write_json(const struct run *run, FILE *out)
{
	const struct bench *bench = run->bench;
	json_t *results = json_array();
	json_t *root;
	int failed;

	for (uint32_t i = 0; i < run->plan->n; i++)
		json_array_append_new(results, case_json(run, i));
	root = json_pack("{s:s, s:s?, s:o, s:o, s:o, s:o}", "command", run->command->name,
		"ratio_to", run->command->baseline, "machine", machine_json(&bench->machine),
		"build", build_json(&bench->machine), "options", options_json(&bench->options),
		"results", results);
	if (!root)
		return -ENOMEM;
	failed = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) < 0;
	json_decref(root);
	return failed || fputc('\n', out) == EOF || fflush(out) == EOF ? -EIO : 0;
}
