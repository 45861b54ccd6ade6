/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shallowest on a million random states: the burst path against three plain routers that take one
 * packet after another, written from the text of A6 and A9. They differ in when a scan may end.
 */
#include "test.h"

#include "pick.h"

#define N_STATES 1000000

/* When a reference ends its scan. */
enum reference_exit {
	EXIT_NEVER,    /* A6: every worker is looked at */
	EXIT_AT_ZERO,  /* A9: the first empty worker ends it */
	EXIT_AT_FLOOR, /* as designed: what no worker of this burst can be below ends it */
};

struct state {
	uint32_t n_workers;
	uint32_t n_picks;
	uint32_t stride;
	uint64_t index;
	uint32_t depth[WEIR_WORKERS_MAX];
	uint32_t room[WEIR_WORKERS_MAX];
};

struct outcome {
	uint16_t out[WEIR_BURST_MAX];
	uint32_t depth[WEIR_WORKERS_MAX];
	uint32_t room[WEIR_WORKERS_MAX];
	uint64_t visits;
};

/* How deep workers are, how much room they have, how alike they are: one of each per state. */
static void
state_fill_depths(struct state *s, struct test_random *random)
{
	static const uint32_t limits[] = { 1, 2, 3, 8, 64, 65535 };
	const uint32_t depth_limit = limits[test_random_below(random, ARRAY_LENGTH(limits))];
	const uint32_t room_limit = limits[test_random_below(random, ARRAY_LENGTH(limits))];
	const uint32_t base = test_random_below(random, 3);
	const bool all_tie = test_random_below(random, 8) == 0;

	for (uint32_t i = 0; i < s->n_workers; i++) {
		s->depth[i] = base + (all_tie ? 0 : test_random_below(random, depth_limit));
		s->room[i] = test_random_below(random, room_limit + 1);
	}
	/* A unique minimum now and then. */
	if (test_random_below(random, 8) == 0)
		s->depth[test_random_below(random, s->n_workers)] = 0;
}

/* Mostly small pools and bursts, the largest of both now and then. */
static void
state_fill(struct state *s, struct test_random *random)
{
	const uint32_t workers_limit = 1u << test_random_between(random, 0, 8);
	const uint32_t picks_limit = 1u << test_random_between(random, 0, 5);

	s->n_workers = test_random_between(random, 1, workers_limit);
	s->n_picks = test_random_between(random, 1, picks_limit);
	if (test_random_below(random, 256) == 0)
		s->n_picks = test_random_between(random, 1, WEIR_BURST_MAX);
	s->stride = 1;
	if (test_random_below(random, 4) == 0)
		s->stride = test_random_between(random, 1, WEIR_BURST_MAX);
	s->index = test_random_next(random);
	/* The pipeline keeps the rotation beside the index; here the index must not wrap. */
	s->index >>= 1;
	state_fill_depths(s, random);
}

/* One scan of A6. `*floor` is used and kept for EXIT_AT_FLOOR only. */
static uint32_t
reference_pick(const struct state *s, struct outcome *o, uint64_t index, enum reference_exit ends,
	uint32_t *floor)
{
	const uint32_t start = (uint32_t)(index % s->n_workers);
	uint32_t best = start;
	bool complete = true;

	for (uint32_t step = 0; step < s->n_workers; step++) {
		const uint32_t at = (start + step) % s->n_workers;

		o->visits++;
		if (o->depth[at] < o->depth[best])
			best = at;
		if ((ends == EXIT_AT_ZERO && o->depth[best] == 0) ||
			(ends == EXIT_AT_FLOOR && o->depth[best] <= *floor)) {
			complete = step + 1 == s->n_workers;
			break;
		}
	}
	if (complete && o->depth[best] > *floor)
		*floor = o->depth[best];
	return best;
}

static void
reference_run(const struct state *s, struct outcome *o, enum reference_exit ends)
{
	uint32_t floor = 0;

	memcpy(o->depth, s->depth, sizeof(o->depth));
	memcpy(o->room, s->room, sizeof(o->room));
	o->visits = 0;
	for (uint32_t i = 0; i < s->n_picks; i++) {
		const uint32_t best =
			reference_pick(s, o, s->index + (uint64_t)i * s->stride, ends, &floor);

		o->out[i] = (uint16_t)best;
		/* Of the packets that the pick stands for, those that find room are lent. */
		for (uint32_t packet = 0; packet < s->stride && o->room[best] > 0; packet++) {
			o->room[best]--;
			o->depth[best]++;
		}
	}
}

static void
strategy_run(struct pick *pick, const struct state *s, struct outcome *o)
{
	struct weir_pick_context *context = &pick->context;

	memcpy(o->depth, s->depth, sizeof(o->depth));
	memcpy(o->room, s->room, sizeof(o->room));
	context->depth = o->depth;
	context->room = o->room;
	context->n_routable = s->n_workers;
	context->depth_visits = 0;
	pick_set_index(pick, s->index);
	pick_set_stride(pick, s->stride);
	pick->strategy->pick_burst(context, pick->meta, s->n_picks, o->out);
	o->visits = context->depth_visits;
}

static bool
outcomes_equal(const struct state *s, const struct outcome *a, const struct outcome *b)
{
	return memcmp(a->out, b->out, s->n_picks * sizeof(a->out[0])) == 0 &&
	       memcmp(a->depth, b->depth, s->n_workers * sizeof(a->depth[0])) == 0 &&
	       memcmp(a->room, b->room, s->n_workers * sizeof(a->room[0])) == 0;
}

/* Compares the strategy with the reference on `n` random states; returns sums of visits. */
static void
compare(const char *name, uint32_t n, enum reference_exit ends, bool visits_equal)
{
	struct test_random random = test_random_start(name);
	struct pick *pick = pick_create("shallowest", WEIR_WORKERS_MAX);
	struct state s = { 0 };
	struct outcome expected = { 0 };
	struct outcome actual = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		state_fill(&s, &random);
		reference_run(&s, &expected, ends);
		strategy_run(pick, &s, &actual);
		if (!outcomes_equal(&s, &expected, &actual))
			fail_msg("state %u: %u workers, %u picks", i, s.n_workers, s.n_picks);
		if (visits_equal ? actual.visits != expected.visits
				 : actual.visits > expected.visits)
			fail_msg("state %u: %u workers, %u picks: %llu visits, not %llu", i,
				s.n_workers, s.n_picks, (unsigned long long)actual.visits,
				(unsigned long long)expected.visits);
	}
	pick_destroy(pick);
}

static void
a9_burst_equals_one_by_one_without_early_exit_on_a_million_states(void **state)
{
	(void)state;
	compare(__func__, N_STATES, EXIT_NEVER, false);
}

static void
a9_burst_equals_one_by_one_with_the_exit_at_zero_on_a_million_states(void **state)
{
	(void)state;
	compare(__func__, N_STATES, EXIT_AT_ZERO, false);
}

static void
a9_burst_visits_no_more_and_no_less_than_the_exit_at_the_floor_allows(void **state)
{
	(void)state;
	compare(__func__, N_STATES, EXIT_AT_FLOOR, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a9_burst_equals_one_by_one_without_early_exit_on_a_million_states),
		cmocka_unit_test(
			a9_burst_equals_one_by_one_with_the_exit_at_zero_on_a_million_states),
		cmocka_unit_test(
			a9_burst_visits_no_more_and_no_less_than_the_exit_at_the_floor_allows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
