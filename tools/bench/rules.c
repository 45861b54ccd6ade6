/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `weir-bench rules`: what rules cost, by their number and by which of them matches. One thread,
 * IPv4/UDP frames in the first-level cache.
 */
#include <errno.h>
#include <stdlib.h>

#include <weir/rule.h>

#include "bench.h"
#include "frames.h"
#include "summary.h"
#include "tsc.h"

#define FRAME_KIND "ipv4-udp"
#define RULE_BYTES 64

/* What the packets match. */
enum rules_match {
	MATCH_NONE,
	MATCH_FIRST,
	MATCH_LAST,
	MATCHES,
};

static const char *const match_names[MATCHES] = {
	[MATCH_NONE] = "none matches",
	[MATCH_FIRST] = "first matches",
	[MATCH_LAST] = "last matches",
};

struct rules_variant {
	const char *name;
	uint32_t n_rules;
	enum rules_match match;
};

/* Between open and close. */
struct rules_state {
	struct weir_rules *rules; /* NULL: there are none, as in an rx loop without any */
	uint32_t class_id;	  /* that every packet must get */
	struct frames frames;
	void *data[FRAMES_N + WEIR_BURST_MAX]; /* of frame i, and again behind the last */
	struct weir_meta meta[WEIR_BURST_MAX];
};

/* Rule i of n: one that matches every frame, or one that looks at addresses and ports in vain. */
static void
rule_write(char *text, const struct rules_variant *variant, uint32_t i)
{
	const uint32_t match = variant->match == MATCH_FIRST  ? 0
			       : variant->match == MATCH_LAST ? variant->n_rules - 1
							      : WEIR_RULES_MAX;

	if (i == match)
		snprintf(text, RULE_BYTES, "udp => drop");
	else
		snprintf(text, RULE_BYTES, "dst host 192.0.2.%u and udp port %u => drop", i + 1,
			i + 1);
}

static int
rules_make(struct rules_state *state, const struct rules_variant *variant)
{
	char text[WEIR_RULES_MAX][RULE_BYTES];
	const char *texts[WEIR_RULES_MAX];

	if (variant->n_rules == 0)
		return 0;
	for (uint32_t i = 0; i < variant->n_rules; i++) {
		rule_write(text[i], variant, i);
		texts[i] = text[i];
	}
	state->rules = weir_rules_create(texts, variant->n_rules, NULL, 0, NULL);
	return state->rules ? 0 : -errno;
}

static int
rules_open(struct bench_case *test, const struct bench *bench)
{
	const struct rules_variant *variant = test->variant;
	const struct frame_kind *kind = frame_kind_find(FRAME_KIND);
	struct rules_state *state = calloc(1, sizeof(*state));
	int rc;

	if (!state)
		return -ENOMEM;
	rc = rules_make(state, variant);
	if (rc < 0) {
		free(state);
		return rc;
	}
	if (variant->match != MATCH_NONE)
		state->class_id = variant->match == MATCH_FIRST ? 1 : variant->n_rules;
	frames_write(&state->frames, kind, bench->options.seed);
	for (uint32_t i = 0; i < FRAMES_N + WEIR_BURST_MAX; i++)
		state->data[i] = state->frames.bytes[i & (FRAMES_N - 1)];
	test->state = state;
	return 0;
}

static void
rules_close(struct bench_case *test)
{
	struct rules_state *state = test->state;

	weir_rules_destroy(state->rules);
	free(state);
}

/* As an rx loop has it: metadata are fresh, and without rules there is no call. */
static void
burst_prepare(struct rules_state *state, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t length = state->frames.length[(first + i) & (FRAMES_N - 1)];

		state->meta[i] = (struct weir_meta) { .length = length, .segment_length = length };
	}
}

static uint64_t
burst_measure(struct rules_state *state, const struct bench *bench, uint32_t first)
{
	uint64_t start, end;

	burst_prepare(state, first, bench->options.burst);
	start = tsc_read();
	if (state->rules)
		weir_rules_classify(state->rules, &state->data[first & (FRAMES_N - 1)], state->meta,
			bench->options.burst);
	end = tsc_read();
	return cost_subtract(end - start, bench->machine.returned_cost_cycles);
}

/* Counts the packets of a burst that have the class that they must have. */
static uint32_t
burst_check(const struct rules_state *state, uint32_t n)
{
	uint32_t right = 0;

	for (uint32_t i = 0; i < n; i++)
		right += state->meta[i].class_id == state->class_id;
	return right;
}

static int
rules_round(struct bench_case *test, const struct bench *bench, double *figures)
{
	const uint32_t burst = bench->options.burst;
	const uint32_t n = bench->options.packets / burst;
	const uint64_t preempted = thread_preemptions();
	uint64_t *samples = calloc(n, sizeof(*samples));
	struct rules_state *state = test->state;

	if (!samples)
		return -ENOMEM;
	burst_measure(state, bench, 0);
	for (uint32_t i = 0; i < n; i++) {
		samples[i] = burst_measure(state, bench, i * burst);
		test->packets_in += burst;
		test->packets_out += burst_check(state, burst);
	}
	figures[0] = trimmed_mean(samples, n) / burst;
	figures[1] = (double)(thread_preemptions() - preempted);
	free(samples);
	return test->packets_in == test->packets_out ? 0 : -EBADMSG;
}

static const struct bench_case_ops rules_ops = {
	.open = rules_open,
	.round = rules_round,
	.close = rules_close,
};

static const struct rules_variant variants[] = {
	{ "0 rules", 0, MATCH_NONE },
	{ "1 rule", 1, MATCH_NONE },
	{ "1 rule", 1, MATCH_LAST },
	{ "8 rules", 8, MATCH_NONE },
	{ "8 rules", 8, MATCH_FIRST },
	{ "8 rules", 8, MATCH_LAST },
	{ "63 rules", 63, MATCH_NONE },
	{ "63 rules", 63, MATCH_FIRST },
	{ "63 rules", 63, MATCH_LAST },
};

static void
rules_plan(const struct bench_options *options, struct bench_plan *plan)
{
	for (uint32_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		plan_add(plan, options,
			&(const struct bench_case) {
				.subject = variants[i].name,
				.situation = match_names[variants[i].match],
				.ops = &rules_ops,
				.variant = &variants[i],
			});
}

static const struct bench_figure rules_figures[] = {
	{ "cycles_per_packet", "cycles/packet", 1 },
	{ "preempted_per_round", "preempted", 0 },
	{ 0 },
};

const struct bench_command command_rules = {
	.name = "rules",
	.help = "weir_rules_classify by number of rules and by which one matches; one thread",
	.figures = rules_figures,
	.baseline = "1 rule",
	.proof = "every packet had the class of the rule that it must match",
	.plan = rules_plan,
};
