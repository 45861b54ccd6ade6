/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir-bench parse`: what it costs to find a packet's flow and to hash it, by kind of packet. One
 * thread, frames in the first-level cache.
 */
#include <errno.h>
#include <stdlib.h>

#include <weir/flow.h>

#include "bench.h"
#include "frames.h"
#include "summary.h"
#include "tsc.h"

/* Between open and close. */
struct parse {
	struct weir_flow_config config;
	struct frames frames;
	uint64_t hash[FRAMES_N]; /* of each frame, by the functions that are not measured */
	struct weir_meta meta[WEIR_BURST_MAX];
};

static int
parse_open(struct bench_case *test, const struct bench *bench)
{
	struct parse *parse = calloc(1, sizeof(*parse));

	if (!parse)
		return -ENOMEM;
	parse->config = weir_flow_config_default();
	parse->config.hash_key = (struct weir_hash_key) { { 1, 2 } };
	frames_write(&parse->frames, test->variant, bench->options.seed);
	for (uint32_t i = 0; i < FRAMES_N; i++) {
		struct weir_flow_key key;

		weir_flow_parse(
			&parse->config, parse->frames.bytes[i], parse->frames.length[i], &key);
		parse->hash[i] = weir_flow_hash(&parse->config.hash_key, &key);
	}
	test->state = parse;
	return 0;
}

static void
parse_close(struct bench_case *test)
{
	free(test->state);
}

/* The timed part: as an rx loop classifies what it has received. */
static void
burst_classify(struct parse *parse, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t frame = (first + i) & (FRAMES_N - 1);

		weir_flow_classify(&parse->config, parse->frames.bytes[frame],
			parse->frames.length[frame], &parse->meta[i]);
	}
}

/* Counts the packets of a burst whose hash is right. */
static uint32_t
burst_check(const struct parse *parse, uint32_t first, uint32_t n)
{
	uint32_t right = 0;

	for (uint32_t i = 0; i < n; i++)
		right += parse->meta[i].hash == parse->hash[(first + i) & (FRAMES_N - 1)];
	return right;
}

static uint64_t
burst_measure(struct parse *parse, const struct bench *bench, uint32_t first)
{
	uint64_t start, end;

	start = tsc_read();
	burst_classify(parse, first, bench->options.burst);
	end = tsc_read();
	return cost_subtract(end - start, bench->machine.returned_cost_cycles);
}

static int
parse_round(struct bench_case *test, const struct bench *bench, double *figures)
{
	const uint32_t burst = bench->options.burst;
	const uint32_t n = bench->options.packets / burst;
	const uint64_t preempted = thread_preemptions();
	uint64_t *samples = calloc(n, sizeof(*samples));
	struct parse *parse = test->state;

	if (!samples)
		return -ENOMEM;
	burst_classify(parse, 0, burst);
	for (uint32_t i = 0; i < n; i++) {
		samples[i] = burst_measure(parse, bench, i * burst);
		test->packets_in += burst;
		test->packets_out += burst_check(parse, i * burst, burst);
	}
	figures[0] = trimmed_mean(samples, n) / burst;
	figures[1] = (double)(thread_preemptions() - preempted);
	free(samples);
	return test->packets_in == test->packets_out ? 0 : -EBADMSG;
}

static const struct bench_case_ops parse_ops = {
	.open = parse_open,
	.round = parse_round,
	.close = parse_close,
};

static void
parse_plan(const struct bench_options *options, struct bench_plan *plan)
{
	const struct frame_kind *kind;

	for (uint32_t i = 0; (kind = frame_kind_at(i)); i++)
		plan_add(plan, options,
			&(const struct bench_case) {
				.subject = kind->name,
				.situation = "cached",
				.ops = &parse_ops,
				.variant = kind,
			});
}

static const struct bench_figure parse_figures[] = {
	{ "cycles_per_packet", "cycles/packet", 1 },
	{ "preempted_per_round", "preempted", 0 },
	{ 0 },
};

const struct bench_command command_parse = {
	.name = "parse",
	.help = "weir_flow_classify (parse and hash) by kind of packet; one thread",
	.figures = parse_figures,
	.baseline = "ipv4-udp",
	.proof = "every packet had the hash that parsing and hashing it apart gives",
	.plan = parse_plan,
};
