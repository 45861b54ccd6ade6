/* SPDX-License-Identifier: BSD-3-Clause */
#include "why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "capture.h"
#include "census.h"
#include "options.h"
#include "packet_lines.h"
#include "replay.h"
#include "summary.h"

/* One run of the command. */
struct why {
	struct options options;
	struct capture capture;
	struct replay *replay;
	struct census census;
	struct weir_flow_trace trace;
	struct replay_outcome outcome;
};

static int
memory_lack(void)
{
	fprintf(stderr, "weir: no memory for more flows\n");
	return -ENOMEM;
}

static struct weir_meta
packet_meta(const struct capture_packet *packet, const struct weir_flow_key *key, uint64_t hash)
{
	return (struct weir_meta) {
		.time_ns = packet->time_ns,
		.hash = hash,
		.length = packet->length,
		.segment_length = packet->captured_bytes,
		.bucket = weir_flow_bucket(hash),
		.flow_reason = key->reason,
	};
}

static void
story_print(const struct why *why, const struct weir_meta *meta)
{
	const uint64_t first_ns = why->census.first_ns;

	packet_lines_print(
		stdout, &(const struct packet_story) {
				.number = why->census.packets,
				.time_ns = meta->time_ns > first_ns ? meta->time_ns - first_ns : 0,
				.meta = meta,
				.trace = &why->trace,
				.rules = why->options.rules,
				.outcome = &why->outcome,
			});
}

/* Which rule the packet matches, as an rx core finds it. */
static void
rule_match(struct why *why, const struct capture_packet *packet, struct weir_meta *meta)
{
	void *data = (void *)(uintptr_t)packet->data;

	weir_rules_classify(why->options.rules, &data, meta, 1);
}

/* One packet: parse → hash → flow → rule → dispatch → tell. Returns 0 or -ENOMEM after a line. */
static int
packet_explain(struct why *why, const struct capture_packet *packet)
{
	const struct weir_flow_config *config = &why->options.flow;
	struct weir_meta meta;
	struct flow *flow;
	uint64_t hash;

	weir_flow_trace(config, packet->data, packet->captured_bytes, &why->trace);
	hash = weir_flow_hash(&config->hash_key, &why->trace.key);
	flow = flow_table_get(&why->census.flows, &why->trace.key, hash);
	if (!flow)
		return memory_lack();
	meta = packet_meta(packet, &why->trace.key, hash);
	if (why->options.rules)
		rule_match(why, packet, &meta);
	census_arrival(&why->census, flow, &meta);
	replay_packet(why->replay, flow, &meta, &why->outcome);
	census_outcome(&why->census, flow, &why->outcome);
	if (!why->options.summary)
		story_print(why, &meta);
	return 0;
}

/* Explains the capture's packets, as many as are asked for. Returns 0 or -errno after a line. */
static int
packets_explain(struct why *why)
{
	const uint64_t max = why->options.packets ? why->options.packets : UINT64_MAX;
	struct capture_packet packet;
	int rc = 0;

	while (rc == 0 && why->census.packets < max) {
		const int got = capture_next(&why->capture, &packet);

		if (got <= 0)
			return got;
		rc = packet_explain(why, &packet);
	}
	return rc;
}

/* What the decisions depend on beside the capture: enough to repeat them. */
static void
intro_print(const struct options *options)
{
	const uint64_t *key = options->flow.hash_key.word;

	printf("%u worker%s, strategy %s%s%s, order %s, overflow %s, service %" PRIu64
	       " ns, seed %" PRIu64 ",\nhash key ",
		options->workers, options->workers == 1 ? "" : "s", options->strategy,
		options->fallback ? "," : "", options->fallback ? options->fallback : "",
		options->order, options->overflow, options->service_ns, options->seed);
	for (unsigned int i = 0; i < WEIR_HASH_KEY_BYTES; i++)
		printf("%02x", (unsigned int)(key[i / 8] >> (8 * (i % 8)) & 0xff));
	printf("\n");
	strategies_print(&options->strategies, stdout);
	printf("\n");
}

static int
why_start(struct why *why)
{
	const struct options *options = &why->options;
	int rc = capture_open(&why->capture, options->capture);

	if (rc < 0)
		return rc;
	why->census.n_workers = options->workers;
	why->census.flows.n_workers = options->workers;
	why->census.owns_flows = strategies_find(&options->strategies, options->strategy)->flags &
				 WEIR_STRATEGY_OWNS_FLOWS;
	return replay_create(&why->replay, options, census_finish, &why->census);
}

/* Replays, to the end or to what cannot be read. Returns 0 or -errno after a line. */
static int
why_replay(struct why *why)
{
	int rc, summary_rc;

	intro_print(&why->options);
	rc = packets_explain(why);
	replay_drain(why->replay);
	if (!why->options.summary && why->census.packets > 0)
		printf("\n");
	summary_rc = summary_print(stdout, &why->options, &why->census, replay_moves(why->replay));
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "weir: the output cannot be written\n");
		return -EIO;
	}
	return rc < 0 ? rc : summary_rc;
}

static void
why_end(struct why *why)
{
	replay_destroy(why->replay);
	flow_table_fini(&why->census.flows);
	capture_close(&why->capture);
	options_free(&why->options);
	free(why);
}

static enum exit_status
why_run(struct why *why)
{
	int rc = why_start(why);

	if (rc == 0)
		rc = why_replay(why);
	if (rc == 0)
		return EXIT_STATUS_OK;
	return rc == -EINVAL ? EXIT_STATUS_REFUSED : EXIT_STATUS_FAILED;
}

int
why_main(int argc, char **argv)
{
	struct why *why = calloc(1, sizeof(*why));
	enum exit_status status = EXIT_STATUS_OK;
	int rc;

	if (!why)
		return EXIT_STATUS_FAILED;
	rc = options_parse_why(&why->options, argc, argv);
	if (rc < 0)
		status = rc == -EINVAL ? EXIT_STATUS_REFUSED : EXIT_STATUS_FAILED;
	else if (why->options.help)
		options_print_why_usage(stdout);
	else
		status = why_run(why);
	why_end(why);
	return status;
}
