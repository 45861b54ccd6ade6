/* SPDX-License-Identifier: BSD-3-Clause */
/* What every registered strategy must do, each by itself. Knows none by name. */
#include "test.h"

#include "pick.h"

#define GUARD UINT32_C(0xdeadbeef)

/* Pool sizes: all small ones, some between, the largest. */
static uint32_t
size_after(uint32_t n)
{
	if (n < 17)
		return n + 1;
	return n < WEIR_WORKERS_MAX && n + 13 > WEIR_WORKERS_MAX ? WEIR_WORKERS_MAX : n + 13;
}

/* Everything that a pick may depend on. */
struct input {
	uint64_t index;
	uint64_t seed;
	uint32_t stride;
	uint32_t n_picks;
	uint32_t depth[WEIR_WORKERS_MAX];
	uint32_t room[WEIR_WORKERS_MAX];
	struct weir_meta meta[WEIR_BURST_MAX];
};

static void
input_fill(struct input *in, struct test_random *random)
{
	static const uint64_t indices[] = { 0, 1, UINT32_MAX - 1, UINT32_MAX,
		(UINT64_C(1) << 32) + 1, INT64_MAX };
	const uint32_t deep = 1u << test_random_between(random, 0, 20);

	in->index = indices[test_random_below(random, ARRAY_LENGTH(indices))];
	if (test_random_below(random, 2))
		in->index = test_random_next(random) >> 1;
	in->seed = test_random_next(random);
	in->stride = test_random_below(random, 2) ? 1 : test_random_between(random, 1, 256);
	in->n_picks = test_random_between(random, 1, WEIR_BURST_MAX / in->stride);
	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++) {
		in->depth[i] = test_random_below(random, deep);
		in->room[i] = test_random_below(random, 4) ? test_random_below(random, 600) : 0;
	}
	for (uint32_t i = 0; i < WEIR_BURST_MAX; i++) {
		in->meta[i].bucket = (uint16_t)test_random_next(random);
		in->meta[i].hash = (uint64_t)in->meta[i].bucket << 48;
		in->meta[i].length = test_random_below(random, 9000);
		in->meta[i].class_id = (uint8_t)test_random_below(random, WEIR_CLASSES_MAX);
	}
}

/* Puts `in` into the context; what lies beyond the pool and the picks gets guards. */
static void
pick_load(struct pick *pick, const struct input *in)
{
	const uint32_t n = pick->context.n_routable;

	memcpy(pick->depth, in->depth, sizeof(pick->depth));
	memcpy(pick->room, in->room, sizeof(pick->room));
	memcpy(pick->meta, in->meta, sizeof(pick->meta));
	memset(pick->out, 0xff, sizeof(pick->out));
	for (uint32_t i = n; i < WEIR_WORKERS_MAX; i++) {
		pick->depth[i] = GUARD;
		pick->room[i] = GUARD;
	}
	pick->context.seed = in->seed;
	pick_set_stride(pick, in->stride);
	pick_set_index(pick, in->index);
	if (pick->strategy->state_bytes > 0)
		memset(pick->context.state, 0, pick->strategy->state_bytes);
}

static void
pick_run(struct pick *pick, const struct input *in)
{
	pick_load(pick, in);
	pick->strategy->pick_burst(&pick->context, pick->meta, in->n_picks, pick->out);
}

/* Runs `check` on every strategy and pool size with `rounds` random inputs each. */
static void
for_all(const char *name, uint32_t rounds,
	void (*check)(struct pick *pick, struct input *in, struct test_random *random))
{
	struct test_random random = test_random_start(name);
	struct input in = { 0 };

	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		for (uint32_t n = 1; n <= WEIR_WORKERS_MAX; n = size_after(n)) {
			struct pick *pick = pick_create(weir_strategy_at(i)->name, n);

			for (uint32_t round = 0; round < rounds; round++) {
				input_fill(&in, &random);
				check(pick, &in, &random);
			}
			pick_destroy(pick);
		}
	}
}

static void
names_are_unique_lower_case_and_found(void **state)
{
	(void)state;
	assert_non_null(weir_strategy_at(0));
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const char *name = weir_strategy_at(i)->name;

		assert_true(strlen(name) > 0);
		assert_int_equal(
			strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(name));
		assert_ptr_equal(weir_strategy_find(name), weir_strategy_at(i));
		for (unsigned int other = 0; other < i; other++)
			assert_string_not_equal(weir_strategy_at(other)->name, name);
	}
}

static void
help_is_one_line(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const char *help = weir_strategy_at(i)->help;

		assert_in_range(strlen(help), 1, 80);
		assert_null(strchr(help, '\n'));
	}
}

static void
unknown_name_is_not_found(void **state)
{
	(void)state;
	errno = 0;
	assert_null(weir_strategy_find("no-such-strategy"));
	assert_int_equal(errno, EINVAL);
	assert_null(weir_strategy_find(""));
	assert_null(weir_strategy_at(UINT32_MAX));
}

