/* SPDX-License-Identifier: BSD-3-Clause */
/* What every registered strategy must do, each by itself. Knows none by name. */
#include "test.h"

#include "pick.h"

#define GUARD UINT32_C(0xdeadbeef)
/* What no pick is: neither a position nor WEIR_PICK_NONE. */
#define NO_PICK 0xfefe
#define N_CLASS_SLOTS (WEIR_CLASSES_MAX * WEIR_WORKERS_MAX)

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
	uint64_t class_seed; /* of class_depth and claims */
	bool shared;	     /* with claims, if it takes any */
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
	in->class_seed = test_random_next(random);
	in->shared = test_random_below(random, 2);
}

/* A quarter of the pool's class slots is the dispatcher's own, a quarter claimed by another. */
static void
class_slots_fill(struct pick *pick, uint64_t seed)
{
	const uint32_t me = pick->context.dispatcher_id + 1;

	for (uint32_t i = 0; i < WEIR_CLASSES_MAX * pick->context.n_routable; i++) {
		const uint32_t slot = weir_class_slot(
			i % WEIR_CLASSES_MAX, pick->context.routable[i / WEIR_CLASSES_MAX]);
		const uint64_t draw = rng_at(seed, i);

		pick->class_depth[slot] = draw % 4 == 0 ? 1 + (uint32_t)(draw >> 48) : 0;
		atomic_store_explicit(&pick->claims[slot],
			draw % 4 == 0	? me
			: draw % 4 == 1 ? me + 1
					: 0,
			memory_order_relaxed);
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
	memset(pick->out, 0xfe, sizeof(pick->out));
	for (uint32_t i = n; i < WEIR_WORKERS_MAX; i++) {
		pick->depth[i] = GUARD;
		pick->room[i] = GUARD;
	}
	pick->context.seed = in->seed;
	pick_set_stride(pick, in->stride);
	pick_set_index(pick, in->index);
	if (pick->strategy->state_bytes > 0)
		memset(pick->context.state, 0, pick->strategy->state_bytes);
	if (pick->strategy->flags & WEIR_STRATEGY_CLAIMS)
		pick_share(pick, 3, in->shared ? pick->claims : NULL);
	if (pick->context.class_depth)
		class_slots_fill(pick, in->class_seed);
}

static void
pick_run(struct pick *pick, const struct input *in)
{
	pick_load(pick, in);
	pick->strategy->pick_burst(&pick->context, pick->meta, in->n_picks, pick->out);
}

/* Runs `check` on every strategy that picks and pool size with `rounds` random inputs each. */
static void
for_all(const char *name, uint32_t rounds,
	void (*check)(struct pick *pick, struct input *in, struct test_random *random))
{
	struct test_random random = test_random_start(name);
	struct input in = { 0 };

	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		for (uint32_t n = 1; n <= WEIR_WORKERS_MAX; n = size_after(n)) {
			if (!weir_strategy_at(i)->pick_burst)
				break;

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
check_picks(struct pick *pick, struct input *in, struct test_random *random)
{
	const bool finds_none = pick->strategy->flags & WEIR_STRATEGY_FINDS_NONE;
	const uint32_t n = pick->context.n_routable;

	(void)random;
	pick_run(pick, in);
	for (uint32_t i = 0; i < in->n_picks; i++)
		assert_true(pick->out[i] < n || (finds_none && pick->out[i] == WEIR_PICK_NONE));
	for (uint32_t i = in->n_picks; i < WEIR_BURST_MAX; i++)
		assert_int_equal(pick->out[i], NO_PICK);
	for (uint32_t i = n; i < WEIR_WORKERS_MAX; i++) {
		assert_int_equal(pick->depth[i], GUARD);
		assert_int_equal(pick->room[i], GUARD);
	}
}

static void
a2_every_pick_is_routable_or_none_if_declared_and_nothing_else_is_written(void **state)
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
	else if (!(pick->strategy->flags & WEIR_STRATEGY_READS_CLASS_DEPTH))
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

/* What weir_pick_count promises, written out, for the first `n` picks. */
static void
counts_expect(struct input *in, const uint16_t *picks, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint16_t position = picks[i];
		uint32_t lent;

		if (position == WEIR_PICK_NONE)
			continue;
		lent = in->room[position] < in->stride ? in->room[position] : in->stride;
		in->depth[position] += lent;
		in->room[position] -= lent;
	}
}

static void
check_counts(struct pick *pick, struct input *in, struct test_random *random)
{
	const uint32_t n = pick->context.n_routable;

	(void)random;
	pick_run(pick, in);
	if (pick->strategy->flags & WEIR_STRATEGY_READS_DEPTH)
		counts_expect(in, pick->out, in->n_picks);
	assert_memory_equal(pick->depth, in->depth, n * sizeof(uint32_t));
	assert_memory_equal(pick->room, in->room, n * sizeof(uint32_t));
}

static void
picks_are_counted_exactly_by_who_reads_depth_and_not_at_all_by_others(void **state)
{
	(void)state;
	for_all(__func__, 8, check_counts);
}

/* The same for who reads the depths of classes: the class is that of a pick's first packet. */
static void
check_class_counts(struct pick *pick, struct input *in, struct test_random *random)
{
	uint32_t expected[N_CLASS_SLOTS];

	(void)random;
	if (!(pick->strategy->flags & WEIR_STRATEGY_READS_CLASS_DEPTH))
		return;
	pick_load(pick, in);
	memcpy(expected, pick->class_depth, sizeof(expected));
	pick->strategy->pick_burst(&pick->context, pick->meta, in->n_picks, pick->out);
	for (uint32_t i = 0; i < in->n_picks; i++) {
		if (pick->out[i] != WEIR_PICK_NONE)
			expected[weir_class_slot(in->meta[i * in->stride].class_id,
				pick->context.routable[pick->out[i]])]++;
	}
	assert_memory_equal(pick->class_depth, expected, sizeof(expected));
}

static void
picks_are_counted_exactly_by_who_reads_depths_of_classes(void **state)
{
	(void)state;
	for_all(__func__, 8, check_class_counts);
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
		struct pick *pick;
		uint16_t whole[WEIR_BURST_MAX];

		if (!weir_strategy_at(i)->pick_burst)
			continue;
		pick = pick_create(weir_strategy_at(i)->name, 33);
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

/* Takes all but `n_kept` picks back and asks for them again, as a dispatcher does. */
static void
picks_redo(struct pick *pick, struct input *in, uint32_t n_kept)
{
	struct input kept = *in;

	pick->strategy->withdraw_picks(&pick->context, n_kept);
	/* The mirror is the dispatcher's to restore. */
	counts_expect(&kept, pick->out, n_kept);
	memcpy(pick->depth, kept.depth, pick->context.n_routable * sizeof(uint32_t));
	memcpy(pick->room, kept.room, pick->context.n_routable * sizeof(uint32_t));
	pick_set_index(pick, in->index + (uint64_t)n_kept * in->stride);
	pick->strategy->pick_burst(&pick->context, &pick->meta[n_kept * in->stride],
		in->n_picks - n_kept, &pick->out[n_kept]);
}

/* Class depths and claims of `pick`, to be compared. */
struct class_slots {
	uint32_t depth[N_CLASS_SLOTS];
	uint32_t claim[N_CLASS_SLOTS];
};

static struct class_slots
class_slots_copy(struct pick *pick)
{
	struct class_slots copy;

	for (uint32_t i = 0; i < N_CLASS_SLOTS; i++) {
		copy.depth[i] = pick->class_depth[i];
		copy.claim[i] = atomic_load_explicit(&pick->claims[i], memory_order_relaxed);
	}
	return copy;
}

static void
check_withdrawn(struct pick *pick, struct input *in, struct test_random *random)
{
	uint16_t whole[WEIR_BURST_MAX];
	struct class_slots before;
	struct class_slots after;

	if (!pick->strategy->withdraw_picks)
		return;
	pick_load(pick, in);
	before = class_slots_copy(pick);
	pick->strategy->pick_burst(&pick->context, pick->meta, in->n_picks, pick->out);
	after = class_slots_copy(pick);
	memcpy(whole, pick->out, sizeof(whole));
	picks_redo(pick, in, test_random_below(random, in->n_picks + 1));
	assert_memory_equal(pick->out, whole, sizeof(whole));
	pick_load(pick, in);
	pick->strategy->pick_burst(&pick->context, pick->meta, in->n_picks, pick->out);
	picks_redo(pick, in, 0);
	assert_memory_equal(pick->out, whole, sizeof(whole));
	assert_memory_equal(class_slots_copy(pick).depth, after.depth, sizeof(after.depth));
	assert_memory_equal(class_slots_copy(pick).claim, after.claim, sizeof(after.claim));
	pick->strategy->withdraw_picks(&pick->context, 0);
	assert_memory_equal(class_slots_copy(pick).depth, before.depth, sizeof(before.depth));
	assert_memory_equal(class_slots_copy(pick).claim, before.claim, sizeof(before.claim));
}

static void
picks_that_are_taken_back_leave_nothing_and_are_made_again(void **state)
{
	(void)state;
	for_all(__func__, 4, check_withdrawn);
}

/* Only who declares it reads weights, and no weight takes a pick out of the pool. */
static void
weights_matter_to_who_declares_it_alone(void **state)
{
	struct test_random random = test_random_start(__func__);
	weir_worker_id ids[WEIR_WORKERS_MAX];
	uint16_t weights[WEIR_WORKERS_MAX];
	struct input in = { 0 };

	(void)state;
	for (uint32_t i = 0; i < WEIR_WORKERS_MAX; i++) {
		ids[i] = (weir_worker_id)i;
		weights[i] = (uint16_t)test_random_between(&random, 1, WEIR_WEIGHT_MAX);
	}
	for (unsigned int i = 0; weir_strategy_at(i); i++) {
		const char *name = weir_strategy_at(i)->name;
		struct pick *plain = pick_create(name, WEIR_WORKERS_MAX);
		struct pick *weighted = pick_create_weighted(name, ids, weights, WEIR_WORKERS_MAX);
		uint32_t n_other = 0;

		for (uint32_t round = 0; plain->strategy->pick_burst && round < 8; round++) {
			input_fill(&in, &random);
			in.n_picks = WEIR_BURST_MAX / in.stride;
			pick_run(plain, &in);
			check_picks(weighted, &in, &random);
			n_other += memcmp(plain->out, weighted->out, sizeof(plain->out)) != 0;
		}
		if (plain->strategy->pick_burst)
			assert_int_equal(n_other > 0,
				(plain->strategy->flags & WEIR_STRATEGY_READS_WEIGHT) != 0);
		pick_destroy(plain);
		pick_destroy(weighted);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a2_every_pick_is_routable_or_none_if_declared_and_nothing_else_is_written),
		cmocka_unit_test(context_and_metadata_are_left_alone_but_for_the_visits),
		cmocka_unit_test(
			picks_are_counted_exactly_by_who_reads_depth_and_not_at_all_by_others),
		cmocka_unit_test(picks_are_counted_exactly_by_who_reads_depths_of_classes),
		cmocka_unit_test(picks_that_are_taken_back_leave_nothing_and_are_made_again),
		cmocka_unit_test(weights_matter_to_who_declares_it_alone),
		cmocka_unit_test(same_input_gives_same_picks),
		cmocka_unit_test(a11_a_burst_picks_as_its_packets_would_one_by_one),
		cmocka_unit_test(a11_picks_are_the_same_for_all_burst_sizes_from_1_to_256),
		cmocka_unit_test(picks_depend_on_nothing_that_is_not_declared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
