/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir-bench lane`: what it costs a dispatcher to lend packets to idle workers and to get them
 * back, without any deciding: Weir's lanes beside DPDK's rings.
 */
#include "lane_kind.h"

#include <errno.h>

struct lane_variant {
	const char *name;
	const struct lane_kind *kind;
	struct lane_setup setup; /* what does not depend on the options */
};

/*
 * Equal duty: lane and ring-return (an answer per packet), lane-counter and ring-counter (none).
 * All of these show a burst to the workers only once it is placed; ring-plain enqueues each packet
 * at once, and shows what a worker at the producer's heels costs.
 */
static const struct lane_variant variants[] = {
	{ "lane", &lane_kind_weir, { .answers = true, .gathers = true } },
	{ "lane-meta", &lane_kind_weir, { .answers = true, .gathers = true, .metadata = true } },
	{ "claim", &lane_kind_weir, { .answers = true, .gathers = true, .claims = true } },
	{ "claim-meta", &lane_kind_weir,
		{ .answers = true, .gathers = true, .claims = true, .metadata = true } },
	{ "lane-counter", &lane_kind_weir, { .gathers = true } },
	{ "ring-return", &lane_kind_ring, { .answers = true, .gathers = true } },
	{ "ring-counter", &lane_kind_ring, { .gathers = true } },
	{ "ring-plain", &lane_kind_ring, { .answers = true } },
};

#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))

static int
lane_open(struct bench_case *test, const struct bench *bench)
{
	const struct lane_variant *variant = test->variant;
	struct lane_setup setup = variant->setup;

	setup.n_workers = test->workers;
	setup.chunk = test->chunk;
	setup.lane_size = bench->options.lane_size;
	setup.burst = bench->options.burst;
	test->state = variant->kind->create(&setup);
	return test->state ? 0 : -ENOMEM;
}

static void
lane_close(struct bench_case *test)
{
	const struct lane_variant *variant = test->variant;

	variant->kind->destroy(test->state);
}

static int
lane_round(struct bench_case *test, const struct bench *bench, double *figures)
{
	const struct lane_variant *variant = test->variant;
	struct pair_timing timing = { 0 };
	struct pair pair;
	int rc, stopped;

	rc = pair_start(&pair, bench, &variant->kind->subject, test->state, 0);
	if (rc < 0)
		return rc;
	/* One lap of every lane: from then on no line is touched for the first time. */
	rc = pair_warm(&pair, (uint64_t)test->workers * bench->options.lane_size);
	if (rc == 0)
		rc = pair_measure(&pair, &timing);
	stopped = pair_stop(&pair, test);
	figures[0] = timing.returned;
	figures[1] = timing.drained;
	figures[2] = (double)pair.preempted;
	return rc < 0 ? rc : stopped;
}

static const struct bench_case_ops lane_ops = {
	.open = lane_open,
	.round = lane_round,
	.close = lane_close,
};

static void
lane_plan_chunk(const struct bench_options *options, struct bench_plan *plan, uint32_t workers,
	uint32_t chunk)
{
	for (size_t i = 0; i < N_VARIANTS; i++)
		plan_add(plan, options,
			&(const struct bench_case) {
				.subject = variants[i].name,
				.situation = "idle",
				.workers = workers,
				.chunk = chunk,
				.ops = &lane_ops,
				.variant = &variants[i],
			});
}

/* Packet by packet, and each burst whole to one worker. */
static void
lane_plan(const struct bench_options *options, struct bench_plan *plan)
{
	for (uint32_t i = 0; i < options->n_workers; i++) {
		lane_plan_chunk(options, plan, options->workers[i], 1);
		if (options->burst > 1)
			lane_plan_chunk(options, plan, options->workers[i], options->burst);
	}
}

static const struct bench_figure lane_figures[] = {
	{ "cycles_per_packet", "cycles/packet", 1 },
	{ "cycles_drained_per_packet", "..stores drained", 1 },
	{ "preempted_per_round", "preempted", 0 },
	{ 0 },
};

const struct bench_command command_lane = {
	.name = "lane",
	.help = "lend and harvest without deciding: Weir's lanes beside rte_ring, idle workers",
	.figures = lane_figures,
	.baseline = "ring-return",
	.proof = "every packet that was lent came home, and no other",
	.plan = lane_plan,
};