static void
flags_are_known_ones(void **state)
{
	const uint32_t known =
		WEIR_STRATEGY_READS_DEPTH | WEIR_STRATEGY_OWNS_FLOWS | WEIR_STRATEGY_READS_META;

	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const uint32_t flags = weir_strategy_at(i)->flags;

		assert_int_equal(flags & ~known, 0);
		/* Who owns flows must look at them. */
		if (flags & WEIR_STRATEGY_OWNS_FLOWS)
			assert_true(flags & WEIR_STRATEGY_READS_META);
	}
}

static void
prepare_and_release_come_together(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const struct weir_strategy *strategy = weir_strategy_at(i);

		assert_int_equal(strategy->prepare != NULL, strategy->release != NULL);
		assert_non_null(strategy->pick_burst);
	}
}

static void
a_table_is_made_of_an_empty_pool_too(void **state)
{
	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const struct weir_strategy *strategy = weir_strategy_at(i);
		const struct weir_snapshot empty = {
			.version = 1, .n_routes = 1, .route = { { .strategy = strategy } }
		};
		void *table;

		if (!strategy->prepare)
			continue;
		table = strategy->prepare(strategy, &empty);
		assert_non_null(table);
		strategy->release(table);
	}
}

static void
check_picks(struct pick *pick, struct input *in, struct test_random *random)
{
	const uint32_t n = pick->context.n_routable;

	(void)random;
	pick_run(pick, in);
	for (uint32_t i = 0; i < in->n_picks; i++)
		assert_true(pick->out[i] < n);
	for (uint32_t i = in->n_picks; i < WEIR_BURST_MAX; i++)
		assert_int_equal(pick->out[i], UINT16_MAX);
	for (uint32_t i = n; i < WEIR_WORKERS_MAX; i++) {
		assert_int_equal(pick->depth[i], GUARD);
		assert_int_equal(pick->room[i], GUARD);
	}
}

static void
a2_every_pick_is_a_routable_position_and_nothing_else_is_written(void **state)
{
	(void)state;
	for_all(__func__, 8, check_picks);
}

static void
check_context(struct pick *pick, struct input *in, struct test_random *random)
{
	struct weir_pick_context before;

	(void)random;
	pick_load(pick, in);
	before = pick->context;
	pick->strategy->pick_burst(&pick->context, pick->meta, in->n_picks, pick->out);
	if (pick->strategy->flags & WEIR_STRATEGY_READS_DEPTH)
		assert_true(pick->context.depth_visits >= before.depth_visits + in->n_picks);
	else
		assert_int_equal(pick->context.depth_visits, before.depth_visits);
	before.depth_visits = pick->context.depth_visits;
	assert_memory_equal(&pick->context, &before, sizeof(before));
	assert_memory_equal(pick->meta, in->meta, sizeof(in->meta));
}

static void
context_and_metadata_are_left_alone_but_for_the_visits(void **state)
{
	(void)state;
	for_all(__func__, 8, check_context);
}

/* What weir_pick_count promises, written out. */
static void
check_counts(struct pick *pick, struct input *in, struct test_random *random)
{
	const bool counts = pick->strategy->flags & WEIR_STRATEGY_READS_DEPTH;
	const uint32_t n = pick->context.n_routable;

	(void)random;
	pick_run(pick, in);
	for (uint32_t i = 0; counts && i < in->n_picks; i++) {
		uint32_t *depth = &in->depth[pick->out[i]];
		uint32_t *room = &in->room[pick->out[i]];
		const uint32_t lent = *room < in->stride ? *room : in->stride;

		*depth += lent;
		*room -= lent;
	}
	assert_memory_equal(pick->depth, in->depth, n * sizeof(uint32_t));
	assert_memory_equal(pick->room, in->room, n * sizeof(uint32_t));
}

static void
picks_are_counted_exactly_by_who_reads_depth_and_not_at_all_by_others(void **state)
{
	(void)state;
	for_all(__func__, 8, check_counts);
}

static void
check_repeats(struct pick *pick, struct input *in, struct test_random *random)
{
	uint16_t first[WEIR_BURST_MAX];

	(void)random;
	pick_run(pick, in);
	memcpy(first, pick->out, sizeof(first));
	pick_run(pick, in);
	assert_memory_equal(pick->out, first, sizeof(first));
}

static void
same_input_gives_same_picks(void **state)
{
	(void)state;
	for_all(__func__, 8, check_repeats);
}

/* The picks of `in` with its burst cut into pieces of `piece` picks. */
static void
run_in_pieces(struct pick *pick, const struct input *in, uint32_t piece)
{
	pick_load(pick, in);
	for (uint32_t done = 0; done < in->n_picks; done += piece) {
		const uint32_t left = in->n_picks - done;

		pick_set_index(pick, in->index + (uint64_t)done * in->stride);
		pick->strategy->pick_burst(&pick->context, &pick->meta[done * in->stride],
			left < piece ? left : piece, &pick->out[done]);
	}
}

