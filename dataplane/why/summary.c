/* SPDX-License-Identifier: BSD-3-Clause */
#include "summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cause.h"

static double
percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void
totals_print(FILE *out, const struct census *census)
{
	const uint64_t ns =
		census->last_ns > census->first_ns ? census->last_ns - census->first_ns : 0;

	fprintf(out,
		"packets      %" PRIu64 ", %" PRIu64 " bytes, in %" PRIu64 ".%09" PRIu64 " s\n",
		census->packets, census->bytes, ns / 1000000000, ns % 1000000000);
}

static void
decisions_print(FILE *out, const struct census *census, uint64_t moves)
{
	const uint64_t held =
		census->route[WEIR_ROUTE_HELD_BEHIND] + census->route[WEIR_ROUTE_HELD_UNROUTABLE] +
		census->route[WEIR_ROUTE_HELD_OTHER_OWNER] + census->route[WEIR_ROUTE_HELD_AWAITED];

	fprintf(out,
		"decisions    %" PRIu64 " asked, %" PRIu64 " followed their pin, %" PRIu64
		" stuck, %" PRIu64 " held, %" PRIu64 " waited; %" PRIu64 " move%s of buckets\n",
		census->route[WEIR_ROUTE_ASKS], census->route[WEIR_ROUTE_PINNED],
		census->route[WEIR_ROUTE_STICKY], held, census->refused, moves, plural(moves));
	for (unsigned int i = 0; i < WEIR_REASON_COUNT; i++)
		if (census->dropped[i] > 0)
			fprintf(out, "dropped      %" PRIu64 " (%.1f %%) %s\n", census->dropped[i],
				percent(census->dropped[i], census->packets), weir_reason_name(i));
}

static void
rules_print(FILE *out, const struct options *options, const struct census *census)
{
	const uint32_t n = options->rules ? weir_rules_count(options->rules) : 0;

	for (uint32_t id = 1; id <= n; id++)
		fprintf(out, "rule %-7u %" PRIu64 " (%.1f %%) %s => %s\n", id, census->matched[id],
			percent(census->matched[id], census->packets),
			weir_rules_expression(options->rules, id),
			weir_rules_action(options->rules, id));
	if (n > 0)
		fprintf(out, "no rule      %" PRIu64 " (%.1f %%)\n", census->matched[0],
			percent(census->matched[0], census->packets));
}

static void
flows_print(FILE *out, const struct census *census, const struct census_sums *sums)
{
	const uint32_t n = census->flows.n_flows;

	fprintf(out, "flows        %u in %u bucket%s (%.3f buckets a flow)\n", n,
		sums->buckets_used, plural(sums->buckets_used),
		n > 0 ? (double)sums->buckets_used / n : 0);
	fprintf(out, "collisions   %u flow%s share %u bucket%s\n", sums->flows_sharing,
		plural(sums->flows_sharing), sums->buckets_shared, plural(sums->buckets_shared));
}

static void
fallbacks_print(FILE *out, const struct census *census)
{
	const char *label = "fallbacks";

	for (unsigned int i = WEIR_FLOW_PORTS + 1; i < WEIR_FLOW_REASON_COUNT; i++) {
		if (census->reason[i] == 0)
			continue;
		fprintf(out, "%-12s %" PRIu64 " (%.1f %%) %s\n", label, census->reason[i],
			percent(census->reason[i], census->packets), weir_flow_reason_name(i));
		label = "";
	}
	if (label[0])
		fprintf(out, "fallbacks    none\n");
}

/* Of the buckets, as the alarm of a running weir judges them; of the workers, what they got. */
static void
balance_print(FILE *out, const struct census *census)
{
	const struct weir_bucket_use nothing = { { 0 }, { 0 } };
	const struct weir_polarisation window =
		weir_polarisation_judge(&nothing, &census->use, census->n_workers);
	uint64_t most = 0;

	for (uint32_t i = 0; i < census->n_workers; i++)
		if (census->worker[i].packets > most)
			most = census->worker[i].packets;
	fprintf(out, "imbalance    %.2f (most packets of a worker by their mean)\n",
		census->packets > 0 ? (double)most * census->n_workers / (double)census->packets
				    : 0);
	fprintf(out, "entropy      %.2f of 8 bits (use of the groups of buckets); ",
		window.entropy_bits);
	if (window.packets < WEIR_POLARISATION_PKTS_MIN)
		fprintf(out, "too few packets to judge polarisation\n");
	else
		fprintf(out, "polarised: %s\n", window.alarm ? "yes" : "no");
}

