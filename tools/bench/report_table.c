/* SPDX-License-Identifier: BSD-3-Clause */
/* The table: medians, with the range over the rounds behind them. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>

#define FIGURE_COLUMNS 24
#define TEXT_BYTES 64

static void
machine_print(const struct bench *bench, FILE *out)
{
	const struct machine *machine = &bench->machine;

	fprintf(out, "machine: %s; %s; governor %s; counter %.3f GHz\n", machine->cpu_model,
		machine->kernel, machine->governor, machine->tsc_hz / 1e9);
	fprintf(out, "CPUs:    dispatcher on %u, workers on %u: %s%s\n",
		machine->cpu[BENCH_CPU_DISPATCHER], machine->cpu[BENCH_CPU_WORKERS],
		cpu_relation_name(machine->relation),
		machine->relation == CPU_RELATION_SHARED ? "; THE FIGURES MEAN NOTHING" : "");
	fprintf(out, "build:   weir %s, %s, %s\n", machine->version, machine->build_type,
		machine->compiler);
}

static void
conditions_print(const struct run *run, FILE *out)
{
	const struct bench_options *options = &run->bench->options;

	fprintf(out,
		"run:     %u rounds of %u packets, bursts of %u, lanes of %u, backlog %u, "
		"seed %" PRIu64 "\n",
		options->rounds, options->packets, options->burst, options->lane_size,
		options->backlog, options->seed);
	fprintf(out,
		"cycles are the counter's; its readings' cost (%" PRIu64 " and %" PRIu64
		") is subtracted; median (lowest..highest)\n\n",
		run->bench->machine.returned_cost_cycles, run->bench->machine.drained_cost_cycles);
}

/* Without it there is no column of ratios: the baseline was left out by --subject, say. */
static bool
has_baseline(const struct run *run)
{
	for (uint32_t i = 0; i < run->plan->n; i++)
		if (run_baseline(run, i) >= 0)
			return true;
	return false;
}

static void
header_print(const struct run *run, FILE *out)
{
	char ratio[TEXT_BYTES];

	fprintf(out, "%-16s%-10s%8s%7s", "subject", "situation", "workers", "chunk");
	for (uint32_t f = 0; f < run->n_figures; f++)
		fprintf(out, "%*s", FIGURE_COLUMNS, run->command->figures[f].heading);
	if (has_baseline(run)) {
		snprintf(ratio, sizeof(ratio), "against %s", run->command->baseline);
		fprintf(out, "%*s", FIGURE_COLUMNS, ratio);
	}
	fputc('\n', out);
}

/* Counts that are the same in every round are shown without their range. */
static int
figure_print(const struct run *run, uint32_t test, uint32_t figure, int decimals, FILE *out)
{
	struct summary summary;
	char text[TEXT_BYTES];
	const int rc =
		summary_make(&summary, run_values(run, test, figure), run->bench->options.rounds);

	if (rc < 0)
		return rc;
	if (summary.min < summary.max)
		snprintf(text, sizeof(text), "%.*f (%.*f..%.*f)", decimals, summary.median,
			decimals, summary.min, decimals, summary.max);
	else
		snprintf(text, sizeof(text), "%.*f", decimals, summary.median);
	fprintf(out, "%*s", FIGURE_COLUMNS, text);
	return 0;
}

static int
row_print(const struct run *run, uint32_t i, FILE *out)
{
	const struct bench_case *test = &run->plan->cases[i];
	int rc = 0;

	fprintf(out, "%-16s%-10s", test->subject, test->situation);
	if (test->workers > 0)
		fprintf(out, "%8u%7u", test->workers, test->chunk);
	else
		fprintf(out, "%8s%7s", "-", "-");
	for (uint32_t f = 0; f < run->n_figures && rc == 0; f++)
		rc = figure_print(run, i, f, run->command->figures[f].decimals, out);
	if (rc == 0 && run_baseline(run, i) >= 0)
		rc = figure_print(run, i, run->n_figures, 2, out);
	fputc('\n', out);
	return rc;
}

int
report_print_table(const struct run *run, FILE *out)
{
	machine_print(run->bench, out);
	conditions_print(run, out);
	header_print(run, out);
	for (uint32_t i = 0; i < run->plan->n; i++) {
		const int rc = row_print(run, i, out);

		if (rc < 0)
			return rc;
	}
	fprintf(out, "\nIn every round of every case, %s.\n", run->command->proof);
	return 0;
}