static void
check_pieces(struct pick *pick, struct input *in, struct test_random *random)
{
	uint16_t whole[WEIR_BURST_MAX];
	const uint32_t piece = test_random_between(random, 1, in->n_picks);

	pick_run(pick, in);
	memcpy(whole, pick->out, sizeof(whole));
	run_in_pieces(pick, in, piece);
	assert_memory_equal(pick->out, whole, sizeof(whole));
	run_in_pieces(pick, in, 1);
	assert_memory_equal(pick->out, whole, sizeof(whole));
}

static void
a11_a_burst_picks_as_its_packets_would_one_by_one(void **state)
{
	(void)state;
	for_all(__func__, 8, check_pieces);
}

static void
a11_picks_are_the_same_for_all_burst_sizes_from_1_to_256(void **state)
{
	struct test_random random = test_random_start(__func__);
	struct input in = { 0 };

	(void)state;
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		struct pick *pick = pick_create(weir_strategy_at(i)->name, 33);
		uint16_t whole[WEIR_BURST_MAX];

		input_fill(&in, &random);
		in.stride = 1;
		in.n_picks = WEIR_BURST_MAX;
		pick_run(pick, &in);
		memcpy(whole, pick->out, sizeof(whole));
		for (uint32_t piece = 1; piece <= WEIR_BURST_MAX; piece++) {
			run_in_pieces(pick, &in, piece);
			assert_memory_equal(pick->out, whole, sizeof(whole));
		}
		pick_destroy(pick);
	}
}

/* Who does not declare that it reads something picks the same whatever that is. */
static void
check_declared(struct pick *pick, struct input *in, struct test_random *random)
{
	const uint32_t flags = pick->strategy->flags;
	uint16_t first[WEIR_BURST_MAX];
	struct input other;

	pick_run(pick, in);
	memcpy(first, pick->out, sizeof(first));
	input_fill(&other, random);
	if (!(flags & WEIR_STRATEGY_READS_DEPTH)) {
		memcpy(in->depth, other.depth, sizeof(in->depth));
		memcpy(in->room, other.room, sizeof(in->room));
	}
	if (!(flags & WEIR_STRATEGY_READS_META))
		memcpy(in->meta, other.meta, sizeof(in->meta));
	if (flags & WEIR_STRATEGY_OWNS_FLOWS) {
		in->index = other.index;
		in->seed = other.seed;
	}
	pick_run(pick, in);
	assert_memory_equal(pick->out, first, sizeof(first));
}

static void
picks_depend_on_nothing_that_is_not_declared(void **state)
{
	(void)state;
	for_all(__func__, 8, check_declared);
}

/* Picks that were taken back leave no trace in those that follow. */
static void
check_withdrawn(struct pick *pick, struct input *in, struct test_random *random)
{
	const uint32_t n_kept = test_random_below(random, in->n_picks + 1);
	uint16_t whole[WEIR_BURST_MAX];

	if (!pick->strategy->withdraw_picks)
		return;
	pick_run(pick, in);
	memcpy(whole, pick->out, sizeof(whole));
	pick->strategy->withdraw_picks(&pick->context, n_kept);
	/* The mirror is the dispatcher's to restore. */
	memcpy(pick->depth, in->depth, pick->context.n_routable * sizeof(uint32_t));
	memcpy(pick->room, in->room, pick->context.n_routable * sizeof(uint32_t));
	if (pick->strategy->flags & WEIR_STRATEGY_READS_DEPTH) {
		for (uint32_t i = 0; i < n_kept; i++)
			weir_pick_count(&pick->context, whole[i]);
	}
	memset(pick->out, 0xff, sizeof(pick->out));
	pick_set_index(pick, in->index + (uint64_t)n_kept * in->stride);
	pick->strategy->pick_burst(&pick->context, &pick->meta[n_kept * in->stride],
		in->n_picks - n_kept, &pick->out[n_kept]);
	assert_memory_equal(
		&pick->out[n_kept], &whole[n_kept], (WEIR_BURST_MAX - n_kept) * sizeof(whole[0]));
}

static void
withdrawn_picks_are_picked_again(void **state)
{
	(void)state;
	for_all(__func__, 8, check_withdrawn);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique_lower_case_and_found),
		cmocka_unit_test(help_is_one_line),
		cmocka_unit_test(unknown_name_is_not_found),
		cmocka_unit_test(flags_are_known_ones),
		cmocka_unit_test(prepare_and_release_come_together),
		cmocka_unit_test(a_table_is_made_of_an_empty_pool_too),
		cmocka_unit_test(a2_every_pick_is_a_routable_position_and_nothing_else_is_written),
		cmocka_unit_test(context_and_metadata_are_left_alone_but_for_the_visits),
		cmocka_unit_test(
			picks_are_counted_exactly_by_who_reads_depth_and_not_at_all_by_others),
		cmocka_unit_test(same_input_gives_same_picks),
		cmocka_unit_test(a11_a_burst_picks_as_its_packets_would_one_by_one),
		cmocka_unit_test(a11_picks_are_the_same_for_all_burst_sizes_from_1_to_256),
		cmocka_unit_test(picks_depend_on_nothing_that_is_not_declared),
		cmocka_unit_test(withdrawn_picks_are_picked_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