static void
workers_print(FILE *out, const struct census *census, const struct census_sums *sums)
{
	fprintf(out, "\n%-8s%12s%9s%10s%12s\n", "worker", "packets", "share", "flows", "dropped");
	for (uint32_t i = 0; i < census->n_workers; i++) {
		const struct census_worker *worker = &census->worker[i];

		fprintf(out, "%-8u%12" PRIu64 "%7.1f %%%10u%12" PRIu64 "\n", i, worker->packets,
			percent(worker->packets, census->packets), sums->worker_flows[i],
			worker->dropped);
	}
}

static void
top_print(FILE *out, const struct census *census, const struct census_sums *sums)
{
	char text[WEIR_FLOW_KEY_TEXT_BYTES];

	fprintf(out, "\nlargest flows\n");
	for (uint32_t i = 0; i < sums->n_top; i++) {
		const struct flow *flow = sums->top[i];

		weir_flow_key_format(&flow->key, text, sizeof(text));
		fprintf(out, "%14" PRIu64 "%7.1f %%  bucket %-5u  %s\n", flow->packets,
			percent(flow->packets, census->packets), weir_flow_bucket(flow->hash),
			text);
	}
}

static void
cause_detail_print(FILE *out, const struct options *options, const struct cause *cause)
{
	char text[WEIR_FLOW_KEY_TEXT_BYTES];

	switch (cause->kind) {
	case CAUSE_STRATEGY:
		fprintf(out, "chosen by strategy %s.\n", options->strategy);
		break;
	case CAUSE_ELEPHANT:
		weir_flow_key_format(&cause->flow->key, text, sizeof(text));
		fprintf(out, "of one large flow,\n%s.\n", text);
		break;
	case CAUSE_FALLBACK:
		fprintf(out, "without ports that would\ntell their flows apart (reason %s).\n",
			weir_flow_reason_name(cause->reason));
		break;
	default:
		fprintf(out,
			"of flows that share a bucket;\nwith another --hash-key, others do.\n");
	}
}

static void
cause_print(FILE *out, const struct options *options, const struct census *census,
	const struct cause *cause)
{
	const uint64_t packets = census->worker[cause->worker].packets;

	if (census->packets == 0) {
		fprintf(out, "\nThe capture has no packets.\n");
		return;
	}
	if (cause->kind == CAUSE_NONE) {
		fprintf(out, "\nNo worker got far more than its share.\n");
		return;
	}
	fprintf(out, "\nWorker %u got %" PRIu64 " packets (%.1f %%), %.1f times its share: ",
		cause->worker, packets, percent(packets, census->packets),
		(double)packets * census->n_workers / (double)census->packets);
	if (cause->kind == CAUSE_UNEVEN) {
		fprintf(out, "its flows are larger,\nbut no single one explains it.\n");
		return;
	}
	if (cause->packets == packets)
		fprintf(out, "all are ");
	else
		fprintf(out, "%" PRIu64 " are ", cause->packets);
	cause_detail_print(out, options, cause);
}

int
summary_print(FILE *out, const struct options *options, const struct census *census, uint64_t moves)
{
	struct census_sums *sums = calloc(1, sizeof(*sums));
	struct cause cause;

	if (!sums) {
		fprintf(stderr, "weir: no memory for the summary\n");
		return -ENOMEM;
	}
	census_sum(census, sums);
	cause = cause_find(census, sums);
	totals_print(out, census);
	decisions_print(out, census, moves);
	rules_print(out, options, census);
	flows_print(out, census, sums);
	fallbacks_print(out, census);
	balance_print(out, census);
	workers_print(out, census, sums);
	top_print(out, census, sums);
	cause_print(out, options, census, &cause);
	free(sums);
	return 0;
}
